"""Candidates that no label points to: parties, patterns, dates of letters and of sentences."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from llm.offline.extract.addresses import Party
from llm.offline.extract.blocks import boxed_addresses
from llm.offline.extract.pointing import ALIKE
from llm.offline.extract.prose import dates_told
from llm.offline.extract.reading import Reading
from llm.offline.extract.targets import Target
from llm.offline.extract.values import WORDY, Candidate, Value, values_in
from llm.offline.layout.analysis import cells_below
from llm.offline.layout.model import Cell, Table
from llm.offline.matching.senses import senses_of, telling
from llm.offline.tables.taxes import proven_taxes
from llm.offline.typing.codes import find_codes, is_whole_iban

_DATELINE = 4
"""Units: words. A line with no more beside its date is a date line: "Zwolle, dinsdag"."""
_PATTERN_SCORES = {
    "iban": 0.5,
    "email": 0.35,
    "bic": 0.4,
    "url": 0.35,
    "phone": 0.35,
    "vat_id": 0.4,
    "time": 0.5,
    "currency": 0.55,
}


_ACCOUNT = re.compile(r"^[A-Z]{2}\d{2}")
_GROUPS = 5
_BOX = re.compile(r"^(?:box|feld|ziffer|zeile|case|ligne|vak|rubriek|line)(\d{1,2}[a-z]?)")
_CODE = 3
_TAX = 2
_SUMMED = {"net_total": 1, "tax_total": _TAX}
"""Totals, and which column of the tax lines they sum up."""
_TOTALS = frozenset({"gross_total", "net_total", "tax_total", "line_total", "due_payable", "prepaid"})
_SAME = {"start_date": "period_start"}


def from_parties(target: Target, parties: Sequence[Party]) -> Iterator[Candidate]:
    role, part = target.party, target.part
    if target.concept is not None and target.concept.kind == "party":
        role, part = target.concept.name.removesuffix("_name"), "name"
    if not part:
        return
    for party in parties:
        value = party.parts.get(part)
        if value is not None and role and party.role == role:
            yield Candidate(value, 0.35 + 0.6 * party.certainty, party.cell.text)
        elif value is not None and not role and part != "name" and party.certainty:
            yield Candidate(value, 0.35, party.cell.text)


def from_boxes(target: Target, reading: Reading) -> Iterator[Candidate]:
    """What is in a form's box for name and address: the address as one text, the name, a part of it."""
    if target.kind in WORDY or target.kind == "phone":
        for value, alike, label in boxed_addresses(target.words, reading):
            if alike >= ALIKE:
                yield Candidate(value, 0.6 + 0.5 * alike, label)


def from_numbers(target: Target, reading: Reading) -> Iterator[Candidate]:
    """What is in the box that a name gives the number of: the code of "Box12aCode", its amount."""
    number = next((match.group(1) for match in map(_BOX.search, ("".join(target.words[:2]),)) if match), "")
    if not number or target.kind == "boolean":
        return
    for first, cells in reading.answers_under.items():
        if reading.tokens[first].text.rstrip(".)") == number:
            coded = [cell for cell in cells if cell.text.isalpha() and len(cell.text) <= _CODE]
            wanted = coded if "code" in target.words else [cell for cell in cells if cell not in coded]
            for cell in wanted[:1]:
                yield from (Candidate(value, 1.0, number) for value in values_in("text", cell.tokens, reading))


def from_patterns(target: Target, reading: Reading) -> Iterator[Candidate]:
    """Values that show what they are without a label."""
    score = _PATTERN_SCORES.get(target.kind)
    name = target.concept.name if target.concept else ""
    if target.kind == "date" and name == "issue_date":
        yield from _head_dates(reading)
        yield from _stamped_dates(reading)
    if target.kind == "bic" and not find_codes("iban", reading.text):
        return
    if score is None or name in {"buyer_vat_id", "fax"} or target.party == "buyer":
        return
    seen: dict[str, int] = {}
    for cell in reading.cells:
        for value in _whole(target.kind, cell, reading):
            seen[str(value.value)] = seen.get(str(value.value), 0) + 1
            rank = 0.004 * cell.line / max(1, len(reading.layout.lines))
            often = 0.01 * min(seen[str(value.value)], 20) if target.kind == "currency" else 0.0
            yield Candidate(value, score - rank + often)


