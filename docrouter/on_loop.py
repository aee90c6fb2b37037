"""The HTTP application under ASGI, with middleware that does not change threads for what takes no time.

Django sends each hook of a synchronous middleware to a thread and waits for it: some twenty times for a request, and
each time the interpreter changes threads twice. Their work is a few lines that wait for nothing, so it is done on the
loop; what may wait (the person behind a cookie, a session to be kept, a form to be read) still goes to the thread.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from csp.middleware import CSPMiddleware
from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponseBase
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.common import CommonMiddleware
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.security import SecurityMiddleware
from django.utils.deprecation import MiddlewareMixin
from whitenoise.middleware import WhiteNoiseMiddleware

from organizations.middleware import ActorMiddleware

SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")


class OnLoop(MiddlewareMixin):
    """Hooks run on the loop unless `waits_before` or `waits_after` says that they may wait for something."""

    def waits_before(self, request: HttpRequest) -> bool:
        return False

    def waits_after(self, request: HttpRequest) -> bool:
        return False

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        before: Any = getattr(self, "process_request", None)
        after: Any = getattr(self, "process_response", None)
        response = None
        if before is not None:
            response = await sync_to_async(before)(request) if self.waits_before(request) else before(request)
        response = response or await self.get_response(request)  # type: ignore[misc]  # a coroutine in this mode
        if after is not None:
            waits = self.waits_after(request)
            response = await sync_to_async(after)(request, response) if waits else after(request, response)
        return response  # type: ignore[no-any-return]  # whatever the hooks made of it


class Security(OnLoop, SecurityMiddleware):
    """Redirects and headers."""


class ContentPolicy(OnLoop, CSPMiddleware):
    """A header."""


class Session(OnLoop, SessionMiddleware):
    """The session is read by whoever asks for it; what changed is kept."""

    def waits_after(self, request: HttpRequest) -> bool:
        session = getattr(request, "session", None)
        return bool(session is not None and session.modified)


class Common(OnLoop, CommonMiddleware):
    """The host's name, the length of a response."""


class Csrf(OnLoop, CsrfViewMiddleware):
    """The token is in a cookie; only a form that must bring it along has to be read."""

    def __init__(self, get_response: Any) -> None:
        super().__init__(get_response)
        if self.async_mode:
            self.__dict__["process_view"] = self._view_on_loop

    async def _view_on_loop(self, request: HttpRequest, callback: Any, args: Any, kwargs: Any) -> Any:
        check: Any = super().process_view
        if getattr(callback, "csrf_exempt", False) or request.method in SAFE:
            return check(request, callback, args, kwargs)
        return await sync_to_async(check)(request, callback, args, kwargs)


class Authentication(OnLoop, AuthenticationMiddleware):
    """The user is looked up by whoever asks for them."""


class Acting(OnLoop, ActorMiddleware):
    """The person behind a session, and where they act."""

    def waits_before(self, request: HttpRequest) -> bool:
        return settings.SESSION_COOKIE_NAME in request.COOKIES


class Messages(OnLoop, MessageMiddleware):
    """Messages for the next page."""

    def waits_after(self, request: HttpRequest) -> bool:
        kept: Any = getattr(request, "_messages", None)
        return kept is not None and (kept.used or kept.added_new)


class Frames(OnLoop, XFrameOptionsMiddleware):
    """A header."""


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]  # whitenoise says nothing of its types
    """Files below STATIC_URL; no other address is looked for."""

    async_capable = True

    def __init__(self, get_response: Any) -> None:
        super().__init__(get_response)
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        if iscoroutinefunction(self.get_response):
            return self._on_loop(request)
        return super().__call__(request)

    async def _on_loop(self, request: HttpRequest) -> Any:
        found = None
        if request.path_info.startswith(self.static_prefix):
            found = await sync_to_async(self._find)(request)
        return found or await self.get_response(request)

    def _find(self, request: HttpRequest) -> Any:
        path = request.path_info
        file = self.find_file(path) if self.autorefresh else self.files.get(path)
        return None if file is None else self.serve(file, request)


class Application(ASGIHandler):
    """Django's, with the middleware of the settings in its quicker form."""

    quicker: ClassVar[Mapping[str, type]] = {
        "django.middleware.security.SecurityMiddleware": Security,
        "whitenoise.middleware.WhiteNoiseMiddleware": StaticFiles,
        "csp.middleware.CSPMiddleware": ContentPolicy,
        "django.contrib.sessions.middleware.SessionMiddleware": Session,
        "django.middleware.common.CommonMiddleware": Common,
        "django.middleware.csrf.CsrfViewMiddleware": Csrf,
        "django.contrib.auth.middleware.AuthenticationMiddleware": Authentication,
        "organizations.middleware.ActorMiddleware": Acting,
        "django.contrib.messages.middleware.MessageMiddleware": Messages,
        "django.middleware.clickjacking.XFrameOptionsMiddleware": Frames,
    }

    def load_middleware(self, is_async: bool = False) -> None:
        """The settings keep the names by which Django's own checks know them."""
        named = settings.MIDDLEWARE
        settings.MIDDLEWARE = [_path(self.quicker[name]) if name in self.quicker else name for name in named]
        try:
            super().load_middleware(is_async)
        finally:
            settings.MIDDLEWARE = named


def _path(kind: type) -> str:
    return f"{kind.__module__}.{kind.__name__}"
