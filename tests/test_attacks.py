"""What a hostile person or a hostile document sends to the doors: markup, broken ids and numbers, JSON bombs."""

import json
import re
from html.parser import HTMLParser
from io import BytesIO
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.http import StreamingHttpResponse
from django.test import Client
from django.utils import timezone

from agent.events import AssistantTextChunk, AssistantTextDone, ThinkingChunk, ThinkingDone
from agent.markdown import to_html
from agent.models import Message, Thread, ToolCall, Turn
from agent.render import decided_html, event_html
from agent.turn_view import turn_view
from documents.models import Document, DocumentVersion, Extraction, Page
from documents.publishing import publish
from documents.serving import FileBytes
from documents.sharing.services import create_share_link
from organizations.models import Organization, User
from prompts_app.models import Prompt
from schemas_app.models import Schema
from tags_app.models import Tag
from tests.agent.rows import add_call, schema_format
from tests.belongings import Belongings
from tests.conftest import Person
from tests.test_permissions import ALL_ROUTES, FIXED, ROUTES, address, streamed, things
from webhooks.models import Delivery, Webhook

__all__ = ["things"]
HTMX = {"HX-Request": "true"}
EVIL = "\"'></script></textarea></title><x-evil onclick=alert(1)>{{7*7}}<img src=x onerror=alert(1)>&"


