"""Rate limits, counted in Redis: a sliding minute for each person, and ten times as much for an organization."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import structlog
from django.conf import settings
from limits import RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import RedisStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from redis.exceptions import RedisError

from core.errors import LimitReached

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Standing:
    """How the narrowest limit stands after a request. Units: `reset_after` seconds."""

    limit: int
    remaining: int
    reset_after: int


class TooManyRequests(LimitReached):
    """`extra["standing"]` is for the headers."""

    code = "rate_limited"
    detail = "Too many requests. Wait a moment and try again."


def count(rate: str, keys: Sequence[tuple[str, str]]) -> Standing | None:
    """Count a request against a named limit of settings.RATE_LIMITS for each (kind, id): "person" or "organization".

    Returns: the standing, None when limits are switched off or Redis is away (then nobody is kept out).
    Raises: TooManyRequests.
    """
    if not settings.RATE_LIMIT_SCALE:
        return None
    try:
        return _count(rate, keys)
    except (RedisError, StorageError, OSError) as problem:
        log.warning("rate_limit.not_counted", problem=type(problem).__name__)
        return None


def _count(rate: str, keys: Sequence[tuple[str, str]]) -> Standing | None:
    standing: Standing | None = None
    for kind, key in keys:
        per_minute = settings.RATE_LIMITS[rate] * settings.RATE_LIMIT_SCALE
        if kind == "organization":
            per_minute *= settings.RATE_LIMIT_OF_AN_ORGANIZATION
        item = RateLimitItemPerMinute(max(int(per_minute), 1), namespace=settings.REDIS_PREFIX)
        fits = _limiter(settings.REDIS_URL).hit(item, rate, kind, key)
        window = _limiter(settings.REDIS_URL).get_window_stats(item, rate, kind, key)
        now = Standing(item.amount, window.remaining, max(math.ceil(window.reset_time - time.time()), 1))
        if not fits:
            raise TooManyRequests(retry_after=now.reset_after, standing=now)
        if standing is None or now.remaining < standing.remaining:
            standing = now
    return standing


@cache
def _limiter(url: str) -> SlidingWindowCounterRateLimiter:
    return SlidingWindowCounterRateLimiter(RedisStorage(url, socket_timeout=2, socket_connect_timeout=2))
