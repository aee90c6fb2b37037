"""Reading prompts and their revisions: the only gate to their rows for doors."""

import uuid
from collections.abc import Sequence

from django.db.models import Exists, F, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Upper

from core.conditions import Field
from core.ids import parse_id
from core.listing import Fields, Listing, containing, filtered, ordered, page_of
from organizations.actor import Actor
from organizations.gate import get_owned, owned
from prompts_app.errors import PromptNotFound
from prompts_app.models import Prompt, PromptRevision
from schemas_app.errors import SchemaNotFound
from tags_app.models import Tag
from tags_app.selectors import get_tags

_TAG_LINKS = PromptRevision.tags.through
_FIRST_TAG = (
    _TAG_LINKS._default_manager.filter(promptrevision_id=OuterRef("pk"))
    .order_by(Upper("tag__name"), "tag_id")
    .values(first=Upper("tag__name"))[:1]
)
FIELDS: Fields = {
    "prompt_id": Field("prompt_id", "id"),
    "prompt_revid": Field("pk", "id"),
    "prompt_version": Field("version", "number"),
    "name": Field("prompt__name", "text"),
    "content": Field("content", "text"),
    "model": Field("model", "text"),
    "schema_id": Field("schema_revision__schema_id", "id"),
    "schema_version": Field("schema_revision__version", "number"),
    "tag_ids": Field("promptrevision", "links", through=_TAG_LINKS, target="tag", order=Subquery(_FIRST_TAG)),
    "created_at": Field("created_at", "time"),
    "created_by": Field("created_by_id", "id"),
}


def get_prompt(*, actor: Actor, prompt_id: object) -> Prompt:
    """The stable thing, by `prompt_id`. The built-in prompt has no row.

    Raises: PromptNotFound.
    """
    return get_owned(Prompt, actor, prompt_id, error=PromptNotFound)


def prompts_named(*, actor: Actor, name: str) -> QuerySet[Prompt]:
    """At most one: case counts."""
    return owned(Prompt, actor).filter(name=name)


def get_revision(*, actor: Actor, prompt_revid: object) -> PromptRevision:
    """One version, by `prompt_revid`, with its prompt, pinned schema revision and tags.

    Raises: PromptNotFound.
    """
    revision = _revisions(actor).filter(pk=parse_id(prompt_revid, error=PromptNotFound)).first()
    if revision is None:
        raise PromptNotFound()
    return revision


def get_version(*, actor: Actor, prompt_id: object, version: int | None = None) -> PromptRevision:
    """A version by its number; the latest one without a number.

    Raises: PromptNotFound.
    """
    prompt = get_prompt(actor=actor, prompt_id=prompt_id)
    wanted = prompt.latest_version if version is None else version
    found = _revisions(actor).filter(prompt=prompt, version=min(max(wanted, 0), 2**31 - 1)).first()
    if found is None:
        raise PromptNotFound()
    return found


def list_versions(*, actor: Actor, prompt_id: object) -> list[PromptRevision]:
    """Every version, newest first.

    Raises: PromptNotFound.
    """
    prompt = get_prompt(actor=actor, prompt_id=prompt_id)
    return list(_revisions(actor).filter(prompt=prompt).order_by("-version"))


def latest_revisions(*, actor: Actor) -> QuerySet[PromptRevision]:
    """The latest version of each prompt."""
    return _revisions(actor).filter(version=F("prompt__latest_version"))


def prompts_for_tags(*, actor: Actor, tag_ids: Sequence[uuid.UUID]) -> QuerySet[PromptRevision]:
    """The latest version of each prompt that shares a tag with these, oldest first; none that waits for a review."""
    rows = latest_revisions(actor=actor).filter(_has_tag(tag_ids), prompt__pending_review=False)
    return rows.order_by("prompt_id")


def list_prompts(
    *,
    actor: Actor,
    skip: int = 0,
    limit: int = 10,
    name_search: str | None = None,
    tag_ids: Sequence[object] = (),
    any_tag_ids: Sequence[uuid.UUID] | None = None,
    schema_id: object = None,
    named: str | None = None,
    sort: str | None = None,
    filters: str | None = None,
) -> Listing[PromptRevision]:
    """The latest version of each prompt, newest first unless `sort` says otherwise.

    `tag_ids`: all of them; `any_tag_ids`: at least one of them (a document's tags); `schema_id`: any version of it;
    `named`: exactly so.
    Raises: ListQueryInvalid, UnknownTags, SchemaNotFound.
    """
    rows = containing(latest_revisions(actor=actor), lookup="prompt__name", text=name_search)
    for tag in get_tags(actor=actor, tag_ids=tag_ids):
        rows = rows.filter(_has_tag([tag.pk]))
    if schema_id:
        rows = rows.filter(schema_revision__schema_id=parse_id(schema_id, error=SchemaNotFound))
    if named is not None:
        rows = rows.filter(prompt__name=named)
    if any_tag_ids is not None:
        rows = rows.filter(_has_tag(any_tag_ids))
    rows = filtered(rows, filters=filters, fields=FIELDS)
    return page_of(ordered(rows, sort=sort, fields=FIELDS), skip=skip, limit=limit)


def prompts_of_schema(*, actor: Actor, schema_id: uuid.UUID) -> QuerySet[PromptRevision]:
    """The prompts whose latest version pins a version of this schema."""
    return latest_revisions(actor=actor).filter(schema_revision__schema_id=schema_id).order_by("prompt_id")


def prompts_made_by(*, actor: Actor, run_id: uuid.UUID) -> QuerySet[Prompt]:
    """What a propose run made and nobody deleted since."""
    return owned(Prompt, actor).filter(made_by_run=run_id).order_by("pk")


def _has_tag(tag_ids: Sequence[uuid.UUID]) -> Exists:
    return Exists(_TAG_LINKS._default_manager.filter(promptrevision_id=OuterRef("pk"), tag_id__in=tag_ids))


def _revisions(actor: Actor) -> QuerySet[PromptRevision]:
    rows = owned(PromptRevision, actor).filter(prompt__deleted_at__isnull=True)
    tags = Prefetch("tags", queryset=Tag.objects.order_by("pk"))
    return rows.select_related("prompt", "schema_revision__schema").prefetch_related(tags)
