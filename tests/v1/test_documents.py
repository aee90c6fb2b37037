"""Documents of `/v1`: uploads, pages of the list, one document and its tag, deletion."""

import base64
import hashlib
import time
from io import BytesIO

from documents.models import Run
from tags_app.services import create_tag
from tests.conftest import Person
from tests.data import make
from tests.v1.calling import V1

TEXT = base64.b64encode(b"Total: 12.50 EUR").decode()
UNKNOWN = "0" * 32


def named(data: bytes, name: str) -> BytesIO:
    file = BytesIO(data)
    file.name = name
    return file


def test_a_document_is_uploaded_read_and_deleted(v1: V1, alice: Person) -> None:
    tag = create_tag(actor=alice.actor, name="Invoice").pk.hex
    began = round(time.time() * 1000)
    made = v1.post("documents", {"name": "a.txt", "content": TEXT, "tagIds": [tag], "metadata": {"k": "v"}})
    assert set(made) == {"documentId", "runId", "workflowId", "phase", "updatedAt"}
    assert (made["phase"], made["workflowId"]) == ("queued", made["runId"])
    assert began - 1 <= made["updatedAt"] <= time.time() * 1000 + 1

    read = v1.get(f"documents/{made['documentId']}")
    assert read == {
        "documentId": made["documentId"],
        "name": "a.txt",
        "mimeType": "text/plain",
        "sizeBytes": 16,
        "pageCount": None,
        "sha256": hashlib.sha256(b"Total: 12.50 EUR").hexdigest(),
        "tagIds": [tag],
        "metadata": {"k": "v"},
        "phase": "queued",
        "activeRunId": made["runId"],
        "autoCreate": {"status": "none"},
        "createdAt": read["createdAt"],
        "updatedAt": made["updatedAt"],
    }
    assert v1.get("documents") == {"documents": [read], "nextAfter": None}
    assert v1.delete(f"documents/{made['documentId']}") is None
    assert v1.error("get", f"documents/{made['documentId']}") == (404, "document_not_found")
    assert Run.objects.get(pk=made["runId"]).cancel_requested or Run.objects.get(pk=made["runId"]).phase == "cancelled"


def test_a_form_uploads_as_well(v1: V1, alice: Person) -> None:
    tag = create_tag(actor=alice.actor, name="Invoice").pk.hex
    fields = {"file": named(make.pdf(), "b.pdf"), "name": "c.pdf", "tagIds": f'["{tag}"]', "metadata": '{"a": "b"}'}
    read = v1.get(f"documents/{v1.form('documents', fields)['documentId']}")
    assert (read["name"], read["tagIds"], read["metadata"], read["mimeType"], read["pageCount"]) == (
        "c.pdf", [tag], {"a": "b"}, "application/pdf", 1,
    )  # fmt: skip
