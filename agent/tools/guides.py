"""Tools that explain how schemas and prompts work here. The texts stand in agent/prompts."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from agent.toolbox import ToolContext, toolbox
from agent.tools.arguments import Json

_TEXTS = Path(__file__).resolve().parent.parent / "prompts"
_SCHEMAS = (_TEXTS / "help_schemas.md").read_text(encoding="utf-8")
_PROMPTS = (_TEXTS / "help_prompts.md").read_text(encoding="utf-8")
Unused = Annotated[str, Field(description="Not used.")]


@toolbox.tool(writes=False, summary="Read how schemas work")
def help_schemas(ctx: ToolContext, _: Unused = "") -> Json:  # noqa: ARG001 - every tool takes it
    """Read how to write a schema: the rules, an example, what to do about missing data."""
    return {"content": _SCHEMAS}


@toolbox.tool(writes=False, summary="Read how prompts work")
def help_prompts(ctx: ToolContext, _: Unused = "") -> Json:  # noqa: ARG001 - every tool takes it
    """Read how to write a prompt: what belongs into its text, which model, what tags do."""
    return {"content": _PROMPTS}
