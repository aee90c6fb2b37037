"""Reading order: words to rows, columns, lines and blocks. Knows geometry only, for text layers and OCR alike."""

from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from documents.ingest.pieces import Piece

_SEGMENT_GAP = 1.4  # a gap of so many word heights ends a run of words that belong together
_GUTTER = 0.7  # the narrowest gutter between columns, in word heights
_COLUMN_ROWS = 5  # fewer rows than this are never taken for columns
_PROSE_CHARACTERS = 18  # cells of tables are shorter than lines of prose
_PROSE_FILL = 0.55
_BLOCK_GAP = 0.75  # more white than this between two lines, in word heights, starts a block
_NARROW = frozenset("iIjlft1|!.,:;'()[]/")
_CELL_BREAK = "   "


@dataclass(slots=True)
class Row:
    """Words that stand beside each other. Units: points."""

    pieces: list[Piece]
    y0: float
    y1: float
    segments: list[tuple[float, float, int]] = field(default_factory=list)


@dataclass(slots=True)
class Layout:
    """Words in reading order, the line of each, and the text with lines and blocks."""

    pieces: list[Piece] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    text: str = ""


def arrange(pieces: list[Piece]) -> Layout:
    """Put words into reading order: down each column, left to right in each row."""
    if not pieces:
        return Layout()
    height = median(min(piece.height, piece.width * 3) for piece in pieces)
    upright, standing = _part_standing(pieces)
    blocks = _regions(_rows(upright), height, depth=0)
    return _write(blocks + ([standing] if standing else []), height)


def _part_standing(pieces: list[Piece]) -> tuple[list[Piece], list[Row]]:
    """Take out text that runs up or down the page: it would tie all rows beside it together.

    Short words cannot be told by their shape, they go with a standing word that is near in the same strip.
    Standing words keep the order of the file, which is the order in which they were written.
    """
    rows: list[Row] = []
    for piece in pieces:
        if _stands(piece):
            if rows and _in_strip(rows[-1], piece):
                rows[-1].pieces.append(piece)
                rows[-1].y0, rows[-1].y1 = min(rows[-1].y0, piece.y0), max(rows[-1].y1, piece.y1)
            else:
                rows.append(Row([piece], piece.y0, piece.y1))
    if not rows:
        return pieces, []
    upright: list[Piece] = []
    taken = {id(piece) for row in rows for piece in row.pieces}
    for piece in pieces:
        row = next((row for row in rows if len(piece.text) < 3 and _in_strip(row, piece)), None)
        if row is not None:
            row.pieces.append(piece)
        elif id(piece) not in taken:
            upright.append(piece)
    order = {id(piece): number for number, piece in enumerate(pieces)}
    for row in rows:
        row.pieces.sort(key=lambda piece: order[id(piece)])
    return upright, rows


def _stands(piece: Piece) -> bool:
    if piece.origin == "ocr":
        return piece.stands
    return len(piece.text) >= 3 and piece.height > 1.8 * piece.width and not _NARROW.issuperset(piece.text)


def _in_strip(row: Row, piece: Piece) -> bool:
    first = row.pieces[0]
    near = max(piece.y0 - row.y1, row.y0 - piece.y1) < 1.5 * first.width
    return near and piece.x0 >= first.x0 - 2 and piece.x1 <= first.x1 + 2


def _rows(pieces: list[Piece]) -> list[Row]:
    rows: list[Row] = []
    for piece in sorted(pieces, key=lambda piece: (piece.y0 + piece.y1, piece.x0)):
        row = _row_for(piece, rows[-3:])
        if row is None:
            rows.append(Row([piece], piece.y0, piece.y1))
        else:
            row.pieces.append(piece)
    for row in rows:
        row.pieces.sort(key=lambda piece: piece.x0)
        row.y0 = min(piece.y0 for piece in row.pieces)
        row.y1 = max(piece.y1 for piece in row.pieces)
    rows.sort(key=lambda row: row.y0 + row.y1)
    return rows


