"""Rows ⇄ messages: the only place that knows both. Loading what was said, appending what is said now."""

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.utils import timezone

from agent.history import recent_turns, split_turns
from agent.mentions import mentioned_documents
from agent.messages import Call, ChatMessage, Round, Ruling, Transcript, clean_json, sanitize, transcript_messages
from agent.models import Message, Thread, ToolCall, Turn
from core.ids import parse_id
from llm.types import Completion

Json = dict[str, Any]
TELL_OF_DOCUMENTS = ("list_documents", "update_document")
"""Tools that answer with names, tags and metadata of documents other than the one at hand."""


def whole_turn(turn_id: uuid.UUID) -> Turn:
    """A turn with everything that was said in it."""
    turns = Turn.objects.select_related("author", "thread").prefetch_related("messages", "tool_calls")
    return turns.get(pk=turn_id)


def load_transcript(turn: Turn) -> Transcript:
    """A turn as the loop knows it, from its rows."""
    messages = sorted(turn.messages.all(), key=lambda row: row.position)
    calls: dict[Any, list[ToolCall]] = {}
    for row in sorted(turn.tool_calls.all(), key=lambda row: row.position):
        calls.setdefault(row.message_id, []).append(row)
    rounds = [_round(row, calls.get(row.id, [])) for row in messages if row.role == "assistant"]
    question = next((row.content for row in messages if row.role == "user"), "")
    return Transcript(question=question, rounds=tuple(rounds))


def ancestors(turn: Turn) -> list[Turn]:
    """The turns before this one on its branch, oldest first, with messages and calls."""
    newest = _ancestor_ids(turn)
    rows = {row.id: row for row in Turn.objects.filter(id__in=newest).prefetch_related("messages", "tool_calls")}
    return [rows[turn_id] for turn_id in reversed(newest)]


def told_documents(turn: Turn) -> set[uuid.UUID]:
    """Documents that a model is told of by what was said so far: mentioned, listed or changed in these turns.

    What a client sent as history is its own text and not looked into.
    """
    told, before = set(mentioned_documents(turn.mentions)), _ancestor_ids(turn)
    for mentions in Turn.objects.filter(id__in=before).values_list("mentions", flat=True):
        told.update(mentioned_documents(mentions))
    calls = ToolCall.objects.filter(turn_id__in=[*before, turn.pk], name__in=TELL_OF_DOCUMENTS, result__isnull=False)
    for answer in calls.values_list("result", flat=True):
        result = answer or {}
        rows = [row["id"] for row in result.get("documents", ()) if not row.get("withheld")]
        told.update(parse_id(one) for one in (*rows, result.get("document_id")) if one)
    return told


def _ancestor_ids(turn: Turn) -> list[uuid.UUID]:
    """Newest first, as many as a model may be told of."""
    if turn.thread_id is None:
        return []
    parents = dict(Turn.objects.filter(thread_id=turn.thread_id).values_list("id", "parent_id"))
    line: list[uuid.UUID] = []
    current = turn.parent_id
    while current is not None and current in parents and current not in line:
        line.append(current)
        current = parents[current]
    return line[: settings.AGENT_HISTORY_MESSAGES]


def history_messages(turn: Turn, *, hints: dict[str, str]) -> list[ChatMessage]:
    """What a model is told of before this turn: the thread when there is one, else what the client sent."""
    turns = split_turns(sanitize(turn.history))
    cap = settings.AGENT_RESULT_CHARS
    turns += [transcript_messages(load_transcript(row), cap=cap, hints=hints) for row in ancestors(turn)]
    return recent_turns(turns, max_messages=settings.AGENT_HISTORY_MESSAGES, max_tokens=settings.AGENT_HISTORY_TOKENS)


def append_question(turn: Turn, text: str) -> Message:
    return Message.objects.create(
        organization_id=turn.organization_id, turn=turn, position=0, role="user", content=text
    )


def append_round(
    turn: Turn, answer: Round, completion: Completion | None, *, sent: Json | None, seen: Mapping[str, Json], ms: int
) -> Message:
    """Write a round and its calls; calls that were refused have their result already.

    `seen` are by call the versions of what it would change. Units: `ms` of thinking.
    """
    message = Message.objects.create(
        organization_id=turn.organization_id,
        turn=turn,
        position=answer.index + 1,
        role="assistant",
        content=answer.text,
        thinking=answer.thinking,
        thinking_blocks=clean_json(answer.thinking_blocks),
        thinking_ms=ms,
        round_index=answer.index,
        sent=sent,
        usage=_usage(completion),
        cost_usd=completion.cost_usd if completion else None,
        complete=completion is not None or sent is None,
    )
    now = timezone.now()
    ToolCall.objects.bulk_create(
        _call_row(message, position, call, seen=seen.get(call.id, {}), now=now)
        for position, call in enumerate(answer.calls)
    )
    return message


