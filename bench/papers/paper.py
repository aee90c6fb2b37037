"""A sheet to draw on that remembers where each value stands."""

from io import BytesIO
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = A4
Places = dict[str, list[list[float]]]


class Sheet:
    """An A4 page in points, origin top left. `places`: path of a value → [page, x0, y0, x1, y1] in fractions."""

    def __init__(self, font: str, size: float = 9.5, height: float = HEIGHT, width: float = WIDTH) -> None:
        self.font, self.size, self.width, self.height = font, size, width, height
        self.bold = {"Times-Roman": "Times-Bold"}.get(font, f"{font}-Bold")
        self.places: Places = {}
        self.page = 1
        self._buffer = BytesIO()
        self._canvas = Canvas(self._buffer, pagesize=(width, height), invariant=1)

    def text(
        self, x: float, y: float, text: str, *, path: str = "", bold: bool = False, size: float = 0, right: bool = False
    ) -> float:
        """Write, `y` being the base line; returns where the text ends. `right`: it ends at `x`."""
        font, size = self.bold if bold else self.font, size or self.size
        wide = stringWidth(text, font, size)
        left = x - wide if right else x
        self._canvas.setFont(font, size)
        self._canvas.drawString(left, self.height - y, text)
        if path:
            box = [left / self.width, (y - size * 0.8) / self.height, (left + wide) / self.width, (y + 2) / self.height]
            self.places.setdefault(path, []).append([self.page, *box])
        return left + wide

    def wide(self, text: str, *, bold: bool = False, size: float = 0) -> float:
        return float(stringWidth(text, self.bold if bold else self.font, size or self.size))

    def line(self, x0: float, y0: float, x1: float, y1: float, *, thin: bool = True) -> None:
        self._canvas.setLineWidth(0.4 if thin else 1)
        self._canvas.line(x0, self.height - y0, x1, self.height - y1)

    def box(self, x0: float, y0: float, x1: float, y1: float, *, shade: bool = False, edge: bool = True) -> None:
        self._canvas.setLineWidth(0.5)
        self._canvas.setFillGray(0.9)
        self._canvas.rect(x0, self.height - y1, x1 - x0, y1 - y0, stroke=int(edge), fill=int(shade))
        self._canvas.setFillGray(0)

    def next_page(self) -> None:
        self._canvas.showPage()
        self.page += 1

    def save(self, path: Path) -> None:
        self._canvas.save()
        path.write_bytes(self._buffer.getvalue())
