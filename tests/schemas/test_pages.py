"""Pages of schemas, prompts and tags: they show, search, save, and say what is wrong beside the field."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from prompts_app.config import PromptConfig
from prompts_app.selectors import get_version as get_prompt_version
from prompts_app.selectors import list_prompts
from prompts_app.services import create_prompt
from schemas_app.selectors import get_version, list_schemas
from schemas_app.services import create_schema
from tags_app.selectors import list_tags
from tags_app.services import create_tag
from tests.conftest import Person
from tests.schemas.bodies import response_format

pytestmark = pytest.mark.django_db
LINES = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"amount": {"type": "number"}},
        "required": ["amount"],
        "additionalProperties": False,
    },
}
BODY = response_format(total={"type": "number", "description": "To pay <b>now</b>"}, lines=LINES)
XSS = "<script>alert(1)</script>"


def text_of(response: Any, status: int = 200) -> str:
    assert response.status_code == status, response.status_code
    return str(response.content.decode())


def test_a_schema_is_written_shown_renamed_and_deleted(alice: Person) -> None:
    client = alice.client()
    body = {"name": "Invoice", "response_format": json.dumps(BODY)}
    text_of(client.get(reverse("schemas:create")))
    made = client.post(reverse("schemas:create"), body, follow=True)
    assert "Schema “Invoice” was created." in text_of(made)
    revision = list_schemas(actor=alice.actor).rows[0]
    page = text_of(client.get(reverse("schemas:detail", args=[revision.schema_id.hex])))
    for shown in ("Invoice", "To pay &lt;b&gt;now&lt;/b&gt;", "list of objects", "amount", "Version 1"):
        assert shown in page
    again = client.post(reverse("schemas:create"), {**body, "name": "INVOICE"}, follow=True)
    assert "Version 2 of “INVOICE” was saved." in text_of(again)
    edit = reverse("schemas:edit", args=[revision.schema_id.hex])
    assert 'name="seen_version" value="2"' in text_of(client.get(edit))
    stale = client.post(edit, {**body, "seen_version": "1"})
    assert "Version 2 was saved in the meantime" in text_of(stale, 422)
    renamed = client.post(edit, {**body, "name": "Bill", "seen_version": "2"}, follow=True)
    assert "The schema is called “Bill” now." in text_of(renamed)
    old = text_of(client.get(reverse("schemas:revision", args=[revision.pk.hex])))
    assert "This is an earlier version." in old
    assert "Bill" in text_of(client.get(reverse("schemas:list"), {"q": "bil"}))
    assert "No schema matches." in text_of(client.get(reverse("schemas:list"), {"q": "nothing"}))
    delete = reverse("schemas:delete", args=[revision.schema_id.hex])
    text_of(client.get(delete))
    assert "was moved to the trash" in text_of(client.post(delete, follow=True))
    assert list_schemas(actor=alice.actor).total_count == 0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{", "This is not JSON"),
        ("[]", "set it to &quot;json_schema&quot;"),
        (json.dumps(response_format(a="text")), "properties.a.type: use one of string"),
        ("", "This field is required."),
    ],
)
def test_what_is_wrong_with_a_schema_is_said_and_nothing_typed_is_lost(alice: Person, text: str, shown: str) -> None:
    answer = alice.client().post(reverse("schemas:create"), {"name": "My name", "response_format": text})
    page = text_of(answer, 422)
    assert shown in page
    assert 'value="My name"' in page
    assert list_schemas(actor=alice.actor).total_count == 0


def test_a_schema_in_use_says_by_what(alice: Person) -> None:
    schema = create_schema(actor=alice.actor, name="Invoice", response_format=BODY).revision
    config = PromptConfig(name="Reader", content="Read.", schema_id=schema.schema_id.hex)
    create_prompt(actor=alice.actor, config=config)
    answer = alice.client().post(reverse("schemas:delete", args=[schema.schema_id.hex]))
    page = text_of(answer, 409)
    assert "Cannot delete schema: 1 prompt(s) depend on it" in page
    assert "Reader" in page
    used_by = text_of(alice.client().get(reverse("prompts:list"), {"schema": schema.schema_id.hex}))
    assert "Prompts that use “Invoice”" in used_by
    assert "Document Summary" not in used_by


def test_a_prompt_is_written_and_edited_with_what_the_form_does_not_show_kept(alice: Person) -> None:
    client = alice.client()
    schema = create_schema(actor=alice.actor, name="Invoice", response_format=BODY).revision
    tag = create_tag(actor=alice.actor, name="Bills")
    body = {
        "name": "Reader",
        "content": "Read it.",
        "model": "gpt-4o-mini",
        "schema": f"{schema.schema_id.hex}:1",
        "tags": [tag.pk.hex],
    }
    assert "Prompt “Reader” was created." in text_of(client.post(reverse("prompts:create"), body, follow=True))
    prompt_id = list_prompts(actor=alice.actor).rows[0].prompt_id
    config = PromptConfig(
        name="Reader",
        content="Read it.",
        schema_id=schema.schema_id.hex,
        include={"pdf": False},
        peer_match_keys=["po"],
    )
    create_prompt(actor=alice.actor, config=config)
    create_schema(actor=alice.actor, name="Invoice", response_format=BODY)
    edit = reverse("prompts:edit", args=[prompt_id.hex])
    form = text_of(client.get(edit))
    assert f'value="{schema.schema_id.hex}:1" selected' in form
    assert f'value="{schema.schema_id.hex}:2"' in form
    saved = client.post(edit, {**body, "content": "Read more.", "schema": "", "seen_version": "2"}, follow=True)
    assert "Version 3 of “Reader” was saved." in text_of(saved)
    latest = get_prompt_version(actor=alice.actor, prompt_id=prompt_id)
    assert (latest.content, latest.schema_revision, latest.peer_match_keys) == ("Read more.", None, ["po"])
    assert latest.include["pdf"] is False
    for field, value, error in (
        ("model", "no/such", "Invalid model: no/such"),
        ("schema", "0" * 32 + ":1", "Select a valid choice"),
        ("tags", ["x"], "Select a valid choice"),
        ("content", "", "This field is required"),
    ):
        assert error in text_of(client.post(edit, {**body, "schema": "", field: value}), 422)
    assert "was moved to the trash" in text_of(
        client.post(reverse("prompts:delete", args=[prompt_id.hex]), follow=True)
    )


def test_the_built_in_prompt_has_a_page_and_no_form(alice: Person) -> None:
    client = alice.client()
    assert "Document Summary" in text_of(client.get(reverse("prompts:list")))
    assert "Built in" in text_of(client.get(reverse("prompts:detail", args=["default"])))
    assert "Built in" in text_of(client.get(reverse("prompts:revision", args=["default"])))
    assert client.get(reverse("prompts:edit", args=["default"])).status_code == 404


def test_a_tag_is_made_edited_and_deleted(alice: Person) -> None:
    client = alice.client()
    body = {"name": "Bills", "color": "#ff0000", "description": "d"}
    assert 'type="color"' in text_of(client.get(reverse("tags:create")))
    text_of(client.post(reverse("tags:create"), body, follow=True))
    assert "already exists" in text_of(client.post(reverse("tags:create"), body), 422)
    assert "A color is" in text_of(client.post(reverse("tags:create"), {"name": "x", "color": "red;x"}), 422)
    tag = list_tags(actor=alice.actor).rows[0]
    edited = client.post(reverse("tags:edit", args=[tag.pk.hex]), {**body, "name": "Invoices"}, follow=True)
    assert "Invoices" in text_of(edited)
    assert "Invoices" in text_of(client.get(reverse("tags:list"), {"q": "INV"}))
    text_of(client.get(reverse("tags:delete", args=[tag.pk.hex])))
    text_of(client.post(reverse("tags:delete", args=[tag.pk.hex]), follow=True))
    assert list_tags(actor=alice.actor).total_count == 0


def test_a_tag_in_use_says_so(alice: Person) -> None:
    tag = create_tag(actor=alice.actor, name="Bills")
    create_prompt(actor=alice.actor, config=PromptConfig(name="P", content="Read.", tag_ids=[tag.pk.hex]))
    page = text_of(alice.client().post(reverse("tags:delete", args=[tag.pk.hex])), 409)
    assert "because it is assigned to one or more prompts" in page


def test_names_and_texts_are_never_markup(alice: Person) -> None:
    client = alice.client()
    field = {"type": "string", "description": XSS}
    schema = create_schema(actor=alice.actor, name=XSS, response_format=response_format(**{XSS: field})).revision
    tag = create_tag(actor=alice.actor, name=XSS, description=XSS)
    prompt = create_prompt(
        actor=alice.actor,
        config=PromptConfig(name=XSS, content=XSS, schema_id=schema.schema_id.hex, tag_ids=[tag.pk.hex]),
    ).revision
    for name, arguments in (
        ("schemas:list", []), ("schemas:detail", [schema.schema_id.hex]), ("schemas:edit", [schema.schema_id.hex]),
        ("schemas:delete", [schema.schema_id.hex]), ("prompts:list", []), ("prompts:detail", [prompt.prompt_id.hex]),
        ("prompts:edit", [prompt.prompt_id.hex]), ("prompts:delete", [prompt.prompt_id.hex]), ("tags:list", []),
        ("tags:detail", [tag.pk.hex]), ("tags:edit", [tag.pk.hex]), ("tags:delete", [tag.pk.hex]),
    ):  # fmt: skip
        page = text_of(client.get(reverse(name, args=arguments)))
        assert XSS not in page, name
        assert "alert(1)" in page, name


def test_the_other_organization_and_nobody_see_nothing(alice: Person, charlie: Person, nobody: Client) -> None:
    schema = create_schema(actor=alice.actor, name="Invoice", response_format=BODY).revision
    tag = create_tag(actor=alice.actor, name="Bills")
    prompt = create_prompt(actor=alice.actor, config=PromptConfig(name="P", content="Read.")).revision
    client = charlie.client()
    for area, ids in (
        ("schemas", (schema.schema_id.hex, schema.pk.hex)),
        ("prompts", (prompt.prompt_id.hex, prompt.pk.hex)),
        ("tags", (tag.pk.hex, None)),
    ):
        for name in ("detail", "edit", "delete"):
            address = reverse(f"{area}:{name}", args=[ids[0]])
            assert client.get(address).status_code == 404
            assert client.get(reverse(f"{area}:{name}", args=["nonsense"])).status_code == 404
            assert client.post(address).status_code in (404, 405)
            assert nobody.get(address).status_code == 302
        if ids[1]:
            assert client.get(reverse(f"{area}:revision", args=[ids[1]])).status_code == 404
    assert get_version(actor=alice.actor, schema_id=schema.schema_id)


def test_lists_cost_the_same_for_3_and_30_rows(alice: Person) -> None:
    client = alice.client()
    counts: list[list[int]] = []
    for total in (3, 30):
        for number in range(total):
            create_schema(actor=alice.actor, name=f"S{number}", response_format=BODY)
            tag = create_tag(actor=alice.actor, name=f"T{total}{number}")
            config = PromptConfig(name=f"P{number}", content="Read.", tag_ids=[tag.pk.hex])
            create_prompt(actor=alice.actor, config=config)
        row = []
        for area in ("schemas", "prompts", "tags"):
            with CaptureQueriesContext(connection) as queries:
                text_of(client.get(reverse(f"{area}:list")))
            row.append(len(queries))
        counts.append(row)
    assert counts[0] == counts[1]
