"""Which column of a table a word stands in: limits where the rows leave white space between the head's names."""

from collections.abc import Sequence
from itertools import pairwise

from llm.offline.layout.model import Cell, Line, Token
from llm.offline.matching.senses import held, senses_of
from llm.offline.matching.words import words_of
from llm.offline.tables.figures import is_figure, is_numeric
from llm.offline.tables.heads import Head, names_of

_INSIDE = 0.4
"""What a limit costs that runs between two words of one cell, where one through a word costs 1."""
_SIGNS = frozenset({"€", "$", "£", "¥", "EUR", "USD", "GBP", "CHF"})
_OF_ACCOUNT = frozenset({"debit", "credit", "line_balance"})
_OF_PAY = frozenset({"deduction", "pay_wage", "employee", "employer"})
_EMPTY = 0.45
"""What a limit between two names close together costs for a row that has nothing left of it."""
_MARGIN = 2.5
"""Units: line heights. How far a table's cells may stand outside its head."""


def is_of_pay(headers: Sequence[str]) -> bool:
    """Whether the names of columns are those of a payslip."""
    first = words_of(headers[0]) if headers else ()
    paid = len(first) == 1 and "pay" in held(senses_of(first)) and any("quantity" in names_of(h) for h in headers)
    return paid or any(_OF_PAY & held(senses_of(words_of(text))) for text in headers)


class Columns:
    """The columns of a table on a page. `limits`: the x between a column and the next."""

    def __init__(self, head: Head, body: Sequence[Line]) -> None:
        self.head = head
        self.spans = [(min(c.x0 for c in column), max(c.x1 for c in column)) for column in head.columns]
        rows = [[cell for cell in line.cells if self.holds(cell)] for line in body]
        self.limits: list[float] = []
        for number in range(len(self.spans) - 1):
            self.limits.append(self._limit(number, rows))

    @property
    def of_account(self) -> bool:
        """Whether the columns are those of an account: a booking fills one of two, and the balance not each time."""
        return any(_OF_ACCOUNT & names_of(text) for text in self.head.texts)

    @property
    def of_pay(self) -> bool:
        """Whether the table lists what is paid to or kept back from employees: taxes are rows of it and no sums."""
        return is_of_pay(self.head.texts)

    def __len__(self) -> int:
        return len(self.spans)

    def holds(self, cell: Cell) -> bool:
        """Whether a cell stands under the head and not beside the table."""
        margin = _MARGIN * self.head.height
        return cell.x1 > self.head.x0 - margin and cell.x0 < self.head.x1 + margin

    def _limit(self, number: int, rows: Sequence[Sequence[Cell]]) -> float:
        """Where the fewest words are cut between two names and the fewest rows have nothing left of it.

        Of several such places the widest, nearest the names.
        """
        start = self.limits[-1] if self.limits else float("-inf")
        (a0, a1), (b0, b1) = self.spans[number], self.spans[number + 1]
        low, high = (a0 + a1) / 2, (b0 + b1) / 2
        near = [cell for row in rows for cell in row if cell.x1 > low and cell.x0 < high]
        centers = [[(t.x0 + t.x1) / 2 for cell in row for t in cell.tokens] for row in rows]
        edges = sorted(
            {low, high, a1, b0, *(x for cell in near for t in cell.tokens for x in (t.x0, t.x1) if low < x < high)}
        )
        middle = (a1 + b0) / 2
        empty = _EMPTY if b0 - a1 < self.head.height else 0.0
        best, cheapest = middle, float("inf")
        for left, right in pairwise(edges):
            if right - left < 0.15 * self.head.height:
                continue
            x = (left + right) / 2
            away = 0.0 if a1 <= x <= b0 else min(abs(x - a1), abs(x - b0)) / max(b1 - a0, 1e-6)
            cost = sum(_cost(cell, x) for cell in near) + 0.3 * away - 0.002 * (right - left) / self.head.height
            cost += empty * sum(not any(start < center < x for center in row) for row in centers)
            if cost < cheapest:
                best, cheapest = x, cost
        return best

    def of(self, x: float) -> int:
        """The column at `x`."""
        return sum(limit <= x for limit in self.limits)

    def pieces(self, line: Line) -> list[tuple[int, Cell]]:
        """The cells of a line with their columns; a cell that stands in several falls apart at its figures."""
        found: list[tuple[int, Cell]] = []
        for cell in line.cells:
            if self.holds(cell):
                found.extend(self._split(cell))
        return found

    def _split(self, cell: Cell) -> list[tuple[int, Cell]]:
        runs: list[tuple[int, list[Token]]] = []
        for group in _with_signs(cell.tokens):
            place = self.of((group[0].x0 + group[-1].x1) / 2)
            if runs and (place <= runs[-1][0] or not _parts(runs[-1][1], group)):
                runs[-1][1].extend(group)
            else:
                runs.append((place, list(group)))
        if len(runs) == 1:
            place = self._whole(cell)
            return [(place, cell)]
        return [(place, Cell.of(run, cell.line)) for place, run in runs]

    def _whole(self, cell: Cell) -> int:
        """The column of a cell: a figure's is where it ends (they stand to the right), a text's where it begins."""
        if is_numeric(cell.text):
            return self.of((cell.x0 + cell.x1) / 2)
        return self.of(min(cell.x0 + 0.5 * cell.height, (cell.x0 + cell.x1) / 2))


def _cost(cell: Cell, x: float) -> float:
    if not cell.x0 < x < cell.x1:
        return 0.0
    return 1.0 if any(token.x0 < x < token.x1 for token in cell.tokens) else _INSIDE


def _with_signs(tokens: Sequence[Token]) -> list[list[Token]]:
    """The words one by one, a sign of a currency together with the number that stands nearer to it."""
    groups: list[list[Token]] = []
    held: list[Token] = []
    for place, token in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if held:
            groups.append([*held, token])
            held = []
        elif token.text in _SIGNS and after is not None and is_numeric(after.text) and _is_nearer(after, tokens, place):
            held = [token]
        elif token.text in _SIGNS and groups:
            groups[-1].append(token)
        else:
            groups.append([token])
    return groups


def _is_nearer(after: Token, tokens: Sequence[Token], place: int) -> bool:
    before = tokens[place - 1] if place else None
    token = tokens[place]
    return before is None or not is_numeric(before.text) or after.x0 - token.x1 < token.x0 - before.x1


def _parts(run: Sequence[Token], group: Sequence[Token]) -> bool:
    """Whether a cell may fall apart before some words: a figure ends or begins there."""
    before = " ".join(part.text for part in run)
    wide = group[0].x0 - run[-1].x1 > 0.6 * group[0].height
    coded = all(any(map(str.isdigit, text)) for text in (run[-1].text, group[0].text))
    return is_figure(before) or is_numeric(" ".join(token.text for token in group)) or wide or coded
