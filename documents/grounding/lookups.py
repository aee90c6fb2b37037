"""The places that may be meant by a value, however the model spelled it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from documents.grounding.boxes import CheckBoxes
from documents.grounding.days import Days
from documents.page_index import Hit, PageIndex, fold_text
from documents.spellings import (
    AmountSaid,
    amount_said,
    currency_sign,
    dates_said,
    kind_of,
    number_and_unit,
    phones,
    times,
    yes_or_no,
)
from llm.content import PageContent

_ZERO = re.compile(r"0[.,]0")
_NUMBERS = frozenset(["amount", "percent"])


@dataclass(frozen=True, slots=True)
class Places:
    """`doubtful`: they say the value in one reading of two."""

    hits: tuple[Hit, ...] = ()
    doubtful: bool = False


class Lookup:
    """Looks values up on the pages of one document. `boxes` are the properties that say yes or no."""

    def __init__(self, pages: Sequence[PageContent], boxes: Sequence[str] = ()) -> None:
        self.index = PageIndex(pages)
        self._boxes = CheckBoxes(pages, boxes)
        self._days = Days(self.index)

    def places(self, path: str, value: Any, beside: Sequence[str] = ()) -> Places:
        """Where a value may stand. `beside` are the texts of its row."""
        if isinstance(value, bool):
            return Places(tuple(self._boxes.hits(path, value, beside)), self._boxes.is_doubtful(path, beside))
        if isinstance(value, int | float | Decimal):
            return Places(tuple(self._of_number(Decimal(str(value)), kind_of(path))))
        text = str(value)
        if not text.strip():
            return Places()
        meant = yes_or_no(text)
        if meant is not None and (ticks := self._boxes.answers(path, meant, beside)):
            return Places(tuple(ticks), self._boxes.is_doubtful(path, beside))
        options = self._boxes.option(path, text)
        if options is not None:
            return Places(tuple(options))
        places = self._of_text(path, text)
        return places if meant is None else Places(tuple(hit for hit in places.hits if not self._boxes.offers(hit)))

    def _of_number(self, number: Decimal, kind: str) -> list[Hit]:
        # A credit note prints -20.00 where a schema wants 20: the same amount, and the quote shows the sign.
        hits = self.index.numbers(number) or self.index.numbers(-number)
        if not hits and kind == "percent" and 0 < abs(number) < 1:
            hits = self.index.numbers(number * 100)
        return [hit for hit in hits if number or _ZERO.search(hit.quote)]

    def _of_text(self, path: str, text: str) -> Places:
        amount, kind = amount_said(text), kind_of(path)
        if amount is not None and (hits := self._of_amount(amount, text, kind)):
            return Places(tuple(hits))
        if hits := self.index.text(text):
            return Places(tuple(hits))
        if days := dates_said(text):
            return self._of_days(days, in_row=any(part.isdigit() for part in path.split(".")))
        return Places() if amount else Places(tuple(self._of_words(text)))

    def _of_days(self, days: Sequence[str], *, in_row: bool) -> Places:
        """A row may print a day without its year, and its day in full may stand above the table.

        Outside of rows a day without a year may as well be one of every year.
        """
        short = [self._days.without_year(day) for day in days] if in_row else []
        sure = _all(hits for hits, doubtful in short if not doubtful)
        if hits := _all(self.index.dates(day) for day in days):
            return Places((*hits, *sure))
        if hits := _all(self.index.perhaps_dates(day) for day in days):
            return Places((*hits, *sure), doubtful=True)
        if hits := _all([*map(self.index.dates_apart, days), *map(self._days.in_parts, days)]):
            return Places((*hits, *sure))
        if in_row:
            hits = _all(hits for hits, _ in short)
            return Places(tuple(hits), doubtful=not sure)
        return Places(tuple(_all(self._days.without_year(day)[0] for day in days)), doubtful=True)

    def _of_amount(self, amount: AmountSaid, text: str, kind: str) -> list[Hit]:
        """A text of digits alone may be a code: then it stands on paper as it is, or nowhere."""
        exact = self.index.text(text)
        is_code = amount.bare and (text.strip()[:1] == "0" or kind not in ("", *_NUMBERS))
        if is_code or (exact and not amount.percent and kind not in _NUMBERS):
            return exact
        hits = _all(self._of_number(value, kind) for value in amount.values)
        if amount.percent:
            hits = [hit for hit in hits if "%" in hit.quote] or hits
        return hits or exact

    def _of_words(self, text: str) -> list[Hit]:
        index = self.index
        return (
            _all(index.text(sign) for sign in currency_sign(text))
            or _all(index.text(phone) for phone in phones(text))
            or _all(index.text(time) for time in times(text))
            or index.opened_out(text)
            or index.as_read(text)
            or self._with_unit(text)
            or (self._of_pieces(text) if any(map(str.isalpha, text)) else [])
        )

    def _of_pieces(self, text: str) -> list[Hit]:
        return self.index.shuffled(text) or self.index.in_pieces(text) or self.index.scattered(text)

    def _with_unit(self, text: str) -> list[Hit]:
        """ "12 kg" stands where "12.00 kg" is printed."""
        said = number_and_unit(text)
        amount = amount_said(said[0]) if said else None
        if said is None or amount is None:
            return []
        found = []
        for hit in _all(self.index.numbers(value) for value in amount.values):
            page, after = self.index.page(hit.page), hit.words[-1] + 1
            if after < len(page.words) and fold_text(page.words[after].text) == fold_text(said[1]):
                found.append(page.hit((*hit.words, after)))
        return found


def _all(found: Iterable[Sequence[Hit]]) -> list[Hit]:
    """All of them, each place once."""
    return list({(hit.page, hit.words): hit for hits in found for hit in hits}.values())
