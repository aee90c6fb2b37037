"""What a scanner or a phone makes of a page."""

import random

import numpy
from PIL import Image, ImageFilter

TABLE = (96, 84, 72)


def photograph(page: Image.Image, way: str, dice: random.Random) -> Image.Image:
    """The page as a `scan` (turned a little), a `photo` (from an angle, uneven light) or a `fax` (coarse, black)."""
    picture = page.convert("L")
    if way == "scan":
        picture = picture.rotate(dice.uniform(-1.2, 1.2), fillcolor=250, resample=Image.Resampling.BICUBIC)
        return _noisy(picture.filter(ImageFilter.GaussianBlur(dice.uniform(0.3, 0.8))), dice, 5)
    if way == "fax":
        small = picture.resize((picture.width * 3 // 4, picture.height * 3 // 4))
        return small.point(lambda level: 255 if level > 150 else 0).resize(picture.size)
    return _photo(page.convert("RGB"), dice)


def _photo(picture: Image.Image, dice: random.Random) -> Image.Image:
    """Seen from an angle on a darker table, lit from one side."""
    wide, high = picture.size
    edge = int(min(wide, high) * 0.06)
    table = Image.new("RGB", (wide + 2 * edge, high + 2 * edge), TABLE)
    table.paste(picture, (edge, edge))
    wide, high = table.size
    pull = [dice.uniform(0, 0.025) for _ in range(8)]
    corners = (
        *(-pull[0] * wide, -pull[1] * high),
        *(-pull[2] * wide, high * (1 + pull[3])),
        *(wide * (1 + pull[4]), high * (1 + pull[5])),
        *(wide * (1 + pull[6]), -pull[7] * high),
    )
    turned = table.transform(table.size, Image.Transform.QUAD, corners, Image.Resampling.BICUBIC, fillcolor=TABLE)
    turned = turned.filter(ImageFilter.GaussianBlur(dice.uniform(0.4, 0.9)))
    light = numpy.linspace(dice.uniform(0.72, 0.85), 1.0, wide)[None, :, None]
    lit = numpy.asarray(turned, dtype=numpy.float32) * (light if dice.random() < 0.5 else light[:, ::-1])
    return _noisy(Image.fromarray(lit.clip(0, 255).astype(numpy.uint8)), dice, 4)


def _noisy(picture: Image.Image, dice: random.Random, strength: float) -> Image.Image:
    noise = numpy.random.default_rng(dice.randrange(2**32)).normal(0, strength, numpy.asarray(picture).shape)
    return Image.fromarray((numpy.asarray(picture, dtype=numpy.float32) + noise).clip(0, 255).astype(numpy.uint8))
