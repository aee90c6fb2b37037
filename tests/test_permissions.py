"""Who gets what: every route, every socket and every tool, tried by nobody, charlie (a stranger), bob and alice.

The things are alice's, the thread is private. Routes come from the resolver: one without a row fails, and so does a
row whose route is gone. A refusal is also held to have written nothing and shown nothing of alice's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from channels.testing import WebsocketCommunicator
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from agent.models import Thread, Turn
from agent.toolbox import toolbox
from core.ids import new_id
from docrouter.urls import websocket_urlpatterns
from documents.models import Document
from documents.page_images import PageImage
from organizations.models import AuditEntry
from tests.agent.calling import call, context_for
from tests.agent.rows import INVOICE
from tests.belongings import MARK, Belongings, belongings_of
from tests.conftest import Person, make_person

DOOR = "sign in"
"""Sent to the sign-in page."""
Outcome = int | str
Row = tuple[Outcome, Outcome, Outcome, Outcome]
"""What nobody, charlie, bob and alice get."""

WHO = ("nobody", "charlie", "bob", "alice")
NO_SUCH_WAY: Row = (405, 405, 405, 405)
SEES: Row = (DOOR, 404, 200, 200)  # a page or fragment of a thing of the organization
GOES: Row = (DOOR, 404, 302, 302)  # a form that leads on
OWN: Row = (DOOR, 200, 200, 200)  # a page of one's own organization, whichever that is
PRIVATE: Row = (DOOR, 404, 404, 200)  # a thread of alice's that she does not share
OPEN: Row = (200, 200, 200, 200)
NO_TOKEN: Row = (401, 401, 401, 401)
OWN_ADMINS: Row = (DOOR, 200, 403, 200)  # a page of one's own organization, for its admins
ADMIN_SEES: Row = (DOOR, 404, 403, 200)
ADMIN_GOES: Row = (DOOR, 404, 403, 302)


@dataclass(frozen=True)
class Ways:
    """What GET and POST of a route give. `form` and `query` may name ids of alice's in braces."""

    get: Row = NO_SUCH_WAY
    post: Row = NO_SUCH_WAY
    form: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)


