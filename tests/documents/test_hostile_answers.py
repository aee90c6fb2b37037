"""A model's answer to an extraction that is hostile or broken: refused or cleaned, and its run always ends."""

import contextlib
import time
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from documents import extraction
from documents.answers import MAX_DEPTH, parse_object
from documents.errors import ExtractionFailed
from documents.extraction import run_extraction
from documents.models import Run
from llm.types import Completion
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document, make_prompt


def answer(number: str) -> str:
    return '{"number": ' + number + ', "total": 1, "date": "", "iban": ""}'


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


REFUSED = [
    "NaN",
    "-Infinity",
    "1e999",
    "9" * 4000,
    "9" * 5000,
    nested(400),
    nested(MAX_DEPTH),
    '"',
    '{"a": 1}, "b": {"c"',
]
TAKEN = [
    '"a\\u0000b"',
    '"a\\ud800b"',
    nested(MAX_DEPTH - 1),
    '"x", "\\u0000": 1, "": 1, ".": {"": [{}]}, "a.b": [{"": 1}, 2]',
]
ALL = [(one, "error") for one in REFUSED] + [(one, "complete") for one in TAKEN]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("number", "phase"), [(one, "error") for one in REFUSED] + [(one, "complete") for one in TAKEN]
)
def test_whatever_a_model_answers_the_run_ends_and_the_page_shows_it(
    alice: Person, monkeypatch: pytest.MonkeyPatch, number: str, phase: str
) -> None:
    async def complete(**_: Any) -> Completion:
        return Completion(text=answer(number))

    monkeypatch.setattr(extraction, "complete", complete)
    document, prompt, client = make_document(alice, *RECEIPT), make_prompt(alice), alice.client()
    try:
        async_to_sync(run_extraction)(actor=alice.actor, document_id=document.id, prompt_revid=prompt.id.hex)
    except ExtractionFailed:
        assert phase == "error"
    assert Run.objects.get(document=document, kind="extract").phase == phase
    assert client.get(f"/documents/{document.id.hex}").status_code == 200
    for result in document.extractions.all():
        address = f"/documents/{document.id.hex}/extractions/{result.id.hex}"
        assert client.get(f"{address}/export").status_code == 200
        for path in ("number", "number.0", "", ".", "a.b.0", "number.²"):
            assert client.post(f"{address}/fields", {f"value:{path}": "1\0"}).status_code in (302, 400)


@pytest.mark.parametrize("text", ['{"a":' * 100_000, "{" * 200_000, '{"a":[' * 50_000, "{}" * 100 + "[" * 100_000])
def test_no_answer_keeps_the_reader_busy(text: str) -> None:
    begun = time.process_time()
    with contextlib.suppress(ExtractionFailed):
        assert parse_object(text) == {}
    assert time.process_time() - begun < 1
