"""The base of every JSON view: who may come in, limits, the body, one answer, one way for problems to leave."""

from typing import Any, ClassVar, TypeVar, cast

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from pydantic import BaseModel
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from core.api.bodies import read_json, read_model, read_query
from core.api.limits import Standing, count
from core.errors import LimitReached

B = TypeVar("B", bound=BaseModel)
Result = BaseModel | HttpResponseBase


class BodyTooLarge(LimitReached):
    code = "body_too_large"
    status = 413


class ApiView(APIView):
    """Handlers return an answer model (200) or a response, and raise domain errors.

    `rates` names the rate limit of a method; `max_body_bytes` is None for settings.MAX_BODY_BYTES.
    """

    authentication_classes = ()
    permission_classes = ()
    parser_classes = ()
    throttle_classes = ()
    renderer_classes = (JSONRenderer,)
    rates: ClassVar[dict[str, str]] = {}
    max_body_bytes: ClassVar[int | None] = None

    def admit(self, request: HttpRequest) -> None:
        """Find out who asks and let them in, or raise. Anybody, unless a subclass says otherwise."""

    def counted_as(self, request: HttpRequest) -> list[tuple[str, str]]:
        """Whom the request counts against: (kind, id)."""
        return [("address", request.META.get("REMOTE_ADDR", ""))]

    def body(self, model: type[B]) -> B:
        """The JSON body. Raises: BodyInvalid, BodyTooLarge."""
        return read_model(model, read_json(self.raw_body()), place="body")

    def optional_body(self, model: type[B]) -> B:
        """The JSON body, or the model's defaults when there is none. Raises: BodyInvalid, BodyTooLarge."""
        return read_model(model, read_json(self.raw_body() or b"{}"), place="body")

    def query(self, model: type[B]) -> B:
        """The query string, last value of each name. Raises: BodyInvalid."""
        return read_query(model, self.plain_request.GET.dict())

    @property
    def plain_request(self) -> HttpRequest:
        """Django's own request under the framework's."""
        request = self.request
        return request._request if isinstance(request, Request) else request

    def raw_body(self) -> bytes:
        """The bytes as they came, at most `max_body_bytes`. Raises: BodyTooLarge."""
        if not hasattr(self, "_raw_body"):
            self._raw_body = self._read_body()
        return self._raw_body

    def _read_body(self) -> bytes:
        allowed = self.max_body_bytes or settings.MAX_BODY_BYTES
        raw = self.plain_request.read(allowed + 1)
        if len(raw) > allowed:
            raise BodyTooLarge(f"A request here has at most {allowed // 1_048_576} MB.")
        return raw

    # --- what the framework calls -------------------------------------------------------------------------------

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        plain = request._request
        self.admit(plain)
        rate = self.rates.get(request.method or "", "api")
        self._standing = count(rate, self.counted_as(plain))

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(response, BaseModel):
            response = HttpResponse(response.model_dump_json(), content_type="application/json")
        standing: Standing | None = getattr(self, "_standing", None)
        if standing is not None:
            response["X-RateLimit-Limit"] = str(standing.limit)
            response["X-RateLimit-Remaining"] = str(standing.remaining)
            response["X-RateLimit-Reset"] = str(standing.reset_after)
        if not response.has_header("Cache-Control"):
            response["Cache-Control"] = "private, no-store"
        return super().finalize_response(request, response, *args, **kwargs)

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[Any, str]:
        """One kind of answer whatever `Accept` says, as the reference does."""
        return JSONRenderer(), "application/json"


class AsyncApiView(ApiView):
    """Handlers are coroutines: for whatever waits for a model or streams.

    Who asks, the limits and the body are dealt with in a thread; its connection is back in the pool before the wait.
    """

    async def dispatch(  # type: ignore[override]  # the asynchronous half of the same protocol
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        self.args, self.kwargs = args, kwargs
        self.request = self.initialize_request(request, *args, **kwargs)
        self.headers = self.default_response_headers
        try:
            await sync_to_async(self._prepare)()
            method = (request.method or "").lower()
            known = method in self.http_method_names
            handler = getattr(self, method, self.http_method_not_allowed) if known else self.http_method_not_allowed
            result = handler(self.request, *args, **kwargs)
            response = await result if hasattr(result, "__await__") else result
        except Exception as problem:  # noqa: BLE001 - the framework's own translation, as in its synchronous half
            response = self.handle_exception(problem)
        self.response = self.finalize_response(self.request, response, *args, **kwargs)
        return cast("HttpResponseBase", self.response)

    def _prepare(self) -> None:
        try:
            self.initial(self.request, *self.args, **self.kwargs)
            self.raw_body()
        finally:
            close_old_connections()
