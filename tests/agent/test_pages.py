"""The Agent tab over HTTP: fragments, commands, and who may do what."""

import json
import re

import pytest
from django.test import Client

from agent.models import StandingRule, Thread, ToolCall, Turn
from documents.models import Document
from tests.agent.rows import INVOICE, make_thread, make_turn, waiting_turn
from tests.agent.staging import make_document, makes_tag, put_on_stage, says, waits_for
from tests.conftest import PASSWORD, Person, make_person


def url(document: Document, *parts: str) -> str:
    return "/".join(["/documents", document.pk.hex, "agent", *parts])


def card_form(turn: Turn, **more: object) -> dict[str, object]:
    """What the buttons of the turn's first card post."""
    call = turn.tool_calls.order_by("position").first()
    assert call is not None
    return {"call": call.call_id, "hash": call.arguments_hash, **more}


@pytest.fixture
def document(alice: Person) -> Document:
    return make_document(alice.actor)


@pytest.fixture
def waiting(alice: Person, document: Document) -> Turn:
    return waiting_turn(alice.actor, document)


def test_an_untouched_document_offers_what_to_ask(alice: Person, document: Document) -> None:
    html = alice.client().get(url(document)).content.decode()
    assert "Set up extraction for this document" in html
    assert "ws-connect" not in html, "there is no thread to watch yet"
    assert "follows rules" in html, "the offline model says what it is"


@pytest.mark.parametrize(
    ("state", "words"),
    [("ocr_processing", "This document is still being read."), ("ocr_failed", "This document could not be read.")],
)
def test_a_document_without_text_says_why_nothing_can_be_asked(
    alice: Person, document: Document, state: str, words: str
) -> None:
    Document.objects.filter(pk=document.pk).update(state=state)
    html = alice.client().get(url(document)).content.decode()
    assert words in html
    assert "Set up extraction for this document" not in html


def test_the_panel_shows_the_newest_thread_with_its_card(alice: Person, waiting: Turn, document: Document) -> None:
    html = alice.client().get(url(document)).content.decode()
    assert "Create tag" in html
    assert "Waiting for you" in html
    assert f"/ws/documents/{document.pk.hex}/threads/{waiting.thread.pk.hex}" in html
    assert 'value="approve"' in html


def test_a_fragment_of_the_thread_is_the_same_as_in_the_panel(alice: Person, waiting: Turn, document: Document) -> None:
    client = alice.client()
    panel = client.get(url(document)).content.decode()
    alone = client.get(url(document, f"thread?thread={waiting.thread.pk.hex}")).content.decode()
    assert " ".join(alone.split()) in " ".join(panel.split())


def test_question_and_names_are_escaped(alice: Person, document: Document) -> None:
    thread = make_thread(alice.actor, document, title="<script>t</script>")
    make_turn(thread, alice.actor, question="<script>q</script>", status="done")
    html = alice.client().get(url(document)).content.decode()
    assert "<script>q" not in html
    assert "<script>t" not in html


@pytest.mark.parametrize("who", ["bob", "charlie", "nobody"])
def test_a_private_thread_does_not_exist_for_others(
    request: pytest.FixtureRequest, waiting: Turn, document: Document, who: str
) -> None:
    person = request.getfixturevalue(who)
    client: Client = person if isinstance(person, Client) else person.client()
    call = ToolCall.objects.get(turn=waiting)
    gets = [f"thread?thread={waiting.thread.pk.hex}", f"turns/{waiting.pk.hex}/sent", f"calls/{call.pk.hex}/edit"]
    posts = [f"turns/{waiting.pk.hex}/decide", f"turns/{waiting.pk.hex}/cancel", f"calls/{call.pk.hex}/undo"]
    posts += [f"threads/{waiting.thread.pk.hex}/{verb}" for verb in ("rename", "share", "delete")]
    answers = [client.get(url(document, path)) for path in gets]
    answers += [client.post(url(document, path), card_form(waiting, decision="approve", title="x")) for path in posts]
    assert {answer.status_code for answer in answers} <= {302, 400, 404}
    assert all("Paid" not in answer.content.decode() for answer in answers)
    waiting.refresh_from_db()
    assert waiting.status == "waiting"
    assert not Thread.objects.get(pk=waiting.thread.pk).shared