CALL = {"call": "{call_name}", "hash": "{call_hash}"}
TURN_REFUSED: Row = (DOOR, 400, 400, 200)  # indistinguishable from an expired turn
PROMPT = {"name": "P", "content": "Read.", "model": "docrouter/offline"}
WEBHOOK = {"url": "https://example.com/hook", "events": "llm.error", "auth_type": "hmac", "enabled": "on"}
ROUTES: dict[str, Ways] = {
    "home": Ways((302, 302, 302, 302), (302, 302, 302, 302)),
    "healthz": Ways(OPEN),
    "readyz": Ways(OPEN),
    "metrics": Ways(OPEN),  # for this machine, which the test client is; see tests/docrouter/test_health.py
    "organizations:sign_in": Ways((200, 302, 302, 302), (422, 302, 302, 302)),
    "organizations:sign_out": Ways(post=(DOOR, DOOR, DOOR, DOOR)),
    "organizations:switch": Ways(post=(DOOR, 302, 302, 302)),
    "organizations:verify_email": Ways((302, 302, 302, 302)),  # for whoever has the letter; this is no token
    "organizations:verify_email_page": Ways(OPEN, (400, 400, 400, 400)),
    "organizations:invitation": Ways((302, 302, 302, 302)),
    "organizations:invitation_page": Ways((404, 404, 404, 404), (404, 404, 404, 404)),
    "organizations:settings": Ways(OWN, (DOOR, 302, 403, 302)),
    "documents:list": Ways(OWN, query={"q": ""}),
    "documents:upload": Ways(post=(DOOR, 400, 400, 400)),  # no file came with it
    "documents:detail": Ways(SEES),
    "documents:delete": Ways(SEES, GOES),
    "documents:never_send": Ways(post=GOES, form={"never_send": "1"}),
    "documents:rename": Ways(post=GOES, form={"name": "June.pdf"}),
    "documents:tags": Ways(post=GOES, form={"tag_ids": "{tag_id}"}),
    "documents:read_again": Ways(post=GOES),
    "documents:viewer": Ways(SEES),
    "documents:review": Ways(SEES),
    "documents:file": Ways(SEES),
    "documents:text": Ways(SEES),
    "documents:find": Ways(SEES, query={"q": MARK}),
    "documents:page_image": Ways(SEES),
    "documents:page_words": Ways(SEES),
    "documents:extraction": Ways(SEES),
    "documents:extract": Ways(post=GOES),
    "documents:fields": Ways(post=GOES, form={"value:total": "12"}),
    "documents:rows": Ways(post=GOES, form={"add": "lines"}),
    "documents:verify": Ways(post=GOES),
    "documents:export": Ways(SEES),
    "documents:share": Ways(SEES, (DOOR, 404, 200, 200), form={"days": "7"}),
    "documents:revoke_share": Ways(post=GOES),
    "documents:publish": Ways(post=GOES),
    "documents:unpublish": Ways(post=GOES, form={"publication": "{publication_id}"}),
    "share:enter": Ways(NO_TOKEN, NO_TOKEN),  # a token opens it, whoever has it; this is none
    "share:page": Ways(NO_TOKEN),
    "agent:share_ask": Ways(post=NO_TOKEN, form={"question": "What is the total?"}),
    "share:picture": Ways(NO_TOKEN),
    "share:words": Ways(NO_TOKEN),
    "share:publication": Ways((404, 404, 404, 404)),  # for whoever has its address; this is none
    "share:published_page": Ways((404, 404, 404, 404)),
    "tags:list": Ways(OWN),
    "tags:create": Ways(OWN, (DOOR, 302, 302, 302), form={"name": "Paid"}),
    "tags:detail": Ways(SEES),
    "tags:edit": Ways(SEES, GOES, form={"name": "Paid"}),
    "tags:delete": Ways(SEES, (DOOR, 404, 409, 409)),  # a document has it
    "schemas:list": Ways(OWN),
    "schemas:create": Ways(OWN, (DOOR, 422, 422, 422), form={"name": "Paid"}),
    "schemas:revision": Ways(SEES),
    "schemas:detail": Ways(SEES),
    "schemas:edit": Ways(SEES, (DOOR, 404, 422, 422), form={"name": "Paid"}),
    "schemas:delete": Ways(SEES, (DOOR, 404, 409, 409)),  # a prompt uses it
    "prompts:list": Ways(OWN),
    "prompts:create": Ways(OWN, (DOOR, 422, 302, 302), form={**PROMPT, "tags": "{tag_id}"}),
    "prompts:revision": Ways(SEES),
    "prompts:detail": Ways(SEES),
    "prompts:edit": Ways(SEES, GOES, form=PROMPT),
    "prompts:delete": Ways(SEES, GOES),
    "webhooks:list": Ways(OWN_ADMINS),
    "webhooks:create": Ways(OWN_ADMINS, (DOOR, 302, 403, 302), form=WEBHOOK),
    "webhooks:detail": Ways(ADMIN_SEES),
    "webhooks:edit": Ways(ADMIN_SEES, ADMIN_GOES, form=WEBHOOK),
    "webhooks:secret": Ways(ADMIN_SEES, ADMIN_GOES),
    "webhooks:test": Ways(post=ADMIN_GOES),
    "webhooks:delete": Ways(ADMIN_SEES, ADMIN_GOES),
    "webhooks:delivery": Ways(ADMIN_SEES),
    "webhooks:retry": Ways(post=ADMIN_GOES),
    "agent:waiting": Ways(OWN),
    "agent:waiting_count": Ways(OWN),
    "agent:auto_create_accept": Ways(post=(DOOR, 404, 409, 409)),  # nothing is proposed for it
    "agent:auto_create_tag": Ways((DOOR, 404, 409, 409), (DOOR, 404, 409, 409), form={"tag": "{tag_id}:0"}),
    "agent:auto_create_reject": Ways(post=(DOOR, 404, 409, 409)),
    "agent:auto_create_retry": Ways(post=(DOOR, 404, 409, 409)),
    "agent:panel": Ways(SEES),
    "agent:thread": Ways(PRIVATE, query={"thread": "{thread_id}"}),
    "agent:send": Ways(post=(DOOR, 422, 200, 200), form={"text": "Set it up"}),
    "agent:mentions": Ways(SEES),
    "agent:decide": Ways(post=TURN_REFUSED, form={**CALL, "decision": "reject"}),
    "agent:cancel": Ways(post=TURN_REFUSED),
    "agent:sent": Ways((DOOR, 400, 400, 200)),
    "agent:edit": Ways(PRIVATE),
    "agent:card": Ways(PRIVATE),
    "agent:undo": Ways(post=PRIVATE),
    "agent:rename_thread": Ways(post=PRIVATE, form={"title": "June"}),
    "agent:share_thread": Ways(post=PRIVATE),
    "agent:delete_thread": Ways(post=PRIVATE),
    "agent:revoke_rule": Ways(post=PRIVATE),
}
WITHOUT_FORGERY_TOKEN = ("home", "share:enter", "agent:share_ask")
"""The first leads on; the others need the token of an address or the ticket in a cookie, which nobody can forge."""
OF_THE_ROUTE = {"agent:undo": {"call_id": "{done_call_id}"}}
FIXED = {"number": 1, "token": "nonsense", "slug": "nonsense"}


