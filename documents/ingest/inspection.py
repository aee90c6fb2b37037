"""A first look at a file: is it within the limits? Headers only, nothing is decoded."""

from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
from PIL import Image, UnidentifiedImageError

from documents.errors import EncryptedFile, TooManyPages, TooManyPixels, UnreadableFile
from documents.ingest.limits import Limits
from documents.ingest.sniff import IMAGE_KINDS, Kind
from documents.ingest.textlayer import open_document


def inspect(path: Path, kind: Kind, limits: Limits) -> dict[str, Any]:
    """Count pages and pixels. A file that cannot be opened is not refused here: reading it will say why.

    Raises: TooManyPages, TooManyPixels.
    """
    if kind == "pdf":
        return _inspect_pdf(path, limits)
    if kind in IMAGE_KINDS:
        return _inspect_image(path, limits)
    return {"pages": None}


def _inspect_pdf(path: Path, limits: Limits) -> dict[str, Any]:
    try:
        document: pdfium.PdfDocument = open_document(path)
    except (EncryptedFile, UnreadableFile) as error:
        return {"pages": None, "problem": error.error_code}
    pages = len(document)
    document.close()
    check_pages(pages, limits)
    return {"pages": pages}


def check_pages(pages: int, limits: Limits) -> None:
    """Raises: TooManyPages."""
    if pages > limits.pages:
        raise TooManyPages(f"This file has {pages:,} pages; at most {limits.pages:,} are allowed.")


def _inspect_image(path: Path, limits: Limits) -> dict[str, Any]:
    try:
        with open_image(path, limits) as image:
            frames = int(getattr(image, "n_frames", 1)) if image.format == "TIFF" else 1
    except UnreadableFile as error:
        return {"pages": None, "problem": error.error_code}
    check_pages(frames, limits)
    return {"pages": frames}


def open_image(path: Path, limits: Limits) -> Image.Image:
    """Open a picture without decoding it. Raises: TooManyPixels, UnreadableFile."""
    Image.MAX_IMAGE_PIXELS = None  # our own limit, checked before anything is decoded
    try:
        image = Image.open(path)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise UnreadableFile from error
    check_pixels(image, limits)
    return image


def check_pixels(image: Image.Image, limits: Limits) -> None:
    """Raises: TooManyPixels."""
    if image.width * image.height > limits.pixels:
        raise TooManyPixels(
            f"This picture is {image.width:,} × {image.height:,} pixels; "
            f"at most {limits.pixels // 1_000_000:,} megapixels are allowed."
        )
