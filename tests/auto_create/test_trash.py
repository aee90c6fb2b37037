"""A document that goes to the trash takes along what is proposed for it, and comes back with it."""

import pytest

from agent.reviewing import reject
from documents import reviewing
from documents.models import Document
from documents.proposals import waiting_proposals
from documents.results import current_result
from documents.services import delete_document, restore_document
from prompts_app.config import PromptConfig
from prompts_app.models import Prompt
from prompts_app.services import create_prompt
from schemas_app.models import Schema
from schemas_app.services import create_schema
from tests.auto_create.making import attempt_of, proposed
from tests.conftest import Person
from tests.documents.making import RECEIPT_FIELDS, response_format

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("warm_litellm")]


def there() -> tuple[list[str], list[str]]:
    """Names of schemas and prompts that are not in the trash."""
    kinds = (Schema, Prompt)
    schemas, prompts = (list(kind.objects.filter(deleted_at=None).values_list("name", flat=True)) for kind in kinds)
    return schemas, prompts


def trash(person: Person, document: Document) -> None:
    delete_document(actor=person.actor, document_id=document.pk)


def test_what_is_proposed_goes_and_comes_back_with_its_document(alice: Person) -> None:
    document = proposed(alice)
    before, result = there(), current_result(actor=alice.actor, document_id=document.pk)
    trash(alice, document)
    assert there() == ([], [])
    assert not waiting_proposals(actor=alice.actor).exists()
    restore_document(actor=alice.actor, document_id=document.pk)
    assert there() == before
    assert (Schema.objects.get().pending_review, Prompt.objects.get().pending_review) == (True, True)
    assert current_result(actor=alice.actor, document_id=document.pk) == result
    assert reviewing.accept(actor=alice.actor, document_id=document.pk).counted


def test_names_that_were_taken_meanwhile_get_a_number(alice: Person) -> None:
    document = proposed(alice)
    (schema,), (prompt,) = there()
    trash(alice, document)
    create_schema(actor=alice.actor, name=schema.upper(), response_format=response_format(RECEIPT_FIELDS))
    create_prompt(actor=alice.actor, config=PromptConfig(name=prompt, content="Mine."))
    restore_document(actor=alice.actor, document_id=document.pk)
    assert [sorted(names) for names in there()] == [sorted([schema.upper(), f"{schema} 2"]), [prompt, f"{prompt} 2"]]


def test_what_somebody_else_uses_stays_as_an_ordinary_one(alice: Person) -> None:
    document = proposed(alice)
    attempt = attempt_of(document)
    assert attempt.schema_revision is not None
    config = PromptConfig(name="Mine", content="Read.", schema_id=attempt.schema_revision.schema_id.hex)
    create_prompt(actor=alice.actor, config=config)
    trash(alice, document)
    assert there() == ([attempt.schema_revision.schema.name], ["Mine"])
    assert not Schema.objects.get().pending_review
    restore_document(actor=alice.actor, document_id=document.pk)
    assert len(there()[1]) == 2


def test_what_was_accepted_stays_and_what_was_rejected_stays_away(alice: Person) -> None:
    accepted, rejected = proposed(alice), proposed(alice, "Order 77", "Customer: Ann", name="order.pdf")
    reviewing.accept(actor=alice.actor, document_id=accepted.pk)
    reject(actor=alice.actor, document_id=rejected.pk)
    before = there()
    for document in (accepted, rejected):
        trash(alice, document)
        assert there() == before
        restore_document(actor=alice.actor, document_id=document.pk)
        assert there() == before
