"""Bind who and which request to the log context of everything that happens during a request."""

from collections.abc import Callable

import structlog
from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase

from core.ids import new_id

GetResponse = Callable[[HttpRequest], HttpResponseBase]


class RequestLogMiddleware:
    """Gives each request an id (header `X-Request-Id`) and a log context that ends with it."""

    async_capable = True
    sync_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if iscoroutinefunction(self.get_response):
            return self._acall(request)  # type: ignore[return-value]  # Django awaits it: marked as a coroutine function
        request_id = self._bind(request)
        response = self.get_response(request)
        response["X-Request-Id"] = request_id
        return response

    async def _acall(self, request: HttpRequest) -> HttpResponseBase:
        request_id = self._bind(request)
        response = await self.get_response(request)  # type: ignore[misc]  # the async half of the same protocol
        response["X-Request-Id"] = request_id
        return response  # type: ignore[no-any-return]  # see above

    @staticmethod
    def _bind(request: HttpRequest) -> str:
        request_id = new_id().hex
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id, method=request.method)
        return request_id
