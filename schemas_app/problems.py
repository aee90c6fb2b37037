"""What is wrong at a place of a schema, with its mend; and the limits that keep every later walk short."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from schemas_app.naming import is_storable

MAX_DEPTH = 50
MAX_NODES = 20_000
MAX_TEXT = 20_000
MAX_PROBLEMS = 20
MAX_INTEGER_BITS = 1024


@dataclass(frozen=True, slots=True)
class Problem:
    """`path` is dotted ("properties.lines.items"); `message` says what to do."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def size_problem(value: object) -> Problem | None:
    """The first limit that a JSON value breaks: depth, number of values, length and content of texts and numbers."""
    waiting: list[tuple[object, int]] = [(value, 1)]
    seen = 0
    while waiting:
        node, depth = waiting.pop()
        seen += 1
        if depth > MAX_DEPTH:
            return Problem("", f"nested too deeply; at most {MAX_DEPTH} levels")
        if seen > MAX_NODES:
            return Problem("", f"too large; at most {MAX_NODES} values")
        message = _leaf_message(node)
        if message:
            return Problem("", message)
        waiting.extend((child, depth + 1) for child in _children(node))
    return None


def _children(node: object) -> Iterator[Any]:
    if isinstance(node, dict):
        yield from node.keys()
        yield from node.values()
    elif isinstance(node, list):
        yield from node


def _leaf_message(node: object) -> str:
    if isinstance(node, str):
        if len(node) > MAX_TEXT:
            return f"a text is too long; at most {MAX_TEXT} characters"
        return (
            "" if is_storable(node) else "a text has characters that cannot be stored; remove NUL and lone surrogates"
        )
    if isinstance(node, int) and node.bit_length() > MAX_INTEGER_BITS:
        return "a number is too large"
    if isinstance(node, float) and not math.isfinite(node):
        return "NaN and Infinity are not JSON; use a number"
    if node is not None and not isinstance(node, (str, int, float, dict, list)):
        return "only JSON values are allowed"
    return ""


def join(path: str, *steps: object) -> str:
    """Lengthen a dotted path."""
    return ".".join([*([path] if path else []), *(str(step) for step in steps)])
