"""Uploading, changing and listing documents: whole batches, limits, tenants, duplicates."""

import threading
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import override_settings

from core.errors import DomainError, Invalid
from documents import readers, selectors, services
from documents.errors import (
    DocumentNotFound,
    EmptyFile,
    FileMissing,
    FileTooLarge,
    PageNotFound,
    RunActive,
    RunEnded,
    TextNotReady,
    TooManyFiles,
    TooManyPages,
    TooManyPixels,
    UnsupportedFile,
)
from documents.events import append_event
from documents.models import Document, Event, Run
from documents.page_images import sweep_cache
from documents.services import UploadedFile
from documents.tagging import delete_tag
from organizations.models import AuditEntry
from tags_app.errors import UnknownTags
from tags_app.models import Tag
from tests.conftest import Person
from tests.data import make


def upload(person: Person, *names: str, **options: object) -> list[Document]:
    uploads = [UploadedFile(name=name, data=make.pdf((name,)), **options) for name in names]  # type: ignore[arg-type]
    return [result.document for result in services.upload_documents(actor=person.actor, files=uploads)]


def tag(person: Person, name: str) -> Tag:
    return Tag.objects.create(organization=person.organization, name=name)


def names(result: selectors.DocumentList) -> list[str]:
    return [document.name for document in result.documents]


def test_an_upload_keeps_bytes_fingerprint_tags_and_metadata(alice: Person) -> None:
    label = tag(alice, "Invoices")
    data = make.numbered_pdf(2)

    (result,) = services.upload_documents(
        actor=alice.actor,
        files=[UploadedFile(name="../x/a.pdf", data=data, tag_ids=[label.id.hex], metadata={"k": "v"})],
    )

    document, version = result.document, result.document.current_version
    assert version is not None
    assert (document.name, document.state, document.phase, document.metadata) == (
        "a.pdf", "uploaded", "queued", {"k": "v"}
    )  # fmt: skip
    assert (version.page_count, version.size_bytes, version.mime_type) == (2, len(data), "application/pdf")
    assert version.file_key == (
        f"org/{alice.organization.id.hex}/doc/{document.id.hex}/v1/{version.sha256}"
    )  # fmt: skip
    with services.files.open_key(version.file_key) as stored:
        assert stored.read() == data
    assert list(document.tags.all()) == [label]
    assert AuditEntry.objects.get(action="document.uploaded").target_id == document.id.hex
    assert list(Event.objects.filter(document=document).values_list("seq", "type")) == [
        (1, "document.uploaded"), (2, "run.queued")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("empty.pdf", b"", EmptyFile),
        ("a.exe", b"MZ\x90\x00", UnsupportedFile),
        ("big.png", make.gigantic_png(), TooManyPixels),
        ("long.pdf", make.numbered_pdf(4), TooManyPages),
        ("heavy.txt", b"x" * 200_001, FileTooLarge),
    ],
    ids=["empty", "unknown kind", "too many pixels", "too many pages", "too large"],
)
def test_one_bad_file_leaves_nothing_of_the_batch(
    alice: Person, name: str, data: bytes, error: type[DomainError]
) -> None:
    batch = [UploadedFile(name="good.pdf", data=make.pdf()), UploadedFile(name=name, data=data)]

    with override_settings(MAX_PAGES=3, MAX_UPLOAD_BYTES=200_000):
        readers.web_readers.cache_clear()
        with pytest.raises(error):
            services.upload_documents(actor=alice.actor, files=batch)
        readers.web_readers().close()
        readers.web_readers.cache_clear()

    assert not Document.objects.exists()


def test_tags_metadata_and_counts_are_checked_before_anything_is_written(alice: Person, charlie: Person) -> None:
    foreign = tag(charlie, "Theirs")
    for options in ({"tag_ids": [foreign.id.hex]}, {"tag_ids": ["nonsense"]}):
        with pytest.raises(UnknownTags, match="Invalid tag IDs"):
            upload(alice, "a.pdf", **options)
    with pytest.raises(Invalid):
        upload(alice, "a.pdf", metadata={"k": 1})
    with override_settings(MAX_UPLOAD_FILES=1), pytest.raises(TooManyFiles):
        upload(alice, "a.pdf", "b.pdf")
    assert not Document.objects.exists()


def test_a_failure_while_saving_leaves_no_rows_and_no_bytes(
    alice: Person, monkeypatch: pytest.MonkeyPatch, settings: object, tmp_path: Path
) -> None:
    kept: list[str] = []
    keep = services.files.keep

    def fail_on_second(key: str, path: Path) -> None:
        if kept:
            raise OSError("disk full")
        keep(key, path)
        kept.append(key)

    monkeypatch.setattr(services.files, "keep", fail_on_second)
    with pytest.raises(OSError, match="disk full"):
        upload(alice, "a.pdf", "b.pdf")

    assert not Document.objects.exists()
    with pytest.raises(FileMissing):
        services.files.open_key(kept[0])


