"""Results over JSON: running a prompt, reading, correcting and deleting what came out, and what there is to run."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from documents import pipeline
from documents.models import Document, Extraction, ExtractionEdit, Run
from documents.results import current_result, list_edits, result_history
from llm.catalog import OFFLINE_MODEL
from organizations.models import AuditEntry
from prompts_app.models import PromptRevision
from prompts_app.services import delete_prompt
from tags_app.models import Tag
from tags_app.services import create_tag
from tests.api import Api, api_of
from tests.conftest import Person
from tests.documents.making import RECEIPT, make_document
from tests.documents.test_pipeline_prompts import read_document, tagged_prompt
from tests.fakes.provider import FakeProvider
from tests.fakes.steps import Fault, Step

pytestmark = pytest.mark.django_db
with_threads = pytest.mark.django_db(transaction=True)
UNKNOWN = "0198e2f0c0de7a6e8f00112233445566"
ANSWER = {"number": "2468", "date": "2020-08-20", "total": 4950, "iban": ""}
LLM_RESULT = {
    "prompt_revid", "prompt_id", "prompt_version", "document_id", "llm_result", "updated_llm_result", "is_edited",
    "is_verified", "created_at", "updated_at", "prompt_display_name", "run",
}  # fmt: skip


@pytest.fixture
def api(alice: Person) -> Api:
    return api_of(alice)


@pytest.fixture
def tag(alice: Person) -> Tag:
    return create_tag(actor=alice.actor, name="Invoices")


@pytest.fixture
def receipt(alice: Person, tag: Tag) -> Document:
    return read_document(alice, tag)


@pytest.fixture
def prompt(alice: Person, tag: Tag) -> PromptRevision:
    return tagged_prompt(alice, "Receipt", [tag])


def ran(document: Document, prompt: PromptRevision | None, data: dict[str, Any] | None = None) -> Extraction:
    """A result as a run leaves it, with those before it superseded."""
    row = {"organization": document.organization, "document": document, "version": document.current_version}
    run = Run.objects.create(**row, kind="extract", phase="complete", prompt_revision=prompt)
    values = ANSWER if data is None else data
    made = Extraction.objects.create(
        **row, run=run, prompt_revision=prompt, llm_result=values, updated_llm_result=values
    )
    before = Extraction.objects.filter(document=document, superseded_by=None).exclude(pk=made.pk)
    of_prompt = {"prompt_revision__prompt": prompt.prompt} if prompt else {"prompt_revision": None}
    before.filter(**of_prompt).update(superseded_by=made)
    return made


def address(document: Document, prompt: PromptRevision | str, *more: str) -> str:
    revid = prompt if isinstance(prompt, str) else prompt.pk.hex
    return "&".join([f"llm/result/{document.pk.hex}?prompt_revid={revid}", *more])


@with_threads
def test_a_prompt_is_run_once_and_again_only_by_force(
    alice: Person, api: Api, receipt: Document, prompt: PromptRevision, warm_litellm: None
) -> None:
    where = f"llm/run/{receipt.pk.hex}?prompt_revid={prompt.pk.hex}"
    first = api.post(where, {})
    assert first["status"] == "success"
    assert first["result"]["number"] == "2468"
    assert list(first["result"]) == ["number", "date", "total", "iban"]
    assert (first["model_requested"], first["model_used"], first["validation_errors"]) == (
        OFFLINE_MODEL, OFFLINE_MODEL, []
    )  # fmt: skip
    assert api.post(f"{where}&force=false")["result_id"] == first["result_id"]
    second = api.post(f"{where}&force=true")
    assert second["result_id"] != first["result_id"]
    history = result_history(actor=alice.actor, document_id=receipt.pk, extraction_id=second["result_id"])
    assert [row.pk.hex for row in history] == [second["result_id"], first["result_id"]]
    summary = api.post(f"llm/run/{receipt.pk.hex}")["result"]
    assert list(summary) == ["document_type", "document_date", "summary"]
    receipt.refresh_from_db()
    assert receipt.state == "llm_completed"


@with_threads
def test_who_asks_for_what_waits_for_a_worker_gets_it_at_once(
    api: Api, receipt: Document, prompt: PromptRevision, warm_litellm: None
) -> None:
    (run_id,) = pipeline.queue_prompts(receipt.pk)
    assert api.post(f"llm/run/{receipt.pk.hex}?prompt_revid={prompt.pk.hex}")["result"]["number"] == "2468"
    assert Extraction.objects.get().run_id == run_id
    pipeline.extract(run_id)
    assert Extraction.objects.count() == 1


@with_threads
def test_a_model_that_fails_says_so_and_nothing_is_kept(
    alice: Person, api: Api, receipt: Document, tag: Tag, fake_provider: FakeProvider, settings: Any
) -> None:
    settings.MODEL_RETRIES = 0
    prompt = tagged_prompt(alice, "Remote", [tag], model="gpt-4o-mini")
    fake_provider.add(Step(structured=True, fault=Fault("status", status=500)), Step(text="Sorry.", structured=True))
    where = f"llm/run/{receipt.pk.hex}?prompt_revid={prompt.pk.hex}"
    status, detail = api.error("post", where)
    assert (status, "document" in detail.lower()) == (503, False)
    assert api.error("post", where)[0] == 503
    assert Extraction.objects.count() == 0


@with_threads
def test_what_breaks_the_schema_stands_beside_the_result(
    alice: Person, api: Api, receipt: Document, tag: Tag, fake_provider: FakeProvider
) -> None:
    prompt = tagged_prompt(alice, "Remote", [tag], model="gpt-4o-mini")
    fake_provider.add(Step(text=json.dumps(ANSWER | {"total": "much"}), structured=True))
    made = api.post(f"llm/run/{receipt.pk.hex}?prompt_revid={prompt.pk.hex}")
    assert [error["path"] for error in made["validation_errors"]] == ["total"]
    assert api.get(address(receipt, prompt))["validation_errors"] == made["validation_errors"]


@with_threads
@pytest.mark.parametrize("phase", ["queued", "parsing", "error"])
def test_a_document_without_text_cannot_be_run(alice: Person, api: Api, phase: str) -> None:
    document = make_document(alice, phase=phase)
    assert api.error("post", f"llm/run/{document.pk.hex}") == (404, "OCR required but not run for this document")


@with_threads
@pytest.mark.parametrize(
    ("document", "query", "detail"),
    [
        ("nonsense", "", "Document not found"),
        (UNKNOWN, "", "Document not found"),
        ("", "?prompt_revid=nonsense", "Prompt not found"),
        ("", f"?prompt_revid={UNKNOWN}", "Prompt not found"),
    ],
)
def test_what_does_not_exist_is_not_run(api: Api, receipt: Document, document: str, query: str, detail: str) -> None:
    assert api.error("post", f"llm/run/{document or receipt.pk.hex}{query}") == (404, detail)
    assert not Run.objects.filter(kind="extract").exists()


@with_threads
def test_a_stranger_s_prompt_and_document_are_not_run(
    charlie: Person, receipt: Document, prompt: PromptRevision
) -> None:
    api, own = api_of(charlie), make_document(charlie, *RECEIPT)
    assert api.error("post", f"llm/run/{receipt.pk.hex}")[0] == 404
    assert api.error("post", f"llm/run/{own.pk.hex}?prompt_revid={prompt.pk.hex}")[0] == 404


def test_a_result_has_the_shape_of_the_wire(api: Api, receipt: Document, prompt: PromptRevision) -> None:
    ran(receipt, prompt)
    shown = api.get(address(receipt, prompt))
    assert shown.keys() == LLM_RESULT | {"validation_errors", "model_requested", "model_used"}
    assert shown["prompt_revid"] == prompt.pk.hex
    assert shown["prompt_id"] == prompt.prompt_id.hex
    assert (shown["prompt_version"], shown["document_id"]) == (1, receipt.pk.hex)
    assert shown["llm_result"] == shown["updated_llm_result"] == ANSWER
    assert (shown["is_edited"], shown["is_verified"], shown["prompt_display_name"]) == (False, False, None)
    assert shown["created_at"].endswith("Z")
    assert shown["run"].keys() == {"prompt", "match_values", "match_document_ids"}
    assert shown["run"]["prompt"].startswith("Read the receipt.")
    ran(receipt, None, {"document_type": "receipt"})
    default = api.get(address(receipt, "default"))
    assert (default["prompt_id"], default["prompt_display_name"]) == ("default", "Document Summary")


def test_exact_revisions_fallback_and_prompts_find_their_results(
    alice: Person, api: Api, receipt: Document, tag: Tag
) -> None:
    first = tagged_prompt(alice, "Receipt", [tag])
    second = tagged_prompt(alice, "Receipt", [tag], content="Again.")
    third = tagged_prompt(alice, "Receipt", [tag], content="Once more.")
    ran(receipt, second)
    ran(receipt, first)
    assert api.get(address(receipt, first))["prompt_version"] == 1
    assert api.get(address(receipt, second))["prompt_version"] == 2
    status, detail = api.error("get", address(receipt, third))
    assert (status, detail) == (
        404,
        f"LLM result not found for document_id: {receipt.pk.hex} prompt_revid: {third.pk.hex} prompt_id: None "
        "prompt_revid_fallback: False",
    )
    for more in ("prompt_revid_fallback=true", "fallback=True"):
        assert api.get(address(receipt, third, more))["prompt_version"] == 2
    by_prompt = f"llm/result/{receipt.pk.hex}?prompt_id={first.prompt_id.hex}"
    assert api.get(by_prompt)["prompt_version"] == 2
    assert api.get(address(receipt, first.prompt_id.hex))["prompt_version"] == 2
    delete_prompt(actor=alice.actor, prompt_id=first.prompt_id)
    assert api.get(address(receipt, second))["prompt_version"] == 2


def test_a_corrected_result_is_kept_as_edits_and_the_answer_stays(
    alice: Person, api: Api, receipt: Document, prompt: PromptRevision
) -> None:
    made = ran(receipt, prompt, ANSWER | {"iban": {"country": "DE", "lines": [1, True, {"deep": None}]}})
    values = {"total": 4500, "iban": {"country": "FR", "lines": [1, 1, {"deep": None}]}, "number": "2468", "date": ""}
    sent = {"updated_llm_result": values, "is_verified": True}
    shown = api.put(address(receipt, prompt), sent)
    assert shown["updated_llm_result"] == values
    assert list(shown["updated_llm_result"]) == list(ANSWER)
    assert shown["llm_result"] == made.llm_result
    assert (shown["is_edited"], shown["is_verified"]) == (True, True)
    assert {error["path"] for error in shown["validation_errors"]} == {"iban"}
    edits = list_edits(actor=alice.actor, document_id=receipt.pk, extraction_id=made.pk)
    assert {(row.path, json.dumps(row.value_from), json.dumps(row.value_to), row.via) for row in edits} == {
        ("date", '"2020-08-20"', '""', "api"),
        ("iban.country", '"DE"', '"FR"', "api"),
        ("iban.lines.1", "true", "1", "api"),
        ("total", "4950", "4500", "api"),
    }
    again = api.put(address(receipt, prompt), {"updated_llm_result": values})
    assert (again["is_edited"], again["is_verified"], edits.count()) == (True, False, 4)
    assert current_result(actor=alice.actor, document_id=receipt.pk).grounding["total"]["quote"] == "$4,500.00"


def test_a_correction_of_very_many_values_is_one_edit_for_each_name(
    alice: Person, api: Api, receipt: Document, prompt: PromptRevision
) -> None:
    made = ran(receipt, prompt, {"rows": list(range(600)), "total": 1})
    api.put(address(receipt, prompt), {"updated_llm_result": {"rows": list(range(1, 601)), "total": 1}})
    edits = list_edits(actor=alice.actor, document_id=receipt.pk, extraction_id=made.pk)
    assert [row.path for row in edits] == ["rows"]


BAD_UPDATES: list[tuple[Any, int]] = [
    (b"", 422),
    (b"{", 422),
    (b"[]", 422),
    ({}, 422),
    ({"updated_llm_result": None}, 422),
    ({"updated_llm_result": "text"}, 422),
    ({"updated_llm_result": [1]}, 422),
    ({"updated_llm_result": ANSWER, "is_verified": "perhaps"}, 422),
    (b'{"updated_llm_result": {"number": "a\\u0000b"}}', 422),
    (b'{"updated_llm_result": {"number": "\\ud800"}}', 422),
    (b'{"updated_llm_result": {"number": NaN}}', 422),
    (b'{"updated_llm_result": {"number": ' + b"[" * 5000 + b"]" * 5000 + b"}}", 422),
    ({"updated_llm_result": {}}, 400),
    ({"updated_llm_result": ANSWER | {"more": 1}}, 400),
    ({"updated_llm_result": {"number": "2468"}}, 400),
    ({"updated_llm_result": ANSWER | {"number": 10**400}}, 400),
    ({"updated_llm_result": ANSWER | {"number": json.loads("[" * 40 + "]" * 40)}}, 400),
    ({"updated_llm_result": ANSWER | {"number": [0] * 20_000}}, 400),
]


@pytest.mark.parametrize(("body", "status"), BAD_UPDATES)
def test_a_correction_that_does_not_fit_is_refused_and_nothing_changes(
    api: Api, receipt: Document, prompt: PromptRevision, body: Any, status: int
) -> None:
    made = ran(receipt, prompt)
    assert api.error("put", address(receipt, prompt), body)[0] == status
    made.refresh_from_db()
    assert (made.updated_llm_result, made.is_edited, ExtractionEdit.objects.count()) == (ANSWER, False, 0)


def test_other_names_than_the_answer_s_are_named(api: Api, receipt: Document, prompt: PromptRevision) -> None:
    ran(receipt, prompt, {"a": 1, "b": 2})
    assert api.error("put", address(receipt, prompt), {"updated_llm_result": {"a": 1, "c": 2}}) == (
        400,
        "Updated result signature does not match original. Original keys: ['a', 'b'], Updated keys: ['a', 'c']",
    )


def test_results_that_are_not_there_are_told_apart_from_requests_that_make_no_sense(
    api: Api, charlie: Person, receipt: Document, prompt: PromptRevision
) -> None:
    update, other = {"updated_llm_result": {}}, UNKNOWN
    assert api.error("get", f"llm/result/{receipt.pk.hex}") == (
        422, "Either prompt_revid or prompt_id must be provided"
    )  # fmt: skip
    assert api.error("put", f"llm/result/{receipt.pk.hex}", update)[0] == 422
    assert api.error("delete", f"llm/result/{receipt.pk.hex}")[0] == 422
    assert api.error("get", address(receipt, "nonsense"))[0] == 404
    assert api.error("put", address(receipt, "nonsense"), update)[0] == 404
    assert api.error("delete", address(receipt, "nonsense"))[0] == 404
    assert api.error("put", address(receipt, prompt), update) == (
        400, f"No existing LLM result found for document_id: {receipt.pk.hex}, prompt_revid: {prompt.pk.hex}"
    )  # fmt: skip
    assert api.error("delete", address(receipt, prompt)) == (
        404, f"LLM result not found for document_id: {receipt.pk.hex} and prompt_revid: {prompt.pk.hex}"
    )  # fmt: skip
    assert api.error("get", f"llm/results/{receipt.pk.hex}/download") == (
        404, "No LLM results found for this document"
    )  # fmt: skip
    ran(receipt, prompt)
    for at in (f"llm/result/{other}?prompt_revid={prompt.pk.hex}", "llm/result/x?prompt_revid=default"):
        assert api.error("get", at) == (404, "Document not found")
        assert api.error("put", at, update) == (404, "Document not found")
        assert api.error("delete", at) == (404, "Document not found")
    stranger = api_of(charlie)
    assert stranger.error("get", address(receipt, prompt)) == (404, "Document not found")
    assert stranger.error("delete", address(receipt, prompt))[0] == 404
    assert stranger.error("get", f"llm/results/{receipt.pk.hex}/download")[0] == 404


def test_deleting_takes_all_results_of_a_revision_and_another_version_stands_again(
    alice: Person, api: Api, receipt: Document, tag: Tag
) -> None:
    first = tagged_prompt(alice, "Receipt", [tag])
    second = tagged_prompt(alice, "Receipt", [tag], content="Again.")
    old = ran(receipt, first)
    for _ in range(2):
        ran(receipt, second)
    api.put(address(receipt, second), {"updated_llm_result": ANSWER | {"total": 1}, "is_verified": True})
    assert api.delete(address(receipt, second)) == {"status": "success", "message": "LLM result deleted"}
    assert api.error("get", address(receipt, second))[0] == 404
    assert api.get(address(receipt, second, "fallback=true"))["prompt_version"] == 1
    assert current_result(actor=alice.actor, document_id=receipt.pk) == old
    assert Extraction.objects.filter(withdrawn_at__isnull=False).count() == 2
    assert ExtractionEdit.objects.count() == 1
    assert AuditEntry.objects.get(action="extraction.deleted").data == {"results": 2}
    api.delete(address(receipt, first))
    receipt.refresh_from_db()
    assert receipt.state == "ocr_completed"


def test_all_results_come_as_one_file(alice: Person, api: Api, receipt: Document, tag: Tag) -> None:
    long = tagged_prompt(alice, "Long", [tag], content="x" * 150)
    ran(receipt, None, {"document_type": "receipt"})
    ran(receipt, long)
    ran(receipt, long)
    answer = api.raw("get", f"llm/results/{receipt.pk.hex}/download")
    kind, _, name = answer["Content-Disposition"].partition("; ")
    assert kind == "attachment"
    assert name.startswith(f'filename="extractions_{receipt.pk.hex}_20')
    shown = answer.json()
    assert shown.keys() == {"document_id", "organization_id", "document_name", "extraction_date", "results"}
    assert [(row["prompt_name"], row["prompt_version"]) for row in shown["results"]] == [
        ("Default Prompt", 1),
        ("x" * 100 + "...", 1),
    ]
    assert shown["results"][1]["extraction_result"] == ANSWER
    assert shown["results"][1]["metadata"].keys() == {"created_at", "updated_at", "is_edited", "is_verified"}


def to_run(api: Api, tag: Tag, mode: str, **filters: Any) -> dict[str, list[str]]:
    body = {"tag_id": tag.pk.hex, "mode": mode, "document_filters": filters or None}
    shown = api.post("llm/bulk-analyze", body)
    assert shown["total_executions"] == sum(len(group["executions"]) for group in shown["groups"])
    return {
        f"{group['name']} v{group['prompt_version']}": sorted(one["document_name"] for one in group["executions"])
        for group in shown["groups"]
    }


def test_what_there_is_to_run_is_all_or_what_is_missing_or_what_is_of_an_earlier_version(
    alice: Person, api: Api, tag: Tag
) -> None:
    first = tagged_prompt(alice, "Receipt", [tag])
    latest = tagged_prompt(alice, "Receipt", [tag], content="Again.")
    other = tagged_prompt(alice, "Other", [tag])
    for name, prompts in {"none": [], "old": [first], "new": [first, latest], "both": [latest, other]}.items():
        document = make_document(alice, *RECEIPT, name=name)
        document.tags.add(tag)
        for one in prompts:
            ran(document, one)
    make_document(alice, name="unread", phase="error").tags.add(tag)
    make_document(alice, *RECEIPT, name="untagged")
    everything = ["both", "new", "none", "old"]
    assert to_run(api, tag, "all") == {"Receipt v2": everything, "Other v1": everything}
    assert to_run(api, tag, "missing") == {"Receipt v2": ["none"], "Other v1": ["new", "none", "old"]}
    assert to_run(api, tag, "outdated") == {"Receipt v2": ["old"]}
    assert to_run(api, tag, "all", name_search="BO") == {"Receipt v2": ["both"], "Other v1": ["both"]}
    assert to_run(api, tag, "all", metadata_search="a=b", tag_ids=tag.pk.hex) == {}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"[1]", 422),
        ({}, 422),
        ({"tag_id": 5}, 422),
        ({"tag_id": "x", "mode": "some"}, 422),
        ({"tag_id": "x", "document_filters": "all"}, 422),
        ({"tag_id": "x", "document_filters": {"tag_ids": 7}}, 422),
        ({"tag_id": "nonsense"}, 400),
        ({"tag_id": UNKNOWN}, 400),
    ],
)
def test_a_list_of_what_to_run_that_makes_no_sense_is_refused(api: Api, body: Any, status: int) -> None:
    assert api.error("post", "llm/bulk-analyze", body)[0] == status


def test_bulk_filters_are_checked_like_those_of_the_list(api: Api, tag: Tag, charlie: Person) -> None:
    body = {"tag_id": tag.pk.hex, "document_filters": {"filters": "{"}}
    assert api.error("post", "llm/bulk-analyze", body)[0] == 400
    assert api_of(charlie).error("post", "llm/bulk-analyze", {"tag_id": tag.pk.hex})[0] == 400


def queries(api: Api, method: str, path: str, body: Any = None) -> int:
    with CaptureQueriesContext(
        connection,
    ) as caught:
        assert api.raw(method, path, body).status_code == 200
    return len(caught)


def test_many_results_and_documents_cost_as_many_queries_as_few(alice: Person, api: Api, tag: Tag) -> None:
    document = read_document(alice, tag)
    download, bulk = f"llm/results/{document.pk.hex}/download", {"tag_id": tag.pk.hex, "mode": "missing"}
    counts = []
    for batch in (3, 27):
        for number in range(batch):
            ran(document, tagged_prompt(alice, f"Prompt {batch} {number}", [tag]))
            make_document(alice, *RECEIPT).tags.add(tag)
        counts.append((queries(api, "get", download), queries(api, "post", "llm/bulk-analyze", bulk)))
    assert counts[0] == counts[1]
