"""What a waiting call would do, as a person reads it: a table of fields, a text, a difference, old and new value.

Everything here is read when the card is shown, in the organization of the one who looks. What cannot be read any
more (gone since, not there yet) makes the card plainer, never an error: the raw arguments always stand behind a fold.
"""

import difflib
import hashlib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from django.core.cache import cache

from agent.call_lines import count, plain_name
from agent.models import ToolCall, Turn
from agent.schema_table import Field, compare, fields_of
from core.errors import DomainError
from documents.extraction import PreviewValue, preview_values
from documents.leaving import sources_of
from documents.results import current_result
from documents.selectors import get_document
from llm.catalog import chat_models, usable_extraction_model
from llm.sources import is_remote
from organizations.actor import Actor
from prompts_app.models import PromptRevision
from prompts_app.selectors import get_revision as get_prompt_revision
from prompts_app.selectors import get_version as get_prompt_version
from prompts_app.selectors import prompts_of_schema
from schemas_app.models import SchemaRevision
from schemas_app.selectors import get_schema, get_version
from tags_app.selectors import get_tags

Json = dict[str, Any]
Kind = Literal["schema", "prompt", "facts", "value", "delete"]
PREVIEW_SECONDS = 3600
SHOWN_ROWS = 8
MAX_DIFF_LINES = 400
_COLOR = re.compile(r"#[0-9a-fA-F]{3,8}")


@dataclass(frozen=True, slots=True)
class Example:
    """What the field would hold for this document. `highlight` is JSON for the viewer, empty when it stands nowhere."""

    shown: str
    normalized: str = ""
    highlight: str = ""
    more: str = ""


@dataclass(frozen=True, slots=True)
class FieldRow:
    field: Field
    example: Example | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One labelled line. `was` is the present value where it would change."""

    label: str
    value: str
    was: str = ""
    color: str = ""


@dataclass(frozen=True, slots=True)
class DiffLine:
    kind: Literal["same", "added", "removed", "gap"]
    text: str


@dataclass(frozen=True, slots=True)
class Card:
    """The content of a waiting card, by kind of template."""

    kind: Kind
    rows: list[FieldRow] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    text: str = ""
    diff: list[DiffLine] = field(default_factory=list)
    note: str = ""
    editable: Literal["schema", "prompt", "values"] = "values"

    @property
    def first_rows(self) -> list[FieldRow]:
        return self.rows if len(self.rows) <= SHOWN_ROWS + 1 else self.rows[:SHOWN_ROWS]

    @property
    def more_rows(self) -> list[FieldRow]:
        return self.rows[len(self.first_rows) :]

    @property
    def has_examples(self) -> bool:
        return any(row.example for row in self.rows)

    @property
    def has_changes(self) -> bool:
        return any(row.field.change for row in self.rows)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A call with all that a card may need to look things up."""

    arguments: Json
    actor: Actor
    turn: Turn


def card_for(call: ToolCall, *, turn: Turn, actor: Actor) -> Card:
    """The card of one waiting call."""
    asked = _Asked(ordered_arguments(call), actor, turn)
    make = _CARDS.get(call.name, _facts_card)
    return make(asked)


def ordered_arguments(call: ToolCall) -> Json:
    """The arguments in the model's own order of keys, which `jsonb` does not keep."""
    stored = call.arguments if isinstance(call.arguments, dict) else {}
    try:
        written = json.loads(call.arguments_text or "{}")
    except (ValueError, RecursionError):
        return stored
    return written if isinstance(written, dict) and written == stored else stored


def examples_for(*, actor: Actor, document_id: object, response_format: Json) -> dict[str, PreviewValue]:
    """Path → what this document has there. Cached: the same proposal is shown many times."""
    text = json.dumps(response_format, sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).hexdigest()[:40]
    key = f"agent:preview:{actor.organization_id.hex}:{document_id}:{digest}"
    found: list[PreviewValue] | None = cache.get(key)
    if found is None:
        try:
            found = preview_values(actor=actor, document_id=document_id, response_format=response_format)
        except DomainError:
            found = []
        cache.set(key, found, PREVIEW_SECONDS)
    return {value.path: value for value in found}


def example_of(name: str, examples: dict[str, PreviewValue]) -> Example | None:
    """The example of a field of the first level: its value, or its first row's values."""
    exact = examples.get(name)
    if exact is not None:
        return _leaf_example(exact)
    below = [value for path, value in examples.items() if path.startswith(f"{name}.")]
    if not below:
        return None
    rows = {value.path[len(name) + 1 :].split(".")[0] for value in below}
    is_list = all(row.isdigit() for row in rows)
    first = [v for v in below if not is_list or v.path[len(name) + 1 :].split(".")[0] == min(rows, key=int)]
    shown = ", ".join(_shown(value) for value in first[:3])
    highlight = _highlight(name, below)
    if not is_list:
        return Example(shown, highlight=highlight)
    noun = "row" if any("." in value.path[len(name) + 1 :] for value in below) else "value"
    return Example(count(len(rows), noun), highlight=highlight, more=shown)


