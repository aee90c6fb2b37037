"""`$ref` inside a schema: only local pointers, which must lead somewhere and not in a circle."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from schemas_app.problems import Problem, join

_DATA = frozenset({"const", "enum", "default", "examples"})
_NAMED = frozenset({"properties", "patternProperties", "definitions", "$defs", "dependencies"})


def without_identity(node: Any, *, named: bool = False) -> Any:
    """A copy without `$id` and `$schema`: nothing in it can name another document or another dialect.

    `named` says that the keys of this object are names of a person's choice, not keywords.
    """
    if isinstance(node, list):
        return [without_identity(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: value if key in _DATA and not named else without_identity(value, named=key in _NAMED and not named)
        for key, value in node.items()
        if named or key not in ("$id", "$schema")
    }


def resolve(root: Any, pointer: str) -> Any:
    """Follow a local JSON pointer ("#/definitions/line").

    Raises: LookupError when it leads nowhere.
    """
    if pointer != "#" and not pointer.startswith("#/"):
        raise LookupError(pointer)
    node = root
    for step in pointer[2:].split("/") if len(pointer) > 1 else []:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and name.isdecimal() and int(name) < len(node):
            node = node[int(name)]
        elif isinstance(node, dict) and name in node:
            node = node[name]
        else:
            raise LookupError(pointer)
    return node


def reference_problems(root: dict[str, Any]) -> list[Problem]:
    """References that lead outside, nowhere, or only to one another."""
    problems = []
    for path, pointer in _references(root, "", named=False):
        if not pointer.startswith("#"):
            problems.append(Problem(path, "references leave the schema; copy the definition to #/definitions/…"))
            continue
        try:
            circular = _circles(root, pointer)
        except LookupError:
            problems.append(Problem(path, "points to nothing; add it to definitions or correct the name"))
        else:
            if circular:
                problems.append(Problem(path, "refers to itself without end; point it to a definition"))
    return problems


def _circles(root: dict[str, Any], pointer: str) -> bool:
    met = set()
    while pointer not in met:
        met.add(pointer)
        target = resolve(root, pointer)
        if not isinstance(target, (dict, bool)):
            raise LookupError(pointer)
        following = target.get("$ref") if isinstance(target, dict) else None
        if not isinstance(following, str):
            return False
        pointer = following
    return True


def _references(node: Any, path: str, *, named: bool) -> Iterator[tuple[str, str]]:
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from _references(item, join(path, index), named=False)
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        if key == "$ref" and not named and isinstance(value, str):
            yield join(path, key), value
        elif named or key not in _DATA:
            yield from _references(value, join(path, key), named=key in _NAMED and not named)
