"""Pictures of pages: WebP for people, plain pixels for OCR. Filled fields are drawn."""

from io import BytesIO

import numpy as np
import pypdfium2 as pdfium
from PIL import Image

from documents.ingest.limits import Limits
from documents.ingest.textlayer import load_page

_WEBP_LIMIT = 16_383  # the format's longest side, in pixels


def render_webp(document: pdfium.PdfDocument, number: int, width: int, limits: Limits) -> bytes:
    """Draw a page as WebP. Units: `width` in pixels; less when the picture would pass the limits.

    Raises: UnreadableFile.
    """
    page = load_page(document, number)
    try:
        page_width, page_height = page.get_size()
        image = _draw(page, width / max(1.0, page_width), page_width, page_height, limits.render_pixels)
    finally:
        page.close()
    buffer = BytesIO()
    image.save(buffer, "WEBP", quality=80, method=0)
    return buffer.getvalue()


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
