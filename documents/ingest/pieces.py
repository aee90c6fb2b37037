"""Words on the way to a page: plain data that every step of reading shares."""

from dataclasses import dataclass

from llm.content import FieldName, Frame, Origin


@dataclass(slots=True)
class Piece:
    """A word on the way to a page. Units: points of the displayed page, origin top left.

    `stands`: OCR saw it running up or down; for a text layer the shape of the word tells.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    confidence: float = 1.0
    origin: Origin = "text"
    stands: bool = False

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def width(self) -> float:
        return self.x1 - self.x0


@dataclass(frozen=True, slots=True)
class RawPage:
    """What the text layer says about a page before it is decided whether that is enough. Units: points."""

    number: int
    width: float
    height: float
    rotation: int
    pieces: list[Piece]
    needs_ocr: bool
    frames: tuple[Frame, ...] = ()
    fields: tuple[FieldName, ...] = ()
