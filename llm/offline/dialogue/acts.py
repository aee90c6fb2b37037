"""Single acts: set a value, run, tag, rename the document, delete."""

import re
from typing import Any

from llm.offline.dialogue.comparing import since_earlier
from llm.offline.dialogue.conversation import Conversation, Step
from llm.offline.dialogue.edits import schema_in_work
from llm.offline.dialogue.fieldnames import Path, all_fields, find_field, row_number
from llm.offline.dialogue.requests import Request
from llm.offline.dialogue.wording import failed, listing, refused, shown, summary
from llm.offline.propose.nodes import object_node
from llm.offline.reply import Reply
from llm.offline.typing.amounts import parse_amount
from llm.offline.typing.dates import parse_date


def set_value(talk: Conversation, request: Request) -> Reply:
    """Set one value of the extraction."""
    last = talk.last("update_extraction_field")
    if last is not None:
        return _after(
            last,
            f"{last.arguments.get('path')} is now {shown(last.arguments.get('value'))}.",
            "The value stays as it was.",
        )
    extraction = talk.state.get("extraction")
    if not isinstance(extraction, dict):
        return Reply(
            text="There is no extraction yet whose value I could set. Ask me to set up extraction or to run it."
        )
    schema = _schema(talk, extraction)
    path, node, problem = _path(request.text, schema, extraction)
    if path is None:
        return Reply(text=problem or f"I see no field “{request.text}”. The fields are: {listing(extraction, 20)}.")
    value = _typed(request.value, str(node.get("type", "string")), str(node.get("description", "")))
    if value is None:
        return Reply(text=f"“{request.value}” does not fit {path}, which is a {node.get('type')}.")
    return talk.call(f"I set {path} to {shown(value)}.", ("update_extraction_field", {"path": path, "value": value}))


def _schema(talk: Conversation, extraction: dict[str, Any]) -> dict[str, Any]:
    held = schema_in_work(talk)
    inner = held.get("json_schema", {}).get("schema") if held else None
    return (
        inner
        if isinstance(inner, dict)
        else object_node({name: _node_like(value) for name, value in extraction.items()})
    )


