"""Threads over JSON: the wire's shapes, pages, branches, who may see and change them."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agent.models import Thread, Turn
from documents.models import Document
from organizations.models import AuditEntry
from tests.agent.rows import add_call, add_message, make_thread, make_turn
from tests.agent.staging import make_document, put_on_stage, says
from tests.agent.wire import question
from tests.api import Api, api_of
from tests.conftest import Person, make_person


@pytest.fixture
def document(alice: Person) -> Document:
    return make_document(alice.actor)


@pytest.fixture
def api(alice: Person) -> Api:
    return api_of(alice)


@pytest.fixture
def threads(document: Document) -> str:
    return f"documents/{document.pk.hex}/chat/threads"


def talk(alice: Person, document: Document, questions: int, **more: Any) -> Thread:
    """A thread whose turns are all answered."""
    thread = make_thread(alice.actor, document, **more)
    parent = None
    for number in range(questions):
        parent = answered(thread, alice, f"Question {number}", parent)
    return thread


def answered(thread: Thread, alice: Person, text: str, parent: Turn | None) -> Turn:
    outcome = {"text": f"Answer to {text}"}
    turn = make_turn(thread, alice.actor, question=text, status="done", parent=parent, outcome=outcome)
    add_message(turn, "assistant", f"Answer to {text}")
    return turn


def said(thread: Any) -> list[str]:
    return [message["content"] for message in thread["messages"]]


def test_a_thread_is_made_listed_renamed_shared_and_deleted(api: Api, threads: str) -> None:
    first = api.post(threads)["thread_id"]
    second = api.post(threads, {"title": "Fields"})["thread_id"]
    listed = api.get(threads)
    assert [(item["id"], item["title"]) for item in listed] == [(second, "Fields"), (first, "New chat")]
    assert listed[0].keys() == {"id", "title", "created_at", "updated_at", "shared", "model"}
    assert listed[0]["updated_at"].endswith("Z")
    assert api.put(f"{threads}/{first}", {"title": " Renamed\nby me "})["title"] == "Renamed by me"
    patched = api.raw("patch", f"{threads}/{first}", {"shared": True})
    assert (patched.status_code, api.get(threads)[0]["shared"]) == (200, True)
    assert api.get(f"{threads}?limit=1")[0]["id"] == first
    assert api.delete(f"{threads}/{first}") == {"ok": True}
    assert api.error("get", f"{threads}/{first}") == (404, "Thread not found")
    assert [item["id"] for item in api.get(threads)] == [second]


def test_a_thread_has_questions_and_final_answers_only(
    api: Api, threads: str, alice: Person, document: Document
) -> None:
    thread = make_thread(alice.actor, document, working_state={"schema_revid": None, "prompt_revid": None})
    turn = make_turn(thread, alice.actor, question="Tag it", status="done", outcome={"text": "Tagged"})
    message = add_message(turn, "assistant", "Let me see", thinking="hm")
    add_call(
        message, "create_tag", {"name": "Paid"},
        status="done", success=True, result={"tag_id": "1"}, decision="approved", decided_by_name="Alice",
    )  # fmt: skip
    add_message(turn, "assistant", "Tagged")
    shown = api.get(f"{threads}/{thread.pk.hex}")
    assert [(item["role"], item["content"]) for item in shown["messages"]] == [
        ("user", "Tag it"),
        ("assistant", "Tagged"),
    ]
    answer = shown["messages"][1]
    (call,) = answer["executed_rounds"][0]["tool_calls"]
    assert (call["name"], call["status"], call["decision"], call["decided_by"]) == (
        "create_tag",
        "done",
        "approved",
        "Alice",
    )
    assert (answer["tool_calls"], answer["turn_id"], shown["open_turn_id"]) == (None, turn.pk.hex, None)
    assert (shown["extraction"], shown["has_earlier"]) == (None, False)
    waiting = make_turn(thread, alice.actor, question="And?", parent=turn)
    add_call(add_message(waiting, "assistant", "Look"), "create_tag", {"name": "Open"})
    shown = api.get(f"{threads}/{thread.pk.hex}")
    assert shown["open_turn_id"] == waiting.pk.hex
    assert shown["messages"][-1]["tool_calls"][0]["arguments"] == '{"name": "Open"}'


def test_a_long_thread_comes_page_by_page(api: Api, threads: str, alice: Person, document: Document) -> None:
    thread = talk(alice, document, 130)
    newest = api.get(f"{threads}/{thread.pk.hex}")
    assert (len(newest["messages"]), newest["has_earlier"]) == (200, True)
    assert newest["messages"][-1]["content"] == "Answer to Question 129"
    earlier = api.get(f"{threads}/{thread.pk.hex}?before={newest['messages'][0]['id']}")
    assert (len(earlier["messages"]), earlier["has_earlier"]) == (60, False)
    whole = said(earlier) + said(newest)
    assert whole == [line for n in range(130) for line in (f"Question {n}", f"Answer to Question {n}")]
    middle = api.get(f"{threads}/{thread.pk.hex}?before={newest['messages'][1]['id']}")
    assert said(middle)[-1] == newest["messages"][0]["content"]


def test_branches_stay_reachable(api: Api, threads: str, alice: Person, document: Document) -> None:
    thread = make_thread(alice.actor, document)
    first = answered(thread, alice, "First", None)
    left = answered(thread, alice, "Left", first)
    right = answered(thread, alice, "Right", first)
    shown = api.get(f"{threads}/{thread.pk.hex}")
    assert said(shown) == ["First", "Answer to First", "Right", "Answer to Right"]
    assert shown["messages"][2]["branches"] == [left.pk.hex, right.pk.hex]
    assert shown["messages"][0]["branches"] is None
    other = api.get(f"{threads}/{thread.pk.hex}?head={left.pk.hex}")
    assert said(other) == ["First", "Answer to First", "Left", "Answer to Left"]
    before = api.get(f"{threads}/{thread.pk.hex}?before={other['messages'][-1]['id']}")
    assert said(before) == ["First", "Answer to First", "Left"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("keep", "stays"),
    [
        (0, []),
        (1, []),
        (2, ["Question 0", "Answer to Question 0"]),
        (3, ["Question 0", "Answer to Question 0"]),
        (9, None),
    ],
)
def test_a_question_is_asked_anew_from_an_earlier_place(
    transactional_db: None, monkeypatch: Any, keep: int, stays: list[str] | None
) -> None:
    alice = make_person("alice@example.com")
    document = make_document(alice.actor)
    thread, api = talk(alice, document, 2), api_of(alice)
    client = put_on_stage(monkeypatch, says("Anew"))
    chat = f"documents/{document.pk.hex}/chat"
    whole = said(api.get(f"{chat}/threads/{thread.pk.hex}"))
    body = question("Again", thread_id=thread.pk.hex, truncate_thread_to_message_count=keep)
    assert api.post(chat, body)["text"] == "Anew"
    shown = api.get(f"{chat}/threads/{thread.pk.hex}")
    kept = whole if stays is None else stays
    assert said(shown) == [*kept, "Again", "Anew"]
    assert [message["content"] for message in client.sent[0]][-1 - len(kept) :] == [*kept, "Again"]
    assert Turn.objects.count() == 3, "what was cut off stays as a branch"


def test_a_private_thread_is_its_authors_and_admins_leave_a_trace(
    alice: Person, bob: Person, charlie: Person, document: Document, threads: str
) -> None:
    mine = api_of(bob)
    thread = mine.post(threads)["thread_id"]
    address = f"{threads}/{thread}"
    dora = api_of(make_person("dora@example.com", organization=alice.organization))
    not_found = (404, "Thread not found")
    for method, body in (("get", None), ("put", {"title": "x"}), ("patch", {"shared": True}), ("delete", None)):
        assert dora.error(method, address, body) == not_found
    assert (
        api_of(charlie).error("get", f"documents/{make_document(charlie.actor).pk.hex}/chat/threads/{thread}")
        == not_found
    )
    elsewhere = make_document(bob.actor).pk.hex
    assert mine.error("get", f"documents/{elsewhere}/chat/threads/{thread}") == not_found
    assert AuditEntry.objects.filter(action="thread.opened_by_admin").count() == 0
    assert api_of(alice).get(address)["id"] == thread
    assert AuditEntry.objects.filter(action="thread.opened_by_admin").count() == 1
    mine.raw("patch", address, {"shared": True})
    assert dora.get(address)["shared"] is True
    assert dora.error("put", address, {"title": "x"})[0] == 403


BAD_CHANGES: list[tuple[str, Any, int]] = [
    ("post", {"title": 5}, 422),
    ("post", {"title": "x" * 201}, 400),
    ("post", b"{", 422),
    ("post", b"[]", 422),
    ("post", {"title": "a\0b"}, 422),
    ("put", None, 422),
    ("put", {}, 400),
    ("put", {"title": ""}, 400),
    ("put", {"title": "   "}, 400),
    ("put", {"title": ["x"]}, 422),
    ("patch", {"shared": "perhaps"}, 422),
    ("patch", b'{"title": "half \\udc00"}', 422),
]


def test_what_a_thread_cannot_be_is_refused_and_writes_nothing(
    api: Api, threads: str, alice: Person, document: Document
) -> None:
    thread = make_thread(alice.actor, document, title="Mine")
    before = AuditEntry.objects.count()
    for method, body, status in BAD_CHANGES:
        answer = api.raw(method, threads if method == "post" else f"{threads}/{thread.pk.hex}", body)
        assert answer.status_code == status, (method, body, answer.content)
    for query, status in (
        ("limit=0", 422), ("limit=101", 422), ("limit=x", 422), ("limit=" + "9" * 40, 422), ("limit=%00", 422),
    ):  # fmt: skip
        assert api.raw("get", f"{threads}?{query}").status_code == status
    for query, status in (
        ("before=nonsense", 404), (f"before={'0' * 32}", 404), ("before=%00", 422),
        ("head=nonsense", 400), (f"head={'0' * 32}", 400),
    ):  # fmt: skip
        assert api.raw("get", f"{threads}/{thread.pk.hex}?{query}").status_code == status, query
    for other in ("nonsense", "0" * 32, "%00", "x" * 400):
        assert api.error("get", f"{threads}/{other}") == (404, "Thread not found")
    (kept,) = Thread.objects.all()
    assert (kept.title, kept.shared, AuditEntry.objects.count()) == ("Mine", False, before)


def test_a_list_costs_the_same_for_3_and_for_30(api: Api, threads: str, alice: Person, document: Document) -> None:
    counts = []
    for total in (3, 30):
        for number in range(Thread.objects.count(), total):
            talk(alice, document, 1, title=f"Thread {number}")
        with CaptureQueriesContext(connection) as queries:
            assert len(api.get(f"{threads}?limit=100")) == total
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_thread_costs_the_same_for_3_and_for_30_turns(
    api: Api, threads: str, alice: Person, document: Document
) -> None:
    counts = []
    for total in (3, 30):
        thread = talk(alice, document, total)
        with CaptureQueriesContext(connection) as queries:
            assert len(api.get(f"{threads}/{thread.pk.hex}")["messages"]) == 2 * total
        counts.append(len(queries))
    assert counts[0] == counts[1]
