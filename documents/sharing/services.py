"""Links to one document: make, revoke, open for a view, count answers and their cost.

A view is counted by one UPDATE with its condition, so that of any number of requests exactly `max_views` get in.
"""

import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from django.conf import settings
from django.contrib.auth.hashers import check_password, make_password
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from core.api.limits import count
from documents.errors import ExtractionNotFound
from documents.events import append_event
from documents.models import Extraction, ShareLink
from documents.results import current_result
from documents.selectors import current_version
from documents.sharing import tickets
from documents.sharing.errors import (
    ShareAnswersUsedUp,
    ShareGone,
    ShareInvalid,
    SharePasswordWrong,
    ShareRoleRefused,
)
from documents.sharing.redaction import check_patterns, up_to_date, work_out
from documents.sharing.selectors import check_open, check_token, get_share_link, link_of, token_digest
from documents.sharing.shown import SharedView, shared_content
from organizations.actor import Actor
from organizations.services import record

Role = Literal["view", "ask"]
LONGEST_LIFE = timedelta(days=366)
MOST_VIEWS = 1_000_000
_MOST_PATHS, _LONGEST_PATH, _LONGEST_PASSWORD = 200, 500, 200


@dataclass(frozen=True, slots=True)
class MadeLink:
    """A new link. The token is nowhere else: show it now."""

    link: ShareLink
    token: str


@dataclass(frozen=True, slots=True)
class OpenedLink:
    """A link with the ticket of this view."""

    link: ShareLink
    ticket: str


@transaction.atomic
def create_share_link(
    *,
    actor: Actor,
    document_id: object,
    role: Role = "view",
    expires_in: timedelta | None = None,
    max_views: int | None = None,
    password: str = "",
    redact_paths: Sequence[str] = (),
    prompt_revid: str | None = None,
) -> MadeLink:
    """Make a link that shows the document as it is now, and its newest result (or that of `prompt_revid`).

    Raises: DocumentNotFound, ExtractionNotFound, ShareInvalid.
    """
    version = current_version(actor=actor, document_id=document_id)
    extraction = _extraction(actor, document_id, prompt_revid)
    patterns = _checked_paths(redact_paths)
    check_patterns(extraction, patterns)
    token = secrets.token_urlsafe(32)
    link = ShareLink(
        organization_id=actor.organization_id,
        document_id=version.document_id,
        version=version,
        extraction=extraction,
        role=role,
        token_digest=token_digest(token),
        password_hash=_hashed(password),
        expires_at=_expiry(expires_in),
        max_views=_checked_views(max_views),
        redact=patterns,
        max_answers=settings.SHARE_MAX_ANSWERS,
        max_cost_usd=Decimal(str(settings.SHARE_MAX_COST_USD)),
        created_by_id=actor.user_id,
        created_by_name=actor.name,
    )
    work_out(link)
    if link.fields_only and role == "ask":
        raise ShareInvalid(f"{link.fields_only_reason} Nobody can ask about pages that are not shown: choose looking.")
    link.save(force_insert=True)
    record(actor=actor, action="share.created", target=("share", link.pk), data={"role": role, "hidden": len(patterns)})
    data = {"share_id": link.pk.hex, "role": role}
    append_event(document_id=link.document_id, type="share.created", actor=actor, data=data)
    return MadeLink(link, token)


@transaction.atomic
def revoke_share_link(*, actor: Actor, document_id: object, share_id: object) -> ShareLink:
    """Take a link back. It ends at once, also for those who have it open. Raises: DocumentNotFound, ShareNotFound."""
    link = lock_link(get_share_link(actor=actor, document_id=document_id, share_id=share_id).pk)
    if link.revoked_at is not None:
        return link
    link.revoked_at = timezone.now()
    link.save(update_fields=["revoked_at"])
    record(actor=actor, action="share.revoked", target=("share", link.pk))
    append_event(
        document_id=link.document_id, type="share.revoked", actor=actor, data={"share_id": link.pk.hex}
    )  # fmt: skip
    return link


def lock_link(link_id: uuid.UUID) -> ShareLink:
    """The link's row, locked until the transaction ends."""
    return ShareLink.objects.select_for_update().get(pk=link_id)


def greet(*, share_id: object, token: str) -> ShareLink:
    """A link that could be opened with this token, without counting a view. Raises: ShareTokenInvalid, ShareGone."""
    link = link_of(share_id=share_id)
    check_token(link, token)
    check_open(link)
    if link.is_used_up:
        raise _used_up()
    return link


def open_share(*, share_id: object, token: str, password: str | None = None, address: str = "") -> OpenedLink:
    """Exchange a token for the ticket of one view.

    Raises: ShareTokenInvalid, ShareGone, SharePasswordWrong, TooManyRequests after too many passwords.
    """
    link = greet(share_id=share_id, token=token)
    _check_password(link, password, address)
    _count_view(link)
    return OpenedLink(link, tickets.issue(link.pk))


def look(*, share_id: object, ticket: str) -> ShareLink:
    """The link that a ticket is for. Raises: ShareTokenInvalid, ShareGone."""
    link = link_of(share_id=share_id)
    tickets.check(ticket, link.pk)
    check_open(link)
    return up_to_date(link)


