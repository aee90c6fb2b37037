"""Whose run is next: fairness between organizations.

Runs for workers wait in the table, not in the queue of messages. A run is admitted, and a message "work on run X"
sent, when there is room in its pool: about twice as many runs as the pool has slots, and of one organization no more
than its share. Whoever has the fewest in flight comes first, and of those who was served longest ago.

This happens after each commit that made or ended runs, so nobody waits for a clock; the clock (beat) only mends what
a crash left. A message may be lost or come twice: a run is claimed by its epoch, and one that was admitted but not
claimed within a lease is admitted again.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import structlog
from celery import current_app
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError
from psycopg_pool import PoolTimeout

from core.ids import show_id
from documents.models import Admission, Run

log = structlog.get_logger(__name__)

POOLS = {Run.Kind.PARSE: "ingest", Run.Kind.EXTRACT: "llm", Run.Kind.PROPOSE: "llm"}
_LOCKS = {"ingest": 0x444F4301, "llm": 0x444F4302}
_OPEN = "NOT (phase IN ('complete', 'error', 'cancelled'))"
_WAITING = f"pool = %(pool)s AND admitted_at IS NULL AND {_OPEN}"
_FLYING = f"pool = %(pool)s AND admitted_at IS NOT NULL AND {_OPEN}"

_COUNT = f"SELECT count(*) FROM documents_run WHERE {_FLYING}"  # noqa: S608 - constants of this module
# The organizations that wait are found by jumping from one to the next in the index, not by reading all that waits.
_NEXT = f"""
WITH RECURSIVE waiting AS (
    (SELECT organization_id FROM documents_run WHERE {_WAITING} ORDER BY organization_id LIMIT 1)
    UNION ALL
    SELECT (SELECT organization_id FROM documents_run WHERE {_WAITING} AND organization_id > waiting.organization_id
            ORDER BY organization_id LIMIT 1)
    FROM waiting WHERE waiting.organization_id IS NOT NULL
), flying AS (
    SELECT organization_id, count(*) AS runs FROM documents_run WHERE {_FLYING} GROUP BY organization_id
)
SELECT run.id
FROM waiting
LEFT JOIN flying USING (organization_id)
LEFT JOIN documents_admission AS turn ON turn.organization_id = waiting.organization_id AND turn.pool = %(pool)s
CROSS JOIN LATERAL (
    SELECT id, row_number() OVER (ORDER BY created_at, id) AS place FROM documents_run
    WHERE {_WAITING} AND organization_id = waiting.organization_id ORDER BY created_at, id LIMIT %(each)s
) AS run
WHERE coalesce(flying.runs, 0) + run.place <= %(each)s
ORDER BY coalesce(flying.runs, 0) + run.place, turn.last_picked_at NULLS FIRST, run.id
LIMIT greatest(%(total)s - (SELECT coalesce(sum(runs), 0) FROM flying), 0)
"""  # noqa: S608 - constants of this module
_FIGURES = f"""
SELECT pool, count(*) FILTER (WHERE admitted_at IS NULL), min(created_at) FILTER (WHERE admitted_at IS NULL),
    count(*) FILTER (WHERE admitted_at IS NOT NULL)
FROM documents_run WHERE {_OPEN} AND pool <> '' GROUP BY pool
"""  # noqa: S608 - constants of this module


@dataclass(frozen=True, slots=True)
class PoolFigures:
    """What waits for a pool of workers, how old the oldest of it is, and what was handed to it."""

    pool: str
    waiting: int
    oldest_seconds: float
    in_flight: int


def enqueue(*runs: Run) -> None:
    """Let stored, queued runs wait for workers; they are admitted when the caller's transaction commits."""
    for pool in dict.fromkeys(POOLS[Run.Kind(run.kind)] for run in runs):
        ours = [run for run in runs if POOLS[Run.Kind(run.kind)] == pool]
        Run.objects.filter(pk__in=[run.pk for run in ours]).update(pool=pool, admitted_at=None)
        for run in ours:
            run.pool, run.admitted_at = pool, None
        admit_soon(pool)


def admit_soon(pool: str) -> None:
    """Fill the pool after this transaction; call it wherever a run ends too. Runs of no pool ("") have no effect."""
    if pool:
        transaction.on_commit(partial(admit, pool))