def routes(
    patterns: list[URLPattern | URLResolver], spaces: tuple[str, ...] = (), before: tuple[str, ...] = ()
) -> Iterator[tuple[str, list[str]]]:
    """Every route's full name with the arguments that it takes. Django's own admin is one rule of its own, below."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if pattern.app_name != "admin":
                inner = (*spaces, pattern.namespace) if pattern.namespace else spaces
                yield from routes(pattern.url_patterns, inner, (*before, *pattern.pattern.converters))
        else:
            assert pattern.name, f"{pattern.pattern} has no name"
            yield ":".join((*spaces, pattern.name)), [*before, *pattern.pattern.converters]


ALL_ROUTES = {name: taken for name, taken in routes(get_resolver().url_patterns) if not name.startswith("v0:")}
"""The pages; tests/test_permissions_api.py has the JSON API."""


@pytest.fixture
def things(alice: Person, monkeypatch: pytest.MonkeyPatch) -> Belongings:
    monkeypatch.setattr("documents.selectors.cached_image", lambda *_: PageImage(b"picture", '"etag"'))
    monkeypatch.setattr("docrouter.health.workers", list)
    monkeypatch.setattr("documents.views.extraction.launch_extraction", lambda **_: None)
    return belongings_of(alice)


@pytest.fixture
def clients(nobody: Client, charlie: Person, bob: Person, alice: Person) -> dict[str, Client]:
    return {"nobody": nobody, "charlie": charlie.client(), "bob": bob.client(), "alice": alice.client()}


def address(name: str, things: Belongings) -> str:
    ids = things.ids() | {key: text.format(**things.ids()) for key, text in OF_THE_ROUTE.get(name, {}).items()}
    return reverse(name, kwargs={key: FIXED.get(key) or ids[key] for key in ALL_ROUTES[name]})


def ask(client: Client, method: str, path: str, ways: Ways, things: Belongings) -> tuple[Outcome, str]:
    """The outcome and all that was shown; what was written is taken back."""
    values = ways.query if method == "get" else ways.form
    cookies = client.cookies.copy()
    with transaction.atomic():
        answer = getattr(client, method)(path, {key: text.format(**things.ids()) for key, text in values.items()})
        body = async_to_sync(streamed)(answer) if answer.streaming else answer.content
        transaction.set_rollback(True)
    client.cookies = cookies
    location = answer.headers.get("Location", "")
    outcome = DOOR if answer.status_code == 302 and location.startswith(reverse("organizations:sign_in")) else None
    return outcome or answer.status_code, body.decode(errors="replace")


async def streamed(answer: Any) -> bytes:
    return b"".join([chunk async for chunk in answer.streaming_content])


def writes() -> int:
    return AuditEntry.objects.count()


def test_every_route_has_a_row_and_every_row_a_route() -> None:
    assert set(ALL_ROUTES) == set(ROUTES)


@pytest.mark.parametrize("method", ["get", "post"])
def test_every_route_gives_each_person_what_the_table_says(
    clients: dict[str, Client], things: Belongings, method: str
) -> None:
    wrong = []
    for name, ways in ROUTES.items():
        expected: Row = getattr(ways, method)
        people = WHO if expected != NO_SUCH_WAY else WHO[-1:]
        for who, wanted in zip(people, expected, strict=False):
            outcome, shown = ask(clients[who], method, address(name, things), ways, things)
            if outcome != wanted:
                wrong.append(f"{method} {name} by {who}: {outcome}, the table says {wanted}")
            if who in ("nobody", "charlie") and MARK in shown:
                wrong.append(f"{method} {name} shows {who} something of alice's")
    assert "\n".join(wrong) == ""


def test_what_is_refused_has_written_nothing(clients: dict[str, Client], things: Belongings) -> None:
    """Without the rollback: the count of audit rows and alice's things stay as they are."""
    before, state = writes(), Document.objects.values_list("name", "deleted_at", "state").get(pk=things.document_id)
    for name, ways in ROUTES.items():
        form = {key: text.format(**things.ids()) for key, text in ways.form.items()}
        for who, wanted in zip(WHO[:2], ways.post[:2], strict=True):
            if wanted == DOOR or (isinstance(wanted, int) and wanted >= 400):
                clients[who].post(address(name, things), form)
                assert writes() == before, f"{name} by {who} wrote"
        if name == "organizations:sign_out":
            clients["charlie"].force_login(make_person("charlie2@example.com").user)
            before = writes()
    assert Document.objects.values_list("name", "deleted_at", "state").get(pk=things.document_id) == state
    assert Turn.objects.get(pk=things.turn_id).status == "waiting"
    assert not Thread.objects.get(pk=things.thread_id).shared


