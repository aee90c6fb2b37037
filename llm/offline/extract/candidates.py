"""Candidates for a target: values that stand where its label points, with how well they fit."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice

from llm.offline.extract.addresses import Party
from llm.offline.extract.balances import from_balances
from llm.offline.extract.boxed import in_box, in_frame, labelled_values
from llm.offline.extract.captions import is_numbered, same_print
from llm.offline.extract.compound import divided, part_of
from llm.offline.extract.headings import headed, headed_checks
from llm.offline.extract.labels import Hit
from llm.offline.extract.named_fields import from_fields
from llm.offline.extract.pointing import hits_for
from llm.offline.extract.reading import Reading
from llm.offline.extract.sentences import told_in_sentences, without_rest
from llm.offline.extract.signing import signed
from llm.offline.extract.targets import Target
from llm.offline.extract.ticks import chosen, ticked, unchosen
from llm.offline.extract.tills import paid_with, slip_lines
from llm.offline.extract.unlabelled import (
    from_boxes,
    from_numbers,
    from_parties,
    from_patterns,
    from_prose,
    from_taxes,
    is_share_of,
)
from llm.offline.extract.values import THRESHOLD, WORDY, Candidate, Value, values_in
from llm.offline.layout.analysis import cells_below, cells_right
from llm.offline.layout.model import Cell, Token
from llm.offline.matching.senses import held, senses_of
from llm.offline.matching.words import words_of
from llm.offline.typing.amounts import currency_code

_LISTED = 0.5
_REFERENCES = frozenset({"buyer_reference", "order_reference", "project_reference", "contract_reference"})
_SURE_LABEL = 0.9
_STAMPED, _ON_SLIP = frozenset({"document_number", "time"}), 0.5
_PRINTED = 0.5
"""What printed text counts as an answer on a page whose form fields are filled in."""
_SEPARATORS = frozenset({"-", "–", "|", "●", "•"})
_FORM, _LETTERHEAD = 8, 0.8
_FILLERS = frozenset({":", "*", "#", "-", "–", "=", "Nr.", "No.", "n°"})


def candidates_for(target: Target, reading: Reading, parties: Sequence[Party]) -> list[Candidate]:
    """All candidates of a target, best first."""
    if target.kind == "boolean":
        boxes = [*ticked(target, reading), *headed_checks(target, reading), *from_fields(target, reading)]
        return sorted((Candidate(*box) for box in boxes if box[1] >= THRESHOLD), key=_by_score)
    asked = bool(target.under) or (reading.asks_a_person and target.concept is not None and target.concept.form)
    found = [*_from_labels(target, reading), *from_patterns(target, reading)]
    asked = asked or (len(reading.framed) >= _FORM and not reading.is_business)
    found += from_parties(target, [party for party in parties if party.is_contracting] if asked else parties)
    found += _outside_boxes(from_parties(target, parties), reading) if asked else []
    options = unchosen(reading)
    found = [told for told in found if not (told.value.tokens and options.issuperset(told.value.tokens))]
    found = [told for told in found if not is_share_of(told.value, target, reading)]
    found += [
        *from_taxes(target, reading),
        *from_boxes(target, reading),
        *from_numbers(target, reading),
        *(Candidate(*told) for told in (*headed(target, reading), *from_fields(target, reading))),
        *(Candidate(*told) for told in (*signed(target, reading), *told_in_sentences(target, reading))),
        *(Candidate(*told) for told in from_balances(target, reading)),
        *from_prose(target, reading),
        *_from_compounds(target, reading),
    ]
    found += [Candidate(*told) for told in chosen(target, reading)] if target.kind in WORDY else []
    found += paid_with(reading) if target.concept is not None and target.concept.name == "payment_method" else []
    found = [replace(told, value=without_rest(target, told.value, reading)) for told in found]
    found = _off_slips(found, target, reading)
    best: dict[tuple[int, ...], Candidate] = {}
    for told in found:
        candidate = told if reading.is_answer(told.value.tokens) else told.weaker(_PRINTED)
        held = best.get(candidate.value.tokens)
        if held is None or candidate.score > held.score:
            best[candidate.value.tokens] = candidate
    return sorted((c for c in best.values() if c.score >= THRESHOLD), key=lambda c: -c.score)[:12]


def _off_slips(found: list[Candidate], target: Target, reading: Reading) -> list[Candidate]:
    """Numbers and times of a card terminal's slip count less than those of the receipt that it stands on."""
    if target.concept is None or target.concept.name not in _STAMPED or not (slip := slip_lines(reading)):
        return found
    inside = {token.index for index in slip for cell in reading.layout.lines[index].cells for token in cell.tokens}
    return [told.weaker(_ON_SLIP) if inside.issuperset(told.value.tokens) else told for told in found]