def admit(pool: str) -> int:
    """Admit as many runs as there is room for, and send their messages. Returns: how many.

    What fails here (no database, no broker) is mended by the clock: whoever committed the work has done their part.
    """
    try:
        picked = _pick(pool)
    except (DatabaseError, PoolTimeout) as problem:
        log.warning("admission.failed", pool=pool, problem=type(problem).__name__)
        return 0
    _send(picked)
    return len(picked)


def admit_all() -> int:
    """Fill every pool: the clock's part."""
    return sum(admit(pool) for pool in _LOCKS)


def _pick(pool: str) -> list[Run]:
    """Mark the next runs as admitted. A full pool costs one count: whoever ends a run looks again."""
    total, each = 2 * settings.RUN_SLOTS[pool], settings.RUNS_OF_AN_ORGANIZATION[pool]
    wanted = {"pool": pool, "total": total, "each": each}
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, wanted)
        if cursor.fetchone()[0] >= total:
            return []
    with transaction.atomic():
        lock_pool(pool)
        with connection.cursor() as cursor:
            cursor.execute(_NEXT, wanted)
            ids = [row[0] for row in cursor.fetchall()]
        return _mark(pool, ids) if ids else []


def lock_pool(pool: str) -> None:
    """One picker at a time, until its transaction ends; it sees what was committed before. Never hold a row for it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCKS[pool]])


def _mark(pool: str, ids: Sequence[uuid.UUID]) -> list[Run]:
    """What somebody holds at this moment (to cancel it, say) is left for the next time."""
    now = timezone.now()
    rows = Run.objects.select_for_update(skip_locked=True, no_key=True, of=("self",)).filter(pk__in=ids)
    free = {run.pk: run for run in rows.filter(admitted_at__isnull=True).exclude(phase__in=Run.ENDED)}
    Run.objects.filter(pk__in=free).update(admitted_at=now)
    Admission.objects.bulk_create(
        [
            Admission(organization_id=organization_id, pool=pool, last_picked_at=now)
            for organization_id in sorted({run.organization_id for run in free.values()})
        ],
        update_conflicts=True,
        unique_fields=["organization", "pool"],
        update_fields=["last_picked_at"],
    )
    return [free[pk] for pk in ids if pk in free]


def _send(runs: Iterable[Run]) -> None:
    """Tell workers which runs to work on. Without a broker they wait on: the clock admits them again."""
    rest = list(runs)
    tasks: dict[str, str] = current_app.conf.get("run_tasks", {})
    try:
        while rest:
            current_app.send_task(tasks[rest[0].kind], args=[show_id(rest[0].pk)])
            rest.pop(0)
    except (OperationalError, OSError) as problem:
        log.warning("admission.not_sent", runs=len(rest), problem=type(problem).__name__)
        _take_back(rest)


def _take_back(runs: Sequence[Run]) -> None:
    try:
        unclaimed = Run.objects.filter(pk__in=[run.pk for run in runs], lease_until__isnull=True)
        unclaimed.update(admitted_at=None)
    except (DatabaseError, PoolTimeout) as problem:
        log.warning("admission.failed", problem=type(problem).__name__)


@transaction.atomic
def take_back_unclaimed() -> int:
    """Let runs wait again whose message was lost: admitted a lease ago, and nobody has begun. Returns: how many."""
    before = timezone.now() - timedelta(seconds=settings.RUN_LEASE_SECONDS)
    rows = Run.objects.exclude(phase__in=Run.ENDED).exclude(pool="")
    lost = rows.filter(admitted_at__lt=before, lease_until__isnull=True)
    ids = list(lost.select_for_update(skip_locked=True, of=("self",)).values_list("pk", flat=True)[:500])
    return Run.objects.filter(pk__in=ids).update(admitted_at=None)


def figures() -> list[PoolFigures]:
    """How full each pool is, in one query."""
    with connection.cursor() as cursor:
        cursor.execute(_FIGURES)
        found = {row[0]: row[1:] for row in cursor.fetchall()}
    return [_figures_of(pool, *found.get(pool, (0, None, 0))) for pool in _LOCKS]


def _figures_of(pool: str, waiting: int, oldest: datetime | None, in_flight: int) -> PoolFigures:
    age = (timezone.now() - oldest).total_seconds() if oldest else 0.0
    return PoolFigures(pool, waiting, max(age, 0.0), in_flight)
