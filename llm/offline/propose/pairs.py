"""Further values with labels of their own: what is printed beside, behind or under the words that name it."""

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass

from llm.offline.extract.candidates import values_near
from llm.offline.extract.captions import LEADING_NUMBER, Caption, is_numbered
from llm.offline.extract.labels import Hit
from llm.offline.extract.reading import Reading
from llm.offline.extract.values import Value, values_in
from llm.offline.layout.analysis import cells_right
from llm.offline.layout.model import Cell, Check, Token
from llm.offline.matching.lexicon import concepts
from llm.offline.matching.words import polarity, word_list, words_of
from llm.offline.propose.english import in_english_words, spoken
from llm.offline.propose.naming import free_name, name_from_words
from llm.offline.propose.nodes import Schema, concept_node, field_node

_SENTENCE = re.compile(
    r"\b(?:is|are|was|the|you|your|this|that|must|will|see|enter|check|do|not|if|we|please|bitte|wir|sie|ist|sind|"
    r"wird|werden|nous|vous|est|sont|sera|merci|wij|is|wordt|worden|graag|veuillez|ik|ich|je)\b",
    re.IGNORECASE,
)
_WORDS, _LETTERS, _LONGEST = 6, 40, 60
_WHOLE = 0.9
_KNOWN = 0.5
_REACH = 0.6
_PAGES = 3
_BOXES = 45
_NUMBER = 4
"""Units: characters. A number of so many is the same one wherever it stands."""
_AMOUNTS = frozenset(
    {"net", "gross", "total", "tax", "amount", "price", "quantity", "payment", "discount", "installment", "percent",
     "rate", "cost", "fee", "interest", "sum", "page", "balance", "hours", "days"}
)  # fmt: skip
"""What these words name is money or counted, no number of anything."""
_UNITS = frozenset(
    [
        "kg",
        "g",
        "t",
        "lb",
        "lbs",
        "l",
        "m3",
        "m³",
        "m2",
        "m²",
        "kwh",
        "mwh",
        "kw",
        "kva",
        "kwp",
        "km",
        "mi",
        "miles",
        "ml",
        "cl",
        "cm",
        "mm",
        "m",
        "ha",
        "gal",
        "litres",
        "liter",
        "liters",
        "stk",
        "st",
        "pcs",
    ]
)
_PARTIES = frozenset({"party"})
_DATA = re.compile(r"\d{4}|@")
"""What no printed option says, but answers do."""
_SAID = 9
"""Units: words of an option."""
_VAGUE = frozenset(
    ["other", "none", "new", "used", "unknown", "first", "second", "full", "partial", "left", "right", "actual", "both"]
)
"""Options that say nothing without their question."""
_ASKED, _TOLD = 4, 2
"""Units: words of a question, and so many of them go into a name."""
IsCaption = Callable[[Cell, Reading], bool]


@dataclass(frozen=True, slots=True)
class Pair:
    """A label with its value. `kind`: date, number or text; `known`: the share of the label's words that is known."""

    caption: Caption
    value: Value
    kind: str
    name: str
    known: float
    concept: str = ""

    @property
    def label(self) -> str:
        """The label as printed, without what surrounds it."""
        tokens = [token.text for token in self.caption.cell.tokens[self.caption.start : self.caption.end]]
        while len(tokens) > 1 and LEADING_NUMBER.match(tokens[0]):
            tokens = tokens[1:]
        return " ".join(tokens).split("(")[0].strip(" :*.…_#")


def labelled_fields(
    reading: Reading,
    spent: set[int],
    taken: Container[str],
    room: int,
    *,
    lines: Container[int],
    form: IsCaption | None = None,
) -> dict[str, tuple[Schema, Value]]:
    """Fields for values that no usual field took. `lines` are those of tables; `form` tells the captions of boxes."""
    found: dict[str, tuple[Schema, Value]] = {}
    texts = _texts(reading, spent)
    for pair in _pairs(reading, lines, form):
        if len(found) >= room:
            break
        label = {token.index for token in pair.caption.cell.tokens[pair.caption.start : pair.caption.end]}
        if spent & label or spent & set(pair.value.tokens) or _is_told(pair, texts):
            continue
        name = pair.name if not (pair.name in taken or pair.name in found) else free_name(_own_name(pair, reading), {})
        if not name or name in taken or name in found:
            continue
        spent.update(pair.value.tokens)
        texts.add(pair.value.text)
        found[name] = (_node_for(pair, name), pair.value)
    return found


def _is_told(pair: Pair, texts: set[str]) -> bool:
    """Whether a number stands in another field already: totals and numbers of documents are printed twice."""
    text = pair.value.text
    return text in texts and (pair.kind == "number" or (len(text) >= _NUMBER and any(map(str.isdigit, text))))


def _texts(reading: Reading, spent: set[int]) -> set[str]:
    return {token.text for cell in reading.cells for token in cell.tokens if token.index in spent}


