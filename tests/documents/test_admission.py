"""Whose run is next: in turn between organizations, never more than there is room for, nothing forgotten."""

import sys
import threading
import time
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from kombu.exceptions import OperationalError

from docrouter.celery import app
from documents import admission, processing
from documents.models import Document, DocumentVersion, Run
from documents.services import UploadedFile, cancel_run, upload_documents
from organizations.models import Organization
from tests.conftest import Person
from tests.data import make
from tests.documents.conftest import StartWorker


class Sent(list[str]):
    """The messages that would go to workers; `broken` as if no broker answered."""

    broken = False

    def send_task(self, name: str, args: list[str]) -> None:
        if self.broken:
            raise OperationalError
        self.append(args[0])

    def __call__(self) -> Counter[str]:
        runs = Run.objects.filter(pk__in=self).select_related("organization")
        return Counter(run.organization.name.split("'")[0] for run in runs)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Sent:
    messages = Sent()
    monkeypatch.setattr(app, "send_task", messages.send_task)
    settings.RUN_SLOTS = {"ingest": 2, "llm": 2}
    settings.RUNS_OF_AN_ORGANIZATION = {"ingest": 2, "llm": 2}
    return messages


def waiting_runs(organization: Organization, count: int, **more: Any) -> list[Run]:
    """Runs of as many documents, one older than the next, that nobody has admitted yet."""
    documents = Document.objects.bulk_create(
        Document(organization=organization, name="d", uploaded_by_name="x") for _ in range(count)
    )
    versions = DocumentVersion.objects.bulk_create(
        DocumentVersion(
            organization=organization, document=document, number=1, file_name="d", file_key="k", sha256="0" * 64,
            size_bytes=1, mime_type="application/pdf",
        )
        for document in documents
    )  # fmt: skip
    fields = {"kind": "parse", "pool": "ingest", **more}
    return Run.objects.bulk_create(
        Run(organization=organization, document=version.document, version=version, **fields) for version in versions
    )


def end(*ids: Any) -> None:
    Run.objects.filter(pk__in=ids).update(phase="complete")


@pytest.mark.django_db
def test_one_organization_alone_fills_every_slot_and_the_next_gets_in_at_once(
    alice: Person, charlie: Person, sent: Sent
) -> None:
    runs = waiting_runs(alice.organization, 30)
    assert (admission.admit("ingest"), admission.admit("ingest")) == (2, 0)
    assert sent == [run.pk.hex for run in runs[:2]]
    waiting_runs(charlie.organization, 5)

    assert admission.admit("ingest") == 2

    assert sent() == {"Alice": 2, "Charlie": 2}


@pytest.mark.django_db
def test_turns_go_round_until_all_is_done_and_the_small_one_does_not_wait_for_the_large_one(
    alice: Person, charlie: Person, sent: Sent
) -> None:
    waiting_runs(alice.organization, 40)
    small = {run.pk.hex for run in waiting_runs(charlie.organization, 10)}
    order: list[str] = []
    while admission.admit("ingest") or len(order) < len(sent):
        order.append(sent[len(order)])
        end(order[-1])

    assert sorted(order) == sorted(run.pk.hex for run in Run.objects.all())
    last_of_small = max(order.index(run_id) for run_id in small)
    assert last_of_small < 24, "ten of the large one, ten of the small one, and what was in flight"


@pytest.mark.django_db
def test_with_more_organizations_than_room_each_is_served_once_before_anyone_is_served_twice(
    alice: Person, sent: Sent
) -> None:
    organizations = [alice.organization, *(Organization.objects.create(name=f"{number}'s") for number in range(6))]
    for organization in organizations:
        waiting_runs(organization, 3)
    seen: list[Any] = []
    while len(seen) < len(organizations):
        admission.admit("ingest")
        run_id = sent[len(seen)]
        seen.append(Run.objects.get(pk=run_id).organization_id)
        end(run_id)

    assert len(set(seen)) == len(organizations)


@pytest.mark.django_db
def test_pools_do_not_take_each_other_s_places(alice: Person, sent: Sent) -> None:
    waiting_runs(alice.organization, 5)
    waiting_runs(alice.organization, 5, kind="propose", pool="llm")
    waiting_runs(alice.organization, 5, kind="extract", pool="", phase="extracting")
    assert admission.admit_all() == 4
    assert Counter(Run.objects.filter(pk__in=sent).values_list("pool", flat=True)) == {"ingest": 2, "llm": 2}


@pytest.mark.django_db
def test_a_full_pool_costs_one_count_and_a_long_queue_no_more_than_a_short_one(alice: Person, sent: Sent) -> None:
    waiting_runs(alice.organization, 300)
    with CaptureQueriesContext(connection) as long:
        admission.admit("ingest")
    waiting_runs(Organization.objects.create(name="Other"), 2)
    admission.admit("ingest")
    with CaptureQueriesContext(connection) as full:
        admission.admit("ingest")
    assert len(full) == 1
    assert len(long) <= 8


