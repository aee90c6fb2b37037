"""The report: each document's pages as pictures, each miss with what was wanted (green) and what was given (red)."""

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.accuracy.reading import Case, page_image
from bench.accuracy.scoring import Score
from documents.grounding import ground

STYLE = """body{font:14px/1.4 system-ui;margin:2rem;max-width:1500px}h2{margin-top:3rem}
.paper{position:relative;display:inline-block;border:1px solid #ccc;margin:.5rem}.paper img{display:block;width:700px}
.box{position:absolute;border:2px solid;font:11px system-ui}.wanted{border-color:#0a0;background:#0a02}
.given{border-color:#c00;background:#c002}td{padding:.1rem .6rem;vertical-align:top}.row{display:flex;gap:2rem}"""


@dataclass(frozen=True, slots=True)
class Miss:
    """A leaf that is not as it should be."""

    path: str
    wanted: Any
    given: Any


def write_report(path: Path, reported: Sequence[tuple[Case, Score, list[Miss]]]) -> None:
    """One HTML file, pictures inside."""
    parts = [_document(case, score, misses) for case, score, misses in reported if misses]
    head = f"<!doctype html><meta charset=utf-8><title>Misses</title><style>{STYLE}</style>"
    path.write_text(f"{head}<h1>Misses of the offline model</h1>{''.join(parts)}", encoding="utf-8")


def _document(case: Case, score: Score, misses: list[Miss]) -> str:
    rows = "".join(
        f"<tr><td>{number}<td>{html.escape(miss.path)}<td>{html.escape(repr(miss.wanted))}"
        f"<td>{html.escape(repr(miss.given))}</tr>"
        for number, miss in enumerate(misses, 1)
    )
    boxes = _boxes(case, misses)
    papers = "".join(_paper(case, number, boxes.get(number, [])) for number in sorted(boxes) or [1])
    return (
        f"<h2>{html.escape(case.name)} ({score.right}/{score.leaves})</h2><div class=row><div>{papers}</div>"
        f"<table><tr><th>#<th>field<th>wanted<th>given</tr>{rows}</table></div>"
    )


def _boxes(case: Case, misses: list[Miss]) -> dict[int, list[str]]:
    """Markup of the boxes on each page, in percent of the page."""
    found: dict[int, list[str]] = {}
    for number, miss in enumerate(misses, 1):
        for kind, value in (("wanted", miss.wanted), ("given", miss.given)):
            if value in (None, "", 0, False) or isinstance(value, dict | list):
                continue
            place = ground(data={miss.path.rsplit(".", 1)[-1]: value}, pages=case.content.pages).popitem()[1]
            for x0, y0, x1, y1 in place.boxes:
                style = f"left:{x0:.2%};top:{y0:.2%};width:{x1 - x0:.2%};height:{y1 - y0:.2%}"
                found.setdefault(place.page or 1, []).append(f'<div class="box {kind}" style="{style}">{number}</div>')
    return found


def _paper(case: Case, number: int, boxes: list[str]) -> str:
    picture = base64.b64encode(page_image(case, number)).decode()
    return f'<div class=paper><img src="data:image/webp;base64,{picture}">{"".join(boxes)}</div>'
