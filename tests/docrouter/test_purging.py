"""The daily purge: what was long in the trash is gone with its files; everything else stays."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from agent.models import Message, Thread
from core.ids import new_id, parse_id
from docrouter.purging import purge
from documents.files import original_key
from documents.models import Document, DocumentTally, DocumentVersion, Run
from organizations.models import Organization
from prompts_app.models import Prompt, PromptRevision
from schemas_app.models import Schema
from tags_app.models import Tag
from tests.belongings import Belongings, belongings_of
from tests.conftest import Person

LONG_AGO = timedelta(days=31)
Commits = Callable[..., Any]


@pytest.fixture
def things(alice: Person) -> Belongings:
    return belongings_of(alice)


def throw_away(model: type[Any], pk: str, *, ago: timedelta = LONG_AGO) -> None:
    model.objects.filter(pk=parse_id(pk)).update(deleted_at=timezone.now() - ago)


def rows_of(organization: Organization) -> dict[str, int]:
    """How many rows of each table are an organization's."""
    counted = {}
    for model in apps.get_models():
        if any(field.name == "organization" for field in model._meta.fields):
            counted[model.__name__] = model._default_manager.filter(organization_id=organization.pk).count()
    return {name: count for name, count in counted.items() if count}


def test_a_document_that_was_long_in_the_trash_goes_with_all_about_it_and_its_files(
    things: Belongings, django_capture_on_commit_callbacks: Commits
) -> None:
    version = DocumentVersion.objects.get(document=parse_id(things.document_id))
    assert default_storage.exists(version.file_key)
    throw_away(Document, things.document_id)
    with django_capture_on_commit_callbacks(execute=True):
        counts = purge()
    assert counts["document"] == 1
    assert not Document.objects.filter(pk=parse_id(things.document_id)).exists()
    assert not Thread.objects.filter(pk=parse_id(things.thread_id)).exists()
    assert not default_storage.exists(version.file_key)
    assert Prompt.objects.filter(pk=parse_id(things.prompt_id)).exists()


def test_what_was_proposed_for_a_document_and_never_decided_goes_with_it(things: Belongings) -> None:
    run = Run.objects.get(document=parse_id(things.document_id))
    accepted = Schema.objects.get(pk=parse_id(things.schema_id))
    for model, pk, pending in ((Prompt, things.prompt_id, True), (Schema, things.schema_id, False)):
        model.objects.filter(pk=parse_id(pk)).update(made_by_run=run.pk, pending_review=pending)
    throw_away(Document, things.document_id)
    purge()
    assert Prompt.objects.get(pk=parse_id(things.prompt_id)).deleted_at is not None
    accepted.refresh_from_db()
    assert accepted.deleted_at is None


@pytest.mark.parametrize("ago", [timedelta(0), timedelta(days=29)])
def test_what_was_thrown_away_lately_can_still_be_restored(things: Belongings, ago: timedelta) -> None:
    for model, pk in ((Document, things.document_id), (Prompt, things.prompt_id), (Tag, things.tag_id)):
        throw_away(model, pk, ago=ago)
    before = Document.objects.count(), PromptRevision.objects.count(), Tag.objects.count()
    purge()
    assert (Document.objects.count(), PromptRevision.objects.count(), Tag.objects.count()) == before


def test_a_prompt_whose_results_stand_stays_until_its_documents_are_gone(things: Belongings) -> None:
    throw_away(Prompt, things.prompt_id)
    throw_away(Schema, things.schema_id)
    assert purge()["prompt"] == 0
    assert Prompt.objects.filter(pk=parse_id(things.prompt_id)).exists()
    throw_away(Document, things.document_id)
    counts = purge()
    assert (counts["document"], counts["prompt"], counts["schema"]) == (1, 1, 1)
    assert not PromptRevision.objects.filter(prompt_id=parse_id(things.prompt_id)).exists()


def test_outside_of_a_purge_a_revision_cannot_be_deleted(things: Belongings) -> None:
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM prompts_app_promptrevision WHERE prompt_id = %s", [str(parse_id(things.prompt_id))])


def test_an_organization_that_was_closed_long_ago_leaves_nothing_and_takes_nothing_of_others(
    things: Belongings, alice: Person, charlie: Person
) -> None:
    belongings_of(charlie, mark="Other")
    others = rows_of(charlie.organization)
    Organization.objects.filter(pk=alice.organization.pk).update(deleted_at=timezone.now() - LONG_AGO)
    assert purge()["organization"] == 1
    assert rows_of(alice.organization) == {}
    assert not Organization.objects.filter(pk=alice.organization.pk).exists()
    assert not DocumentTally.objects.filter(organization_id=alice.organization.pk, documents__gt=0).exists()
    assert rows_of(charlie.organization) == others


def test_what_was_sent_to_a_model_is_forgotten_and_what_it_said_stays(things: Belongings) -> None:
    sent = Message.objects.filter(turn=parse_id(things.turn_id), sent__isnull=False)
    assert sent.count() == 1
    content = sent.get().content
    assert purge(now=timezone.now() + timedelta(days=29))["sent"] == 0
    assert purge(now=timezone.now() + LONG_AGO)["sent"] == 1
    assert Message.objects.get(turn=parse_id(things.turn_id), role="assistant").content == content


def test_files_that_no_row_names_are_swept_after_a_day(things: Belongings) -> None:
    version = DocumentVersion.objects.get(document=parse_id(things.document_id))
    version.file_key = default_storage.save(original_key(version), ContentFile(b"x"))
    version.save()
    folder = f"org/{new_id().hex}/doc/{new_id().hex}/v1"
    lost = default_storage.save(f"{folder}/lost", ContentFile(b"x"))
    beside = default_storage.save(version.file_key.rpartition("/")[0] + "/beside", ContentFile(b"x"))
    purge()
    assert default_storage.exists(lost)
    purge(now=timezone.now() + timedelta(days=2))
    assert not default_storage.exists(lost)
    assert not default_storage.exists(beside)
    assert default_storage.exists(version.file_key)
