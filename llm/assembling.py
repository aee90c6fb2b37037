"""Put an answer together from the chunks of its stream: text, thinking with signatures, tool calls, usage.

Providers differ: ids come once, in each delta, twice for two calls, or not at all; indexes are missing or always 0;
thinking comes as plain text or as signed blocks. Whoever reads the result sees none of that.
"""

import dataclasses
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from llm import errors
from llm.fenced import FenceGate
from llm.types import Completion, Delta, ToolRequest, Usage


@dataclass
class _Call:
    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


MAX_CHARS = 2_000_000
"""Of one answer, with its thinking and its calls: more says only a model that does not stop."""


class Assembler:
    """Takes litellm's chunks in order; gives deltas for the reader and in the end the whole completion."""

    def __init__(self, *, model: str, tool_names: Iterable[str] = (), used_ids: Iterable[str] = ()) -> None:
        self._model = model
        self._gate = FenceGate(tool_names)
        self._used_ids = set(used_ids)
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._blocks: list[dict[str, Any]] = []
        self._open_block: dict[str, Any] | None = None
        self._calls: list[_Call] = []
        self._finish_reason = ""
        self._room = MAX_CHARS
        self.usage_seen: Any = None

    @property
    def said_something(self) -> bool:
        """Whether the model has begun to answer: from here on a second try would say things twice."""
        return bool(self._text or self._thinking or self._calls or self._blocks or self._open_block or self._gate.held)

    def take(self, chunk: Any) -> Iterator[Delta]:
        """Add one chunk, or a piece of text; yield what of it a reader may see now. Raises: ModelReplyTooLong."""
        if isinstance(chunk, str):
            yield from self._take_text(chunk)
            return
        usage = getattr(chunk, "usage", None)
        if usage is not None:
            self.usage_seen = usage
        for choice in chunk.choices[:1]:
            self._finish_reason = choice.finish_reason or self._finish_reason
            delta = choice.delta
            thought = getattr(delta, "reasoning_content", None)
            self._take_blocks(getattr(delta, "thinking_blocks", None) or ())
            if thought:
                self._count(thought)
                self._thinking.append(thought)
                yield Delta("thinking", thought)
            if delta.content:
                yield from self._take_text(delta.content)
            for piece in delta.tool_calls or ():
                self._take_call(piece)

    def finish(self) -> Iterator[Delta]:
        """The stream is over: yield the text that was held back and turned out to be text."""
        yield from self._show(self._gate.close(calls_seen=bool(self._calls)))

    def completion(self) -> Completion:
        """Everything said so far. Cost is not known here."""
        calls = [ToolRequest(call.id, call.name, "".join(call.arguments)) for call in self._calls]
        calls = calls or [ToolRequest("", name, arguments) for name, arguments in self._gate.calls]
        reason = self._finish_reason or "stop"
        return Completion(
            text="".join(self._text),
            thinking="".join(self._thinking),
            thinking_blocks=tuple(self._blocks),
            tool_calls=tuple(self._with_own_ids(calls)),
            finish_reason="tool_calls" if calls and reason == "stop" else reason,
            model=self._model,
            usage=read_usage(self.usage_seen),
        )

    def _take_text(self, text: str) -> Iterator[Delta]:
        self._count(text)
        yield from self._show(self._gate.feed(text))

    def _count(self, text: str) -> None:
        self._room -= len(text)
        if self._room < 0:
            raise errors.ModelReplyTooLong

    def _show(self, text: str) -> Iterator[Delta]:
        if text:
            self._text.append(text)
            yield Delta("text", text)

    def _take_blocks(self, blocks: Iterable[dict[str, Any]]) -> None:
        """A signature ends its block; a redacted block is whole as it comes. Nothing in them is changed."""
        for block in blocks:
            if block.get("type") != "thinking":
                self._blocks.append(dict(block))
                continue
            if self._open_block is None:
                self._open_block = {"type": "thinking", "thinking": ""}
            self._open_block["thinking"] += block.get("thinking") or ""
            if block.get("signature"):
                self._blocks.append(self._open_block | {"signature": block["signature"]})
                self._open_block = None

    def _take_call(self, piece: Any) -> None:
        name = piece.function.name or ""
        call = self._find_call(piece.index, piece.id or "", name)
        call.id = call.id or piece.id or ""
        call.name = call.name or name
        if piece.function.arguments:
            self._count(piece.function.arguments)
            call.arguments.append(piece.function.arguments)

    def _find_call(self, index: int | None, call_id: str, name: str) -> _Call:
        """The newest call with this index, unless another id and a name say that a new one begins under it."""
        same = [call for call in self._calls if index is None or call.index == index]
        if same and not (name and call_id and same[-1].id and call_id != same[-1].id):
            return same[-1]
        call = _Call(index=len(self._calls) if index is None else index)
        self._calls.append(call)
        return call

    def _with_own_ids(self, calls: Iterable[ToolRequest]) -> Iterator[ToolRequest]:
        """Every call its own id: local servers leave it out or say "call_1" every time."""
        taken = set(self._used_ids)
        for call in calls:
            if not call.id or call.id in taken:
                call = dataclasses.replace(call, id=f"call_{uuid.uuid4().hex}")
            taken.add(call.id)
            yield call


def read_usage(usage: Any) -> Usage:
    if usage is None:
        return Usage()
    return Usage(prompt_tokens=usage.prompt_tokens or 0, completion_tokens=usage.completion_tokens or 0)