def _outside_boxes(parties: Iterator[Candidate], reading: Reading) -> list[Candidate]:
    """In a form names and addresses are told by its boxes; what stands outside of them may be the letterhead."""
    free = (told for told in parties if len(reading.framed) >= _FORM)
    return [told.weaker(_LETTERHEAD) for told in free if not reading.filled_in & set(told.value.tokens)]


def _from_compounds(target: Target, reading: Reading) -> Iterator[Candidate]:
    """What is a part of an answer: the town of "53844 Troisberg", the day of "Troisberg, 14 June 2025"."""
    for hit, wanted in divided(target, reading):
        for near, reach in islice(values_near(hit, "text", reading), 1):
            value = part_of(wanted, hit.cell, near, reading)
            if value is not None:
                yield Candidate(value, hit.quality * reach, _label_text(hit))


def _by_score(candidate: Candidate) -> float:
    return -candidate.score


def _from_labels(target: Target, reading: Reading) -> Iterator[Candidate]:
    if target.concept is not None and target.concept.name == "period_end":
        yield from _period_ends(reading)
    for hit in hits_for(target, reading):
        for near, reach in values_near(hit, target.kind, reading):
            value = _born(near) if target.concept is not None and target.concept.name == "birth_date" else near
            score = hit.quality * reach * value.fit * _place_bonus(target, hit.cell, reading)
            if target.kind != "amount" and reading.is_listed(value.tokens):
                score *= _LISTED
            if target.concept is not None and target.concept.name == "due_date" and _is_discounted(value, hit.cell):
                score *= _LISTED
            yield Candidate(value, score, _label_text(hit))


def _period_ends(reading: Reading) -> Iterator[Candidate]:
    """The last of two dates behind the label of a period."""
    for hit in reading.hits.get("period_start", ()):
        right = cells_right(reading.layout, hit.cell)[:1]
        tokens = [*hit.cell.tokens[hit.end :], *(token for cell in right for token in cell.tokens)]
        dates = values_in("date", tokens, reading)
        if len(dates) == 2:
            yield Candidate(dates[1], 0.95 * hit.quality, _label_text(hit))


def _is_discounted(value: Value, cell: Cell) -> bool:
    """Whether what follows a date up to the next comma speaks of a discount: that day is not the last one."""
    behind = [token.text for token in cell.tokens if token.index > value.tokens[-1]][:9] if value.tokens else []
    end = next((place for place, text in enumerate(behind) if text.endswith((",", ".", ";"))), len(behind) - 1)
    return "discount" in held(senses_of(words_of(" ".join(behind[: end + 1]))))


def _born(value: Value) -> Value:
    """A date of birth with a year of two digits is never in the future."""
    said = str(value.value)
    if said[:4] in value.text or said <= datetime.now(tz=UTC).date().isoformat():
        return value
    return replace(value, value=f"{int(said[:4]) - 100}{said[4:]}")


def _label_text(hit: Hit) -> str:
    return " ".join(token.text for token in hit.cell.tokens[hit.start : hit.end]).strip(" :")


def values_near(hit: Hit, kind: str, reading: Reading) -> Iterator[tuple[Value, float]]:
    """Values of `kind` behind the label in its cell, else right of it, else below it. Units: reach 0–1."""
    framed = reading.framed.get(hit.cell.tokens[0].index)
    if framed is not None:
        yield from in_frame(framed, kind, reading)
        return
    rest = _until_next_label(hit, kind, reading)
    worded = _worded_reference(hit, rest, kind, reading)
    if worded is not None:
        yield worded, 0.7
        return
    if rest:
        inline = _ordered(labelled_values(kind, rest, reading), kind, rest)
        if kind == "amount" and _is_explained(rest) and any(_right(hit, kind, reading)):
            inline = []  # "Paid in advance (12 x 98.00)": the sum stands beside it
        for rank, value in enumerate(inline[:3]):
            yield value, 1.0 - 0.05 * rank
        if inline and kind not in WORDY:
            return
    if not rest or kind not in WORDY:
        yield from _beside(hit, kind, reading, weakened=bool(rest))


def _is_explained(tokens: Sequence[Token]) -> bool:
    """Whether all figures behind a label stand in brackets."""
    text = " ".join(token.text for token in tokens)
    return "(" in text and not any(map(str.isdigit, re.sub(r"\([^()]*\)?", "", text)))


