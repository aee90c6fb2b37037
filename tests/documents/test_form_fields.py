"""What is filled into the fields of a PDF form is read, whoever filled it in, and said to come from there."""

from pathlib import Path

import pytest

from documents.grounding import ground
from documents.ingest.wire import fields_as_page, page_as_fields
from llm.content import PageContent
from tests.documents.test_textlayer import read

EMPTY_LOOKS = "/AP << /N << /Yes 8 0 R /Off 8 0 R >> >>"
EMPTY_DRAWING = "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 0 >>\nstream\n\nendstream"


def form(*fields: str, pages: int = 1, catalog: str = "", kid_of: str = "") -> bytes:
    """A form as other programs write it: fields without a drawing of what is in them, on every page.

    `kid_of`: the fields share one entry, which has the name and the value.
    """
    first = 20
    numbers = range(first, first + len(fields))
    shared = f"<< {kid_of} /Kids [{' '.join(f'{number} 0 R' for number in numbers)}] >>"
    roots = "7 0 R" if kid_of else " ".join(f"{number} 0 R" for number in numbers)
    per_page = [numbers] if pages == 1 else [[number] for number in numbers]
    text = "BT /F 10 Tf 40 760 Td (Application) Tj ET"
    objects = {
        1: f"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [{roots}] /DA (/F 10 Tf) /DR 3 0 R {catalog} >> >>",
        2: f"<< /Type /Pages /Count {pages} /Kids [{' '.join(f'{10 + page} 0 R' for page in range(pages))}] >>",
        3: "<< /Font << /F 4 0 R >> >>",
        4: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        5: f"<< /Length {len(text)} >>\nstream\n{text}\nendstream",
        7: shared,
        8: EMPTY_DRAWING,
    }
    for page, held in enumerate(per_page):
        listed = " ".join(f"{number} 0 R" for number in held)
        objects[10 + page] = (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources 3 0 R /Contents 5 0 R "
            f"/Annots [{listed}] >>"
        )
    for number, field in zip(numbers, fields, strict=True):
        parent = "/Parent 7 0 R" if kid_of else ""
        objects[number] = f"<< /Type /Annot /Subtype /Widget /F 4 {parent} {field} >>"
    body = "\n".join(f"{number} 0 obj\n{content}\nendobj" for number, content in objects.items())
    return f"%PDF-1.7\n{body}\ntrailer << /Root 1 0 R >>\n%%EOF".encode("latin-1")


def filled(page: PageContent) -> list[str]:
    return [word.text for word in page.words if word.origin == "form"]


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("/Rect [100 700 300 720] /FT /Tx /T (a) /V (Jane Doe)", ["Jane", "Doe"]),
        (r"/Rect [100 600 300 720] /FT /Tx /Ff 4096 /T (a) /V (1 High St\rLeeds)", ["1", "High", "St", "Leeds"]),
        ("/Rect [100 700 300 720] /FT /Tx /T (a) /V <FEFF004D00FC006C006C00650072>", ["Müller"]),
        ("/Rect [100 700 300 720] /FT /Tx /Ff 16777216 /MaxLen 9 /T (a) /V (123456789)", ["123456789"]),
        ("/Rect [100 700 300 720] /FT /Tx /T (a) /V (Kept) /AP << /N 8 0 R >>", ["Kept"]),
        ("/Rect [100 700 300 720] /FT /Tx /Ff 8192 /T (a) /V (secret)", ["******"]),
        ("/Rect [100 700 300 720] /FT /Ch /Ff 131072 /T (a) /Opt [[(DE) (Germany)]] /V (DE)", ["Germany"]),
        ("/Rect [100 700 110 710] /FT /Btn /T (a) /V /Yes /AS /Yes " + EMPTY_LOOKS, ["☒"]),
        ("/Rect [100 700 110 710] /FT /Btn /T (a) /V /Yes /AS /Off " + EMPTY_LOOKS, ["☐"]),
        ("/Rect [100 700 110 710] /FT /Btn /T (a) /V /Yes " + EMPTY_LOOKS, ["☒"]),
        ("/Rect [100 700 110 710] /FT /Btn /T (a) /V /Off " + EMPTY_LOOKS, ["☐"]),
        ("/Rect [100 700 110 710] /FT /Btn /T (a) " + EMPTY_LOOKS, ["☐"]),
    ],
)
def test_a_field_says_what_is_in_it_with_or_without_a_drawing_of_it(
    tmp_path: Path, field: str, words: list[str]
) -> None:
    assert filled(read(tmp_path, form(field))) == words


