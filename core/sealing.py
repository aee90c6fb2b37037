"""Secrets at rest: sealed with the first of settings.ENCRYPTION_KEYS, opened with any of them."""

from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class SealBroken(Exception):
    """None of the keys opens this."""


def seal(text: str) -> bytes:
    return _box().encrypt(text.encode())


def unseal(sealed: bytes) -> str:
    """Raises: SealBroken."""
    try:
        return _box().decrypt(sealed).decode()
    except InvalidToken as problem:
        raise SealBroken from problem


def reseal(sealed: bytes) -> bytes:
    """The same secret under the first key. Raises: SealBroken."""
    try:
        return _box().rotate(sealed)
    except InvalidToken as problem:
        raise SealBroken from problem


def _box() -> MultiFernet:
    return _box_of(tuple(settings.ENCRYPTION_KEYS))


@lru_cache(maxsize=4)
def _box_of(keys: tuple[str, ...]) -> MultiFernet:
    try:
        return MultiFernet([Fernet(key) for key in keys])
    except ValueError:  # its words are kept back: no key may stand in a log
        raise ImproperlyConfigured("ENCRYPTION_KEYS: one or more keys, each 32 bytes in URL-safe base64") from None
