"""What the engine answers."""

from dataclasses import dataclass

from llm.types import ToolRequest


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the offline model, in the shape of a language model's."""

    text: str = ""
    thinking: str = ""
    tool_calls: tuple[ToolRequest, ...] = ()
