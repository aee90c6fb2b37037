"""The whole analysis of a document's shapes, tables apart."""

from llm.content import DocumentContent
from llm.offline.layout.checks import find_checks
from llm.offline.layout.frames import frames_of
from llm.offline.layout.lines import read_lines
from llm.offline.layout.model import Cell, Layout, Line, PageSize

_REACH = 4.5
"""Units: line heights. How far below a caption its value may stand."""


def analyse(document: DocumentContent) -> Layout:
    """Lines and check boxes of `document`."""
    frames = [frame for page in document.pages for frame in frames_of(page)]
    lines = read_lines(document)
    pages = tuple(PageSize(page.number, page.width or 1.0, page.height or 1.0) for page in document.pages)
    return Layout(pages=pages, lines=tuple(lines), checks=tuple(find_checks(lines)), frames=tuple(frames))


def cells_below(layout: Layout, cell: Cell, *, reach: float = _REACH) -> list[Cell]:
    """The cells under `cell` that overlap it sideways, nearest first, within reach."""
    found: list[Cell] = []
    for line in layout.lines[cell.line + 1 : cell.line + 14]:
        if line.page != cell.page or line.y0 - cell.y1 > reach * cell.height:
            break
        found.extend(other for other in line.cells if _under(other, cell))
    return found


def _under(other: Cell, cell: Cell) -> bool:
    if other.y0 < cell.middle:
        return False
    return other.overlap(cell) > 0 or abs(other.x0 - cell.x0) < 0.5 * cell.height


def cells_right(layout: Layout, cell: Cell) -> list[Cell]:
    """The cells right of `cell` at its height, nearest first; half a line up or down counts when nothing else does."""
    line = layout.lines[cell.line]
    same = [other for other in line.cells if other.x0 >= cell.x1 - 0.5]
    if same:
        return same
    return sorted(_shifted(layout, line, cell), key=lambda other: other.x0)


def _shifted(layout: Layout, line: Line, cell: Cell) -> list[Cell]:
    found = []
    for near in layout.lines[max(0, line.index - 2) : line.index + 3]:
        if near.page == line.page and near is not line:
            found += [o for o in near.cells if o.x0 >= cell.x1 and abs(o.middle - cell.middle) < 0.7 * cell.height]
    return found