def test_every_post_needs_the_token_against_forgery(alice: Person, things: Belongings) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice.user)
    for name, ways in ROUTES.items():
        if ways.post != NO_SUCH_WAY and name not in WITHOUT_FORGERY_TOKEN:
            assert client.post(address(name, things)).status_code == 403, name


def test_other_methods_do_nothing(alice: Person, things: Belongings) -> None:
    client, before = alice.client(), writes()
    for name in ROUTES:
        for method in ("put", "patch", "delete"):
            if name not in ("home", "organizations:sign_in"):  # lead to the documents, whatever the method
                assert getattr(client, method)(address(name, things)).status_code == 405, (name, method)
    assert writes() == before


def foreign_forms(mine: Belongings, hers: Belongings) -> list[tuple[str, str, dict[str, str]]]:
    """Charlie's own addresses with ids of alice's where a form, a query or the second half of a path takes one."""
    doc, agent = f"/documents/{mine.document_id}", f"/documents/{mine.document_id}/agent"
    result = f"{doc}/extractions/{hers.extraction_id}"
    return [
        ("get", "/documents", {"tag": hers.tag_id}),
        ("get", "/prompts", {"schema": hers.schema_id}),
        ("get", f"{agent}", {"thread": hers.thread_id}),
        ("get", f"{agent}/thread", {"thread": hers.thread_id}),
        ("get", f"{agent}/thread", {"thread": mine.thread_id, "head": hers.turn_id}),
        ("get", f"{agent}/turns/{hers.turn_id}/sent", {}),
        ("get", f"{agent}/calls/{hers.call_id}/edit", {}),
        ("get", f"{agent}/calls/{hers.call_id}/card", {}),
        ("get", f"{result}/export", {}),
        ("get", f"{doc}", {"prompt": hers.prompt_revid}),
        ("get", f"{doc}/extraction", {"prompt": hers.prompt_revid}),
        ("post", f"{doc}/tags", {"tag_ids": hers.tag_id}),
        ("post", f"{doc}/extraction/run", {"prompt": hers.prompt_revid}),
        ("post", f"{result}/fields", {"value:total": "1"}),
        ("post", f"{result}/verify", {}),
        ("post", f"{agent}/turns/{hers.turn_id}/decide", {"call": hers.call_name, "hash": "", "decision": "approve"}),
        ("post", f"{agent}/turns/{mine.turn_id}/decide", {"call": hers.call_id, "hash": "", "decision": "approve"}),
        ("post", f"{agent}/turns/{hers.turn_id}/cancel", {}),
        ("post", f"{agent}/calls/{hers.done_call_id}/undo", {}),
        ("post", f"{agent}/threads/{hers.thread_id}/delete", {}),
        ("post", f"{agent}/rules/{hers.rule_id}/revoke", {}),
        ("post", f"{agent}/send", {"text": "Hi", "thread": hers.thread_id}),
        ("post", f"{agent}/send", {"text": "Hi", "thread": mine.thread_id, "resubmit": hers.turn_id}),
        ("post", f"{agent}/send", {"text": "Hi", "mentions": f'[{{"type": "tag", "id": "{hers.tag_id}"}}]'}),
        ("post", "/prompts/new", PROMPT | {"schema": f"{hers.schema_id}:1"}),
        ("post", "/prompts/new", PROMPT | {"tags": hers.tag_id}),
        ("post", f"/prompts/{mine.prompt_id}/edit", PROMPT | {"schema": f"{hers.schema_id}:1"}),
        ("post", "/organization", {"organization_id": "{alice}"}),
    ]


