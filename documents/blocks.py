"""Pages as Textract-style blocks: PAGE, LINE and WORD with boxes, each naming its children."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from documents.ingest.wire import columns_as_words
from documents.models import Page
from llm.content import Word

Block = dict[str, Any]
_WHOLE_PAGE = (0.0, 0.0, 1.0, 1.0)
_OF_THE_PAGE = 24


def blocks_of(page: Page) -> list[Block]:
    """The page, then its lines, then its words. Units: fractions of the page as displayed; confidence 0–100.

    Ids look like UUIDs and stay the same as long as the page does: its own id, its number, the block's place.
    """
    words = columns_as_words(page.words)
    lines = _lines(words)
    begin = str(page.pk)[:_OF_THE_PAGE] + f"{page.number:04x}"
    ids = [f"{begin}{place:08x}" for place in range(1 + len(lines) + len(words))]
    line_ids, word_ids = ids[1 : 1 + len(lines)], ids[1 + len(lines) :]
    blocks = [_block("PAGE", ids[0], page.number, _WHOLE_PAGE, 100.0, children=line_ids)]
    for line_id, places in zip(line_ids, lines, strict=True):
        inside = [words[place] for place in places]
        blocks.append(
            _block(
                *("LINE", line_id, page.number, _around(inside), _mean([word.confidence for word in inside])),
                text=" ".join(word.text for word in inside),
                children=[word_ids[place] for place in places],
            )
        )
    for word_id, word in zip(word_ids, words, strict=True):
        box = (word.x0, word.y0, word.x1, word.y1)
        blocks.append(_block("WORD", word_id, page.number, box, _percent(word.confidence), text=word.text))
    return blocks


def list_as_json(pages: Iterable[Page]) -> Iterator[bytes]:
    """All blocks as a JSON array, a page at a time."""
    between = b"["
    for page in pages:
        yield between + json.dumps(blocks_of(page), ensure_ascii=False).encode()[1:-1]
        between = b","
    yield b"[]" if between == b"[" else b"]"


def document_as_json(pages: Iterable[Page], *, page_count: int) -> Iterator[bytes]:
    """The whole as Textract answers it, a page at a time."""
    yield f'{{"DocumentMetadata": {{"Pages": {page_count}}}, "Blocks": '.encode()
    yield from list_as_json(pages)
    yield b"}"


def _lines(words: Sequence[Word]) -> list[list[int]]:
    """The places of the words of each line, in the order of the lines."""
    lines: dict[int, list[int]] = {}
    for place, word in enumerate(words):
        lines.setdefault(word.line, []).append(place)
    return [lines[number] for number in sorted(lines)]


def _block(
    kind: str,
    block_id: str,
    page: int,
    box: Sequence[float],
    confidence: float,
    *,
    text: str | None = None,
    children: Sequence[str] = (),
) -> Block:
    block: Block = {"BlockType": kind, "Id": block_id, "Page": page, "Confidence": confidence}
    if text is not None:
        block["Text"] = text
    block["Geometry"] = _geometry(box)
    if children:
        block["Relationships"] = [{"Type": "CHILD", "Ids": list(children)}]
    return block


def _geometry(box: Sequence[float]) -> Block:
    x0, y0, x1, y1 = (round(min(max(side, 0.0), 1.0), 6) for side in box)
    return {
        "BoundingBox": {"Width": round(x1 - x0, 6), "Height": round(y1 - y0, 6), "Left": x0, "Top": y0},
        "Polygon": [{"X": x0, "Y": y0}, {"X": x1, "Y": y0}, {"X": x1, "Y": y1}, {"X": x0, "Y": y1}],
    }


def _around(words: Sequence[Word]) -> tuple[float, float, float, float]:
    return (
        min(word.x0 for word in words),
        min(word.y0 for word in words),
        max(word.x1 for word in words),
        max(word.y1 for word in words),
    )


def _mean(values: Sequence[float]) -> float:
    return _percent(sum(values) / len(values))


def _percent(confidence: float) -> float:
    return round(100 * confidence, 2)
