"""Answers where the form asks for them: those of another person's or section's part are refused."""

from collections.abc import Iterator, Sequence

from llm.offline.extract.candidates import values_near
from llm.offline.extract.captions import Caption
from llm.offline.extract.groups import Group, Groups, alike, names
from llm.offline.extract.labels import Hit
from llm.offline.extract.reading import Reading
from llm.offline.extract.targets import Target
from llm.offline.extract.values import THRESHOLD, Candidate, Value, values_in
from llm.offline.layout.model import Cell
from llm.offline.matching.lexicon import concept_of
from llm.offline.matching.senses import held, senses_of
from llm.offline.matching.words import likeness, words_of

_SAID = 0.6
"""Units: likeness 0–1. Of a caption to what a name says beside its group's."""
_BASE, _MORE = 0.82, 0.3
_INSIDE, _OUTSIDE, _ELSEWHERE, _LOOSE = 1.06, 0.7, 0.25, 0.93
_OF_NAME = 0.3
_NAMES = frozenset({"name", "names", "company", "title", "type", "text", "description", "details", "number"})
_UNPLACED, _TAKEN, _IN_TURN = 0.6, 0.28, 1.05
"""What a candidate counts by its place. Units: factor."""


def placed(target: Target, found: Sequence[Candidate], groups: Groups) -> list[Candidate]:
    """A target's candidates, judged by where they stand, with those that its section adds."""
    if not groups.all or target.under:  # the description says under which heading
        return list(found)
    reading, home = groups.reading, groups.home(target)
    added = list(_inside(target, home, reading)) if home is not None else []
    turn = groups.ordered.get(target.path) if home is None or not home.is_object else None
    if turn is not None:
        added += list(_at(target, turn, target.path, 1.0, reading))
    judged = [
        told.weaker(_factor(target, told, home, groups) * _turn(told, turn))
        for told in (*found, *added)
        if told.value.tokens or told not in added
    ]
    return sorted((told for told in judged if told.score >= THRESHOLD), key=lambda told: -told.score)


def _turn(told: Candidate, turn: Caption | None) -> float:
    if turn is None:
        return 1.0
    return _IN_TURN if words_of(told.label) == turn.words else 1.0


def _factor(target: Target, told: Candidate, home: Group | None, groups: Groups) -> float:
    """What a candidate counts by its place. Units: factor."""
    token = groups.reading.tokens.get(told.value.tokens[0]) if told.value.tokens else None
    if token is None:
        return 1.0
    own, label = groups.of(target), words_of(told.label)
    if home is not None and home.holds(token):
        return _OF_NAME if _says_only_whose(home, home.rests[target.path], label) else _INSIDE
    if any(names(group, label) for group in own[:1]) and len(label) > 1:
        return 1.0
    others = [other for other in groups.strangers(target) if other.holds(token)]
    if others:
        if home is not None:
            return _ELSEWHERE
        whole = [group for group in own if group.is_object]
        taken = any(group.rests[target.path] in other.rests.values() for group in whole for other in others)
        return _TAKEN if taken else (_UNPLACED if whole else _LOOSE)
    return _OUTSIDE if home is not None else 1.0


def _says_only_whose(home: Group, rest: tuple[str, ...], label: tuple[str, ...]) -> bool:
    """Whether a caption is the group's name and no more: what stands behind it is a name, not an address or a date."""
    if not label or set(rest) & _NAMES or not home.is_object or not names(home, label):
        return False
    return likeness(rest, label) == 0 and not held(senses_of(rest)) & held(senses_of(label))


def _inside(target: Target, home: Group, reading: Reading) -> Iterator[Candidate]:
    """What captions in the target's section, or left of its column, ask for."""
    rest = home.rests[target.path]
    for caption in reading.captions:
        first = caption.cell.tokens[0]
        inside = home.holds(first)
        row = not inside and any(area.is_beside(caption.cell) for area in home.areas)
        if caption.start or not (inside or row):
            continue
        said = alike(rest, caption, reading)
        if said < _SAID:
            continue
        score = _BASE + _MORE * said - 0.1
        if inside:
            yield from _at(target, caption, rest, score, reading)
        else:
            yield from _in_row(target, caption, home, rest, score, reading)


def _kind(target: Target, rest: Sequence[str]) -> str:
    concept = concept_of(tuple(rest))
    return concept.kind if target.kind == "text" and concept is not None else target.kind


def _at(target: Target, caption: Caption, rest: Sequence[str], score: float, reading: Reading) -> Iterator[Candidate]:
    if target.kind == "boolean":
        return
    hit = Hit(caption.cell, caption.start, caption.end, score)
    label = " ".join(token.text for token in caption.cell.tokens[: caption.end])
    for value, reach in values_near(hit, _kind(target, rest), reading):
        yield Candidate(value, score * reach * value.fit, label.strip(" :"))


def _in_row(
    target: Target, caption: Caption, home: Group, rest: Sequence[str], score: float, reading: Reading
) -> Iterator[Candidate]:
    """What stands at a caption's height in the column of the section."""
    cells = [cell for cell in reading.cells if _is_level(cell, caption.cell) and home.holds(cell.tokens[0])]
    if not cells or target.kind == "boolean":
        return
    tokens = [token for cell in cells for token in cell.tokens]
    found: list[Value] = values_in(_kind(target, rest), tokens, reading)
    yield from (Candidate(value, score * value.fit, caption.cell.text) for value in found[:1])


def _is_level(cell: Cell, caption: Cell) -> bool:
    near = abs(cell.middle - caption.middle) < 0.7 * max(cell.height, caption.height)
    return cell.page == caption.page and near and cell is not caption
