"""What is blacked out is in nothing that leaves through a link: no page, no picture, no word, no JSON, no question."""

import re
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from django.test import Client
from PIL import Image

from documents.ingest.rapid import RapidEngine
from documents.ingest.wire import words_as_columns
from documents.models import Document, Page, ShareLink
from documents.page_index import fold_text
from documents.results import update_field
from documents.sharing import services
from documents.sharing.masking import HIDDEN
from documents.withdrawal import delete_results
from tests.conftest import Person
from tests.documents.making import words_of
from tests.documents.sharing import link_to, result_of, shared_document

IBAN = "DE89 3704 0044 0532 0130 00"


@dataclass(frozen=True)
class Case:
    """A document, its result, what is hidden of it; the spellings that must be nowhere, and what must stay."""

    pages: tuple[tuple[str, ...], ...]
    data: dict[str, Any]
    redact: tuple[str, ...]
    gone: tuple[str, ...]
    stays: tuple[str, ...]
    name: str = "paper.pdf"
    kept_fields: dict[str, Any] = field(default_factory=dict)


CASES = {
    "an invoice": Case(
        (
            ("Contoso Ltd", f"IBAN: {IBAN}", "Date: 8/20/2020", "Total: $4,950.00", "Number 2468-A"),
            ("carried over 4950.00 EUR", "paid on 20 August 2020", f"by {IBAN.replace(' ', '')}", "2020-08-20 page 2"),
        ),
        {"seller": "Contoso Ltd", "iban": IBAN, "date": "2020-08-20", "total": 4950, "note": f"Pay to {IBAN}",
         "number": "2468-A"},
        ("iban", "date", "total"),
        (IBAN, "DE89", "8/20/2020", "2020-08-20", "August 2020", "4,950.00", "4950", "0532"),
        ("Contoso", "2468-A"),
        name=f"Invoice {IBAN} of 20.08.2020.pdf",
    ),
    "a letter": Case(
        (
            ("Dear Ms Annegret Donaudampf-", "schifffahrt,", "we write to ANNEGRET DONAUDAMPFSCHIFFFAHRT", "",
             "Salary             Contact: Annegret", "of 51 200.50       Donaudampfschifffahrt", "Regards, Ben"),
        ),
        {"person": {"name": "Annegret Donaudampfschifffahrt"}, "salary": 51200.5, "from": "Ben"},
        ("person", "salary"),
        ("Annegret Donaudampf", "schifffahrt", "51 200", "51200"),
        ("Regards", "Ben"),
        name="annegret-donaudampfschifffahrt.pdf",
    ),
    "a table": Case(
        (
            ("Item      Price     Code", "Ax        120.00    ZK-7781-9", "Saw       75.50     ZK-7782-0",
             "See code ZK 7782 0 on page 2"),
            ("ZK77819 is sold out", "zk/7782/0 is new"),
        ),
        {"lines": [{"item": "Ax", "price": 120, "code": "ZK-7781-9"}, {"item": "Saw", "price": 75.5,
                                                                       "code": "ZK-7782-0"}]},
        ("lines.*.code",),
        ("ZK-7781-9", "ZK77819", "7782"),
        ("Ax", "Saw", "120", "sold"),
    ),
}  # fmt: skip


def made(person: Person, case: Case, **options: Any) -> tuple[Document, services.MadeLink]:
    document = shared_document(person, *case.pages, name=case.name)
    result_of(person, document, case.data)
    return document, link_to(person, document, redact_paths=list(case.redact), **options)


def everything(link: services.MadeLink) -> dict[str, bytes]:
    """Every answer that the link gives, headers included, by its address."""
    client, start = Client(), f"/s/{link.link.pk.hex}"
    places = [start, *(f"{start}/pages/{number}/{kind}" for number in (1, 2, 3) for kind in ("words", "image"))]
    asked = {"enter": client.get(f"{start}/{link.token}"), "post": client.post(f"{start}/{link.token}")}
    asked |= {place: client.get(place) for place in places}
    opened = Client().get(f"/v1/shares/{link.link.pk.hex}", headers={"X-Share-Token": link.token})
    asked["json"] = opened
    for page in opened.json()["pages"]:
        for name in ("imageUrl", "wordsUrl"):
            asked[f"{name} {page['number']}"] = client.get(page[name].removeprefix("http://testserver"))
    for place in (f"/documents/{link.link.document_id.hex}/file", f"/v1/documents/{link.link.document_id.hex}"):
        asked[place] = client.get(place)
        assert asked[place].status_code in (302, 401)
    return {place: str(answer.headers).encode() + answer.content for place, answer in asked.items()}


