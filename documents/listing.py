"""Which documents a list shows: search, tags, metadata, the grid's filters and order, as a query set."""

from collections.abc import Sequence
from urllib.parse import unquote

from django.db.models import Case, IntegerField, QuerySet, Value, When

from core.listing import Fields, containing, filtered, ordered
from documents.errors import InvalidQuery
from documents.models import Document
from tags_app.models import Tag

FIELDS: Fields = {
    "document_name": ("name", "text"),
    "uploaded_by": ("uploaded_by_name", "text"),
    "state": ("state", "text"),
    "upload_date": ("created_at", "time"),
}
_MAX_PAIRS = 20


def with_tags(rows: QuerySet[Document], tags: Sequence[Tag]) -> QuerySet[Document]:
    """Documents that have all of these tags."""
    for tag in tags:
        rows = rows.filter(tags=tag)
    return rows


def with_metadata(rows: QuerySet[Document], search: str | None) -> QuerySet[Document]:
    """Documents whose metadata has all of `key=value,key=value`; each part is percent-decoded once more.

    Raises: InvalidQuery.
    """
    pairs = [pair.lstrip() for pair in (search or "").split(",") if pair.strip()]
    if len(pairs) > _MAX_PAIRS or len(search or "") > 10_000:
        raise InvalidQuery("Too many metadata conditions.")
    wanted: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = unquote(pair).partition("=")
        if not equals or "\0" in pair or "\0" in unquote(pair):
            raise InvalidQuery("Metadata is searched as key=value, separated by commas.")
        wanted[key.strip()] = value
    return rows.filter(metadata__contains=wanted) if wanted else rows


def in_order(
    rows: QuerySet[Document], *, name_search: str | None, sort: str | None, filters: str | None
) -> QuerySet[Document]:
    """Search and filter, then order: names that equal the search first, then those that begin with it.

    Raises: ListQueryInvalid.
    """
    rows = containing(rows, lookup="name", text=name_search)
    rows = filtered(rows, filters=filters, fields=FIELDS)
    if sort or not name_search:
        return ordered(rows, sort=sort or None, fields=FIELDS) if sort else rows.order_by("-created_at", "-id")
    rank = Case(
        When(name__iexact=name_search, then=Value(0)),
        When(name__istartswith=name_search, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    return rows.order_by(rank, "-created_at", "-id")