def test_a_shared_thread_can_be_decided_by_every_member(
    alice: Person, bob: Person, waiting: Turn, document: Document
) -> None:
    alice.client().post(url(document, "threads", waiting.thread.pk.hex, "share"))
    answer = bob.client().post(url(document, "turns", waiting.pk.hex, "decide"), card_form(waiting, decision="reject"))
    assert answer.status_code == 200
    assert "Rejected" in answer.content.decode()


def test_commands_need_the_token_against_forgery(alice: Person, waiting: Turn, document: Document) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.login(username="alice@example.com", password=PASSWORD)
    for path in ("send", f"turns/{waiting.pk.hex}/decide", f"turns/{waiting.pk.hex}/cancel"):
        assert client.post(url(document, path), card_form(waiting, decision="approve", text="x")).status_code == 403


def test_commands_are_no_links(alice: Person, waiting: Turn, document: Document) -> None:
    for path in ("send", f"turns/{waiting.pk.hex}/decide", f"turns/{waiting.pk.hex}/cancel"):
        assert alice.client().get(url(document, path)).status_code == 405


def test_a_rejection_keeps_its_reason(alice: Person, waiting: Turn, document: Document) -> None:
    form = card_form(waiting, decision="reject", reason="We have one")
    html = alice.client().post(url(document, "turns", waiting.pk.hex, "decide"), form).content.decode()
    call = ToolCall.objects.get(turn=waiting)
    assert (call.decision, call.reason, call.decided_by_name) == ("rejected", "We have one", "Alice")
    assert "“We have one”" in html
    assert "hx-swap-oob" in html


def test_a_reason_is_not_kept_with_an_approval(alice: Person, waiting: Turn, document: Document) -> None:
    form = card_form(waiting, decision="approve", reason="typed and then approved")
    alice.client().post(url(document, "turns", waiting.pk.hex, "decide"), form)
    assert ToolCall.objects.get(turn=waiting).reason == ""


def test_approving_something_else_than_what_was_shown_is_refused(
    alice: Person, waiting: Turn, document: Document
) -> None:
    form = {**card_form(waiting, decision="approve"), "hash": "0" * 64}
    answer = alice.client().post(url(document, "turns", waiting.pk.hex, "decide"), form, headers={"HX-Request": "true"})
    assert answer.status_code == 409
    assert answer["HX-Retarget"] == "#problems"
    assert ToolCall.objects.get(turn=waiting).decision == ""


@pytest.mark.parametrize(
    "form", [{}, {"decision": "maybe"}, {"decision": "approve"}, {"decision": "approve", "call": "x"}]
)
def test_a_decision_that_says_nothing_is_refused(
    alice: Person, waiting: Turn, document: Document, form: dict[str, str]
) -> None:
    assert alice.client().post(url(document, "turns", waiting.pk.hex, "decide"), form).status_code == 400


def test_several_cards_are_decided_one_by_one_or_together(alice: Person, document: Document) -> None:
    turn = waiting_turn(alice.actor, document, *[("create_tag", {"name": name}) for name in ("A", "B", "C")])
    calls = list(turn.tool_calls.order_by("position"))
    client, path = alice.client(), url(document, "turns", turn.pk.hex, "decide")
    assert "Approve all 3" in client.get(url(document)).content.decode()
    one = client.post(path, card_form(turn, decision="approve")).content.decode()
    assert "Approve all 2" in one
    turn.refresh_from_db()
    assert turn.status == "waiting", "nothing runs before the last one is decided"
    rest = {"call": [call.call_id for call in calls[1:]], "hash": [call.arguments_hash for call in calls[1:]]}
    client.post(path, {**rest, "decision": "reject"})
    turn.refresh_from_db()
    assert turn.status == "running"
    assert sorted(turn.tool_calls.values_list("decision", flat=True)) == ["approved", "rejected", "rejected"]


