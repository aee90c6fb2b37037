"""What is a schema, what is a strict one, and what fits it; nothing hangs or crashes the check."""

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas_app.errors import SchemaInvalid
from schemas_app.validation import (
    all_problems,
    check_response_format,
    check_strict,
    format_problems,
    parse_json,
    validate_data,
    warnings,
)
from tests.schemas.bodies import response_format, wrapping

LINE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "amount": {"type": "number"}},
    "required": ["name", "amount"],
    "additionalProperties": False,
}
GOOD = response_format(total="number", paid="boolean", lines={"type": "array", "items": LINE}, seller=LINE)


def nested(levels: int) -> dict[str, Any]:
    node: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        node = {"type": "array", "items": node}
    return response_format(deep=node)


def changed(path: str, value: Any) -> dict[str, Any]:
    """GOOD with the value at a dotted path of the inner schema replaced; `...` takes it out."""
    body = json.loads(json.dumps(GOOD))
    node = body["json_schema"]["schema"]
    *steps, last = path.split(".")
    for step in steps:
        node = node[step]
    if value is ...:
        del node[last]
    else:
        node[last] = value
    return body


def test_a_good_schema_passes_both_checks() -> None:
    assert check_response_format(GOOD) is GOOD
    assert check_strict(GOOD) is GOOD
    assert warnings(GOOD) == []


@pytest.mark.parametrize(
    "body",
    [
        None, [], "text", 5, {}, {"type": "json_object"}, {"type": "json_schema"},
        {"type": "json_schema", "json_schema": []},
        {"type": "json_schema", "json_schema": {"name": "x"}},
        {"type": "json_schema", "json_schema": {"schema": {}}},
        {"type": "json_schema", "json_schema": {"name": " ", "schema": {}}},
        {"type": "json_schema", "json_schema": {"name": 3, "schema": {}}},
        {"type": "json_schema", "json_schema": {"name": "x", "schema": []}},
        {"type": "json_schema", "json_schema": {"name": "x", "schema": True}},
        wrapping({"type": "objekt"}), wrapping({"type": 5}), wrapping({"type": ["string", "nothing"]}),
        wrapping({"properties": []}), wrapping({"properties": {"a": 5}}), wrapping({"required": "a"}),
        wrapping({"required": ["a", "a"]}), wrapping({"items": 7}), wrapping({"enum": "a"}),
        wrapping({"minimum": "1"}), wrapping({"minLength": -1}), wrapping({"multipleOf": 0}),
        wrapping({"pattern": "("}), wrapping({"pattern": "a" * 1001}), wrapping({"patternProperties": {"[": {}}}),
        wrapping({"$ref": "http://127.0.0.1:1/schema"}), wrapping({"$ref": "file:///etc/passwd"}),
        wrapping({"$ref": "other.json"}), wrapping({"$ref": "#/definitions/none"}), wrapping({"$ref": "#"}),
        wrapping({"$ref": "#anchor"}), wrapping({"$ref": "#/definitions/a", "definitions": {"a": 4}}),
        wrapping({"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "#/definitions/b"},
                                                            "b": {"$ref": "#/definitions/a"}}}),
        wrapping({"allOf": [{"$ref": "#"}]}), wrapping({"title": "\0"}), wrapping({"title": "\ud800"}),
        wrapping({"maximum": float("nan")}), wrapping({"maximum": float("inf")}), wrapping({"maximum": 10**400}),
        wrapping({"default": object()}), wrapping({"description": "x" * 20_001}),
        wrapping({"enum": list(range(20_001))}), nested(60),
    ],
)  # fmt: skip
def test_what_the_server_refuses(body: Any) -> None:
    with pytest.raises(SchemaInvalid) as caught:
        check_response_format(body)
    assert caught.value.fields
    assert caught.value.detail


@pytest.mark.parametrize(
    "inner",
    [
        {}, {"type": "object"}, {"properties": {"a": True}}, {"type": ["string", "null"]},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"},
        {"$id": "http://[", "type": "object"}, {"properties": {"$ref": {"type": "string"}, "$id": {"type": "string"}}},
        {"properties": {"node": {"$ref": "#/definitions/node"}},
         "definitions": {"node": {"properties": {"next": {"$ref": "#/definitions/node"}}}}},
        {"$defs": {"a/b~c": {"type": "string"}}, "properties": {"x": {"$ref": "#/$defs/a~1b~0c"}}},
        {"const": {"$ref": "http://elsewhere"}, "unknownKeyword": 5},
    ],
)  # fmt: skip
def test_what_the_server_takes_though_it_is_not_strict(inner: Any) -> None:
    assert format_problems(wrapping(inner)) == []


