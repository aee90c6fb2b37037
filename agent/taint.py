"""Does an argument carry text of the document? A run of 40 characters or more says so; case and spaces do not count."""

from collections.abc import Iterable, Iterator
from typing import Any

RUN = 40
_BLOCK = 20
_FREE = {"update_extraction_field": {"value"}, "update_document": {"metadata", "document_name"}}
"""Arguments that are meant to hold the document's own words."""


class DocumentText:
    """A document's text, indexed so that long arguments are checked in one pass.

    Any run of 40 characters covers a whole block of 20 that begins at a multiple of 20 in the document.
    """

    def __init__(self, text: str) -> None:
        self._text = _plain(text)
        self._blocks: dict[str, list[int]] = {}
        for start in range(0, len(self._text) - _BLOCK + 1, _BLOCK):
            places = self._blocks.setdefault(self._text[start : start + _BLOCK], [])
            if len(places) < 50:
                places.append(start)

    def shares_a_run(self, text: str) -> bool:
        """Whether 40 characters in a row stand in the document too."""
        plain = _plain(text)
        for start in range(len(plain) - _BLOCK + 1):
            for place in self._blocks.get(plain[start : start + _BLOCK], ()):
                if self._run_around(plain, start, place) >= RUN:
                    return True
        return False

    def taints(self, name: str, arguments: dict[str, Any]) -> bool:
        """Whether a write's arguments carry the document's text where it is not expected."""
        free = _FREE.get(name, set())
        return any(self.shares_a_run(text) for text in _strings(arguments, free) if len(text) >= RUN)

    def _run_around(self, plain: str, start: int, place: int) -> int:
        before = 0
        while (
            before < RUN and before < min(start, place) and plain[start - before - 1] == self._text[place - before - 1]
        ):
            before += 1
        length = _BLOCK
        room = min(len(plain) - start, len(self._text) - place)
        while length < room and length < RUN and plain[start + length] == self._text[place + length]:
            length += 1
        return before + length


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _strings(arguments: dict[str, Any], free: Iterable[str]) -> Iterator[str]:
    for key, value in arguments.items():
        if key not in free:
            yield from _all_strings(value)


def _all_strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _all_strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _all_strings(item)
