"""The fields that a document has: the usual ones of its kind, further labelled values, check boxes."""

import re
from collections.abc import Iterator

from llm.offline.extract.candidates import values_near
from llm.offline.extract.captions import Caption
from llm.offline.extract.fill import assign
from llm.offline.extract.labels import Hit
from llm.offline.extract.reading import Reading
from llm.offline.extract.roles import ROLES
from llm.offline.extract.targets import make_target
from llm.offline.extract.values import Value, values_in
from llm.offline.matching.lexicon import Kind, concepts
from llm.offline.matching.words import words_of
from llm.offline.propose.forms import is_caption
from llm.offline.propose.naming import free_name, name_from_words
from llm.offline.propose.nodes import Schema, address_node, concept_node, field_node

MAX_FIELDS, MAX_FORM_FIELDS = 20, 30
_PARTS = ("line1", "line2", "postcode", "city", "state", "country")
_DEFAULT = (
    "document_number", "issue_date", "due_date", "period_start", "period_end", "buyer_id", "order_reference",
    "seller", "buyer", "patient_name", "birth_date", "currency", "net_total", "tax_total", "gross_total", "iban",
)  # fmt: skip
_MORE = (
    "delivery_note_number",
    "project_reference",
    "bic",
    "tax_rate",
    "shipping_cost",
    "payment_method",
    "contact_person",
    "subject",
)
_SENTENCE = re.compile(r"\b(?:is|are|was|the|you|your|this|that|must|will|see|enter|check|do|not|if)\b", re.IGNORECASE)


def usual_fields(kind: Kind, reading: Reading) -> tuple[dict[str, Schema], set[int]]:
    """The fields of the kind that the document fills, and the tokens that their values take."""
    wanted = _expanded((*(kind.fields or _DEFAULT), *_MORE) if not kind.form else ())
    targets = [make_target(path, node, str(node["type"])) for path, node in wanted]
    found: dict[str, Schema] = {}
    parts: dict[str, list[str]] = {}
    spent: set[int] = set()
    for assigned in assign(targets, reading):
        spent.update(assigned.candidate.value.tokens)
        path = assigned.target.path
        if len(path) == 2:
            parts.setdefault(path[0], []).append(path[1])
            found.setdefault(path[0], {})
        elif assigned.value not in ("", None):
            found[path[0]] = next(node for held, node in wanted if held == path)
    for name, held in parts.items():
        found[name] = address_node(name.removesuffix("_address").replace("_", " "), held)
    return found, spent


def _expanded(names: tuple[str, ...]) -> list[tuple[tuple[str, ...], Schema]]:
    """Field names to paths and nodes; "seller" stands for name, address and VAT id."""
    wanted: list[tuple[tuple[str, ...], Schema]] = []
    for name in names:
        if name in ROLES:
            wanted.append(((f"{name}_name",), concept_node(concepts()[f"{name}_name"])))
            wanted.extend(((f"{name}_address", part), field_node("string", part)) for part in _PARTS)
            if f"{name}_vat_id" in concepts():
                wanted.append(((f"{name}_vat_id",), concept_node(concepts()[f"{name}_vat_id"])))
        elif name == "seller_phone":
            wanted.append(((name,), field_node("string", "Telephone number of the seller")))
        elif name in concepts():
            wanted.append(((name,), concept_node(concepts()[name])))
    return wanted


def labelled_fields(reading: Reading, spent: set[int], room: int, *, form: bool = False) -> dict[str, Schema]:
    """Further values with a label of their own that no usual field took; `form`: captions of boxes count as labels."""
    found: dict[str, Schema] = {}
    names: set[str] = set()
    for caption in _pairs(reading, form=form):
        if len(found) >= room:
            break
        if spent & {token.index for token in caption.cell.tokens[: caption.end]}:
            continue
        value = _value_of(caption, reading, spent)
        name = _name_of(caption, reading, form=form) if value is not None else ""
        if value is None or not name or name in names:
            continue
        names.add(name)
        spent.update(value.tokens)
        found[free_name(name, found)] = _node_for(value, caption, reading)
    return found


def _pairs(reading: Reading, *, form: bool) -> Iterator[Caption]:
    """Captions that look like labels of fields: with a colon, or numbered or short in a form."""
    for caption in reading.captions:
        text = caption.cell.text
        short = 1 <= len(caption.words) <= 7 and not any(map(str.isdigit, "".join(caption.words)))
        if caption.cell.line in reading.table_lines or not short or text[:1].islower() or caption.cell.page > 2:
            continue
        if caption.cell.tokens[0].origin == "form":
            continue  # an answer, no caption
        numbered = re.match(r"^\d{1,2}[a-z]?\s", text) is not None
        labelled = caption.colon or numbered or _form_value_below(caption, reading)
        labelled = labelled or (form and is_caption(caption.cell, reading))
        if labelled and len(_SENTENCE.findall(" ".join(caption.words))) <= 1:
            yield caption


def _form_value_below(caption: Caption, reading: Reading) -> bool:
    below = reading.layout.lines[caption.cell.line + 1 : caption.cell.line + 4]
    near = [
        cell
        for line in below
        for cell in line.cells
        if cell.page == caption.cell.page and cell.overlap(caption.cell) > 0
    ]
    return bool(near) and near[0].tokens[0].origin == "form"


def _value_of(caption: Caption, reading: Reading, spent: set[int]) -> Value | None:
    hit = Hit(caption.cell, 0, caption.end, 1.0)
    for value, reach in values_near(hit, "text", reading):
        if not reading.is_answer(value.tokens):
            continue
        free = (
            not spent & set(value.tokens)
            and value.text != caption.cell.text
            and (caption.colon or not value.text[0].islower())
        )
        plain = len(value.text) <= 60 and not _SENTENCE.search(value.text) and any(map(str.isalnum, value.text))
        return value if reach >= 0.6 and free and plain else None
    return None


def _name_of(caption: Caption, reading: Reading, *, form: bool) -> str:
    """An English name: the concept that the label means, else the label itself where the document is in English.

    Every box of a form is a field: one that the vocabulary lacks keeps its own name in any language.
    """
    for name, hits in reading.hits.items():
        if any(hit.cell is caption.cell and hit.quality >= 0.95 for hit in hits) and concepts()[name].kind != "party":
            return name
    return name_from_words(caption.words) if form or reading.language == "en" else ""


def _node_for(value: Value, caption: Caption, reading: Reading) -> Schema:
    label = " ".join(caption.words)
    tokens = [token for cell in reading.cells for token in cell.tokens if token.index in set(value.tokens)]
    if values_in("date", tokens, reading) and len(tokens) <= 4:
        return field_node("string", f"{label.capitalize()} (ISO 8601 date)")
    amounts = values_in("amount", tokens, reading)
    if amounts and len(amounts[0].tokens) == len(tokens) and amounts[0].fit >= 1.0:
        return field_node("number", f"{label.capitalize()}, as a number")
    return field_node("string", f"{label.capitalize()}, as printed")


def check_fields(reading: Reading, room: int) -> dict[str, Schema]:
    """Check boxes as booleans, by their captions."""
    found: dict[str, Schema] = {}
    for check in reading.layout.checks:
        words = next((name for caption in check.captions if (name := _check_name(caption))), "")
        if words and words not in found and len(found) < room:
            found[words] = field_node("boolean", f'Whether the box "{check.captions[0][:60]}" is checked')
    return found


def _check_name(caption: str) -> str:
    text = re.split(r"[.(]", caption)[0]
    return name_from_words(words_of(text)[:6])
