"""The truth of a paper: parties, dates, lines and sums that add up; and the style that it is printed in."""

import random
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from bench.papers.vocabulary import CITIES, COUNTRIES, FORMS, GOODS, LABELS, MONTHS, SIGNS, STREETS, SURNAMES, TRADES

Json = dict[str, Any]
KINDS = ("invoice", "invoice", "invoice", "credit_note", "purchase_order", "statement", "receipt", "form")


@dataclass(frozen=True, slots=True)
class Style:
    """How a paper is printed. One choice of each, kept for the whole paper."""

    language: str
    labels: dict[str, str]
    date_format: str
    amounts: str
    currency_place: str
    colon: str
    font: str
    header: str
    facts: str
    table: str
    totals: str
    scan: bool

    def day(self, iso: str) -> str:
        """A date as this paper prints it."""
        moment = date.fromisoformat(iso)
        month = MONTHS[self.language][moment.month - 1]
        return self.date_format.format(d=moment, month=month, short=month[:3])

    def amount(self, value: float, currency: str = "") -> str:
        """An amount as this paper prints it."""
        text = f"{abs(value):,.2f}"
        swap = {"1.234,56": ",.", "1 234,56": ", ", "1234,56": ",", "1,234.56": ".,", "1234.56": "."}[self.amounts]
        text = text.translate(str.maketrans({",": swap[1:] or None, ".": swap[0]}))
        if value < 0:
            text = f"-{text}"
        if not currency or self.currency_place == "none":
            return text
        sign = SIGNS[currency] if self.currency_place.startswith("sign") else currency
        return f"{sign} {text}" if self.currency_place.endswith("before") else f"{text} {sign}"


def style_of(dice: random.Random, *, unseen: bool) -> Style:
    """Draw a style. `unseen`: may have the language and the layout that nothing is developed on."""
    language = dice.choice(["en", "de", "fr", "nl", "nl"] if unseen else ["en", "de", "fr"])
    dates = {
        "en": [
            "{d:%d/%m/%Y}",
            "{d.day} {month} {d.year}",
            "{month} {d.day}, {d.year}",
            "{d:%Y-%m-%d}",
            "{d:%d}-{short}-{d:%y}",
        ],
        "de": ["{d:%d.%m.%Y}", "{d.day}. {month} {d.year}", "{d:%d.%m.%y}", "{d:%Y-%m-%d}"],
        "fr": ["{d:%d/%m/%Y}", "{d.day} {month} {d.year}", "{d:%d.%m.%Y}", "{d:%d/%m/%y}"],
        "nl": ["{d:%d-%m-%Y}", "{d.day} {month} {d.year}", "{d:%d/%m/%Y}"],
    }[language]
    amounts = {"en": ["1,234.56", "1234.56"], "de": ["1.234,56", "1234,56"], "fr": ["1 234,56", "1234,56"],
               "nl": ["1.234,56", "1234,56"]}[language]  # fmt: skip
    return Style(
        language=language,
        labels={name: dice.choice(words) for name, words in LABELS[language].items()},
        date_format=dice.choice(dates),
        amounts=dice.choice(amounts),
        currency_place=dice.choice(["sign before", "sign after", "code after", "code before", "none"]),
        colon=dice.choice([":", ":", "", " :"]),
        font=dice.choice(["Helvetica", "Helvetica", "Times-Roman", "Courier"]),
        header=dice.choice(["left", "right", "centre", "small line"]),
        facts=dice.choice(["right of", "aligned", "below", "boxed", "leaders", *(["columns"] * 2 if unseen else [])]),
        table=dice.choice(["ruled", "head line", "none", "shaded"]),
        totals=dice.choice(["right block", "table tail", "boxed"]),
        scan=dice.random() < 0.15,
    )


def party(dice: random.Random, language: str) -> Json:
    """A company with an address and a VAT id."""
    name = f"{dice.choice(SURNAMES[language])} {dice.choice(TRADES[language])} {dice.choice(FORMS[language])}"
    area, ward = dice.choice(["LS", "BS", "YO", "OX", "NR"]), dice.choice(["AB", "QT", "RW"])
    postcode = {
        "en": f"{area}{dice.randint(1, 19)} {dice.randint(1, 9)}{ward}",
        "nl": f"{dice.randint(1011, 9999)} {dice.choice(['AB', 'KL', 'XT'])}",
    }.get(language, f"{dice.randint(10000, 98999)}")
    street = dice.choice(STREETS[language]).format(n=dice.randint(1, 190))
    vat = COUNTRIES[language]["vat"] + "".join(dice.choices("0123456789", k=11 if language == "fr" else 9))
    if language == "nl":
        vat += f"B{dice.randint(1, 99):02d}"
    return {
        "name": name,
        "address": {"line1": street, "postcode": postcode, "city": dice.choice(CITIES[language])},
        "vat": vat,
    }


def iban(dice: random.Random, language: str) -> str:
    """An account number with right check digits."""
    country, length = COUNTRIES[language]["iban"]
    body = "".join(dice.choices("0123456789", k=length - 4))
    if country in ("GB", "NL"):
        body = dice.choice(["ABNA", "RABO", "BARC", "MIDL"]) + body[4:]
    digits = "".join(str(int(letter, 36)) for letter in f"{body}{country}00")
    return f"{country}{98 - int(digits) % 97:02d}{body}"