def test_always_allow_makes_the_rule_that_the_card_spelled_out(
    alice: Person, waiting: Turn, document: Document
) -> None:
    form = card_form(waiting, decision="always", scope="document", days="7")
    alice.client().post(url(document, "turns", waiting.pk.hex, "decide"), form)
    rule = StandingRule.objects.get()
    assert (rule.tool, rule.document_id, rule.user_id) == ("create_tag", document.pk, alice.user.pk)
    assert ToolCall.objects.get(turn=waiting).decision == "approved"
    html = alice.client().get(url(document)).content.decode()
    assert "Create tag" in html
    alice.client().post(url(document, "rules", rule.pk.hex, "revoke"))
    rule.refresh_from_db()
    assert rule.revoked_at is not None


@pytest.mark.parametrize("days", ["0", "366", "x"])
def test_a_rule_for_another_time_than_offered_decides_nothing(
    alice: Person, waiting: Turn, document: Document, days: str
) -> None:
    form = card_form(waiting, decision="always", days=days)
    assert alice.client().post(url(document, "turns", waiting.pk.hex, "decide"), form).status_code == 400
    assert ToolCall.objects.get(turn=waiting).decision == ""


def test_a_deletion_never_offers_always(alice: Person, document: Document) -> None:
    waiting_turn(alice.actor, document, ("delete_tag", {"tag_id": "0" * 32}))
    assert 'value="always"' not in alice.client().get(url(document)).content.decode()


def test_an_edit_is_what_runs(alice: Person, document: Document) -> None:
    turn = waiting_turn(alice.actor, document, ("create_schema", {"name": "Invoice", "response_format": INVOICE}))
    call = ToolCall.objects.get(turn=turn)
    client = alice.client()
    html = client.get(url(document, "calls", call.pk.hex, "edit")).content.decode()
    keys = re.findall(r'name="field-key"\s+value="(\w+)"', html)
    assert keys == ["number", "total"]
    form = card_form(
        turn,
        **{
            "decision": "edit",
            "arg-name": "Bill",
            "field-key": ["number", "total", ""],
            "field-parent": ["", "", ""],
            "field-name": ["bill_number", "total", "due"],
            "field-type": ["string", "number", "date"],
            "field-description": ["", "Total", ""],
        },
    )
    answer = client.post(url(document, "turns", turn.pk.hex, "decide"), form)
    assert "Approved with changes" in answer.content.decode()
    call.refresh_from_db()
    assert call.decided_arguments["name"] == "Bill"
    fields = call.decided_arguments["response_format"]["json_schema"]["schema"]["properties"]
    assert list(fields) == ["bill_number", "total", "due"]


def test_an_edit_that_cannot_run_comes_back_with_what_to_mend(alice: Person, document: Document) -> None:
    turn = waiting_turn(alice.actor, document, ("create_schema", {"name": "Invoice", "response_format": INVOICE}))
    form = card_form(turn, **{"decision": "edit", "arg-name": "Kept name", "schema-json": "{nonsense"})
    answer = alice.client().post(url(document, "turns", turn.pk.hex, "decide"), form)
    assert answer.status_code == 422
    assert "This is not JSON" in answer.content.decode()
    assert "Kept name" in answer.content.decode()
    assert ToolCall.objects.get(turn=turn).decision == ""


def test_asking_while_a_card_waits_says_so_and_keeps_the_question(
    alice: Person, waiting: Turn, document: Document
) -> None:
    form = {"thread": waiting.thread.pk.hex, "text": "And then?"}
    answer = alice.client().post(url(document, "send"), form)
    assert answer.status_code == 422
    assert "Reject and send" in answer.content.decode()
    assert "HX-Trigger" not in answer, "only a stored question leaves the composer"


@pytest.mark.parametrize("form", [{"text": "   "}, {"text": "x", "mentions": "{"}, {"text": "x", "model": "gpt-none"}])
def test_a_question_that_cannot_be_asked_stays_in_the_composer(
    alice: Person, document: Document, form: dict[str, str]
) -> None:
    answer = alice.client().post(url(document, "send"), form)
    assert answer.status_code == 422
    assert "Your text stays here." in answer.content.decode()
    assert not Thread.objects.exists(), "no empty thread is left behind"


