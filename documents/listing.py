"""Which documents a list shows and in what order: search, tags, metadata, the grid's filters and sort.

Every order has an index that ends in it, and every search one that finds it, so that a page of ten costs the same
among a thousand documents and a hundred thousand. The list is found as ids first, so that nothing wide is read for the
rows that are skipped.
"""

import uuid
from collections.abc import Sequence
from urllib.parse import unquote

from django.contrib.postgres.fields import ArrayField
from django.db.models import Case, Func, IntegerField, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Upper

from core.conditions import Field, has_trigram, storable
from core.listing import Fields, containing, filtered, ordered, sought
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
    "tag_ids": Field("document", "links", through=_TAG_LINKS, target="tag", ids="tag_ids", order=Subquery(_FIRST_TAG)),
}
_NEWEST_FIRST = ("-created_at", "-id")
_SAME_FOR_ALL = "deleted_at"
_TIE = ("created_at", "id")
_MAX_PAIRS = 20
_MAX_SEARCH = 10_000


def with_tags(rows: QuerySet[Document], tags: Sequence[Tag]) -> QuerySet[Document]:
    """Documents that have all of these tags."""
    return rows.filter(tag_ids__contains=[tag.pk for tag in tags]) if tags else rows


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


def narrowed(
    rows: QuerySet[Document], *, organization_id: uuid.UUID, name_search: str | None, filters: str | None
) -> QuerySet[Document]:
    """The same rows: found by the pieces of their names too, when a text that these contain has no trigram.

    For a query that wants all of the rows. One that goes along an order until it has a page is quicker without.
    """
    texts = [*sought(filters=filters, name="document_name"), *([name_search] if name_search else [])]
    for text in texts:
        if not has_trigram(text):
            pieces = Func(Value(organization_id), Upper(Value(text)), Value(True), function="docrouter_pieces")
            pieces.output_field = ArrayField(IntegerField())
            rows = rows.filter(letters__pieces__contains=pieces)
    return rows


def page_of_ids(
    rows: QuerySet[Document], *, few: bool, name_search: str | None, sort: str | None, first: int, last: int
) -> list[uuid.UUID]:
    """The ids from place `first` up to `last`, in order. `few` rows are found first and sorted then.

    Many are found along the index of the order. With few of them that would be a bet on where in the order they stand:
    the key that no index offers keeps PostgreSQL from it.
    A search without a sort lists names that equal it first, then those that begin with it, then the others. Of many,
    the three are asked for one after the other: PostgreSQL does not begin with one whose rows are not needed any more.
    Raises: ListQueryInvalid.
    """
    if sort or not name_search:
        rows = ordered(rows, sort=sort, fields=FIELDS, tie=_TIE, default=_NEWEST_FIRST)
        rows = rows.order_by(_SAME_FOR_ALL, *rows.query.order_by) if few else rows
        return list(rows.values_list("pk", flat=True)[first:last])
    equal, begins = Q(name__iexact=name_search), Q(name__istartswith=name_search)
    if few:
        rank = Case(When(equal, then=0), When(begins, then=1), default=2)
        return list(rows.order_by(rank, *_NEWEST_FIRST).values_list("pk", flat=True)[first:last])
    ranks = [
        rows.filter(rank).order_by(*_NEWEST_FIRST).values_list("pk", flat=True)[:last]
        for rank in (equal, begins & ~equal, ~begins)
    ]
    return list(ranks[0].union(*ranks[1:], all=True)[first:last])
