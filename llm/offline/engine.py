"""The entry of the offline model: messages, tools and a document in, one reply out. Deterministic; keeps no state."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from llm.content import DocumentContent, PageContent
from llm.offline.dialogue.answers import ask
from llm.offline.dialogue.conversation import Conversation, read_conversation
from llm.offline.dialogue.quoting import answer_with_quotes
from llm.offline.dialogue.requests import Request
from llm.offline.dialogue.turn import answer
from llm.offline.extract.fill import extract
from llm.offline.extract.reading import Reading
from llm.offline.extract.schema import inner_schema
from llm.offline.propose.proposal import propose
from llm.offline.reply import Reply
from llm.types import ChatMessage

__all__ = ["Reply", "reply"]


def reply(
    *,
    messages: Sequence[ChatMessage],
    tools: Sequence[Mapping[str, Any]],
    document: DocumentContent | None,
    response_format: Mapping[str, Any] | None,
) -> Reply:
    """One answer: an extraction when a schema is given, a step of the dialogue when tools are, else a quote.

    When the context has pages, the quote is cited.
    """
    talk = read_conversation(messages, tools)
    reading = Reading(document if document is not None else _document_of(talk))
    if response_format is not None:
        return Reply(text=_extraction(response_format, reading))
    if tools:
        return answer(talk, reading)
    if isinstance(talk.context.get("pages"), list):
        return answer_with_quotes(reading, talk.question)
    return ask(reading, Request("ask", text=talk.question))


def _extraction(response_format: Mapping[str, Any], reading: Reading) -> str:
    wanted: Mapping[str, Any] = response_format
    if not inner_schema(response_format) or response_format.get("type") == "json_object":
        wanted = propose(reading).response_format
    return json.dumps(extract(wanted, reading), ensure_ascii=False)


def _document_of(talk: Conversation) -> DocumentContent:
    """A stand-in made of the excerpt in the context block, for callers that pass no document."""
    text = str(talk.context.get("text_excerpt") or "")
    pages = (PageContent(1, 612.0, 792.0, text),) if text else ()
    return DocumentContent(str(talk.about.get("id", "")), str(talk.about.get("name", "")), pages)
