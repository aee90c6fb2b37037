"""Pictures as PDF pages: upright, one page a frame, with nothing taken away."""

from io import BytesIO
from pathlib import Path

from PIL import Image, ImageOps, ImageSequence
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from documents.errors import UnreadableFile
from documents.ingest.inspection import check_pages, check_pixels, open_image
from documents.ingest.limits import Limits

_DPI = 150.0
_LONGEST, _SHORTEST = 1_700.0, 250.0  # of the longer side, in points
_QUALITY = 92


def to_pdf(path: Path, target: Path, limits: Limits) -> list[str]:
    """One page for each frame of a TIFF, the first frame of anything else. Raises: UnreadableFile, TooManyPixels."""
    notes: list[str] = []
    canvas = Canvas(str(target), pageCompression=1)
    try:
        with open_image(path, limits) as image:
            frames = int(getattr(image, "n_frames", 1))
            if image.format == "TIFF":
                check_pages(frames, limits)
            elif frames > 1:
                notes.append(f"Only the first of {frames} frames of this picture is shown.")
                frames = 1
            for frame in _frames(image, frames):
                check_pixels(frame, limits)
                _add_page(canvas, frame)
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise UnreadableFile("This picture is damaged and cannot be read.") from error
    canvas.save()
    return notes


def _frames(image: Image.Image, count: int) -> list[Image.Image] | ImageSequence.Iterator:
    return ImageSequence.Iterator(image) if count > 1 else [image]


def _add_page(canvas: Canvas, frame: Image.Image) -> None:
    upright = _flat(ImageOps.exif_transpose(frame))
    longest = min(_LONGEST, max(_SHORTEST, max(upright.size) * 72 / _DPI))
    scale = longest / max(upright.size)
    width, height = upright.width * scale, upright.height * scale
    canvas.setPageSize((width, height))
    canvas.drawImage(ImageReader(_encoded(upright, frame.format)), 0, 0, width, height)
    canvas.showPage()


def _flat(image: Image.Image) -> Image.Image:
    """Black on white, in RGB or grey: what is transparent is paper."""
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        layered = image.convert("RGBA")
        paper = Image.new("RGBA", layered.size, "white")
        return Image.alpha_composite(paper, layered).convert("RGB")
    if image.mode in ("I", "F", "I;16", "I;16B", "I;16L"):
        return _stretched(image)
    return image.convert("L") if image.mode in ("1", "L") else image.convert("RGB")


def _stretched(image: Image.Image) -> Image.Image:
    """Sixteen and more bits a pixel as eight."""
    wide = image.convert("F")
    low, high = wide.getextrema()
    span = (high - low) or 1.0  # type: ignore[operator]  # one band: two numbers
    return wide.point(lambda value: (value - low) * (255.0 / span)).convert("L")


def _encoded(image: Image.Image, original_format: str | None) -> BytesIO:
    """Photographs stay JPEG, drawings and scans stay without loss."""
    buffer = BytesIO()
    if original_format in ("JPEG", "WEBP", "MPO"):
        image.save(buffer, "JPEG", quality=_QUALITY)
    else:
        image.save(buffer, "PNG", compress_level=1)
    buffer.seek(0)
    return buffer
