"""The shapes of a page: tokens in cells, cells in lines."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """One word. Units: page points (or pixels of a photograph), origin top left; `index` counts over the document.

    `frame` is the number of the smallest box drawn around it, `blank` that of the line it was written on; -1: none.
    """

    text: str
    index: int
    page: int
    x0: float
    y0: float
    x1: float
    y1: float
    origin: str = "text"
    frame: int = -1
    blank: int = -1

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2


@dataclass(frozen=True, slots=True)
class Cell:
    """Words that follow each other on a line without a wide gap. `line` is the index of the line in the document."""

    tokens: tuple[Token, ...]
    page: int
    line: int
    text: str
    x0: float
    y0: float
    x1: float
    y1: float

    @classmethod
    def of(cls, tokens: Sequence[Token], line: int) -> "Cell":
        """The cell around `tokens` (at least one)."""
        return cls(
            tokens=tuple(tokens),
            page=tokens[0].page,
            line=line,
            text=" ".join(token.text for token in tokens),
            x0=min(token.x0 for token in tokens),
            y0=min(token.y0 for token in tokens),
            x1=max(token.x1 for token in tokens),
            y1=max(token.y1 for token in tokens),
        )

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2

    @property
    def center(self) -> float:
        return (self.x0 + self.x1) / 2

    def overlap(self, other: "Cell") -> float:
        """How far two cells overlap sideways. Units: points; negative is the gap between them."""
        return min(self.x1, other.x1) - max(self.x0, other.x0)


@dataclass(frozen=True, slots=True)
class Line:
    """Cells at one height, from left to right."""

    cells: tuple[Cell, ...]
    page: int
    index: int

    @property
    def text(self) -> str:
        return " ".join(cell.text for cell in self.cells)

    @property
    def y0(self) -> float:
        return min(cell.y0 for cell in self.cells)

    @property
    def y1(self) -> float:
        return max(cell.y1 for cell in self.cells)

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: per column the cells that stand in it, top to bottom."""

    cells: tuple[tuple[Cell, ...], ...]

    def text(self, column: int) -> str:
        """The text of a column, lines joined by a blank."""
        return " ".join(cell.text for cell in self.cells[column])


@dataclass(frozen=True, slots=True)
class Table:
    """A table: header texts ("" where a column has none) and rows.

    `lines` are the indexes of the lines it covers; `limits`, where known, the x between a column and the next.
    `part`: what the rows are of a table that sums part ("earnings", "deductions"). `sums`: balances and sums among
    the rows.
    """

    headers: tuple[str, ...]
    rows: tuple[Row, ...]
    lines: frozenset[int]
    page: int
    limits: tuple[float, ...] = ()
    part: str = ""
    sums: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """A check box with the texts that may be its caption, the likeliest first.

    `question`: what several boxes answer together ("Marital status"), "" when nothing asks. `said`: the words of the
    likeliest caption, by their index.
    """

    checked: bool
    token: Token
    captions: tuple[str, ...]
    question: str = ""
    said: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """A box that is drawn, or a line: a box without height. Units: page points."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def is_line(self) -> bool:
        return self.y1 <= self.y0

    @property
    def area(self) -> float:
        return (self.x1 - self.x0) * (self.y1 - self.y0)


@dataclass(frozen=True, slots=True)
class PageSize:
    """Units: page points as displayed."""

    number: int
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Layout:
    """A document as shapes. `lines` over all pages in reading order; the index of a line is its place in `lines`."""

    pages: tuple[PageSize, ...] = ()
    lines: tuple[Line, ...] = ()
    checks: tuple[Check, ...] = ()
    frames: tuple[Frame, ...] = ()

    @property
    def cells(self) -> list[Cell]:
        """All cells, in reading order."""
        return [cell for line in self.lines for cell in line.cells]

    def page_size(self, number: int) -> PageSize:
        """The size of page `number` (a unit square for a page that is not there)."""
        return next((page for page in self.pages if page.number == number), PageSize(number, 1.0, 1.0))
