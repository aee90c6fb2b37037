"""The OCR process: gets pixels, never files. Run as `python -m documents.ingest.ocr_child`.

Apart from the reader, so that a page without OCR does not wait for the models and they stay loaded across documents.
"""

import sys
from dataclasses import replace

import numpy as np

from documents.ingest import wire
from documents.ingest.child import read_limits, serve
from documents.ingest.layout import arrange
from documents.ingest.ocr import OcrEngine, read_picture
from documents.ingest.rapid import RapidEngine
from documents.ingest.textlayer import page_content


def read_page(engine: OcrEngine, fields: wire.Fields, blob: bytes) -> tuple[wire.Fields, bytes]:
    """Read the picture of a page; its text layer stays when the picture has no words."""
    page = wire.fields_as_raw(fields["raw"])
    pixels = np.frombuffer(blob, dtype=np.uint8).reshape(fields["high"], fields["wide"], 3)
    known = [piece for piece in page.pieces if piece.origin != "text"]
    reading = read_picture(engine, pixels, page.width, page.height, known)
    if not reading.layout.pieces:
        return {"page": wire.page_as_fields(page_content(page, arrange(page.pieces), "text_layer"))}, b""
    page = replace(page, frames=reading.frames)
    return {"page": wire.page_as_fields(page_content(page, reading.layout, "ocr"))}, b""


def main() -> None:
    engine = RapidEngine()
    serve({"ocr": lambda fields, blob: read_page(engine, fields, blob)}, read_limits(sys.argv[1:]))


if __name__ == "__main__":
    main()
