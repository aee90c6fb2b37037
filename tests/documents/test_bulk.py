"""Which documents there are to read again."""

import pytest

from documents import bulk
from documents.bulk import DocumentFilters, TooManyDocuments, reads_to_do
from documents.models import Document, Run
from documents.states import refresh_state
from tags_app.errors import UnknownTags
from tags_app.services import create_tag
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document

pytestmark = pytest.mark.django_db
ANY = DocumentFilters()


def reread(document: Document, phase: str) -> None:
    Run.objects.create(
        organization=document.organization, document=document, version=document.current_version, phase=phase
    )
    refresh_state(document_id=document.pk)


def listed(person: Person, mode: bulk.Mode, tag_id: object = None) -> dict[str, str]:
    found = reads_to_do(actor=person.actor, tag_id=tag_id, mode=mode, filters=ANY)
    return {one.name: one.reason for one in found}


def test_documents_to_read_are_all_or_those_without_text_or_those_whose_last_read_failed(
    alice: Person, charlie: Person
) -> None:
    make_document(alice, *RECEIPT, name="fine.pdf")
    make_document(alice, *RECEIPT, name="table.XLSX")
    make_document(alice, name="broken.pdf", phase="error")
    make_document(alice, name="waiting.pdf", phase="queued")
    reread(make_document(alice, *RECEIPT, name="stale.pdf"), "error")
    make_document(charlie, *RECEIPT, name="foreign.pdf")
    assert listed(alice, "all").keys() == {"fine.pdf", "broken.pdf", "stale.pdf"}
    assert listed(alice, "missing") == {"broken.pdf": "Reading it failed"}
    assert listed(alice, "outdated") == {"stale.pdf": "Reading it again failed"}


def test_documents_to_read_can_be_those_of_a_tag(alice: Person) -> None:
    tag = create_tag(actor=alice.actor, name="Invoices")
    make_document(alice, *RECEIPT, name="tagged.pdf").tags.add(tag)
    make_document(alice, *RECEIPT, name="other.pdf")
    assert listed(alice, "all", tag.pk.hex).keys() == {"tagged.pdf"}
    with pytest.raises(UnknownTags):
        listed(alice, "all", "nonsense")


def test_very_many_documents_are_refused_and_not_listed_in_part(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "MOST_DOCUMENTS", 1)
    make_document(alice, *RECEIPT)
    assert len(listed(alice, "all")) == 1
    make_document(alice, *RECEIPT)
    with pytest.raises(TooManyDocuments):
        listed(alice, "all")
