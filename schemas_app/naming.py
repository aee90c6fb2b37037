"""What may stand in a name or a text that is stored."""

from collections.abc import Iterator

from schemas_app.errors import NameInvalid

MAX_NAME = 200


def clean_name(text: str) -> str:
    """Trim a name.

    Raises: NameInvalid.
    """
    name = text.strip()
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise NameInvalid(fields={"name": "1 to 200 printable characters"})
    return name


def names_like(name: str) -> Iterator[str]:
    """The name, then the name with a number: for those who may not take one that somebody has."""
    yield name
    number = 2
    while True:
        end = f" {number}"
        yield name[: MAX_NAME - len(end)] + end
        number += 1


def is_storable(text: str) -> bool:
    """Whether PostgreSQL takes it: no NUL, no lone surrogates."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
