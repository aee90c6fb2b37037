"""May this write run without asking? Decided in code, per tool and arguments; no model can talk it away."""

from typing import Any

from django.conf import settings

from agent.models import Turn
from agent.selectors import rule_covers
from core.ids import show_id

Json = dict[str, Any]


def never_auto_approved() -> frozenset[str]:
    """The ceiling: tools that always ask, whatever anybody switched on."""
    return frozenset(settings.AGENT_NEVER_AUTO_APPROVED)


def always_asks(name: str, arguments: Json, *, document_id: str) -> bool:
    """Deletes and what touches another document ask, unless `auto_approve` and the ceiling both allow them."""
    other = arguments.get("document_id")
    return name.startswith("delete_") or (isinstance(other, str) and other.replace("-", "").lower() != document_id)


def may_run_unasked(turn: Turn, name: str, arguments: Json, *, tainted: bool) -> bool:
    """Whether the turn's switches or a standing rule of its author cover this write."""
    if name in never_auto_approved():
        return False
    if turn.auto_approve:
        return True
    if always_asks(name, arguments, document_id=show_id(turn.document_id)):
        return False
    if name in turn.auto_approved_tools:
        return True
    return not tainted and rule_covers(turn=turn, tool=name)
