"""Taking back what an extraction found."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from documents.errors import DocumentNotFound, ExtractionNotFound, ExtractionStale, WithdrawalRefused
from documents.extraction import supersede_others
from documents.models import Document, Event, Extraction, Run
from documents.results import current_result, list_results, result_history, set_verified, update_field
from documents.states import refresh_state
from documents.withdrawal import withdraw_result
from organizations.models import AuditEntry
from prompts_app.models import PromptRevision
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document, make_prompt

pytestmark = pytest.mark.django_db
ANSWER = {"total": 4950, "number": "2468", "date": "2020-08-20", "iban": ""}


@pytest.fixture
def receipt(alice: Person) -> Document:
    return make_document(alice, *RECEIPT)


@pytest.fixture
def prompt(alice: Person) -> PromptRevision:
    return make_prompt(alice)


def ran(document: Document, prompt: PromptRevision | None, before: Extraction | None = None) -> Extraction:
    """A result as a run leaves it."""
    row = {"organization": document.organization, "document": document, "version": document.current_version}
    run = Run.objects.create(**row, kind="extract", phase="complete", prompt_revision=prompt)
    result = Extraction.objects.create(
        **row, run=run, prompt_revision=prompt, llm_result=ANSWER, updated_llm_result=ANSWER
    )
    if before is not None:
        before.superseded_by = result
        before.save()
    refresh_state(document_id=document.pk)
    return result


def withdraw(person: Person, result: Extraction) -> Extraction | None:
    return withdraw_result(actor=person.actor, document_id=result.document_id, extraction_id=result.pk)


def test_the_result_before_stands_again_and_both_stay_as_history(
    alice: Person, receipt: Document, prompt: PromptRevision
) -> None:
    first = ran(receipt, prompt)
    set_verified(actor=alice.actor, document_id=receipt.pk, extraction_id=first.pk)
    first.refresh_from_db()
    other = ran(receipt, None)
    second = ran(receipt, prompt, before=first)
    assert withdraw(alice, second) == first
    current = current_result(actor=alice.actor, document_id=receipt.pk, prompt_revid=prompt.pk.hex)
    assert (current, current.is_verified) == (first, True)
    assert current_result(actor=alice.actor, document_id=receipt.pk, prompt_revid="default") == other
    history = result_history(actor=alice.actor, document_id=receipt.pk, extraction_id=first.pk)
    assert list(history) == [second, first]
    event = Event.objects.get(type="extraction.withdrawn")
    assert event.data == {"extractionId": second.pk.hex, "current": first.pk.hex}
    assert AuditEntry.objects.get(action="extraction.withdrawn").target_id == second.pk.hex


def test_a_document_whose_only_result_is_withdrawn_is_as_before_the_run(
    alice: Person, receipt: Document, prompt: PromptRevision
) -> None:
    only = ran(receipt, prompt)
    receipt.refresh_from_db()
    assert receipt.state == "llm_completed"
    assert withdraw(alice, only) is None
    receipt.refresh_from_db()
    assert (receipt.state, receipt.phase) == ("ocr_completed", "complete")
    with pytest.raises(ExtractionNotFound):
        current_result(actor=alice.actor, document_id=receipt.pk)


@pytest.mark.parametrize("since", ["edited", "checked", "run again", "taken back"])
def test_a_result_that_somebody_built_on_stays(
    alice: Person, receipt: Document, prompt: PromptRevision, since: str
) -> None:
    result = ran(receipt, prompt)
    which: dict[str, Any] = {"actor": alice.actor, "document_id": receipt.pk, "extraction_id": result.pk}
    happens: dict[str, Callable[[], object]] = {
        "edited": lambda: update_field(**which, path="total", value=1),
        "checked": lambda: set_verified(**which),
        "run again": lambda: ran(receipt, prompt, before=result),
        "taken back": lambda: withdraw(alice, result),
    }
    happens[since]()
    with pytest.raises(WithdrawalRefused, match=since):
        withdraw(alice, result)


def test_a_result_that_was_replaced_is_not_edited_any_more(
    alice: Person, receipt: Document, prompt: PromptRevision
) -> None:
    first = ran(receipt, prompt)
    second = ran(receipt, prompt, before=first)
    withdraw(alice, second)
    third = ran(receipt, prompt, before=first)
    for replaced in (first, second):
        with pytest.raises(ExtractionStale, match="replaced"):
            update_field(actor=alice.actor, document_id=receipt.pk, extraction_id=replaced.pk, path="total", value=1)
    assert current_result(actor=alice.actor, document_id=receipt.pk) == third


def test_another_organization_withdraws_nothing(
    alice: Person, charlie: Person, receipt: Document, prompt: PromptRevision
) -> None:
    result = ran(receipt, prompt)
    with pytest.raises(DocumentNotFound):
        withdraw(charlie, result)
    assert withdraw(alice, result) is None


@pytest.mark.django_db(transaction=True)
def test_a_new_run_replaces_also_what_a_withdrawal_brings_back_at_the_same_time(
    alice: Person, receipt: Document, prompt: PromptRevision
) -> None:
    first = ran(receipt, prompt)
    second = ran(receipt, prompt, before=first)
    made: list[Extraction] = []

    def run_again() -> None:
        try:
            with transaction.atomic():
                made.append(ran(receipt, prompt))
                supersede_others(made[0])
        finally:
            connection.close()

    thread = threading.Thread(target=run_again)
    with transaction.atomic():
        withdraw(alice, second)
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
    thread.join()
    assert list(list_results(actor=alice.actor, document_id=receipt.pk)) == made
