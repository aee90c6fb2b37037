"""Words of a photograph or a scan, set level: pages lie askew, and lines are found by height."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from llm.content import PageContent
from llm.offline.layout.model import Frame, Token

_NEAR, _ALIKE, _SAME = 1.0, 0.25, 0.35
"""Units: heights. Words of one line stand so near, are as high and begin as high as each other."""
_LONG = 4.0
"""Units: heights. Shorter runs of words say nothing of a slope."""
_ENOUGH = 4
_LEAST = 0.001
_BENDS = 0.006
"""By how much the slopes of a page's halves differ that was seen from an angle; a page that was turned leans, too."""


class Tilt:
    """How far the lines of a page slope, up and down the page, and its columns lean. Units: points."""

    def __init__(self, tokens: Sequence[Token], width: float, height: float) -> None:
        self.x, self.y, self.height = width / 2, height / 2, max(1.0, height)
        found = [(slope, y, weight) for run in _runs(tokens) for slope, y, weight in _slope_of(run)]
        self.slope = _middle([(slope, weight) for slope, _, weight in found]) if len(found) >= _ENOUGH else 0.0
        halves = [[(slope, weight) for slope, y, weight in found if (y < self.y) == upper] for upper in (True, False)]
        both = all(len(half) >= _ENOUGH for half in halves)
        bend = _middle(halves[1]) - _middle(halves[0]) if both else 0.0
        self.bend = 2 * bend if abs(bend) >= _BENDS / 2 else 0.0
        self.lean = 0.0 if self.bend else self.slope

    def __bool__(self) -> bool:
        return max(abs(self.slope), abs(self.bend)) >= _LEAST

    def moves(self, x: float, y: float) -> tuple[float, float]:
        """How far a point moves to where it would be on a level page."""
        slope = self.slope + self.bend * (y - self.y) / self.height
        return self.lean * (y - self.y), -slope * (x - self.x)


def tilt_of(page: PageContent, tokens: Sequence[Token]) -> Tilt | None:
    """How a page that was read by OCR lies askew; None for one that does not, or was not."""
    read = [token for token in tokens if token.origin == "ocr"]
    tilt = Tilt(read, page.width or 1.0, page.height or 1.0) if read else None
    return tilt or None


def levelled(tokens: Sequence[Token], tilt: Tilt) -> list[Token]:
    """The words where they would be on a level page."""
    return [_moved(token, tilt) for token in tokens]


def levelled_frames(frames: Sequence[Frame], tilt: Tilt) -> list[Frame]:
    """The boxes and lines where they would be on a level page."""
    found = []
    for frame in frames:
        x, y = tilt.moves((frame.x0 + frame.x1) / 2, (frame.y0 + frame.y1) / 2)
        found.append(replace(frame, x0=frame.x0 + x, y0=frame.y0 + y, x1=frame.x1 + x, y1=frame.y1 + y))
    return found


def _moved(token: Token, tilt: Tilt) -> Token:
    x, y = tilt.moves((token.x0 + token.x1) / 2, token.middle)
    return replace(token, x0=token.x0 + x, y0=token.y0 + y, x1=token.x1 + x, y1=token.y1 + y)


def _runs(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Words that follow each other on one line, closely and in one size."""
    run: list[Token] = []
    for token in tokens:
        if run and not _follows(run[-1], token):
            yield run
            run = []
        run.append(token)
    if run:
        yield run


def _follows(last: Token, token: Token) -> bool:
    height = max(last.height, 1e-6)
    near = -_ALIKE * height < token.x0 - last.x1 < _NEAR * height
    alike = abs(token.height - last.height) < _ALIKE * height
    return near and alike and abs(token.middle - last.middle) < _SAME * height


def _slope_of(run: Sequence[Token]) -> Iterator[tuple[float, float, float]]:
    """The slope of a run, where it is, and what it counts."""
    first, last = run[0], run[-1]
    wide = (last.x0 + last.x1 - first.x0 - first.x1) / 2
    if wide >= _LONG * median(token.height for token in run):
        yield (last.middle - first.middle) / wide, first.middle, wide * wide


def _middle(weighed: Sequence[tuple[float, float]]) -> float:
    """The median by weight."""
    left = sum(weight for _, weight in weighed) / 2
    for value, weight in sorted(weighed):
        left -= weight
        if left <= 0:
            return value
    return 0.0
