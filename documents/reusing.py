"""A proposal that runs a prompt which was there before: what it found with it, and taking that back."""

from django.db.models import QuerySet

from documents.errors import WithdrawalRefused
from documents.models import AutoCreate, Extraction, Run
from documents.withdrawal import withdraw
from organizations.actor import Actor


def results_of_reused(*, run: Run, attempt: AutoCreate) -> QuerySet[Extraction]:
    """Results of the prompt that a propose run reuses, from its begin until it was proposed; newest first."""
    rows = Extraction.objects.filter(
        document_id=run.document_id,
        prompt_revision_id=attempt.prompt_revision_id,
        withdrawn_at__isnull=True,
        run__created_at__gte=run.started_at or run.created_at,
    ).exclude(prompt_revision__prompt__made_by_run=run.pk)
    if attempt.proposed_at is not None:
        rows = rows.filter(created_at__lte=attempt.proposed_at)
    return rows.order_by("-created_at", "-id")


def take_back_reused(*, actor: Actor, run: Run, attempt: AutoCreate) -> list[str]:
    """Withdraw those results of a locked run; the prompt, and what it had found before, stand as they did.

    Returns: the names of prompts whose result stays, because somebody changed it or checked it.
    """
    if attempt.prompt_revision_id is None:
        return []
    for result in results_of_reused(run=run, attempt=attempt).select_related("prompt_revision__prompt"):
        try:
            withdraw(actor=actor, found=result)
        except WithdrawalRefused:
            is_shown = result.superseded_by_id is None and result.prompt_revision is not None
            return [result.prompt_revision.prompt.name] if is_shown and result.prompt_revision else []
    return []
