"""The whole extraction: targets, candidates, assignment over the document, the filled schema."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from llm.offline.extract.arithmetic import Option, settled_totals
from llm.offline.extract.candidates import candidates_for
from llm.offline.extract.casting import cast
from llm.offline.extract.groups import Groups
from llm.offline.extract.parties import find_parties
from llm.offline.extract.placing import placed
from llm.offline.extract.reading import Reading
from llm.offline.extract.rows import fill_arrays
from llm.offline.extract.schema import empty_value, inner_schema
from llm.offline.extract.targets import Path, Target, targets_of
from llm.offline.extract.values import THRESHOLD, Candidate, Value
from llm.offline.matching.words import words_of

_SPENT = 0.55


@dataclass(frozen=True, slots=True)
class Assigned:
    """A target's chosen candidate and the value in the schema's type."""

    target: Target
    candidate: Candidate
    value: Any


def extract(response_format: Any, reading: Reading) -> Any:
    """The document's values in the form of the schema. Total: any schema, any document."""
    root = inner_schema(response_format)
    result = empty_value(root, root)
    if not isinstance(result, dict):
        return result
    targets, arrays = targets_of(root, root)
    told = assign(targets, reading)
    for assigned in told:
        _put(result, assigned.target.path, assigned.value)
    taken_off = {abs(one.value) for one in told if _is_discount(one)}
    for path, rows in fill_arrays(arrays, root, reading).items():
        _put(result, path, [row for row in rows if not _takes_off(row, taken_off)] if taken_off else rows)
    return result


def _is_discount(assigned: Assigned) -> bool:
    concept = assigned.target.concept
    return concept is not None and concept.name == "discount_total" and isinstance(assigned.value, (int, float))


def _takes_off(row: Any, amounts: set[float]) -> bool:
    """Whether a row is the line of a discount that the schema asks for apart: no item."""
    numbers = (
        [value for value in row.values() if isinstance(value, (int, float)) and value] if isinstance(row, dict) else []
    )
    return len(numbers) == 1 and numbers[0] < 0 and -numbers[0] in amounts


def assign(targets: list[Target], reading: Reading) -> list[Assigned]:
    """Give each target its best value; a value that serves one target well is worth less to the others."""
    parties, groups = find_parties(reading), Groups(targets, reading)
    pool = [
        (candidate.score, -number, target, candidate, value)
        for number, target in enumerate(targets)
        for candidate in placed(target, candidates_for(target, reading, parties), groups)
        if (value := cast(candidate.value, target)) is not None
    ]
    pool += [
        entry
        for number, target in enumerate(targets)
        if target.enum
        for entry in _title_options(number, target, reading)
    ]
    pool.sort(key=lambda entry: (-entry[0], -entry[1]))
    spent: dict[int, Target] = {}
    done: dict[Path, Assigned] = {}
    for score, _, target, candidate, value in pool:
        if target.path in done:
            continue
        clash = any(index in spent and not _may_share(spent[index], target) for index in candidate.value.tokens)
        if clash and score * _SPENT < THRESHOLD + 0.02:
            continue
        done[target.path] = Assigned(target, candidate, value)
        for index in candidate.value.tokens:
            spent.setdefault(index, target)
    _settle(targets, pool, done, reading)
    return [done[target.path] for target in targets if target.path in done]


def _settle(
    targets: Sequence[Target],
    pool: Sequence[tuple[float, int, Target, Candidate, Any]],
    done: dict[Path, Assigned],
    reading: Reading,
) -> None:
    """Take other printed numbers where sums say so."""
    options: dict[Path, list[Option]] = {}
    for score, _, target, candidate, _value in pool:
        if isinstance(candidate.value.value, Decimal):
            chosen = target.path in done and done[target.path].candidate is candidate
            options.setdefault(target.path, []).append(Option(candidate.value, score, chosen))
    by_path = {target.path: target for target in targets}
    for path, value in settled_totals(targets, options, reading).items():
        fitting = cast(value, by_path[path])
        if fitting is not None:
            done[path] = Assigned(by_path[path], Candidate(value, THRESHOLD), fitting)


def _may_share(a: Target, b: Target) -> bool:
    """Whether two targets may have the same value: amounts that fall together, an address and its parts."""
    if a.kind != b.kind:
        return True
    named = a.concept is not None and b.concept is not None
    if named and a.concept is not None and b.concept is not None:
        return b.concept.name in a.concept.instead or a.concept.name in b.concept.instead or a.concept == b.concept
    return bool(a.part or b.part) and a.party == b.party and a.part != b.part


def _title_options(number: int, target: Target, reading: Reading) -> list[tuple[float, int, Target, Candidate, Any]]:
    """An enum whose option is printed in the document's head ("type": invoice)."""
    found = []
    head = [cell for cell in reading.cells if cell.page == 1][:40]
    for option in target.enum:
        wanted = words_of(str(option).replace("_", " ")) if isinstance(option, str) else ()
        for cell in head:
            words = words_of(cell.text)
            if wanted and any(words[at : at + len(wanted)] == wanted for at in range(len(words))):
                value = Value(cell.text, cell.text, (cell.tokens[0].index,))
                found.append((0.4, -number, target, Candidate(value, 0.4, cell.text), option))
                break
    return found


def _put(result: dict[str, Any], path: Path, value: Any) -> None:
    node: Any = result
    for name in path[:-1]:
        node = node.get(name) if isinstance(node, dict) else None
    if isinstance(node, dict):
        node[path[-1]] = value


def is_empty(value: Any) -> bool:
    """Whether a value stands for "not in the document"."""
    if isinstance(value, Mapping):
        return all(is_empty(child) for child in value.values())
    if isinstance(value, bool):
        return not value
    return value in ("", 0, None) or value == []