def test_threads_are_renamed_and_deleted_by_their_author(alice: Person, waiting: Turn, document: Document) -> None:
    client, thread = alice.client(), waiting.thread.pk.hex
    assert (
        "Bills of May"
        in client.post(url(document, "threads", thread, "rename"), {"title": "Bills of May"}).content.decode()
    )
    html = client.post(url(document, "threads", thread, "delete")).content.decode()
    assert "Bills of May" not in html
    waiting.refresh_from_db()
    assert waiting.status == "cancelled"


def test_waiting_shows_every_card_of_mine_oldest_first(alice: Person, bob: Person, document: Document) -> None:
    for name in ("First", "Second"):
        waiting_turn(alice.actor, document, ("create_tag", {"name": name}))
    client = alice.client()
    html = client.get("/waiting").content.decode()
    assert html.index("First") < html.index("Second")
    assert 'value="approve"' in html
    assert client.get("/waiting/count").content.decode() == "2"
    assert "First" not in bob.client().get("/waiting").content.decode()


def test_mentions_are_found_by_name_in_my_organization_only(alice: Person, charlie: Person, document: Document) -> None:
    make_document(charlie.actor, name="invoice of charlie.pdf")
    html = alice.client().get(url(document, "mentions?q=invoice")).content.decode()
    assert f'data-id="{document.pk.hex}"' in html
    assert "charlie" not in html


def test_a_link_from_the_waiting_page_opens_its_thread(alice: Person, waiting: Turn, document: Document) -> None:
    newer = make_thread(alice.actor, document, title="Newer")
    client = alice.client()
    assert f"?thread={waiting.thread.pk.hex}#agent" in client.get("/waiting").content.decode()
    page = f"http://testserver/documents/{document.pk.hex}?thread={waiting.thread.pk.hex}"
    panel = client.get(url(document), headers={"HX-Request": "true", "HX-Current-URL": page}).content.decode()
    assert f'data-thread="{waiting.thread.pk.hex}"' in panel
    assert f'data-thread="{newer.pk.hex}"' in client.get(url(document)).content.decode()


def test_an_admin_sees_the_card_of_a_private_thread_and_not_its_question(alice: Person, bob: Person) -> None:
    waiting_turn(bob.actor, make_document(bob.actor), question="A private question")
    html = alice.client().get("/waiting").content.decode()
    assert 'value="approve"' in html
    assert "A private question" not in html


@pytest.mark.django_db(transaction=True)
def test_ask_approve_and_undo_through_the_pages(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    alice = make_person("alice@example.com")
    document = make_document(alice.actor)
    put_on_stage(monkeypatch, makes_tag(), says("Tagged."))
    client = alice.client()
    answer = client.post(url(document, "send"), {"text": "Tag it as paid"})
    assert (answer.status_code, answer["HX-Trigger"], answer["HX-Retarget"]) == (200, "agent-sent", "#agent-panel")
    turn = waits_for(Turn.objects.get().pk, "waiting")
    form = card_form(turn, decision="approve")
    assert client.post(url(document, "turns", turn.pk.hex, "decide"), form).status_code == 200
    waits_for(turn.pk, "done")
    html = client.get(url(document)).content.decode()
    assert "Created tag “Paid”" in " ".join(html.split())
    assert "Tagged." in html
    assert "Approved by Alice" in html
    call = ToolCall.objects.get(turn=turn)
    assert "Undone" in client.post(url(document, "calls", call.pk.hex, "undo")).content.decode()
    sent = client.get(url(document, "turns", turn.pk.hex, "sent")).content.decode()
    assert "Tag it as paid" in sent
    follow_up = client.post(url(document, "send"), {"text": "Again", "thread": turn.thread.pk.hex})
    assert 'hx-swap-oob="beforeend:#turns"' in follow_up.content.decode()
    waits_for(Turn.objects.latest("created_at").pk, "waiting")
    assert json.loads("[]") == Turn.objects.latest("created_at").mentions
