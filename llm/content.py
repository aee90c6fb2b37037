"""What a model may be shown of a document: pages, words, boxes. Plain data, no storage."""

from dataclasses import dataclass, field
from typing import Literal

PageSource = Literal["text_layer", "ocr"]
Frame = tuple[float, float, float, float]
FieldName = tuple[float, float, float, float, str]
Origin = Literal["text", "ocr", "form", "annotation"]


@dataclass(frozen=True, slots=True)
class Word:
    """One word as it is seen on the page.

    Units: x0, y0, x1, y1 are fractions of the page as displayed (rotation applied), origin top left;
    confidence 0–1 (1 for a text layer). `line` is the index of its text line in reading order.
    Check boxes of forms are words too: "☒" when checked, "☐" when not.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    confidence: float = 1.0
    line: int = 0
    origin: Origin = "text"


@dataclass(frozen=True, slots=True)
class PageContent:
    """One page. Units: `width`, `height` in PDF points as displayed; `number` is 1-based.

    `text` has the words in reading order, lines joined by a newline, blocks by an empty line. `frames` are the boxes
    that lines draw around words (x0, y0, x1, y1 as of words), each once: cells of forms and tables. One without height
    is a line that words stand on. `fields` are the form fields that a file gives telling names, and where they are.
    """

    number: int
    width: float
    height: float
    text: str
    words: tuple[Word, ...] = ()
    source: PageSource = "text_layer"
    rotation: int = 0
    frames: tuple[Frame, ...] = ()
    fields: tuple[FieldName, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentContent:
    """A document as a model may see it. `document_id` is for the gate "never send to a model"."""

    document_id: str
    name: str
    pages: tuple[PageContent, ...] = field(default=())

    @property
    def text(self) -> str:
        return "\n\n".join(page.text for page in self.pages)
