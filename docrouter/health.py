"""Is the process alive, can it work, what does it count.

`/readyz` is 503 only when the database or Redis does not answer; missing workers are reported, not fatal.
"""

import hmac
import ipaddress
import os
import time
from collections.abc import Iterator
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from psycopg_pool import PoolTimeout
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from docrouter.celery import app
from documents import admission
from webhooks import processing as deliveries

log = structlog.get_logger(__name__)

WORKERS_CACHE_SECONDS = 5.0
WORKER_ANSWER_SECONDS = 1.0
QUEUES = ("ingest", "llm", "default")


def redis_client(url: str) -> Redis:
    """A client that gives up at once: a health check that tries again hides what it should tell."""
    return Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2, retry=Retry(NoBackoff(), 0))


_redis = redis_client(settings.REDIS_URL)
_workers: tuple[float, list[str]] = (0.0, [])


@never_cache
@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """The process lives and answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
@require_safe
def readyz(_request: HttpRequest) -> JsonResponse:
    """What we depend on answers."""
    parts = {"database": database_answers(), "redis": redis_answers()}
    names = workers() if parts["redis"] else []
    state: dict[str, Any] = {name: "ok" if up else "down" for name, up in parts.items()}
    state["workers"] = {"state": "ok" if names else "missing", "names": names}
    return JsonResponse(state, status=200 if all(parts.values()) else 503)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text, for this machine or for who knows the token."""
    if not _may_read_metrics(request):
        return HttpResponse("Metrics answer this machine, or a bearer token (METRICS_TOKEN).\n", status=403)
    return HttpResponse(generate_latest(_registry()), content_type=CONTENT_TYPE_LATEST)


def database_answers() -> bool:
    """Ask the database for a one."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return bool(cursor.fetchone() == (1,))
    except (DatabaseError, PoolTimeout) as problem:
        log.warning("health.database_failed", problem=type(problem).__name__)
        return False


def redis_answers() -> bool:
    """Ask Redis for a pong."""
    try:
        return bool(_redis.ping())
    except RedisError as problem:
        log.warning("health.redis_failed", problem=type(problem).__name__)
        return False


def workers() -> list[str]:
    """Names of the workers that answer; asked at most every few seconds, as an answer takes up to one."""
    global _workers  # one small cache per process
    asked_at, names = _workers
    if time.monotonic() - asked_at > WORKERS_CACHE_SECONDS:
        try:
            replies = app.control.ping(timeout=WORKER_ANSWER_SECONDS) if _some_worker_listens() else []
        except (OperationalError, RedisError, OSError):
            replies = []
        names = sorted(name for reply in replies or () for name in reply)
        _workers = (time.monotonic(), names)
    return names


def _some_worker_listens() -> bool:
    """Each worker subscribes to a pattern for its orders: without any, there is nobody to wait for."""
    return bool(_redis.pubsub_numpat())


class StateCollector:
    """What is asked at the moment of a scrape rather than counted."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        redis_up = redis_answers()
        up = GaugeMetricFamily("docrouter_up", "1 when the part answers.", labels=["part"])
        up.add_metric(["database"], float(database_answers()))
        up.add_metric(["redis"], float(redis_up))
        yield up
        waiting = GaugeMetricFamily("docrouter_queue_messages", "Messages that wait for a worker.", labels=["queue"])
        prefix = str(settings.CELERY_BROKER_TRANSPORT_OPTIONS.get("global_keyprefix", ""))
        for queue in QUEUES if redis_up else ():
            waiting.add_metric([queue], float(_redis.llen(prefix + queue)))
        yield waiting
        yield from _runs_of_the_pools()
        yield from _deliveries()


def _runs_of_the_pools() -> list[GaugeMetricFamily]:
    """What waits for its turn, how long, and what workers were handed. Without a database there is nothing to say."""
    depth = GaugeMetricFamily("docrouter_runs_queued", "Runs that wait for their turn.", labels=["pool"])
    age = GaugeMetricFamily(
        "docrouter_runs_oldest_queued_seconds", "Age of the oldest run that waits for its turn.", labels=["pool"]
    )
    flying = GaugeMetricFamily("docrouter_runs_in_flight", "Runs that were handed to workers.", labels=["pool"])
    try:
        pools = admission.figures()
    except (DatabaseError, PoolTimeout):
        return []
    for pool in pools:
        depth.add_metric([pool.pool], pool.waiting)
        age.add_metric([pool.pool], pool.oldest_seconds)
        flying.add_metric([pool.pool], pool.in_flight)
    return [depth, age, flying]


def _deliveries() -> list[GaugeMetricFamily]:
    """What waits to be sent to webhooks that are switched on, and for how long."""
    depth = GaugeMetricFamily("docrouter_deliveries_pending", "Deliveries to webhooks that are not sent yet.")
    age = GaugeMetricFamily("docrouter_deliveries_oldest_pending_seconds", "Age of the oldest of them.")
    try:
        waiting = deliveries.figures()
    except (DatabaseError, PoolTimeout):
        return []
    depth.add_metric([], waiting.count)
    age.add_metric([], waiting.oldest_seconds)
    return [depth, age]


def _registry() -> CollectorRegistry:
    """The counters of all processes when they share a folder (PROMETHEUS_MULTIPROC_DIR), else of this one."""
    registry = CollectorRegistry()
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the library leaves it untyped
    else:
        registry = REGISTRY
    combined = CollectorRegistry()
    combined.register(_Combined(registry))
    return combined


class _Combined:
    """One scrape: what was counted, then the state of this moment."""

    def __init__(self, counted: CollectorRegistry) -> None:
        self._counted = counted

    def collect(self) -> Iterator[Any]:
        yield from self._counted.collect()
        yield from StateCollector().collect()


def _may_read_metrics(request: HttpRequest) -> bool:
    """A request that a proxy passed on does not count as local, although the proxy may be on this machine."""
    token = settings.METRICS_TOKEN
    given = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    if token and hmac.compare_digest(token.encode(), given.encode()):
        return True
    if request.headers.get("X-Forwarded-For") or request.headers.get("Forwarded"):
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
