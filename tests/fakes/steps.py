"""What a fake provider is told to say: one step for each request, as plain data that also reads from JSON."""

import dataclasses
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

FaultKind = Literal[
    "status",  # an HTTP error instead of an answer
    "cut",  # the socket breaks after `after` frames
    "end_early",  # the stream ends politely after `after` frames, without saying that it is finished
    "slow_first",  # the headers come at once, the first frame `seconds` later
    "slow_headers",  # nothing at all comes for `seconds`
    "slow_between",  # a pause of `seconds` before frame `after`
    "hang_up",  # the socket is closed before any answer
    "empty_choices",  # OpenAI frames without a choice
    "garbage",  # frame `after` is no JSON
    "not_a_stream",  # an HTML page with status 200
]

_PLACE = re.compile(r"\{\{(\w+)\.([\w.]+)\}\}")


@dataclass(frozen=True)
class Fault:
    """Units: seconds; `after` counts SSE frames."""

    kind: FaultKind
    after: int = 1
    seconds: float = 5.0
    status: int = 500
    error_type: str = "server_error"
    error_code: str | None = None
    message: str = "the fake says no"
    retry_after: str | None = None


@dataclass(frozen=True)
class Call:
    """One tool call. Text arguments go out as they are, so that they may be malformed."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)
    id: str | None = "call_1"


@dataclass(frozen=True)
class Step:
    """One answer. `structured` steps answer requests for a JSON schema only, all others everything else."""

    text: str = ""
    thinking: str = ""
    signature: str = ""
    calls: tuple[Call, ...] = ()
    finish: str | None = None
    usage: tuple[int, int] | None = (11, 7)
    structured: bool = False
    call_style: Literal["plain", "interleaved", "repeated_ids", "whole", "no_index"] = "plain"
    piece: int = 12
    expect: tuple[str, ...] = ()
    expect_signatures: tuple[str, ...] = ()  # asked of requests in Anthropic's protocol only
    fault: Fault | None = None
    repeat: int = 1
    delay: float = 0.0

    @property
    def finish_reason(self) -> str:
        return self.finish or ("tool_calls" if self.calls else "stop")


def step_from_json(data: Mapping[str, Any]) -> Step:
    """Read a step as a script file has it. Raises: TypeError for a key that no step knows."""
    values = dict(data)
    values["calls"] = tuple(Call(**call) for call in values.get("calls", ()))
    values["fault"] = Fault(**values["fault"]) if values.get("fault") else None
    for key in ("expect", "expect_signatures"):
        values[key] = tuple(values.get(key, ()))
    if values.get("usage") is not None:
        values["usage"] = tuple(values["usage"])
    return Step(**values)


def step_to_json(step: Step) -> dict[str, Any]:
    return dataclasses.asdict(step)


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), max(size, 1))]


def fill_in(step: Step, results: Mapping[str, Any]) -> Step:
    """Put results of earlier tools where the step has {{tool.key}}, so that a script can use ids it cannot know."""

    def look_up(match: re.Match[str]) -> str:
        value: Any = results[match[1]]
        for key in match[2].split("."):
            value = value[key]
        return value if isinstance(value, str) else json.dumps(value)

    def walk(value: Any) -> Any:
        if isinstance(value, str):
            return _PLACE.sub(look_up, value)
        if isinstance(value, dict):
            return {key: walk(item) for key, item in value.items()}
        return [walk(item) for item in value] if isinstance(value, list) else value

    calls = tuple(dataclasses.replace(call, arguments=walk(call.arguments)) for call in step.calls)
    return dataclasses.replace(step, text=walk(step.text), calls=calls)
