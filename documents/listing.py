"""Which documents a list shows and in what order: search, tags, metadata, the grid's filters and sort.

Every order has an index that ends in it, and every search one that finds it, so that a page of ten costs the same
among a thousand documents and a hundred thousand. The list is found as ids first, so that nothing wide is read for the
rows that are skipped.
"""

import uuid
from collections.abc import Sequence
from urllib.parse import unquote

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Upper

from core.conditions import Field, storable
from core.listing import Fields, containing, filtered, ordered
from documents.errors import InvalidQuery
from documents.models import Document
from tags_app.models import Tag

_TAG_LINKS = Document.tags.through
_FIRST_TAG = (
    _TAG_LINKS._default_manager.filter(document_id=OuterRef("pk"))
    .order_by(Upper("tag__name"), "tag_id")
    .values(first=Upper("tag__name"))[:1]
)
FIELDS: Fields = {
    "document_name": Field("name", "text"),
    "uploaded_by": Field("uploaded_by_name", "text"),
    "state": Field("state", "choice"),
    "upload_date": Field("created_at", "time"),
    "tag_ids": Field("document", "links", through=_TAG_LINKS, target="tag", order=Subquery(_FIRST_TAG)),
}
_NEWEST_FIRST = ("-created_at", "-id")
_TIE = ("created_at", "id")
_MAX_PAIRS = 20
_MAX_SEARCH = 10_000


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
    if len(pairs) > _MAX_PAIRS or len(search or "") > _MAX_SEARCH:
        raise InvalidQuery("Too many metadata conditions.")
    wanted: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = unquote(pair).partition("=")
        if not equals:
            raise InvalidQuery("Metadata is searched as key=value, separated by commas.")
        if wanted.setdefault(storable(key.strip()), storable(value)) != value:
            return rows.none()  # one key cannot have two values
    return rows.filter(metadata__contains=wanted) if wanted else rows


def found(rows: QuerySet[Document], *, name_search: str | None, filters: str | None) -> QuerySet[Document]:
    """Search names and apply the grid's filters.

    Raises: ListQueryInvalid.
    """
    return containing(filtered(rows, filters=filters, fields=FIELDS), lookup="name", text=name_search)


def page_of_ids(
    rows: QuerySet[Document], *, name_search: str | None, sort: str | None, first: int, last: int
) -> list[uuid.UUID]:
    """The ids from place `first` up to `last`, in order.

    A search without a sort lists names that equal it first, then those that begin with it, then the others. The three
    are asked for one after the other: PostgreSQL does not begin with one whose rows are not needed any more.
    Raises: ListQueryInvalid.
    """
    if sort or not name_search:
        rows = ordered(rows, sort=sort, fields=FIELDS, tie=_TIE, default=_NEWEST_FIRST)
        return list(rows.values_list("pk", flat=True)[first:last])
    equal, begins = Q(name__iexact=name_search), Q(name__istartswith=name_search)
    ranks = [
        rows.filter(rank).order_by(*_NEWEST_FIRST).values_list("pk", flat=True)[:last]
        for rank in (equal, begins & ~equal, ~begins)
    ]
    return list(ranks[0].union(*ranks[1:], all=True)[first:last])