class Seen(HTMLParser):
    """What a browser would make of a page: tags, handlers, scripts, addresses."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "x-evil" or (tag == "script" and not (given.get("src") or "").startswith("/static/")):
            self.wrong.append(f"<{tag} {attrs}>")
        for name, value in attrs:
            plain = (value or "").strip().lower()
            if name.startswith(("on", "hx-on")) or plain.startswith("javascript:"):
                self.wrong.append(f"<{tag} {name}={value}>")
            if name in ("src", "href") and plain.startswith(("http:", "https:", "//", "data:")):
                self.wrong.append(f"<{tag} {name}={value}>")


def wrong_in(html: str) -> list[str]:
    seen = Seen()
    seen.feed(html)
    return seen.wrong


def read(answer: Any) -> None:
    """To its end, so that no file stays open."""
    if answer.streaming:
        async_to_sync(streamed)(answer)


@pytest.fixture
def poisoned(things: Belongings, alice: Person) -> Belongings:
    """Every text that somebody may choose is markup, past all checks."""
    number = len(EVIL)
    Document.objects.update(name=EVIL, metadata={EVIL: EVIL}, uploaded_by_name=EVIL)
    DocumentVersion.objects.update(file_name=EVIL, notes=[EVIL])
    Page.objects.update(text=EVIL * 3)
    Tag.objects.update(name=EVIL, description=EVIL, color="red")
    Schema.objects.update(name=EVIL)
    Prompt.objects.update(name=EVIL)
    place = {"state": "found", "page": 1, "boxes": [[0, 0, 1, 1]], "quote": EVIL}
    values = {"number": EVIL, EVIL: EVIL, "lines": [{EVIL: EVIL}], "notes": [EVIL], "group": {EVIL: EVIL}}
    Extraction.objects.update(
        llm_result=values,
        updated_llm_result=values,
        grounding={"number": place, EVIL: place},
        validation_errors=[{"path": "number", "message": EVIL}],
        model_requested=EVIL,
        model_used=EVIL[:100],
    )
    Thread.objects.update(title=EVIL)
    Webhook.objects.update(name=EVIL, url=EVIL, header_name=EVIL[:100], auth_type="header", events=[EVIL[:60]])
    attempt = {"at": timezone.now().isoformat(), "duration_ms": 1, "status_code": 404, "error": EVIL, "answer": EVIL}
    payload = {EVIL: EVIL, "document": {"document_name": EVIL}}
    Delivery.objects.update(event=EVIL[:60], payload=payload, attempts=[attempt])
    User.objects.filter(pk=alice.user.pk).update(name=EVIL)
    Organization.objects.update(name=EVIL)
    turn = Turn.objects.get(pk=things.turn_id)
    Turn.objects.update(actor_name=EVIL, mentions=[{"type": "tag", "id": things.tag_id, "name": EVIL}])
    Message.objects.update(content=f"{EVIL}\n\n[x](javascript:alert(1)) ![x](//e.example/x)\n```{EVIL}\n{EVIL}\n```")
    Message.objects.update(thinking=EVIL, sent={EVIL: EVIL})
    message = turn.messages.get(role="assistant")
    properties = {EVIL: {"type": "string", "description": EVIL, "enum": [EVIL]}}
    for name, arguments in (
        ("create_schema", {"name": EVIL, "response_format": schema_format(**properties)}),
        (
            "update_schema",
            {"schema_id": things.schema_id, "name": EVIL, "response_format": schema_format(**properties)},
        ),
        ("create_prompt", {"name": EVIL, "content": EVIL}),
        ("create_tag", {"name": EVIL, "color": "red;position:fixed;inset:0", "description": EVIL}),
        ("update_document", {"document_name": EVIL, "metadata": {EVIL: EVIL}}),
        ("update_extraction_field", {"path": EVIL, "value": EVIL}),
        ("delete_document", {}),
        (EVIL[:90], {"x": EVIL}),
    ):
        add_call(message, name, arguments, call_id=f"{EVIL}{number}", summary=EVIL, writes=True)
        result = {"error": EVIL, EVIL: EVIL} if number % 2 else {"name": EVIL, "text": EVIL}
        more = {"status": "done", "result": result, "decision": "rejected", "reason": EVIL, "decided_by_name": EVIL}
        add_call(message, name, arguments, call_id=f"{EVIL}{number}done", summary=EVIL, writes=True, **more)
        number += 1
    return things


def test_markup_in_any_text_stays_text_on_every_page(alice: Person, poisoned: Belongings) -> None:
    client, shown = alice.client(), 0
    for name, ways in ROUTES.items():
        if ways.get[-1] != 200 or "documents:file" in name or "page_image" in name:
            continue
        query = {key: text.format(**poisoned.ids()) for key, text in ways.query.items()}
        for headers in ({}, HTMX) if name == "documents:list" else ({},):
            answer = client.get(address(name, poisoned), query, headers=headers)
            assert answer.status_code == 200, name
            if answer["Content-Type"].startswith("text/html"):
                html = answer.content.decode()
                assert wrong_in(html) == [], name
                shown += "x-evil" in html
            else:
                assert "html" not in answer["Content-Type"]
    assert shown > 20, "the texts do stand on the pages"


def test_markup_stays_text_on_what_people_without_an_account_see(alice: Person, poisoned: Belongings) -> None:
    document_id, actor = poisoned.document_id, alice.actor
    published = publish(actor=actor, document_id=document_id, with_pages=True)
    made = create_share_link(actor=actor, document_id=document_id, role="ask", password=EVIL)
    client = Client()
    pages = [
        client.get(f"/s/{made.link.pk.hex}/{made.token}"),
        client.post(f"/s/{made.link.pk.hex}/{made.token}", {"password": f"{EVIL}{EVIL}"}),
        client.post(f"/s/{made.link.pk.hex}/{made.token}", {"password": EVIL}, follow=True),
        client.get(f"/p/{published.slug}"),
        client.get(f"/p/{EVIL.replace('/', '')}"),
    ]
    assert [page.status_code for page in pages] == [200, 401, 200, 200, 404]
    assert [wrong_in(page.content.decode()) for page in pages] == [[]] * len(pages)
    assert sum("x-evil" in page.content.decode() for page in pages) >= 2


def test_markup_stays_text_in_what_the_socket_sends(alice: Person, poisoned: Belongings) -> None:
    turn = Turn.objects.get(pk=poisoned.turn_id)
    view = turn_view(turn, actor=alice.actor)
    calls = list(turn.tool_calls.values_list("call_id", flat=True))
    fragments = [decided_html(view, calls)]
    for event in (
        AssistantTextChunk(chunk=EVIL, round_index=0),
        ThinkingChunk(chunk=EVIL, round_index=0),
        AssistantTextDone(full_text=EVIL, round_index=0),
        ThinkingDone(thinking=EVIL, round_index=0),
    ):
        fragments.append(event_html(event, turn_hex=turn.pk.hex))
    assert all("x-evil" in html for html in fragments)
    assert [wrong_in(html) for html in fragments] == [[]] * len(fragments)


@pytest.mark.parametrize(
    "text",
    [
        "<x-evil>",
        "[a](javascript:alert(1))",
        "[a](data:text/html,<x-evil>)",
        "<javascript:alert(1)>",
        "[a]: //e.example\n[a]",
        "![a](https://e.example/?q=secret)",
        "[a](https://e.example/?q=secret)",
        "https://e.example/?q=secret",
        "[a](schema:" + "0" * 32 + '"onclick=x)',
        '```"><x-evil>\n</code></pre><x-evil>\n```',
        "|a|\n|-|\n|<x-evil>|",
        "&lt;x-evil&gt; &#60;x-evil&#62; \\<x-evil>",
    ],
)
def test_a_models_markdown_can_load_run_and_link_nothing(text: str) -> None:
    assert wrong_in(to_html(text)) == []


ODD_IDS = ("0" * 32, "%00", "..%2f..%2fetc%2fpasswd", "9" * 5000)
ODD_VALUES = ("\0", "²", "9" * 5000, EVIL, "\r\nX-Evil: 1")


@pytest.mark.slow
def test_odd_ids_are_nothing_that_exists(alice: Person, things: Belongings) -> None:
    client = alice.client()
    client.raise_request_exception = False
    for name, arguments in ALL_ROUTES.items():
        for odd in ODD_IDS if arguments else ():
            for argument in arguments:
                whole = address(name, things)
                path = (
                    whole.replace("/1/", f"/{odd}/")
                    if argument == "number"
                    else whole.replace(_id(name, argument, things), odd)
                )
                for method in ("get", "post"):
                    if getattr(ROUTES[name], method)[-1] == 405:
                        continue
                    answer = getattr(client, method)(path)
                    read(answer)
                    status = answer.status_code
                    assert status in (200, 302, 304, 400, 401, 404, 405, 422), (method, path[:200], status)


def _id(name: str, argument: str, things: Belongings) -> str:
    ids = things.ids() | ({"call_id": things.done_call_id} if name == "agent:undo" else {})
    return str(FIXED.get(argument) or ids[argument])


PARAMETERS = (
    *("q", "state", "tag", "sort", "skip", "schema", "version", "prompt", "thread", "head", "w", "next", "download"),
    *("name", "color", "description", "content", "model", "tags", "tag_ids", "response_format", "seen_version"),
    *("text", "mentions", "resubmit", "go_on", "auto_approve", "title", "organization_id", "again", "username"),
    *(
        "value:number",
        "value:total",
        "value:lines.0",
        "value:²",
        "value:number.²",
        "value:",
        "edit_version",
        "add",
        "remove",
    ),
    *("verified", "reason", "days", "scope"),
    *("role", "max_views", "password", "redact", "with_pages", "publication", "question", "ticket"),
)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["get", "post"])
def test_no_odd_value_in_any_query_or_form_breaks_a_page(alice: Person, things: Belongings, method: str) -> None:
    client = alice.client()
    client.raise_request_exception = False
    for name, ways in ROUTES.items():
        if getattr(ways, method)[-1] == 405 or name in ("organizations:sign_out", "documents:delete", "readyz"):
            continue
        for odd in ODD_VALUES:
            base = {key: text.format(**things.ids()) for key, text in ways.form.items()} if method == "post" else {}
            answer = getattr(client, method)(address(name, things), {**base, **dict.fromkeys(PARAMETERS, odd)})
            read(answer)
            assert answer.status_code < 500, (name, odd[:40])
            assert "X-Evil" not in answer.headers


DEEPER = "[" * 200_000 + "]" * 200_000
BOMBS = {
    **{f"deep {levels}": "[" * levels + "]" * levels for levels in (60, 200, 330, 600, 900)},
    "deeper": DEEPER,
    "nan": "NaN",
    "infinity": "[-Infinity]",
    "huge number": "9" * 4000,
    "huger number": "9" * 5000,
    "huge float": "1e9999",
    "lone surrogate": '"\\ud800"',
    "lone surrogate in a key": '{"\\udfff": 1}',
    "nul": '"\\u0000"',
    "nul in a key": '{"\\u0000": 1}',
    "wrong type": "[[1]]",
    "not json": "{",
    "many": json.dumps([{"a": [1] * 10}] * 3000),
}


def waiting_call(things: Belongings, name: str, arguments: dict[str, Any]) -> ToolCall:
    message = Message.objects.get(turn=things.turn_id, role="assistant")
    return add_call(message, name, arguments, call_id="bombed")


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_json_bombs_in_forms_are_refused_in_words(alice: Person, things: Belongings, bomb: str) -> None:
    client = alice.client()
    client.raise_request_exception = False
    call = waiting_call(things, "update_extraction_field", {"path": "number", "value": ["as JSON"]})
    schema = waiting_call_of_schema(things)
    decide = f"/documents/{things.document_id}/agent/turns/{things.turn_id}/decide"
    send = f"/documents/{things.document_id}/agent/send"
    forms: list[tuple[str, dict[str, str]]] = [
        (
            decide,
            {
                "decision": "edit",
                "call": call.call_id,
                "hash": call.arguments_hash,
                "arg-value": bomb,
                "arg-path": "number",
            },
        ),
        (
            decide,
            {
                "decision": "edit",
                "call": schema.call_id,
                "hash": schema.arguments_hash,
                "arg-name": "S",
                "schema-json": bomb,
            },
        ),
        (
            decide,
            {"decision": "edit", "call": schema.call_id, "hash": schema.arguments_hash, "schema-json": in_schema(bomb)},
        ),
        (send, {"text": "Hi", "mentions": bomb}),
        (send, {"text": "Hi", "mentions": f'[{{"type": {bomb}, "id": {bomb}}}]'}),
        ("/schemas/new", {"name": "S", "response_format": bomb}),
        ("/schemas/new", {"name": "S", "response_format": in_schema(bomb)}),
        (f"/schemas/{things.schema_id}/edit", {"name": "S", "response_format": in_schema(bomb)}),
    ]
    for path, form in forms:
        status = client.post(path, form, headers=HTMX).status_code
        assert 200 <= status < 500, (path, status)
    for page in ("", "/agent"):
        assert client.get(f"/documents/{things.document_id}{page}").status_code == 200
    assert Turn.objects.get(pk=things.turn_id).status == "waiting"


def waiting_call_of_schema(things: Belongings) -> ToolCall:
    message = Message.objects.get(turn=things.turn_id, role="assistant")
    arguments = {"name": "S", "response_format": schema_format(a={"type": "string"})}
    return add_call(message, "create_schema", arguments, call_id="schema")


def edit_of(call: ToolCall) -> dict[str, str]:
    return {"decision": "edit", "call": call.call_id, "hash": call.arguments_hash}


def in_schema(bomb: str) -> str:
    """The bomb deep in a response format that is fine otherwise."""
    text = json.dumps(schema_format(a={"type": "string", "default": "BOMB", "description": "d"}))
    return text.replace('"BOMB"', bomb)


def test_a_nul_in_a_table_of_fields_is_refused(alice: Person, things: Belongings) -> None:
    call = waiting_call_of_schema(things)
    form = {"decision": "edit", "call": call.call_id, "hash": call.arguments_hash, "arg-name": "S"}
    row = {
        "field-key": "a",
        "field-parent": "",
        "field-name": "a\0b",
        "field-type": "string",
        "field-description": "\0",
    }
    path = f"/documents/{things.document_id}/agent/turns/{things.turn_id}/decide"
    assert alice.client().post(path, form | row, headers=HTMX).status_code == 422


@pytest.mark.parametrize("range_", ["bytes=" + "9" * 5000 + "-", "bytes=-" + "9" * 5000, "bytes=5-2", "bytes=3-2", "x"])
def test_odd_ranges_of_a_file_are_answered(alice: Person, things: Belongings, range_: str) -> None:
    assert file_of(alice, things, Range=range_).status_code in (200, 206, 416)


def file_of(person: Person, things: Belongings, **headers: str) -> Any:
    answer = person.client().get(f"/documents/{things.document_id}/file", headers=headers)
    read(answer)
    return answer


async def test_a_reader_that_leaves_before_the_first_byte_leaves_no_open_file() -> None:
    file = BytesIO(b"x")
    response = StreamingHttpResponse(FileBytes(file, 0, 1))
    response.close()
    assert file.closed


@pytest.mark.parametrize(
    "name", ["a\r\nSet-Cookie: x=1", 'a"; filename="b.html', "ä€\u202egpj.exe", "../../x", "a" * 250, "%0d%0a", ";"]
)
def test_a_files_name_cannot_leave_its_header(alice: Person, things: Belongings, name: str) -> None:
    DocumentVersion.objects.update(file_name=name)
    header = file_of(alice, things)["Content-Disposition"]
    assert header.isascii()
    way, _, quoted = header.partition("; filename*=UTF-8''")
    assert re.fullmatch(r'(inline|attachment); filename="[A-Za-z0-9 ._()-]+"', way)
    assert not set(quoted) & set("\r\n\"'; ")


@pytest.mark.parametrize("kind", ["text/html", "image/svg+xml", "text/xml", "application/xhtml+xml", "text/plain"])
def test_an_uploaded_page_is_never_shown_as_ours(alice: Person, things: Belongings, kind: str) -> None:
    DocumentVersion.objects.update(mime_type=kind)
    answer = file_of(alice, things)
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"].startswith("sandbox")


def test_every_answer_carries_the_headers_that_protect_it(alice: Person, things: Belongings) -> None:
    client = alice.client()
    for name, ways in ROUTES.items():
        if ways.get[-1] not in (200, 302):
            continue
        query = {key: text.format(**things.ids()) for key, text in ways.query.items()}
        answer = client.get(address(name, things), query)
        read(answer)
        assert answer["X-Content-Type-Options"] == "nosniff", name
        # Nothing at all where the address may have the token of a letter in it.
        wanted = "no-referrer" if name in ("organizations:verify_email", "organizations:invitation") else "same-origin"
        assert answer["Referrer-Policy"] == wanted, name
        assert answer["X-Frame-Options"] == "DENY", name
        policy = {part.split()[0]: part.split()[1:] for part in answer["Content-Security-Policy"].split(";")}
        if name != "documents:file":
            assert policy["script-src"] == ["'self'"], name
            assert policy["object-src"] == policy["base-uri"] == policy["frame-ancestors"] == ["'none'"], name
        if name not in ("home", "healthz", "readyz", "metrics"):
            kept = answer.headers.get("Cache-Control", "")
            assert "private" in kept or "no-store" in kept, f"{name} may be kept by anybody: {kept!r}"


def test_pages_of_errors_carry_them_too(alice: Person, nobody: Client) -> None:
    for answer in (
        alice.client().get("/nothing"),
        nobody.get("/sign-in", headers={"Host": "evil.example"}),
        Client(enforce_csrf_checks=True).post("/sign-in"),
    ):
        assert answer.status_code in (400, 403, 404)
        assert "script-src 'self'" in answer["Content-Security-Policy"]
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert "evil.example" not in answer.content.decode()


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "localhost@evil.example"])
def test_a_foreign_host_is_refused(nobody: Client, host: str) -> None:
    assert nobody.get("/sign-in", headers={"Host": host}).status_code == 400
    assert nobody.get("/documents", headers={"X-Forwarded-Host": host})["Location"].startswith("/sign-in")


@pytest.mark.parametrize(
    "next_",
    [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "///evil.example",
        "\t//evil.example",
    ],
)
def test_signing_in_leads_nowhere_else(nobody: Client, alice: Person, next_: str) -> None:
    form = {"username": "alice@example.com", "password": "a long enough secret", "next": next_}
    assert nobody.post("/sign-in", form)["Location"] == "/documents"
    assert nobody.get("/sign-in", {"next": next_})["Location"] == "/documents"
    assert nobody.post("/sign-out", {"next": next_})["Location"] == "/sign-in"


def test_signing_in_changes_the_session_and_signing_out_ends_it(nobody: Client, alice: Person) -> None:
    nobody.cookies["sessionid"] = "planted" * 4
    nobody.post("/sign-in", {"username": "alice@example.com", "password": "a long enough secret"})
    mine = nobody.cookies["sessionid"].value
    assert mine != "planted" * 4
    assert nobody.get("/documents").status_code == 200
    nobody.post("/sign-out")
    nobody.cookies["sessionid"] = mine
    assert nobody.get("/documents").status_code == 302


def test_a_session_follows_the_membership(alice: Person, charlie: Person, things: Belongings) -> None:
    client = charlie.client()
    session = client.session
    session["organization_id"] = alice.organization.pk.hex
    session.save()
    assert client.get(f"/documents/{things.document_id}").status_code == 404
    charlie.user.is_active = False
    charlie.user.save()
    assert client.get("/documents").status_code == 302
