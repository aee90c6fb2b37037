"""`docrouter-sdk` 0.1.5 as it is on PyPI: each of its public methods, on real documents, by what comes back."""

import base64
import inspect
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from docrouter_sdk import DocRouterClient

from tests.clients.conftest import Live
from tests.data import make

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("clients")]
SECONDS = 90
LINES = ("Invoice number: A-4711", "Date: 2026-03-01", "Acme Tools Ltd", "Total: 1,250.00")
SECOND_PAGE = ("Terms of payment", "Thirty days net")
PDF = make.pdf(LINES, SECOND_PAGE)
EXTRACTED = {"invoice_number": "A-4711", "total": 1250.0}
MODULES = ("documents", "llm", "ocr", "prompts", "schemas", "tags")


def response_format(*names: str) -> dict[str, Any]:
    """A strict schema of texts and, for `total`, a number."""
    properties = {name: {"type": "number" if name == "total" else "string"} for name in names}
    schema = {"type": "object", "properties": properties, "required": list(names), "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": "invoice", "schema": schema, "strict": True}}


def public_methods(client: Any) -> list[str]:
    """Every public method of the client and of its modules, as `module.method`."""
    holders = {"client": client} | {
        name: part for name, part in vars(client).items() if type(part).__module__.startswith("docrouter_sdk.")
    }
    return sorted(
        f"{name}.{method}"
        for name, holder in holders.items()
        for method, _ in inspect.getmembers(type(holder), inspect.isfunction)
        if not method.startswith("_")
    )


METHODS = public_methods(DocRouterClient("http://nowhere.invalid"))


