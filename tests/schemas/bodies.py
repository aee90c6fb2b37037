"""Response formats for tests."""

from typing import Any


def response_format(**fields: Any) -> dict[str, Any]:
    """A strict one; each field is a type or a whole description."""
    properties = {name: {"type": field} if isinstance(field, str) else field for name, field in fields.items()}
    return {
        "type": "json_schema",
        "json_schema": {
            "name": "made_for_tests",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": properties,
                "required": list(properties),
                "additionalProperties": False,
            },
        },
    }


def wrapping(inner: Any, **envelope: Any) -> dict[str, Any]:
    """A response format around an inner schema as it is."""
    return {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": inner, **envelope}}
