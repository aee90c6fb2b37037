"""The conversation as facts: the question, what is known, what was called and what came of it."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llm.offline.reply import Reply
from llm.types import ChatMessage, ToolRequest

_BLOCK = re.compile(r"<<<DATA (?P<mark>\S+)\s*\n(?P<body>.*)\n\s*DATA (?P=mark)>>>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Step:
    """A tool call with its result. `turn` counts questions; the newest question's turn is the last."""

    name: str
    arguments: dict[str, Any]
    result: dict[str, Any]
    turn: int

    @property
    def rejected(self) -> bool:
        return str(self.result.get("error", "")).startswith("User rejected")

    @property
    def reason(self) -> str:
        return str(self.result.get("reason") or "").strip()

    @property
    def error(self) -> str:
        return str(self.result.get("error") or "")

    @property
    def done(self) -> bool:
        return not self.error


@dataclass(slots=True)
class Conversation:
    """Everything the dialogue may look at. `steps` of this turn only; `earlier` of the turns before."""

    question: str = ""
    context: dict[str, Any] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    earlier: list[Step] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    tools: frozenset[str] = frozenset()
    size: int = 0

    @property
    def state(self) -> dict[str, Any]:
        """The working state (empty when there is none)."""
        held = self.context.get("working_state")
        return held if isinstance(held, dict) else {}

    @property
    def about(self) -> dict[str, Any]:
        """What is known of the document: id, name, pages, tags."""
        held = self.context.get("document")
        return held if isinstance(held, dict) else {}

    def mentioned(self, kind: str) -> dict[str, Any] | None:
        """The content of the first mention of `kind` in the newest question."""
        held = self.context.get("mentions")
        found = (
            [m.get("content") for m in held if isinstance(m, Mapping) and m.get("type") == kind]
            if isinstance(held, list)
            else []
        )
        return next((content for content in found if isinstance(content, dict)), None)

    def last(self, name: str) -> Step | None:
        """The last call of `name` in this turn."""
        return next((step for step in reversed(self.steps) if step.name == name), None)

    def succeeded(self, name: str) -> Step | None:
        """The last call of `name` in this turn that worked."""
        return next((step for step in reversed(self.steps) if step.name == name and step.done), None)

    def was_tried(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Whether exactly this call was made in this turn."""
        return any(step.name == name and step.arguments == dict(arguments) for step in self.steps)

    def offers(self, *names: str) -> bool:
        """Whether all these tools may be called."""
        return all(name in self.tools for name in names)

    def call(self, text: str, *calls: tuple[str, dict[str, Any]], thinking: str = "") -> Reply:
        """A reply with calls; only tools that were offered are called."""
        requests = tuple(
            ToolRequest(self._id(place, name, arguments), name, json.dumps(arguments, ensure_ascii=False))
            for place, (name, arguments) in enumerate(calls)
            if name in self.tools
        )
        return Reply(text=text, thinking=thinking, tool_calls=requests)

    def _id(self, place: int, name: str, arguments: Mapping[str, Any]) -> str:
        facts = json.dumps([self.size, place, name, dict(arguments), self.question], sort_keys=True, default=str)
        return "call_" + hashlib.sha256(facts.encode("utf-8", "replace")).hexdigest()[:20]


def read_conversation(messages: Sequence[ChatMessage], tools: Sequence[Mapping[str, Any]]) -> Conversation:
    """Messages as the agent sends them (or any others) to facts. Never raises on odd messages."""
    talk = Conversation(tools=frozenset(filter(None, map(_tool_name, tools))), size=len(messages))
    pending: dict[str, tuple[str, dict[str, Any]]] = {}
    steps: list[Step] = []
    for message in messages:
        role, text = message.get("role"), text_of(message.get("content"))
        if role == "user":
            block = _BLOCK.search(text)
            if block is not None:
                talk.context = _object(block["body"])
            else:
                talk.questions.append(text.strip())
        elif role == "assistant":
            pending.update(_calls(message))
        elif role == "tool" and (call := pending.pop(str(message.get("tool_call_id")), None)):
            steps.append(Step(call[0], call[1], _object(text), len(talk.questions)))
    talk.question = talk.questions[-1] if talk.questions else ""
    talk.steps = [step for step in steps if step.turn == len(talk.questions)]
    talk.earlier = [step for step in steps if step.turn < len(talk.questions)]
    return talk


def text_of(content: Any) -> str:
    """The text of a message: plain, or the text parts of a list."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(
            str(part.get("text", "")) for part in content if isinstance(part, Mapping) and part.get("type") == "text"
        )
    return ""


def _tool_name(tool: Mapping[str, Any]) -> str:
    function = tool.get("function")
    return str(function.get("name", "") if isinstance(function, Mapping) else tool.get("name", ""))


def _calls(message: Mapping[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    found = {}
    for call in message.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            arguments = function.get("arguments")
            parsed = arguments if isinstance(arguments, dict) else _object(str(arguments or "{}"))
            found[str(call.get("id"))] = (str(function.get("name")), parsed)
    return found


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {"text": text}
    return value if isinstance(value, dict) else {"value": value}
