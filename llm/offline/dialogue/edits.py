"""Changing the schema in work: validate, update schema, pin the prompt to it, run again, say what came of it."""

from dataclasses import dataclass
from typing import Any

from llm.offline.dialogue.changes import apply_changes
from llm.offline.dialogue.changewords import Change
from llm.offline.dialogue.conversation import Conversation, Step
from llm.offline.dialogue.requests import Request, read_reason
from llm.offline.dialogue.setup import Plan, run_step
from llm.offline.dialogue.wording import failed, listing, refused
from llm.offline.extract.schema import inner_schema, properties_of
from llm.offline.propose.proposal import prompt_text
from llm.offline.reply import Reply


@dataclass(frozen=True, slots=True)
class Edit:
    """The update that is wanted, what it does, what it cannot do."""

    arguments: dict[str, Any]
    done: tuple[str, ...]
    failed: tuple[str, ...]


def edit_schema(talk: Conversation, request: Request) -> Reply:
    """The next step of a change to the schema in work."""
    if not talk.offers("update_schema"):
        return Reply(text="I cannot change schemas here, because the tool for it is not offered.")
    updated = talk.succeeded("update_schema")
    if updated is not None:
        return _after_update(talk, updated)
    base = schema_in_work(talk)
    if base is None:
        revid = talk.state.get("schema_revid")
        if revid and talk.last("get_schema") is None and talk.offers("get_schema"):
            return talk.call("I look at the schema first.", ("get_schema", {"schema_revid": revid}))
        return Reply(text="There is no schema in work here. Ask me to set up extraction first.")
    edit = _edit(talk, base, request)
    if not edit.done:
        last = talk.last("update_schema")
        fields = listing(properties_of(inner_schema(base)), 20)
        text = " ".join(edit.failed)
        return Reply(
            text=refused(last, "The schema stays as it was.")
            if last and last.rejected
            else f"{text} The fields are: {fields}."
        )
    return _update_step(talk, edit)


def schema_in_work(talk: Conversation) -> dict[str, Any] | None:
    """The response_format in work: from the working state, else from a look-up of this turn."""
    held = talk.state.get("response_format")
    if isinstance(held, dict):
        return held
    step = talk.succeeded("get_schema")
    found = step.result.get("response_format") if step else None
    return found if isinstance(found, dict) else None


def _edit(talk: Conversation, base: dict[str, Any], request: Request) -> Edit:
    for step in reversed(talk.steps):
        if step.name == "update_schema" and step.rejected:
            tried = step.arguments.get("response_format")
            wish = _about_the_field(read_reason(step.reason), request)
            return _edit_of(talk, tried if isinstance(tried, dict) else base, wish)
    return _edit_of(talk, base, request)


def _about_the_field(wish: Request, request: Request) -> Request:
    """After one field was added, "call it X" means the field, not the schema."""
    if wish.verb == "name_schema" and len(request.changes) == 1 and request.changes[0].act in {"add", "rename"}:
        change = request.changes[0]
        return Request(
            "change", changes=(Change("rename", change.to if change.act == "rename" else change.name, wish.text),)
        )
    return wish


def _edit_of(talk: Conversation, base: dict[str, Any], request: Request) -> Edit:
    schema_id = talk.state.get("schema_id") or ""
    step = talk.succeeded("get_schema")
    if not schema_id and step is not None:
        schema_id = step.result.get("schema_id") or ""
    arguments: dict[str, Any] = {"schema_id": schema_id}
    if request.verb == "name_schema" and request.text:
        arguments["name"] = request.text[:100]
        if any(s.name == "update_schema" and s.rejected and "response_format" in s.arguments for s in talk.steps):
            arguments["response_format"] = base
        return Edit(arguments, (f"named the schema “{request.text[:100]}”",), ())
    if request.verb != "change":
        return Edit(arguments, (), ("I did not understand which change you want.",))
    changed = apply_changes(base, request.changes)
    if request.text:
        arguments["name"] = request.text[:100]
    return Edit({**arguments, "response_format": changed.response_format}, changed.done, changed.failed)


def _update_step(talk: Conversation, edit: Edit) -> Reply:
    last = talk.last("update_schema")
    if last is not None and talk.was_tried("update_schema", edit.arguments):
        return Reply(
            text=refused(last, "The schema stays as it was.")
            if last.rejected
            else f"{failed(last)} The schema stays as it was."
        )
    schema = edit.arguments.get("response_format")
    check = next((s for s in talk.steps if s.name == "validate_schema" and s.arguments.get("schema") == schema), None)
    if schema is not None and check is None and talk.offers("validate_schema"):
        return talk.call(
            "I check the changed schema first.", ("validate_schema", {"schema": schema}), thinking=_thinking(edit)
        )
    if check is not None and not check.result.get("valid", check.done):
        return Reply(text=f"The changed schema did not pass the check: {_error(check)}. I changed nothing.")
    text = f"I {listing(edit.done)} in the schema. {' '.join(edit.failed)}".strip()
    return talk.call(text, ("update_schema", edit.arguments))


def _thinking(edit: Edit) -> str:
    then = "I validate it, then update schema and prompt and run the extraction again."
    return f"The schema in work changes: {listing(edit.done)}. {then}"


def _error(check: Step) -> str:
    return str(check.result.get("error"))[:300].rstrip(".")


def _after_update(talk: Conversation, updated: Step) -> Reply:
    schema = updated.arguments.get("response_format")
    if not isinstance(schema, dict):
        return Reply(text=f"The schema is now called “{updated.result.get('name') or updated.arguments.get('name')}”.")
    schema_id = str(updated.result.get("schema_id") or updated.arguments.get("schema_id"))
    prompt = talk.succeeded("update_prompt") or talk.succeeded("create_prompt")
    name = str(updated.result.get("name") or talk.state.get("schema_name") or "Document")
    if prompt is None:
        return _prompt_step(talk, schema, schema_id, name)
    return run_step(talk, prompt, Plan(name, schema, schema_id=schema_id))


def _prompt_step(talk: Conversation, schema: dict[str, Any], schema_id: str, name: str) -> Reply:
    last = talk.last("update_prompt") or talk.last("create_prompt")
    if last is not None and last.rejected:
        return Reply(text=refused(last, "The schema is updated; the prompt still uses the earlier version."))
    if last is not None:
        return Reply(text=f"{failed(last)} The schema is updated; the prompt still uses the earlier version.")
    prompt_id = talk.state.get("prompt_id")
    content = prompt_text(name, properties_of(inner_schema(schema)))
    if prompt_id and talk.offers("update_prompt"):
        return talk.call(
            "The prompt should use the new version.",
            ("update_prompt", {"prompt_id": prompt_id, "schema_id": schema_id}),
        )
    arguments = {"name": name, "content": content, "schema_id": schema_id}
    return talk.call("There is no prompt for it yet, so I propose one.", ("create_prompt", arguments))
