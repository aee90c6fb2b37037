"""Which documents a list shows and in what order: search, tags, metadata, the grid's filters and sort.

Every order has an index that ends in it, and every search one that finds it, so that a page of ten costs the same
among a thousand documents and a hundred thousand. The list is found as ids first, so that nothing wide is read for the
rows that are skipped.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import Count, F, OrderBy, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Upper

from core.conditions import Field, contains, has_trigram, storable
from core.listing import Fields, containing, filtered, ordered, sought
from documents.errors import InvalidQuery
from documents.models import Document, name_pieces
from organizations.actor import Actor
from organizations.gate import owned
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
_TIE = ("created_at", "id")
_MAX_PAIRS = 20
_MAX_SEARCH = 10_000
_SAMPLE = 300
_RARE = 30
_COUNTED = """WITH found AS MATERIALIZED ({found}), counted AS MATERIALIZED (SELECT count(*) AS number FROM found)
SELECT number, ARRAY(
  SELECT found_id FROM found WHERE (SELECT number FROM counted) < %s ORDER BY {order} OFFSET %s LIMIT %s
), ARRAY(
  SELECT found_id FROM ({many}) AS many WHERE (SELECT number FROM counted) >= %s
) FROM counted
"""
_BY_RANK = "CASE WHEN UPPER(named) = UPPER(%s) THEN 0 WHEN UPPER(named) LIKE UPPER(%s) THEN 1 ELSE 2 END"
_RANK = "(SELECT found_id FROM ({found}) AS found WHERE {rank} ORDER BY found_at DESC, found_id DESC LIMIT %s)"
_RANKS = {
    "equal": "found_name = UPPER(%s)",
    "begins": "found_name LIKE UPPER(%s) AND found_name <> UPPER(%s)",
    "contains": "found_name NOT LIKE UPPER(%s)",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Which part of a list is wanted, of what order: the rows from place `first` up to `last`.

    A search without a sort lists names that equal it first, then those that begin with it, then the others.
    """

    first: int
    last: int
    name_search: str | None
    sort: str | None

    @property
    def ranked(self) -> str | None:
        """The text by which names are ranked."""
        return None if self.sort else self.name_search or None


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
    rows: QuerySet[Document], *, actor: Actor, name_search: str | None, filters: str | None
) -> QuerySet[Document]:
    """The same rows: found by pieces of their names, when a text without a trigram is rare among the newest names.

    Where it is frequent, rows are found sooner by looking at one after the other.
    """
    texts = [*sought(filters=filters, name="document_name"), *([name_search] if name_search else [])]
    short = [text for text in texts if not has_trigram(text)]
    if not short:
        return rows
    newest = owned(Document, actor).order_by(*_NEWEST_FIRST)[:_SAMPLE]
    seen = newest.aggregate(**{f"text{n}": Count("pk", filter=contains("name", text)) for n, text in enumerate(short)})
    rows = rows.alias(pieces=name_pieces(F("organization"), "name", sought=False))
    for n, text in enumerate(short):
        if seen[f"text{n}"] <= _RARE:
            rows = rows.filter(pieces__contains=name_pieces(Value(actor.organization_id), Value(text), sought=True))
    return rows


def counted(
    rows: QuerySet[Document], narrow: QuerySet[Document], place: Place, *, limit: int
) -> tuple[int, list[uuid.UUID]]:
    """How many rows there are, up to `limit`, and the ids at this place. `narrow` are the same rows, found by more.

    Fewer than `limit` are found first and sorted then. To go along the index of an order until a page is full, as is
    done with many, would be a bet on where in the order they stand: it is lost by names that are both sought and
    sorted, and by what is long ago. One statement, of which PostgreSQL begins only what the count calls for.
    Raises: ListQueryInvalid.
    """
    columns, order, given = _sorting(rows, place)
    found = narrow.order_by().annotate(found_id=F("pk"), **columns).values_list("found_id", *columns)[:limit]
    try:
        sql, params = found.query.sql_with_params()
        many, asked = _along_the_order(rows, place)
    except EmptyResultSet:
        return 0, []
    few = limit if columns else 0
    values = [*params, few, *given, place.first, place.last - place.first, *asked, few]
    with connections[rows.db].cursor() as cursor:
        cursor.execute(_COUNTED.format(found=sql, order=order, many=many), values)
        number, of_few, of_many = cursor.fetchone()
    return number, of_few or of_many


def _sorting(rows: QuerySet[Document], place: Place) -> tuple[dict[str, F], str, list[str]]:
    """The columns to keep of what is found, the SQL that sorts by them, and its values. No columns when one is none.

    What is made of the columns is made of few rows only.
    """
    columns: dict[str, F] = {}
    order: list[str] = []
    for key in ordered(rows, sort=place.sort, fields=FIELDS, tie=_TIE, default=_NEWEST_FIRST).query.order_by:
        one = key if isinstance(key, OrderBy) else OrderBy(F(str(key).lstrip("-")), descending=str(key)[0] == "-")
        is_text = isinstance(one.expression, Upper)
        column = one.expression.get_source_expressions()[0] if isinstance(one.expression, Upper) else one.expression
        if not isinstance(column, F):
            return {}, "found_id", []
        name = f"key{len(order)}"
        columns[name] = column
        order.append(f"{f'UPPER({name})' if is_text else name} {'DESC' if one.descending else 'ASC'}")
    if place.ranked is None:
        return columns, ", ".join(order), []
    columns["named"] = F("name")
    return columns, ", ".join([_BY_RANK, *order]), [place.ranked, _start(rows, place.ranked)]


def _start(rows: QuerySet[Document], text: str) -> str:
    """The pattern of what begins with this text."""
    return connections[rows.db].ops.prep_for_like_query(text) + "%"


def page_of_ids(rows: QuerySet[Document], place: Place) -> list[uuid.UUID]:
    """The ids at this place, found along the index of the order. Raises: ListQueryInvalid."""
    sql, params = _along_the_order(rows, place)
    with connections[rows.db].cursor() as cursor:
        cursor.execute(sql, params)
        return [found_id for (found_id,) in cursor.fetchall()]


def _along_the_order(rows: QuerySet[Document], place: Place) -> tuple[str, list[Any]]:
    """The ranks of a search are asked for one after the other: PostgreSQL does not begin with one whose rows are not
    needed any more.
    """
    if place.ranked is None:
        rows = ordered(rows, sort=place.sort, fields=FIELDS, tie=_TIE, default=_NEWEST_FIRST)
        found = rows.annotate(found_id=F("pk")).values_list("found_id")[place.first : place.last]
        sql, params = found.query.sql_with_params()
        return sql, list(params)
    columns = {"found_id": F("pk"), "found_at": F("created_at"), "found_name": Upper("name")}
    sql, params = rows.order_by().annotate(**columns).values_list(*columns).query.sql_with_params()
    start = _start(rows, place.ranked)
    given = {"equal": [place.ranked], "begins": [start, place.ranked], "contains": [start]}
    values = [one for name in _RANKS for one in (*params, *given[name], place.last)]
    ranks = " UNION ALL ".join(_RANK.format(found=sql, rank=rank) for rank in _RANKS.values())
    return f"{ranks} OFFSET %s LIMIT %s", [*values, place.first, place.last - place.first]