def line_diff(before: str, after: str) -> list[DiffLine]:
    """Lines that go and lines that come, with two lines around them."""
    lines: list[DiffLine] = []
    diff = difflib.unified_diff(before.splitlines(), after.splitlines(), n=2, lineterm="")
    for text in list(diff)[2 : MAX_DIFF_LINES + 2]:
        if text.startswith("@@"):
            lines += [DiffLine("gap", "…")] if lines else []
            continue
        kind: Literal["same", "added", "removed"] = {"+": "added", "-": "removed"}.get(text[:1], "same")  # type: ignore[assignment]  # mypy widens a dict's values to str
        lines.append(DiffLine(kind, text[1:]))
    return lines


def _leaf_example(value: PreviewValue) -> Example:
    shown = _shown(value)
    plain = _plain(value.value)
    return Example(shown, normalized=plain if plain != shown else "", highlight=_highlight(value.path, [value]))


def _shown(value: PreviewValue) -> str:
    return (value.quote.strip(" ,;:") or _plain(value.value))[:120]


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return value[:120] if isinstance(value, str) else json.dumps(value, ensure_ascii=False)[:120]


def _highlight(path: str, values: Iterable[PreviewValue]) -> str:
    """JSON for the viewer: every box, with its page."""
    boxes = [{"page": value.page, "box": box} for value in values if value.page for box in value.boxes]
    return json.dumps({"boxes": boxes, "label": path}) if boxes else ""


def _schema_card(asked: _Asked) -> Card:
    proposed = asked.arguments.get("response_format")
    present = _present_schema(asked)
    facts = []
    new_name = asked.arguments.get("name")
    if present and new_name and present.schema.name != new_name:
        facts.append(Fact("Name", str(new_name), was=present.schema.name))
    if not isinstance(proposed, dict):
        return Card("facts", facts=facts or _facts(asked.arguments), editable="values")
    fields = compare(present.response_format, proposed) if present else fields_of(proposed)
    examples = examples_for(actor=asked.actor, document_id=asked.turn.document_id.hex, response_format=proposed)
    note = (
        f"Version {present.version + 1} of “{present.schema.name}”. Prompts keep the version they use."
        if present
        else ""
    )
    rows = [FieldRow(item, example_of(item.name, examples)) for item in fields]
    return Card("schema", rows=rows, facts=facts, note=note, editable="schema")


def _present_schema(asked: _Asked) -> SchemaRevision | None:
    schema_id = asked.arguments.get("schema_id")
    return _or_none(lambda: get_version(actor=asked.actor, schema_id=schema_id)) if schema_id else None


def _prompt_card(asked: _Asked) -> Card:
    arguments = asked.arguments
    prompt_id = arguments.get("prompt_id")
    present = _or_none(lambda: get_prompt_version(actor=asked.actor, prompt_id=prompt_id)) if prompt_id else None
    facts = _prompt_facts(asked, present)
    text = str(arguments.get("content") or "")
    if present is None:
        return Card("prompt", facts=facts, text=text, editable="prompt")
    diff = line_diff(present.content, text) if text and text != present.content else []
    note = f"Version {present.version + 1} of “{present.prompt.name}”."
    return Card("prompt", facts=facts, diff=diff, note=note, editable="prompt")


def _prompt_facts(asked: _Asked, present: PromptRevision | None) -> list[Fact]:
    arguments, facts = asked.arguments, []
    schema = _schema_named(asked)
    if schema or not present:
        was = str(present.schema_revision) if present and present.schema_revision else ""
        facts.append(Fact("Schema", schema or "None: free answer", was=was if was != schema else ""))
    model = arguments.get("model")
    if model or not present:
        facts.append(
            Fact(
                "Model",
                _model(str(model), asked) if model else "Default",
                was=present.model if present and present.model != model else "",
            )
        )
    names = _tag_names(asked)
    if names is not None:
        facts.append(Fact("Tags", ", ".join(names) or "None"))
    return facts


def _schema_named(asked: _Asked) -> str:
    schema_id, version = asked.arguments.get("schema_id"), asked.arguments.get("schema_version")
    if not schema_id:
        return ""
    number = version if isinstance(version, int) else None
    found = _or_none(lambda: get_version(actor=asked.actor, schema_id=schema_id, version=number))
    return f"{found.schema.name} v{found.version}" if found else "A schema that is not there any more"


def _tag_names(asked: _Asked) -> list[str] | None:
    ids = asked.arguments.get("tag_ids")
    if not isinstance(ids, list):
        return None
    found = _or_none(lambda: get_tags(actor=asked.actor, tag_ids=ids))
    return [tag.name for tag in found] if found is not None else [f"{len(ids)} unknown"]