def _worded_reference(hit: Hit, rest: Sequence[Token], kind: str, reading: Reading) -> Value | None:
    """A reference may be words: "Your reference: Birkenhof / UG"."""
    if kind != "id" or hit.quality < _SURE_LABEL or not _REFERENCES & set(hit.concepts):
        return None
    right = next(iter(cells_right(reading.layout, hit.cell)), None)
    free = right is not None and ":" not in right.text and not reading.is_label(right)
    tokens = rest or (right.tokens if right is not None and free else ())
    if not 0 < len(tokens) <= 5 or any(any(map(str.isdigit, token.text)) for token in tokens):
        return None
    return next(iter(values_in("text", tokens, reading)), None)


def _ordered(values: list[Value], kind: str, tokens: Sequence[Token]) -> list[Value]:
    """Of several amounts behind one label the one with a currency, else the last one is meant."""
    between = [token for token in tokens if sum(map(str.isalpha, token.text)) > 3]
    if kind != "amount" or len(values) < 2 or between:
        return values
    last = list(reversed(values))
    return sorted(last, key=lambda value: not any(sign in value.text for sign in "€$£"))


def _beside(hit: Hit, kind: str, reading: Reading, *, weakened: bool) -> Iterator[tuple[Value, float]]:
    factor = 0.8 if weakened else 1.0
    first = hit.cell.tokens[0].index
    if first in reading.answers_over:
        over = reading.answers_over[first]
        yield from ((value, factor) for value in values_in(kind, over.tokens if over else (), reading)[:1])
        return
    if first in reading.answers_under:
        yield from ((value, factor * reach) for value, reach in in_box(reading.answers_under[first], kind, reading))
        return
    right = list(_right(hit, kind, reading))
    yield from ((value, factor * reach) for value, reach in right)
    factor *= 0.7 if any(reach > 0.8 for _, reach in right) else 0.92
    yield from ((value, factor * reach) for value, reach in _below(hit, kind, reading))
    yield from ((value, factor * reach) for value, reach in _alone_below(hit, kind, reading))


def _right(hit: Hit, kind: str, reading: Reading) -> Iterator[tuple[Value, float]]:
    width = reading.layout.page_size(hit.cell.page).width
    wordy = kind in WORDY
    for rank, cell in enumerate(cells_right(reading.layout, hit.cell)[:4]):
        if is_numbered(cell) or (reading.is_label(cell) and (rank or wordy or kind == "id")):
            return
        if kind == "id" and reading.begins_with_label(cell):
            return
        sure = _ends_label(hit) or hit.cell.tokens[0].index in reading.in_lists
        caption = wordy and not sure and (same_print(cell, hit.cell) or is_numbered(hit.cell))
        for value in labelled_values(kind, _value_tokens(cell), reading)[:1]:
            distance = max(0.0, cell.x0 - hit.cell.x1) / width
            yield value, (0.7 if caption else 1.0) * (0.97 - 0.25 * distance - 0.06 * rank)


def _ends_label(hit: Hit) -> bool:
    return hit.cell.tokens[hit.end - 1].text.endswith(":") if hit.end else False


def _below(hit: Hit, kind: str, reading: Reading) -> Iterator[tuple[Value, float]]:
    """Under the label; lines that only continue it do not count, an empty slot ("$") ends the search."""
    last, rank = hit.cell, 0
    for cell in cells_below(reading.layout, hit.cell)[:6]:
        in_table = reading.in_table(cell) and hit.cell.line not in reading.table_lines
        pair = kind == "id" and reading.begins_with_label(cell)
        if is_numbered(cell) or reading.is_label(cell) or in_table or pair:
            return
        slot = _slot(cell, reading) if currency_code(cell.text) else cell
        if slot is None:
            return
        if same_print(cell, hit.cell) and cell.y0 - last.y1 < 0.5 * cell.height and cell.text[:1].islower():
            last = cell
            continue
        values = labelled_values(kind, _comb(slot, kind, reading), reading)[:1]
        yield from ((value, 0.97 - 0.08 * rank) for value in values)
        rank += 1
        if values and (kind in WORDY or kind == "id"):
            return


