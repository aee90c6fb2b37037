"""What a turn that nobody watches may do: which tools, how often, for how much. Decided in code, before anything runs.

It may read, and write schemas, prompts and extractions of its own; the services see to "of its own" (`Actor.run_id`).
Every other tool does not exist for it, whatever a document says.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.conf import settings

from agent.policy import never_auto_approved
from agent.setup import CostLimitReached, Limits, Tally
from agent.toolbox import Border, Toolbox, ToolContext, error_result, toolbox
from core.errors import Forbidden

Json = dict[str, Any]

EXTRACT = "run_extraction"
WRITES = ("create_schema", "update_schema", "create_prompt", "update_prompt", EXTRACT)
ENOUGH = (
    "No more refinements: the extraction was run as often as a run without a person may. Say what was found, and end."
)


class ToolBeyondCeiling(Forbidden):
    """The organization wants to be asked before this tool runs, and nobody is there to be asked."""

    code = "tool_not_allowed"
    detail = "The agent needs a tool that always asks here."


class HeadlessToolbox(Toolbox):
    """The tools of one turn without a person. After the last refinement only reading is left."""

    def __init__(self, tools: Toolbox) -> None:
        super().__init__()
        self._tools = {tool.name: tool for tool in tools.only([*tools.read_names, *WRITES])}
        self._left = 1 + settings.AUTO_CREATE_REFINEMENTS

    def definitions(self) -> list[Json]:
        """What the model is offered in its next round."""
        if self._left <= 0:
            self._tools = {name: tool for name, tool in self._tools.items() if not tool.writes}
        return super().definitions()

    async def run(self, name: str, arguments: Json, context: ToolContext, *, border: Border) -> Json:
        """Run a call; of extractions no more than are left, also when one answer asks for many."""
        if name != EXTRACT:
            return await super().run(name, arguments, context, border=border)
        if self._left <= 0:
            return error_result(ENOUGH, "no_refinements_left")
        self._left -= 1
        return await super().run(name, arguments, context, border=border)


def headless_toolbox() -> HeadlessToolbox:
    """A fresh one for each turn: it counts."""
    return HeadlessToolbox(toolbox)


def headless_limits() -> Limits:
    """Rounds and cost of one attempt."""
    return Limits(rounds=settings.AUTO_CREATE_MAX_ROUNDS, cost=_most(), result_chars=settings.AGENT_RESULT_CHARS)


def headless_judge(tally: Tally, extractions_cost: Callable[[], Decimal]) -> Callable[[str, Json], bool]:
    """Whether a write may run: all that are offered, while there is money left. The ceiling wins over everything.

    The judge raises: ToolBeyondCeiling, CostLimitReached. Nobody can be asked, so these end the turn.
    """

    def judge(name: str, _arguments: Json) -> bool:
        if name in never_auto_approved():
            raise ToolBeyondCeiling(f"The agent needs {name}, which always asks in this organization.")
        most = _most()
        if most is not None and tally.cost_usd + extractions_cost() >= most:
            raise CostLimitReached
        return True

    return judge


def _most() -> Decimal | None:
    return Decimal(str(settings.AUTO_CREATE_MAX_COST)) or None
