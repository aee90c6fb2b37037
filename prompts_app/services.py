"""Writing prompts: every change is a new immutable revision. A schema is deleted from here: prompts may pin it."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from django.db import IntegrityError, transaction
from django.utils import timezone

from core.ids import parse_id
from llm.catalog import require_known_model
from organizations.actor import Actor
from organizations.errors import NotOwnWork
from organizations.gate import owned, require_own_work
from organizations.services import record
from prompts_app.config import (
    PromptConfig,
    checked_content,
    checked_include,
    checked_model,
    checked_name,
    checked_peer_match_keys,
)
from prompts_app.default import DEFAULT_PROMPT_ID
from prompts_app.errors import DefaultPromptFixed, PromptChanged, PromptNameTaken, PromptNotFound
from prompts_app.models import Prompt, PromptRevision
from prompts_app.selectors import get_prompt, get_version, prompts_of_schema
from schemas_app.errors import SchemaInUse, SchemaNotFound
from schemas_app.models import Schema, SchemaRevision
from schemas_app.naming import names_like
from schemas_app.selectors import get_version as get_schema_version
from schemas_app.services import lock_schema, trash_schema
from schemas_app.services import require_version as require_version_of_schema
from tags_app.models import Tag
from tags_app.services import lock_tags


@dataclass(frozen=True, slots=True)
class SavedPrompt:
    """What a write led to: the revision that is the latest now, the version before, and what happened."""

    revision: PromptRevision
    outcome: Literal["created", "new_version", "renamed"]
    previous_version: int
    previous_name: str

    @property
    def new_version(self) -> bool:
        return self.outcome == "new_version"


@dataclass(frozen=True, slots=True)
class _Body:
    """What a revision holds, checked, with everything it refers to held until the transaction ends."""

    content: str
    schema_revision: SchemaRevision | None
    model: str
    tags: list[Tag]
    include: dict[str, Any]
    peer_match_keys: list[str]


@transaction.atomic
def create_prompt(*, actor: Actor, config: PromptConfig, expected_version: int | None = None) -> SavedPrompt:
    """Make a prompt; a name that exists (case counts) gets a new version.

    A run that nobody watches leaves what others have alone: it takes the name with a number.
    `expected_version` is the latest under this name that the caller knows of, 0 for none.
    Raises: NameInvalid, PromptInvalid, SchemaNotFound, UnknownTags, Invalid (an unknown model), PromptChanged when
    `expected_version` is not the latest any more.
    """
    name, body = checked_name(config), _body(actor, config)
    wanted, (prompt, name) = name, lock_prompt_to_write(actor=actor, name=name)
    require_version(prompt, expected_version if name == wanted else None)
    before = prompt.latest_version
    if actor.run_id is None:  # who takes the name of something that waits for a review makes it theirs
        prompt.made_by_run, prompt.pending_review = None, False
    revision = _add_revision(actor, prompt, body)
    return SavedPrompt(revision, "new_version" if before else "created", before, name)


@transaction.atomic
def update_prompt(
    *, actor: Actor, prompt_id: object, config: PromptConfig, expected_version: int | None = None
) -> SavedPrompt:
    """Replace the whole prompt: renamed in place when only the name differs, else a new revision.

    Raises: PromptNotFound, DefaultPromptFixed, PromptNameTaken, PromptChanged when `expected_version` is not the
    latest any more, and what `create_prompt` raises.
    """
    name = checked_name(config)
    require_own_prompt(prompt_id=prompt_id)
    get_prompt(actor=actor, prompt_id=prompt_id)
    body = _body(actor, config)
    prompt = lock_prompt(actor=actor, prompt_id=prompt_id)
    require_own_work(actor=actor, made_by_run=prompt.made_by_run)
    require_version(prompt, expected_version)
    before = (prompt.latest_version, prompt.name)
    latest = get_version(actor=actor, prompt_id=prompt.pk)
    prompt.name = latest.prompt.name = name
    if name != before[1] and body == _body_of(latest):
        _save(prompt)
        record(actor=actor, action="prompt.renamed", target=("prompt", prompt.pk))
        return SavedPrompt(latest, "renamed", *before)
    return SavedPrompt(_add_revision(actor, prompt, body), "new_version", *before)


@transaction.atomic
def revise_prompt(
    *,
    actor: Actor,
    prompt_id: object,
    content: str | None = None,
    schema_id: str | None = None,
    tag_ids: Sequence[str] | None = None,
    model: str | None = None,
    expected_version: int | None = None,
) -> SavedPrompt:
    """Add a revision that differs only in what is given; a schema means its latest version.

    Raises: what `update_prompt` raises.
    """
    require_own_prompt(prompt_id=prompt_id)
    latest = get_version(actor=actor, prompt_id=prompt_id)
    require_version(latest.prompt, expected_version)
    current = config_of(latest)
    changed = replace(
        current,
        content=current.content if content is None else content,
        model=current.model if model is None else model,
        tag_ids=current.tag_ids if tag_ids is None else tag_ids,
    )
    if schema_id is not None:
        changed = replace(changed, schema_id=schema_id, schema_version=None)
    return update_prompt(actor=actor, prompt_id=prompt_id, config=changed, expected_version=latest.version)


@transaction.atomic
def revert_prompt(*, actor: Actor, prompt_id: object, to_version: int, expected_version: int) -> SavedPrompt:
    """Add a revision equal to an earlier one.

    Raises: PromptNotFound, PromptChanged, and what `update_prompt` raises.
    """
    earlier = config_of(get_version(actor=actor, prompt_id=prompt_id, version=to_version))
    return update_prompt(actor=actor, prompt_id=prompt_id, config=earlier, expected_version=expected_version)


@transaction.atomic
def delete_prompt(*, actor: Actor, prompt_id: object, expected_version: int | None = None) -> Prompt:
    """Move a prompt to the trash; its extraction results stay readable.

    Raises: PromptNotFound, DefaultPromptFixed, PromptChanged when `expected_version` is not the latest any more.
    """
    prompt = lock_prompt(actor=actor, prompt_id=prompt_id)
    require_own_work(actor=actor, made_by_run=prompt.made_by_run)
    require_version(prompt, expected_version)
    prompt.deleted_at = timezone.now()
    prompt.save(update_fields=["deleted_at"])
    record(actor=actor, action="prompt.deleted", target=("prompt", prompt.pk))
    return prompt


@transaction.atomic
def restore_prompt(*, actor: Actor, prompt_id: object, renamed: bool = False) -> Prompt:
    """Take a prompt out of the trash; `renamed`, under a name like its own where that was taken since.

    Raises: PromptNotFound when it is not there, PromptNameTaken.
    """
    prompt = lock_trashed_prompt(actor=actor, prompt_id=prompt_id)
    prompt.deleted_at = None
    if renamed:
        likely, taken = names_like(prompt.name), owned(Prompt, actor)
        prompt.name = next(name for name in likely if not taken.filter(name=name).exists())
    _save(prompt)
    record(actor=actor, action="prompt.restored", target=("prompt", prompt.pk))
    return prompt


@transaction.atomic
def delete_schema(*, actor: Actor, schema_id: object, expected_version: int | None = None) -> Schema:
    """Move a schema to the trash unless the latest version of a prompt uses it.

    Raises: SchemaNotFound, SchemaInUse, SchemaChanged when `expected_version` is not the latest any more.
    """
    schema = lock_schema(actor=actor, schema_id=schema_id)
    require_version_of_schema(schema, expected_version)
    users = list(prompts_of_schema(actor=actor, schema_id=schema.pk)[:20])
    if users:
        names = ", ".join(f"“{user.prompt.name}”" for user in users[:5])
        raise SchemaInUse(
            f"Cannot delete schema: {len(users)} prompt(s) depend on it ({names}). Delete or change them first.",
            dependents=[{"name": user.prompt.name, "schema_version": _pinned_version(user)} for user in users],
        )
    return trash_schema(actor=actor, schema_id=schema.pk)


def config_of(revision: PromptRevision) -> PromptConfig:
    """A revision as the configuration that would make it again."""
    pinned = revision.schema_revision
    return PromptConfig(
        name=revision.prompt.name,
        content=revision.content,
        schema_id=pinned.schema_id.hex if pinned else None,
        schema_version=pinned.version if pinned else None,
        tag_ids=[tag.pk.hex for tag in revision.tags.all() if tag.deleted_at is None],
        model=revision.model,
        include=revision.include,
        peer_match_keys=revision.peer_match_keys,
    )


def require_own_prompt(*, prompt_id: object) -> None:
    """Raises: DefaultPromptFixed."""
    if prompt_id == DEFAULT_PROMPT_ID:
        raise DefaultPromptFixed()


def require_version(prompt: Prompt, expected: int | None) -> None:
    """Raises: PromptChanged when another version than the expected one is the latest."""
    if expected not in (None, prompt.latest_version):
        latest = prompt.latest_version
        raise PromptChanged(f"Version {latest} was saved in the meantime; nothing was changed.", latest_version=latest)


def lock_prompt(*, actor: Actor, prompt_id: object) -> Prompt:
    """Raises: PromptNotFound, DefaultPromptFixed."""
    require_own_prompt(prompt_id=prompt_id)
    rows = owned(Prompt, actor).select_for_update()
    prompt = rows.filter(pk=parse_id(prompt_id, error=PromptNotFound)).first()
    if prompt is None:
        raise PromptNotFound()
    return prompt


def lock_named_prompt(*, actor: Actor, name: str) -> Prompt:
    """The prompt with this name, held; a new one with version 0 when there is none. Two at once get the same one."""
    while True:
        prompt = owned(Prompt, actor).filter(name=name).select_for_update().first()
        if prompt is not None:
            return prompt
        try:
            with transaction.atomic():
                return Prompt.objects.create(
                    organization_id=actor.organization_id,
                    name=name,
                    created_by_id=actor.user_id,
                    made_by_run=actor.run_id,
                    pending_review=actor.run_id is not None,
                )
        except IntegrityError:
            continue


def lock_prompt_to_write(*, actor: Actor, name: str) -> tuple[Prompt, str]:
    """The prompt that gets this name, held, and the name that it gets."""
    for candidate in names_like(name):
        prompt = lock_named_prompt(actor=actor, name=candidate)
        if actor.run_id in (None, prompt.made_by_run):
            return prompt, candidate
    raise AssertionError("names do not end")


@transaction.atomic
def end_review(*, actor: Actor, prompt_ids: Collection[uuid.UUID]) -> int:
    """Make prompts that waited for a review ordinary ones. Returns: how many."""
    rows = owned(Prompt, actor).filter(pk__in=prompt_ids, pending_review=True)
    return rows.update(pending_review=False, updated_at=timezone.now())


def lock_trashed_prompt(*, actor: Actor, prompt_id: object) -> Prompt:
    """Raises: PromptNotFound."""
    rows = Prompt.objects.filter(organization_id=actor.organization_id, deleted_at__isnull=False)
    prompt = rows.filter(pk=parse_id(prompt_id, error=PromptNotFound)).select_for_update().first()
    if prompt is None:
        raise PromptNotFound()
    return prompt


def _body(actor: Actor, config: PromptConfig) -> _Body:
    """Locks in the order schema, tags; the prompt itself comes last."""
    if actor.run_id is not None and config.tag_ids:
        raise NotOwnWork
    content, include, keys = checked_content(config), checked_include(config), checked_peer_match_keys(config)
    model = require_known_model(checked_model(config))
    return _Body(content, _pinned(actor, config), model, lock_tags(actor=actor, tag_ids=config.tag_ids), include, keys)


def _pinned(actor: Actor, config: PromptConfig) -> SchemaRevision | None:
    if config.schema_id is None:
        return None
    version = config.schema_version
    try:
        lock_schema(actor=actor, schema_id=config.schema_id)
        return get_schema_version(actor=actor, schema_id=config.schema_id, version=version)
    except SchemaNotFound as problem:
        which = f"{config.schema_id[:64]}" + ("" if version is None else f" version {version}")
        raise SchemaNotFound(f"Schema with ID {which} not found", fields={"schema_id": "unknown"}) from problem


def _body_of(revision: PromptRevision) -> _Body:
    tags = [tag for tag in revision.tags.all() if tag.deleted_at is None]
    return _Body(
        revision.content, revision.schema_revision, revision.model, tags, revision.include, revision.peer_match_keys
    )


def _add_revision(actor: Actor, prompt: Prompt, body: _Body) -> PromptRevision:
    prompt.latest_version += 1
    _save(prompt)
    revision = PromptRevision.objects.create(
        organization_id=actor.organization_id,
        prompt=prompt,
        version=prompt.latest_version,
        content=body.content,
        schema_revision=body.schema_revision,
        model=body.model,
        include=body.include,
        peer_match_keys=body.peer_match_keys,
        created_by_id=actor.user_id,
    )
    revision.tags.set(body.tags)
    action = "prompt.created" if revision.version == 1 else "prompt.version_added"
    record(actor=actor, action=action, target=("prompt", prompt.pk), data={"version": revision.version})
    return revision


def _save(prompt: Prompt) -> None:
    try:
        with transaction.atomic():
            prompt.save()
    except IntegrityError as problem:
        raise PromptNameTaken(f"A prompt named '{prompt.name}' already exists", fields={"name": "taken"}) from problem


def _pinned_version(revision: PromptRevision) -> int | None:
    return revision.schema_revision.version if revision.schema_revision else None
