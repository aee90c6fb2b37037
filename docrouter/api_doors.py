"""What belongs to the JSON API as a whole: its description, the page that shows it, and addresses that do not exist."""

from functools import cache
from typing import Any, Literal, cast

from django.http import HttpResponse, HttpResponseBase
from django.urls import Resolver404, resolve
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.request import Request

from core.api.bodies import Body
from core.api.v1 import V1Dialect
from core.errors import NotFound
from organizations.api.doors import PublicView

_CONTENT_TYPES = {"json": "application/json", "yaml": "application/yaml"}


class AddressUnknown(NotFound):
    detail = "Not Found"


class UnknownView(PublicView):
    """Any other address. A slash too many at the end is 307 to the address without it, with method and body."""

    schema = None

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        slashless = request.path.rstrip("/")
        if request.path != slashless and _exists(slashless):
            query = request.META.get("QUERY_STRING", "")
            return HttpResponse(status=307, headers={"Location": f"{slashless}?{query}" if query else slashless})
        return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise AddressUnknown()


class UnknownV1View(V1Dialect, UnknownView):
    """Any other address of `/v1`."""

    schema = None


class DescriptionQuery(Body):
    """How the description is written."""

    format: Literal["json", "yaml"] = "json"


class DescriptionView(PublicView):
    """The OpenAPI description, for everybody. Made once in each process."""

    schema = None

    def get(self, request: Request) -> HttpResponse:
        kind = self.query(DescriptionQuery).format
        answer = HttpResponse(_description(kind), content_type=_CONTENT_TYPES[kind])
        answer["Cache-Control"] = "public, max-age=300"
        return answer


class DescriptionPage(SpectacularSwaggerSplitView):
    """The description as a page to read and try; its assets are ours."""

    authentication_classes = ()
    permission_classes = ()
    url_name = "v0:description"
    template_name = "api/docs.html"


@cache
def _description(kind: str) -> bytes:
    renderer = OpenApiYamlRenderer() if kind == "yaml" else OpenApiJsonRenderer()
    described = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]  # no stubs
    return cast("bytes", renderer.render(described, renderer_context={}))


def _exists(path: str) -> bool:
    try:
        return resolve(path).url_name not in ("unknown", "unknown_v1", "unknown_alias")
    except Resolver404:
        return False
