"""Questions whose process died while a model was asked: nobody answers them any more, and they end."""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from agent.models import Response
from documents.sharing.services import return_answer

_GRACE = timedelta(seconds=60)
_AT_ONCE = 100


@transaction.atomic
def end_lost_responses() -> int:
    """End what is open for longer than any answer may take. Links get their answers back. Returns: how many."""
    before = timezone.now() - timedelta(seconds=settings.ANSWER_SECONDS) - _GRACE
    rows = Response.objects.select_for_update(skip_locked=True, of=("self",))
    lost = list(
        rows.filter(status=Response.Status.IN_PROGRESS, created_at__lt=before).order_by("created_at")[:_AT_ONCE]
    )
    for row in lost:
        row.status, row.completed_at = Response.Status.FAILED, timezone.now()
        row.error_code, row.error_message = "interrupted", "The process that asked the model stopped. Ask again."
        row.save(update_fields=["status", "completed_at", "error_code", "error_message"])
        if row.share_id is not None:
            return_answer(share_id=row.share_id)
    return len(lost)