@dataclass
class World:
    """A client whose calls are noted, and a document that has been read and extracted."""

    client: Any
    organization_id: str
    called: set[str] = field(default_factory=set)
    tag: Any = None
    schema: Any = None
    prompt: Any = None
    document_id: str = ""

    def note(self) -> None:
        """From now on remember each method that has returned."""
        for name in METHODS:
            module, method = name.split(".")
            holder = self.client if module == "client" else getattr(self.client, module)
            setattr(holder, method, partial(self._noted, name, getattr(holder, method)))

    def _noted(self, name: str, method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        result = method(*arguments, **named)
        self.called.add(name)
        return result

    def upload(self, name: str, content: bytes = PDF, **more: Any) -> str:
        """Returns: the new document's id."""
        document = {"name": name, "content": base64.b64encode(content).decode(), **more}
        (made,) = self.client.documents.upload(self.organization_id, [document])["documents"]
        assert made["document_name"] == name
        return str(made["document_id"])

    def wait(self, document_id: str, *states: str) -> None:
        """Until the document is in one of the states."""
        deadline = time.monotonic() + SECONDS
        state = ""
        while time.monotonic() < deadline:
            state = self.client.documents.get(self.organization_id, document_id).state
            if state in states:
                return
            assert not state.endswith("_failed"), state
            time.sleep(0.3)
        raise AssertionError(f"still {state}")


@pytest.fixture(scope="module")
def world(live: Live) -> Iterator[World]:
    world = World(DocRouterClient(live.site.url + "/", live.organization_token), live.organization_id)
    world.note()
    api, org = world.client, world.organization_id
    world.tag = api.tags.create(org, {"name": "Invoices", "color": "#112233"})
    world.schema = api.schemas.create(
        org, {"name": "Invoice", "response_format": response_format("invoice_number", "total")}
    )
    world.prompt = api.prompts.create(
        org,
        {
            "name": "Read invoices",
            "content": "Read the invoice.",
            "schema_id": world.schema.schema_id,
            "tag_ids": [world.tag.id],
        },
    )
    world.document_id = world.upload("invoice.pdf", tag_ids=[world.tag.id], metadata={"origin": "e-mail, Monday"})
    world.wait(world.document_id, "llm_completed")
    yield world
    api.session.close()


# --- Documents --------------------------------------------------------------------------------------------------


def upload(world: World) -> None:
    plain = {"name": "plain.txt", "content": base64.b64encode(b"Total: 12.50").decode(), "metadata": {"n": "1"}}
    as_url = {"name": "page.pdf", "content": "data:application/pdf;base64," + base64.b64encode(PDF).decode()}
    made = world.client.documents.upload(world.organization_id, [plain, as_url])["documents"]
    assert [one["document_name"] for one in made] == ["plain.txt", "page.pdf"]
    assert made[0]["metadata"] == {"n": "1"}
    for one in made:
        world.wait(one["document_id"], "llm_completed", "ocr_completed")
    kept = world.client.documents.get(world.organization_id, made[1]["document_id"])
    assert base64.b64decode(kept.content) == PDF
    text = world.client.ocr.get_text(world.organization_id, made[1]["document_id"])
    assert "A-4711" in text


def list_documents(world: World) -> None:
    call = partial(world.client.documents.list, world.organization_id)
    for found in (
        call(tag_ids=[world.tag.id]),
        call(name_search="INVOICE"),
        call(metadata_search={"origin": "e-mail, Monday"}),
    ):
        assert [one.id for one in found.documents] == [world.document_id]
        assert found.total_count == 1
    assert call(name_search="no such name").total_count == 0
    assert call(skip=0, limit=1).documents[0].uploaded_by == "program"


def get(world: World) -> None:
    found = world.client.documents.get(world.organization_id, world.document_id)
    assert base64.b64decode(found.content) == PDF
    assert (found.type, found.pdf_id, found.tag_ids) == ("application/pdf", world.document_id, [world.tag.id])
    assert found.upload_date.utcoffset() is not None


def update(world: World) -> None:
    org, document_id = world.organization_id, world.upload("before.pdf")
    said = world.client.documents.update(
        org, document_id, document_name="after.pdf", tag_ids=[world.tag.id], metadata={"a": "b"}
    )
    assert said == {"message": "Document updated successfully"}
    found = world.client.documents.get(org, document_id)
    assert (found.document_name, found.tag_ids, found.metadata) == ("after.pdf", [world.tag.id], {"a": "b"})
    world.client.documents.delete(org, document_id)


def delete(world: World) -> None:
    document_id = world.upload("gone.pdf")
    said = world.client.documents.delete(world.organization_id, document_id)
    assert said == {"message": "Document deleted successfully"}
    with pytest.raises(Exception, match=r"API Error \(404\): Document not found"):
        world.client.documents.get(world.organization_id, document_id)


# --- Text -------------------------------------------------------------------------------------------------------


def get_blocks(world: World) -> None:
    blocks = world.client.ocr.get_blocks(world.organization_id, world.document_id)
    assert {block["BlockType"] for block in blocks} == {"PAGE", "LINE", "WORD"}
    (word,) = [block for block in blocks if block["BlockType"] == "WORD" and block["Text"] == "A-4711"]
    assert word["Page"] == 1
    box = word["Geometry"]["BoundingBox"]
    assert 0 < box["Left"] < box["Left"] + box["Width"] < 1


def get_text(world: World) -> None:
    call = partial(world.client.ocr.get_text, world.organization_id, world.document_id)
    assert call(page_num=2).split() == " ".join(SECOND_PAGE).split()
    assert call().split() == " ".join(LINES + SECOND_PAGE).split()


def get_metadata(world: World) -> None:
    found = world.client.ocr.get_metadata(world.organization_id, world.document_id)
    assert found["n_pages"] == 2
    assert found["ocr_date"]


# --- Models and results -----------------------------------------------------------------------------------------


def list_models(world: World, live: Live) -> None:
    own, world.client.api_token = world.client.api_token, live.account_token
    try:
        models = world.client.llm.list_models().models
    finally:
        world.client.api_token = own
    (offline,) = [model for model in models if model.id == "docrouter/offline"]
    assert (offline.cost_per_1m_input_tokens, offline.cost_per_1m_output_tokens) == (0, 0)


def run(world: World) -> None:
    first = world.client.llm.run(world.organization_id, world.document_id)
    assert first.status == "success"
    assert set(first.result) == {"document_type", "document_date", "summary"}
    asked = world.client.llm.run(
        world.organization_id, world.document_id, prompt_revid=world.prompt.prompt_revid, force=True
    )
    assert asked.result == EXTRACTED


def get_result(world: World) -> None:
    """What the upload's own run has left."""
    call = partial(world.client.llm.get_result, world.organization_id, world.document_id)
    result = call(prompt_revid=world.prompt.prompt_revid)
    assert result.llm_result == EXTRACTED
    assert (result.prompt_id, result.document_id) == (world.prompt.prompt_id, world.document_id)
    asked = world.client.llm.run(world.organization_id, world.document_id)
    found = call(fallback=True)
    assert (found.prompt_id, found.llm_result) == ("default", asked.result)


def _own_result(world: World) -> tuple[str, str]:
    """A document with a result of its own. Returns: its id and the prompt's revision."""
    document_id = world.upload("own.pdf", tag_ids=[world.tag.id])
    world.wait(document_id, "llm_completed")
    return document_id, world.prompt.prompt_revid


def update_result(world: World) -> None:
    document_id, revision = _own_result(world)
    edited = EXTRACTED | {"total": 99.5}
    call = partial(world.client.llm.update_result, world.organization_id, document_id)
    result = call(edited, prompt_revid=revision, is_verified=True)
    assert (result.llm_result, result.updated_llm_result) == (EXTRACTED, edited)
    assert (result.is_edited, result.is_verified) == (True, True)
    kept = world.client.llm.get_result(world.organization_id, document_id, prompt_revid=revision)
    assert kept.updated_llm_result == edited
    with pytest.raises(Exception, match="signature does not match"):
        call({"total": 1.0}, prompt_revid=revision)
    world.client.documents.delete(world.organization_id, document_id)


def delete_result(world: World) -> None:
    document_id, revision = _own_result(world)
    said = world.client.llm.delete_result(world.organization_id, document_id, revision)
    assert said["status"] == "success"
    with pytest.raises(Exception, match=r"API Error \(404\): LLM result not found"):
        world.client.llm.get_result(world.organization_id, document_id, prompt_revid=revision)
    world.client.documents.delete(world.organization_id, document_id)


# --- Schemas ----------------------------------------------------------------------------------------------------


def _new_schema(world: World, name: str) -> Any:
    return world.client.schemas.create(
        world.organization_id, {"name": name, "response_format": response_format("buyer", "total")}
    )


def create_schema(world: World) -> None:
    first, second = _new_schema(world, "Order"), _new_schema(world, "ORDER")
    assert second.schema_id == first.schema_id
    assert (first.schema_version, second.schema_version) == (1, 2)
    assert first.response_format.json_schema == response_format("buyer", "total")["json_schema"]


def list_schemas(world: World) -> None:
    found = world.client.schemas.list(world.organization_id, skip=0, limit=100)
    assert world.schema.schema_revid in [one.schema_revid for one in found.schemas]
    assert found.total_count == len(found.schemas)


def get_schema(world: World) -> None:
    found = world.client.schemas.get(world.organization_id, world.schema.schema_revid)
    assert (found.name, found.schema_id) == ("Invoice", world.schema.schema_id)


def update_schema(world: World) -> None:
    made = _new_schema(world, "Receipt")
    config = {"name": "Receipt", "response_format": response_format("shop", "total")}
    changed = world.client.schemas.update(world.organization_id, made.schema_id, config)
    assert (changed.schema_id, changed.schema_version) == (made.schema_id, 2)
    renamed = world.client.schemas.update(world.organization_id, made.schema_id, {**config, "name": "Till receipt"})
    assert renamed.name == "Till receipt"


def delete_schema(world: World) -> None:
    made = _new_schema(world, "Not needed")
    said = world.client.schemas.delete(world.organization_id, made.schema_id)
    assert said == {"message": "Schema deleted successfully"}
    with pytest.raises(Exception, match=r"API Error \(404\): Schema not found"):
        world.client.schemas.get(world.organization_id, made.schema_revid)


def validate(world: World) -> None:
    call = partial(world.client.schemas.validate, world.organization_id, world.schema.schema_revid)
    assert call({"data": EXTRACTED}) == {"valid": True}
    refused = call({"data": EXTRACTED | {"total": "much"}})
    assert refused["valid"] is False
    assert [error["path"] for error in refused["errors"]] == ["total"]


# --- Prompts ----------------------------------------------------------------------------------------------------


def _new_prompt(world: World, name: str) -> Any:
    return world.client.prompts.create(world.organization_id, {"name": name, "content": "What is this?"})


def create_prompt(world: World) -> None:
    made = _new_prompt(world, "Ask")
    assert (made.prompt_version, made.model, made.schema_id, made.tag_ids) == (1, "gpt-4o-mini", None, [])
    assert _new_prompt(world, "Ask").prompt_version == 2
    assert (world.prompt.schema_id, world.prompt.schema_version) == (world.schema.schema_id, 1)


def list_prompts(world: World) -> None:
    call = partial(world.client.prompts.list, world.organization_id)
    for found in (call(document_id=world.document_id), call(tag_ids=[world.tag.id])):
        assert [one.prompt_revid for one in found.prompts] == [world.prompt.prompt_revid]
    assert call(limit=100).total_count >= 1


def get_prompt(world: World) -> None:
    found = world.client.prompts.get(world.organization_id, world.prompt.prompt_revid)
    assert (found.name, found.content) == ("Read invoices", "Read the invoice.")


def update_prompt(world: World) -> None:
    made = _new_prompt(world, "Draft")
    changed = world.client.prompts.update(
        world.organization_id, made.prompt_id, {"name": "Draft", "content": "Who wrote this?"}
    )
    assert (changed.prompt_id, changed.prompt_version, changed.content) == (made.prompt_id, 2, "Who wrote this?")
    assert changed.prompt_revid != made.prompt_revid


def delete_prompt(world: World) -> None:
    made = _new_prompt(world, "Not needed")
    said = world.client.prompts.delete(world.organization_id, made.prompt_id)
    assert said == {"message": "Prompt deleted successfully"}
    with pytest.raises(Exception, match=r"API Error \(404\)"):
        world.client.prompts.get(world.organization_id, made.prompt_revid)


# --- Tags -------------------------------------------------------------------------------------------------------


def create_tag(world: World) -> None:
    made = world.client.tags.create(world.organization_id, {"name": "Plain"})
    assert (made.color, made.description) == ("#3B82F6", None)
    with pytest.raises(Exception, match=r"API Error \(400\): Tag with name 'Plain' already exists"):
        world.client.tags.create(world.organization_id, {"name": "Plain"})


def list_tags(world: World) -> None:
    found = world.client.tags.list(world.organization_id, skip=0, limit=100)
    assert ("Invoices", "#112233") in [(one.name, one.color) for one in found.tags]
    assert found.total_count == len(found.tags)


def update_tag(world: World) -> None:
    made = world.client.tags.create(world.organization_id, {"name": "Old name"})
    changed = world.client.tags.update(
        world.organization_id, made.id, {"name": "New name", "color": "#000000", "description": "Now said"}
    )
    assert (changed.id, changed.name, changed.color, changed.description) == (
        made.id,
        "New name",
        "#000000",
        "Now said",
    )


def delete_tag(world: World) -> None:
    made = world.client.tags.create(world.organization_id, {"name": "Not needed"})
    assert world.client.tags.delete(world.organization_id, made.id) == {"message": "Tag deleted successfully"}
    with pytest.raises(Exception, match="assigned to one or more"):
        world.client.tags.delete(world.organization_id, world.tag.id)


def request(world: World) -> None:
    """What the modules are built on, with an address they do not have."""
    address = f"/v0/orgs/{world.organization_id}/llm/models"
    assert world.client.request("GET", address)["models"]
    with pytest.raises(Exception, match=r"API Error \(404\): Not Found"):
        world.client.request("GET", f"/v0/orgs/{world.organization_id}/nothing")


CALLS: dict[str, Callable[..., None]] = {
    "client.request": request,
    "documents.upload": upload,
    "documents.list": list_documents,
    "documents.get": get,
    "documents.update": update,
    "documents.delete": delete,
    "ocr.get_blocks": get_blocks,
    "ocr.get_text": get_text,
    "ocr.get_metadata": get_metadata,
    "llm.list_models": list_models,
    "llm.run": run,
    "llm.get_result": get_result,
    "llm.update_result": update_result,
    "llm.delete_result": delete_result,
    "schemas.create": create_schema,
    "schemas.list": list_schemas,
    "schemas.get": get_schema,
    "schemas.update": update_schema,
    "schemas.delete": delete_schema,
    "schemas.validate": validate,
    "prompts.create": create_prompt,
    "prompts.list": list_prompts,
    "prompts.get": get_prompt,
    "prompts.update": update_prompt,
    "prompts.delete": delete_prompt,
    "tags.create": create_tag,
    "tags.list": list_tags,
    "tags.update": update_tag,
    "tags.delete": delete_tag,
}


def test_every_module_of_the_client_is_looked_into() -> None:
    assert {name.split(".")[0] for name in METHODS} == {"client", *MODULES}
    assert len(METHODS) == 29


@pytest.mark.parametrize("method", METHODS)
def test_the_client_gets_what_it_asks_for(method: str, world: World, live: Live) -> None:
    assert method in CALLS, "a method of the client that nobody calls"
    world.called.discard(method)
    arguments = (world, live) if len(inspect.signature(CALLS[method]).parameters) > 1 else (world,)
    CALLS[method](*arguments)
    assert method in world.called
