"""Tools for prompts: what a model is told to do with a document."""

from typing import Annotated

from pydantic import Field

from agent.toolbox import ToolContext, toolbox
from agent.tools import seen
from agent.tools.arguments import Filters, Json, Limit, NameSearch, Skip, Sort, TagIds, quoted
from core.ids import show_id
from documents.tagging import tag_filter_of_document
from llm.catalog import chat_models
from prompts_app import selectors, services
from prompts_app.config import PromptConfig
from prompts_app.default import DEFAULT_PROMPT_ID, show_default_prompt
from prompts_app.presentation import show_prompt

PromptId = Annotated[str, Field(description="The prompt_id (not the prompt_revid).")]
Content = Annotated[str, Field(min_length=1, description="What the model is told to do. See help_prompts.")]
SchemaId = Annotated[str | None, Field(description="The schema_id of the schema that the answer follows.")]


@toolbox.tool(writes=False, summary="Look at a prompt")
def get_prompt(
    ctx: ToolContext,
    prompt_revid: Annotated[str, Field(description='The prompt_revid, or "default" for the built-in prompt.')],
) -> Json:
    """Read one version of a prompt."""
    if prompt_revid == DEFAULT_PROMPT_ID:
        return show_default_prompt()
    return show_prompt(selectors.get_revision(actor=ctx.actor, prompt_revid=prompt_revid))


@toolbox.tool(writes=False, summary="Look through prompts", more="Use skip and a smaller limit, or get_prompt for one.")
def list_prompts(
    ctx: ToolContext,
    skip: Skip = 0,
    limit: Limit = 10,
    name_search: NameSearch = None,
    document_id: Annotated[str | None, Field(description="Only prompts that share a tag with this document.")] = None,
    tag_ids: TagIds = None,
    sort: Sort = None,
    filters: Filters = None,
) -> Json:
    """List the organization's prompts, each with its latest version, newest first."""
    any_of = tag_filter_of_document(actor=ctx.actor, document_id=document_id) if document_id else None
    found = selectors.list_prompts(
        actor=ctx.actor,
        skip=skip,
        limit=limit,
        name_search=name_search,
        tag_ids=tag_ids or (),
        any_tag_ids=any_of,
        sort=sort,
        filters=filters,
    )
    return {"prompts": [show_prompt(row) for row in found.rows], "total_count": found.total_count, "skip": found.skip}


@toolbox.tool(writes=False, summary="Look which models there are")
def list_llm_models(
    ctx: ToolContext,  # noqa: ARG001 - every tool takes it
    _: Annotated[str, Field(description="Not used.")] = "",
) -> Json:
    """List the models that can be used here. Prefer cheap and fast ones for extraction."""
    return {"models": [model.name for model in chat_models()]}


def _create_summary(arguments: Json) -> str:
    tags = arguments.get("tag_ids") or []
    end = f" for documents with {len(tags)} tag{'' if len(tags) == 1 else 's'}" if tags else ""
    return f"Create prompt {quoted(arguments['name'])}{' with a schema' if arguments.get('schema_id') else ''}{end}"


@toolbox.tool(writes=True, summary=_create_summary, sees=seen.prompt_name)
def create_prompt(
    ctx: ToolContext,
    name: Annotated[str, Field(min_length=1, max_length=200, description="What people call it.")],
    content: Content,
    schema_id: SchemaId = None,
    schema_version: Annotated[int | None, Field(description="A version of the schema; the latest if left out.")] = None,
    model: Annotated[str, Field(description="The model that runs it. See list_llm_models.")] = "gpt-4o-mini",
    tag_ids: TagIds = None,
) -> Json:
    """Create a prompt. A name that exists gets a new version: look at list_prompts first."""
    config = PromptConfig(
        name=name,
        content=content,
        schema_id=schema_id,
        schema_version=schema_version,
        model=model,
        tag_ids=tag_ids or (),
    )
    expected = seen.name_seen(ctx, "prompt", name)
    saved = services.create_prompt(actor=ctx.actor, config=config, expected_version=expected)
    result = _saved(ctx, saved)
    if saved.new_version:
        version = saved.revision.version
        result |= {"new_version": True, "warning": f"A prompt with this name exists: this is its version {version}."}
    return result


def _change_summary(arguments: Json) -> str:
    names = {"content": "a new text", "schema_id": "a schema's latest version", "model": "a model", "tag_ids": "tags"}
    given = [text for key, text in names.items() if arguments.get(key) is not None]
    return f"Save a new version of a prompt with {', '.join(given) or 'nothing changed'}"


@toolbox.tool(writes=True, summary=_change_summary, sees=seen.prompt)
def update_prompt(
    ctx: ToolContext,
    prompt_id: PromptId,
    content: Content | None = None,
    schema_id: SchemaId = None,
    tag_ids: Annotated[list[str] | None, Field(description="Ids of all tags that it has afterwards.")] = None,
    model: Annotated[str | None, Field(description="The model that runs it. See list_llm_models.")] = None,
) -> Json:
    """Save a new version of a prompt. What is left out stays; schema_id takes that schema's latest version."""
    saved = services.revise_prompt(
        actor=ctx.actor,
        prompt_id=prompt_id,
        content=content,
        schema_id=schema_id,
        tag_ids=tag_ids,
        model=model,
        expected_version=seen.version_seen(ctx, "prompt", prompt_id),
    )
    return _saved(ctx, saved)


@toolbox.tool(writes=True, summary="Delete a prompt", sees=seen.prompt)
def delete_prompt(ctx: ToolContext, prompt_id: PromptId) -> Json:
    """Delete a prompt. Its results stay readable; it stays in the trash for 30 days."""
    expected = seen.version_seen(ctx, "prompt", prompt_id)
    prompt = services.delete_prompt(actor=ctx.actor, prompt_id=prompt_id, expected_version=expected)
    ctx.record_undo("prompt_deleted", prompt_id=show_id(prompt.pk))
    return {"message": "Prompt deleted successfully"}


def _saved(ctx: ToolContext, saved: services.SavedPrompt) -> Json:
    """The result of a write, with the working state set and the way back recorded."""
    revision, prompt = saved.revision, saved.revision.prompt
    ctx.working_state["prompt_revid"] = show_id(revision.pk)
    ctx.record_undo(
        f"prompt_{saved.outcome}",
        prompt_id=show_id(prompt.pk),
        version=revision.version,
        previous_version=saved.previous_version,
    )
    return {"prompt_revid": show_id(revision.pk), "prompt_id": show_id(prompt.pk), "name": prompt.name}
