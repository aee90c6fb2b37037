"""Pages per second of our text path and OCR path, beside the bare libraries, in the same run.

`python -m bench.pages [--text-pages N] [--ocr-pages N]`. Documents are made here. Our path is the real one: child
process, words with boxes, reading order. The bare runs do the least that yields the same text.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from documents.ingest import sandbox
from documents.ingest.limits import Limits
from tests.data import make

WORDS = [
    "amount",
    "invoice",
    "delivery",
    "total",
    "customer",
    "payment",
    "reference",
    "account",
    "number",
    "quantity",
    "price",
    "description",
]

BARE_TEXT = """
import sys, time, pypdfium2
path, start = sys.argv[1], time.perf_counter()
document = pypdfium2.PdfDocument(path)
for page in document:
    page.get_textpage().get_text_range()
print(time.perf_counter() - start)
"""

BARE_BOXES = """
import sys, time, pypdfium2
path, start = sys.argv[1], time.perf_counter()
document = pypdfium2.PdfDocument(path)
for page in document:
    text = page.get_textpage()
    for index in range(text.count_chars()):
        text.get_charbox(index)
    text.get_text_range()
print(time.perf_counter() - start)
"""

BARE_OCR = """
import sys, time, numpy, pypdfium2
from rapidocr import RapidOCR
engine = RapidOCR(params={"Global.use_cls": False, "Global.return_word_box": True, "Global.log_level": "critical",
    "Det.limit_side_len": 960, "Det.limit_type": "max",
    "EngineConfig.onnxruntime.intra_op_num_threads": 1, "EngineConfig.onnxruntime.inter_op_num_threads": 1})
document = pypdfium2.PdfDocument(sys.argv[1])
engine(numpy.full((200, 400, 3), 255, dtype=numpy.uint8))
start = time.perf_counter()
for page in document:
    scale = 2000 / max(page.get_size())
    engine(numpy.asarray(page.render(scale=scale).to_pil().convert("RGB"))[:, :, ::-1])
print(time.perf_counter() - start)
"""


def dense_pdf(pages: int, lines: int = 45, *, ruled: bool = False) -> bytes:
    """Pages of prose, about 2,800 characters each; `ruled`: each line in a box of its own, as forms and tables have."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    for page in range(pages):
        canvas.setFont("Helvetica", 10)
        for line in range(lines):
            words = [WORDS[(page * 7 + line * 3 + word) % len(WORDS)] for word in range(8)]
            canvas.drawString(60, 790 - 16 * line, f"{page}.{line} " + " ".join(words))
            if ruled:
                canvas.rect(56, 786 - 16 * line, 480, 16)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def bare(script: str, path: Path) -> float:
    """Seconds that a bare library takes in a fresh process, its imports not counted."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", script, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout.split()[-1])


def ours(path: Path, pages: int) -> float:
    """Seconds for all pages through our child processes, once they are up."""
    ocr = sandbox.ocr_pool(Limits())
    with contextlib.closing(sandbox.reader(Limits())) as reader:
        sandbox.count_pages(reader, path)
        with ocr.lease() as engine:
            engine.request({"op": "ping"}, seconds=10)
        start = time.perf_counter()
        for number in range(1, pages + 1):
            sandbox.read_page(reader, ocr, path, number)
        seconds = time.perf_counter() - start
    ocr.close()
    return seconds


def best(times: int, run: Callable[[], float]) -> float:
    return min(run() for _ in range(times))


def report(rows: list[tuple[str, int, float]]) -> None:
    print(f"{'path':<44}{'pages':>7}{'seconds':>10}{'pages/s':>10}{'beside bare':>13}")
    base = 0.0
    for name, pages, seconds in rows:
        rate = pages / seconds
        base = rate if name.startswith("bare") and "boxes" not in name else base
        print(f"{name:<44}{pages:>7}{seconds:>10.2f}{rate:>10.1f}{rate / base:>12.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text-pages", type=int, default=150)
    parser.add_argument("--ocr-pages", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text, scan = Path(folder) / "text.pdf", Path(folder) / "scan.pdf"
        text.write_bytes(dense_pdf(options.text_pages))
        forms = Path(folder) / "forms.pdf"
        forms.write_bytes(dense_pdf(options.text_pages, ruled=True))
        scan.write_bytes(make.rasterized(dense_pdf(options.ocr_pages), scale=2.4))
        texts, scans = options.text_pages, options.ocr_pages
        report(
            [
                ("bare pypdfium2, text only", texts, best(2, lambda: bare(BARE_TEXT, text))),
                ("bare pypdfium2, a box for each character", texts, bare(BARE_BOXES, text)),
                ("ours: words, boxes, order, in a child", texts, best(2, lambda: ours(text, texts))),
                ("ours: the same, each line in a drawn box", texts, best(2, lambda: ours(forms, texts))),
                ("bare rapidocr, our settings", scans, bare(BARE_OCR, scan)),
                ("ours: OCR with words, boxes, order", scans, ours(scan, scans)),
            ]
        )
    print("Beside bare is our share of the bare library's speed; ours also boxes every word and reads in order.")


if __name__ == "__main__":
    main()
