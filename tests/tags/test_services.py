"""Tags: names, colors, who uses them, trash, tenants."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from core.listing import ListQueryInvalid
from documents.models import Document
from documents.tagging import delete_tag, tag_ids_of_document
from prompts_app.config import PromptConfig
from prompts_app.services import create_prompt, revise_prompt
from tags_app.errors import TagInUse, TagInvalid, TagNameTaken, TagNotFound, UnknownTags
from tags_app.models import DEFAULT_COLOR, Tag
from tags_app.presentation import show_tag
from tags_app.selectors import get_tag, get_tags, list_tags
from tags_app.services import create_tag, lock_tags, restore_tag, update_tag
from tests.conftest import Person


def names(person: Person, **query: Any) -> list[str]:
    return [tag.name for tag in list_tags(actor=person.actor, **query).rows]


def document_with(person: Person, *tags: Tag) -> Document:
    document = Document.objects.create(organization=person.organization, name="a.pdf", uploaded_by_name="Alice")
    document.tags.set(tags)
    return document


def test_a_tag_has_a_name_a_color_and_maybe_a_description(alice: Person) -> None:
    tag = create_tag(actor=alice.actor, name=" Invoices ", color="", description=None)
    assert show_tag(tag) == {
        "id": tag.pk.hex,
        "name": "Invoices",
        "color": DEFAULT_COLOR,
        "description": None,
        "created_at": tag.created_at.isoformat().replace("+00:00", "Z"),
        "created_by": alice.user.pk.hex,
    }
    update_tag(actor=alice.actor, tag_id=tag.pk.hex, name="Bills", color="red", description="")
    update_tag(actor=alice.actor, tag_id=tag.pk.hex, name="Bills", color="")
    changed = get_tag(actor=alice.actor, tag_id=tag.pk)
    assert (changed.name, changed.color, changed.description) == ("Bills", "red", None)


def test_an_exact_name_exists_once(alice: Person, charlie: Person) -> None:
    create_tag(actor=alice.actor, name="Invoices")
    with pytest.raises(TagNameTaken, match="Tag with name 'Invoices' already exists"):
        create_tag(actor=alice.actor, name="Invoices")
    other = create_tag(actor=alice.actor, name="invoices")
    with pytest.raises(TagNameTaken):
        update_tag(actor=alice.actor, tag_id=other.pk, name="Invoices")
    create_tag(actor=charlie.actor, name="Invoices")
    with pytest.raises(IntegrityError), transaction.atomic():
        Tag.objects.create(organization=alice.organization, name="Invoices")


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""}, {"name": " "}, {"name": "x" * 201}, {"name": "a\0"}, {"name": "a\nb"}, {"name": "\ud800"},
        {"name": "a", "color": "x" * 33},
        {"name": "a", "color": "re\nd"}, {"name": "a", "color": "red;top:0"}, {"name": "a", "color": "url(/x)"},
        {"name": "a", "color": "\0"},
        {"name": "a", "description": "x" * 2001}, {"name": "a", "description": "\0"},
        {"name": "a", "description": "\udfff"},
    ],
)  # fmt: skip
def test_what_cannot_be_stored_is_refused(alice: Person, fields: dict[str, str]) -> None:
    with pytest.raises(TagInvalid):
        create_tag(actor=alice.actor, **fields)


def test_a_tag_in_use_stays(alice: Person) -> None:
    on_document, on_prompt, free = (create_tag(actor=alice.actor, name=name) for name in ("d", "p", "f"))
    document = document_with(alice, on_document)
    config = PromptConfig(name="P", content="Read", tag_ids=[on_prompt.pk.hex])
    prompt = create_prompt(actor=alice.actor, config=config).revision
    with pytest.raises(TagInUse, match="Cannot delete tag 'd' because it is assigned to one or more documents"):
        delete_tag(actor=alice.actor, tag_id=on_document.pk)
    with pytest.raises(TagInUse, match="prompts"):
        delete_tag(actor=alice.actor, tag_id=on_prompt.pk)
    delete_tag(actor=alice.actor, tag_id=free.pk)
    revise_prompt(actor=alice.actor, prompt_id=prompt.prompt_id, tag_ids=[])
    delete_tag(actor=alice.actor, tag_id=on_prompt.pk)
    assert names(alice) == ["d"]
    assert tag_ids_of_document(document=document) == [on_document.pk.hex]


def test_a_name_in_the_trash_is_free_again(alice: Person) -> None:
    first = create_tag(actor=alice.actor, name="Invoices")
    delete_tag(actor=alice.actor, tag_id=first.pk)
    with pytest.raises(TagNotFound):
        get_tag(actor=alice.actor, tag_id=first.pk)
    second = create_tag(actor=alice.actor, name="Invoices")
    with pytest.raises(TagNameTaken):
        restore_tag(actor=alice.actor, tag_id=first.pk)
    delete_tag(actor=alice.actor, tag_id=second.pk)
    assert restore_tag(actor=alice.actor, tag_id=first.pk).name == "Invoices"
    with pytest.raises(TagNotFound):
        restore_tag(actor=alice.actor, tag_id=first.pk)


def test_a_list_of_ids_names_every_one_that_is_wrong(alice: Person, charlie: Person) -> None:
    mine, foreign = create_tag(actor=alice.actor, name="a"), create_tag(actor=charlie.actor, name="c")
    gone = create_tag(actor=alice.actor, name="gone")
    delete_tag(actor=alice.actor, tag_id=gone.pk)
    assert get_tags(actor=alice.actor, tag_ids=[mine.pk.hex, mine.pk.hex]) == [mine]
    assert lock_tags(actor=alice.actor, tag_ids=[]) == []
    for bad in (foreign.pk.hex, gone.pk.hex, "nonsense", "0" * 32, "", 5, None, "\0"):
        with pytest.raises(UnknownTags) as caught:
            get_tags(actor=alice.actor, tag_ids=[mine.pk.hex, bad])
        assert caught.value.extra["tag_ids"] == [str(bad)]
    with pytest.raises(UnknownTags, match="At most"):
        get_tags(actor=alice.actor, tag_ids=["x"] * 201)


def test_the_other_organization_finds_nothing(alice: Person, charlie: Person) -> None:
    tag = create_tag(actor=alice.actor, name="Invoices")
    for act in (
        lambda: get_tag(actor=charlie.actor, tag_id=tag.pk.hex),
        lambda: update_tag(actor=charlie.actor, tag_id=tag.pk.hex, name="x"),
        lambda: delete_tag(actor=charlie.actor, tag_id=tag.pk.hex),
        lambda: restore_tag(actor=charlie.actor, tag_id=tag.pk.hex),
    ):
        with pytest.raises(TagNotFound):
            act()
    assert names(charlie) == []


def test_the_list_is_searched_sorted_and_filtered(alice: Person) -> None:
    create_tag(actor=alice.actor, name="b", description="second")
    create_tag(actor=alice.actor, name="A%", color="red")
    create_tag(actor=alice.actor, name="c", description="")
    assert names(alice) == ["c", "A%", "b"]
    assert names(alice, name_search="%") == ["A%"]
    assert names(alice, sort='[{"field":"name","sort":"asc"}]') == ["A%", "b", "c"]
    empty = '{"items":[{"field":"description","operator":"isEmpty"}]}'
    assert names(alice, filters=empty) == ["c", "A%"]
    any_of = '{"items":[{"field":"color","operator":"isAnyOf","value":["red","blue"]}]}'
    assert names(alice, filters=any_of) == ["A%"]
    with pytest.raises(ListQueryInvalid, match="Invalid sort JSON"):
        list_tags(actor=alice.actor, sort="nope")


def test_a_list_costs_the_same_for_3_and_30_rows(alice: Person) -> None:
    for number in range(30):
        create_tag(actor=alice.actor, name=f"Tag {number}")
    counts = []
    for limit in (3, 30):
        with CaptureQueriesContext(connection) as queries:
            assert len([show_tag(tag) for tag in list_tags(actor=alice.actor, limit=limit).rows]) == limit
        counts.append(len(queries))
    assert counts[0] == counts[1] == 2


@pytest.mark.django_db(transaction=True)
def test_of_many_creates_with_one_name_one_counts(alice: Person) -> None:
    def create(_: int) -> bool:
        try:
            create_tag(actor=alice.actor, name="Invoices")
        except TagNameTaken:
            return False
        else:
            return True
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(create, range(8))) == 1
