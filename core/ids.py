"""Identifiers: UUIDv7 (sortable by time), shown to the outside as 32 hex characters."""

import re
import uuid

import uuid_utils

from core.errors import NotFound

_HEX = re.compile(r"[0-9a-f]{32}")


def new_id() -> uuid.UUID:
    """Make a UUIDv7: its order is the order of creation."""
    return uuid.UUID(bytes=uuid_utils.uuid7().bytes)


def show_id(value: uuid.UUID) -> str:
    return value.hex


def parse_id(text: object, *, error: type[NotFound] = NotFound) -> uuid.UUID:
    """Read an id that came from outside (32 hex characters; the dashed form is accepted too).

    Raises: `error` when it is anything else, so that a malformed id looks like an unknown one.
    """
    if isinstance(text, uuid.UUID):
        return text
    candidate = text.replace("-", "").lower() if isinstance(text, str) and len(text) <= 36 else ""
    if not _HEX.fullmatch(candidate):
        raise error()
    return uuid.UUID(hex=candidate)
