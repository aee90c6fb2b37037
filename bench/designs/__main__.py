"""`python -m bench.designs FOLDER [--half developed|scored]`: print the designed documents and their `index.json`."""

import argparse
import json
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pypdfium2
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from bench.designs import acroforms
from bench.designs.picture import photograph

Json = dict[str, Any]
HERE = Path(__file__).parent
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


def names(half: str | None = None) -> list[str]:
    """The designs of a half, `developed` or `scored`, or all."""
    found = sorted(path.stem for path in HERE.glob("*.json"))
    return [name for name in found if half is None or _truth(name)["scored"] == (half == "scored")]


def make_folder(folder: Path, half: str | None = None, only: str = "") -> Path:
    """Print the designs into a folder, with the index that `bench.offline_accuracy` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    with _browser() as page:
        entries = [_print(page, name, folder) for name in names(half) if only in name]
    for entry in acroforms.make(folder):
        if only in entry["id"] and half in (None, "scored" if entry["scored"] else "developed"):
            entries.append(entry)
        else:
            (folder / entry["file"]).unlink()
    index = {"count": len(entries), "documents": entries}
    (folder / "index.json").write_text(json.dumps(index, ensure_ascii=False, indent=1), encoding="utf-8")
    return folder


def _truth(name: str) -> Json:
    told: Json = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    return told


@contextmanager
def _browser() -> Iterator[Page]:
    if CHROMIUM is None:
        raise SystemExit("The designs are printed by chromium, and none is installed.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser.new_page()
        browser.close()


def _print(page: Page, name: str, folder: Path) -> Json:
    told = _truth(name)
    page.goto((HERE / f"{name}.html").as_uri())
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    with pypdfium2.PdfDocument(printed) as document:
        pages = len(document)
        pictures = [sheet.render(scale=200 / 72).to_pil() for sheet in document] if told["picture"] else []
    file = f"{name}.pdf"
    if told["picture"]:
        dice = random.Random(name)
        pictures = [photograph(picture, told["picture"], dice) for picture in pictures]
        file, printed = _pictures(name, pictures)
    (folder / file).write_bytes(printed)
    return {
        "id": name,
        "file": file,
        "type": told["type"],
        "language": told["language"],
        "layout": told["layout"],
        "pages": pages,
        "text_layer": not told["picture"],
        "fields": told["fields"],
    }


def _pictures(name: str, pictures: list[Image.Image]) -> tuple[str, bytes]:
    """One page becomes a JPEG, several a PDF of pictures."""
    buffer = BytesIO()
    if len(pictures) == 1:
        pictures[0].save(buffer, "JPEG", quality=72, dpi=(200, 200))
        return f"{name}.jpg", buffer.getvalue()
    pictures[0].save(buffer, "PDF", save_all=True, append_images=pictures[1:], resolution=200)
    return f"{name}.pdf", buffer.getvalue()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--half", choices=["developed", "scored"])
    arguments.add_argument("--only", default="")
    chosen = arguments.parse_args()
    make_folder(chosen.folder, chosen.half, chosen.only)


if __name__ == "__main__":
    main()
