"""Tools for tags: labels that decide which prompts run on which documents."""

from typing import Annotated, Any

from pydantic import Field

from agent.toolbox import ToolContext, toolbox
from agent.tools import seen
from agent.tools.arguments import Filters, Json, Limit, NameSearch, Skip, Sort, quoted
from core.ids import show_id
from documents.tagging import delete_tag as delete_unused_tag
from tags_app import selectors, services
from tags_app.presentation import show_tag

TagId = Annotated[str, Field(description="The tag's id.")]
Name = Annotated[str, Field(min_length=1, max_length=200, description="What people call it.")]
Color = Annotated[str | None, Field(max_length=32, description="A CSS color, such as #3B82F6.")]
Description = Annotated[str | None, Field(max_length=2000, description="What it is for.")]


@toolbox.tool(writes=False, summary="Look at a tag")
def get_tag(ctx: ToolContext, tag_id: TagId) -> Json:
    """Read one tag."""
    return show_tag(selectors.get_tag(actor=ctx.actor, tag_id=tag_id))


@toolbox.tool(writes=False, summary="Look through tags", more="Use skip and a smaller limit, or name_search.")
def list_tags(
    ctx: ToolContext,
    skip: Skip = 0,
    limit: Limit = 10,
    name_search: NameSearch = None,
    sort: Sort = None,
    filters: Filters = None,
) -> Json:
    """List the organization's tags, newest first."""
    found = selectors.list_tags(
        actor=ctx.actor, skip=skip, limit=limit, name_search=name_search, sort=sort, filters=filters
    )
    return {"tags": [show_tag(row) for row in found.rows], "total_count": found.total_count, "skip": found.skip}


@toolbox.tool(writes=True, summary=lambda arguments: f"Create tag {quoted(arguments['name'])}")
def create_tag(ctx: ToolContext, name: Name, color: Color = None, description: Description = None) -> Json:
    """Create a tag. Its name must be new."""
    tag = services.create_tag(actor=ctx.actor, name=name, color=color, description=description)
    ctx.record_undo("tag_created", tag_id=show_id(tag.pk), after=_state(tag))
    return {"tag_id": show_id(tag.pk), "name": tag.name}


def _change_summary(arguments: Json) -> str:
    parts = [f"rename it {quoted(arguments['name'])}"] if arguments.get("name") is not None else []
    parts += [f"set its {key}" for key in ("color", "description") if arguments.get(key) is not None]
    return f"Change a tag: {', '.join(parts) or 'nothing'}"


@toolbox.tool(writes=True, summary=_change_summary, sees=seen.tag)
def update_tag(
    ctx: ToolContext, tag_id: TagId, name: Name | None = None, color: Color = None, description: Description = None
) -> Json:
    """Change a tag's name, color or description. What is left out stays."""
    before = _state(selectors.get_tag(actor=ctx.actor, tag_id=tag_id))
    wanted: Json = {"name": name or before["name"], "color": color or before["color"]}
    wanted["description"] = before["description"] if description is None else description
    if wanted == before:
        return {"tag_id": tag_id, "name": before["name"], "message": "No changes"}
    unchanged_since = seen.moment_seen(ctx, "tag", tag_id)
    tag = services.update_tag(actor=ctx.actor, tag_id=tag_id, **wanted, unchanged_since=unchanged_since)
    ctx.record_undo("tag_updated", tag_id=show_id(tag.pk), before=before, after=_state(tag))
    return {"tag_id": show_id(tag.pk), "name": tag.name}


@toolbox.tool(writes=True, summary="Delete a tag", sees=seen.tag)
def delete_tag(ctx: ToolContext, tag_id: TagId) -> Json:
    """Delete a tag that no document and no prompt has. It stays in the trash for 30 days."""
    unchanged_since = seen.moment_seen(ctx, "tag", tag_id)
    tag = delete_unused_tag(actor=ctx.actor, tag_id=tag_id, unchanged_since=unchanged_since)
    ctx.record_undo("tag_deleted", tag_id=show_id(tag.pk))
    return {"message": "Tag deleted successfully"}


def _state(tag: Any) -> Json:
    """What `update_tag` can change."""
    return {"name": tag.name, "color": tag.color, "description": tag.description}
