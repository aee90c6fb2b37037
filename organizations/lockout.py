"""Sign-in lockout: repeated failures for one address from one place close the door for a while.

Counted in the cache by address and by network address apart, so that neither guessing many passwords for one
person nor one password for many people stays free. Losing the cache opens the door again, and loses nothing else.
"""

import hashlib

from django.conf import settings
from django.core.cache import cache

from core.errors import LimitReached


class SignInLocked(LimitReached):
    """Too many failures; `retry_after` says when to come back. Units: seconds."""

    code = "sign_in_locked"
    detail = "Too many attempts. Wait a few minutes and try again."


def _keys(*, email: str, address: str) -> dict[str, int]:
    """Cache key → allowed failures. A network address may serve many people: it gets five times as many."""
    person = hashlib.sha256(email.strip().lower().encode()).hexdigest()[:32]
    return {
        f"sign-in:person:{person}": settings.SIGN_IN_ATTEMPTS,
        f"sign-in:address:{address}": settings.SIGN_IN_ATTEMPTS * 5,
    }


def check(*, email: str, address: str) -> None:
    """Raises: SignInLocked."""
    keys = _keys(email=email, address=address)
    counts = cache.get_many(list(keys))
    if any(counts.get(key, 0) >= allowed for key, allowed in keys.items()):
        raise SignInLocked(retry_after=settings.SIGN_IN_LOCK_SECONDS)


def failed(*, email: str, address: str) -> None:
    """Count one failure; the count ends SIGN_IN_LOCK_SECONDS after the last one."""
    for key in _keys(email=email, address=address):
        cache.add(key, 0, settings.SIGN_IN_LOCK_SECONDS)
        cache.incr(key)
        cache.touch(key, settings.SIGN_IN_LOCK_SECONDS)


def succeeded(*, email: str, address: str) -> None:
    """Forget the person's failures (not the network address's)."""
    person = next(iter(_keys(email=email, address=address)))
    cache.delete(person)
