"""What of a document's log the organization's webhooks are told, and in which words: ids, names and states."""

from collections.abc import Callable
from typing import Any

from core.ids import show_id
from documents.models import Document, Run
from prompts_app.default import DEFAULT_PROMPT_ID
from webhooks.services import announce

Facts = dict[str, Any]


def announce_event(*, document: Document, type: str, data: Facts, run: Run | None) -> None:
    """Tell what was just appended to the log, in its transaction. Most of it is nobody's business outside.

    An upload is told by its service, once the document has its tags.
    """
    told = _told(type, data, run)
    if told is not None:
        event, more = told
        announce(
            organization_id=document.organization_id,
            event=event,
            data=lambda: {"document": document_facts(document), **more()},
        )


def announce_uploaded(document: Document) -> None:
    announce(
        organization_id=document.organization_id,
        event="document.uploaded",
        data=lambda: {"document": document_facts(document)},
    )


def document_facts(document: Document) -> Facts:
    """What a receiver may know of a document: nothing of what stands in it."""
    tag_ids = document.tags.order_by("pk").values_list("pk", flat=True)
    return {
        "document_id": show_id(document.pk),
        "document_name": document.name,
        "state": document.state,
        "tag_ids": [show_id(tag_id) for tag_id in tag_ids],
        "metadata": document.metadata,
    }


def _told(type: str, data: Facts, run: Run | None) -> tuple[str, Callable[[], Facts]] | None:
    if type == "document.auto_create.proposed":
        return "auto_create.proposed", lambda: {"proposal": dict(data)}
    if run is None:
        return None
    match type:
        case "run.failed" if run.kind == Run.Kind.PARSE:
            return "document.error", lambda: {"error": _problem(run)}
        case "extraction.completed":
            return "llm.completed", lambda: {"prompt": _prompt(run), "extraction": dict(data)}
        case "extraction.failed" if run.phase == Run.Phase.ERROR:
            return "llm.error", lambda: {"prompt": _prompt(run), "error": _problem(run)}
    return None


def _problem(run: Run) -> Facts:
    return {"code": run.error_code, "message": run.error_message, "retryable": run.retryable}


def _prompt(run: Run) -> Facts:
    revision = run.prompt_revision
    if revision is None:
        return {"prompt_revid": DEFAULT_PROMPT_ID, "prompt_id": None, "prompt_version": None}
    return {
        "prompt_revid": show_id(revision.pk),
        "prompt_id": show_id(revision.prompt_id),
        "prompt_version": revision.version,
    }
