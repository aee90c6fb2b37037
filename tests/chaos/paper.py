"""What is uploaded while things are killed: long texts, scans, receipts."""

import base64
import random
from functools import cache
from io import BytesIO

from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from tests.data import make

RECEIPT = ("Contoso Ltd", "Receipt No.: 2468", "Date: 8/20/2020", "Subtotal: $4,500.00", "Total: $4,950.00")
RECEIPT_FIELDS = {name: {"type": "string", "description": name} for name in ("company", "receipt_no", "total")}


def scan(pages: int) -> bytes:
    """A PDF whose pages are pictures of print: every page has to go through OCR."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(500, 250), invariant=1)
    for number in range(1, pages + 1):
        picture = make.text_picture(f"Scanned page {number}", "Amount due 99.50", size=(700, 260))
        canvas.drawImage(ImageReader(picture), 20, 20, 460, 171)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


@cache
def kept_scan(pages: int) -> bytes:
    return scan(pages)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def any_document() -> tuple[str, str]:
    """Name and content of a random document; most are quick, some take long."""
    kind = random.choices(("receipt", "text", "scan"), (5, 3, 2))[0]
    if kind == "receipt":
        return "receipt.pdf", encoded(make.pdf(RECEIPT))
    if kind == "scan":
        return "scan.pdf", encoded(kept_scan(random.choice((1, 2, 4))))
    return "text.pdf", encoded(make.numbered_pdf(random.choice((1, 5, 60, 200))))
