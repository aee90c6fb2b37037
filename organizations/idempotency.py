"""`Idempotency-Key`: a request that is sent twice does its work once, and both get the same answer."""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from core.errors import Conflict, Invalid
from organizations.actor import Actor
from organizations.models import IdempotentRequest

MAX_KEY = 200
Json = dict[str, Any]


class IdempotencyKeyReused(Conflict):
    code = "idempotency_key_reused"
    detail = "This Idempotency-Key was used for another request."


def once(
    *, actor: Actor, key: str | None, route: str, fingerprint: bytes, work: Callable[[], Json]
) -> tuple[Json, bool]:
    """Do the work unless this person's request with this key was done before.

    The work and the remembered answer commit together, so work that failed is not remembered. Of two at once, the
    second waits for the first. Returns: the answer, and whether it is a remembered one.
    Raises: IdempotencyKeyReused for another body or route with the same key, Invalid for an impossible key.
    """
    if key is None:
        return work(), False
    if not key or len(key) > MAX_KEY or "\0" in key:
        raise Invalid(f"An Idempotency-Key has 1 to {MAX_KEY} characters.", code="idempotency_key_invalid")
    digest = hashlib.sha256(route.encode() + b"\0" + fingerprint).digest()
    forget_old(actor=actor, key=key)
    try:
        with transaction.atomic():
            row = IdempotentRequest.objects.create(
                organization_id=actor.organization_id, user_id=actor.user_id, key=key, digest=digest
            )
            row.answer = work()
            row.save(update_fields=["answer"])
            return row.answer, False
    except IntegrityError:
        done = _done(actor, key)
        if done is None:
            raise
    if bytes(done.digest) != digest:
        raise IdempotencyKeyReused()
    return done.answer, True


def forget_old(*, actor: Actor | None = None, key: str | None = None) -> int:
    """Delete what is older than settings.IDEMPOTENCY_SECONDS: of one key, or all. Returns: how many."""
    until = timezone.now() - timedelta(seconds=settings.IDEMPOTENCY_SECONDS)
    rows = IdempotentRequest.objects.filter(created_at__lt=until)
    if actor is not None:
        rows = rows.filter(organization_id=actor.organization_id, user_id=actor.user_id, key=key)
    return rows.delete()[0]


def _done(actor: Actor, key: str) -> IdempotentRequest | None:
    """The finished request; None when the conflict was about something else."""
    rows = IdempotentRequest.objects.filter(organization_id=actor.organization_id, user_id=actor.user_id, key=key)
    return rows.first()
