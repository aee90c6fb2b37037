"""The main job in a terminal: upload, read, ask the agent, approve each card, print the fields with their pages."""

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, assert_never

from agent import events as said
from agent.models import Turn
from agent.runner import launch
from agent.selectors import get_turn
from agent.services import Decision, create_thread, decide, start_turn
from agent.streams import read_stream
from core.errors import DomainError
from docrouter.demo import ORGANIZATION, ensure_demo
from documents.grounding import leaves_of
from documents.models import Document, Extraction
from documents.results import current_result
from documents.selectors import latest_parse
from documents.services import UploadedFile, upload_documents
from organizations.actor import Actor
from organizations.selectors import actor_for, find_organization

QUESTION = "Set up extraction for this document"
READ_SECONDS = 600.0
MAX_APPROVALS = 12

Line = str


class JobFailed(DomainError):
    """The main job could not be done; the sentence says where it stopped."""

    code = "demo_failed"


def main_job(path: Path) -> Iterator[Line]:
    """Do it, and yield what a person should read, as it happens. Raises: DomainError."""
    ensure_demo()
    organization = find_organization(name_or_id=ORGANIZATION)
    membership = organization.memberships.select_related("user").earliest("created_at")
    actor = actor_for(user=membership.user, organization_id=organization.id, via="task")
    uploaded = upload_documents(actor=actor, files=[UploadedFile(name=path.name, path=path)])[0]
    yield f"Uploaded {uploaded.document.name}"
    if uploaded.duplicate_of is not None:
        yield "  (the same bytes were uploaded before)"
    yield from _read(actor, uploaded.document)
    yield from _converse(actor, uploaded.document)
    yield from fields(current_result(actor=actor, document_id=uploaded.document.id))


def _read(actor: Actor, document: Document) -> Iterator[Line]:
    """Wait until a worker has read the document."""
    deadline = time.monotonic() + READ_SECONDS
    done = -1
    while time.monotonic() < deadline:
        run = latest_parse(actor=actor, document_id=document.id)
        if run is not None and run.pages_done != done and run.pages_total:
            done = run.pages_done
            yield f"Read {done} of {run.pages_total} pages"
        if run is not None and run.phase == "complete":
            return
        if run is not None and run.phase in ("error", "cancelled"):
            raise JobFailed(f"The document could not be read. {run.error_message}")
        time.sleep(0.1)
    raise JobFailed("No worker read the document. Is a worker running?")


def _converse(actor: Actor, document: Document) -> Iterator[Line]:
    thread = create_thread(actor=actor, document_id=document.id)
    yield f"\nYou: {QUESTION}"
    turn = start_turn(actor=actor, document_id=document.id, thread_id=thread.id, text=QUESTION, launch=False)
    seen = 0
    for _ in range(MAX_APPROVALS):
        ended = launch(turn.id)
        while not ended.done():
            time.sleep(0.05)
        for numbered in read_stream(turn.id, after=seen):
            seen = numbered.seq
            yield from _show(numbered.event)
        turn = get_turn(actor=actor, turn_id=turn.id)
        if turn.status != Turn.Status.WAITING:
            break
        yield from _approve(actor, turn)
    if turn.status != Turn.Status.DONE:
        raise JobFailed(f"The agent stopped: {turn.error_message or turn.status}")


def _approve(actor: Actor, turn: Turn) -> Iterator[Line]:
    """Say yes to each waiting card; a person at the page would look first."""
    waiting = [call for call in turn.tool_calls.order_by("message", "position") if call.status == "waiting"]
    for call in waiting:
        yield f"  [card] {call.summary}  → approved"
        yield from _details(call.arguments)
    decisions = [Decision(call_id=c.call_id, approved=True, arguments_hash=c.arguments_hash) for c in waiting]
    decide(actor=actor, document_id=turn.document_id, turn_id=turn.id, decisions=decisions)


def _details(arguments: dict[str, Any]) -> Iterator[Line]:
    schema = arguments.get("response_format", {}).get("json_schema", {}).get("schema", {})
    for name, prop in schema.get("properties", {}).items():
        rows = prop.get("items", {}).get("properties", {})
        kind = f"rows of {', '.join(rows)}" if rows else prop.get("type", "")
        yield f"           {name}: {kind}"
    for line in str(arguments.get("content", "")).splitlines():
        yield f"           {line}"


def _show(event: said.Event) -> Iterator[Line]:
    match event:
        case said.AssistantTextDone(full_text=text):
            yield f"Agent: {text}"
        case said.ToolResult(name=name, success=success, ms=ms):
            yield f"  · {name} {'done' if success else 'failed'} in {ms} ms"
        case said.ErrorEvent(error=text):
            yield f"  ! {text}"
        case (
            said.TurnStarted()
            | said.AssistantTextChunk()
            | said.ThinkingChunk()
            | said.ThinkingDone()
            | said.ToolCalls()
            | said.RoundExecuted()
            | said.ApprovalRequired()
            | said.Done()
        ):
            return
        case _:
            assert_never(event)


def fields(result: Extraction) -> Iterator[Line]:
    """The fields of a result: path, value, page or why there is none."""
    yield f"\nFields ({result.model_used}):"
    leaves = list(leaves_of(result.updated_llm_result))
    width = max((len(path) for path, _ in leaves), default=0)
    for path, value in leaves:
        place = result.grounding.get(path, {})
        where = f"page {place['page']}" if place.get("page") else _WITHOUT_PAGE.get(place.get("state", ""), "")
        note = " (several places)" if place.get("state") == "ambiguous" else ""
        yield f"  {path:<{width}}  {json.dumps(value, ensure_ascii=False)}  {where}{note}"
    yield _summary(leaves, result)


_WITHOUT_PAGE = {"absent": "not in the document", "not_found": "not found on the page"}


def _summary(leaves: Sequence[tuple[str, Any]], result: Extraction) -> Line:
    states = [result.grounding.get(path, {}).get("state") for path, _ in leaves]
    found = sum(state in ("found", "ambiguous") for state in states)
    return (
        f"{found} of {len(leaves)} values found on the page, {states.count('absent')} not in the document, "
        f"{states.count('not_found')} not found on the page"
    )
