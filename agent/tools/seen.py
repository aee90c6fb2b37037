"""What a proposed write is based on: versions of what it would change, read when it is proposed.

A tool is registered with one of the functions as its `sees`; when the call runs, what they found stands in
`ctx.seen`, and `version_seen` gives the tool what to expect. Nothing there means that nothing is expected.
"""

from datetime import datetime
from typing import Any

from agent.toolbox import ToolContext
from agent.tools.arguments import Json
from core.errors import NotFound
from core.ids import parse_id, show_id
from documents import results
from documents.selectors import get_document
from prompts_app.selectors import get_prompt, prompts_named
from schemas_app.selectors import get_schema, schemas_named
from tags_app.selectors import get_tag

EXTRACTION = "extraction"


def version_seen(ctx: ToolContext, kind: str, object_id: object) -> int | None:
    """The version that the proposal was made for."""
    seen = ctx.seen.get(_key(kind, object_id))
    return seen if isinstance(seen, int) else None


def moment_seen(ctx: ToolContext, kind: str, object_id: object) -> datetime | None:
    """When the object was last written, at the time of the proposal: for what has no versions."""
    seen = ctx.seen.get(_key(kind, object_id))
    return datetime.fromisoformat(seen) if isinstance(seen, str) else None


def name_seen(ctx: ToolContext, kind: str, name: str) -> int | None:
    """The latest version under this name, 0 when nothing had it."""
    seen = ctx.seen.get(_named(kind, name))
    return seen if isinstance(seen, int) else None


def schema(ctx: ToolContext, arguments: Json) -> Json:
    found = get_schema(actor=ctx.actor, schema_id=arguments["schema_id"])
    return {_key("schema", found.pk): found.latest_version}


def schema_name(ctx: ToolContext, arguments: Json) -> Json:
    """A new schema takes a name that may stand for one already."""
    return _under_name("schema", arguments["name"], schemas_named(actor=ctx.actor, name=arguments["name"].strip()))


def prompt(ctx: ToolContext, arguments: Json) -> Json:
    found = get_prompt(actor=ctx.actor, prompt_id=arguments["prompt_id"])
    return {_key("prompt", found.pk): found.latest_version}


def prompt_name(ctx: ToolContext, arguments: Json) -> Json:
    """A new prompt takes a name that may stand for one already."""
    return _under_name("prompt", arguments["name"], prompts_named(actor=ctx.actor, name=arguments["name"].strip()))


def tag(ctx: ToolContext, arguments: Json) -> Json:
    found = get_tag(actor=ctx.actor, tag_id=arguments["tag_id"])
    return {_key("tag", found.pk): found.updated_at.isoformat()}


def document(ctx: ToolContext, arguments: Json) -> Json:
    found = get_document(actor=ctx.actor, document_id=arguments.get("document_id") or ctx.document_id)
    return {_key("document", found.pk): found.updated_at.isoformat()}


def extraction(ctx: ToolContext, arguments: Json) -> Json:
    """The current result and how often it was edited."""
    wanted = arguments.get("prompt_revid") or ctx.working_state.get("prompt_revid")
    found = results.current_result(actor=ctx.actor, document_id=ctx.document_id, prompt_revid=wanted)
    return {EXTRACTION: [show_id(found.pk), found.edit_version]}


def _key(kind: str, object_id: Any) -> str:
    try:
        return f"{kind}:{show_id(parse_id(object_id))}"
    except NotFound:
        return ""


def _named(kind: str, name: str) -> str:
    return f"{kind} named {name.strip().casefold() if kind == 'schema' else name.strip()}"


def _under_name(kind: str, name: str, found: Any) -> Json:
    standing = found.first()
    if standing is None:
        return {_named(kind, name): 0}
    return {_named(kind, name): standing.latest_version, _key(kind, standing.pk): standing.latest_version}
