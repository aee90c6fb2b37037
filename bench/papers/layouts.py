"""How papers are laid out: parties, facts beside or below their labels, tables with or without lines, sums."""

import random
from typing import Any

from bench.papers.paper import Sheet
from bench.papers.truth import Style

Json = dict[str, Any]
LEFT, RIGHT, TOP = 56.0, 540.0, 60.0
STEP = 14.0
Fact = tuple[str, str, str]
"""Path, label, value as printed."""


def trade_paper(dice: random.Random, kind: str, truth: Json, style: Style) -> Sheet:
    """Invoice, credit note, order. An order is on the paper of who orders."""
    sheet = Sheet(style.font, dice.choice([9.0, 9.5, 10.0]))
    sender, addressee = ("buyer", "seller") if kind == "purchase_order" else ("seller", "buyer")
    y = _letterhead(sheet, truth, style, sender)
    y = _addressee(sheet, truth, style, y + 30, dice, addressee)
    sheet.text(LEFT, y + 30, style.labels[kind], bold=True, size=16)
    y = _facts(sheet, _facts_of(truth, style), style, y + 52)
    columns = ["name", "quantity", "unit_price", "line_total"]
    y = _table(sheet, truth, style, y + 20, columns)
    y = _totals(sheet, truth, style, y + 8)
    sheet.text(LEFT, y + 34, style.labels["thanks"], size=8)
    if "iban" in truth:
        grouped = " ".join(truth["iban"][at : at + 4] for at in range(0, len(truth["iban"]), 4))
        end = sheet.text(LEFT, y + 50, f"{style.labels['iban']}{style.colon} ")
        sheet.text(end, y + 50, dice.choice([grouped, truth["iban"]]), path="iban")
    return sheet


def _letterhead(sheet: Sheet, truth: Json, style: Style, who: str = "seller") -> float:
    name, address, y = truth[f"{who}_name"], truth[f"{who}_address"], TOP
    x = {"left": LEFT, "right": 380.0, "centre": 220.0}.get(style.header, LEFT)
    if style.header == "small line":
        sheet.text(LEFT, y, name, path=f"{who}_name", bold=True, size=15)
        end = sheet.text(LEFT, y + 20, f"{name} · ", size=7)
        end = sheet.text(end, y + 20, address["line1"], path=f"{who}_address.line1", size=7)
        end = sheet.text(end, y + 20, " · ", size=7)
        _town(sheet, end, y + 20, address, f"{who}_address", size=7)
        y += 24
    else:
        sheet.text(x, y, name, path=f"{who}_name", bold=True, size=13)
        sheet.text(x, y + STEP + 2, address["line1"], path=f"{who}_address.line1")
        _town(sheet, x, y + 2 * STEP + 2, address, f"{who}_address")
        y += 2 * STEP + 4
    if who == "seller":
        _vat(sheet, truth, style, x, y + STEP)
    return y + STEP


def _vat(sheet: Sheet, truth: Json, style: Style, x: float, y: float) -> None:
    end = sheet.text(x, y, f"{style.labels['seller_vat_id']}{style.colon} ")
    sheet.text(end, y, truth["seller_vat_id"], path="seller_vat_id")


def _town(sheet: Sheet, x: float, y: float, address: Json, path: str, *, size: float = 0) -> None:
    end = sheet.text(x, y, address["postcode"], path=f"{path}.postcode", size=size)
    sheet.text(end + sheet.wide(" ", size=size), y, address["city"], path=f"{path}.city", size=size)


def _addressee(sheet: Sheet, truth: Json, style: Style, y: float, dice: random.Random, who: str = "buyer") -> float:
    x = dice.choice([LEFT, LEFT, 330.0])
    if dice.random() < 0.6:
        sheet.text(x, y, f"{style.labels[who]}{style.colon}", bold=dice.random() < 0.5)
        y += STEP
    sheet.text(x, y, truth[f"{who}_name"], path=f"{who}_name")
    sheet.text(x, y + STEP, truth[f"{who}_address"]["line1"], path=f"{who}_address.line1")
    _town(sheet, x, y + 2 * STEP, truth[f"{who}_address"], f"{who}_address")
    if who == "seller":
        _vat(sheet, truth, style, x, y + 3 * STEP)
        y += STEP
    return y + 2 * STEP


