"""The map of doors."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

websocket_urlpatterns: list[URLPattern] = []

urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(pattern_name="documents:list"), name="home"),
    path("", include("docrouter.health_urls")),
    path("", include("organizations.urls")),
    path("admin/", admin.site.urls),
]
