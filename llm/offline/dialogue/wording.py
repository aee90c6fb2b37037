"""Sentences for a person: plain, short, no exclamation marks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from llm.offline.dialogue.conversation import Step
from llm.offline.extract.fill import is_empty

ABOUT = (
    "I am the built-in model: rules, not a language model. I can set up extraction for this document, add, rename, "
    "remove or retype fields, run the extraction again, set a value, show where a value stands, compare with the "
    "earlier result, list fields, schemas, prompts and tags, tag or rename the document, and quote passages that "
    "answer a question. For anything freer, add a model key in the settings."
)


def listing(names: Iterable[str], limit: int = 12) -> str:
    """Names as "a, b and c"; long lists end with how many more there are."""
    items = list(names)
    if len(items) > limit:
        return ", ".join(items[:limit]) + f" and {len(items) - limit} more"
    return " and ".join(items) if len(items) < 3 else ", ".join(items[:-1]) + " and " + items[-1]


def counted(number: int, noun: str) -> str:
    """A count as "1 field", "3 fields"."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def summary(extraction: Any, fields: Sequence[str] = ()) -> str:
    """What an extraction found and what it did not."""
    if not isinstance(extraction, Mapping) or not extraction:
        return "The extraction came back empty."
    names = [name for name in (fields or list(extraction)) if name in extraction]
    found = [name for name in names if not is_empty(extraction[name])]
    missing = [name for name in names if is_empty(extraction[name])]
    said = [f"- {name}: {shown(extraction[name])}" for name in found[:25]]
    text = (
        f"Found {len(found)} of {counted(len(names), 'field')}:\n" + "\n".join(said) if found else "No field was found."
    )
    if missing:
        text += f"\n\nNot found or empty: {listing(missing)}."
    return text


def shown(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(shown(part) for part in value.values() if not is_empty(part)) or "empty"
    if isinstance(value, list):
        return counted(len(value), "row") if value else "empty"
    text = str(value)
    return text if len(text) <= 120 else text[:117] + "…"


def refused(step: Step, kept: str) -> str:
    """After a rejection that names nothing we can do."""
    reason = f" Your reason: “{step.reason[:200]}”." if step.reason else ""
    return f"All right, I did not do that.{reason} {kept} What should I change?"


def failed(step: Step) -> str:
    """After a tool's error."""
    return f"That did not work: {step.error[:300].rstrip('.')}."


def warned(step: Step) -> str:
    """A warning of a tool that the person should see; "" when there is none."""
    if step.result.get("new_version"):
        name = step.result.get("name") or step.arguments.get("name") or "that name"
        return f"A schema named “{name}” existed, so this became a new version of it. "
    return f"{step.result['warning']} " if isinstance(step.result.get("warning"), str) else ""