def _facts_of(truth: Json, style: Style) -> list[Fact]:
    facts = []
    for name in (
        "document_number",
        "issue_date",
        "due_date",
        "delivery_date",
        "order_reference",
        "buyer_id",
        "buyer_vat_id",
    ):
        if name in truth:
            value = style.day(truth[name]) if name.endswith("date") else str(truth[name])
            facts.append((name, style.labels[name], value))
    return facts


def _facts(sheet: Sheet, facts: list[Fact], style: Style, y: float) -> float:
    """Labels with their values, in one of six ways."""
    if style.facts in ("below", "columns", "boxed"):
        return _facts_in_cells(sheet, facts, style, y)
    for path, label, value in facts:
        end = sheet.text(LEFT, y, f"{label}{style.colon}")
        if style.facts == "leaders":
            dots = "." * int((250 - end) / sheet.wide("."))
            sheet.text(end + 3, y, dots)
            sheet.text(262, y, value, path=path)
        else:
            sheet.text(end + 5 if style.facts == "right of" else 190, y, value, path=path)
        y += STEP
    return y


def _facts_in_cells(sheet: Sheet, facts: list[Fact], style: Style, y: float) -> float:
    in_a_row = 4 if style.facts != "columns" else 2
    wide = (RIGHT - LEFT) / in_a_row
    for start in range(0, len(facts), in_a_row):
        for place, (path, label, value) in enumerate(facts[start : start + in_a_row]):
            x = LEFT + place * wide
            if style.facts == "boxed":
                sheet.box(x, y - 11, x + wide, y + 18)
            if style.facts == "columns":
                sheet.text(x, y, label)
                sheet.text(x + wide - 12, y, value, path=path, right=True)
            else:
                sheet.text(x + 3, y - 2, label, size=7)
                sheet.text(x + 3, y + 12, value, path=path)
        y += STEP if style.facts == "columns" else 32
    return y


def _table(sheet: Sheet, truth: Json, style: Style, y: float, columns: list[str]) -> float:
    """The lines; amounts end at the right edge of their columns."""
    edges = (
        dict(zip(columns, [LEFT, 350.0, 440.0, RIGHT], strict=False))
        if len(columns) == 4
        else dict(zip(columns, [LEFT, 140.0, RIGHT], strict=False))
    )
    if style.table == "shaded":
        sheet.box(LEFT - 3, y - 10, RIGHT + 3, y + 4, shade=True, edge=False)
    for name in columns:
        _cell(sheet, edges[name], y, style.labels.get(name, style.labels["line_total"]), "", name, bold=True)
    if style.table in ("ruled", "head line"):
        sheet.line(LEFT - 3, y + 4, RIGHT + 3, y + 4, thin=False)
    for index, row in enumerate(truth["lines"]):
        y += STEP + 2
        for name in columns:
            _cell(sheet, edges[name], y, _printed(row, name, style, truth["currency"]), f"lines.{index}.{name}", name)
        if style.table == "ruled":
            sheet.line(LEFT - 3, y + 4, RIGHT + 3, y + 4)
    return y + STEP


def _cell(sheet: Sheet, edge: float, y: float, text: str, path: str, name: str, *, bold: bool = False) -> None:
    sheet.text(edge, y, text, path=path, bold=bold, right=name not in ("name", "date"))


def _printed(row: Json, name: str, style: Style, currency: str) -> str:
    if name == "name":
        return str(row[name])
    if name == "date":
        return style.day(row[name])
    if name == "quantity":
        return str(row[name])
    return style.amount(row[name], currency if style.currency_place.startswith("sign") else "")


