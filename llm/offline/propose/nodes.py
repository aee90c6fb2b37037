"""The JSON schema nodes of fields, by the strict rules: every property required, nothing beside them."""

from typing import Any

from llm.offline.matching.lexicon import Concept
from llm.offline.matching.words import words_of

Schema = dict[str, Any]
_TYPES = {"amount": "number", "percent": "number", "boolean": "boolean"}


def field_node(json_type: str, about: str) -> Schema:
    """A leaf."""
    return {"type": json_type, "description": about}


def concept_node(concept: Concept) -> Schema:
    """The leaf for a concept."""
    return field_node(_TYPES.get(concept.kind, "string"), concept.about)


def object_node(properties: dict[str, Schema], about: str = "") -> Schema:
    """An object by the strict rules."""
    node: Schema = {"type": "object"}
    if about:
        node["description"] = about
    return {**node, "properties": properties, "required": list(properties), "additionalProperties": False}


def rows_node(properties: dict[str, Schema], about: str) -> Schema:
    """A table."""
    return {"type": "array", "description": about, "items": object_node(properties)}


def response_format(name: str, properties: dict[str, Schema]) -> Schema:
    """The whole response_format. `name` becomes an identifier as providers demand it."""
    plain = "_".join(words_of(name)) or "document"
    identifier = "".join(char if char.isascii() and (char.isalnum() or char in "_-") else "_" for char in plain)[:60]
    return {
        "type": "json_schema",
        "json_schema": {"name": identifier, "schema": object_node(properties), "strict": True},
    }


def address_node(role: str, parts: list[str]) -> Schema:
    """An address with the parts that the document has."""
    about = {
        "line1": "Street and number",
        "line2": "Second line of the address",
        "postcode": "Postal code",
        "city": "City",
        "state": "State",
        "country": "Country, as printed",
    }
    return object_node(
        {part: field_node("string", about[part]) for part in about if part in parts}, f"Address of the {role}"
    )
