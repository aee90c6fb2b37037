"""What the agent keeps for a while only: threads in the trash, and the exact words that were sent to models."""

from datetime import datetime

from agent.models import Message, Thread
from core.purging import in_trash, purge_rows

_BATCH = 1_000


def purge_threads(*, before: datetime) -> int:
    """Delete threads that have been in the trash since before a moment. Returns: how many."""
    return purge_rows(in_trash(Thread.objects.all(), before=before))


def forget_what_was_sent(*, before: datetime) -> int:
    """Forget what rounds before a moment sent to a model; what they answered stays. Returns: how many rounds."""
    count = 0
    while True:
        old = Message.objects.filter(created_at__lt=before, sent__isnull=False).values_list("pk", flat=True)[:_BATCH]
        forgotten = Message.objects.filter(pk__in=list(old)).update(sent=None)
        count += forgotten
        if forgotten < _BATCH:
            return count
