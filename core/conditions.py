"""One condition of the grid's filters (`field`, `operator`, `value`) as a condition of the database.

The operators are those of MUI's data grid for columns of text, numbers, dates and single choices. A condition without
a value is one that the person has not finished: it keeps every row.
"""

import re
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, cast

from django.db.models import Exists, Expression, F, Model, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce, StrIndex, Upper
from django.db.models.lookups import GreaterThan, In

from core.errors import Invalid, NotFound
from core.ids import parse_id

Kind = Literal["text", "choice", "number", "time", "id", "links"]

MAX_TEXT = 1000
_TRIGRAM = re.compile(r"[^\W_]{3}")
_TEXT = {
    "contains": "icontains",
    "equals": "iexact",
    "is": "iexact",
    "=": "iexact",
    "startsWith": "istartswith",
    "endsWith": "iendswith",
}
_NUMBER = {"equals": "exact", "is": "exact", "=": "exact", ">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}
_SAME = ("equals", "is", "=", "contains")
_NEGATED = {"doesNotContain": "contains", "doesNotEqual": "equals", "not": "is", "!=": "="}


class ListQueryInvalid(Invalid):
    """A `sort`, `filters` or `name_search` that cannot be read."""

    code = "invalid_query"
    detail = "This filter is not valid."


@dataclass(frozen=True, slots=True)
class Field:
    """Where a client's field is: `lookup` names the column, `kind` says how its values compare.

    `choice` is text that is compared as it is. `links` are rows linked many to many: `through` is the model between,
    `lookup` its key to the row of the list and `target` its key to the linked row, which has a name; `ids` names the
    column that repeats the ids of the linked rows, if there is one. `order` is what to sort by when it is not the
    column.
    """

    lookup: str
    kind: Kind
    through: type[Model] | None = None
    target: str = ""
    ids: str = ""
    order: "Expression | Subquery[Any] | None" = None


def condition(field: Field, *, operator: str, value: Any) -> Q:
    """What `operator` and `value` ask of the field; everything when there is no value yet.

    Raises: ListQueryInvalid.
    """
    if operator in ("isEmpty", "isNotEmpty"):
        empty = _empty(field)
        return empty if operator == "isEmpty" else ~empty
    positive = _NEGATED.get(operator, operator)
    if value is None or value in ("", []):
        _known(field, positive)
        return Q()
    if operator == "isAnyOf":
        if not isinstance(value, list) or len(value) > MAX_TEXT:
            raise ListQueryInvalid("Invalid filters: isAnyOf needs a list of values.")
        return _any_of(field, value)
    _known(field, positive)
    if isinstance(value, dict | list):
        raise ListQueryInvalid("Invalid filters: a value does not fit its field.")
    found = _compared(field, positive, value)
    return ~found if operator in _NEGATED else found


def contains(lookup: str, text: str) -> Q:
    """Text without case within the field. Raises: ListQueryInvalid.

    Without three letters or digits in a row there is no trigram to look up, and an index of trigrams would be read as a
    whole: such a text is compared in a way that no index claims to serve.
    """
    if has_trigram(text):
        return Q(**{f"{lookup}__icontains": text})
    return Q(GreaterThan(StrIndex(Upper(Coalesce(F(lookup), Value(""))), Upper(Value(text))), 0))


def has_trigram(text: str) -> bool:
    """Whether an index of trigrams finds what contains this text. Raises: ListQueryInvalid."""
    return _TRIGRAM.search(storable(text)) is not None


def storable(text: str) -> str:
    """PostgreSQL has no NUL and no lone surrogates. Raises: ListQueryInvalid."""
    if len(text) > MAX_TEXT or "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ListQueryInvalid("That search text cannot be used.")
    return text


def _known(field: Field, operator: str) -> None:
    known = {
        "text": _TEXT,
        "choice": _TEXT,
        "number": _NUMBER,
        "time": ("is", "equals", "=", *_SPANS),
        "id": _SAME,
        "links": _SAME,
    }[field.kind]
    if operator not in known and operator != "isAnyOf":
        raise ListQueryInvalid(f"Invalid filters: this field has no operator {operator[:40]!a}.")


def _empty(field: Field) -> Q:
    if field.kind == "links":
        return Q(**{field.ids: []}) if field.ids else ~Q(_links(field))
    nothing = Q(**{f"{field.lookup}__isnull": True})
    return nothing | Q(**{field.lookup: ""}) if field.kind in ("text", "choice") else nothing


def _any_of(field: Field, values: list[Any]) -> Q:
    if field.kind == "links":
        return _linked(field, "is", values)
    if field.kind == "time":
        return _any([_timed(field, "is", one) for one in values])
    if field.kind == "text":
        return Q(In(Upper(F(field.lookup)), [Upper(Value(storable(str(one)))) for one in values]))
    return Q(**{f"{field.lookup}__in": [_value(one, field.kind) for one in values]})


def _any(conditions: list[Q]) -> Q:
    wanted = Q()
    for one in conditions:
        wanted |= one
    return wanted


def _compared(field: Field, operator: str, value: Any) -> Q:
    if field.kind == "links":
        return _linked(field, operator, [value])
    if field.kind == "time":
        return _timed(field, operator, value)
    if field.kind == "id":
        return Q(**{field.lookup: _value(value, "id")})
    if field.kind == "choice" and operator in ("equals", "is", "="):
        return Q(**{field.lookup: _value(value, "choice")})
    if operator == "contains":
        return contains(field.lookup, str(value))
    lookup = (_NUMBER if field.kind == "number" else _TEXT)[operator]
    return Q(**{f"{field.lookup}__{lookup}": _value(value, field.kind)})


_SPANS = {
    "after": ("gte", 1), ">": ("gte", 1), "onOrAfter": ("gte", 0), ">=": ("gte", 0),
    "before": ("lt", 0), "<": ("lt", 0), "onOrBefore": ("lt", 1), "<=": ("lt", 1),
}  # fmt: skip


def _timed(field: Field, operator: str, value: Any) -> Q:
    """A date means the whole day (UTC), a time without seconds the whole minute: `after` begins where that ends."""
    text = str(value)
    try:
        start = datetime.fromisoformat(text)
        start = start if start.tzinfo else start.replace(tzinfo=UTC)
        if len(text) <= len("2026-01-31"):
            span = timedelta(days=1)
        else:
            span = timedelta(microseconds=1) if start.second or start.microsecond else timedelta(minutes=1)
        edges = (start.astimezone(UTC), (start + span).astimezone(UTC))
    except (ValueError, OverflowError) as problem:
        raise ListQueryInvalid("Invalid filters: a value does not fit its field.") from problem
    if operator in _SPANS:
        lookup, edge = _SPANS[operator]
        return Q(**{f"{field.lookup}__{lookup}": edges[edge]})
    return Q(**{f"{field.lookup}__gte": edges[0], f"{field.lookup}__lt": edges[1]})


def _linked(field: Field, operator: str, values: list[Any]) -> Q:
    """A link to one of the rows with these ids; with these names where they are no ids."""
    keys: list[uuid.UUID] = []
    names: list[Q] = []
    for text in (storable(str(value)) for value in values):
        try:
            keys.append(parse_id(text))
        except NotFound:
            names.append(Q(**{f"{field.target}__name__{_TEXT[operator]}": text}))
    by_name = [Q(_links(field, _any(names)))] if names else []
    if keys and field.ids:
        return _any([Q(**{f"{field.ids}__overlap": keys}), *by_name])
    return _any([Q(_links(field, Q(**{f"{field.target}_id__in": keys}))), *by_name]) if keys else _any(by_name)


def _links(field: Field, wanted: Q | None = None) -> Exists:
    through = cast("type[Model]", field.through)
    links = through._default_manager.filter(**{f"{field.lookup}_id": OuterRef("pk")})
    return Exists(links.filter(wanted) if wanted else links)


def _value(value: Any, kind: Kind) -> int | str | uuid.UUID:
    try:
        if kind == "number":
            return min(max(int(value), -(2**31)), 2**31 - 1)
        if kind == "id":
            return parse_id(value)
    except (ValueError, TypeError, OverflowError, NotFound) as problem:
        raise ListQueryInvalid("Invalid filters: a value does not fit its field.") from problem
    return storable(str(value))
