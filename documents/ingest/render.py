"""Pictures of pages: WebP for people, plain pixels for OCR. Filled fields are drawn."""

from collections.abc import Sequence
from io import BytesIO

import numpy as np
import pypdfium2 as pdfium
from PIL import Image, ImageDraw

from documents.ingest.limits import Limits
from documents.ingest.textlayer import load_page

_AROUND, _AROUND_PIXELS = 0.2, 2.0
"""How much larger than its box the black is, on each side: of the box's height, and at least so many pixels."""
_WEBP_LIMIT = 16_383  # the format's longest side, in pixels


def render_webp(
    document: pdfium.PdfDocument,
    number: int,
    width: int,
    limits: Limits,
    boxes: Sequence[Sequence[float]] = (),
) -> bytes:
    """Draw a page as WebP, with `boxes` painted black before it is encoded.

    Units: `width` in pixels, less when the picture would pass the limits; boxes are fractions of the page.

    Raises: UnreadableFile.
    """
    page = load_page(document, number)
    try:
        page_width, page_height = page.get_size()
        image = _draw(page, width / max(1.0, page_width), page_width, page_height, limits.render_pixels)
    finally:
        page.close()
    _black_out(image, boxes)
    buffer = BytesIO()
    image.save(buffer, "WEBP", quality=80, method=0)
    return buffer.getvalue()


def _black_out(image: Image.Image, boxes: Sequence[Sequence[float]]) -> None:
    """A little more than each box: letters may stand out of it, and edges are blurred by the encoding."""
    draw = ImageDraw.Draw(image)
    for x0, y0, x1, y1 in boxes:
        left, right = sorted((x0 * image.width, x1 * image.width))
        top, bottom = sorted((y0 * image.height, y1 * image.height))
        more = max(_AROUND_PIXELS, _AROUND * (bottom - top))
        area = (left - more, top - more, right + more, bottom + more)
        draw.rectangle(tuple(round(side) for side in area), fill="black")


def render_rgb(document: pdfium.PdfDocument, number: int, longest: int, limits: Limits) -> tuple[int, int, bytes]:
    """Draw a page for OCR: width, height and RGB bytes. Units: pixels. Raises: UnreadableFile."""
    page = load_page(document, number)
    try:
        width, height = page.get_size()
        image = _draw(page, longest / max(1.0, width, height), width, height, limits.render_pixels)
    finally:
        page.close()
    return image.width, image.height, np.asarray(image, dtype=np.uint8).tobytes()


def _draw(page: pdfium.PdfPage, scale: float, width: float, height: float, pixels: int) -> Image.Image:
    area = max(1.0, width * height)
    scale = min(scale, (pixels / area) ** 0.5, _WEBP_LIMIT / max(1.0, width, height))
    bitmap = page.render(scale=scale, may_draw_forms=True)
    image: Image.Image = bitmap.to_pil().convert("RGB")
    bitmap.close()
    return image
