"""Middleware on the loop answers as Django's own, and leaves the loop only for what waits."""

import re
import threading
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponse

from core.threads import in_thread
from docrouter.on_loop import Application, Csrf, Security
from organizations.models import AuditEntry
from tests.conftest import Person

CASES = [
    ("GET", "/sign-in", False),
    ("GET", "/", True),
    ("GET", "/no/such/page", True),
    ("GET", "/settings/nothing", False),
    ("POST", "/sign-in", False),
    ("POST", "/sign-out", True),
    ("GET", "/v0/account/organizations", False),
    ("GET", "/v0/account/organizations", True),
    ("POST", "/v0/account/organizations", True),
    ("GET", f"/v0/orgs/{'0' * 32}/documents/{'0' * 32}/chat/tools", True),
    ("POST", f"/v0/orgs/{'0' * 32}/documents/{'0' * 32}/chat", True),
    ("GET", "/static/no-such-file.css", False),
    ("GET", "/static/admin/css/base.css", False),
]
OWN = re.compile(r"[A-Za-z0-9]{32,64}|\w{3}, \d\d[ -]\w{3}[ -]\d{4} [\d:]+ GMT")
PLAIN_WORDS = "ignore:StreamingHttpResponse must consume synchronous iterators:Warning"


@pytest.mark.django_db(transaction=True)
@pytest.mark.filterwarnings(PLAIN_WORDS)
async def test_every_answer_is_the_one_that_the_plain_middleware_gives(alice: Person) -> None:
    cookies = await in_thread(lambda: {settings.SESSION_COOKIE_NAME: alice.client().cookies["sessionid"].value})
    for method, path, is_signed_in in CASES:
        plain, quick = [
            await _answer(application, method, path, cookies if is_signed_in else {})
            for application in (ASGIHandler(), Application())
        ]
        assert plain == quick, (method, path)


@pytest.mark.django_db(transaction=True)
async def test_a_form_without_its_token_is_refused(alice: Person) -> None:
    cookies = await in_thread(lambda: {settings.SESSION_COOKIE_NAME: alice.client().cookies["sessionid"].value})
    before = await in_thread(AuditEntry.objects.count)
    status, *_ = await _answer(Application(), "POST", "/sign-out", cookies)
    assert status == 403
    assert before == await in_thread(AuditEntry.objects.count)


async def test_hooks_that_wait_for_nothing_stay_on_the_loop(rf: Any) -> None:
    seen = []

    class Watched(Security):
        def process_request(self, request: HttpRequest) -> None:
            seen.append(threading.current_thread())

    async def answer(_request: HttpRequest) -> HttpResponse:
        return HttpResponse("fine")

    response: Any = Watched(answer)(rf.get("/"))
    assert (await response).status_code == 200
    assert seen == [threading.current_thread()]


def test_all_middleware_of_the_settings_has_a_quicker_form_or_needs_none() -> None:
    named = list(settings.MIDDLEWARE)
    native = {name for name in named if name.startswith("core.") or "htmx" in name}
    assert set(named) == set(Application.quicker) | native
    Application()
    assert named == settings.MIDDLEWARE


def test_under_a_synchronous_server_it_is_djangos_own() -> None:
    assert "process_view" not in vars(Csrf(lambda _request: HttpResponse("fine")))


async def _answer(application: Any, method: str, path: str, cookies: dict[str, str]) -> Any:
    transport = httpx.ASGITransport(app=application)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", cookies=cookies) as client:
        response = await client.request(method, path)
    headers = sorted((name, OWN.sub("*", value)) for name, value in response.headers.multi_items())
    return response.status_code, headers, OWN.sub("*", response.text)