@pytest.mark.parametrize(
    ("body", "path", "mend"),
    [
        (changed("required", ["paid", "lines", "seller"]), "properties.total", "add it to required"),
        (changed("required", [*GOOD["json_schema"]["schema"]["required"], "gone"]), "required.gone", "remove it"),
        (changed("required", ...), "required", "add it"),
        (changed("additionalProperties", ...), "additionalProperties", "set it to false"),
        (changed("additionalProperties", True), "additionalProperties", "set it to false"),
        (changed("type", "array"), "type", "object"),
        (changed("type", ...), "type", "object"),
        (changed("properties", ...), "properties", "add it"),
        (response_format(), "properties", "at least one field"),
        (changed("properties.total.type", ...), "properties.total.type", "use one of string"),
        (changed("properties.total.type", "null"), "properties.total.type", "use one of string"),
        (changed("properties.total.type", ["string", "null"]), "properties.total.type", "use one of string"),
        (changed("properties.total", True), "properties.total", "an object that has a type"),
        (changed("properties.lines.items", ...), "properties.lines", "add items"),
        (changed("properties.lines.items", [LINE]), "properties.lines.items", "one object"),
        (changed("properties.lines.items.required", ["name"]), "properties.lines.items.properties.amount", "add it"),
        (changed("properties.lines.items.additionalProperties", ...),
         "properties.lines.items.additionalProperties", "set it to false"),
        (changed("properties.seller.required", ...), "properties.seller.required", "add it"),
        (changed("properties.seller.properties", ...), "properties.seller.properties", "add it"),
        (wrapping(LINE, strict=False), "json_schema.strict", "set it to true"),
        (wrapping(LINE, strict=1), "json_schema.strict", "set it to true"),
    ],
)  # fmt: skip
def test_a_strict_error_names_path_and_mend(body: Any, path: str, mend: str) -> None:
    assert format_problems(body) == []
    with pytest.raises(SchemaInvalid) as caught:
        check_strict(body)
    assert mend in caught.value.fields[path]
    assert f"{path}: {caught.value.fields[path]}" in caught.value.detail


def test_strict_follows_references_and_refuses_circles() -> None:
    tree = {"type": "object", "properties": {"child": {"$ref": "#/definitions/tree"}}, "required": ["child"]}
    body = response_format(root={"$ref": "#/definitions/tree"})
    body["json_schema"]["schema"]["definitions"] = {"tree": {**tree, "additionalProperties": False}}
    assert [str(problem) for problem in all_problems(body)] == [
        "properties.root.properties.child: refers to itself; spell out the levels that you need"
    ]


def test_keywords_that_models_ignore_are_warnings_not_errors() -> None:
    body = response_format(state={"type": "string", "enum": ["open", "paid"]})
    assert check_strict(body)
    assert [problem.path for problem in warnings(body)] == ["properties.state.enum"]


@pytest.mark.parametrize(
    ("data", "paths"),
    [
        ({"total": 1.5, "paid": True, "lines": [], "seller": {"name": "a", "amount": 1}}, []),
        ({"total": "1", "paid": 1, "lines": [], "seller": {"name": "a", "amount": 1}}, ["paid", "total"]),
        ({"paid": True, "lines": [{}], "seller": None, "total": 0}, ["lines.0.amount", "lines.0.name", "seller"]),
        ({"total": 1, "paid": True, "lines": [], "seller": {"name": "", "amount": 0}, "more": 1}, ["more"]),
        ([], [""]),
    ],
)
def test_data_is_held_against_the_schema(data: Any, paths: list[str]) -> None:
    assert [problem["path"] for problem in validate_data(GOOD, data)] == paths


def doubling(levels: int) -> dict[str, Any]:
    """Each definition asks for the next one twice: 2^levels checks."""
    definitions: dict[str, Any] = {f"d{n}": {"allOf": [{"$ref": f"#/definitions/d{n + 1}"}] * 2} for n in range(levels)}
    return {"properties": {"a": {"$ref": "#/definitions/d0"}}, "definitions": {**definitions, f"d{levels}": {}}}


@pytest.mark.parametrize(
    ("inner", "data"),
    [
        ({"properties": {"a": {"pattern": "^(a|aa)+$"}}}, {"a": "a" * 80 + "!"}),
        ({"patternProperties": {"^(a|aa)+$": {}}}, {"a" * 80 + "!": 1}),
        (doubling(40), {"a": 1}),
    ],
)
def test_a_check_that_would_not_end_is_given_up(inner: Any, data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schemas_app.checking.CHECK_SECONDS", 0.2)
    started = time.monotonic()
    problems = validate_data(wrapping(inner), data)
    assert time.monotonic() - started < 1
    assert "too long" in problems[0]["message"]


def test_odd_numbers_and_large_lists_do_not_crash() -> None:
    assert validate_data(wrapping({"multipleOf": 0.5}), 10**300) == []
    assert validate_data(wrapping({"multipleOf": 1e-300}), 1e300) is not None
    assert validate_data(wrapping({"uniqueItems": True}), [{"a": n} for n in range(5000)]) == []
    assert validate_data(wrapping({"uniqueItems": True}), [{"a": 1}, {"a": 1}])
    assert validate_data(wrapping({}), [0] * 20_001)[0]["message"].startswith("too large")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a": 1,}', "1" * 5000, "'a'", "x" * 500_001, "NaN]"])
def test_text_that_is_not_json_is_refused_with_the_place(text: str) -> None:
    with pytest.raises(SchemaInvalid):
        parse_json(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "items", "required", "$ref", "allOf", "enum", "pattern", "a"])
            | st.text(max_size=3),
            inner | st.sampled_from(["object", "string", "#", "#/properties/a", "^a"]),
            max_size=5,
        )
    ),
    max_leaves=25,
)


@settings(max_examples=150, deadline=2000)
@given(JSON, JSON)
def test_whatever_comes_is_judged_and_never_crashes(inner: Any, data: Any) -> None:
    body = wrapping(inner)
    if not format_problems(body):
        found = [*all_problems(body), *warnings(body)]
        assert all(problem.message for problem in found)
        assert all(set(error) == {"path", "message"} for error in validate_data(body, data))
