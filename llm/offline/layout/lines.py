"""Words to lines and cells."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from llm.content import DocumentContent, PageContent
from llm.offline.layout.combs import combed
from llm.offline.layout.frames import frames_of, placed
from llm.offline.layout.level import levelled, levelled_frames, tilt_of
from llm.offline.layout.model import Cell, Line, Token
from llm.offline.layout.signs import CHECKED as CHECKED
from llm.offline.layout.signs import UNCHECKED as UNCHECKED

GAP = 1.05
"""Units: line heights. A wider gap between two words of a line starts a new cell."""

_LARGER, _LARGEST, _SPACE = 1.12, 2.2, 0.1
_SET_OFF = 3
"""Units: words of a page that are set larger or smaller than the one before. So many are the answers of a form."""

_TOUCHING, _LETTERS = 0.7, 3
"""Units: points, letters of a word that runs up the page."""

_SIGNS = "".join((CHECKED - set("✓✔✗✘✕✖")) | UNCHECKED)
_BOX = re.compile(rf"^([{_SIGNS}])(?=[^\W\d_])")
_FILLED = {"●": "○◯", "⚫": "⚪○◯", "•": "○◯", "■": "□", "◼": "◻□"}
"""Signs that say "chosen" only where the empty sign stands on the page too: alone they begin the items of lists."""
_MARKED = re.compile(r"^([-−]?[$€£]?\d[\d.,']*[.,]\d{2})([A-Z])$")
_LABELLED = re.compile(r"^([^\W\d_][\w.-]*[^\W\d_]\.?:)([\dA-Z*#][\w.*#/-]*)$")
"""A label and its value without a blank between them: "Kasse:3", "Bon-Nr.:6630"."""
_TYPED_OVER = re.compile(r"^(?=[_.…]*[^\W_])(?:_+|\.{3,}|…+)?([^_…].*?)(?:_+|\.{3,}|…+)?$")
_LONGEST_BLANK = 200
"""Units: characters."""
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def read_lines(document: DocumentContent) -> list[Line]:
    """The lines of all pages, numbered through."""
    lines: list[Line] = []
    count = drawn = 0
    for page in document.pages:
        frames, words = frames_of(page), _tokens(page, count)
        if (tilt := tilt_of(page, words)) is not None:
            frames, words = levelled_frames(frames, tilt), levelled(words, tilt)
        tokens = placed(_without_margins(words, page), frames, drawn)
        count += len(page.words) * 2 + 1
        drawn += len(frames)
        lines.extend(page_lines(tokens, first=len(lines)))
    return lines


def page_lines(tokens: Sequence[Token], *, first: int = 0) -> list[Line]:
    """Group the tokens of one page into lines, top to bottom."""
    groups = sorted(_groups(tokens), key=lambda group: median(token.middle for token in group))
    lines = []
    ordered = [combed(sorted(group, key=lambda token: token.x0)) for group in groups]
    sized = sum(_is_set_off(token, last) for group in ordered for last, token in pairwise(group)) >= _SET_OFF
    for offset, group in enumerate(ordered):
        index = first + offset
        cells = tuple(Cell.of(run, index) for run in _runs(group, sized=sized))
        lines.append(Line(cells=cells, page=group[0].page, index=index))
    return lines


def _tokens(page: PageContent, first: int) -> list[Token]:
    width, height = page.width or 1.0, page.height or 1.0
    found: list[Token] = []
    if not page.words:
        return _tokens_of_text(page, first)
    for word in page.words:
        said, left, right = _without_blanks(_clean(word.text))
        x0, x1 = word.x0 + left * (word.x1 - word.x0), word.x1 - right * (word.x1 - word.x0)
        for text in _parts(said):
            box = (x0 * width, word.y0 * height, x1 * width, word.y1 * height)
            found.append(Token(text, first + len(found), page.number, *box, origin=word.origin))
    return _with_choices(found)


def _with_choices(tokens: list[Token]) -> list[Token]:
    """Filled circles and squares read as checked where empty ones stand on the page, in front of words like them."""
    said = {token.text for token in tokens}
    filled = {sign for sign, empty in _FILLED.items() if said & set(empty)}
    if not filled & said:
        return tokens
    return [replace(token, text="◉") if token.text in filled else token for token in tokens]


def _tokens_of_text(page: PageContent, first: int) -> list[Token]:
    """A page without words but with text (plain text formats): a monospaced grid stands in for the boxes."""
    found: list[Token] = []
    for row, line in enumerate(page.text.splitlines()):
        for match in re.finditer(r"\S+", _clean(line)):
            x0, x1 = match.start() * 6.0, match.end() * 6.0
            found.append(Token(match.group(), first + len(found), page.number, x0, row * 12.0, x1, row * 12.0 + 9.0))
    return found


def _clean(text: str) -> str:
    visible = _INVISIBLE.sub("", text.replace("\u00a0", " ").replace("\u202f", " "))
    return visible.encode("utf-8", "ignore").decode("utf-8").strip()


def _without_blanks(text: str) -> tuple[str, float, float]:
    """An answer without the blank that it was typed into ("__Berg_____"), and the shares that are cut off each end."""
    match = _TYPED_OVER.match(text) if len(text) <= _LONGEST_BLANK else None
    if match is None:
        return text, 0.0, 0.0
    return match.group(1), match.start(1) / len(text), (len(text) - match.end(1)) / len(text)


def _parts(text: str) -> list[str]:
    """A word; a check box glued to a word, a tax letter to an amount, or a value to its label stands alone."""
    if not text:
        return []
    match = _BOX.match(text)
    if match:
        return [match.group(1), text[1:]]
    marked = _MARKED.match(text) or _LABELLED.match(text)
    return list(marked.groups()) if marked else [text]


def _without_margins(tokens: list[Token], page: PageContent) -> list[Token]:
    """Leave out text that runs up the margin: many tiny words in a narrow strip at the edge."""
    width = page.width or 1.0
    climbing = _climbing(tokens)
    tokens = [token for token in tokens if token.index not in climbing and not _stands(token)]
    strips: dict[str, list[Token]] = defaultdict(list)
    for token in tokens:
        if token.x1 < 0.09 * width:
            strips["left"].append(token)
        elif token.x0 > 0.93 * width:
            strips["right"].append(token)
    dropped: set[int] = set()
    for strip in strips.values():
        tiny = [token for token in strip if len(token.text) <= 2 and token.text.isalpha()]
        if len(tiny) >= 8 and len(tiny) >= 0.6 * len(strip):
            dropped |= {token.index for token in tiny} | {token.index for token in strip if len(token.text) == 1}
    return [token for token in tokens if token.index not in dropped]


def _stands(token: Token) -> bool:
    """Whether a word runs up or down the page."""
    return len(token.text) > 2 and token.height > 2.2 * (token.x1 - token.x0)


def _climbing(tokens: Sequence[Token]) -> set[int]:
    """The letters of words that run up or down the page, letter by letter: one touches the next."""
    stacks: dict[tuple[float, float], list[Token]] = defaultdict(list)
    for token in tokens:
        if len(token.text) == 1:
            stacks[round(token.x0), round(token.x1)].append(token)
    found: set[int] = set()
    for stack in stacks.values():
        chain: list[Token] = []
        for token in sorted(stack, key=lambda token: token.y0):
            chain = [*chain, token] if chain and abs(token.y0 - chain[-1].y1) < _TOUCHING else [token]
            found |= {one.index for one in chain} if len(chain) >= _LETTERS else set()
    return found


def _groups(tokens: Sequence[Token]) -> list[list[Token]]:
    groups: list[list[Token]] = []
    centers: list[float] = []
    for token in sorted(tokens, key=lambda token: (token.middle, token.x0)):
        place = _group_for(token, groups, centers)
        if place is None:
            groups.append([token])
            centers.append(token.middle)
        else:
            groups[place].append(token)
    return groups


def _group_for(token: Token, groups: list[list[Token]], centers: list[float]) -> int | None:
    for place in range(len(groups) - 1, max(-1, len(groups) - 8), -1):
        smaller = min(token.height, groups[place][0].height)
        if abs(centers[place] - token.middle) < 0.45 * max(smaller, 1e-6):
            return place
    return None


def _runs(tokens: Iterable[Token], *, sized: bool = False) -> list[list[Token]]:
    """The cells of a line. `sized`: what was filled in is set larger than the words around it."""
    runs: list[list[Token]] = []
    for token in tokens:
        last = runs[-1][-1] if runs else None
        apart = last is not None and token.x0 - last.x1 > GAP * max(last.height, token.height)
        parted = last is not None and (_is_box(token, last) or (token.frame, token.blank) != (last.frame, last.blank))
        if last is None or apart or parted or (sized and _is_set_off(token, last)):
            runs.append([token])
        else:
            runs[-1].append(token)
    return runs


def _is_set_off(token: Token, last: Token) -> bool:
    """Whether a word is set in another size than the one before, as answers are in the lines of forms."""
    if token.page != last.page or not (_is_word(token) and _is_word(last)):
        return False
    smaller, larger = sorted((token.height, last.height))
    return _LARGER * smaller <= larger <= _LARGEST * smaller and token.x0 - last.x1 > _SPACE * smaller


def _is_word(token: Token) -> bool:
    return any(map(str.isalnum, token.text)) or token.text == ":"


def _is_box(token: Token, last: Token) -> bool:
    """A check box begins a cell; so does the word after a form's value."""
    return token.text in CHECKED or token.text in UNCHECKED or (token.origin == "form") != (last.origin == "form")
