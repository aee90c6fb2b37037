"""Schemas as the wire has them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from core.api.bodies import Answer, Body
from core.ids import show_id
from schemas_app.errors import SchemaInvalid
from schemas_app.models import SchemaRevision
from schemas_app.validation import check_response_format


def _checked(response_format: dict[str, Any]) -> dict[str, Any]:
    try:
        return check_response_format(response_format)
    except SchemaInvalid as problem:
        raise ValueError(problem.detail) from problem


ResponseFormat = Annotated[
    dict[str, Any],
    AfterValidator(_checked),
    Field(description='{"type": "json_schema", "json_schema": {"name", "strict", "schema": JSON Schema, Draft 7}}'),
]


class SchemaBody(Body):
    """A name, and what the answer of a model has to look like."""

    name: str
    response_format: ResponseFormat


class SchemaUpdate(Body):
    """At least one of them. Only another name renames in place; anything else makes a new version."""

    name: str | None = None
    response_format: ResponseFormat | None = None

    @model_validator(mode="after")
    def _has_something(self) -> "SchemaUpdate":
        if self.name is None and self.response_format is None:
            raise ValueError("At least one of name and response_format is required")
        return self


class DataBody(Body):
    """What to hold against a schema."""

    data: Any = Field(description="Any JSON value; usually an object")


class SchemaAnswer(Answer):
    """One version. `schema_id` is the same for all versions, `schema_revid` is this one's.

    `pending_review`: the agent made it by itself, and nobody has accepted it yet.
    """

    schema_revid: str
    schema_id: str
    schema_version: int
    name: str
    response_format: dict[str, Any]
    created_at: datetime
    created_by: str
    pending_review: bool

    @classmethod
    def of(cls, revision: SchemaRevision) -> "SchemaAnswer":
        """The row as an answer; its schema is best fetched already."""
        return cls(
            schema_revid=show_id(revision.pk),
            schema_id=show_id(revision.schema_id),
            schema_version=revision.version,
            name=revision.schema.name,
            response_format=revision.response_format,
            created_at=revision.created_at,
            created_by=show_id(revision.created_by_id) if revision.created_by_id else "",
            pending_review=revision.schema.pending_review,
        )


class SchemasAnswer(Answer):
    schemas: list[SchemaAnswer]
    total_count: int
    skip: int


class DataProblem(Answer):
    """`path`: dotted, as in `lines.0.total`; empty for the whole."""

    path: str
    message: str


class DataFits(Answer):
    """The data is what the schema says."""

    valid: Literal[True] = True


class DataChecked(Answer):
    """Whether the data is what the schema says; when not, why not."""

    valid: bool
    errors: list[DataProblem] = []
