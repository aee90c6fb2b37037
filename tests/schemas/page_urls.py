"""The root map with the doors of schemas, prompts and tags."""

from django.urls import include, path

from docrouter.urls import urlpatterns as root

urlpatterns = [
    *root,
    path("", include("prompts_app.schema_urls")),
    path("", include("prompts_app.urls")),
    path("", include("documents.tag_urls")),
]