def open_for_asking(
    *, share_id: object, token: str = "", ticket: str = "", password: str | None = None, address: str = ""
) -> SharedView:
    """What a model may be shown for one question through a link. One answer is counted now; tell what it cost with
    `book_answer`, or give it back with `return_answer` when there was none.

    A ticket belongs to a view that was counted; a token opens another one.
    Raises: ShareTokenInvalid, SharePasswordWrong (401), ShareRoleRefused (403), ShareGone, ShareAnswersUsedUp (410),
    ShareFieldsOnly (409), TextNotReady (409), TooManyRequests.
    """
    link = look(share_id=share_id, ticket=ticket) if ticket else greet(share_id=share_id, token=token)
    if link.role != ShareLink.Role.ASK:
        raise ShareRoleRefused
    if link.answers >= link.max_answers or link.cost_usd >= link.max_cost_usd:
        raise ShareAnswersUsedUp
    if not ticket:
        opened = open_share(share_id=share_id, token=token, password=password, address=address)
        link, ticket = up_to_date(opened.link), opened.ticket
    content = shared_content(link)
    _count_answer(link)
    link.refresh_from_db(fields=["answers", "cost_usd", "max_answers", "max_cost_usd"])
    return SharedView(
        share_id=link.pk,
        document_id=link.document_id,
        organization_id=link.organization_id,
        name=content.name,
        content=content,
        ticket=ticket,
        answers_left=link.max_answers - link.answers,
        cost_left_usd=max(link.max_cost_usd - link.cost_usd, Decimal(0)),
    )


def reserve_answer(*, share_id: uuid.UUID, cost_usd: Decimal) -> None:
    """Book what an answer may cost at most, so that answers that are on their way at once cannot pass the cap together.

    Whoever books tells `book_answer` the difference to what it cost. A process that dies in between leaves it booked:
    the model may have been paid. Raises: ShareAnswersUsedUp when there is not so much left.
    """
    rows = ShareLink.objects.filter(pk=share_id, max_cost_usd__gte=F("cost_usd") + cost_usd)
    if cost_usd and not rows.update(cost_usd=F("cost_usd") + cost_usd):
        raise ShareAnswersUsedUp("What is left of this link does not pay for another answer now. Try again later.")


def book_answer(*, share_id: uuid.UUID, cost_usd: Decimal | float) -> None:
    """Add what an answer cost, or its difference to what was reserved; the next question finds what is left."""
    ShareLink.objects.filter(pk=share_id).update(cost_usd=F("cost_usd") + Decimal(str(cost_usd)))


def return_answer(*, share_id: uuid.UUID) -> None:
    """Give back an answer that was counted and never came."""
    ShareLink.objects.filter(pk=share_id, answers__gt=0).update(answers=F("answers") - 1)


def _count_view(link: ShareLink) -> None:
    """Raises: ShareGone when somebody else had the last one, or the link ended in this moment."""
    now = timezone.now()
    free = Q(max_views__isnull=True) | Q(views__lt=F("max_views"))
    lives = Q(expires_at__isnull=True) | Q(expires_at__gt=now)
    rows = ShareLink.objects.filter(free, lives, pk=link.pk, revoked_at__isnull=True)
    with transaction.atomic():
        if not rows.update(views=F("views") + 1, last_viewed_at=now):
            raise _used_up()
        append_event(document_id=link.document_id, type="share.opened", data={"share_id": link.pk.hex})


def _count_answer(link: ShareLink) -> None:
    rows = ShareLink.objects.filter(
        pk=link.pk, revoked_at__isnull=True, answers__lt=F("max_answers"), cost_usd__lt=F("max_cost_usd")
    )
    if not rows.update(answers=F("answers") + 1):
        raise ShareAnswersUsedUp


def _used_up() -> ShareGone:
    return ShareGone("This link was opened as often as it may be.", code="share_used_up")


def _check_password(link: ShareLink, password: str | None, address: str) -> None:
    if not link.password_hash:
        return
    if not password:
        raise SharePasswordWrong("This link needs a password.", code="share_password_required")
    count("share_password", [("share", f"{link.pk.hex}:{address}")])
    count("share_passwords", [("share", link.pk.hex)])
    if len(password) > _LONGEST_PASSWORD or not check_password(password, link.password_hash):
        raise SharePasswordWrong


def _extraction(actor: Actor, document_id: object, prompt_revid: str | None) -> Extraction | None:
    try:
        return current_result(actor=actor, document_id=document_id, prompt_revid=prompt_revid)
    except ExtractionNotFound:
        if prompt_revid:
            raise
        return None


def _checked_paths(paths: Sequence[str]) -> list[str]:
    if len(paths) > _MOST_PATHS or any(not path or len(path) > _LONGEST_PATH for path in paths):
        raise ShareInvalid(
            f"Name at most {_MOST_PATHS} fields to black out.", fields={"redact": "too many or too long"}
        )
    return list(dict.fromkeys(paths))


def _checked_views(max_views: int | None) -> int | None:
    if max_views is not None and not 1 <= max_views <= MOST_VIEWS:
        raise ShareInvalid(f"A link is good for 1 to {MOST_VIEWS:,} views.", fields={"maxViews": "out of range"})
    return max_views


def _expiry(expires_in: timedelta | None) -> datetime | None:
    if expires_in is None:
        return None
    if not timedelta(0) < expires_in <= LONGEST_LIFE:
        raise ShareInvalid("A link lives a year at most.", fields={"expiresInMs": "out of range"})
    return timezone.now() + expires_in


def _hashed(password: str) -> str:
    if len(password) > _LONGEST_PASSWORD:
        raise ShareInvalid(f"A password has at most {_LONGEST_PASSWORD} characters.", fields={"password": "too long"})
    return make_password(password) if password else ""
