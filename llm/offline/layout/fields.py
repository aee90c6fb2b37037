"""The form fields of a document that its file calls something."""

from dataclasses import dataclass

from llm.content import DocumentContent
from llm.offline.layout.model import Layout, Token

_CLOSE = 1.0
"""Units: points. How far the middle of a word may be out of the field that it was typed in."""


@dataclass(frozen=True, slots=True)
class FormField:
    """A form field with the words that stand in it."""

    name: str
    tokens: tuple[Token, ...]


def form_fields(document: DocumentContent, layout: Layout) -> list[FormField]:
    """The form fields whose names say something, and in which something stands."""
    typed = [token for cell in layout.cells for token in cell.tokens if token.origin == "form"]
    found = []
    for page in document.pages if typed else ():
        for x0, y0, x1, y1, name in page.fields:
            left, right = x0 * page.width - _CLOSE, x1 * page.width + _CLOSE
            top, bottom = y0 * page.height - _CLOSE, y1 * page.height + _CLOSE
            inside = [
                token
                for token in typed
                if token.page == page.number
                and left <= (token.x0 + token.x1) / 2 <= right
                and top <= token.middle <= bottom
            ]
            if inside:
                found.append(FormField(name, tuple(inside)))
    return found
