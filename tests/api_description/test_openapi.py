"""The description that is checked in is the one that the code gives, without a warning."""

from pathlib import Path

import yaml
from django.core.management import call_command
from pydantic import BaseModel

CHECKED_IN = Path(__file__).resolve().parents[2] / "docs/openapi.yaml"
METHODS = {"get", "post", "put", "patch", "delete"}


def test_the_description_that_is_checked_in_is_the_present_one(tmp_path: Path) -> None:
    """Raises when the generator warns, or when the result is no valid OpenAPI."""
    fresh = tmp_path / "openapi.yaml"
    call_command("spectacular", "--file", str(fresh), "--validate", "--fail-on-warn")
    assert CHECKED_IN.read_text(encoding="utf-8") == fresh.read_text(encoding="utf-8"), "run: make openapi"


def test_every_operation_is_described_for_people_and_programs() -> None:
    described = yaml.load(CHECKED_IN.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    assert described["openapi"].startswith("3.1")
    operations = [
        operation for path in described["paths"].values() for method, operation in path.items() if method in METHODS
    ]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names)) > 80
    assert [one["operationId"] for one in operations if not one.get("summary") or not one.get("tags")] == []
    undescribed = [
        one["operationId"]
        for one in operations
        if not {"200", "201", "202", "204"} & set(one["responses"]) or "429" not in one["responses"]
    ]
    assert undescribed == []
    without_example = [
        one["operationId"]
        for one in operations
        for kind, content in one.get("requestBody", {}).get("content", {}).items()
        if kind == "application/json" and "examples" not in content
    ]
    assert without_example == [], "a request with a body shows one"


def test_no_two_models_share_a_name() -> None:
    """A component is known by its class's name: the second of a name would be described as the first."""
    modules: dict[str, set[str]] = {}
    waiting = list(BaseModel.__subclasses__())
    while waiting:
        model = waiting.pop()
        waiting += model.__subclasses__()
        if ".api." in model.__module__ and not model.__module__.startswith("tests"):
            modules.setdefault(model.__name__, set()).add(model.__module__)
    assert len(modules) > 150
    assert {name: places for name, places in modules.items() if len(places) > 1} == {}
