"""The objects of a schema and where a form asks for each: all headings given out at once, each used one time.

`{applicant: {name}, partner: {name}}` and `PartnerName` are groups with a name and the leaves in it. A group that no
heading names has the captions that are left over, in the order of the schema.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from llm.offline.extract.areas import Area, areas_of
from llm.offline.extract.captions import Caption
from llm.offline.extract.heads import NAMED, WHOLE, Head, fits, heads_of
from llm.offline.extract.reading import Reading
from llm.offline.extract.targets import Path, Target
from llm.offline.layout.model import Token
from llm.offline.matching.lexicon import concept_of
from llm.offline.matching.sections import abouts_of, is_about_somebody
from llm.offline.matching.senses import held, meant_alike, senses_of
from llm.offline.matching.words import likeness, word_list, words_of, words_of_name

Words = tuple[str, ...]
Key = tuple[Path, Words]
_SAID = 0.6
"""Units: likeness 0–1. Of a caption to what a name says beside its group's."""
_SHARE, _TRIES, _NARROW = 0.25, 4, 0.18
_LONGEST = 9
"""Units: words of a caption."""
_CHECKS, _BOXES = 2, 5
_BUSINESS = frozenset(
    {"invoice", "proforma", "order", "quote", "credit_note", "delivery_note", "receipt", "statement", "reminder"}
)
_MOST = 60
"""So many groups of one schema are looked at."""
_ALL_BUT_SURE = 0.8


@dataclass(slots=True)
class Group:
    """An object, or the leaves whose names begin alike. `rests`: what each leaf's name says beside the group's."""

    key: Key
    name: Words
    parent: "Group | None"
    rests: dict[Path, Words] = field(default_factory=dict)
    areas: list[Area] = field(default_factory=list)

    @property
    def is_object(self) -> bool:
        return not self.key[1]

    def holds(self, token: Token) -> bool:
        """Whether a word stands where the form asks for the group."""
        return any(area.holds(token) for area in self.areas)


class Groups:
    """The groups of a schema, placed on the pages of a document."""

    def __init__(self, targets: Sequence[Target], reading: Reading) -> None:
        self.reading = reading
        self.all = [group for group in _found(targets) if is_form(reading) or not _is_partys(group, targets)]
        self.heads = heads_of(reading) if self.all else []
        for siblings in _by_parent(self.all):
            self._place(siblings)
        self.ordered = self._in_order()

    def of(self, target: Target) -> list[Group]:
        """The groups that a target is in, the innermost first."""
        return [group for group in reversed(self.all) if target.path in group.rests]

    def home(self, target: Target) -> Group | None:
        """The innermost group of a target that stands somewhere."""
        return next((group for group in self.of(target) if group.areas), None)

    def strangers(self, target: Target) -> list[Group]:
        """The groups that a target is not in, beside those that it is in."""
        own = self.of(target)
        parents = {id(group.parent) for group in own} | {id(None)}
        return [group for group in self.all if group.areas and group not in own and id(group.parent) in parents]

    def _place(self, siblings: Sequence[Group]) -> None:
        """Give headings to groups of one level, the best pairs first; one under which nothing is asked, to no group."""
        parent = siblings[0].parent
        pairs = [
            (said, -number, -at, group, head)
            for number, group in enumerate(siblings)
            for at, head in enumerate(self.heads)
            if (said := fits(group.name, head)) >= (NAMED if group.is_object else WHOLE)
            and (parent is None or not parent.areas or parent.holds(head.cell.tokens[0]))
        ]
        pairs.sort(key=lambda pair: pair[:3], reverse=True)
        refused: set[tuple[Key, int]] = set()
        for _ in range(_TRIES):
            chosen: list[tuple[Group, Head]] = []
            for _, _, _, group, head in pairs:
                free = all(group is not other and head is not used for other, used in chosen)
                if free and (group.key, id(head)) not in refused:
                    chosen.append((group, head))
            told = self._areas(chosen, parent)
            empty = {
                (group.key, id(head)) for group, head in chosen if not self._asks_in(group, head, told[group.key][:1])
            }
            if not empty:
                break
            refused |= empty
        for group, head in chosen:
            if (group.key, id(head)) not in refused:
                group.areas.extend(told[group.key])

    def _areas(self, chosen: Sequence[tuple[Group, Head]], parent: Group | None) -> dict[Key, list[Area]]:
        """The areas of groups, each under its heading first, then under those that say the same again."""
        used = {id(head) for _, head in chosen}
        again = [
            (group, other)
            for group, head in chosen
            for other in self.heads
            if id(other) not in used and words_of(other.text) == words_of(head.text) and not other.asks
            if parent is None or not parent.areas or parent.holds(other.cell.tokens[0])
        ]
        both = [*chosen, *again]
        within = parent.areas[0] if parent is not None and parent.areas else None
        found: dict[Key, list[Area]] = defaultdict(list)
        for (group, _), area in zip(
            both, areas_of([head for _, head in both], self.heads, self.reading, within), strict=True
        ):
            found[group.key].append(area)
        return found

    def _asks_in(self, group: Group, head: Head, areas: Sequence[Area]) -> bool:
        """Whether captions in an area, or left of it, say what the names of a group's leaves say."""
        inside = [
            caption
            for caption in self.reading.captions
            if len(caption.words) <= _LONGEST
            and any(area.holds(caption.cell.tokens[0]) or area.is_beside(caption.cell) for area in areas)
        ]
        said = sum(
            any(alike(rest, caption, self.reading) >= _SAID for caption in inside) for rest in group.rests.values()
        )
        if group.is_object:
            return said >= (1 if fits(group.name, head) >= WHOLE else max(1, _SHARE * len(group.rests)))
        narrow = any(area.x1 - area.x0 < _NARROW * self.reading.layout.page_size(area.page).width for area in areas)
        return said >= 2 and not narrow

    def _in_order(self) -> dict[Path, Caption]:
        """Captions of groups that no heading names: where as many are left over as there are such groups."""
        found: dict[Path, Caption] = {}
        for siblings in _by_parent(self.all):
            told = self._left_over(siblings)
            for group in siblings:
                paths = [path for path in group.rests if path in told]
                if len(paths) >= (1 if group.is_object else 2):
                    found.update((path, told[path]) for path in paths)
        return found

    def _left_over(self, siblings: Sequence[Group]) -> dict[Path, Caption]:
        found: dict[Path, Caption] = {}
        taken = [group for group in siblings if group.areas]
        shared = {rest for group in taken for rest in group.rests.values()}
        by_rest: dict[Words, list[Path]] = defaultdict(list)
        for group in siblings:
            for path, rest in group.rests.items() if not group.areas else ():
                by_rest[rest].append(path)
        for rest, paths in by_rest.items():
            asked_again = len(paths) > 1 or rest in shared
            if not asked_again or (len(rest) > 1 and set(rest) <= word_list("light")):
                continue
            left = [c for c in self._captions(rest) if not any(group.holds(c.cell.tokens[0]) for group in taken)]
            if len(left) == len(paths):
                found.update(zip(paths, left, strict=True))
        return found

    def _captions(self, rest: Words) -> list[Caption]:
        """The captions that say nothing but these words."""
        said = [
            caption
            for caption in self.reading.captions
            if not caption.start
            and caption.cell.text[:1].isalpha()
            and not _has_number(caption)
            and alike(rest, caption, self.reading) >= _ALL_BUT_SURE
        ]
        first = {caption.cell.tokens[0].index: caption for caption in reversed(said)}
        return sorted(first.values(), key=lambda c: (c.cell.page, c.cell.line, c.cell.x0))


