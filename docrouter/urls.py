"""The map of doors."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from agent.urls import websocket_urlpatterns as agent_sockets
from documents.urls import websocket_urlpatterns as document_sockets

handler400 = "docrouter.problems.bad_request"
handler500 = "docrouter.problems.server_error"

websocket_urlpatterns: list[URLPattern] = [*document_sockets, *agent_sockets]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(pattern_name="documents:list"), name="home"),
    path("", include("docrouter.health_urls")),
    path("", include("organizations.urls")),
    path("", include("documents.urls")),
    path("", include("documents.tag_urls")),
    path("", include("prompts_app.schema_urls")),
    path("", include("prompts_app.urls")),
    path("", include("agent.urls")),
    path("", include("webhooks.urls")),
    path("", include("docrouter.api_urls")),
    path("", include("documents.sharing_urls")),
    path("admin/", admin.site.urls),
]