@pytest.mark.django_db
def test_without_a_broker_a_run_waits_for_the_clock(alice: Person, sent: Sent) -> None:
    waiting_runs(alice.organization, 1)
    sent.broken = True
    admission.admit("ingest")
    assert Run.objects.get().admitted_at is None
    sent.broken = False
    assert admission.admit_all() == 1


@pytest.mark.django_db
def test_a_run_whose_message_was_lost_is_admitted_again_and_one_that_is_worked_on_is_not(
    alice: Person, sent: Sent
) -> None:
    lost, held = waiting_runs(alice.organization, 2)
    admission.admit("ingest")
    assert processing.claim_run(held.pk)
    long_ago = timezone.now() - timedelta(minutes=2)
    Run.objects.update(admitted_at=long_ago)

    assert (admission.take_back_unclaimed(), admission.admit("ingest")) == (1, 1)

    assert sent[-1] == lost.pk.hex
    assert Run.objects.get(pk=held.pk).admitted_at == long_ago


@pytest.mark.django_db(transaction=True)
def test_an_upload_is_admitted_when_it_commits_and_its_end_makes_room(alice: Person, sent: Sent) -> None:
    with transaction.atomic():
        files = [UploadedFile(name=f"{number}.pdf", data=make.pdf()) for number in range(3)]
        documents = [result.document for result in upload_documents(actor=alice.actor, files=files)]
        assert sent == []
    runs = [Run.objects.get(document=document) for document in documents]
    assert sent == [run.pk.hex for run in runs[:2]]

    cancel_run(actor=alice.actor, run_id=runs[0].pk)

    assert sent[2:] == [runs[2].pk.hex]


@pytest.mark.django_db(transaction=True)
def test_many_who_pick_at_once_admit_each_run_once_and_never_too_many(
    alice: Person, charlie: Person, sent: Sent
) -> None:
    waiting_runs(alice.organization, 20)
    waiting_runs(charlie.organization, 20)
    barrier = threading.Barrier(6)

    def pick() -> None:
        barrier.wait()
        for _ in range(5):
            admission.admit("ingest")
        connection.close()

    for _ in range(3):
        threads = [threading.Thread(target=pick) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        flying = Run.objects.filter(admitted_at__isnull=False).exclude(phase="complete")
        assert (len(sent), len(set(sent)), flying.count()) == (len(set(sent)), len(sent), 4)
        end(*flying.values_list("pk", flat=True))
    assert sent() == {"Alice": 6, "Charlie": 6}


@pytest.mark.django_db
def test_figures_tell_what_waits_how_long_and_what_is_in_flight(alice: Person, sent: Sent) -> None:
    waiting_runs(alice.organization, 5)
    Run.objects.update(created_at=timezone.now() - timedelta(seconds=90))
    admission.admit("ingest")
    with CaptureQueriesContext(connection) as queries:
        ingest, llm = admission.figures()
    assert len(queries) == 1
    assert (ingest.pool, ingest.waiting, ingest.in_flight, llm.waiting, llm.in_flight) == ("ingest", 3, 2, 0, 0)
    assert 90 <= ingest.oldest_seconds < 100


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_of_two_hundred_uploads_at_once_the_small_organization_s_end_before_the_large_one_s_fiftieth(
    alice: Person, charlie: Person, start_worker: StartWorker, settings: Any
) -> None:
    settings.RUN_SLOTS = settings.RUNS_OF_AN_ORGANIZATION = {"ingest": 2, "llm": 8}
    files = [UploadedFile(name=f"{number}.pdf", data=make.numbered_pdf(1, salt=str(number))) for number in range(100)]
    for person, some in ((alice, files), (alice, files[:90]), (charlie, files[:10])):
        upload_documents(actor=person.actor, files=some)
    for _ in range(2):
        start_worker("ingest", INGEST_SLOTS="2")
    deadline = time.monotonic() + 600
    while left := Run.objects.exclude(phase__in=Run.ENDED).count():
        assert time.monotonic() < deadline, f"{left} have not ended"
        time.sleep(0.5)

    ended = Run.objects.order_by("completed_at").values_list("organization_id", "phase")
    assert Counter(phase for _, phase in ended) == {"complete": 200}
    order = [organization_id for organization_id, _ in ended]
    last_of_small = max(place for place, owner in enumerate(order) if owner == charlie.organization.pk)
    fiftieth = [place for place, owner in enumerate(order) if owner == alice.organization.pk][49]
    sys.stdout.write(f"the small one's last is number {last_of_small + 1}, the large one's fiftieth {fiftieth + 1}\n")
    assert last_of_small < fiftieth
