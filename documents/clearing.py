"""Taking away what a propose run made: only that, and only what nobody else uses by now."""

import uuid
from collections.abc import Collection

from django.db.models import Q
from django.utils import timezone

from documents.extraction import cancel_extraction
from documents.models import Extraction, Run
from documents.processing import lock_run
from organizations.actor import Actor
from prompts_app.models import Prompt
from prompts_app.selectors import prompts_made_by, prompts_of_schema
from prompts_app.services import delete_prompt
from prompts_app.services import end_review as end_review_of_prompts
from schemas_app.selectors import schemas_made_by
from schemas_app.services import end_review as end_review_of_schemas
from schemas_app.services import lock_schema, trash_schema


def clear_made(
    *,
    actor: Actor,
    run: Run,
    keep_prompts: Collection[uuid.UUID] = (),
    keep_schemas: Collection[uuid.UUID] = (),
) -> list[str]:
    """Move schemas and prompts of a locked run to the trash and withdraw their results.

    A prompt that has results on other documents, and a schema that another prompt uses, stay as ordinary ones.
    Returns: the names of those that stayed.
    """
    schemas = [schema for schema in schemas_made_by(actor=actor, run_id=run.pk) if schema.pk not in keep_schemas]
    for schema in schemas:  # in the order in which everybody locks: schemas, then prompts
        lock_schema(actor=actor, schema_id=schema.pk)
    stay = []
    for prompt in prompts_made_by(actor=actor, run_id=run.pk):
        if prompt.pk not in keep_prompts and not _clear_prompt(actor, run, prompt):
            stay.append(prompt.name)
    for schema in schemas:
        if prompts_of_schema(actor=actor, schema_id=schema.pk).exists():
            end_review_of_schemas(actor=actor, schema_ids=[schema.pk])
            stay.append(schema.name)
        else:
            trash_schema(actor=actor, schema_id=schema.pk)
    return stay


def _clear_prompt(actor: Actor, run: Run, prompt: Prompt) -> bool:
    """Whether the prompt is gone. One that was used elsewhere stays."""
    elsewhere = ~Q(document_id=run.document_id)
    used = Extraction.objects.filter(elsewhere, prompt_revision__prompt=prompt, withdrawn_at__isnull=True)
    running = Run.objects.filter(kind=Run.Kind.EXTRACT, prompt_revision__prompt=prompt).exclude(phase__in=Run.ENDED)
    if used.exists() or running.filter(elsewhere).exists():
        end_review_of_prompts(actor=actor, prompt_ids=[prompt.pk])
        return False
    for run_id in running.order_by("pk").values_list("pk", flat=True):
        active = lock_run(run_id)
        if active.phase not in Run.ENDED:
            cancel_extraction(actor=actor, run=active)
    results = Extraction.objects.filter(prompt_revision__prompt=prompt, withdrawn_at__isnull=True)
    results.update(withdrawn_at=timezone.now())
    delete_prompt(actor=actor, prompt_id=prompt.pk)
    return True
