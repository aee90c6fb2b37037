"""The leaves of a result: every value at the end of a path."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from documents.page_words import Hit


@dataclass(slots=True)
class Leaf:
    """One value and where it may stand. `doubtful`: it is what stands there in one reading of two."""

    path: str
    value: Any
    hits: list[Hit] = field(default_factory=list)
    doubtful: bool = False
    settled: Hit | None = None

    @property
    def row(self) -> str:
        """The array element that the leaf belongs to ("lines.0"), "" for none."""
        parts = self.path.split(".")
        last = max((i for i, part in enumerate(parts) if part.isdigit()), default=-1)
        return ".".join(parts[: last + 1])

    @property
    def column(self) -> str:
        """What leaves of one name in all elements of an array share: "lines.total"."""
        row = self.row
        return row.rpartition(".")[0] + self.path[len(row) :]


def leaves_of(data: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf with its dotted path; list positions are numbers."""
    if isinstance(data, dict) and data:
        for key, value in data.items():
            yield from leaves_of(value, f"{path}.{key}" if path else str(key))
    elif isinstance(data, list) and data:
        for position, value in enumerate(data):
            yield from leaves_of(value, f"{path}.{position}" if path else str(position))
    elif path:
        yield path, data


def is_empty(value: Any) -> bool:
    """The schema rules' way to say "not in the document". A printed zero and an empty box are looked for all the
    same."""
    return value is None or value is False or value in ("", [], {}) or (isinstance(value, str) and not value.strip())


def texts_of_rows(leaves: list[Leaf]) -> dict[str, list[str]]:
    """The texts of each array element, by its path."""
    texts: dict[str, list[str]] = {}
    for leaf in leaves:
        if leaf.row and isinstance(leaf.value, str) and leaf.value.strip():
            texts.setdefault(leaf.row, []).append(leaf.value)
    return texts