def _node_for(pair: Pair, name: str) -> Schema:
    if pair.concept and name == pair.concept:
        node = concept_node(concepts()[pair.concept])
        if not (node["type"] == "number" and pair.kind != "number"):
            return node
    said = name.replace("_", " ").capitalize()
    about = f"{said}, labelled “{pair.label}”"
    if pair.kind == "date":
        return field_node("string", f"{about} (ISO 8601 date)")
    return field_node("number" if pair.kind == "number" else "string", about)


def _pairs(reading: Reading, lines: Container[int], form: IsCaption | None) -> Iterator[Pair]:
    for caption in reading.captions:
        if form is None and caption.words != _words(caption):
            continue  # lines of a narrow paper under each other are no one caption
        pair = _pair(caption, reading, form) if caption.cell.line not in lines and _is_label(caption) else None
        if pair is not None:
            yield pair
    for caption in reading.segments:
        pair = _inline(caption, reading) if caption.cell.line not in lines and _is_label(caption) else None
        if pair is not None and (pair.concept or form is None):
            yield pair


def _words(caption: Caption) -> tuple[str, ...]:
    tokens = caption.cell.tokens[: caption.end]
    first = 1 if len(tokens) > 1 and LEADING_NUMBER.match(tokens[0].text) else 0
    return words_of(" ".join(token.text for token in tokens[first:]).split("(")[0])


def _is_label(caption: Caption) -> bool:
    """Whether words look like a label: few, without figures, no sentence, no answer."""
    cell = caption.cell
    text = " ".join(token.text for token in cell.tokens[caption.start : caption.end])
    first = next((char for char in text if char.isalpha()), "")
    plain = not any(map(str.isdigit, "".join(caption.words))) and len(text) <= _LETTERS
    return (
        1 <= len(caption.words) <= _WORDS
        and plain
        and bool(first)
        and not first.islower()
        and cell.page <= _PAGES
        and cell.tokens[caption.start].origin != "form"
        and len(_SENTENCE.findall(text)) == 0
    )


def _pair(caption: Caption, reading: Reading, form: IsCaption | None) -> Pair | None:
    drawn = _is_boxed(caption, reading)
    value, beside = _value_of(caption, reading, anywhere=form is not None or drawn)
    if value is None:
        return None
    name, concept, known = _name_of(caption, reading)
    kind, typed = _kind_of(value, reading, concept)
    boxed = drawn or (form is not None and (form(caption.cell, reading) or _is_numbered(caption)))
    named = known >= _KNOWN or bool(concept)
    short = len(value.text) <= _LONGEST and not _SENTENCE.search(value.text)
    likely = (
        caption.colon or boxed or (named and typed and beside) or (named and typed and known >= 1.0 and kind != "text")
    )
    if not (likely and short and name) or (not caption.colon and value.text[:1].islower()):
        return None
    if form is not None and kind == "number":
        kind = "text"  # a form holds what was written into it
    return Pair(caption, value, kind, name, known, concept)


def _is_boxed(caption: Caption, reading: Reading) -> bool:
    """Whether a caption is set small over or under what it names, or stands in a box or before a line with it."""
    first = caption.cell.tokens[0].index
    beside = reading.answers_over.get(first) is not None or bool(reading.framed.get(first))
    return not caption.start and (beside or first in reading.answers_under)


def _is_numbered(caption: Caption) -> bool:
    """Whether a caption has the number of a box: no house has so low a one in an address, mostly."""
    tokens = caption.cell.tokens
    number = re.match(r"^(\d{1,2})(?:\.\d{1,2})?[a-z]?[.)]?$", tokens[0].text)
    return len(tokens) > 1 and number is not None and int(number.group(1)) <= _BOXES


def _inline(caption: Caption, reading: Reading) -> Pair | None:
    """A number right behind words inside a line of several things, where they are all known to name one."""
    name, concept, known = _name_of(caption, reading)
    if not name or (not concept and (known < 1.0 or _AMOUNTS & set(name.split("_")))):
        return None
    if concept and concepts()[concept].kind == "amount":
        return None
    rest = caption.cell.tokens[caption.end :]
    values = values_in("date", rest[:3], reading) or values_in("id", rest, reading)
    if not values or values[0].tokens[0] != rest[0].index or values[0].fit < _KNOWN:
        return None
    kind = "date" if values_in("date", rest[:3], reading) else "text"
    if kind == "text" and not concept and name.split("_")[-1] not in word_list("id_names"):
        name = f"{name}_number"
    return Pair(caption, values[0], kind, name, known, concept)


def _value_of(caption: Caption, reading: Reading, *, anywhere: bool) -> tuple[Value | None, bool]:
    """The value that the label has, and whether it stands in the label's line.

    `anywhere`: people write wherever they like in the boxes of forms.
    """
    hit = Hit(caption.cell, caption.start, caption.end, 1.0)
    line = {token.index for token in caption.cell.tokens}
    line |= {token.index for cell in cells_right(reading.layout, caption.cell)[:1] for token in cell.tokens}
    for value, reach in values_near(hit, "text", reading):
        if not reading.is_answer(value.tokens) or value.text == caption.cell.text:
            continue
        if _is_caption(value, reading):
            return None, False
        beside = bool(line & set(value.tokens))
        plain = any(map(str.isalnum, value.text)) and reach >= _REACH
        return (
            (value, beside) if plain and (beside or anywhere or _is_under(value, caption, reading)) else (None, False)
        )
    return None, False


