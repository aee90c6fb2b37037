"""What belongs to the JSON API as a whole: its description, the page that shows it, and addresses that do not exist."""

from typing import Any

from django.http import HttpResponse, HttpResponseBase
from django.urls import Resolver404, resolve
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request

from core.errors import NotFound
from organizations.api.doors import PublicView


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


class DescriptionView(SpectacularAPIView):
    """The OpenAPI description, for everybody."""

    authentication_classes = ()
    permission_classes = ()


class DescriptionPage(SpectacularSwaggerSplitView):
    """The description as a page to read and try; its assets are ours."""

    authentication_classes = ()
    permission_classes = ()
    url_name = "v0:description"


def _exists(path: str) -> bool:
    try:
        return resolve(path).url_name != "unknown"
    except Resolver404:
        return False
