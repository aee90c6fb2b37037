"""Taking away what a propose run made: only that, and only what nobody else uses by now; and bringing it back."""

import uuid
from collections.abc import Collection

from django.db.models import Q
from django.utils import timezone

from documents.extraction import cancel_extraction
from documents.models import AutoCreate, Document, Extraction, Run
from documents.processing import lock_run
from organizations.actor import Actor
from prompts_app.models import Prompt
from prompts_app.selectors import prompts_made_by, prompts_of_schema
from prompts_app.services import delete_prompt, restore_prompt
from prompts_app.services import end_review as end_review_of_prompts
from schemas_app.models import Schema
from schemas_app.selectors import schemas_made_by
from schemas_app.services import end_review as end_review_of_schemas
from schemas_app.services import lock_schema, restore_schema, trash_schema


def clear_made(
    *,
    actor: Actor,
    run: Run,
    keep_prompts: Collection[uuid.UUID] = (),
    keep_schemas: Collection[uuid.UUID] = (),
    keep_results: bool = False,
) -> list[str]:
    """Move schemas and prompts of a locked run to the trash and withdraw their results, or keep these.

    A prompt that has results on other documents, and a schema that another prompt uses, stay as ordinary ones.
    Returns: the names of those that stayed.
    """
    schemas = [schema for schema in schemas_made_by(actor=actor, run_id=run.pk) if schema.pk not in keep_schemas]
    for schema in schemas:  # in the order in which everybody locks: schemas, then prompts
        lock_schema(actor=actor, schema_id=schema.pk)
    stay = []
    for prompt in prompts_made_by(actor=actor, run_id=run.pk):
        if prompt.pk not in keep_prompts and not _clear_prompt(actor, run, prompt, keep_results=keep_results):
            stay.append(prompt.name)
    for schema in schemas:
        if prompts_of_schema(actor=actor, schema_id=schema.pk).exists():
            end_review_of_schemas(actor=actor, schema_ids=[schema.pk])
            stay.append(schema.name)
        else:
            trash_schema(actor=actor, schema_id=schema.pk)
    return stay


def trash_proposed(*, actor: Actor, document: Document) -> None:
    """What waits for a decision goes to the trash with its locked document: nobody can decide about it there.

    Its results and the proposal stay as they are, so that the document comes back with them.
    """
    run_id = _proposed_by(document)
    if run_id is not None:
        clear_made(actor=actor, run=lock_run(run_id), keep_results=True)


def restore_proposed(*, actor: Actor, document: Document) -> None:
    """What went to the trash with its locked document, and with it only, comes back before the document does.

    It gets another name where its own was taken.
    """
    run_id = _proposed_by(document)
    if run_id is None:
        return
    gone = {"organization_id": actor.organization_id, "pending_review": True, "deleted_at__gte": document.deleted_at}
    for schema in Schema.objects.filter(made_by_run=run_id, **gone).order_by("pk"):
        restore_schema(actor=actor, schema_id=schema.pk, renamed=True)
    for prompt in Prompt.objects.filter(made_by_run=run_id, **gone).order_by("pk"):
        restore_prompt(actor=actor, prompt_id=prompt.pk, renamed=True)


def _proposed_by(document: Document) -> uuid.UUID | None:
    rows = AutoCreate.objects.filter(document=document, status=AutoCreate.Status.PROPOSED, run__isnull=False)
    return rows.values_list("run_id", flat=True).first()


def _clear_prompt(actor: Actor, run: Run, prompt: Prompt, *, keep_results: bool) -> bool:
    """Whether the prompt is gone. One that was used elsewhere stays."""
    elsewhere = ~Q(document_id=run.document_id)
    used = Extraction.objects.filter(elsewhere, prompt_revision__prompt=prompt, withdrawn_at__isnull=True)
    running = Run.objects.filter(kind=Run.Kind.EXTRACT, prompt_revision__prompt=prompt).exclude(phase__in=Run.ENDED)
    if used.exists() or running.filter(elsewhere).exists():
        end_review_of_prompts(actor=actor, prompt_ids=[prompt.pk])
        return False
    if keep_results:
        delete_prompt(actor=actor, prompt_id=prompt.pk)
        return True
    for run_id in running.order_by("pk").values_list("pk", flat=True):
        active = lock_run(run_id)
        if active.phase not in Run.ENDED:
            cancel_extraction(actor=actor, run=active)
    results = Extraction.objects.filter(prompt_revision__prompt=prompt, withdrawn_at__isnull=True)
    results.update(withdrawn_at=timezone.now())
    delete_prompt(actor=actor, prompt_id=prompt.pk)
    return True