def _run_card(asked: _Asked) -> Card:
    revid = asked.arguments.get("prompt_revid") or (asked.turn.working_state or {}).get("prompt_revid")
    found = _or_none(lambda: get_prompt_revision(actor=asked.actor, prompt_revid=revid)) if revid else None
    if found is None:
        return Card("facts", facts=[Fact("Prompt", "Document Summary (built in)" if not revid else str(revid))])
    schema = found.schema_revision
    facts = [Fact("Prompt", f"{found.prompt.name} v{found.version}"), Fact("Model", _model(found.model, asked))]
    if schema:
        facts.insert(1, Fact("Schema", f"{schema.schema.name} v{schema.version}"))
    return Card("facts", facts=facts, note="An earlier result stays in the history.")


def _model(requested: str, asked: _Asked) -> str:
    """Which model will really run on this document, and why it is another one than asked for."""
    about = sources_of(asked.turn.document_id)
    requested, used = usable_extraction_model(requested, about=about)
    names = {model.name: model.display_name for model in chat_models()}
    shown = names.get(used, used)
    if used != requested:
        why = "this document stays on this server" if about.local_only else f"there is no key for {requested}"
        return f"{shown}, since {why}"
    return f"{shown}: not for this document, which stays here" if about.local_only and is_remote(used) else shown


def _value_card(asked: _Asked) -> Card:
    path, value = str(asked.arguments.get("path") or ""), asked.arguments.get("value")
    revid = (asked.turn.working_state or {}).get("prompt_revid")
    result = _or_none(
        lambda: current_result(actor=asked.actor, document_id=asked.turn.document_id.hex, prompt_revid=revid)
    )
    was = _at(result.updated_llm_result, path) if result else ""
    return Card("value", facts=[Fact(path, _plain(value) or "empty", was=was)])


def _at(data: Any, path: str) -> str:
    for part in path.split("."):
        if isinstance(data, list) and part.isdigit() and int(part) < len(data):
            data = data[int(part)]
        elif isinstance(data, dict) and part in data:
            data = data[part]
        else:
            return ""
    return _plain(data) or "empty"


def _delete_schema(asked: _Asked) -> Card:
    schema_id = asked.arguments.get("schema_id")
    schema = _or_none(lambda: get_schema(actor=asked.actor, schema_id=schema_id))
    prompts = list(prompts_of_schema(actor=asked.actor, schema_id=schema.id)) if schema else []
    users = ", ".join(f"“{revision.prompt.name}”" for revision in prompts)
    note = f"Used by {count(len(prompts), 'prompt')}: {users}." if prompts else "No prompt uses it."
    return Card("delete", note=f"{note} It stays in the trash for 30 days.", editable="values")


def _delete_plain(what: str) -> Callable[[_Asked], Card]:
    return lambda _asked: Card("delete", note=f"{what} It stays in the trash for 30 days.")


def _document_card(asked: _Asked) -> Card:
    document_id = asked.arguments.get("document_id") or asked.turn.document_id.hex
    document = _or_none(lambda: get_document(actor=asked.actor, document_id=document_id))
    facts = [Fact("Document", document.name)] if document else []
    if asked.arguments.get("document_name"):
        facts.append(Fact("Name", str(asked.arguments["document_name"]), was=document.name if document else ""))
    names = _tag_names(asked)
    if names is not None:
        present = ", ".join(tag.name for tag in document.tags.all()) if document else ""
        facts.append(Fact("Tags", ", ".join(names) or "None", was=present))
    metadata = asked.arguments.get("metadata")
    facts += [Fact(str(key), str(value)) for key, value in metadata.items()] if isinstance(metadata, dict) else []
    return Card("facts", facts=facts)


def _tag_card(asked: _Asked) -> Card:
    facts = _facts(asked.arguments)
    return Card(
        "facts", facts=[replace(fact, color=fact.value if _COLOR.fullmatch(fact.value) else "") for fact in facts]
    )


def _facts_card(asked: _Asked) -> Card:
    return Card("facts", facts=_facts(asked.arguments))


def _facts(arguments: Json) -> list[Fact]:
    return [Fact(plain_name(key), _plain(value)) for key, value in arguments.items() if not key.endswith("_id")]


def _or_none(read: Callable[[], Any]) -> Any:
    """What a selector finds, None when it is gone or not for this person."""
    try:
        return read()
    except DomainError:
        return None


_CARDS: dict[str, Callable[[_Asked], Card]] = {
    "create_schema": _schema_card,
    "update_schema": _schema_card,
    "delete_schema": _delete_schema,
    "create_prompt": _prompt_card,
    "update_prompt": _prompt_card,
    "delete_prompt": _delete_plain("Results that it made stay readable."),
    "run_extraction": _run_card,
    "update_extraction_field": _value_card,
    "create_tag": _tag_card,
    "update_tag": _tag_card,
    "delete_tag": _delete_plain("Documents and prompts that carry it keep the agent from deleting it."),
    "update_document": _document_card,
    "delete_document": _delete_plain("Its pages, results and conversations go with it."),
}