def test_the_same_bytes_again_name_the_earlier_document_of_the_same_organization(
    alice: Person, bob: Person, charlie: Person
) -> None:
    same = UploadedFile(name="a.pdf", data=make.pdf())
    (first,) = services.upload_documents(actor=alice.actor, files=[same])
    second, third = services.upload_documents(actor=bob.actor, files=[same, same])
    (foreign,) = services.upload_documents(actor=charlie.actor, files=[same])

    assert first.duplicate_of is None
    assert [second.duplicate_of, third.duplicate_of] == [first.document, first.document]
    assert foreign.duplicate_of is None
    services.delete_document(actor=alice.actor, document_id=first.document.id)
    assert services.upload_documents(actor=alice.actor, files=[same])[0].duplicate_of == second.document


def test_member_of_another_organization_cannot_see_or_touch_a_document(alice: Person, charlie: Person) -> None:
    (document,) = upload(alice, "a.pdf")
    run = Run.objects.get(document=document)
    attempts = [
        lambda id_: selectors.get_document(actor=charlie.actor, document_id=id_),
        lambda id_: selectors.document_content(actor=charlie.actor, document_id=id_),
        lambda id_: selectors.pages(actor=charlie.actor, document_id=id_),
        lambda id_: selectors.page_text(actor=charlie.actor, document_id=id_),
        lambda id_: selectors.page_image(actor=charlie.actor, document_id=id_, number=1),
        lambda id_: selectors.list_events(actor=charlie.actor, document_id=id_),
        lambda id_: services.update_document(actor=charlie.actor, document_id=id_, name="mine"),
        lambda id_: services.delete_document(actor=charlie.actor, document_id=id_),
        lambda id_: services.reparse(actor=charlie.actor, document_id=id_),
    ]
    for attempt in attempts:
        for id_ in (document.id.hex, document.id, "0" * 32, "nonsense"):
            with pytest.raises(DocumentNotFound):
                attempt(id_)
    with pytest.raises(DomainError, match="Run not found"):
        services.cancel_run(actor=charlie.actor, run_id=run.id.hex)
    assert selectors.list_documents(actor=charlie.actor).total_count == 0


def test_lists_search_filter_sort_and_page(alice: Person) -> None:
    red, blue = tag(alice, "red"), tag(alice, "blue")
    upload(alice, "100%_real.pdf", tag_ids=[red.id.hex], metadata={"case": "A=1", "who": "x"})
    upload(alice, "Report.pdf", tag_ids=[red.id.hex, blue.id.hex], metadata={"case": "B"})
    upload(alice, "my report.pdf", "report")

    def listed(**query: object) -> list[str]:
        return names(selectors.list_documents(actor=alice.actor, **query))  # type: ignore[arg-type]

    assert listed() == ["report", "my report.pdf", "Report.pdf", "100%_real.pdf"]
    assert listed(name_search="report") == ["report", "Report.pdf", "my report.pdf"]
    assert listed(name_search="%_") == ["100%_real.pdf"]
    assert listed(tag_ids=[red.id.hex]) == ["Report.pdf", "100%_real.pdf"]
    assert listed(tag_ids=[red.id.hex, blue.id.hex]) == ["Report.pdf"]
    assert listed(metadata_search="case=A%3D1, who=x") == ["100%_real.pdf"]
    assert listed(metadata_search="case=A") == []
    assert listed(sort='[{"field":"document_name","sort":"asc"}]', limit=2)[0] == "100%_real.pdf"
    assert listed(filters='{"items":[{"field":"document_name","operator":"startsWith","value":"my"}]}') == [
        "my report.pdf"
    ]
    page = selectors.list_documents(actor=alice.actor, skip=1, limit=2)
    assert (names(page), page.total_count, page.skip) == (["my report.pdf", "Report.pdf"], 4, 1)
    for bad in ({"sort": "{"}, {"filters": "[]"}, {"metadata_search": "no equals"}):
        with pytest.raises(Invalid):
            listed(**bad)


def test_a_list_needs_the_same_queries_for_one_and_for_many(alice: Person, django_assert_num_queries: object) -> None:
    upload(alice, "0.pdf")
    for count in (1, 5):
        with django_assert_num_queries(4):  # type: ignore[operator]
            result = selectors.list_documents(actor=alice.actor, limit=100)
            assert all(list(document.tags.all()) == [] for document in result.documents)
        upload(alice, *(f"{count}-{n}.pdf" for n in range(4)))


def test_what_is_given_replaces_the_whole_value(alice: Person) -> None:
    label = tag(alice, "a")
    (document,) = upload(alice, "a.pdf", tag_ids=[label.id.hex], metadata={"old": "1"})

    services.update_document(
        actor=alice.actor, document_id=document.id, name="b.pdf", metadata={"new": "2"}, tag_ids=[]
    )

    document.refresh_from_db()
    assert (document.name, document.metadata, list(document.tags.all())) == ("b.pdf", {"new": "2"}, [])
    with pytest.raises(Invalid, match="name"):
        services.update_document(actor=alice.actor, document_id=document.id, name="  ")


