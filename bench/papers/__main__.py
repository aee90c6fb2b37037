"""`python -m bench.papers FOLDER --seeds 0-299 [--parity even|odd]`: make papers and their `index.json`."""

import argparse
import json
import random
from io import BytesIO
from pathlib import Path
from typing import Any

import pypdfium2
from PIL import Image, ImageFilter

from bench.papers import forms, layouts, truth
from bench.papers.paper import Sheet

Json = dict[str, Any]


def make_paper(seed: int, folder: Path) -> Json:
    """One paper as a file, and its entry in the index."""
    dice = random.Random(seed)
    style = truth.style_of(dice, unseen=seed % 2 == 1)
    kind = dice.choice(truth.KINDS)
    fields, sheet = _draw(dice, kind, style)
    name = f"{kind.replace('_', '-')}-{style.language}-{seed:04d}"
    path = folder / f"{name}.pdf"
    sheet.save(path)
    if style.scan:
        path = _scan(path, dice)
    return {
        "id": name,
        "file": path.name,
        "type": kind,
        "language": style.language,
        "layout": "scan" if style.scan else style.facts if kind not in ("form", "receipt") else kind,
        "pages": sheet.page,
        "text_layer": not style.scan,
        "fields": {key: value for key, value in fields.items() if not key.startswith("_")},
        "places": {} if style.scan else sheet.places,
    }


def _draw(dice: random.Random, kind: str, style: truth.Style) -> tuple[Json, Sheet]:
    if kind == "statement":
        fields = truth.statement(dice, style)
        return fields, layouts.statement(dice, fields, style)
    if kind == "receipt":
        fields = truth.receipt(dice, style)
        return fields, layouts.receipt(dice, fields, style)
    if kind == "form":
        fields = forms.form_truth(dice, style)
        return fields, forms.form(dice, fields, style)
    fields = truth.trade_paper(dice, kind, style)
    return fields, layouts.trade_paper(dice, kind, fields, style)


def _scan(path: Path, dice: random.Random) -> Path:
    """The page as a scanner would give it: a little turned, soft, grey, compressed."""
    with pypdfium2.PdfDocument(path.read_bytes()) as document:
        picture = document[0].render(scale=200 / 72).to_pil().convert("L")
    picture = picture.rotate(dice.uniform(-0.8, 0.8), fillcolor=255, resample=Image.Resampling.BICUBIC)
    picture = picture.filter(ImageFilter.GaussianBlur(dice.uniform(0.2, 0.7)))
    buffer = BytesIO()
    picture.save(buffer, "JPEG", quality=dice.randint(55, 85), dpi=(200, 200))
    path.unlink()
    target = path.with_suffix(".jpg")
    target.write_bytes(buffer.getvalue())
    return target


def make_folder(folder: Path, seeds: range) -> None:
    """Papers of these seeds, with the index."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = [make_paper(seed, folder) for seed in seeds]
    index = {"count": len(entries), "documents": entries}
    (folder / "index.json").write_text(json.dumps(index, ensure_ascii=False, indent=1), encoding="utf-8")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--seeds", default="0-299", help="first and last")
    arguments.add_argument("--parity", choices=["even", "odd"], help="only these seeds")
    chosen = arguments.parse_args()
    first, last = map(int, chosen.seeds.split("-"))
    start = first + {"even": first % 2, "odd": (first + 1) % 2, None: 0}[chosen.parity]
    make_folder(chosen.folder, range(start, last + 1, 2 if chosen.parity else 1))


if __name__ == "__main__":
    main()
