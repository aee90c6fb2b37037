"""A tiny page builder: words laid out where the test says, as a parser would report them."""

from dataclasses import dataclass, field

from llm.content import DocumentContent, PageContent, Word

WIDTH, HEIGHT = 595.0, 842.0


@dataclass
class Paper:
    """A page under construction. Units: points, origin top left; a character is half its size wide."""

    words: list[Word] = field(default_factory=list)

    def put(self, x: float, y: float, text: str, *, size: float = 10.0, origin: str = "text") -> "Paper":
        """One run of text with its top left corner at x, y."""
        for part in text.split(" "):
            width = len(part) * size * 0.5
            if part:
                box = (x / WIDTH, y / HEIGHT, (x + width) / WIDTH, (y + size) / HEIGHT)
                self.words.append(Word(part, *box, origin=origin))  # type: ignore[arg-type]
            x += width + size * 0.28
        return self

    def row(self, y: float, *cells: tuple[float, str], size: float = 10.0) -> "Paper":
        """Several runs at one height."""
        for x, text in cells:
            self.put(x, y, text, size=size)
        return self

    def page(self, number: int = 1) -> PageContent:
        """The page as content."""
        text = " ".join(word.text for word in self.words)
        return PageContent(number, WIDTH, HEIGHT, text, tuple(self.words))


def document(*papers: Paper, name: str = "page.pdf") -> DocumentContent:
    """A document of these pages."""
    return DocumentContent("0" * 32, name, tuple(paper.page(number) for number, paper in enumerate(papers, 1)))


def invoice() -> DocumentContent:
    """An English invoice: addresses, labelled values, a table, totals."""
    paper = Paper()
    paper.put(40, 40, "Northwind Supplies Ltd", size=12)
    paper.row(58, (40, "12 Harbour Road"), (380, "INVOICE"))
    paper.put(40, 72, "30159 Hannover")
    paper.put(40, 86, "info@northwind.example")
    paper.row(130, (40, "Bill to:"), (380, "Invoice No: INV-2031"))
    paper.row(144, (40, "Adventure Cycles"), (380, "Invoice date: 14 March 2024"))
    paper.row(158, (40, "7 Mill Lane"), (380, "Due date: 13.04.2024"))
    paper.put(40, 172, "80331 Munich")
    paper.row(250, (40, "Description"), (280, "Quantity"), (360, "Unit price"), (470, "Amount"))
    paper.row(268, (40, "Brake cable"), (290, "4"), (365, "12.50"), (475, "50.00"))
    paper.row(284, (40, "Saddle, leather"), (290, "2"), (365, "1,099.00"), (475, "2,198.00"))
    paper.row(330, (360, "Subtotal"), (470, "2,248.00"))
    paper.row(344, (360, "VAT 19%"), (470, "427.12"))
    paper.row(358, (360, "Total"), (470, "2,675.12 EUR"))
    paper.put(40, 700, "IBAN: DE89 3704 0044 0532 0130 00")
    return document(paper)
