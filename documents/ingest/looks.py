"""How a page looks, in shades of gray: for what only its picture tells."""

import numpy as np
import numpy.typing as npt
import pypdfium2 as pdfium

Gray = npt.NDArray[np.uint8]

_LARGEST = 40_000_000
"""Units: pixels. A page of posters' size is not looked at: its picture would fill the memory of who reads it."""


def gray_picture(page: pdfium.PdfPage, scale: float) -> Gray | None:
    """The page as (height, width) shades, without what viewers draw into form fields. None if it would be too large.

    Units: `scale` in pixels per point.
    """
    width, height = page.get_size()
    if width * height * scale**2 > _LARGEST:
        return None
    picture: Gray = page.render(scale=scale, grayscale=True, may_draw_forms=False).to_numpy().squeeze()
    return picture
