"""Every type of event is listed with what it carries, and nothing else gets into a log."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from agent.services import cancel_turn, start_turn
from documents.event_types import EVENT_TYPES, checked_data
from documents.events import append_event
from documents.models import Event
from documents.services import delete_document, restore_document, update_document
from tests.conftest import Person
from tests.documents.making import make_document

ROOT = Path(__file__).resolve().parents[2]
APPENDS = {"append_event": "type", "_tell": 1, "_append": 2, "log_turn": 1, "log_turn_of": 0, "tell": 1}
PREFIXES = {"log_turn": "turn.", "log_turn_of": "turn.", "tell": "document.auto_create."}


def written_types() -> Iterator[tuple[str, str]]:
    """Every type that stands in a call which appends, and where."""
    for path in [*ROOT.glob("documents/**/*.py"), *ROOT.glob("agent/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in APPENDS:
                yield from ((type_, f"{path.name}:{node.lineno}") for type_ in types_of(node, node.func.id))


def types_of(call: ast.Call, name: str) -> Iterator[str]:
    place = APPENDS[name]
    given: list[Any] = [keyword.value for keyword in call.keywords if keyword.arg == place]
    if isinstance(place, int):
        given = call.args[place : place + 1]
    for value in given:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield PREFIXES.get(name, "") + value.value


def test_every_type_that_the_code_appends_is_listed() -> None:
    written = list(written_types())
    assert len({type_ for type_, _ in written}) >= 25, "the search itself finds them"
    assert [(type_, where) for type_, where in written if type_ not in EVENT_TYPES] == []


@pytest.mark.parametrize(
    ("type_", "data"),
    [("document.renamed", {}), ("page.parsed", {"page": 1}), ("document.deleted", {"text": "secret"})],
)
def test_what_is_not_listed_is_refused_before_it_is_written(alice: Person, type_: str, data: dict[str, Any]) -> None:
    document = make_document(alice)
    with pytest.raises(ValueError, match=r"no such type|validation error"), transaction.atomic():
        append_event(document_id=document.pk, type=type_, data=data)
    assert not Event.objects.filter(document=document).exists()


def test_names_are_kept_in_camel_case() -> None:
    given = {"extraction_id": "x", "edit_version": 2, "path": "total"}
    assert checked_data("extraction.edited", given) == {"extractionId": "x", "editVersion": 2, "path": "total"}


@pytest.mark.django_db(transaction=True)
def test_a_document_and_its_turns_tell_what_happened_to_them(alice: Person) -> None:
    document = make_document(alice, "Total: 5")
    update_document(actor=alice.actor, document_id=document.pk, name="b.pdf", metadata={"a": "b"})
    turn = start_turn(actor=alice.actor, document_id=document.pk, text="What is this?", launch=False)
    turn.status = "waiting"
    turn.save()
    cancel_turn(actor=alice.actor, document_id=document.pk, turn_id=turn.pk)
    delete_document(actor=alice.actor, document_id=document.pk)
    restore_document(actor=alice.actor, document_id=document.pk)
    told = Event.objects.filter(document=document).order_by("seq")
    assert [event.type for event in told] == [
        "document.updated", "turn.started", "turn.cancelled", "document.deleted", "document.restored",
    ]  # fmt: skip
    assert [event.turn_id for event in told][1:3] == [turn.pk, turn.pk]
    assert all(event.actor and event.actor["name"] == alice.actor.name for event in told)


def test_the_table_of_events_for_programs_has_every_type_with_its_data() -> None:
    told: dict[str, list[str]] = {}
    for line in (ROOT / "docs/v1.md").read_text(encoding="utf-8").splitlines():
        cells = [re.findall(r"`([^`]+)`", cell) for cell in line.split("|")[1:3]]
        if len(cells) == 2 and cells[0] and re.fullmatch(r"[a-z]+\.[a-z_.]+", cells[0][0]):
            first = cells[0][0].rpartition(".")[0]
            told |= {name.replace("…", first): cells[1] for name in cells[0]}
    listed = {type_: [field.alias for field in model.model_fields.values()] for type_, model in EVENT_TYPES.items()}
    assert told == listed
