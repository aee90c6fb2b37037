"""The map of the JSON API. What stands in no app's list is 404 as JSON; a slash too many leads to the right address."""

from django.urls import URLPattern, URLResolver, include, path

from agent.api.v1.urls import alias_urlpatterns as answer_alias_urlpatterns
from docrouter.api_doors import DescriptionPage, DescriptionView, UnknownV1View, UnknownView
from documents.api.v1.urls import alias_urlpatterns as v1_alias_urlpatterns
from llm.catalog import OFFLINE_MODEL, default_extraction_model
from organizations.api.organizations import OrganizationsView

app_name = "v0"

_ORGANIZATION = "v0/orgs/<str:organization_id>/"


def _default_prompt_is_free() -> bool:
    """Nothing is spent unasked: only the built-in engine reads every document of a new organization by itself."""
    return default_extraction_model() == OFFLINE_MODEL


urlpatterns: list[URLPattern | URLResolver] = [
    path("api/schema/", DescriptionView.as_view(), name="description"),
    path("api/docs/", DescriptionPage.as_view(), name="docs"),
    path(
        "v0/account/organizations",
        OrganizationsView.as_view(default_prompt_is_free=_default_prompt_is_free),
        name="organizations",
    ),
    path("v0/account/", include("organizations.api.urls")),
    path("v0/account/", include("llm.api.account_urls")),
    path(_ORGANIZATION, include("organizations.api.token_urls")),
    path(_ORGANIZATION, include("llm.api.urls")),
    path(_ORGANIZATION, include("tags_app.api.urls")),
    path(_ORGANIZATION, include("documents.api.tag_urls")),
    path(_ORGANIZATION, include("schemas_app.api.urls")),
    path(_ORGANIZATION, include("prompts_app.api.schema_urls")),
    path(_ORGANIZATION, include("prompts_app.api.urls")),
    path(_ORGANIZATION, include("documents.api.prompt_urls")),
    path(_ORGANIZATION, include("documents.api.urls")),
    path(_ORGANIZATION, include("documents.api.result_urls")),
    path(_ORGANIZATION, include("agent.api.urls")),
    path(_ORGANIZATION, include("webhooks.api.urls")),
    path("v1/", include("documents.api.v1.urls")),
    path("", include("documents.api.v1.share_urls")),
    path("document/", include(v1_alias_urlpatterns)),
    path("v1/", include("agent.api.v1.urls")),
    path("document/", include(answer_alias_urlpatterns)),
    path("v0/<path:rest>", UnknownView.as_view(), name="unknown"),
    path("v1/<path:rest>", UnknownV1View.as_view(), name="unknown_v1"),
    path("document/<path:rest>", UnknownV1View.as_view(), name="unknown_alias"),
]
