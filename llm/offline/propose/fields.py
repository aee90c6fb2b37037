"""The fields that a document has: the usual ones of its kind, further labelled values, check boxes."""

from collections.abc import Sequence
from typing import Any

from llm.offline.extract.fill import Assigned, assign
from llm.offline.extract.reading import Reading
from llm.offline.extract.roles import ROLES
from llm.offline.extract.targets import make_target
from llm.offline.matching.lexicon import Kind, concepts
from llm.offline.propose.nodes import Schema, address_node, concept_node, field_node

MAX_FIELDS, MAX_FORM_FIELDS, MAX_CHECKS = 24, 44, 16
_PARTS = ("line1", "line2", "postcode", "city", "state", "country")
_ALSO_PARTIES = frozenset({"employer", "employee", "laboratory", "guest", "passenger", "insurer", "insured"})
_SAID = {"ship_to": "party the goods go to"}
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


def usual_fields(kind: Kind, reading: Reading) -> tuple[dict[str, Schema], set[int]]:
    """The fields of the kind that the document fills, and the tokens that their values take."""
    wanted = _expanded((*(kind.fields or _DEFAULT), *_MORE) if not kind.form else ())
    targets = [make_target(path, node, str(node["type"])) for path, node in wanted]
    found: dict[str, Schema] = {}
    parts: dict[str, list[str]] = {}
    spent: set[int] = set()
    values: dict[str, Any] = {}
    lines: dict[tuple[str, ...], int] = {}
    for assigned in assign(targets, reading):
        if _is_no_name(assigned):
            continue
        spent.update(assigned.candidate.value.tokens)
        path = assigned.target.path
        lines[path] = _line_of(assigned.candidate.value.tokens, reading)
        if len(path) == 2:
            if path[1] == "line2" and lines[path] == lines.get((path[0], "line1"), -1):
                continue  # one printed line is one field
            parts.setdefault(path[0], []).append(path[1])
            found.setdefault(path[0], {})
        elif assigned.value not in ("", None):
            found[path[0]] = next(node for held, node in wanted if held == path)
            values[path[0]] = assigned.value
    if values.get("account_number") == values.get("iban"):
        found.pop("account_number", None)
    for name, held in parts.items():
        found[name] = address_node(_SAID.get(role := name.removesuffix("_address"), role), held)
    return found, spent


def _is_no_name(assigned: Assigned) -> bool:
    """Whether a name is made of figures: a label stood beside something else."""
    text = str(assigned.value)
    return assigned.target.kind in {"name", "party"} and sum(map(str.isdigit, text)) >= sum(map(str.isalpha, text))


def _line_of(tokens: Sequence[int], reading: Reading) -> int:
    first = next(iter(tokens), -1)
    return next((cell.line for cell in reading.cells if any(token.index == first for token in cell.tokens)), -2)


def _expanded(names: tuple[str, ...]) -> list[tuple[tuple[str, ...], Schema]]:
    """Field names to paths and nodes; "seller" stands for name, address and VAT id."""
    wanted: list[tuple[tuple[str, ...], Schema]] = []
    for name in names:
        if name in ROLES or name in _ALSO_PARTIES:
            wanted.append(((f"{name}_name",), field_node("string", f"Name of the {_SAID.get(name, name)}")))
            wanted.extend(((f"{name}_address", part), field_node("string", part)) for part in _PARTS)
            if f"{name}_vat_id" in concepts():
                wanted.append(((f"{name}_vat_id",), concept_node(concepts()[f"{name}_vat_id"])))
        elif name == "seller_phone":
            wanted.append(((name,), field_node("string", "Telephone number of the seller")))
        elif name in concepts():
            wanted.append(((name,), concept_node(concepts()[name])))
    return wanted