def test_ids_of_another_organization_do_not_exist_inside_ones_own(
    alice: Person, charlie: Person, things: Belongings
) -> None:
    mine, client = belongings_of(charlie, mark="Charlie"), charlie.client()
    for method, path, form in foreign_forms(mine, things):
        values = {key: text.replace("{alice}", alice.organization.pk.hex) for key, text in form.items()}
        before = AuditEntry.objects.filter(organization=alice.organization).count()
        answer = getattr(client, method)(path, values)
        assert answer.status_code != 500
        assert MARK not in answer.content.decode(), (method, path)
        assert AuditEntry.objects.filter(organization=alice.organization).count() == before, (method, path)
    assert not Document.objects.get(pk=mine.document_id).tags.filter(pk=things.tag_id).exists()
    assert MARK not in client.get("/documents").content.decode(), "the session may not go to her organization"


@pytest.mark.parametrize("who", WHO)
def test_djangos_admin_is_for_staff(clients: dict[str, Client], alice: Person, who: str) -> None:
    for path in ("/admin/", "/admin/login/x", "/admin/organizations/user/", "/admin/nothing"):
        answer = clients[who].get(path)
        assert answer.status_code in (302, 404), path
        assert MARK not in answer.content.decode()
    alice.user.is_staff = alice.user.is_superuser = True
    alice.user.save()
    assert clients["alice"].get("/admin/").status_code == 200


SOCKETS: dict[str, tuple[bool, bool, bool, bool]] = {
    "ws/documents": (False, True, True, True),  # one's own organization's; what is sent there is in test_consumers
    "ws/documents/<str:document_id>": (False, False, True, True),
    "ws/documents/<str:document_id>/threads/<str:thread_id>": (False, False, False, True),
}


def test_every_socket_has_a_row() -> None:
    assert {str(pattern.pattern) for pattern in websocket_urlpatterns} == set(SOCKETS)


