"""What is marked “never send to a model” stays: every way to a model, a remote one and the built-in one."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from agent import answering
from agent import auto_create as worker
from agent.answering import Answering
from agent.answers.asked import Asked, Job
from agent.answers.services import begin_response, begin_shared_response
from agent.models import ToolCall, Turn
from agent.services import Decision, create_thread, decide, start_turn
from core.errors import DomainError
from core.ids import show_id
from core.threads import in_thread
from documents.auto_create import request
from documents.errors import ExtractionFailed
from documents.extraction import run_extraction
from documents.models import AutoCreate, Document, Run
from documents.services import update_document
from documents.sharing.services import create_share_link, open_for_asking
from llm.catalog import OFFLINE_MODEL
from llm.errors import NeverSendToModel
from organizations.models import AuditEntry
from tags_app.models import Tag
from tags_app.services import create_tag, update_tag
from tests.agent.calling import call, context_for
from tests.agent.staging import waits_for
from tests.api import api_of
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_prompt
from tests.documents.sharing import shared_document
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Call, Step
from tests.v1.calling import v1_of

pytestmark = pytest.mark.django_db(transaction=True)

REMOTE = "gpt-4o"
CODE = "never_send_to_model"
ENDED = ("waiting", "done", "failed", "cancelled", "interrupted", "expired")
Path = Callable[[Person, Document, str], str]
"""Ask a model by this way; "" for none in particular. Returns: the model that did it, or the code of the refusal."""


@pytest.fixture
def document(alice: Person) -> Document:
    return shared_document(alice, RECEIPT)


def mark(person: Person, document: Document, how: str) -> None:
    if how == "document":
        update_document(actor=person.actor, document_id=document.pk, never_send=True)
        return
    tag = create_tag(actor=person.actor, name=f"Personnel, {document.name}")
    update_document(actor=person.actor, document_id=document.pk, tag_ids=[tag.pk])
    update_tag(actor=person.actor, tag_id=tag.pk, name=tag.name, never_send=True)


def chat(person: Person, document: Document, model: str) -> str:
    turn = start_turn(actor=person.actor, document_id=document.pk, text="What is the total?", model=model or None)
    turn = waits_for(turn.pk, *ENDED, seconds=20)
    return turn.error_code or turn.model


def extraction(person: Person, document: Document, model: str) -> str:
    prompt = make_prompt(person, model=model).pk.hex if model else None
    made = async_to_sync(run_extraction)(actor=person.actor, document_id=document.pk, prompt_revid=prompt)
    return made.model_used


def run_over_the_api(person: Person, document: Document, model: str) -> str:
    revid = make_prompt(person, model=model).pk.hex if model else "default"
    answer = api_of(person).raw("post", f"llm/run/{document.pk.hex}?prompt_revid={revid}")
    run = Run.objects.filter(document=document, kind="extract").latest("created_at")
    assert answer.status_code == (403 if run.error_code else 200), answer.content
    return run.error_code or run.extractions.get().model_used


def response(person: Person, document: Document, model: str) -> str:
    asked = Asked(text="What is the total?", model=model)
    return answered(partial(begin_response, actor=person.actor, document_id=document.pk, asked=asked))


def structured_response(person: Person, document: Document, model: str) -> str:
    schema = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    asked = Asked(text="What is the total?", model=model, response_format=wanted)
    return answered(partial(begin_response, actor=person.actor, document_id=document.pk, asked=asked))


def shared_answer(person: Person, document: Document, _model: str) -> str:
    made = create_share_link(actor=person.actor, document_id=document.pk, role="ask")
    view = open_for_asking(share_id=made.link.pk.hex, token=made.token)
    return answered(partial(begin_shared_response, view=view, asked=Asked(text="What is the total?")))


def auto_create(person: Person, document: Document, _model: str) -> str:
    request(actor=person.actor, document=document)
    run = Run.objects.get(document=document, kind="propose")
    worker.propose(run.pk)
    attempt = AutoCreate.objects.get(document=document)
    made = Run.objects.filter(document=document, kind="extract", extractions__model_used=OFFLINE_MODEL)
    assert (attempt.status == "proposed") == made.exists()
    return Turn.objects.get(pk=attempt.turn_id).model if attempt.turn_id else attempt.error_code


def answered(begin: Callable[[], Job]) -> str:
    async def work() -> str:
        row = await Answering(await in_thread(begin)).result()
        return row.model_used

    return asyncio.run(work())


def outcome(path: Path, person: Person, document: Document, model: str) -> str:
    try:
        return path(person, document, model)
    except DomainError as problem:
        return problem.error_code


CHOOSING: list[Path] = [chat, extraction, run_over_the_api, response, structured_response]
PATHS: list[Path] = [*CHOOSING, shared_answer, auto_create]
STEPS = {
    "extraction": Step(text='{"total": 1, "number": "", "date": "", "iban": ""}', structured=True),
    "run_over_the_api": Step(text='{"total": 1, "number": "", "date": "", "iban": ""}', structured=True),
    "structured_response": Step(text='{"total": 4950}', structured=True),
}


def table(paths: Sequence[Path], person: Person, model: str, how: str = "") -> dict[str, str]:
    """What comes of each way, each with a document of its own."""
    outcomes = {}
    for number, path in enumerate(paths):
        document = shared_document(person, RECEIPT, name=f"receipt {number}.pdf")
        if how:
            mark(person, document, how)
        outcomes[path.__name__] = outcome(path, person, document, model)
    return outcomes


def each(paths: Sequence[Path], outcome: str) -> dict[str, str]:
    return dict.fromkeys((path.__name__ for path in paths), outcome)


@pytest.mark.parametrize("how", ["document", "tag"])
def test_a_remote_model_that_somebody_chose_is_refused_and_gets_nothing(
    how: str, alice: Person, fake_provider: FakeProvider
) -> None:
    assert table(CHOOSING, alice, REMOTE, how) == each(CHOOSING, CODE)
    assert fake_provider.received == []


def test_the_built_in_model_may_be_chosen(alice: Person, fake_provider: FakeProvider) -> None:
    assert table(CHOOSING, alice, OFFLINE_MODEL, "document") == each(CHOOSING, OFFLINE_MODEL)
    assert fake_provider.received == []


def test_where_nobody_chose_the_built_in_model_does_it_though_another_is_usual(
    alice: Person, fake_provider: FakeProvider
) -> None:
    assert table(PATHS, alice, "", "tag") == each(PATHS, OFFLINE_MODEL)
    assert fake_provider.received == []
    assert AutoCreate.objects.get().status == "proposed"


def test_without_a_mark_the_same_ways_lead_to_the_remote_model(alice: Person, fake_provider: FakeProvider) -> None:
    """The check of the checks: these ways do reach the fake."""
    fake_provider.add(*(STEPS.get(path.__name__, Step(text="It does not say.")) for path in PATHS))
    assert table(CHOOSING, alice, REMOTE) == each(CHOOSING, REMOTE)
    unchosen = table([shared_answer, auto_create], alice, "")
    assert not {CODE, OFFLINE_MODEL} & set(unchosen.values())
    assert len(fake_provider.received) == len(PATHS)


def test_a_mark_that_comes_while_a_turn_waits_stops_its_next_round_and_loses_nothing(
    alice: Person, document: Document, fake_provider: FakeProvider
) -> None:
    fake_provider.add(Step(text="I make a tag.", calls=(Call("create_tag", {"name": "Paid"}, "toolu_1"),)))
    thread = create_thread(actor=alice.actor, document_id=document.pk)
    where: dict[str, Any] = {"actor": alice.actor, "document_id": document.pk}
    turn = start_turn(**where, thread_id=thread.pk, text="Tag it", model=REMOTE)
    waits_for(turn.pk, "waiting", seconds=20)
    mark(alice, document, "tag")
    decide(**where, turn_id=turn.pk, decisions=[Decision(call_id="toolu_1", approved=True)])
    ended = waits_for(turn.pk, *ENDED[1:], seconds=20)
    assert (ended.status, ended.error_code, ended.retryable) == ("failed", CODE, False)
    assert Tag.objects.filter(name="Paid").exists(), "what was approved was done"
    assert ToolCall.objects.get(turn=turn).status == "done"
    assert ended.messages.filter(content="I make a tag.").exists()
    assert len(fake_provider.received) == 1

    went_on = waits_for(start_turn(**where, thread_id=thread.pk, text="What is the total?").pk, *ENDED, seconds=20)
    assert (went_on.status, went_on.model) == ("done", OFFLINE_MODEL)
    assert len(fake_provider.received) == 1


def test_a_mark_between_two_tries_of_an_answer_stops_the_second(
    alice: Person, document: Document, fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_object(_text: str) -> Any:
        mark(alice, document, "document")
        raise ExtractionFailed

    monkeypatch.setattr(answering, "parse_object", no_object)
    fake_provider.add(Step(text="{}", structured=True))
    assert outcome(structured_response, alice, document, REMOTE) == CODE
    assert len(fake_provider.received) == 1


def test_a_tag_that_is_marked_later_counts_from_then_on_until_the_mark_is_lifted(
    alice: Person, document: Document, fake_provider: FakeProvider
) -> None:
    tag = create_tag(actor=alice.actor, name="Personnel")
    update_document(actor=alice.actor, document_id=document.pk, tag_ids=[tag.pk])
    fake_provider.add(Step(text="Fine."), Step(text="Fine."))
    assert outcome(chat, alice, document, REMOTE) == REMOTE
    for never_send, expected in ((True, CODE), (None, CODE), (False, REMOTE)):
        update_tag(actor=alice.actor, tag_id=tag.pk, name=tag.name, never_send=never_send)
        assert outcome(chat, alice, document, REMOTE) == expected
    assert len(fake_provider.received) == 2
    actions = AuditEntry.objects.filter(action__startswith="tag.never_send").order_by("created_at")
    assert list(actions.values_list("action", flat=True)) == ["tag.never_send_set", "tag.never_send_lifted"]


def test_what_is_told_of_other_documents_stays_too(
    alice: Person, document: Document, fake_provider: FakeProvider
) -> None:
    kept = shared_document(alice, RECEIPT, name="dismissal of smith.pdf")
    update_document(actor=alice.actor, document_id=kept.pk, never_send=True, metadata={"who": "secret smith"})
    where: dict[str, Any] = {"actor": alice.actor, "document_id": document.pk}
    mention = {"type": "document", "id": kept.pk.hex}
    with pytest.raises(NeverSendToModel):
        start_turn(**where, text="Compare", mentions=[mention], model=REMOTE)
    untag = Call("update_document", {"document_id": kept.pk.hex, "tag_ids": []}, "toolu_2")
    fake_provider.add(Step(calls=(Call("list_documents", {}, "toolu_1"),)), Step(calls=(untag,)), Step(text="Done."))
    turn = start_turn(**where, text="Which are there?", model=REMOTE, auto_approve=True)
    assert waits_for(turn.pk, *ENDED, seconds=20).status == "done"
    sent = b"".join(request.body for request in fake_provider.received)
    assert b"smith" not in sent
    assert kept.pk.hex.encode() in sent
    refused = ToolCall.objects.get(turn=turn, name="update_document").result
    assert refused is not None
    assert refused["code"] == CODE


@pytest.mark.parametrize("how", ["document", "tag"])
def test_a_search_does_not_tell_what_is_in_documents_that_stay(how: str, alice: Person, document: Document) -> None:
    kept = shared_document(alice, RECEIPT, name="dismissal of smith.pdf")
    update_document(actor=alice.actor, document_id=kept.pk, metadata={"who": "secret"})
    mark(alice, kept, how)
    tags = [show_id(tag.pk) for tag in kept.tags.all()]
    searches: list[dict[str, Any]] = [{"name_search": "smith"}, {"metadata_search": {"who": "secret"}}]
    searches += [{"tag_ids": tags}] if tags else []
    for is_remote, number in ((True, 0), (False, 1)):
        ctx = replace(context_for(alice, document), is_remote=is_remote)
        for search in searches:
            found = call(ctx, "list_documents", **search)
            assert (len(found["documents"]), found["total_count"]) == (number, number), (is_remote, search)


@pytest.mark.parametrize("how", ["listed", "mentioned"])
def test_what_a_conversation_told_of_another_document_stays_once_that_one_is_marked(
    how: str, alice: Person, document: Document, fake_provider: FakeProvider
) -> None:
    kept = shared_document(alice, RECEIPT, name="dismissal of smith.pdf")
    thread = create_thread(actor=alice.actor, document_id=document.pk)
    where: dict[str, Any] = {"actor": alice.actor, "document_id": document.pk, "thread_id": thread.pk}
    steps = [Step(calls=(Call("list_documents", {}, "toolu_1"),))] if how == "listed" else []
    fake_provider.add(*steps, Step(text="There is one on Smith."), Step(text="Yes."))
    mentions = [{"type": "document", "id": kept.pk.hex}] if how == "mentioned" else []
    waits_for(start_turn(**where, text="Which are there?", mentions=mentions, model=REMOTE).pk, *ENDED, seconds=20)
    asked = len(fake_provider.received)
    mark(alice, kept, "document")
    with pytest.raises(NeverSendToModel):
        start_turn(**where, text="Is that all?", model=REMOTE)
    went_on = waits_for(start_turn(**where, text="Is that all?").pk, *ENDED, seconds=20)
    assert (went_on.status, went_on.model, asked) == ("done", OFFLINE_MODEL, len(fake_provider.received))
    elsewhere = start_turn(**where | {"thread_id": None}, text="Is that all?", model=REMOTE)
    assert waits_for(elsewhere.pk, *ENDED, seconds=20).status == "done"


def test_programs_are_told_in_the_words_of_their_wire(
    alice: Person, document: Document, fake_provider: FakeProvider
) -> None:
    mark(alice, document, "document")
    asked = {"messages": [{"role": "user", "content": "What is the total?"}], "model": REMOTE}
    for stream in (False, True):
        answer = api_of(alice).raw("post", f"documents/{document.pk.hex}/chat", asked | {"stream": stream})
        assert (answer.status_code, answer.json()["code"]) == (403, CODE)
    answer = v1_of(alice).raw("post", f"documents/{document.pk.hex}/responses", {"input": "Total?", "model": REMOTE})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, CODE)
    assert not Turn.objects.exists()
    assert fake_provider.received == []


def test_the_extraction_tab_says_why_a_prompt_did_not_run(
    alice: Person, document: Document, fake_provider: FakeProvider
) -> None:
    mark(alice, document, "tag")
    assert outcome(extraction, alice, document, REMOTE) == CODE
    page = alice.client().get(f"/documents/{document.pk.hex}/extraction").content.decode()
    assert "Choose the built-in model, or take the mark away." in page
    assert fake_provider.received == []