def _row_for(piece: Piece, rows: list[Row]) -> Row | None:
    """The row with which the piece shares more than half of the smaller height.

    The row's band stays that of its first piece, so that a slope or a tall neighbour cannot make it creep.
    """
    for row in reversed(rows):
        shared = min(piece.y1, row.y1) - max(piece.y0, row.y0)
        if shared > 0.55 * min(piece.height, row.y1 - row.y0):
            return row
    return None


def _regions(rows: list[Row], height: float, depth: int) -> list[list[Row]]:
    """Cut a region into pieces to be read one after the other."""
    if depth > 4 or len(rows) < _COLUMN_ROWS:
        return [rows] if rows else []
    for row in rows:
        row.segments = _segments(row, height)
    band = _widest_column_band(rows, height)
    if band is None:
        return [rows]
    first, last, gutter = band
    left = [piece for row in rows[first:last] for piece in row.pieces if piece.x0 + piece.x1 < 2 * gutter]
    right = [piece for row in rows[first:last] for piece in row.pieces if piece.x0 + piece.x1 >= 2 * gutter]
    return [
        *_regions(rows[:first], height, depth + 1),
        *_regions(_rows(left), height, depth + 1),
        *_regions(_rows(right), height, depth + 1),
        *_regions(rows[last:], height, depth + 1),
    ]


def _segments(row: Row, height: float) -> list[tuple[float, float, int]]:
    """Runs of words in a row that only ordinary spaces part: left, right, characters."""
    segments: list[tuple[float, float, int]] = []
    for piece in row.pieces:
        if segments and piece.x0 - segments[-1][1] < _GUTTER * height:
            left, right, characters = segments[-1]
            segments[-1] = (left, max(right, piece.x1), characters + len(piece.text) + 1)
        else:
            segments.append((piece.x0, piece.x1, len(piece.text)))
    return segments


def _widest_column_band(rows: list[Row], height: float) -> tuple[int, int, float] | None:
    """The tallest run of rows that one gutter cuts into columns: first row, row after the last, x of the gutter."""
    left = min(row.segments[0][0] for row in rows)
    right = max(segment[1] for row in rows for segment in row.segments)
    best: tuple[int, int, float] | None = None
    first = 0
    while first < len(rows):
        last, gutters = _run(rows, first, left, right, height)
        for gap in gutters:
            band = _columns(rows, first, last, (gap[0] + gap[1]) / 2)
            if band is not None and (best is None or band[1] - band[0] > best[1] - best[0]):
                best = band
        first = last if last > first + 1 else first + 1
    return best


def _run(
    rows: list[Row], first: int, left: float, right: float, height: float
) -> tuple[int, list[tuple[float, float]]]:
    """Follow the gaps that all rows from `first` on share, until none is left."""
    shared = _gaps(rows[first], left, right)
    last = first + 1
    while last < len(rows):
        narrower = _intersect(shared, _gaps(rows[last], left, right), _GUTTER * height)
        inner = [gap for gap in narrower if gap[0] > left and gap[1] < right]
        if not inner and not _one_sided(rows[first : last + 1], narrower):
            break
        shared = narrower
        last += 1
    return last, [gap for gap in shared if gap[0] > left and gap[1] < right]


def _one_sided(rows: list[Row], gaps: list[tuple[float, float]]) -> bool:
    return bool(gaps) and len(rows) < _COLUMN_ROWS


def _gaps(row: Row, left: float, right: float) -> list[tuple[float, float]]:
    edges = [left - 1.0, *(x for segment in row.segments for x in segment[:2]), right + 1.0]
    return [(edges[i], edges[i + 1]) for i in range(0, len(edges), 2) if edges[i + 1] > edges[i]]


def _intersect(
    ours: list[tuple[float, float]], theirs: list[tuple[float, float]], least: float
) -> list[tuple[float, float]]:
    both = ((max(a[0], b[0]), min(a[1], b[1])) for a in ours for b in theirs)
    return [gap for gap in both if gap[1] - gap[0] >= least]


