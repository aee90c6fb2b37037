"""PDFs and pictures by code: columns, rotations, forms, notes, scans, and what hostile people would send."""

import struct
import zlib
from io import BytesIO

import pypdfium2 as pdfium
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from llm.content import PageContent, Word

INVOICE = ("Invoice 4711", "Date: 2026-03-01", "Acme Tools Ltd", "Total due: 1,250.00 EUR")


def pdf(*pages: tuple[str, ...], title: str = "") -> bytes:
    """A PDF with these lines on each page; one page with an invoice when none are given."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.setTitle(title)
    for lines in pages or (INVOICE,):
        canvas.setFont("Helvetica", 12)
        for row, line in enumerate(lines):
            canvas.drawString(72, 770 - 20 * row, line)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def numbered_pdf(count: int, salt: str = "") -> bytes:
    """A PDF whose pages say their number."""
    return pdf(*((f"Page number {number} {salt}", "with a line of text below it") for number in range(1, count + 1)))


LEFT = [f"left{row} alpha beta gamma delta epsilon zeta" for row in range(12)]
RIGHT = [f"right{row} one two three four five six seven" for row in range(12)]


def two_columns() -> bytes:
    """A heading over two columns of prose whose lines stand beside each other."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.setFont("Helvetica", 16)
    canvas.drawString(60, 790, "A heading that runs across both of the columns below it")
    canvas.setFont("Helvetica", 10)
    for row, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
        canvas.drawString(60, 750 - 14 * row, left)
        canvas.drawString(310, 750 - 14 * row, right)
    canvas.save()
    return buffer.getvalue()


def table() -> bytes:
    """Rows of short cells: they stay rows."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.setFont("Helvetica", 10)
    for row in range(8):
        for column, x in enumerate((60, 250, 400)):
            canvas.drawString(x, 750 - 18 * row, f"cell{row}{column}")
    canvas.save()
    return buffer.getvalue()


def rotated(angle: int, crop: bool = False) -> bytes:
    """One word near the top left corner of the page as it is displayed (400 × 600 points) with /Rotate `angle`."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(400, 600), invariant=1)
    canvas.setFont("Helvetica", 20)
    turned = {0: (0, 40, 550), 90: (90, 50, 40), 180: (180, 360, 50), 270: (270, 550, 360)}[angle]
    canvas.translate(turned[1], turned[2])
    canvas.rotate(turned[0])
    canvas.drawString(0, 0, "Corner")
    canvas.setPageRotation(angle)
    if crop:
        canvas.setCropBox((20, 100, 380, 590))
    canvas.save()
    return buffer.getvalue()


def form(checked: bool = True, hidden: bool = False) -> bytes:
    """A form with a filled text field, a choice and two check boxes."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.setFont("Helvetica", 12)
    canvas.drawString(72, 752, "Name")
    fields = canvas.acroForm
    flags = "hidden" if hidden else "print"
    fields.textfield(name="name", value="Jane Doe", x=150, y=745, width=200, height=20, annotationFlags=flags)
    fields.choice(name="kind", value="Partner", options=["Partner", "Estate"], x=150, y=705, width=200, height=20)
    fields.textfield(name="code", value="4711", x=150, y=600, width=120, height=20, maxlen=4, fieldFlags="comb")
    fields.checkbox(name="yes", checked=checked, x=150, y=670, size=16)
    fields.checkbox(name="no", checked=not checked, x=150, y=640, size=16)
    canvas.drawString(180, 673, "agrees")
    canvas.drawString(180, 643, "refuses")
    canvas.save()
    return buffer.getvalue()


def annotated(text: str = "Approved by Kim") -> bytes:
    """A page with a note of text on it (FreeText, with its appearance)."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.setFont("Helvetica", 12)
    canvas.drawString(72, 752, "The contract")
    canvas.freeTextAnnotation(text, DA="/Helv 12 Tf 0 g", Rect=[200, 600, 400, 640], relative=0)
    canvas.save()
    return buffer.getvalue()


def text_picture(*lines: str, size: tuple[int, int] = (1000, 500), turn: int = 0) -> Image.Image:
    """A picture of printed lines, as a scanner would make it."""
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=36)
    for row, line in enumerate(lines or INVOICE):
        draw.text((60, 60 + 70 * row), line, fill="black", font=font)
    return image.rotate(turn, expand=True) if turn else image


def picture(kind: str = "PNG", image: Image.Image | None = None, **options: object) -> bytes:
    buffer = BytesIO()
    (image or text_picture()).save(buffer, kind, **options)
    return buffer.getvalue()


def mixed() -> bytes:
    """Page 1 has a text layer, page 2 is a scan, page 3 is empty."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    canvas.drawString(72, 770, "First page with a text layer of its own and enough words to be read as it is")
    canvas.showPage()
    canvas.drawImage(ImageReader(text_picture("Scanned words", "Amount 99.50")), 50, 400, 500, 250)
    canvas.showPage()
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def encrypted() -> bytes:
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=A4, encrypt=StandardEncryption("secret", ownerPassword="owner"))
    canvas.drawString(72, 770, "Nobody reads this")
    canvas.save()
    return buffer.getvalue()


def huge_page() -> bytes:
    """A page of two million points a side."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(2_000_000, 2_000_000), invariant=1)
    canvas.setFont("Helvetica", 50_000)
    canvas.drawString(100_000, 1_500_000, "Huge")
    canvas.save()
    return buffer.getvalue()


def inflating(gigabytes: int = 4) -> bytes:
    """A page whose content stream is small and unpacks to gigabytes of spaces."""
    packer = zlib.compressobj(9)
    chunk = b" " * (1 << 24)
    parts = [packer.compress(chunk) for _ in range(gigabytes * 64)]
    return one_page_pdf(b"".join([*parts, packer.flush()]), b"/Filter /FlateDecode")


def nested(depth: int = 200_000) -> bytes:
    """A page whose content stream opens brackets without end."""
    return one_page_pdf(b"[" * depth + b" q " * depth)


def one_page_pdf(stream: bytes, filters: bytes = b"") -> bytes:
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R >>",
        b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(stream), filters, stream),
    ]
    out = BytesIO(b"%PDF-1.4\n")
    out.seek(0, 2)
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 5\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % offset for offset in offsets))
    out.write(b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % start)
    return out.getvalue()


def gigantic_png(side: int = 50_000) -> bytes:
    """A PNG whose header says side × side pixels, and which has nearly no data."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


def rasterized(data: bytes, scale: float = 2.0) -> bytes:
    """The same pages without a text layer."""
    document = pdfium.PdfDocument(data)
    images = [page.render(scale=scale).to_pil() for page in document]
    buffer = BytesIO()
    images[0].save(buffer, "PDF", save_all=True, append_images=images[1:], resolution=72 * scale)
    return buffer.getvalue()


def page_content(text: str, number: int = 1) -> PageContent:
    """A page as the parser hands it on."""
    word = Word(text, 0.1, 0.1, 0.3, 0.12)
    return PageContent(number=number, width=595, height=842, text=text, words=(word,))
