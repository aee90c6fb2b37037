"""Prompts and their versions: what they pin, races, immutability, trash, undo, tenants."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from core.errors import Invalid
from prompts_app.config import PromptConfig
from prompts_app.default import DEFAULT_RESPONSE_FORMAT, show_default_prompt
from prompts_app.errors import DefaultPromptFixed, PromptChanged, PromptInvalid, PromptNameTaken, PromptNotFound
from prompts_app.models import PromptRevision
from prompts_app.presentation import show_prompt
from prompts_app.selectors import (
    get_prompt,
    get_revision,
    get_version,
    list_prompts,
    list_versions,
    prompts_for_tags,
)
from prompts_app.services import (
    SavedPrompt,
    create_prompt,
    delete_prompt,
    delete_schema,
    restore_prompt,
    revert_prompt,
    revise_prompt,
    update_prompt,
)
from schemas_app.errors import NameInvalid, SchemaInUse, SchemaNotFound
from schemas_app.models import SchemaRevision
from schemas_app.services import create_schema
from schemas_app.validation import check_strict
from tags_app.errors import UnknownTags
from tags_app.services import create_tag
from tests.conftest import Person
from tests.schemas.bodies import response_format

BODY = response_format(total="number")


def schema_of(person: Person, name: str = "Invoice") -> SchemaRevision:
    return create_schema(actor=person.actor, name=name, response_format=BODY).revision


def prompt_of(person: Person, name: str = "Read invoices", **fields: Any) -> SavedPrompt:
    return create_prompt(actor=person.actor, config=PromptConfig(name=name, **{"content": "Read it.", **fields}))


def names(person: Person, **query: Any) -> list[str]:
    return [row.prompt.name for row in list_prompts(actor=person.actor, **query).rows]


def test_a_prompt_has_the_defaults_of_the_contract(alice: Person) -> None:
    saved = prompt_of(alice)
    shown = show_prompt(get_revision(actor=alice.actor, prompt_revid=saved.revision.pk.hex))
    assert (saved.outcome, shown["prompt_version"], shown["model"]) == ("created", 1, "gpt-4o-mini")
    assert shown["include"] == {"ocr_text": True, "metadata_keys": [], "pdf": True}
    assert (shown["schema_id"], shown["schema_version"], shown["tag_ids"], shown["kb_id"]) == (None, None, [], None)
    assert shown.keys() == show_default_prompt().keys()


def test_the_same_name_is_a_new_version_and_case_counts(alice: Person) -> None:
    first = prompt_of(alice)
    second = prompt_of(alice, content="Read it twice.")
    assert (second.new_version, second.revision.version) == (True, 2)
    assert second.revision.prompt_id == first.revision.prompt_id
    assert prompt_of(alice, "read invoices").outcome == "created"


def test_a_schema_without_a_version_means_its_latest_and_stays_pinned(alice: Person) -> None:
    schema = schema_of(alice)
    schema_of(alice)
    latest, first = (prompt_of(alice, f"P{v}", schema_id=schema.schema_id.hex, schema_version=v) for v in (None, 1))
    schema_of(alice)
    for saved, version in ((latest, 2), (first, 1)):
        shown = show_prompt(get_revision(actor=alice.actor, prompt_revid=saved.revision.pk))
        assert (shown["schema_id"], shown["schema_version"]) == (schema.schema_id.hex, version)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"name": ""}, NameInvalid), ({"name": "x" * 201}, NameInvalid), ({"name": "\0"}, NameInvalid),
        ({"content": ""}, PromptInvalid), ({"content": " \n"}, PromptInvalid), ({"content": "a\0"}, PromptInvalid),
        ({"content": "\ud800"}, PromptInvalid), ({"content": "x" * 100_001}, PromptInvalid),
        ({"schema_id": "x"}, SchemaNotFound), ({"schema_id": "0" * 32}, SchemaNotFound),
        ({"schema_id": "1", "schema_version": 10**30}, SchemaNotFound),
        ({"tag_ids": ["x"]}, UnknownTags), ({"tag_ids": ["0" * 32]}, UnknownTags),
        ({"model": "no/such-model"}, Invalid), ({"model": "x" * 5000}, Invalid), ({"model": "\0"}, Invalid),
        ({"include": {"pdf": "yes"}}, PromptInvalid), ({"include": {"ocr_text": 1}}, PromptInvalid),
        ({"include": {"metadata_keys": "a"}}, PromptInvalid), ({"include": {"metadata_keys": [1]}}, PromptInvalid),
        ({"include": {"metadata_keys": ["a\0"]}}, PromptInvalid),
        ({"peer_match_keys": ["x" * 201]}, PromptInvalid), ({"peer_match_keys": ["a"] * 101}, PromptInvalid),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    alice: Person, fields: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        prompt_of(alice, **{"name": "P", **fields})
    assert names(alice) == []


def test_a_schema_version_that_does_not_exist_is_named(alice: Person) -> None:
    schema = schema_of(alice)
    with pytest.raises(SchemaNotFound, match=f"Schema with ID {schema.schema_id.hex} version 7 not found"):
        prompt_of(alice, schema_id=schema.schema_id.hex, schema_version=7)


def test_an_update_is_the_whole_prompt(alice: Person) -> None:
    tag = create_tag(actor=alice.actor, name="t")
    first = prompt_of(alice, tag_ids=[tag.pk.hex], include={"pdf": False}, peer_match_keys=["po"]).revision
    config = PromptConfig(name="Renamed", content="Read it.", tag_ids=[tag.pk.hex], include={"pdf": False})
    renamed = update_prompt(
        actor=alice.actor, prompt_id=first.prompt_id, config=replace(config, peer_match_keys=["po"])
    )
    assert (renamed.outcome, renamed.revision.pk) == ("renamed", first.pk)
    replaced = update_prompt(
        actor=alice.actor, prompt_id=first.prompt_id, config=PromptConfig(name="Renamed", content="Read it.")
    ).revision
    shown = show_prompt(get_revision(actor=alice.actor, prompt_revid=replaced.pk))
    assert (shown["prompt_version"], shown["tag_ids"], shown["peer_match_keys"]) == (2, [], [])
    assert shown["include"]["pdf"] is True
    prompt_of(alice, "Taken")
    with pytest.raises(PromptNameTaken):
        update_prompt(actor=alice.actor, prompt_id=first.prompt_id, config=replace(config, name="Taken"))


def test_a_revision_changes_only_what_is_given(alice: Person) -> None:
    schema, tag = schema_of(alice), create_tag(actor=alice.actor, name="t")
    first = prompt_of(
        alice, schema_id=schema.schema_id.hex, tag_ids=[tag.pk.hex], include={"pdf": False}, peer_match_keys=["po"]
    ).revision
    schema_of(alice)
    revised = revise_prompt(actor=alice.actor, prompt_id=first.prompt_id, content="Read more.").revision
    before, after = (show_prompt(get_revision(actor=alice.actor, prompt_revid=r.pk)) for r in (first, revised))
    changed = {key for key in before if before[key] != after[key]}
    assert changed == {"prompt_revid", "prompt_version", "content", "created_at"}
    newer = revise_prompt(actor=alice.actor, prompt_id=first.prompt_id, schema_id=schema.schema_id.hex).revision
    assert newer.schema_revision is not None
    assert newer.schema_revision.version == 2


def test_the_built_in_prompt_is_virtual_and_fixed(alice: Person) -> None:
    check_strict(DEFAULT_RESPONSE_FORMAT)
    config = PromptConfig(name="x", content="x")
    for write in (
        lambda: update_prompt(actor=alice.actor, prompt_id="default", config=config),
        lambda: revise_prompt(actor=alice.actor, prompt_id="default", content="x"),
        lambda: delete_prompt(actor=alice.actor, prompt_id="default"),
    ):
        with pytest.raises(DefaultPromptFixed):
            write()
    with pytest.raises(PromptNotFound):
        get_revision(actor=alice.actor, prompt_revid="default")


def test_trash_restore_and_revert(alice: Person) -> None:
    first = prompt_of(alice).revision
    prompt_of(alice, content="Second.")
    with pytest.raises(PromptChanged):
        revert_prompt(actor=alice.actor, prompt_id=first.prompt_id, to_version=1, expected_version=1)
    reverted = revert_prompt(actor=alice.actor, prompt_id=first.prompt_id, to_version=1, expected_version=2)
    assert (reverted.revision.version, reverted.revision.content) == (3, "Read it.")
    with pytest.raises(PromptChanged):
        delete_prompt(actor=alice.actor, prompt_id=first.prompt_id, expected_version=2)
    delete_prompt(actor=alice.actor, prompt_id=first.prompt_id)
    with pytest.raises(PromptNotFound):
        get_revision(actor=alice.actor, prompt_revid=first.pk)
    second = prompt_of(alice).revision
    with pytest.raises(PromptNameTaken):
        restore_prompt(actor=alice.actor, prompt_id=first.prompt_id)
    delete_prompt(actor=alice.actor, prompt_id=second.prompt_id)
    restore_prompt(actor=alice.actor, prompt_id=first.prompt_id)
    assert [row.version for row in list_versions(actor=alice.actor, prompt_id=first.prompt_id)] == [3, 2, 1]


def test_a_schema_goes_when_no_latest_version_uses_it(alice: Person) -> None:
    schema = schema_of(alice)
    prompt = prompt_of(alice, schema_id=schema.schema_id.hex).revision
    with pytest.raises(SchemaInUse) as caught:
        delete_schema(actor=alice.actor, schema_id=schema.schema_id)
    assert caught.value.extra["dependents"] == [{"name": "Read invoices", "schema_version": 1}]
    update_prompt(
        actor=alice.actor, prompt_id=prompt.prompt_id, config=PromptConfig(name="Read invoices", content="Read it.")
    )
    delete_schema(actor=alice.actor, schema_id=schema.schema_id)
    with pytest.raises(SchemaNotFound):
        revert_prompt(actor=alice.actor, prompt_id=prompt.prompt_id, to_version=1, expected_version=2)
    assert show_prompt(get_revision(actor=alice.actor, prompt_revid=prompt.pk))["schema_version"] == 1


def test_the_other_organization_finds_nothing(alice: Person, charlie: Person) -> None:
    schema, tag = schema_of(alice), create_tag(actor=alice.actor, name="t")
    revision = prompt_of(alice, tag_ids=[tag.pk.hex]).revision
    prompt_id, actor = revision.prompt_id.hex, charlie.actor
    for act in (
        lambda: get_revision(actor=actor, prompt_revid=revision.pk.hex),
        lambda: get_prompt(actor=actor, prompt_id=prompt_id),
        lambda: get_version(actor=actor, prompt_id=prompt_id),
        lambda: list_versions(actor=actor, prompt_id=prompt_id),
        lambda: update_prompt(actor=actor, prompt_id=prompt_id, config=PromptConfig(name="x", content="x")),
        lambda: revise_prompt(actor=actor, prompt_id=prompt_id, content="x"),
        lambda: revert_prompt(actor=actor, prompt_id=prompt_id, to_version=1, expected_version=1),
        lambda: delete_prompt(actor=actor, prompt_id=prompt_id),
        lambda: restore_prompt(actor=actor, prompt_id=prompt_id),
    ):
        with pytest.raises(PromptNotFound):
            act()
    with pytest.raises(SchemaNotFound):
        prompt_of(charlie, schema_id=schema.schema_id.hex)
    with pytest.raises(SchemaNotFound):
        delete_schema(actor=actor, schema_id=schema.schema_id)
    with pytest.raises(UnknownTags):
        prompt_of(charlie, tag_ids=[tag.pk.hex])
    assert names(charlie) == []
    assert list(prompts_for_tags(actor=actor, tag_ids=[tag.pk])) == []


def test_the_list_knows_all_tags_and_any_tag(alice: Person) -> None:
    a, b = (create_tag(actor=alice.actor, name=name) for name in "ab")
    prompt_of(alice, "both", tag_ids=[a.pk.hex, b.pk.hex])
    prompt_of(alice, "only a", tag_ids=[a.pk.hex])
    prompt_of(alice, "none")
    assert names(alice, tag_ids=[a.pk.hex, b.pk.hex]) == ["both"]
    assert names(alice, any_tag_ids=[a.pk, b.pk]) == ["only a", "both"]
    assert names(alice, any_tag_ids=[]) == []
    assert names(alice, name_search="O") == ["none", "only a", "both"]
    assert [row.prompt.name for row in prompts_for_tags(actor=alice.actor, tag_ids=[b.pk])] == ["both"]
    with pytest.raises(UnknownTags):
        list_prompts(actor=alice.actor, tag_ids=["x"])


def test_a_list_costs_the_same_for_3_and_30_rows(alice: Person) -> None:
    schema, tag = schema_of(alice), create_tag(actor=alice.actor, name="t")
    for number in range(30):
        prompt_of(alice, f"Prompt {number}", schema_id=schema.schema_id.hex, tag_ids=[tag.pk.hex])
    counts = []
    for limit in (3, 30):
        with CaptureQueriesContext(connection) as queries:
            shown = [show_prompt(row) for row in list_prompts(actor=alice.actor, limit=limit).rows]
            assert len(shown) == limit
        counts.append(len(queries))
    assert counts[0] == counts[1] == 3


def test_nothing_changes_a_revision(alice: Person) -> None:
    revision = prompt_of(alice).revision

    def raw(sql: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(sql)

    revision.content = "Other."
    for attempt in (
        revision.save,
        revision.delete,
        lambda: PromptRevision.objects.update(content="Other."),
        lambda: raw("UPDATE prompts_app_promptrevision SET model = 'x'"),
        lambda: raw("DELETE FROM prompts_app_promptrevision"),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            attempt()
    assert get_revision(actor=alice.actor, prompt_revid=revision.pk).content == "Read it."


@pytest.mark.django_db(transaction=True)
def test_creates_and_updates_at_the_same_moment_number_every_version_once(alice: Person) -> None:
    prompt_id = prompt_of(alice).revision.prompt_id
    config = PromptConfig(name="Read invoices", content="Again.")

    def write(number: int) -> int:
        try:
            if number % 2:
                return create_prompt(actor=alice.actor, config=config).revision.version
            return update_prompt(actor=alice.actor, prompt_id=prompt_id, config=config).revision.version
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(write, range(8))) == list(range(2, 10))


@pytest.mark.django_db(transaction=True)
def test_a_schema_is_never_deleted_under_a_prompt_that_is_being_made(alice: Person) -> None:
    schemas = [schema_of(alice, f"S{n}") for n in range(6)]

    def make(number: int) -> bool:
        try:
            prompt_of(alice, f"P{number}", schema_id=schemas[number].schema_id.hex)
        except SchemaNotFound:
            return False
        else:
            return True
        finally:
            connection.close()

    def drop(number: int) -> bool:
        try:
            delete_schema(actor=alice.actor, schema_id=schemas[number].schema_id)
        except SchemaInUse:
            return False
        else:
            return True
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        made = [pool.submit(make, n) for n in range(6)]
        dropped = [pool.submit(drop, n) for n in range(6)]
    assert all(one.result() != other.result() for one, other in zip(made, dropped, strict=True))
