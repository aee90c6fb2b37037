"""Values of one array element stand on one row, values of one name in one column."""

from bisect import bisect_right
from collections.abc import Iterable

from documents.grounding.labels import Labels, Wanted
from documents.grounding.leaves import Leaf
from documents.page_words import Hit

_IN_COLUMN = 2.0
"""What standing below the same name's other values counts beside what the head of the column says."""
_NEAR_COLUMN = 0.005
_LINES_OF_ROW = 5
"""Units: line heights. So far below its first line an element may go on."""
ByPage = dict[int, list[Hit]]
Taken = set[tuple[int, tuple[int, ...]]]


def settle_rows(labels: Labels, leaves: list[Leaf]) -> None:
    """Find each element's row on paper, one after the other, and in it the place of each value by its column."""
    rows: dict[str, list[Leaf]] = {}
    for leaf in leaves:
        if leaf.row:
            rows.setdefault(leaf.row, []).append(leaf)
    on_rows = _on_rows(rows)
    columns = _columns(rows.values(), on_rows)
    taken: Taken = set()
    for members in rows.values():
        for leaf in sorted(members, key=lambda leaf: len(on_rows.get(leaf.path, ()))):
            if leaf.settled is None and (beside := on_rows.get(leaf.path)):
                leaf.settled = _in_column(labels, leaf, beside, columns.get(leaf.column, []), taken)
            if leaf.settled is not None:
                taken.add((leaf.settled.page, leaf.settled.words))


def _on_rows(rows: dict[str, list[Leaf]]) -> dict[str, list[Hit]]:
    """For each leaf its places on the row of its element, or else between it and the row of the next one."""
    placed = _place_rows(rows)
    tops: dict[tuple[str, int], list[float]] = {}
    for name, row in placed.items():
        tops.setdefault((name.rpartition(".")[0], row.page), []).append(row.boxes[0][1])
    for found_tops in tops.values():
        found_tops.sort()
    found: dict[str, list[Hit]] = {}
    for name, row in placed.items():
        end = _end_of(row, tops[name.rpartition(".")[0], row.page])
        for leaf in rows[name]:
            beside = [hit for hit in leaf.hits if _beside(hit, row)]
            below = [hit for hit in leaf.hits if hit.page == row.page and row.boxes[0][1] < hit.boxes[0][1] < end]
            found[leaf.path] = beside or below
    return found


def _end_of(row: Hit, tops: list[float]) -> float:
    """Where the next element begins, at most a few lines below. `tops` are sorted."""
    top, height = row.boxes[0][1], row.boxes[0][3] - row.boxes[0][1]
    next_one = bisect_right(tops, top)
    below = tops[next_one : next_one + 1]
    return min([*below, row.boxes[-1][3] + _LINES_OF_ROW * height]) - height / 2


def _place_rows(rows: dict[str, list[Leaf]]) -> dict[str, Hit]:
    """Where each element stands, by the place of one of its values."""
    taken: ByPage = {}
    before: dict[str, Hit] = {}
    placed: dict[str, Hit] = {}
    for name, members in rows.items():
        array = name.rpartition(".")[0]
        row = _row_of(members, taken, before.get(array))
        if row is not None:
            taken.setdefault(row.page, []).append(row)
            before[array] = placed[name] = row
    return placed


def _row_of(members: list[Leaf], taken: ByPage, before: Hit | None) -> Hit | None:
    """The place of the most telling value beside which most of the others stand; the first below the row before."""
    telling = min((leaf for leaf in members if leaf.hits), key=lambda leaf: len(leaf.hits), default=None)
    if telling is None or (len(members) == 1 and len(telling.hits) > 1 and telling.settled is None):
        return None
    if len(telling.hits) == 1:
        return telling.hits[0]
    places = [_by_page(leaf.hits) for leaf in members]
    ranked = [
        (sum(_has_beside(row, hits) for hits in places), not _has_beside(row, taken), _is_below(row, before), -at)
        for at, row in enumerate(telling.hits)
    ]
    return telling.hits[-max(ranked)[3]]


def _by_page(hits: list[Hit]) -> ByPage:
    found: ByPage = {}
    for hit in hits:
        found.setdefault(hit.page, []).append(hit)
    return found


def _has_beside(row: Hit, places: ByPage) -> bool:
    return any(hit.overlaps_rows(row) for hit in places.get(row.page, ()))


def _beside(hit: Hit, row: Hit) -> bool:
    return hit.page == row.page and hit.overlaps_rows(row)


def _is_below(row: Hit, before: Hit | None) -> bool:
    return before is None or (row.page, row.boxes[0][1]) > (before.page, before.boxes[0][1])


def _columns(rows: Iterable[list[Leaf]], on_rows: dict[str, list[Hit]]) -> dict[str, list[Hit]]:
    """Where values of each name stand for certain: those with one place on their row."""
    columns: dict[str, list[Hit]] = {}
    for members in rows:
        for leaf in members:
            beside = on_rows.get(leaf.path, [])
            if len(beside) == 1:
                columns.setdefault(leaf.column, []).append(beside[0])
    return columns


def _in_column(labels: Labels, leaf: Leaf, beside: list[Hit], column: list[Hit], taken: Taken) -> Hit:
    """Of several places on one row the one in the property's column."""
    if len(beside) == 1:
        return beside[0]
    wanted = Wanted.of(leaf.path)
    scores = [_IN_COLUMN * _aligned(hit, column) + labels.above(hit, wanted) + _freely(hit, taken) for hit in beside]
    return beside[scores.index(max(scores))]


def _aligned(hit: Hit, column: list[Hit]) -> float:
    """The share of the column's places that it stands above or below."""
    x0, _, x1, _ = hit.boxes[0]
    below = [one for one in column if one.boxes[0][0] < x1 + _NEAR_COLUMN and one.boxes[0][2] > x0 - _NEAR_COLUMN]
    return len(below) / len(column) if column else 0.0


def _freely(hit: Hit, taken: Taken) -> float:
    return 0.0 if (hit.page, hit.words) in taken else 0.5