def _alone_below(hit: Hit, kind: str, reading: Reading) -> Iterator[tuple[Value, float]]:
    """What stands alone on the next line, wherever the writer began in the box."""
    line = next(iter(reading.layout.lines[hit.cell.line + 1 : hit.cell.line + 2]), None)
    if line is None or line.page != hit.cell.page or len(line.cells) > 1:
        return
    cell = line.cells[0]
    near = cell.y0 - hit.cell.y1 < 1.5 * hit.cell.height and cell.overlap(hit.cell) <= 0
    boxes = reading.layout.lines[hit.cell.line].cells
    if next((box for box in reversed(boxes) if box.x0 <= cell.x0 + cell.height), boxes[0]) is not hit.cell:
        return  # it stands in the box of another caption
    if near and not is_numbered(cell) and not reading.is_label(cell):
        yield from ((value, 0.8) for value in values_in(kind, cell.tokens, reading)[:1])


def _slot(sign: Cell, reading: Reading) -> Cell | None:
    """What is written behind a currency sign that a form prints; None when the slot is empty."""
    lines = reading.layout.lines[max(0, sign.line - 2) : sign.line + 3]
    near = [
        cell
        for line in lines
        for cell in line.cells
        if cell.page == sign.page and abs(cell.middle - sign.middle) < 0.8 * sign.height
        if 0 <= cell.x0 - sign.x1 < 9 * sign.height
    ]
    first = min(near, key=lambda cell: cell.x0, default=None)
    return None if first is None or currency_code(first.text) else first


def _comb(cell: Cell, kind: str, reading: Reading) -> Sequence[Token]:
    """The tokens of a cell; numbers written into a comb of boxes go on in the next cells."""
    tokens = list(_value_tokens(cell))
    if kind != "id" or not all(token.text.isdigit() for token in tokens):
        return tokens
    for near in (other for other in reading.layout.lines[cell.line].cells if other.x0 >= cell.x1):
        close = near.x0 - tokens[-1].x1 < 6 * cell.height
        if not close or not all(token.text.isdigit() or token.text in "-–" for token in near.tokens):
            break
        tokens.extend(near.tokens)
    return tokens


def _value_tokens(cell: Cell) -> Sequence[Token]:
    """A cell's tokens up to a colon that begins another pair."""
    for place, token in enumerate(cell.tokens[:-1]):
        if token.text.endswith(":") and place > 0:
            return cell.tokens[:place]
    return cell.tokens


def _until_next_label(hit: Hit, kind: str, reading: Reading) -> list[Token]:
    """The tokens behind the label, up to the next label or a separator."""
    tokens = hit.cell.tokens[hit.end :]
    others = [
        other.start - hit.end for other in reading.labelled.get(hit.cell.tokens[0].index, []) if other.start > hit.end
    ]
    begins = _has_colon_after if kind in WORDY else _begins_pair
    limit = min((other for other in others if begins(tokens, other)), default=len(tokens))
    kept: list[Token] = []
    inside = False
    for place, token in enumerate(tokens[:limit]):
        if not kept and token.text.startswith("(") and not any(map(str.isdigit, token.text)):
            inside = True
        if inside or (not kept and _is_filler(token)):
            inside = inside and not token.text.endswith((")", "):"))
            continue
        if kept and kind != "id" and token.text in _SEPARATORS and _label_follows(tokens[place:]):
            break
        kept.append(token)
    return kept


def _is_filler(token: Token) -> bool:
    return token.text in _FILLERS or set(token.text) <= set(".…_")


def _begins_pair(tokens: Sequence[Token], place: int) -> bool:
    """A label inside a text only ends the value before it when something with a digit or colon follows it."""
    return any(":" in token.text or any(map(str.isdigit, token.text)) for token in tokens[place : place + 4])


def _has_colon_after(tokens: Sequence[Token], place: int) -> bool:
    return any(token.text.endswith(":") for token in tokens[place : place + 3])


def _label_follows(tokens: Sequence[Token]) -> bool:
    return any(token.text.endswith(":") for token in tokens[1:5])


def _place_bonus(target: Target, cell: Cell, reading: Reading) -> float:
    """Numbers and dates of the document stand in its head, totals at its end."""
    return _depth_bonus(target, cell, reading) * max(0.7, 1.06 - 0.06 * cell.page if not _is_total(target) else 1.0)


def _is_total(target: Target) -> bool:
    return target.concept is not None and target.kind == "amount"


def _depth_bonus(target: Target, cell: Cell, reading: Reading) -> float:
    count = max(1, len(reading.layout.lines))
    depth = cell.line / count
    name = target.concept.name if target.concept else ""
    if name in {"document_number", "issue_date", "buyer_id", "order_reference"}:
        return 1.0 - 0.12 * depth
    if target.concept is not None and target.kind == "amount":
        inside = 0.75 if cell.line in reading.table_lines else 1.0
        return (0.92 + 0.08 * depth) * inside
    return 1.0
