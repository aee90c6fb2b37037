"""Schemas over JSON. Deleting one is a view of `prompts_app`, which knows what uses it."""

from rest_framework.request import Request

from core.api.bodies import GridQuery
from core.api.operations import operation
from organizations.api.doors import OrganizationView
from schemas_app import selectors, services
from schemas_app.api.bodies import (
    DataBody,
    DataChecked,
    DataFits,
    DataProblem,
    SchemaAnswer,
    SchemaBody,
    SchemasAnswer,
    SchemaUpdate,
)
from schemas_app.validation import validate_data

EXAMPLE = {
    "name": "Invoice",
    "response_format": {
        "type": "json_schema",
        "json_schema": {
            "name": "invoice",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {"total": {"type": "number", "description": "What is to be paid"}},
                "required": ["total"],
                "additionalProperties": False,
            },
        },
    },
}


class SchemasView(OrganizationView):
    """The organization's schemas."""

    @operation(
        "list_schemas", "List the latest version of each schema", tag="Schemas", answer=SchemasAnswer, query=GridQuery,
        errors=(400,),
    )  # fmt: skip
    def get(self, request: Request) -> SchemasAnswer:
        found = selectors.list_schemas(actor=self.actor, **self.query(GridQuery).model_dump())
        shown = [SchemaAnswer.of(revision) for revision in found.rows]
        return SchemasAnswer(schemas=shown, total_count=found.total_count, skip=found.skip)

    @operation(
        "create_schema", "Make a schema, or a new version of the one with this name", tag="Schemas",
        answer=SchemaAnswer, body=SchemaBody, errors=(400,), example=EXAMPLE,
    )  # fmt: skip
    def post(self, request: Request) -> SchemaAnswer:
        body = self.body(SchemaBody)
        saved = services.create_schema(actor=self.actor, name=body.name, response_format=body.response_format)
        return SchemaAnswer.of(saved.revision)


class SchemaView(OrganizationView):
    """One schema: read by the id of a version, changed by the id of all its versions."""

    @operation(
        "get_schema", "Read one version of a schema, by its schema_revid", tag="Schemas", answer=SchemaAnswer,
        errors=(404,),
    )  # fmt: skip
    def get(self, request: Request, schema_id: str) -> SchemaAnswer:
        return SchemaAnswer.of(selectors.get_revision(actor=self.actor, schema_revid=schema_id))

    @operation(
        "update_schema", "Change a schema, by its schema_id", tag="Schemas", answer=SchemaAnswer, body=SchemaUpdate,
        errors=(400, 404, 409), example={"name": "Invoices we got"},
    )  # fmt: skip
    def put(self, request: Request, schema_id: str) -> SchemaAnswer:
        body = self.body(SchemaUpdate)
        saved = services.update_schema(
            actor=self.actor, schema_id=schema_id, name=body.name, response_format=body.response_format
        )
        return SchemaAnswer.of(saved.revision)


class SchemaVersionsView(OrganizationView):
    """Every version of a schema."""

    @operation(
        "list_schema_versions", "List every version of a schema, newest first", tag="Schemas", answer=SchemasAnswer,
        errors=(404,),
    )  # fmt: skip
    def get(self, request: Request, schema_id: str) -> SchemasAnswer:
        versions = selectors.list_versions(actor=self.actor, schema_id=schema_id)
        shown = [SchemaAnswer.of(revision) for revision in versions]
        return SchemasAnswer(schemas=shown, total_count=len(shown), skip=0)


class SchemaValidateView(OrganizationView):
    """Data held against one version of a schema."""

    @operation(
        "validate_against_schema", "Check data against one version of a schema", tag="Schemas", answer=DataChecked,
        body=DataBody, errors=(404,), example={"data": {"total": 12.5}},
    )  # fmt: skip
    def post(self, request: Request, schema_revid: str) -> DataFits | DataChecked:
        data = self.body(DataBody).data
        revision = selectors.get_revision(actor=self.actor, schema_revid=schema_revid)
        problems = validate_data(revision.response_format, data)
        if not problems:
            return DataFits()
        return DataChecked(valid=False, errors=[DataProblem(**problem) for problem in problems])