@pytest.mark.parametrize(
    ("chosen", "text"),
    [
        ("/V (Green) /I [1]", "☐ Red ☒ Green ☐ Blue"),
        ("/Ff 2097152 /V [(Red) (Blue)] /I [0 2]", "☒ Red ☐ Green ☒ Blue"),
        ("", "☐ Red ☐ Green ☐ Blue"),
    ],
)
def test_a_list_says_which_of_its_options_are_chosen(tmp_path: Path, chosen: str, text: str) -> None:
    page = read(tmp_path, form(f"/Rect [100 640 300 720] /FT /Ch /T (a) /Opt [(Red) (Green) (Blue)] {chosen}"))
    assert " ".join(filled(page)) == text


def test_of_radio_buttons_one_is_checked(tmp_path: Path) -> None:
    buttons = [
        f"/Rect [100 {700 - 20 * place} 110 {710 - 20 * place}] /AS /{state} {EMPTY_LOOKS.replace('Yes', name)}"
        for place, (name, state) in enumerate([("a", "Off"), ("b", "b"), ("c", "Off")])
    ]
    page = read(tmp_path, form(*buttons, kid_of="/FT /Btn /Ff 49152 /T (kind) /V /b"))
    assert filled(page) == ["☐", "☒", "☐"]


def test_one_field_on_two_pages_is_read_on_both(tmp_path: Path) -> None:
    shared = form(*["/Rect [100 700 300 720]"] * 2, pages=2, kid_of="/FT /Tx /T (name) /V (Jane Doe)")
    assert [filled(read(tmp_path, shared, number)) for number in (1, 2)] == [["Jane", "Doe"]] * 2


def test_what_is_left_of_an_xfa_form_does_not_hide_its_fields(tmp_path: Path) -> None:
    catalog = "/XFA 5 0 R /NeedAppearances true"
    page = read(tmp_path, form("/Rect [100 700 300 720] /FT /Tx /T (a) /V (Jane)", catalog=catalog))
    assert filled(page) == ["Jane"]


def test_a_value_from_a_field_says_so_and_a_printed_one_does_not(tmp_path: Path) -> None:
    page = read(tmp_path, form("/Rect [100 700 300 720] /FT /Tx /T (a) /V (Jane Doe)"))
    found = ground(data={"name": "Jane Doe", "title": "Application"}, pages=[page])
    assert found["name"].as_json()["source"] == "form"
    assert "source" not in found["title"].as_json()


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("/T (form1[0].#subform[0].EmployerName[0]) /V (x)", "Employer Name"),
        ("/T (a.b) /TU (Date of birth, as in your passport) /V (x)", "Date of birth, as in your passport"),
        ("/T (zip_code2) /V (x)", "zip code 2"),
        ("/T (topmostSubform[0].Page1[0].f1_01[0]) /V (x)", ""),
        ("/T (Text Field 12) /TU (undefined) /V (x)", ""),
    ],
)
def test_a_field_is_known_by_the_name_that_its_file_gives_it(tmp_path: Path, field: str, name: str) -> None:
    page = read(tmp_path, form(f"/Rect [100 700 300 720] /FT /Tx {field}"))
    assert [field[4] for field in page.fields] == [name] * bool(name)
    assert fields_as_page(page_as_fields(page)) == page
    for x0, y0, x1, y1, _ in page.fields:
        word = next(word for word in page.words if word.origin == "form")
        assert x0 <= word.x0 <= word.x1 <= x1
        assert y0 <= (word.y0 + word.y1) / 2 <= y1