def _columns(rows: list[Row], first: int, last: int, gutter: float) -> tuple[int, int, float] | None:
    """Columns of prose, or blocks side by side whose lines do not line up; rows of a table are neither."""
    lefts = [[s for s in row.segments if s[1] <= gutter] for row in rows[first:last]]
    rights = [[s for s in row.segments if s[0] >= gutter] for row in rows[first:last]]
    if last - first < _COLUMN_ROWS or min(sum(map(bool, lefts)), sum(map(bool, rights))) < 3:
        return None
    if _is_prose(lefts) and _is_prose(rights):
        return _trim(lefts, rights, first, gutter)
    together = sum(1 for left, right in zip(lefts, rights, strict=True) if left and right)
    if together > 0.2 * (last - first):
        return None
    solid = _is_solid(rows[first:last], lefts) and _is_solid(rows[first:last], rights)
    return (first, last, gutter) if solid else None


def _trim(
    lefts: list[list[tuple[float, float, int]]],
    rights: list[list[tuple[float, float, int]]],
    first: int,
    gutter: float,
) -> tuple[int, int, float] | None:
    """Leave rows of short words above and below (headings, page numbers, signature lines) out of the columns."""
    start, end = 0, len(lefts)

    def is_long(row: int) -> bool:
        return any(s[2] >= 1.5 * _PROSE_CHARACTERS for s in lefts[row] + rights[row])

    while start < end and lefts[start] and not is_long(start):
        start += 1
    while end > start and lefts[end - 1] and rights[end - 1] and not is_long(end - 1):
        end -= 1
    return (first + start, first + end, gutter) if end - start >= _COLUMN_ROWS else None


def _is_solid(rows: list[Row], side: list[list[tuple[float, float, int]]]) -> bool:
    """A block of text: one run of words in each line, lines close together."""
    lines = [row for row, segments in zip(rows, side, strict=True) if segments]
    single = sum(1 for segments in side if len(segments) == 1)
    close = sum(1 for above, below in pairwise(lines) if below.y0 - above.y1 < below.y1 - below.y0)
    return single >= 0.8 * len(lines) and close >= 0.7 * (len(lines) - 1)


def _is_prose(side: list[list[tuple[float, float, int]]]) -> bool:
    """Most lines are one long run of words that nearly fills the column."""
    lines = [segments for segments in side if segments]
    left = min(segments[0][0] for segments in lines)
    width = max(segments[-1][1] for segments in lines) - left
    full = [
        segments
        for segments in lines
        if max(s[2] for s in segments) >= _PROSE_CHARACTERS
        and sum(s[1] - s[0] for s in segments) >= _PROSE_FILL * width
    ]
    return len(full) >= 0.5 * len(lines)


def _write(blocks: list[list[Row]], height: float) -> Layout:
    layout = Layout()
    parts: list[str] = []
    line = 0
    for rows in blocks:
        previous: Row | None = None
        widest = _widest_line_gap(rows, height)
        for row in rows:
            if parts:
                parts.append("\n\n" if previous is None or row.y0 - previous.y1 > widest else "\n")
            parts.append(_line_text(row, height))
            layout.pieces.extend(row.pieces)
            layout.lines.extend([line] * len(row.pieces))
            line += 1
            previous = row
    layout.text = "".join(parts)
    return layout


def _widest_line_gap(rows: list[Row], height: float) -> float:
    """More white than this starts a block; text that is set wide all over has wide gaps between its lines."""
    gaps = [below.y0 - above.y1 for above, below in pairwise(rows)]
    usual = median(gaps) if len(gaps) >= _COLUMN_ROWS else 0.0
    return max(_BLOCK_GAP * height, min(1.4 * usual, 3 * height))


def _line_text(row: Row, height: float) -> str:
    words = [row.pieces[0].text]
    for before, piece in pairwise(row.pieces):
        words.append(_CELL_BREAK if piece.x0 - before.x1 > _SEGMENT_GAP * height else " ")
        words.append(piece.text)
    return "".join(words)