def _totals(sheet: Sheet, truth: Json, style: Style, y: float) -> float:
    """The sums; the gross one in bold. The currency stands here when it stands nowhere else."""
    x = {"right block": 340.0, "table tail": LEFT, "boxed": 330.0}[style.totals]
    top, currency = y, truth["currency"]
    for name in ("net_total", "tax_total", "gross_total", "prepaid", "due_payable"):
        if name not in truth:
            continue
        label = style.labels[name]
        if name == "tax_total":
            label = f"{label} {truth['_rate']:g} %"
        if name == "gross_total" and style.currency_place == "none":
            label = f"{label} {currency}"
        y += STEP
        sheet.text(x + 6, y, f"{label}{style.colon}", bold=name == "gross_total")
        sheet.text(RIGHT, y, style.amount(truth[name], currency), path=name, bold=name == "gross_total", right=True)
    if style.totals == "boxed":
        sheet.box(x, top, RIGHT + 4, y + 6)
    return y


def statement(dice: random.Random, truth: Json, style: Style) -> Sheet:
    """Movements between two balances."""
    sheet = Sheet(style.font)
    sheet.text(LEFT, TOP, truth["seller_name"], path="seller_name", bold=True, size=14)
    y = _addressee(sheet, truth, style, TOP + 40, dice)
    sheet.text(LEFT, y + 30, style.labels["statement"], bold=True, size=15)
    facts = [("issue_date", style.labels["issue_date"].split()[0], style.day(truth["issue_date"])),
             ("buyer_id", style.labels["buyer_id"], truth["buyer_id"])]  # fmt: skip
    y = _facts(sheet, facts, style, y + 52) + 6
    currency = truth["currency"]
    sheet.text(LEFT, y, f"{style.labels['opening_balance']}{style.colon}")
    sheet.text(RIGHT, y, style.amount(truth["opening_balance"], currency), path="opening_balance", right=True)
    y = _table(sheet, truth, style, y + 22, ["date", "name", "amount"])
    label = style.labels["closing_balance"] + (f" {currency}" if style.currency_place == "none" else "")
    sheet.text(LEFT, y + 4, f"{label}{style.colon}", bold=True)
    sheet.text(
        RIGHT, y + 4, style.amount(truth["closing_balance"], currency), path="closing_balance", bold=True, right=True
    )
    return sheet


def receipt(dice: random.Random, truth: Json, style: Style) -> Sheet:
    """A narrow strip from a till."""
    sheet = Sheet("Courier", 8.5, height=420, width=226)
    sheet.text(
        113 - sheet.wide(truth["seller_name"], bold=True) / 2, 30, truth["seller_name"], path="seller_name", bold=True
    )
    address = truth["_address"]
    sheet.text(20, 44, f"{address['line1']}, {address['city']}", size=7)
    sheet.text(20, 66, style.day(truth["issue_date"]), path="issue_date")
    sheet.text(206, 66, f"{dice.randint(8, 20)}:{dice.randint(10, 59)}", right=True)
    y, currency = 86.0, truth["currency"]
    for index, row in enumerate(truth["lines"]):
        end = sheet.text(20, y, str(row["quantity"]), path=f"lines.{index}.quantity")
        sheet.text(end + 6, y, row["name"][:22], path=f"lines.{index}.name")
        sheet.text(206, y, style.amount(row["line_total"]), path=f"lines.{index}.line_total", right=True)
        row["name"] = row["name"][:22].strip()
        y += 13
    sheet.line(20, y - 6, 206, y - 6)
    for name in ("net_total", "tax_total", "gross_total"):
        y += 13
        label = style.labels[name] + (f" {truth['_rate']:g}%" if name == "tax_total" else "")
        sheet.text(20, y, label, bold=name == "gross_total")
        shown = style.amount(truth[name], currency if name == "gross_total" else "")
        sheet.text(206, y, shown, path=name, bold=name == "gross_total", right=True)
    if style.currency_place == "none":
        sheet.text(20, y + 16, currency)
    sheet.text(40, y + 34, style.labels["thanks"][:34], size=7)
    return sheet
