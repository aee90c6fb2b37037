"""Black out values: the words of pages that say them, and any text or data that holds them. Pure; no storage."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from documents.page_index import fold_text
from documents.sharing.letters import Letters, Place
from documents.sharing.spellings import same_number, secrets_of
from documents.sharing.wrapping import WrappedPage
from llm.content import PageContent, Word

HIDDEN = "████"
_ROUNDS = 5
_BESIDE_OCR, _ABOVE_OCR = 0.8, 0.15
"""How far a word may really be from where OCR puts it, in its heights: sideways, and up or down."""
_PIECES = re.compile(r"\S+")


class Masker:
    """Knows the values that must not be seen."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._secrets = secrets_of(values)
        self._has_digits = any(one.numbers or one.dates or one.digits for one in self._secrets)

    def positions(self, pages: Sequence[PageContent]) -> dict[int, set[int]]:
        """The words of each page that are part of a value, in any spelling; a page without any has an empty set.

        What is left is looked through again: two words must not say it together once those between them are gone.
        """
        found: dict[int, set[int]] = {page.number: set() for page in pages}
        left = list(pages)
        for _ in range(_ROUNDS):
            places = self._places(left)
            for page, at in places:
                found[page].add(at)
            touched = {page for page, _ in places}
            left = [masked_page(page, found[page.number]) for page in left if page.number in touched]
            if not left:
                break
        return found

    def text(self, text: str) -> str:
        """The text with the words that say a value blacked out."""
        pieces = list(_PIECES.finditer(text))
        if not pieces or not self._may_say(text):
            return text
        page = _as_page(text, pieces)
        hidden = self.positions([page])[page.number]
        for at in sorted(hidden, reverse=True):
            text = text[: pieces[at].start()] + HIDDEN + text[pieces[at].end() :]
        return text

    def value(self, value: Any) -> Any:
        """The data with every value blacked out that equals or says one of them."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(key)): self.value(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self.value(part) for part in value]
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            return HIDDEN if self._says_number(value) else value
        return value

    def _says_number(self, value: int | float | Decimal) -> bool:
        number = same_number(value)
        return any(number in secret.numbers for secret in self._secrets) or self.text(str(value)) != str(value)

    def _may_say(self, text: str) -> bool:
        """A quick look, so that most texts cost nothing."""
        if self._has_digits and any(char.isdigit() for char in text):
            return True
        folded = fold_text(text)
        return any(
            any(one in folded for one in secret.texts) or any(sign in text for sign in secret.signs)
            for secret in self._secrets
        )

    def _places(self, pages: Sequence[PageContent]) -> set[Place]:
        letters = Letters(pages)
        found: set[Place] = set()
        for secret in self._secrets:
            found |= letters.places_of(secret)
        texts = {text for secret in self._secrets for text in secret.texts}
        for page in pages if texts else ():
            wrapped = WrappedPage(page)
            found |= {(page.number, at) for text in texts for at in wrapped.positions_of(text)}
        return found


def masked_page(page: PageContent, hidden: set[int]) -> PageContent:
    """The page with these words blacked out; its text is made of its words anew, so that nothing else is in it."""
    words = tuple(replace(word, text=HIDDEN) if at in hidden else word for at, word in enumerate(page.words))
    return replace(page, words=words, text=_text_of(words))


def masked_columns(columns: Mapping[str, Sequence[Any]], hidden: set[int]) -> dict[str, list[Any]]:
    """The same for words as they are stored."""
    masked = {name: list(values) for name, values in columns.items()}
    masked["text"] = [HIDDEN if at in hidden else text for at, text in enumerate(masked.get("text", []))]
    return masked


def black_boxes(page: PageContent, hidden: Iterable[int]) -> list[list[float]]:
    """What to paint over. Units: fractions of the page.

    Words that OCR read are where it guesses them within their line, up to a letter or two beside: theirs are wider.
    """
    boxes = []
    for at in sorted(hidden):
        word = page.words[at]
        high = word.y1 - word.y0
        more = high * _BESIDE_OCR if word.origin == "ocr" else 0.0
        beside = more * page.height / (page.width or 1.0)
        above = high * _ABOVE_OCR if word.origin == "ocr" else 0.0
        boxes.append([word.x0 - beside, word.y0 - above, word.x1 + beside, word.y1 + above])
    return boxes


def _text_of(words: Sequence[Word]) -> str:
    lines: list[list[str]] = []
    line: int | None = None
    for word in words:
        if line is None or word.line != line:
            lines.append([])
        lines[-1].append(word.text)
        line = word.line
    return "\n".join(" ".join(one) for one in lines)


def _as_page(text: str, pieces: Sequence[re.Match[str]]) -> PageContent:
    """A text as one long line of words, close together."""
    step = 1.0 / (len(text) + 1)
    words = tuple(Word(piece[0], piece.start() * step, 0.0, piece.end() * step, 1.0) for piece in pieces)
    return PageContent(number=1, width=1.0, height=1.0, text="", words=words)
