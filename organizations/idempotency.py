"""`Idempotency-Key`: a request that is sent twice does its work once, and both get the same answer."""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models.fields.json import KeyTextTransform
from django.utils import timezone
from django.utils.crypto import salted_hmac

from core.errors import Conflict, Invalid
from core.sealing import SealBroken, reseal, seal, unseal
from organizations.actor import Actor
from organizations.models import IdempotentRequest

MAX_KEY = 200
_SEALED = "sealed"
Json = dict[str, Any]


class IdempotencyKeyReused(Conflict):
    code = "idempotency_key_reused"
    detail = "This Idempotency-Key was used for another request."


class IdempotentAnswerLost(Conflict):
    code = "idempotent_answer_lost"
    detail = "This request was done, but what it was answered can no longer be opened. Look at the list of what exists."


def once(
    *, actor: Actor, key: str | None, route: str, fingerprint: bytes, work: Callable[[], Json], secret: bool = False
) -> tuple[Json, bool]:
    """Do the work unless this person's request with this key was done before.

    The work and the remembered answer commit together, so work that failed is not remembered. Of two at once, the
    second waits for the first. `secret`: the answer, or what was asked, has what is shown once; it is kept sealed.
    Returns: the answer, and whether it is a remembered one.
    Raises: IdempotencyKeyReused for another body or route with the same key, Invalid for an impossible key,
    IdempotentAnswerLost when nothing opens a sealed answer any more.
    """
    if key is None:
        return work(), False
    if not key or len(key) > MAX_KEY or "\0" in key:
        raise Invalid(f"An Idempotency-Key has 1 to {MAX_KEY} characters.", code="idempotency_key_invalid")
    digest = hashlib.sha256(route.encode() + b"\0" + fingerprint).digest()
    if secret:  # a bare digest of a request with a short password would give the password away
        digest = salted_hmac("organizations.idempotency", digest, algorithm="sha256").digest()
    forget_old(actor=actor, key=key)
    try:
        with transaction.atomic():
            row = IdempotentRequest.objects.create(
                organization_id=actor.organization_id, user_id=actor.user_id, key=key, digest=digest
            )
            answer = work()
            row.answer = {_SEALED: seal(json.dumps(answer)).decode()} if secret else answer
            row.save(update_fields=["answer"])
            return answer, False
    except IntegrityError:
        done = _done(actor, key)
        if done is None:
            raise
    if bytes(done.digest) != digest:
        raise IdempotencyKeyReused()
    return _opened(done.answer) if secret else done.answer, True


def forget_old(*, actor: Actor | None = None, key: str | None = None) -> int:
    """Delete what is older than settings.IDEMPOTENCY_SECONDS: of one key, or all. Returns: how many."""
    until = timezone.now() - timedelta(seconds=settings.IDEMPOTENCY_SECONDS)
    rows = IdempotentRequest.objects.filter(created_at__lt=until)
    if actor is not None:
        rows = rows.filter(organization_id=actor.organization_id, user_id=actor.user_id, key=key)
    return rows.delete()[0]


@transaction.atomic
def reseal_answers() -> int:
    """Put sealed answers under the first of ENCRYPTION_KEYS; what none opens is forgotten within a day anyway.

    Returns: how many.
    """
    count = 0
    sealed = IdempotentRequest.objects.annotate(sealed=KeyTextTransform(_SEALED, "answer")).filter(sealed__isnull=False)
    for row in sealed.select_for_update():
        try:
            row.answer = {_SEALED: reseal(row.answer[_SEALED].encode()).decode()}
        except SealBroken:
            continue
        row.save(update_fields=["answer"])
        count += 1
    return count


def _opened(answer: Json) -> Json:
    try:
        opened: Json = json.loads(unseal(answer[_SEALED].encode()))
    except SealBroken as problem:
        raise IdempotentAnswerLost from problem
    return opened


def _done(actor: Actor, key: str) -> IdempotentRequest | None:
    """The finished request; None when the conflict was about something else."""
    rows = IdempotentRequest.objects.filter(organization_id=actor.organization_id, user_id=actor.user_id, key=key)
    return rows.first()
