"""`Idempotency-Key` where something is made: a repeated request makes nothing and is answered the same."""

from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.db import connection
from pytest_django import Settings

from documents.models import Document, Publication, Run, ShareLink
from organizations.idempotency import reseal_answers
from organizations.models import IdempotentRequest
from tests.conftest import Person
from tests.documents.making import RECEIPT
from tests.documents.sharing import result_of, shared_document
from tests.v1.calling import V1


@pytest.fixture
def document(alice: Person) -> Document:
    document = shared_document(alice, RECEIPT)
    result_of(alice, document, {"total": 4950})
    return document


def place(document: Document, rest: str) -> str:
    return f"documents/{document.pk.hex}/{rest}"


MAKING: list[tuple[str, dict[str, Any], dict[str, Any], int]] = [
    ("share-links", {"role": "view", "password": "1234"}, {"role": "view", "password": "1235"}, 201),
    ("publish", {"includePages": True}, {}, 201),
    ("runs", {"kind": "reparse"}, {"kind": "propose"}, 202),
    ("runs", {"kind": "extract"}, {"kind": "reparse"}, 202),
]


def made_of() -> tuple[int, int, int]:
    return ShareLink.objects.count(), Publication.objects.count(), Run.objects.count()


@pytest.mark.parametrize(("name", "body", "another", "status"), MAKING)
def test_a_repeated_request_makes_nothing(
    v1: V1, alice: Person, document: Document, name: str, body: dict[str, Any], another: dict[str, Any], status: int
) -> None:
    first = v1.post(place(document, name), body, status=status, Idempotency_Key="k")
    there = made_of()
    assert v1.post(place(document, name), body, status=status, Idempotency_Key="k") == first
    reused = (409, "idempotency_key_reused")
    assert v1.error("post", place(document, name), another, Idempotency_Key="k") == reused
    other = shared_document(alice, RECEIPT, name="other.txt")
    there = (there[0], there[1], there[2] + other.runs.count())
    assert v1.error("post", place(other, name), body, Idempotency_Key="k") == reused
    assert made_of() == there


@pytest.mark.parametrize("alias", ["/v1/documents/{}/runs", "/document/{}/upload", "/document/{}/reparse"])
def test_a_repeated_form_adds_one_version(v1: V1, document: Document, alias: str) -> None:
    def send(data: bytes, status: int = 202) -> Any:
        file = BytesIO(data)
        file.name = "new.txt"
        return v1.form(alias.format(document.pk.hex), {"file": file}, status=status, Idempotency_Key="k")

    assert send(b"Total: 7") == send(b"Total: 7")
    assert send(b"Total: 8", 409)["error"]["code"] == "idempotency_key_reused"
    assert document.versions.count() == 2


def test_withdrawing_repeated_is_answered_as_the_first_time(v1: V1, document: Document) -> None:
    v1.post(place(document, "publish"), {})
    gone = v1.post(place(document, "publish"), {"unpublish": True}, status=200, Idempotency_Key="k")
    assert v1.post(place(document, "publish"), {"unpublish": True}, status=200, Idempotency_Key="k") == gone


def test_what_failed_is_tried_again(v1: V1, document: Document) -> None:
    wrong = {"redact": ["nothing"]}
    for _ in range(2):
        assert v1.error("post", place(document, "share-links"), wrong, Idempotency_Key="k")[0] == 400
    assert v1.post(place(document, "share-links"), {}, Idempotency_Key="k")["token"]


def test_the_token_and_the_password_of_a_link_lie_sealed(v1: V1, document: Document, settings: Settings) -> None:
    body = {"password": "1234"}
    first = v1.post(place(document, "share-links"), body, Idempotency_Key="k")
    kept = IdempotentRequest.objects.get()
    assert first["token"] not in str(kept.answer)
    assert list(kept.answer) == ["sealed"]
    new = Fernet.generate_key().decode()
    settings.ENCRYPTION_KEYS = [new, *settings.ENCRYPTION_KEYS]
    assert reseal_answers() == 1
    settings.ENCRYPTION_KEYS = [new]
    assert v1.post(place(document, "share-links"), body, Idempotency_Key="k") == first
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    assert reseal_answers() == 0
    lost = (409, "idempotent_answer_lost")
    assert v1.error("post", place(document, "share-links"), body, Idempotency_Key="k") == lost
    assert ShareLink.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_four_at_once_one_makes_a_link_and_all_get_it(v1: V1, document: Document) -> None:
    def send(_: int) -> Any:
        try:
            return v1.post(place(document, "share-links"), {}, Idempotency_Key="k")
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(send, range(4)))
    assert answers == [answers[0]] * 4
    assert ShareLink.objects.count() == 1
