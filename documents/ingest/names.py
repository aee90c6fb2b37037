"""File names from outside: what is shown and stored is harmless and never empty."""

import re
import unicodedata

_LONGEST = 200
_FALLBACK = "document"
_SPACES = re.compile(r"\s+")


def clean_name(name: str, *, extension: str = "") -> str:
    """Reduce a name to its last path part without marks that hide or reorder text, at most 200 characters.

    `extension` (with its dot) is kept when a long name is cut, and given to a name that has nothing else.
    """
    last = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    shown = "".join(" " if character.isspace() else character for character in last)
    shown = "".join(character for character in shown if unicodedata.category(character) not in _UNSHOWN)
    shown = _SPACES.sub(" ", unicodedata.normalize("NFC", shown)).strip(" .")
    if not shown:
        return _FALLBACK + extension
    if len(shown) <= _LONGEST:
        return shown
    stem, dot, ending = shown.rpartition(".")
    if not dot or len(ending) > 10:
        return shown[:_LONGEST].rstrip()
    return stem[: _LONGEST - len(ending) - 1].rstrip() + dot + ending


_UNSHOWN = frozenset(["Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"])
