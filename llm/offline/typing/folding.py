"""Text without case, accents and typographic variety, for comparing."""

import unicodedata
from functools import lru_cache

_SPECIAL = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "’": "'", "‘": "'", "´": "'", "`": "'", "–": "-", "—": "-"}
)


@lru_cache(maxsize=16384)
def fold(text: str) -> str:
    """Lower case, no accents, plain quotes and dashes."""
    plain = unicodedata.normalize("NFKD", text.lower().translate(_SPECIAL))
    return "".join(char for char in plain if not unicodedata.combining(char))
