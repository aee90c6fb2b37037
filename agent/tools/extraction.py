"""Tools for extraction results: run a prompt, look at what it found, set a field."""

from typing import Annotated, Any

from asgiref.sync import sync_to_async
from pydantic import Field

from agent.toolbox import ToolContext, toolbox
from agent.tools import seen
from agent.tools.arguments import Json, quoted
from core.ids import show_id
from documents import extraction, results
from documents.errors import ExtractionStale
from prompts_app.default import DEFAULT_PROMPT_ID

PromptRevid = Annotated[
    str | None,
    Field(description='The prompt_revid, or "default"; the one in work when left out.'),
]


@toolbox.tool(writes=False, summary="Look at the extraction")
def get_extraction_result(ctx: ToolContext, prompt_revid: PromptRevid = None) -> Json:
    """Read the extraction of the current document: the values as they are now, edits included."""
    wanted = prompt_revid or ctx.working_state.get("prompt_revid")
    found = results.current_result(actor=ctx.actor, document_id=ctx.document_id, prompt_revid=wanted)
    return _shown(found)


@toolbox.tool(writes=True, summary="Run the extraction on this document", sees=seen.extraction)
async def run_extraction(ctx: ToolContext, prompt_revid: PromptRevid = None) -> Json:
    """Run a prompt on the current document. Earlier results stay in the history."""
    wanted = prompt_revid or ctx.working_state.get("prompt_revid") or DEFAULT_PROMPT_ID
    made = await extraction.run_extraction(actor=ctx.actor, document_id=ctx.document_id, prompt_revid=wanted)
    result = await sync_to_async(_shown, thread_sensitive=False)(made)
    ctx.working_state["prompt_revid"] = result["prompt_revid"]
    ctx.record_undo("extraction_run", document_id=ctx.document_id, extraction_id=show_id(made.pk))
    return result


@toolbox.tool(
    writes=True,
    summary=lambda arguments: f"Set {quoted(arguments['path'])} to {_short(arguments['value'])}",
    sees=seen.extraction,
)
def update_extraction_field(
    ctx: ToolContext,
    path: Annotated[str, Field(min_length=1, description="Where the value is: total, or lines.0.amount.")],
    value: Annotated[Any, Field(description="The new value, of the type that the schema says.")],
) -> Json:
    """Set one value of the current extraction. Use it for corrections that the person asks for."""
    wanted = ctx.working_state.get("prompt_revid")
    before = results.current_result(actor=ctx.actor, document_id=ctx.document_id, prompt_revid=wanted)
    expected_id, edit_version = ctx.seen.get(seen.EXTRACTION) or (show_id(before.pk), None)
    if expected_id != show_id(before.pk):
        raise ExtractionStale("The extraction was run again in the meantime. Nothing was changed: look at it first.")
    after = results.update_field(
        actor=ctx.actor,
        document_id=ctx.document_id,
        extraction_id=before.pk,
        path=path,
        value=value,
        edit_version=edit_version,
    )
    if after.edit_version != before.edit_version:
        _record_edit(ctx, after)
    return _shown(after)


def _record_edit(ctx: ToolContext, result: Any) -> None:
    edits = results.list_edits(actor=ctx.actor, document_id=ctx.document_id, extraction_id=result.pk)
    edit = edits[0]
    ctx.record_undo(
        "field_set",
        document_id=ctx.document_id,
        extraction_id=show_id(result.pk),
        edit_version=result.edit_version,
        path=edit.path,
        value=edit.value_from,
    )


def _shown(result: Any) -> Json:
    revision_id = result.prompt_revision_id
    return {
        "extraction": result.updated_llm_result,
        "prompt_revid": show_id(revision_id) if revision_id else DEFAULT_PROMPT_ID,
    }


def _short(value: object) -> str:
    text = f"“{value}”" if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