def _has_number(caption: Caption) -> bool:
    return any(sum(map(str.isdigit, token.text)) > 2 for token in caption.cell.tokens[: caption.end])


def _by_parent(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """The groups of each level, outer ones first."""
    levels: dict[int, list[Group]] = defaultdict(list)
    for group in groups:
        levels[id(group.parent)].append(group)
    yield from levels.values()


def alike(rest: Words, caption: Caption, reading: Reading) -> float:
    """How well a caption says words. Units: likeness 0–1."""
    said = max(likeness(rest, caption.words), 0.97 * meant_alike(senses_of(rest), senses_of(caption.words)))
    concept = concept_of(rest)
    if concept is not None and not caption.start:
        hits = reading.labelled.get(caption.cell.tokens[0].index, ())
        said = max([said, *(hit.quality for hit in hits if hit.start <= 1 and concept.name in hit.concepts)])
    return said


def names(group: Group, label: Words) -> bool:
    """Whether a caption itself says whose it is."""
    telling = held(abouts_of(group.name)) - word_list("light")
    return bool(telling & held(abouts_of(label))) or set(group.name) <= set(label)


def _is_somebodys(words: Words) -> bool:
    """Whether the beginning of a name says of whom or of what part of a form it is, and nothing more."""
    bare = tuple(word for word in words if len(word) > 1)
    return is_about_somebody(bare[-1:])


def is_form(reading: Reading) -> bool:
    """Whether the page is one to fill in: on business papers roles tell whose an address is."""
    boxed = len(reading.layout.checks) >= _CHECKS or len(reading.framed) >= _BOXES
    return reading.asks_a_person or (boxed and not reading.own & _BUSINESS)


def _is_partys(group: Group, targets: Sequence[Target]) -> bool:
    return any(target.party for target in targets if target.path in group.rests)


def _found(targets: Sequence[Target]) -> list[Group]:
    """The objects of the schema and the beginnings that names share, outer ones first."""
    groups: dict[Key, Group] = {}
    for target in targets:
        for depth in range(1, len(target.path)):
            key: Key = (target.path[:depth], ())
            name = words_of_name(target.path[depth - 1])
            parent = groups.get((target.path[: depth - 1], ()))
            group = groups.setdefault(key, Group(key, name, parent))
            group.rests[target.path] = words_of_name(target.path[-1])
    prefixes: dict[Key, list[tuple[Path, Words]]] = defaultdict(list)
    for target in targets:
        own = words_of_name(target.path[-1])
        for cut in range(1, len(own)):
            prefixes[target.path[:-1], own[:cut]].append((target.path, own[cut:]))
    for (path, words), leaves in prefixes.items():
        whole = {len(other) for (at, other) in prefixes if at == path and other[: len(words)] == words}
        longer = any(
            len(found) == len(leaves)
            for (at, other), found in prefixes.items()
            if at == path and len(other) > len(words) and other[: len(words)] == words
        )
        if whole and not longer and _is_somebodys(words):
            groups[path, words] = Group((path, words), words, groups.get((path, ())), dict(leaves))
    return list(groups.values())[:_MOST]
