"""Forms whose values stand in true form fields, not in the page's own text."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reportlab.lib.pagesizes import A4, letter
from reportlab.pdfgen.canvas import Canvas

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Box:
    """A box of a form, in points from the page's upper left corner, and what was filled in."""

    name: str
    caption: str
    x: int
    y: int
    width: int
    value: str | bool


NEC = (
    Box("Corrected", "CORRECTED", 300, 60, 0, False),
    Box("PayerName", "PAYER'S name", 40, 90, 250, "Tallgrass Roofing LLC"),
    Box(
        "PayerAddress",
        "PAYER'S street address, city, state and ZIP code",
        40,
        126,
        250,
        "610 Mill St, Salina, KS 67401",
    ),
    Box("PayerTIN", "PAYER'S TIN", 40, 162, 120, "48-2207714"),
    Box("RecipientTIN", "RECIPIENT'S TIN", 170, 162, 120, "514-60-3387"),
    Box("RecipientName", "RECIPIENT'S name", 40, 198, 250, "Odessa Kirkpatrick"),
    Box("RecipientAddress", "Street address (including apt. no.)", 40, 234, 250, "18 Elm Court Apt 5"),
    Box("RecipientCityStateZip", "City or town, state or province, and ZIP code", 40, 270, 250, "Abilene, KS 67410"),
    Box("AccountNumber", "Account number (see instructions)", 40, 306, 160, "C-20418"),
    Box("2ndTIN", "2nd TIN not.", 230, 306, 0, True),
    Box("CalendarYear", "For calendar year", 310, 90, 100, "2024"),
    Box("NonemployeeCompensation", "1  Nonemployee compensation", 310, 126, 220, "23,840.00"),
    Box("DirectSale5000", "2  Payer made direct sales totaling $5,000 or more", 310, 162, 0, False),
    Box("FederalIncomeTaxWithheld", "4  Federal income tax withheld", 310, 198, 220, "1,907.20"),
    Box("StateTaxWithheld", "5  State tax withheld", 310, 234, 105, "715.20"),
    Box("StateNo", "6  State/Payer's state no.", 425, 234, 105, "KS 036-482207"),
    Box("StateIncome", "7  State income", 310, 270, 105, "23,840.00"),
)
MORTGAGE = (
    Box("Void", "VOID", 40, 60, 0, False),
    Box("Corrected", "CORRECTED (if checked)", 110, 60, 0, True),
    Box(
        "LenderName",
        "RECIPIENT'S/LENDER'S name, street address, city or town, state or province, ZIP code, and telephone no.",
        40,
        90,
        330,
        "Copper Basin Savings, 91 Smelter Way, Miami AZ 85539",
    ),
    Box("CalendarYear", "For calendar year", 400, 90, 90, "2023"),
    Box("LenderTIN", "RECIPIENT'S/LENDER'S TIN", 40, 130, 125, "86-3310427"),
    Box("BorrowerTIN", "PAYER'S/BORROWER'S TIN", 175, 130, 125, "527-81-4406"),
    Box(
        "MortgageInterestReceived", "1 Mortgage interest received from payer(s)/borrower(s)*", 320, 130, 200, "9,318.44"
    ),
    Box("BorrowerName", "PAYER'S/BORROWER'S name", 40, 170, 260, "Marguerite Oyelaran"),
    Box("OutstandingMortgagePrincipal", "2 Outstanding mortgage principal", 320, 170, 120, "187,402.16"),
    Box("MortgageOriginationDate", "3 Mortgage origination date", 450, 170, 120, "06/14/2019"),
    Box("BorrowerStreetAddress", "Street address (including apt. no.)", 40, 210, 260, "3307 Ridgeline Ct"),
    Box("RefundOfOverpaidInterest", "4 Refund of overpaid interest", 320, 210, 120, "0.00"),
    Box("MortgageInsurancePremiums", "5 Mortgage insurance premiums", 450, 210, 120, "612.00"),
    Box(
        "BorrowerCityStateZip",
        "City or town, state or province, country, and ZIP or foreign postal code",
        40,
        250,
        260,
        "Globe, AZ 85501",
    ),
    Box("PointsPaid", "6 Points paid on purchase of principal residence", 320, 250, 200, "1,150.00"),
    Box(
        "PropertyAddressSameAsBorrower",
        "7 If address of property securing mortgage is the same as PAYER'S/BORROWER'S address, check the box",
        40,
        285,
        0,
        True,
    ),
    Box("PropertyCount", "9 Number of properties securing the mortgage", 40, 320, 150, "1"),
    Box("OtherInformation", "10 Other", 210, 320, 100, "RE TAX 2,204.08"),
    Box("AcquisitionDate", "11 Mortgage acquisition date", 330, 320, 110, "02/01/2021"),
    Box("AccountNumber", "Account number (see instructions)", 40, 360, 200, "70-114-88213"),
)
LEAVE = (
    Box("Name", "Name, Vorname", 50, 120, 290, "Zielinski, Katharina"),
    Box("Personalnummer", "Personalnummer", 360, 120, 160, "7 0382"),
    Box("Abteilung", "Abteilung", 50, 165, 290, "Arbeitsvorbereitung"),
    Box("Vorgesetzter", "Vorgesetzte/r", 360, 165, 160, "H. Brömmel"),
    Box("Erholungsurlaub", "Erholungsurlaub", 50, 225, 0, True),
    Box("Sonderurlaub", "Sonderurlaub", 180, 225, 0, False),
    Box("UnbezahlterUrlaub", "Unbezahlter Urlaub", 310, 225, 0, False),
    Box("UrlaubVon", "vom (erster Urlaubstag)", 50, 265, 140, "28.07.2025"),
    Box("UrlaubBis", "bis (letzter Urlaubstag)", 210, 265, 140, "15.08.2025"),
    Box("Arbeitstage", "Anzahl Arbeitstage", 370, 265, 150, "15"),
    Box("Resturlaub", "Resturlaub nach diesem Antrag (Tage)", 50, 310, 180, "9,5"),
    Box("Vertretung", "Vertretung durch", 250, 310, 270, "Jonas Ewerding"),
    Box("Antragsdatum", "Antragsdatum", 50, 355, 140, "12.05.2025"),
    Box("Genehmigt", "genehmigt", 50, 415, 0, True),
    Box("Abgelehnt", "abgelehnt", 180, 415, 0, False),
)
DATES = {"UrlaubVon": "2025-07-28", "UrlaubBis": "2025-08-15", "Antragsdatum": "2025-05-12"}


