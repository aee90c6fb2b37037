"""Reading tags: the only gate to their rows for doors."""

from collections.abc import Sequence

from core.conditions import Field
from core.errors import NotFound
from core.ids import parse_id
from core.listing import Fields, Listing, containing, filtered, ordered, page_of
from organizations.actor import Actor
from organizations.gate import get_owned, owned
from tags_app.errors import TagNotFound, UnknownTags
from tags_app.models import Tag

FIELDS: Fields = {
    "id": Field("pk", "id"),
    "name": Field("name", "text"),
    "color": Field("color", "text"),
    "description": Field("description", "text"),
    "created_at": Field("created_at", "time"),
    "created_by": Field("created_by_id", "id"),
}
MAX_TAGS = 200


def get_tag(*, actor: Actor, tag_id: object) -> Tag:
    """Raises: TagNotFound."""
    return get_owned(Tag, actor, tag_id, error=TagNotFound)


def list_tags(
    *,
    actor: Actor,
    skip: int = 0,
    limit: int = 10,
    name_search: str | None = None,
    sort: str | None = None,
    filters: str | None = None,
) -> Listing[Tag]:
    """Tags of the organization, newest first unless `sort` says otherwise.

    Raises: ListQueryInvalid.
    """
    rows = containing(owned(Tag, actor), lookup="name", text=name_search)
    rows = filtered(rows, filters=filters, fields=FIELDS)
    return page_of(ordered(rows, sort=sort, fields=FIELDS), skip=skip, limit=limit)


def get_tags(*, actor: Actor, tag_ids: Sequence[object]) -> list[Tag]:
    """All of these tags, ordered by id, each once.

    Raises: UnknownTags naming those that are malformed, foreign or gone.
    """
    if len(tag_ids) > MAX_TAGS:
        raise UnknownTags(f"At most {MAX_TAGS} tags at once.", fields={"tag_ids": f"at most {MAX_TAGS}"})
    wanted = {}
    unknown = []
    for text in tag_ids:
        try:
            wanted[parse_id(text)] = text
        except NotFound:
            unknown.append(text)
    found = list(owned(Tag, actor).filter(pk__in=wanted).order_by("pk"))
    unknown += [wanted[key] for key in wanted.keys() - {tag.pk for tag in found}]
    if unknown:
        names = [str(text)[:64] for text in unknown]
        raise UnknownTags(f"Invalid tag IDs: {names}", fields={"tag_ids": "unknown"}, tag_ids=names)
    return found
