"""The OpenAPI description: pydantic models as components, one kind of credential, path parameters that are ids."""

from typing import Any

from drf_spectacular.drainage import set_override
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from pydantic.json_schema import JsonSchemaMode, model_json_schema

SECURITY_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An access token, or a signed session"},
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": "An access token"},
}


class ModelExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]  # a plug-in by subclassing
    """pydantic models: what may be left out of a request is not the same as what may be missing in an answer."""

    target_class = "pydantic.BaseModel"
    match_subclasses = True
    priority = 1

    def get_name(self, auto_schema: AutoSchema, direction: str) -> str:
        """The class's own name: each model is used in one direction only."""
        set_override(self.target, "suppress_collision_warning", True)  # it may stand inside another one as well
        name: str = self.target.__name__
        return name

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        """The model's schema; the models inside become components of their own."""
        mode: JsonSchemaMode = "validation" if direction == "request" else "serialization"
        described = model_json_schema(self.target, ref_template="#/components/schemas/{model}", mode=mode)
        for name, inner in described.pop("$defs", {}).items():
            component = ResolvedComponent(name, ResolvedComponent.SCHEMA, inner, name)  # type: ignore[no-untyped-call]  # its stubs say nothing
            auto_schema.registry.register_on_missing(component)
        return described


class ApiSchema(AutoSchema):
    """How this project's views describe themselves; `core.api.operations.operation` gives the rest."""

    def get_auth(self) -> list[dict[str, Any]]:
        return [{"bearer": []}, {"apiKey": []}]

    def _resolve_path_parameters(self, variables: list[str]) -> list[Any]:
        return [{"in": "path", "name": name, "required": True, "schema": {"type": "string"}} for name in variables]


def finish_schema(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Called last: the credentials, once."""
    result.setdefault("components", {})["securitySchemes"] = SECURITY_SCHEMES
    return result
