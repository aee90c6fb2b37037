"""How rows leave for good: out of the trash once it was kept long enough, also those that never change."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

import structlog
from django.db import connection, transaction
from django.db.models import ProtectedError, QuerySet

from core.models import TrashableModel

M = TypeVar("M", bound=TrashableModel)

log = structlog.get_logger(__name__)


@contextmanager
def purging() -> Iterator[None]:
    """A transaction in which rows may be deleted that are immutable otherwise."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL docrouter.purge = 'on'")
        yield


def purge_rows(rows: QuerySet[M], *, also: Callable[[M], Any] | None = None) -> int:
    """Delete the rows one by one, each in a transaction of its own. Returns: how many.

    Left for another day: what somebody else holds at this moment, and what something that stays still needs.
    `also` is called in the transaction, before its row goes.
    """
    count = 0
    for pk in list(rows.order_by("pk").values_list("pk", flat=True)):
        try:
            with purging():
                row = rows.select_for_update(skip_locked=True, of=("self",)).filter(pk=pk).first()
                if row is None:
                    continue
                if also is not None:
                    also(row)
                row.delete()
                count += 1
        except ProtectedError:
            log.debug("purge.still_needed", kind=rows.model.__name__)
    return count


def in_trash(rows: QuerySet[M], *, before: datetime) -> QuerySet[M]:
    """Those that were put into the trash before a moment."""
    return rows.filter(deleted_at__lt=before)
