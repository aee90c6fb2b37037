"""Forms: boxes with captions, check boxes, sections; filled in by hand or by machine."""

import random
from datetime import date
from typing import Any

from bench.papers.paper import Sheet
from bench.papers.truth import Style, iban, party
from bench.papers.vocabulary import SURNAMES

Json = dict[str, Any]
FIRST = ["Anna", "Paul", "Marie", "Jan", "Clara", "Tom", "Lena", "Louis"]
CAPTIONS = {
    "en": {
        "last_name": "Last name", "first_name": "First name", "birth_date": "Date of birth", "street": "Street and number",
        "postcode": "Postcode", "city": "City", "email": "E-mail", "phone": "Telephone", "iban": "Account number (IBAN)",
        "employer": "Employer", "monthly_income": "Monthly income", "married": "Married", "has_children": "Children",
        "self_employed": "Self-employed", "title": "Application for membership",
    },
    "de": {
        "last_name": "Nachname", "first_name": "Vorname", "birth_date": "Geburtsdatum", "street": "Straße, Hausnummer",
        "postcode": "PLZ", "city": "Ort", "email": "E-Mail", "phone": "Telefon", "iban": "IBAN", "employer": "Arbeitgeber",
        "monthly_income": "Monatliches Einkommen", "married": "verheiratet", "has_children": "Kinder",
        "self_employed": "selbständig", "title": "Aufnahmeantrag",
    },
    "fr": {
        "last_name": "Nom", "first_name": "Prénom", "birth_date": "Date de naissance", "street": "Adresse",
        "postcode": "Code postal", "city": "Ville", "email": "Courriel", "phone": "Téléphone", "iban": "IBAN",
        "employer": "Employeur", "monthly_income": "Revenu mensuel", "married": "Marié(e)", "has_children": "Enfants",
        "self_employed": "Travailleur indépendant", "title": "Demande d'adhésion",
    },
    "nl": {
        "last_name": "Achternaam", "first_name": "Voornaam", "birth_date": "Geboortedatum", "street": "Straat en huisnummer",
        "postcode": "Postcode", "city": "Woonplaats", "email": "E-mail", "phone": "Telefoon", "iban": "IBAN",
        "employer": "Werkgever", "monthly_income": "Maandinkomen", "married": "Gehuwd", "has_children": "Kinderen",
        "self_employed": "Zelfstandig", "title": "Aanvraagformulier",
    },
}  # fmt: skip


def form_truth(dice: random.Random, style: Style) -> Json:
    """A person's answers; about a quarter of the boxes stay empty."""
    first, last = dice.choice(FIRST), dice.choice(SURNAMES[style.language])
    home = party(dice, style.language)
    answers: Json = {
        "last_name": last,
        "first_name": first,
        "birth_date": date(dice.randint(1950, 2004), dice.randint(1, 12), dice.randint(1, 28)).isoformat(),
        "street": home["address"]["line1"],
        "postcode": home["address"]["postcode"],
        "city": home["address"]["city"],
        "email": f"{first}.{last}@example.org".lower(),
        "phone": f"0{dice.randint(100, 999)} {dice.randint(100000, 999999)}",
        "iban": iban(dice, style.language),
        "employer": home["name"],
        "monthly_income": round(dice.uniform(1500, 6000), 2),
    }
    for name in ("email", "phone", "employer", "monthly_income"):
        if dice.random() < 0.25:
            answers[name] = 0 if name == "monthly_income" else ""
    for name in ("married", "has_children", "self_employed"):
        answers[name] = dice.random() < 0.5
    return answers


def form(dice: random.Random, truth: Json, style: Style) -> Sheet:
    """Two boxes in a row; the caption above, inside, or to the left of the box."""
    sheet, captions = Sheet(style.font, 10), CAPTIONS[style.language]
    sheet.text(56, 64, captions["title"], bold=True, size=16)
    way, y = dice.choice(["inside", "above", "beside"]), 100.0
    names = [name for name, value in truth.items() if not isinstance(value, bool)]
    for start in range(0, len(names), 2):
        for place, name in enumerate(names[start : start + 2]):
            _answer(sheet, 56 + place * 245, y, name, captions[name], _printed(truth[name], name, style), way)
        y += 46
    for name in ("married", "has_children", "self_employed"):
        sheet.box(56, y, 66, y + 10)
        if truth[name]:
            sheet.line(57, y + 1, 65, y + 9, thin=False)
            sheet.line(65, y + 1, 57, y + 9, thin=False)
        sheet.text(74, y + 9, captions[name])
        y += 20
    return sheet


def _answer(sheet: Sheet, x: float, y: float, name: str, caption: str, shown: str, way: str) -> None:
    if way == "beside":
        sheet.text(x, y + 14, caption, size=8)
        left = x + 95
        sheet.line(left, y + 17, x + 232, y + 17)
        sheet.text(left + 3, y + 14, shown, path=name if shown else "", size=8)
        return
    sheet.box(x, y if way == "inside" else y + 6, x + 235, y + 32)
    sheet.text(x + 3, y + 8 if way == "inside" else y + 2, caption, size=7)
    sheet.text(x + 6, y + 25, shown, path=name if shown else "")


def _printed(value: Any, name: str, style: Style) -> str:
    if value in ("", 0):
        return ""
    if name == "birth_date":
        return style.day(value)
    return style.amount(value) if isinstance(value, float) else str(value)