def without_ids(text: str) -> str:
    """Ids and tickets are random, and may say anything."""
    return re.sub(r"[0-9a-f]{32}|ticket=[\w:-]+|\"ticket\": ?\"[^\"]*\"|share_ticket=\S+", "", text)


@pytest.mark.parametrize("kind", CASES)
def test_a_hidden_value_is_in_no_answer_in_any_spelling(alice: Person, kind: str) -> None:
    case = CASES[kind]
    _, link = made(alice, case)
    assert not link.link.fields_only, link.link.fields_only_reason
    answers = everything(link)
    read = "\n".join(data.decode(errors="replace") for place, data in answers.items() if "mage" not in place)
    for text in case.stays:
        assert text in read
    shown = without_ids(read)
    for spelling in case.gone:
        assert spelling.casefold() not in shown.casefold(), spelling
        assert fold_text(spelling) not in fold_text(shown), spelling
        for place, data in answers.items():
            assert spelling.encode() not in data, (place, spelling)


@pytest.mark.parametrize("kind", CASES)
def test_pictures_are_black_where_a_hidden_value_stands(alice: Person, kind: str) -> None:
    case = CASES[kind]
    document, link = made(alice, case)
    plain = link_to(alice, document)
    browsers = [(Client(), f"/s/{one.link.pk.hex}") for one in (link, plain)]
    for (client, start), one in zip(browsers, (link, plain), strict=True):
        client.post(f"{start}/{one.token}")
    hidden_some = False
    for page in Page.objects.filter(version=document.current_version):
        rest = f"/pages/{page.number}"
        black, white = (drawn(client.get(f"{start}{rest}/image?w=1600").content) for client, start in browsers)
        words = browsers[0][0].get(f"{browsers[0][1]}{rest}/words").json()
        for at, text in enumerate(words["text"]):
            box = tuple(words[side][at] for side in ("x0", "y0", "x1", "y1"))
            assert inside(white, box).max() > 200, "the page is white behind its words"
            if text == HIDDEN:
                hidden_some = True
                assert inside(black, box).max() < 40, "not a letter of it is left"
                assert page.words["text"][at] != HIDDEN
    assert hidden_some


def drawn(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(data)).convert("L"))


def inside(picture: np.ndarray, box: tuple[float, ...]) -> np.ndarray:
    """The pixels of a box. Units: fractions of the page."""
    high, wide = picture.shape
    x0, y0, x1, y1 = box
    return picture[int(y0 * high) : int(y1 * high) + 1, int(x0 * wide) : int(x1 * wide) + 1]


@pytest.mark.parametrize("kind", CASES)
def test_a_model_is_not_shown_what_is_hidden(alice: Person, kind: str) -> None:
    case = CASES[kind]
    _, link = made(alice, case, role="ask")
    view = services.open_for_asking(share_id=link.link.pk.hex, token=link.token)
    seen = f"{view.name} {view.content.name} {view.content.text}" + " ".join(
        word.text for page in view.content.pages for word in page.words
    )
    for spelling in case.gone:
        assert fold_text(spelling) not in fold_text(seen), spelling
    assert all(text in seen or text in str(case.data) for text in case.stays)


def test_fields_are_hidden_by_path_and_by_value(alice: Person) -> None:
    _, link = made(alice, CASES["an invoice"])
    body = Client().get(f"/v1/shares/{link.link.pk.hex}", headers={"X-Share-Token": link.token}).json()
    data, places = body["extraction"]["data"], body["extraction"]["grounding"]
    assert (data["iban"], data["date"], data["total"], data["seller"]) == (HIDDEN, HIDDEN, HIDDEN, "Contoso Ltd")
    assert data["note"].startswith("Pay to")
    assert "DE89" not in data["note"]
    assert places["iban"] == {"state": "redacted", "page": None, "boxes": [], "quote": ""}
    assert places["seller"]["state"] == "found"
    assert places["note"]["state"] == "redacted"
    assert body["name"] == "document.pdf"


@pytest.mark.parametrize(
    ("data", "path", "why"),
    [
        ({"iban": "DE00 1111 nowhere"}, "iban", "not found"),
        ({"count": 3}, "count", "several places"),
        ({"paid": True}, "paid", "cannot be blacked out"),
        ({"paid": False}, "paid", "cannot be blacked out"),
    ],
)
def test_what_cannot_be_located_is_shared_as_fields_only(
    alice: Person, data: dict[str, Any], path: str, why: str
) -> None:
    document = shared_document(alice, ("3 of 3", "☒ paid ☐ open", "Secret 77123"))
    result_of(alice, document, data)
    link = link_to(alice, document, redact_paths=[path])
    assert link.link.fields_only
    assert why in link.link.fields_only_reason
    answers = everything(link)
    assert b"The pages of this document are not shared" in answers[f"/s/{link.link.pk.hex}"]
    assert not any(b"77123" in data for data in answers.values())
    assert "nowhere" not in str(answers)


