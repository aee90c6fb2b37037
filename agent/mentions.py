"""What a person pointed at with @: checked when the question is asked, read in full for each round of the model."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.conf import settings

from agent.messages import clean_text, cut_result
from core.errors import DomainError, Invalid, LimitReached
from core.ids import parse_id
from documents.selectors import get_document
from documents.tagging import show_document
from organizations.actor import Actor
from prompts_app.default import DEFAULT_PROMPT_ID, show_default_prompt
from prompts_app.presentation import show_prompt
from prompts_app.selectors import get_revision as get_prompt_revision
from schemas_app.presentation import show_schema
from schemas_app.selectors import get_revision as get_schema_revision
from tags_app.presentation import show_tag
from tags_app.selectors import get_tag

Json = dict[str, Any]


class MentionInvalid(Invalid):
    """`fields` names the mention."""

    code = "mention_invalid"


class TooManyMentions(LimitReached):
    code = "too_many_mentions"
    status = 400


def check_mentions(*, actor: Actor, mentions: Sequence[object]) -> list[Json]:
    """The mentions of a question as they are stored: type, id and the name that the thing has now.

    Raises: MentionInvalid naming the first one that is malformed, unknown or foreign; TooManyMentions.
    """
    if len(mentions) > settings.AGENT_MAX_MENTIONS:
        raise TooManyMentions(f"At most {settings.AGENT_MAX_MENTIONS} mentions in a message.")
    checked: list[Json] = []
    for number, mention in enumerate(mentions):
        kind, text = _parts(mention)
        found = _read(actor, kind, text)
        if found is None:
            raise MentionInvalid(
                f"Mention {number + 1} ({kind[:20] or '?'} {text[:64]}) was not found.",
                fields={f"mentions.{number}": "not found"},
            )
        one = {"type": kind, "id": text, "name": _name(found)}
        if one not in checked:
            checked.append(one)
    return checked


def read_mentions(*, actor: Actor, mentions: Sequence[object]) -> list[Json]:
    """The mentions with their whole content, for the model. One that is gone since says so."""
    return [_with_content(actor, *_parts(mention)) for mention in mentions[: settings.AGENT_MAX_MENTIONS]]


def mentioned_documents(mentions: Sequence[object]) -> list[uuid.UUID]:
    """The documents among mentions that were checked."""
    return [parse_id(text) for kind, text in map(_parts, mentions) if kind == "document"]


def _with_content(actor: Actor, kind: str, text: str) -> Json:
    found = _read(actor, kind, text)
    if found is None:
        return {"type": kind, "id": text, "name": None, "content": {"error": "This does not exist any more."}}
    content = cut_result(found, cap=settings.AGENT_MENTION_CHARS, hint=f"Call {_WHOLE[kind]} for all of it.")
    return {"type": kind, "id": text, "name": _name(found), "content": content}


def _parts(mention: object) -> tuple[str, str]:
    if not isinstance(mention, Mapping):
        return "", ""
    kind, text = mention.get("type"), mention.get("id")
    return (clean_text(kind) if isinstance(kind, str) else ""), (clean_text(text) if isinstance(text, str) else "")


def _read(actor: Actor, kind: str, text: str) -> Json | None:
    """The thing as plain data; None for what is unknown here, whatever the reason."""
    read = _READ.get(kind)
    try:
        return read(actor, text) if read else None
    except DomainError:
        return None


def _prompt(actor: Actor, text: str) -> Json:
    if text == DEFAULT_PROMPT_ID:
        return show_default_prompt()
    return show_prompt(get_prompt_revision(actor=actor, prompt_revid=text))


def _name(found: Json) -> str:
    return str(found.get("name") or found.get("document_name") or "")


_READ: dict[str, Callable[[Actor, str], Json]] = {
    "schema": lambda actor, text: show_schema(get_schema_revision(actor=actor, schema_revid=text)),
    "prompt": _prompt,
    "tag": lambda actor, text: show_tag(get_tag(actor=actor, tag_id=text)),
    "document": lambda actor, text: show_document(get_document(actor=actor, document_id=text)),
}
_WHOLE = {"schema": "get_schema", "prompt": "get_prompt", "tag": "get_tag", "document": "list_documents"}
