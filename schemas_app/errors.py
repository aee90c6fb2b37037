"""What can go wrong with schemas, in sentences for a person."""

from core.errors import Conflict, Invalid, NotFound


class SchemaNotFound(NotFound):
    code = "schema_not_found"
    detail = "Schema not found"


class SchemaInvalid(Invalid):
    """`fields` maps the path in the response format to what to do about it."""

    code = "schema_invalid"
    detail = "This schema is not valid."


class NameInvalid(Invalid):
    code = "name_invalid"
    detail = "A name needs 1 to 200 printable characters."


class NothingToUpdate(Invalid):
    code = "nothing_to_update"
    status = 422
    detail = "Give a name or a response_format."


class SchemaNameTaken(Conflict):
    code = "schema_name_taken"
    detail = "A schema with this name already exists."


class SchemaInUse(Conflict):
    code = "schema_in_use"
    status = 400
    detail = "Prompts use this schema."


class SchemaChanged(Conflict):
    """Somebody saved a newer version in the meantime."""

    code = "schema_changed"
    detail = "The schema was changed since."