def test_a_deleted_document_is_gone_until_it_is_restored(alice: Person) -> None:
    (document,) = upload(alice, "a.pdf")
    services.delete_document(actor=alice.actor, document_id=document.id)

    with pytest.raises(DocumentNotFound):
        selectors.get_document(actor=alice.actor, document_id=document.id)
    assert selectors.list_documents(actor=alice.actor).total_count == 0
    assert Run.objects.get(document=document).cancel_requested

    services.restore_document(actor=alice.actor, document_id=document.id)
    assert selectors.get_document(actor=alice.actor, document_id=document.id) == document


@pytest.mark.django_db(transaction=True)
def test_a_tag_that_is_being_attached_cannot_be_deleted(alice: Person) -> None:
    label = tag(alice, "Invoices")
    (document,) = upload(alice, "a.pdf")
    told: list[str] = []

    def delete() -> None:
        try:
            delete_tag(actor=alice.actor, tag_id=label.pk)
        except DomainError as problem:
            told.append(problem.error_code)
        finally:
            connection.close()

    thread = threading.Thread(target=delete)
    with transaction.atomic():
        services.update_document(actor=alice.actor, document_id=document.id, tag_ids=[label.id])
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        assert told == []
    thread.join()
    assert told == ["tag_in_use"]


def test_an_upload_with_a_tag_that_went_away_keeps_nothing(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    label = tag(alice, "Invoices")
    before = services._save

    def save_late(*arguments: Any) -> Any:
        delete_tag(actor=alice.actor, tag_id=label.pk)
        return before(*arguments)

    monkeypatch.setattr(services, "_save", save_late)
    discarded: list[str] = []
    monkeypatch.setattr(services.files, "discard", discarded.append)
    with pytest.raises(UnknownTags):
        upload(alice, "a.pdf", tag_ids=[label.id])
    assert Document.objects.count() == 0
    assert len(discarded) == 1


def test_one_parse_at_a_time_and_a_queued_one_is_cancelled_at_once(alice: Person) -> None:
    (document,) = upload(alice, "a.pdf")
    with pytest.raises(RunActive):
        services.reparse(actor=alice.actor, document_id=document.id)

    run = services.cancel_run(actor=alice.actor, run_id=Run.objects.get(document=document).id)

    document.refresh_from_db()
    assert (run.phase, document.state, document.phase) == ("cancelled", "ocr_failed", "cancelled")
    with pytest.raises(RunEnded):
        services.cancel_run(actor=alice.actor, run_id=run.id)
    assert services.reparse(actor=alice.actor, document_id=document.id).phase == "queued"


def test_text_and_pictures_that_are_not_there_yet_say_so(alice: Person) -> None:
    (document,) = upload(alice, "a.pdf")
    (word_file,) = services.upload_documents(actor=alice.actor, files=[UploadedFile(name="a.txt", data=b"hello")])

    with pytest.raises(TextNotReady):
        selectors.document_content(actor=alice.actor, document_id=document.id)
    with pytest.raises(TextNotReady):
        selectors.page_image(actor=alice.actor, document_id=word_file.document.id, number=1)
    with pytest.raises(PageNotFound):
        selectors.page_image(actor=alice.actor, document_id=document.id, number=2)


def test_pictures_are_drawn_once_and_swept_when_they_take_too_much_room(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    (document,) = upload(alice, "a.pdf")
    first = selectors.page_image(actor=alice.actor, document_id=document.id, number=1, width=300)
    monkeypatch.setattr("documents.ingest.sandbox.render_page", lambda *_: pytest.fail("drawn again"))
    again = selectors.page_image(actor=alice.actor, document_id=document.id, number=1, width=320)

    assert first.data[8:12] == b"WEBP"
    assert (again.data, again.etag) == (first.data, first.etag)
    assert sweep_cache(0) >= len(first.data)


@pytest.mark.django_db(transaction=True)
def test_events_of_many_writers_have_no_gaps_and_follow_the_order_of_commits(alice: Person) -> None:
    (document,) = upload(alice, "a.pdf")
    before = selectors.list_events(actor=alice.actor, document_id=document.id).head_seq

    def write(number: int) -> None:
        try:
            for step in range(10):
                try:
                    with transaction.atomic():
                        append_event(
                            document_id=document.id, type="run.started", data={"kind": str(number), "attempt": step}
                        )
                        if step % 3 == 0:
                            raise InterruptedError
                except InterruptedError:
                    continue
        finally:
            connection.close()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    events = selectors.list_events(actor=alice.actor, document_id=document.id, after=before)
    assert [event["seq"] for event in events.events] == list(range(before + 1, before + 37))
    assert (events.next_after, events.head_seq) == (before + 36, before + 36)
    for number in range(6):
        steps = [event["data"]["attempt"] for event in events.events if event["data"]["kind"] == str(number)]
        assert steps == [1, 2, 4, 5, 7, 8]
    page = selectors.list_events(actor=alice.actor, document_id=document.id, after=before, limit=10)
    assert (page.next_after, page.head_seq) == (before + 10, before + 36)