def _is_under(value: Value, caption: Caption, reading: Reading) -> bool:
    """Whether a value stands in the label's column."""
    cells = [cell for cell in reading.cells if any(token.index in value.tokens for token in cell.tokens)]
    near = 2 * caption.cell.height
    return any(cell.overlap(caption.cell) > 0 or abs(cell.x0 - caption.cell.x0) < near for cell in cells)


def _is_caption(value: Value, reading: Reading) -> bool:
    """Whether what stands where a value should is another label."""
    cells = [cell for cell in reading.cells if cell.tokens[0].index == value.tokens[0]] if value.tokens else []
    return any(reading.is_label(cell) or is_numbered(cell) for cell in cells)


def _name_of(caption: Caption, reading: Reading) -> tuple[str, str, float]:
    """An English name, the concept that the label means (or ""), and how much of the label is known."""
    words, known = in_english_words(caption.words, spoken(reading))
    for hit in reading.labelled.get(caption.cell.tokens[0].index, ()):
        inside = hit.start >= caption.start and hit.end <= caption.end
        if inside and hit.quality >= _WHOLE and hit.end - hit.start >= 0.6 * (caption.end - caption.start):
            names = [name for name in hit.concepts if concepts()[name].kind not in _PARTIES]
            if len(names) == 1 or (names and "document_number" not in names):
                return names[0], names[0], known
    return name_from_words(words), "", known


def _own_name(pair: Pair, reading: Reading) -> str:
    words, _ = in_english_words(pair.caption.words, spoken(reading))
    return name_from_words(words)


def _kind_of(value: Value, reading: Reading, concept: str) -> tuple[str, bool]:
    """Date, number or text, and whether the value shows a kind at all."""
    tokens = _tokens(value, reading)
    meant = concepts()[concept].kind if concept else ""
    dates = values_in("date", tokens, reading) if len(tokens) <= 5 and meant in {"", "date"} else []
    beside = [token.text for token in tokens if dates and token.index not in dates[0].tokens]
    if dates and len(beside) <= 2 and not any(map(str.isdigit, "".join(beside))):
        return "date", True
    amounts = [*values_in("amount", tokens, reading), *values_in("percent", tokens, reading)]
    whole = [amount for amount in amounts if len(amount.tokens) == len(tokens)]
    if meant in {"", "amount", "percent"} and any(amount.fit >= 1.0 for amount in whole):
        return "number", True
    if whole and (meant in {"amount", "percent"}):
        return "number", True
    if meant in {"", "amount"} and len(amounts) == 1 and tokens[-1].text.lower().strip(".") in _UNITS:
        return "number", len(amounts[0].tokens) == len(tokens) - 1
    return "text", any(map(str.isdigit, value.text)) and len(tokens) <= 5


def _tokens(value: Value, reading: Reading) -> list[Token]:
    held = set(value.tokens)
    return [token for cell in reading.cells for token in cell.tokens if token.index in held]


def check_fields(reading: Reading, room: int) -> dict[str, tuple[Schema, Check]]:
    """Check boxes as booleans, by their captions; "yes" and "no" beside a question are one field, named after it."""
    found: dict[str, tuple[Schema, Check]] = {}
    for check in reading.layout.checks:
        captions = [check.question] if _answers(check) else list(check.captions)
        for caption in captions:
            said = re.split(r"[.(?]", caption)[0].strip()
            words, _ = in_english_words(words_of(said)[:7], spoken(reading))
            name = name_from_words(_with_question(words, check, reading))
            if name and not _DATA.search(said) and len(words) <= _SAID:
                if name not in found and len(found) < room:
                    found[name] = field_node("boolean", f"Whether the box labelled “{said[:60]}” is checked"), check
                break
    return found


def _with_question(words: Sequence[str], check: Check, reading: Reading) -> tuple[str, ...]:
    """One word of several says little without what it answers: "Mileage: ☒ actual ☐ not actual"."""
    several = sum(other.question == check.question for other in reading.layout.checks) > 1
    asked = words_of(check.question.split("(")[0]) if several and not _answers(check) else ()
    if (
        len(words) != 1
        or (len(words[0]) > 1 and words[0] not in _VAGUE)
        or not 0 < len(asked) <= _ASKED
        or _DATA.search(check.question)
    ):
        return tuple(words)
    said, _ = in_english_words(asked, spoken(reading))
    telling = [word for word in said if word not in words][:_TOLD]
    return (*telling, *words)


def _answers(check: Check) -> bool:
    """Whether a box is one of "yes" and "no"."""
    return bool(check.question) and polarity(words_of(check.captions[0].split("(")[0])) is not None