def _call_row(message: Message, position: int, call: Call, *, seen: Json, now: datetime) -> ToolCall:
    return ToolCall(
        organization_id=message.organization_id,
        turn_id=message.turn_id,
        message=message,
        position=position,
        call_id=call.id,
        name=call.name,
        writes=call.writes,
        arguments_text=call.arguments_text,
        arguments=call.arguments or {},
        arguments_hash=call.arguments_hash,
        summary=call.summary[:500],
        tainted=call.tainted,
        seen=seen,
        decision=call.decision.verdict if call.decision else "",
        decided_at=now if call.decision else None,
        status=_status_at_birth(call),
        result=call.result,
        success=None if call.result is None else "error" not in call.result,
        finished_at=now if call.result is not None else None,
    )


def mark_started(turn_id: uuid.UUID, call_id: str) -> Json:
    """A write is about to run: from its commit on it is never run again. Returns what was seen when it was proposed."""
    rows = ToolCall.objects.filter(turn_id=turn_id, call_id=call_id)
    rows.update(status=ToolCall.Status.STARTED, started_at=timezone.now())
    seen: Json = rows.values_list("seen", flat=True).get()
    return seen


def see_own_write(turn_id: uuid.UUID, *, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """What one call of a turn changed is no surprise to those that were proposed beside it."""
    for row in ToolCall.objects.filter(turn_id=turn_id, writes=True, result__isnull=True).exclude(seen={}):
        moved = {key: after[key] for key, was in row.seen.items() if key in after and before.get(key) == was}
        if moved:
            row.seen |= moved
            row.save(update_fields=["seen"])


def store_result(turn_id: uuid.UUID, call_id: str, result: Json, *, undo: Json | None, ms: int) -> None:
    """The one result of a call, and how to take it back."""
    failed = "error" in result
    ToolCall.objects.filter(turn_id=turn_id, call_id=call_id, result__isnull=True).update(
        result=result,
        success=not failed,
        status=status_of_result(result),
        duration_ms=ms,
        undo=None if failed else undo,
        finished_at=timezone.now(),
    )


def store_working_state(turn_id: uuid.UUID, working_state: Json) -> None:
    """What the turn and its thread work on now."""
    Turn.objects.filter(pk=turn_id).update(working_state=working_state)
    Thread.objects.filter(turns=turn_id).update(working_state=working_state, updated_at=timezone.now())


def status_of_result(result: Json) -> str:
    """Which status a call ends in, from its result."""
    if "error" not in result:
        return ToolCall.Status.DONE
    ends = {
        "cancelled": ToolCall.Status.CANCELLED,
        "rejected": ToolCall.Status.REJECTED,
        "interrupted": ToolCall.Status.INTERRUPTED,
    }
    return ends.get(str(result.get("code")), ToolCall.Status.FAILED)


def totals(rows: Iterable[Message]) -> tuple[int, int, Decimal]:
    """Prompt tokens, completion tokens and cost of messages so far."""
    prompt, completion, cost = 0, 0, Decimal(0)
    for row in rows:
        prompt += row.usage.get("prompt_tokens", 0)
        completion += row.usage.get("completion_tokens", 0)
        cost += row.cost_usd or Decimal(0)
    return prompt, completion, cost


def call_from_row(row: ToolCall) -> Call:
    """A stored call as the loop knows it."""
    refused = row.result is not None and not row.arguments_hash
    return Call(
        id=row.call_id,
        name=row.name,
        arguments_text=row.arguments_text,
        arguments=None if refused else row.arguments,
        arguments_hash=row.arguments_hash,
        summary=row.summary,
        writes=row.writes,
        tainted=row.tainted,
        decision=_decision(row),
        started=row.status == ToolCall.Status.STARTED,
        result=row.result,
    )


def _round(message: Message, calls: list[ToolCall]) -> Round:
    return Round(
        text=message.content,
        thinking=message.thinking,
        thinking_blocks=tuple(message.thinking_blocks),
        calls=tuple(call_from_row(row) for row in calls),
        index=message.round_index,
    )


def _decision(row: ToolCall) -> Ruling | None:
    if row.decision not in ("approved", "rejected"):
        return None
    verdict: Any = row.decision
    return Ruling(
        verdict=verdict,
        arguments=row.decided_arguments,
        reason=row.reason,
        by_rule=row.decided_by_id is None and not row.decided_by_name,
    )


def _status_at_birth(call: Call) -> str:
    if call.result is not None:
        return ToolCall.Status.FAILED
    return ToolCall.Status.DECIDED if call.decision else ToolCall.Status.WAITING


def _usage(completion: Completion | None) -> Json:
    if completion is None:
        return {}
    usage = completion.usage
    return {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