def test_what_is_not_in_the_document_needs_no_hiding(alice: Person) -> None:
    document = shared_document(alice, ("Total 12.00",))
    result_of(alice, document, {"iban": "", "total": 12})
    assert not link_to(alice, document, redact_paths=["iban"]).link.fields_only


def test_an_edited_value_is_hidden_and_so_is_what_stood_there_before(alice: Person) -> None:
    document = shared_document(alice, ("Name: Ann Smithfield", "Name: Bob Smithson"))
    result = result_of(alice, document, {"name": "Ann Smithfield"})
    link = link_to(alice, document, redact_paths=["name"])
    before = everything(link)
    assert any(b"Smithson" in data for data in before.values())
    update_field(
        actor=alice.actor, document_id=document.pk, path="name", value="Bob Smithson", extraction_id=result.pk
    )  # fmt: skip
    after = everything(link)
    assert not any(name in data for data in after.values() for name in (b"Smithson", b"Smithfield"))


def test_a_newer_result_of_the_same_prompt_hides_more(alice: Person) -> None:
    document = shared_document(alice, ("Name: Ann Smithfield", "Name: Bob Smithson"))
    result = result_of(alice, document, {"name": "Ann Smithfield"})
    link = link_to(alice, document, redact_paths=["name"])
    result_of(alice, document, {"name": "Bob Smithson"}, prompt=result.prompt_revision)
    assert not any(b"Smithson" in data for data in everything(link).values())


def test_pages_that_were_read_again_are_looked_through_again(alice: Person) -> None:
    document, link = made(alice, CASES["an invoice"])
    page = Page.objects.get(version=document.current_version, number=1)
    page.words = words_as_columns(words_of("A copy of", *CASES["an invoice"].pages[0]))
    page.save()
    client = Client()
    client.post(f"/s/{link.link.pk.hex}/{link.token}")
    shown = client.get(f"/s/{link.link.pk.hex}/pages/1/words")
    assert shown.status_code == 200
    assert shown.json()["text"][:3] == ["A", "copy", "of"]
    assert "DE89" not in str(shown.json())
    assert "3704" not in str(shown.json())


def test_without_the_result_nobody_knows_what_to_hide(alice: Person) -> None:
    document = shared_document(alice, ("Name: Ann Smithfield",))
    result = result_of(alice, document, {"name": "Ann Smithfield"})
    hidden, plain = link_to(alice, document, redact_paths=["name"]), link_to(alice, document)
    assert result.prompt_revision is not None
    delete_results(actor=alice.actor, document_id=document.pk, prompt_revid=result.prompt_revision.pk.hex)
    assert not any(b"Smithfield" in data for data in gone_answers(hidden))
    assert b"Smithfield" in everything(plain)[f"/s/{plain.link.pk.hex}/pages/1/words"]
    assert ShareLink.objects.count() == 2


def gone_answers(link: services.MadeLink) -> list[bytes]:
    client, start = Client(), f"/s/{link.link.pk.hex}"
    client.post(f"{start}/{link.token}")
    answers = [client.get(place) for place in (start, f"{start}/pages/1/words", f"{start}/pages/1/image")]
    assert {answer.status_code for answer in answers} == {410}
    return [answer.content for answer in answers]


@pytest.mark.slow
@pytest.mark.parametrize("kind", CASES)
def test_ocr_reads_nothing_of_what_is_hidden(alice: Person, kind: str) -> None:
    case, engine = CASES[kind], RapidEngine()
    document, link = made(alice, case)
    client = Client()
    client.post(f"/s/{link.link.pk.hex}/{link.token}")
    read = ""
    for number in Page.objects.filter(version=document.current_version).values_list("number", flat=True):
        picture = client.get(f"/s/{link.link.pk.hex}/pages/{number}/image?w=1600").content
        pixels = np.asarray(Image.open(BytesIO(picture)).convert("RGB"))
        read += " ".join(word.text for line in engine.read(pixels) for word in line)
    assert any(text.casefold() in read.casefold() for text in case.stays), "what is not hidden is read"
    for spelling in case.gone:
        assert fold_text(spelling) not in fold_text(read), spelling
