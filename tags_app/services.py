"""Writing tags. Deleting one that may be in use is `documents.tagging.delete_tag`: what uses tags lives higher."""

import re
from collections.abc import Sequence
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils import timezone

from core.ids import parse_id
from organizations.actor import Actor
from organizations.gate import owned
from organizations.services import record
from tags_app.errors import TagChanged, TagInvalid, TagNameTaken, TagNotFound
from tags_app.models import DEFAULT_COLOR, Tag
from tags_app.selectors import get_tags

MAX_DESCRIPTION = 2000
_COLOR = re.compile(r"[#A-Za-z0-9 ,.%()-]{1,32}")
"""Nothing that could end a declaration or name an address: pages put it into a style attribute."""


@transaction.atomic
def create_tag(
    *,
    actor: Actor,
    name: str,
    color: str | None = None,
    description: str | None = None,
    never_send: bool | None = None,
) -> Tag:
    """Make a tag; its name is new in the organization.

    Raises: TagInvalid, TagNameTaken.
    """
    tag = Tag(
        organization_id=actor.organization_id,
        name=_name(name),
        color=_color(color) or DEFAULT_COLOR,
        description=_description(description),
        never_send=bool(never_send),
        created_by_id=actor.user_id,
    )
    _save(tag)
    record(actor=actor, action="tag.created", target=("tag", tag.id))
    _record_mark(actor, tag, was=False)
    return tag


@transaction.atomic
def update_tag(
    *,
    actor: Actor,
    tag_id: object,
    name: str,
    color: str | None = None,
    description: str | None = None,
    never_send: bool | None = None,
    unchanged_since: datetime | None = None,
) -> Tag:
    """Set name and description; color and mark only when they are given.

    Raises: TagNotFound, TagInvalid, TagNameTaken, TagChanged.
    """
    tag = lock_tag(actor=actor, tag_id=tag_id)
    require_unchanged(tag=tag, updated_at=unchanged_since)
    tag.name, tag.description = _name(name), _description(description)
    tag.color, was = _color(color) or tag.color, tag.never_send
    tag.never_send = was if never_send is None else never_send
    _save(tag)
    record(actor=actor, action="tag.updated", target=("tag", tag.id))
    _record_mark(actor, tag, was=was)
    return tag


@transaction.atomic
def trash_tag(*, actor: Actor, tag_id: object) -> Tag:
    """Move a tag to the trash. The caller has made sure that nothing uses it, under `lock_tag`.

    Raises: TagNotFound.
    """
    tag = lock_tag(actor=actor, tag_id=tag_id)
    tag.deleted_at = timezone.now()
    tag.save(update_fields=["deleted_at"])
    record(actor=actor, action="tag.deleted", target=("tag", tag.id))
    return tag


@transaction.atomic
def restore_tag(*, actor: Actor, tag_id: object) -> Tag:
    """Take a tag out of the trash.

    Raises: TagNotFound when it is not there, TagNameTaken when its name was taken since.
    """
    tag = lock_trashed_tag(actor=actor, tag_id=tag_id)
    tag.deleted_at = None
    _save(tag)
    record(actor=actor, action="tag.restored", target=("tag", tag.id))
    return tag


def require_unchanged(*, tag: Tag, updated_at: datetime | None) -> None:
    """Raises: TagChanged when somebody wrote the tag after `updated_at`; None expects nothing."""
    if updated_at not in (None, tag.updated_at):
        raise TagChanged(name=tag.name, color=tag.color, description=tag.description)


def lock_tag(*, actor: Actor, tag_id: object) -> Tag:
    """Raises: TagNotFound."""
    rows = owned(Tag, actor).select_for_update()
    tag = rows.filter(pk=parse_id(tag_id, error=TagNotFound)).first()
    if tag is None:
        raise TagNotFound()
    return tag


def lock_trashed_tag(*, actor: Actor, tag_id: object) -> Tag:
    """Raises: TagNotFound."""
    rows = Tag.objects.filter(organization_id=actor.organization_id, deleted_at__isnull=False)
    tag = rows.filter(pk=parse_id(tag_id, error=TagNotFound)).select_for_update().first()
    if tag is None:
        raise TagNotFound()
    return tag


def lock_tags(*, actor: Actor, tag_ids: Sequence[object]) -> list[Tag]:
    """The tags that something is about to use: nobody deletes one of them until this transaction ends.

    Raises: UnknownTags.
    """
    if not tag_ids:
        return []
    found = get_tags(actor=actor, tag_ids=tag_ids)
    keys = [tag.pk for tag in found]
    held = list(owned(Tag, actor).filter(pk__in=keys).order_by("pk").select_for_update(no_key=True))
    return held if len(held) == len(found) else get_tags(actor=actor, tag_ids=tag_ids)


def _record_mark(actor: Actor, tag: Tag, *, was: bool) -> None:
    """Who decided that documents with the tag stay here, or may leave again."""
    if tag.never_send != was:
        action = "tag.never_send_set" if tag.never_send else "tag.never_send_lifted"
        record(actor=actor, action=action, target=("tag", tag.id))


def _save(tag: Tag) -> None:
    try:
        with transaction.atomic():
            tag.save()
    except IntegrityError as problem:
        raise TagNameTaken(f"Tag with name '{tag.name}' already exists", fields={"name": "taken"}) from problem


def _name(text: str) -> str:
    name = text.strip()
    if not name or len(name) > 200 or not _plain(name) or not name.isprintable():
        raise TagInvalid("A tag's name needs 1 to 200 printable characters.", fields={"name": "1 to 200 characters"})
    return name


def _color(text: str | None) -> str | None:
    color = (text or "").strip()
    if color and not _COLOR.fullmatch(color):
        message = "a CSS color of at most 32 characters, such as #3B82F6"
        raise TagInvalid(f"A color is {message}.", fields={"color": message})
    return color or None


def _description(text: str | None) -> str | None:
    if text is not None and (len(text) > MAX_DESCRIPTION or not _plain(text)):
        raise TagInvalid(
            f"A description has at most {MAX_DESCRIPTION} characters.", fields={"description": "too long or unreadable"}
        )
    return text


def _plain(text: str) -> bool:
    """Whether PostgreSQL can store it: no NUL, no lone surrogates."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
