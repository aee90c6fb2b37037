"""The Python client's quick half, in every run: what needs no worker, over a socket, in one test."""

from typing import Any

import pytest
from docrouter_sdk import DocRouterClient
from pytest_django.live_server_helper import LiveServer

from organizations.services import create_token
from tests.conftest import make_person
from tests.documents.making import RECEIPT_FIELDS, make_document, response_format


def test_the_python_client_reads_and_writes(live_server: LiveServer) -> None:
    person = make_person("ada@example.com")
    document = make_document(person, "Total: 12.50")
    _, token = create_token(user=person.user, name="program", organization=person.organization)
    org = person.organization.pk.hex
    client: Any = DocRouterClient(live_server.url, token)
    try:
        tag = client.tags.create(org, {"name": "Receipts"})
        config = {"name": "Receipt", "response_format": response_format(RECEIPT_FIELDS)}
        schema = client.schemas.create(org, config)
        refused = client.schemas.validate(org, schema.schema_revid, {"data": {"total": "much"}})
        assert refused["valid"] is False
        prompt = client.prompts.create(
            org, {"name": "Read", "content": "Read it.", "schema_id": schema.schema_id, "tag_ids": [tag.id]}
        )
        said = client.documents.update(org, document.pk.hex, document_name="new.pdf", tag_ids=[tag.id])
        assert said == {"message": "Document updated successfully"}
        assert [one.document_name for one in client.documents.list(org, tag_ids=[tag.id]).documents] == ["new.pdf"]
        found = client.prompts.list(org, document_id=document.pk.hex).prompts
        assert [one.prompt_revid for one in found] == [prompt.prompt_revid]
        assert client.ocr.get_text(org, document.pk.hex) == "Total: 12.50"
        with pytest.raises(Exception, match=r"API Error \(404\): LLM result not found"):
            client.llm.get_result(org, document.pk.hex, prompt_revid=prompt.prompt_revid, fallback=True)
    finally:
        client.session.close()
