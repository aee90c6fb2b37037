"""One schema over JSON, with the delete that looks at which prompts use it."""

import json

from rest_framework.request import Request

from core.api.bodies import Message
from core.api.operations import operation
from prompts_app.services import delete_schema
from schemas_app.api.views import SchemaView
from schemas_app.errors import SchemaInUse


class DeletableSchemaView(SchemaView):
    """One schema."""

    @operation(
        "delete_schema", "Delete a schema that no prompt uses, by its schema_id", tag="Schemas", answer=Message,
        errors=(400, 404),
    )  # fmt: skip
    def delete(self, request: Request, schema_id: str) -> Message:
        try:
            delete_schema(actor=self.actor, schema_id=schema_id)
        except SchemaInUse as problem:  # the sentence that clients of the reference know
            users = json.dumps(problem.extra["dependents"], ensure_ascii=False)
            sentence = f"Cannot delete schema because it has dependent prompts:{users}"
            raise SchemaInUse(sentence, **problem.extra) from problem
        return Message(message="Schema deleted successfully")
