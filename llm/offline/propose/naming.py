"""Names for fields: snake_case, English, unlike each other."""

import keyword
import re
from collections.abc import Container, Sequence

from llm.offline.matching.words import content_words, words_of

_PLAIN = re.compile(r"[a-z][a-z0-9]*$")


def snake(text: str) -> str:
    """A property name from what a person says: at most five words; "" when nothing usable is left."""
    return name_from_words(content_words(words_of(text.replace("_", " "))))


def name_from_words(words: Sequence[str]) -> str:
    """A property name from a label's words."""
    owned = [word for place, word in enumerate(words) if word != "s" or not place]  # "payer's name"
    kept = [word for word in owned if _PLAIN.match(word) or word.isdigit()][:5]
    while kept and kept[0].isdigit():
        kept = kept[1:] + kept[:1] if len(kept) > 1 and not kept[-1].isdigit() else kept[1:]
    name = "_".join(kept)
    return f"{name}_value" if keyword.iskeyword(name) else name


def free_name(name: str, taken: Container[str]) -> str:
    """`name`, or `name_2`, `name_3` … when it is taken."""
    if name not in taken:
        return name
    return next(f"{name}_{n}" for n in range(2, 1000) if f"{name}_{n}" not in taken)