def _node_like(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return object_node({name: _node_like(part) for name, part in value.items()})
    if isinstance(value, list):
        return {"type": "array", "items": _node_like(value[0]) if value else {"type": "string"}}
    kind = "boolean" if isinstance(value, bool) else ("number" if isinstance(value, (int, float)) else "string")
    return {"type": kind}


def _path(said: str, schema: dict[str, Any], extraction: dict[str, Any]) -> tuple[str | None, dict[str, Any], str]:
    row, rest = row_number(said)
    if row is None and re.fullmatch(r"[\w]+(?:\.\w+)+", said):
        path = tuple("[]" if part.isdigit() else part for part in said.split("."))
        node = next((node for held, node in all_fields(schema) if held == path), None)
        return (said, node, "") if node is not None else (None, {}, "")
    found = find_field(rest, schema, rows=row is not None)
    if found is None:
        return None, {}, ""
    node = next(node for held, node in all_fields(schema) if held == found)
    if node.get("type") in {"object", "array"}:
        return None, {}, f"{found[-1]} has fields of its own; say which of them."
    return _with_row(found, row, node, extraction)


def _with_row(
    found: Path, row: int | None, node: dict[str, Any], extraction: dict[str, Any]
) -> tuple[str | None, dict[str, Any], str]:
    if row is None:
        return ".".join(found), node, ""
    rows: Any = extraction
    for name in found[: found.index("[]")]:
        rows = rows.get(name) if isinstance(rows, dict) else None
    count = len(rows) if isinstance(rows, list) else 0
    at = row if row >= 0 else count - 1
    if not 0 <= at < count:
        return None, {}, f"There is no line {at + 1}; the extraction has {count}."
    return ".".join(str(at) if name == "[]" else name for name in found), node, ""


def _typed(said: str, kind: str, about: str) -> Any:
    if kind == "boolean":
        low = said.lower()
        return (
            True
            if low in {"yes", "true", "on", "checked", "ja", "oui"}
            else (False if low in {"no", "false", "off", "unchecked"} else None)
        )
    if kind in {"number", "integer"}:
        number = parse_amount(said)
        whole = number is not None and number == number.to_integral_value()
        return (
            None if number is None or (kind == "integer" and not whole) else (int(number) if whole else float(number))
        )
    date = parse_date(said) if "8601" in about else None
    return date.isoformat() if date else ("" if said.lower() in {"empty", "nothing", "blank"} else said)


def _after(step: Step, done: str, kept: str) -> Reply:
    if step.rejected:
        return Reply(text=refused(step, kept))
    return Reply(text=done if step.done else f"{failed(step)} {kept}")


def run_again(talk: Conversation) -> Reply:
    """Run the extraction with the prompt in work."""
    last = talk.last("run_extraction")
    if last is not None:
        found = last.result.get("extraction")
        return _after(last, summary(found) + since_earlier(talk, found), "The earlier result stays as it is.")
    if not talk.offers("run_extraction"):
        return Reply(text="I cannot run an extraction here, because the tool for it is not offered.")
    mentioned = talk.mentioned("prompt") or {}
    revid = mentioned.get("prompt_revid") or talk.state.get("prompt_revid")
    if not revid:
        return Reply(text="There is no prompt in work yet. Ask me to set up extraction for this document.")
    name = mentioned.get("name") or talk.state.get("prompt_name")
    text = f"I run the extraction with the prompt “{name}”." if name else "I run the extraction."
    return talk.call(text, ("run_extraction", {"prompt_revid": revid}))


def tag_document(talk: Conversation, request: Request) -> Reply:
    """Give the document a tag (made first when there is none of that name), or take one away."""
    updated = talk.last("update_document")
    if updated is not None:
        word = "has no longer" if request.verb == "untag" else "has"
        return _after(updated, f"The document {word} the tag “{request.text}”.", "Its tags stay as they were.")
    held = [tag for tag in talk.about.get("tags") or () if isinstance(tag, dict)]
    ids = [str(tag.get("id")) for tag in held]
    if request.verb == "untag":
        left = [str(tag.get("id")) for tag in held if str(tag.get("name", "")).lower() != request.text.lower()]
        if len(left) == len(ids):
            return Reply(text=f"The document has no tag “{request.text}”.")
        return talk.call(f"I take away the tag “{request.text}”.", ("update_document", {"tag_ids": left}))
    if any(str(tag.get("name", "")).lower() == request.text.lower() for tag in held):
        return Reply(text=f"The document has the tag “{request.text}” already.")
    return _add_tag(talk, request.text, ids)


def _add_tag(talk: Conversation, name: str, ids: list[str]) -> Reply:
    created = talk.last("create_tag")
    if created is not None and not created.done:
        return _after(created, "", "The document's tags stay as they were.")
    listed = talk.succeeded("list_tags")
    if created is None and listed is None and talk.offers("list_tags"):
        return talk.call("I look at which tags there are.", ("list_tags", {"limit": 100}))
    tags = listed.result.get("tags") if listed else None
    known = [tag for tag in tags or () if isinstance(tag, dict) and str(tag.get("name", "")).lower() == name.lower()]
    tag_id = str(created.result.get("tag_id")) if created is not None else (str(known[0].get("id")) if known else "")
    if not tag_id:
        return talk.call(f"There is no tag “{name}” yet, so I propose it.", ("create_tag", {"name": name}))
    return talk.call(f"I tag the document as “{name}”.", ("update_document", {"tag_ids": [*ids, tag_id]}))


def rename_document(talk: Conversation, request: Request) -> Reply:
    """Give the document another name."""
    last = talk.last("update_document")
    if last is not None:
        return _after(last, f"The document is now called “{request.text}”.", "The name stays as it was.")
    return talk.call(
        f"I rename the document to “{request.text}”.", ("update_document", {"document_name": request.text})
    )


def delete_thing(talk: Conversation, request: Request) -> Reply:
    """Ask to delete what the person named; the card asks again."""
    tool = f"delete_{request.text}"
    last = talk.last(tool)
    if last is not None:
        return _after(last, f"The {request.text} is deleted.", f"The {request.text} stays.")
    if not talk.offers(tool):
        return Reply(text=f"I cannot delete a {request.text} here, because the tool for it is not offered.")
    if request.text == "document":
        return talk.call("Deleting moves the document to the trash.", (tool, {}))
    return _delete_listed(talk, request, tool)


def _delete_listed(talk: Conversation, request: Request, tool: str) -> Reply:
    kind, key = request.text, f"{request.text}_id"
    held = talk.state.get(key)
    if held and request.value.lower() in {"", str(talk.state.get(f"{kind}_name", "")).lower()}:
        return talk.call(f"I ask to delete the {kind} in work.", (tool, {key: held}))
    listed = talk.last(f"list_{kind}s")
    if listed is None and talk.offers(f"list_{kind}s"):
        return talk.call(f"I look for the {kind}.", (f"list_{kind}s", {"limit": 100}))
    rows = listed.result.get(f"{kind}s") if listed is not None else None
    wanted = [
        r
        for r in rows or ()
        if isinstance(r, dict) and request.value and str(r.get("name", "")).lower() == request.value.lower()
    ]
    identifier = str(wanted[0].get(key) or wanted[0].get("id")) if wanted else ""
    if not identifier:
        names = listing([str(row.get("name")) for row in rows or () if isinstance(row, dict)], 10)
        return Reply(text=f"Which {kind}? " + (f"There are: {names}." if names else f"I see no {kind}."))
    return talk.call(f"I ask to delete the {kind} “{request.value}”.", (tool, {key: identifier}))