@pytest.mark.django_db(transaction=True)
async def test_sockets_let_in_whom_the_table_says(clients: dict[str, Client], things: Belongings) -> None:
    application = AllowedHostsOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))
    for route, expected in SOCKETS.items():
        path = "/" + route.replace("<str:", "{").replace(">", "}").format(**things.ids())
        for who, wanted in zip(WHO, expected, strict=True):
            cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in clients[who].cookies.items())
            headers = [(b"origin", b"http://localhost"), (b"host", b"localhost"), (b"cookie", cookies.encode())]
            socket = WebsocketCommunicator(application, path, headers=headers)
            let_in = (await socket.connect(timeout=5))[0]
            assert let_in is wanted, f"{path} by {who}"
            if let_in:
                await socket.disconnect()


NEW = new_id().hex
TOOLS: dict[str, dict[str, Any]] = {
    "get_ocr_text": {},
    "get_extraction_result": {"prompt_revid": "{prompt_revid}"},
    "get_schema": {"schema_revid": "{schema_revid}"},
    "validate_against_schema": {"schema_revid": "{schema_revid}", "data": {}},
    "get_prompt": {"prompt_revid": "{prompt_revid}"},
    "get_tag": {"tag_id": "{tag_id}"},
    "run_extraction": {"prompt_revid": "{prompt_revid}"},
    "update_extraction_field": {"path": "total", "value": 1},
    "update_document": {"document_id": "{document_id}", "document_name": "Mine"},
    "delete_document": {},
    "update_schema": {"schema_id": "{schema_id}", "name": "Mine"},
    "delete_schema": {"schema_id": "{schema_id}"},
    "create_prompt": {"name": "Mine", "content": "Read.", "schema_id": "{schema_id}"},
    "update_prompt": {"prompt_id": "{prompt_id}", "content": "Read."},
    "delete_prompt": {"prompt_id": "{prompt_id}"},
    "update_tag": {"tag_id": "{tag_id}", "name": "Mine"},
    "delete_tag": {"tag_id": "{tag_id}"},
    "list_documents": {"tag_ids": ["{tag_id}"]},
    "list_prompts": {"document_id": "{document_id}"},
}
"""What takes an id of alice's: refused."""
OWN_TOOLS: dict[str, dict[str, Any]] = {
    "list_schemas": {},
    "list_tags": {},
    "validate_schema": {"schema": INVOICE},
    "help_schemas": {},
    "help_prompts": {},
    "list_llm_models": {},
    "create_schema": {"name": f"{MARK} schema", "response_format": INVOICE},
    "create_tag": {"name": f"{MARK} tag"},
}
"""What takes no id: it works on charlie's own, and may have the very names of alice's things."""


def with_ids(value: Any, things: Belongings) -> Any:
    if isinstance(value, dict):
        return {key: with_ids(item, things) for key, item in value.items()}
    if isinstance(value, list):
        return [with_ids(item, things) for item in value]
    return value.format(**things.ids()) if isinstance(value, str) else value


def test_every_tool_has_a_row() -> None:
    assert {tool.name for tool in toolbox} == set(TOOLS) | set(OWN_TOOLS)
    assert len(list(toolbox)) == 27


@pytest.mark.django_db(transaction=True)
def test_no_tool_reaches_another_organization(charlie: Person, things: Belongings) -> None:
    document = Document.objects.get(pk=things.document_id)
    state = {"schema_revid": things.schema_revid, "prompt_revid": things.prompt_revid}
    hers = AuditEntry.objects.filter(organization_id=document.organization_id)
    before, written_by_her = writes(), hers.count()
    for name, arguments in TOOLS.items():
        context = context_for(charlie, document, **state)
        result = call(context, name, **with_ids(arguments, things))
        assert "error" in result, name
        assert MARK not in str(result), name
        assert (context.undo, writes()) == (None, before), name
    for name, arguments in OWN_TOOLS.items():
        result = call(context_for(charlie, document, **state), name, **with_ids(arguments, things))
        assert "error" not in result, (name, result)
        assert MARK not in str({key: value for key, value in result.items() if key != "name"}), name
    assert hers.count() == written_by_her
