"""What differs between two results of the extraction that this conversation has seen."""

from collections.abc import Iterator
from typing import Any

from llm.offline.dialogue.conversation import Conversation, Step
from llm.offline.dialogue.wording import counted, shown
from llm.offline.extract.fill import is_empty
from llm.offline.reply import Reply

_TELL = frozenset({"run_extraction", "update_extraction_field", "get_extraction_result"})
_MOST = 20


def compare(talk: Conversation) -> Reply:
    """The present result beside the one before it."""
    seen = [step.result["extraction"] for step in _results(talk)]
    now = talk.state.get("extraction")
    if isinstance(now, dict) and (not seen or seen[-1] != now):
        seen.append(now)
    if not seen:
        return Reply(text="Nothing was extracted from this document in this thread yet.")
    before = next((result for result in reversed(seen[:-1]) if result != seen[-1]), None)
    if before is not None:
        return Reply(text=_told(before, seen[-1]))
    if len(seen) > 1:
        return Reply(text="The result is the same as the earlier one: every value is equal.")
    return Reply(
        text="In this conversation I have seen one result only. Earlier ones are in the history on the Extraction tab."
    )


def since_earlier(talk: Conversation, result: Any) -> str:
    """A sentence on what a new run changed; "" when there was no earlier result to compare with."""
    before = next((step.result["extraction"] for step in reversed(_results(talk)) if step in talk.earlier), None)
    if before is None or not isinstance(result, dict):
        return ""
    return "\n\n" + (_told(before, result) if before != result else "No value differs from the earlier result.")


def _results(talk: Conversation) -> list[Step]:
    steps = [*talk.earlier, *talk.steps]
    return [step for step in steps if step.name in _TELL and isinstance(step.result.get("extraction"), dict)]


def _told(before: dict[str, Any], after: dict[str, Any]) -> str:
    lines = [f"- {path}: {_said(old)} → {_said(new)}" for path, old, new in _differences(before, after, "")]
    more = f"\n… and {counted(len(lines) - _MOST, 'more value')}." if len(lines) > _MOST else ""
    head = f"Compared with the earlier result, {counted(len(lines), 'value')} changed:"
    return "\n".join([head, *lines[:_MOST]]) + more


def _said(value: Any) -> str:
    return "empty" if is_empty(value) else shown(value)


def _differences(before: Any, after: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Leaf by leaf; rows are counted from 1, as people do."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            yield from _differences(before.get(name), after.get(name), f"{path}.{name}" if path else name)
    elif isinstance(before, list) and isinstance(after, list):
        for row in range(max(len(before), len(after))):
            old, new = (rows[row] if row < len(rows) else None for rows in (before, after))
            yield from _differences(old, new, f"{path} {row + 1}")
    elif before != after and not (is_empty(before) and is_empty(after)):
        yield path, before, after
