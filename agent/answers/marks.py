"""Citations in a model's text, as it streams: taken out, so that nobody who reads the answer sees a mark.

The form is `[[p3: words]]`; `[p3: "words"]`, which models like to make of it, is understood too. `[[none]]` says that
the document does not answer the question. What may become a mark is held back until it is clear what it is.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 1500
"""Units: characters. What is open for longer is no citation: it is thrown away up to the end of its line."""

_START = re.compile(r"\[(?P<double>\[)?\s*(?:p(?:age|g|\.)?|seite|s\.)\s*(?P<page>\d{1,6})\s*[:,]\s*", re.IGNORECASE)
_NONE = re.compile(r"\[\[?\s*none\s*\]\]?", re.IGNORECASE)
_MAYBE = re.compile(
    r"\[(?:\[|\[?\s*(?:p|pa|pag|page|pg|p\.|s|s\.|se|sei|seit|seite|n|no|non|none)?"
    r"|\[?\s*(?:p(?:age|g|\.)?|seite|s\.)\s*\d{0,6}\s*|\[?\s*none\s*\]?)?\Z",
    re.IGNORECASE,
)
_QUOTES = "\"'“”„«»‚‘’`"


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation as the model gave it, unchecked. `page` is 0 for a mark that never ended."""

    page: int
    quote: str


class NothingFound:
    """The model says that the document has no answer."""


Piece = str | Mark | NothingFound


class MarkReader:
    """Feed it text, get text without marks and the marks, in order."""

    def __init__(self) -> None:
        self._held = ""
        self._clear = ""
        self._begun = False
        self._skips = False

    def feed(self, text: str) -> Iterator[Piece]:
        """What is clear by now."""
        self._held += text
        return self._read(ended=False)

    def close(self) -> Iterator[Piece]:
        """The text is over: what is left, without blanks at its end."""
        return self._read(ended=True)

    def _read(self, *, ended: bool) -> Iterator[Piece]:
        if self._skips:
            line = self._held.find("\n")
            self._skips, self._held = line < 0, self._held[line:] if line >= 0 else ""
        while self._held:
            at = self._held.find("[")
            found = (len(self._held), None) if at < 0 else self._mark(at, ended=ended)
            if found is None:
                self._clear, self._held = self._clear + self._held[:at], self._held[at:]
                break
            end, mark = found
            self._clear += self._held[: at if mark else end]
            self._held = self._held[end:]
            if mark:
                yield from self._say()
                self._clear = ""
                yield mark
        yield from self._say()

    def _say(self) -> Iterator[str]:
        """Let clear text through; blanks at its end wait, as a mark or the end takes them with it."""
        said = self._clear.rstrip()
        self._clear = self._clear[len(said) :]
        said = said if self._begun else said.lstrip()
        if said:
            self._begun = True
            yield said

    def _mark(self, at: int, *, ended: bool) -> tuple[int, Piece | None] | None:
        """What stands at a bracket: where it ends, and the mark, or None when it is only text.

        Returns: None while it is not clear yet.
        """
        text = self._held
        if none := _NONE.match(text, at):
            whole = none[0].startswith("[[") <= none[0].endswith("]]")
            if whole or ended or len(text) > none.end():
                return none.end(), NothingFound()
            return None
        start = _START.match(text, at)
        if start is None:
            return None if not ended and _MAYBE.match(text, at) else (at + 1, None)
        return self._cited(start, ended=ended)

    def _cited(self, start: re.Match[str], *, ended: bool) -> tuple[int, Piece | None] | None:
        text, begin = self._held, start.end()
        end, length = _closing(text, begin, double=bool(start["double"]), ended=ended)
        if end < 0 and not ended and len(text) - begin <= LONGEST:
            return None
        if end < 0 or end - begin > LONGEST:
            line = text.find("\n", begin)
            self._skips = line < 0
            return (line if line >= 0 else len(text)), Mark(0, "")
        return end + length, Mark(int(start["page"]), text[begin:end].strip().strip(_QUOTES).strip())


def _closing(text: str, begin: int, *, double: bool, ended: bool) -> tuple[int, int]:
    """Where a citation ends, and how long its end is; -1 for not yet."""
    if double:
        return text.find("]]", begin), 2
    quoted = text[begin : begin + 1] in _QUOTES and begin < len(text)
    if not quoted:
        return text.find("]", begin), 1
    found = re.compile(rf"[{re.escape(_QUOTES)}]\s*\]").search(text, begin + 1)
    if found is None and ended:
        return text.find("]", begin), 1
    return (found.start(), found.end() - found.start()) if found else (-1, 0)