def number_of(dice: random.Random, year: int) -> str:
    return dice.choice(
        [f"{year}-{dice.randint(1, 9999):04d}", f"RE{dice.randint(10000, 99999)}", f"{dice.randint(100000, 999999)}",
         f"INV/{year % 100}/{dice.randint(100, 999)}", f"{chr(dice.randint(65, 90))}{dice.randint(1000, 99999)}"]
    )  # fmt: skip


_NOT_ON_ORDERS = frozenset({"buyer_vat_id", "order_reference"})
"""What a seller's paper says of its customer."""


def trade_paper(dice: random.Random, kind: str, style: Style) -> Json:
    """Invoice, credit note or order: two parties, facts, lines, sums."""
    language = style.language
    country = COUNTRIES[language]
    issued = date(dice.randint(2019, 2026), dice.randint(1, 12), dice.randint(1, 28))
    seller, buyer = party(dice, language), party(dice, language)
    rate, lines = dice.choice(country["rates"]), lines_of(dice, language)
    net = round(sum(line["line_total"] for line in lines), 2)
    tax = round(net * rate / 100, 2)
    truth: Json = {
        "document_number": number_of(dice, issued.year),
        "issue_date": issued.isoformat(),
        "seller_name": seller["name"],
        "seller_address": seller["address"],
        "seller_vat_id": seller["vat"],
        "buyer_name": buyer["name"],
        "buyer_address": buyer["address"],
        "currency": dice.choice(country["currencies"]),
    }
    if kind == "invoice":
        truth["due_date"] = (issued + timedelta(days=dice.choice([10, 14, 30]))).isoformat()
        truth["iban"] = iban(dice, language)
    for name, value in {
        "buyer_id": str(dice.randint(1000, 99999)),
        "buyer_vat_id": buyer["vat"],
        "order_reference": f"PO-{dice.randint(1000, 9999)}",
        "delivery_date": (issued - timedelta(days=dice.randint(1, 9))).isoformat(),
    }.items():
        if dice.random() < 0.5 and not (kind == "purchase_order" and name in _NOT_ON_ORDERS):
            truth[name] = value
    truth |= {"net_total": net, "tax_total": tax, "gross_total": round(net + tax, 2), "lines": lines}
    if kind == "invoice" and dice.random() < 0.25:
        truth["prepaid"] = float(dice.randint(1, 9) * 10)
        truth["due_payable"] = round(truth["gross_total"] - truth["prepaid"], 2)
    truth["_rate"] = rate
    return truth


def lines_of(dice: random.Random, language: str) -> list[Json]:
    goods = dice.sample(GOODS[language], dice.randint(1, 8))
    rows = []
    for name in goods:
        quantity, price = (
            dice.randint(1, 24),
            round(dice.choice([9.9, 4.1, 75, 129, 1250, 18.35]) * dice.uniform(0.5, 2), 2),
        )
        rows.append({"name": name, "quantity": quantity, "unit_price": price, "line_total": round(quantity * price, 2)})
    return rows


def statement(dice: random.Random, style: Style) -> Json:
    """An account with its movements."""
    seller, buyer = party(dice, style.language), party(dice, style.language)
    opened = date(dice.randint(2019, 2026), dice.randint(1, 11), 1)
    balance = opening = round(dice.uniform(0, 5000), 2)
    rows = []
    for step in range(dice.randint(3, 9)):
        amount = round(dice.uniform(-900, 1500), 2)
        balance = round(balance + amount, 2)
        rows.append({"date": (opened + timedelta(days=step * 3 + 1)).isoformat(),
                     "name": dice.choice(GOODS[style.language]), "amount": amount})  # fmt: skip
    return {
        "seller_name": seller["name"],
        "buyer_name": buyer["name"],
        "buyer_address": buyer["address"],
        "buyer_id": str(dice.randint(1000, 99999)),
        "issue_date": (opened + timedelta(days=30)).isoformat(),
        "currency": dice.choice(COUNTRIES[style.language]["currencies"]),
        "opening_balance": opening,
        "closing_balance": balance,
        "lines": rows,
    }


def receipt(dice: random.Random, style: Style) -> Json:
    """A till receipt."""
    seller, lines = party(dice, style.language), lines_of(dice, style.language)
    for line in lines:
        line.pop("unit_price")
    gross = round(sum(line["line_total"] for line in lines), 2)
    rate = dice.choice(COUNTRIES[style.language]["rates"])
    tax = round(gross - gross / (1 + rate / 100), 2)
    day = date(dice.randint(2019, 2026), dice.randint(1, 12), dice.randint(1, 28))
    return {
        "seller_name": seller["name"],
        "issue_date": day.isoformat(),
        "currency": dice.choice(COUNTRIES[style.language]["currencies"]),
        "net_total": round(gross - tax, 2),
        "tax_total": tax,
        "gross_total": gross,
        "lines": lines,
        "_address": seller["address"],
        "_rate": rate,
    }
