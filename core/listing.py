"""One page of rows: plain substring search, and the grid's `sort` and `filters` (JSON text) as a query set."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Expression, F, Model, OrderBy, Q, QuerySet, Subquery
from django.db.models.functions import Upper

from core.conditions import Field, ListQueryInvalid, condition, contains

M = TypeVar("M", bound=Model)
Fields = Mapping[str, Field]
"""What a client may sort and filter by: its name for the field → where its values are."""

MAX_QUERY_CHARS = 10_000
MAX_CONDITIONS = 20
MAX_KEYS = 5
MAX_PAGE = 1000
MAX_SKIP = 2**31


@dataclass(frozen=True, slots=True)
class Listing(Generic[M]):
    """A page of rows with how many there are in all, and where the pages beside it begin."""

    rows: list[M]
    total_count: int
    skip: int
    limit: int = 10

    @property
    def first(self) -> int:
        return min(self.skip + 1, self.total_count)

    @property
    def last(self) -> int:
        return self.skip + len(self.rows)

    @property
    def earlier(self) -> int | None:
        return max(self.skip - self.limit, 0) if self.skip else None

    @property
    def later(self) -> int | None:
        return self.last if self.last < self.total_count else None


def bounds(*, skip: int, limit: int) -> tuple[int, int]:
    """Skip and limit as a query can take them."""
    return min(max(skip, 0), MAX_SKIP), min(max(limit, 1), MAX_PAGE)


def page_of(rows: QuerySet[M], *, skip: int, limit: int) -> Listing[M]:
    """Cut one page out; two queries whatever its size."""
    skip, limit = bounds(skip=skip, limit=limit)
    return Listing(list(rows[skip : skip + limit]), rows.count(), skip, limit)


def containing(rows: QuerySet[M], *, lookup: str, text: str | None) -> QuerySet[M]:
    """Rows whose field contains `text`, without case; never a pattern."""
    return rows.filter(contains(lookup, text)) if text else rows


def ordered(
    rows: QuerySet[M], *, sort: str | None, fields: Fields, tie: Sequence[str] = ("id",), default: Sequence[str] = ()
) -> QuerySet[M]:
    """Order by the grid's `[{"field", "sort"}]`, text without case; always a total order.

    Equal rows stand in the order of `tie`, backwards under a descending sort, so that one index reads both ways.
    Without a sort: `default`, else `tie` backwards (the newest first).
    Raises: ListQueryInvalid.
    """
    keys: list[OrderBy] = []
    descending = True
    for item in (read_json(sort, "sort", list) or [])[: MAX_KEYS + 1]:
        field = _field(item, fields)
        if field is None or len(keys) == MAX_KEYS:
            raise ListQueryInvalid(f"Invalid sort: use {', '.join(fields)}, at most {MAX_KEYS} of them.")
        if item.get("sort") is None:  # the grid's way to say: not sorted by this any more
            continue
        if item["sort"] not in ("asc", "desc"):
            raise ListQueryInvalid("Invalid sort: the order is asc or desc.")
        descending = item["sort"] == "desc"
        keys.append(OrderBy(_key(field), descending=descending))
    if not keys and default:
        return rows.order_by(*default)
    return rows.order_by(*keys, *(OrderBy(F(name), descending=descending) for name in tie))


def _key(field: Field) -> "Expression | Subquery[Any] | F":
    if field.order is not None:
        return field.order
    return Upper(field.lookup) if field.kind == "text" else F(field.lookup)


def _field(item: Any, fields: Fields) -> Field | None:
    """The field that a key or condition names, if it names one."""
    name = item.get("field") if isinstance(item, dict) else None
    return fields.get(name) if isinstance(name, str) else None


def filtered(rows: QuerySet[M], *, filters: str | None, fields: Fields) -> QuerySet[M]:
    """Keep what the grid's `{"items": [{"field", "operator", "value"}], "logicOperator"}` asks for.

    Raises: ListQueryInvalid.
    """
    model = read_json(filters, "filters", dict) or {}
    items = model.get("items")
    items = [] if items is None else items
    if not isinstance(items, list) or len(items) > MAX_CONDITIONS:
        raise ListQueryInvalid("Invalid filters: items must be a list of at most 20 conditions.")
    if model.get("logicOperator") not in (None, "and", "or"):
        raise ListQueryInvalid("Invalid filters: logicOperator is and, or or.")
    wanted = Q()
    for item in items:
        field = _field(item, fields)
        if field is None or not isinstance(item.get("operator"), str):
            raise ListQueryInvalid(f"Invalid filters: use the fields {', '.join(fields)}.")
        one = condition(field, operator=item["operator"], value=item.get("value"))
        wanted = wanted | one if model.get("logicOperator") == "or" else wanted & one
    return rows.filter(wanted) if wanted else rows


def sought(*, filters: str | None, name: str) -> list[str]:
    """Texts that the filters, which have been read before, want within the client's field `name` of every row."""
    model = read_json(filters, "filters", dict) or {}
    items = model.get("items") or []
    if model.get("logicOperator") == "or" and len(items) > 1:
        return []
    within = [item for item in items if item["field"] == name and item["operator"] in ("contains", "endsWith")]
    return [str(item["value"]) for item in within if item.get("value") not in (None, "", [])]


def read_json(text: str | None, name: str, kind: type) -> Any:
    """Read a JSON text of the query string; None for an empty one. Raises: ListQueryInvalid."""
    if not text:
        return None
    try:
        value = json.loads(text) if len(text) <= MAX_QUERY_CHARS else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, kind):
        raise ListQueryInvalid(f"Invalid {name} JSON")
    return value
