"""Which part of the dialogue answers: dispatch on the request and on what is in work."""

from llm.offline.dialogue.acts import delete_thing, rename_document, run_again, set_value, tag_document
from llm.offline.dialogue.answers import ask, show, where_from
from llm.offline.dialogue.comparing import compare
from llm.offline.dialogue.conversation import Conversation
from llm.offline.dialogue.edits import edit_schema
from llm.offline.dialogue.requests import Request, read_request
from llm.offline.dialogue.setup import Plan, prompt_step, rejected_proposal, run_step, set_up
from llm.offline.dialogue.wording import ABOUT
from llm.offline.extract.reading import Reading
from llm.offline.reply import Reply


def answer(talk: Conversation, reading: Reading) -> Reply:
    """The next reply of the conversation."""
    request = read_request(talk.question)
    if request.verb == "setup":
        return set_up(talk, reading, request)
    if request.verb in {"change", "name_schema"}:
        return _change(talk, reading, request)
    if request.verb == "go_on":
        return _go_on(talk, reading, request)
    if request.verb in {"where", "ask", "show"}:
        return _tell(talk, reading, request)
    return _act(talk, request)


def _change(talk: Conversation, reading: Reading, request: Request) -> Reply:
    in_work = talk.state.get("schema_id") or talk.state.get("schema_revid") or talk.state.get("response_format")
    started_here = any(step.name == "create_schema" for step in talk.steps)
    if in_work and not started_here:
        return edit_schema(talk, request)
    return set_up(talk, reading, request)


def _go_on(talk: Conversation, reading: Reading, request: Request) -> Reply:
    """Continue what is half done: no schema, no prompt, or no extraction yet."""
    state = talk.state
    schema = state.get("response_format")
    if (
        not state.get("schema_id")
        or not isinstance(schema, dict)
        or any(step.name == "create_schema" for step in talk.steps)
    ):
        if talk.earlier or talk.steps or rejected_proposal(talk):
            return set_up(talk, reading, request)
        return Reply(text=f"Nothing is waiting here. {ABOUT}")
    if isinstance(state.get("extraction"), dict) and not talk.steps:
        return Reply(
            text="Schema, prompt and extraction are there; nothing is left to do. Say “run it again” to extract anew."
        )
    if state.get("prompt_revid") and not any(step.name == "create_prompt" for step in talk.steps):
        return run_again(talk)
    plan = Plan(str(state.get("schema_name") or "Document"), schema, schema_id=str(state["schema_id"]))
    made = talk.succeeded("create_prompt")
    return run_step(talk, made, plan) if made else prompt_step(talk, plan, "")


def _tell(talk: Conversation, reading: Reading, request: Request) -> Reply:
    if request.verb == "show":
        return show(talk, request)
    return where_from(talk, reading, request) if request.verb == "where" else ask(reading, request)


def _act(talk: Conversation, request: Request) -> Reply:
    if request.verb == "set":
        return set_value(talk, request)
    if request.verb == "run":
        return run_again(talk)
    if request.verb == "compare":
        return compare(talk)
    if request.verb in {"tag", "untag"}:
        return tag_document(talk, request)
    if request.verb == "name_document":
        return rename_document(talk, request)
    if request.verb == "delete":
        return delete_thing(talk, request)
    if request.verb == "thanks":
        return Reply(text="Gladly. Ask for a change or a value whenever you like.")
    return Reply(text="All right, I leave it as it is." if request.verb == "stop" else ABOUT)
