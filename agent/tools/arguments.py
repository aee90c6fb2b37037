"""Types of arguments that several tools share, and the words of their summaries."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from schemas_app.errors import SchemaInvalid
from schemas_app.presentation import field_rows
from schemas_app.validation import check_strict

Json = dict[str, Any]


def _strict(value: Json) -> Json:
    """Refuse before a card is shown what the service would refuse after it was approved."""
    try:
        return check_strict(value)
    except SchemaInvalid as problem:
        raise ValueError(problem.detail) from problem


ResponseFormat = Annotated[
    Json,
    Field(
        description=(
            'The whole response_format: {"type": "json_schema", "json_schema": {"name", "strict": true, "schema": '
            '{"type": "object", "properties", "required": every property, "additionalProperties": false}}}. '
            "See help_schemas; validate_schema must pass first."
        )
    ),
    AfterValidator(_strict),
]
Skip = Annotated[int, Field(ge=0, description="How many to leave out from the start.")]
Limit = Annotated[int, Field(ge=1, le=100, description="How many to return, at most 100.")]
NameSearch = Annotated[str | None, Field(description="Part of the name, without case.")]
Sort = Annotated[str | None, Field(description='JSON text: [{"field": "name", "sort": "asc"}].')]
Filters = Annotated[
    str | None,
    Field(description='JSON text: {"items": [{"field": "name", "operator": "contains", "value": "x"}]}.'),
]
TagIds = Annotated[list[str] | None, Field(description="Ids of tags.")]


def quoted(name: object) -> str:
    """A name in a summary."""
    return f"“{str(name)[:100]}”"


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def field_count(response_format: object) -> str:
    """How many fields a schema has at its first level, in words."""
    return count(sum(row.depth == 0 for row in field_rows(response_format)), "field")