def _whole(kind: str, cell: Cell, reading: Reading) -> list[Value]:
    """The values in a cell; an account's number that found no room goes on in the line below."""
    found = values_in(kind, cell.tokens, reading)
    below = cells_below(reading.layout, cell, reach=1.6)[:1] if kind == "iban" else []
    begins = [at for at, token in enumerate(cell.tokens) if _ACCOUNT.match(token.text)]
    if not below or not begins or any(is_whole_iban(str(value.value)) for value in found):
        return found
    rest = list(cell.tokens[begins[-1] :])
    for token in below[0].tokens[:_GROUPS]:
        rest.append(token)
        longer = values_in(kind, rest, reading)
        if longer and is_whole_iban(str(longer[0].value)):
            return longer[:1]
    return found


def _head_dates(reading: Reading) -> Iterator[Candidate]:
    """Dates in the head of a page: "Bern, 18. November 2024" alone on its line is a letter's date."""
    for cell in reading.cells:
        top = cell.page == 1 and cell.y0 < 0.5 * reading.layout.page_size(1).height
        if top and not reading.in_table(cell):
            values = values_in("date", cell.tokens[:7], reading)
            words = sum(token.index not in values[0].tokens for token in cell.tokens) if len(values) == 1 else 9
            letter = words <= _DATELINE and not any(token.text.endswith(":") for token in cell.tokens)
            first = {token.index for token in cell.tokens[:3]}
            for value in values[:1]:
                if letter or first & set(value.tokens):
                    yield Candidate(value, (0.5 if letter else 0.36) - 0.0005 * cell.line)


def _stamped_dates(reading: Reading) -> Iterator[Candidate]:
    """ "08-02-2025 16:51" or "16:51 08-02-2025" wherever it stands: tills stamp their papers with day and time."""
    for line in reading.layout.lines:
        tokens = [token for cell in line.cells for token in cell.tokens]
        days = values_in("date", tokens[:6], reading)
        times = values_in("time", tokens[:6], reading)
        first = {token.index for token in tokens[:2]}
        if len(days) == 1 and times and first & {*days[0].tokens, *times[0].tokens}:
            yield Candidate(days[0], 0.34)


def from_taxes(target: Target, reading: Reading) -> Iterator[Candidate]:
    """Tax and net as the lines of taxes sum them up, where that is printed."""
    column = _SUMMED.get(target.concept.name if target.concept else "")
    if column is None:
        return
    for table in reading.tax_lines:
        total = _tax_sum(table, column, reading)
        if not total or len(proven_taxes(table)) < len(table.rows):
            continue
        for cell in reversed(reading.cells):
            same = [value for value in values_in("amount", cell.tokens, reading) if value.value == total]
            if same:
                yield Candidate(same[-1], 0.9)
                break


def is_share_of(value: Value, target: Target, reading: Reading) -> bool:
    """Whether an amount is of one rate among several, or a tax by its line's sums: no total, whatever it is called."""
    name = target.concept.name if target.concept else ""
    if name not in _TOTALS or not value.tokens:
        return False
    for table in reading.tax_lines:
        for row in proven_taxes(table):
            for column, cells in enumerate(row.cells):
                inside = any(set(value.tokens) <= {token.index for token in cell.tokens} for cell in cells)
                if inside and _SUMMED.get(name, 3) != column and (column == _TAX or len(table.rows) > 1):
                    return True
                if inside and column and len(table.rows) > 1 and value.value != _tax_sum(table, column, reading):
                    return True
    return False


def _tax_sum(table: Table, column: int, reading: Reading) -> Decimal | None:
    """What a column of the tax lines comes to; None where a line leaves it open."""
    cells = [cell for row in table.rows for cell in row.cells[column]] if column < len(table.headers) else []
    found = [values_in("amount", cell.tokens, reading)[:1] for cell in cells]
    if len(cells) < len(table.rows) or not all(found):
        return None
    return sum((Decimal(values[0].value) for values in found), Decimal(0))


def from_prose(target: Target, reading: Reading) -> Iterator[Candidate]:
    """Dates of which their sentence says what they are for."""
    if target.kind != "date":
        return
    wanted = frozenset(sense for part in telling(senses_of(target.words)) for sense in part)
    for told in dates_told(reading):
        if target.concept is not None and _SAME.get(target.concept.name, target.concept.name) == told.concept:
            yield Candidate(told.value, told.certainty, told.cell.text)
        elif target.concept is None and wanted and wanted <= told.senses:
            yield Candidate(told.value, 0.6, told.cell.text)
