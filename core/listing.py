"""One page of rows: plain substring search, and the grid's `sort` and `filters` (JSON text) as a query set."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, Literal, TypeVar

from django.db.models import F, Model, OrderBy, Q, QuerySet
from django.db.models.functions import Lower

from core.errors import Invalid

M = TypeVar("M", bound=Model)
Kind = Literal["text", "number", "time"]
Fields = Mapping[str, tuple[str, Kind]]
"""What a client may sort and filter by: its name for the field → our lookup and the kind of its values."""

MAX_QUERY_CHARS = 10_000
MAX_CONDITIONS = 20
_COMPARE = {
    "equals": "exact", "is": "exact", "=": "exact", ">": "gt", "after": "gt", ">=": "gte", "onOrAfter": "gte",
    "<": "lt", "before": "lt", "<=": "lte", "onOrBefore": "lte",
}  # fmt: skip
_TEXT = {
    "contains": "icontains",
    "equals": "iexact",
    "is": "iexact",
    "startsWith": "istartswith",
    "endsWith": "iendswith",
}
_NEGATED = {"doesNotContain": "contains", "doesNotEqual": "equals", "not": "is", "!=": "="}


class ListQueryInvalid(Invalid):
    """A `sort`, `filters` or `name_search` that cannot be read."""

    code = "invalid_query"
    detail = "This filter is not valid."


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


def page_of(rows: QuerySet[M], *, skip: int, limit: int) -> Listing[M]:
    """Cut one page out; two queries whatever its size."""
    skip, limit = min(max(skip, 0), 2**31), min(max(limit, 1), 1000)
    return Listing(list(rows[skip : skip + limit]), rows.count(), skip, limit)


def containing(rows: QuerySet[M], *, lookup: str, text: str | None) -> QuerySet[M]:
    """Rows whose field contains `text`, without case; never a pattern."""
    return rows.filter(**{f"{lookup}__icontains": _storable(text)}) if text else rows


def ordered(rows: QuerySet[M], *, sort: str | None, fields: Fields, tie: str = "-id") -> QuerySet[M]:
    """Order by the grid's `[{"field", "sort"}]`, text without case; always a total order.

    Raises: ListQueryInvalid.
    """
    keys: list[OrderBy] = []
    for item in _read(sort, "sort", list) or []:
        if not isinstance(item, dict) or item.get("field") not in fields or item.get("sort") not in ("asc", "desc"):
            raise ListQueryInvalid(f"Invalid sort: use {', '.join(fields)} with asc or desc.")
        lookup, kind = fields[item["field"]]
        keys.append(OrderBy(Lower(lookup) if kind == "text" else F(lookup), descending=item["sort"] == "desc"))
    return rows.order_by(*keys, tie)


def filtered(rows: QuerySet[M], *, filters: str | None, fields: Fields) -> QuerySet[M]:
    """Keep what the grid's `{"items": [{"field", "operator", "value"}], "logicOperator"}` asks for.

    Raises: ListQueryInvalid.
    """
    model = _read(filters, "filters", dict) or {}
    items = model.get("items", [])
    if not isinstance(items, list) or len(items) > MAX_CONDITIONS:
        raise ListQueryInvalid("Invalid filters: items must be a list of at most 20 conditions.")
    either = model.get("logicOperator") == "or"
    wanted = Q()
    for item in items:
        condition = _condition(item, fields)
        wanted = wanted | condition if either else wanted & condition
    return rows.filter(wanted)


def _read(text: str | None, name: str, kind: type) -> Any:
    if not text:
        return None
    try:
        value = json.loads(text) if len(text) <= MAX_QUERY_CHARS else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, kind):
        raise ListQueryInvalid(f"Invalid {name} JSON")
    return value


def _condition(item: Any, fields: Fields) -> Q:
    if not isinstance(item, dict) or item.get("field") not in fields or not isinstance(item.get("operator"), str):
        raise ListQueryInvalid(f"Invalid filters: use the fields {', '.join(fields)}.")
    (lookup, kind), operator, value = fields[item["field"]], item["operator"], item.get("value")
    if operator in ("isEmpty", "isNotEmpty"):
        empty = Q(**{f"{lookup}__isnull": True}) | (Q(**{lookup: ""}) if kind == "text" else Q())
        return empty if operator == "isEmpty" else ~empty
    if operator == "isAnyOf":
        return Q(**{f"{lookup}__in": [_value(one, kind) for one in value] if isinstance(value, list) else []})
    known = _TEXT if kind == "text" else _COMPARE
    positive = _NEGATED.get(operator, operator)
    if positive not in known:
        raise ListQueryInvalid(f"Invalid filters: {item['field']} has no such operator.")
    if value in (None, ""):
        return Q()
    found = Q(**{f"{lookup}__{known[positive]}": _value(value, kind)})
    return ~found if operator in _NEGATED else found


def _value(value: Any, kind: Kind) -> Any:
    try:
        if kind == "number":
            return min(max(int(value), -(2**31)), 2**31 - 1)
        if kind == "time":
            moment = datetime.fromisoformat(str(value))
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError) as problem:
        raise ListQueryInvalid("Invalid filters: a value does not fit its field.") from problem
    return _storable(str(value))


def _storable(text: str) -> str:
    """PostgreSQL has no NUL and no lone surrogates."""
    if len(text) > 1000 or "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ListQueryInvalid("That search text cannot be used.")
    return text