def make(folder: Path) -> list[Json]:
    """Draw the forms into the folder; their entries for its index."""
    _draw(folder / "form-en-1099nec-acro.pdf", letter, "Form 1099-NEC   Nonemployee Compensation", NEC)
    _draw(folder / "form-en-1098-acro.pdf", letter, "Form 1098   Mortgage Interest Statement", MORTGAGE)
    _draw(folder / "form-de-urlaubsantrag-acro.pdf", A4, "Urlaubsantrag   Bröker Maschinenbau GmbH", LEAVE)
    return [
        _entry("form-en-1099nec-acro", "en", NEC, True),
        _entry("form-en-1098-acro", "en", MORTGAGE, False),
        _entry("form-de-urlaubsantrag-acro", "de", LEAVE, False),
    ]


def _draw(path: Path, size: tuple[float, float], title: str, boxes: tuple[Box, ...]) -> None:
    canvas = Canvas(str(path), pagesize=size, invariant=1)
    canvas.setFont("Helvetica-Bold", 13)
    canvas.drawString(40, size[1] - 45, title)
    for number, box in enumerate(boxes, 1):
        _draw_box(canvas, box, int(size[1]) - box.y, f"f1_{number:02d}")
    canvas.save()


def _draw_box(canvas: Canvas, box: Box, top: int, field: str) -> None:
    """The field's own name says nothing, as in most forms."""
    canvas.setFont("Helvetica", 7)
    if isinstance(box.value, bool):
        canvas.drawString(box.x + 16, top - 8, box.caption)
        canvas.acroForm.checkbox(name=field, x=box.x, y=top - 12, size=12, checked=box.value, buttonStyle="check")
        return
    canvas.drawString(box.x, top, box.caption)
    canvas.acroForm.textfield(
        name=field,
        value=box.value,
        x=box.x,
        y=top - 20,
        width=box.width,
        height=16,
        fontSize=9,
        borderWidth=1,
        maxlen=200,
    )


def _entry(name: str, language: str, boxes: tuple[Box, ...], scored: bool) -> Json:
    return {
        "id": name,
        "file": f"{name}.pdf",
        "type": "form",
        "language": language,
        "layout": "form",
        "pages": 1,
        "text_layer": True,
        "scored": scored,
        "fields": {box.name: DATES.get(box.name, box.value) for box in boxes},
    }
