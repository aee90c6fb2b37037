"""The map of the JSON API. What stands in no app's list is 404 as JSON; a slash too many leads to the right address."""

from django.urls import URLPattern, URLResolver, include, path

from docrouter.api_doors import DescriptionPage, DescriptionView, UnknownView

app_name = "v0"

_ORGANIZATION = "v0/orgs/<str:organization_id>/"

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/schema/", DescriptionView.as_view(), name="description"),
    path("api/docs/", DescriptionPage.as_view(), name="docs"),
    path(_ORGANIZATION, include("tags_app.api.urls")),
    path(_ORGANIZATION, include("documents.api.tag_urls")),
    path("v0/<path:rest>", UnknownView.as_view(), name="unknown"),
]
