"""What a scanner or a phone makes of a page."""

import random

import numpy
from PIL import Image, ImageChops, ImageFilter

TABLE = (96, 84, 72)


def photograph(page: Image.Image, way: str, dice: random.Random) -> Image.Image:
    """The page as a `scan` (turned a little), a `photo` (from an angle, uneven light), a `crumpled` photo (once folded
    small, lying on a desk) or a `fax` (coarse, black)."""
    picture = page.convert("L")
    if way == "scan":
        picture = picture.rotate(dice.uniform(-1.2, 1.2), fillcolor=250, resample=Image.Resampling.BICUBIC)
        return _noisy(picture.filter(ImageFilter.GaussianBlur(dice.uniform(0.3, 0.8))), dice, 5)
    if way == "fax":
        small = picture.resize((picture.width * 3 // 4, picture.height * 3 // 4))
        return small.point(lambda level: 255 if level > 150 else 0).resize(picture.size)
    if way == "crumpled":
        return _crumpled(page.convert("RGB"), dice)
    return _photo(page.convert("RGB"), dice)


def _photo(picture: Image.Image, dice: random.Random) -> Image.Image:
    """Seen from an angle on a darker table, lit from one side."""
    wide, high = picture.size
    edge = int(min(wide, high) * 0.06)
    table = Image.new("RGB", (wide + 2 * edge, high + 2 * edge), TABLE)
    table.paste(picture, (edge, edge))
    wide, high = table.size
    turned = _from_an_angle(table, dice, 0.025)
    turned = turned.filter(ImageFilter.GaussianBlur(dice.uniform(0.4, 0.9)))
    light = numpy.linspace(dice.uniform(0.72, 0.85), 1.0, wide)[None, :, None]
    lit = numpy.asarray(turned, dtype=numpy.float32) * (light if dice.random() < 0.5 else light[:, ::-1])
    return _noisy(Image.fromarray(lit.clip(0, 255).astype(numpy.uint8)), dice, 4)


def _crumpled(picture: Image.Image, dice: random.Random) -> Image.Image:
    """Paper that was folded and smoothed again: bent lines, a shade for each facet, a desk of boards around it."""
    wide, high = picture.size
    across, down = max(3, wide // 220), max(4, high // 220)
    paper = _bent(picture, across, down, dice)
    facets = numpy.array([[dice.uniform(196, 255) for _ in range(across)] for _ in range(down)], dtype=numpy.uint8)
    shade = Image.fromarray(facets).resize(picture.size, Image.Resampling.BILINEAR)
    paper = ImageChops.multiply(paper, Image.merge("RGB", [shade] * 3))
    edge = int(min(wide, high) * 0.14)
    desk = _desk(wide + 2 * edge, high + 2 * edge, dice)
    desk.paste(paper, (edge, edge))
    turned = _from_an_angle(desk, dice, 0.05).rotate(dice.uniform(-2.5, 2.5), Image.Resampling.BICUBIC, fillcolor=TABLE)
    turned = turned.crop((edge // 3, edge // 3, turned.width - edge // 3, turned.height - edge // 3))
    turned = turned.filter(ImageFilter.GaussianBlur(dice.uniform(0.8, 1.2)))
    lamp_x, lamp_y = dice.uniform(0, 1), dice.uniform(0, 1)
    rows, columns = numpy.mgrid[0 : 1 : turned.height * 1j, 0 : 1 : turned.width * 1j]
    light = 1.04 - 0.32 * numpy.hypot(columns - lamp_x, rows - lamp_y)[:, :, None]
    lit = numpy.asarray(turned, dtype=numpy.float32) * light
    return _noisy(Image.fromarray(lit.clip(0, 255).astype(numpy.uint8)), dice, 5)


def _bent(picture: Image.Image, across: int, down: int, dice: random.Random) -> Image.Image:
    """The corners of the facets pushed a little out of place; those on the edge of the paper stay."""
    wide, high = picture.size
    most = 5.0
    xs = [wide * column // across for column in range(across + 1)]
    ys = [high * row // down for row in range(down + 1)]
    seen = {
        (column, row): (
            x + (dice.uniform(-most, most) if 0 < column < across else 0),
            y + (dice.uniform(-most, most) if 0 < row < down else 0),
        )
        for column, x in enumerate(xs)
        for row, y in enumerate(ys)
    }
    mesh = [
        (
            (xs[column], ys[row], xs[column + 1], ys[row + 1]),
            (
                *seen[column, row],
                *seen[column, row + 1],
                *seen[column + 1, row + 1],
                *seen[column + 1, row],
            ),
        )
        for column in range(across)
        for row in range(down)
    ]
    return picture.transform(picture.size, Image.Transform.MESH, mesh, Image.Resampling.BICUBIC)


def _desk(wide: int, high: int, dice: random.Random) -> Image.Image:
    """Boards of a desk, each a little lighter or darker."""
    desk = Image.new("RGB", (wide, high), TABLE)
    board = max(60, wide // 5)
    for left in range(0, wide, board):
        lighter = dice.randrange(-14, 15)
        desk.paste(tuple(part + lighter for part in TABLE), (left, 0, min(left + board - 3, wide), high))
    return desk


def _from_an_angle(picture: Image.Image, dice: random.Random, most: float) -> Image.Image:
    """Each corner drawn in, at most by a share of the picture."""
    wide, high = picture.size
    pull = [dice.uniform(0, most) for _ in range(8)]
    corners = (
        *(-pull[0] * wide, -pull[1] * high),
        *(-pull[2] * wide, high * (1 + pull[3])),
        *(wide * (1 + pull[4]), high * (1 + pull[5])),
        *(wide * (1 + pull[6]), -pull[7] * high),
    )
    return picture.transform(picture.size, Image.Transform.QUAD, corners, Image.Resampling.BICUBIC, fillcolor=TABLE)


def _noisy(picture: Image.Image, dice: random.Random, strength: float) -> Image.Image:
    noise = numpy.random.default_rng(dice.randrange(2**32)).normal(0, strength, numpy.asarray(picture).shape)
    return Image.fromarray((numpy.asarray(picture, dtype=numpy.float32) + noise).clip(0, 255).astype(numpy.uint8))
