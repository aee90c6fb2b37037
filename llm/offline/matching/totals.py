"""What a label of an amount means, by the words it is made of: no list of labels can have them all.

"Total exkl. MWST", "Nog te voldoen", "Net à payer TTC": a few words in each language say whether taxes are in it,
whether it is still to be paid, or what was paid, taken off or added. Compounds count by the word they end with.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

_COMPOUND = 5
"""Units: letters. A word of so many may be the end, or the beginning, of a compound."""
_RULES: tuple[tuple[frozenset[str], frozenset[str], str], ...] = tuple(
    (frozenset(has.split()), frozenset(without.split()), concept)
    for has, without, concept in (
        ("paid", "due", "prepaid"),
        ("due", "", "due_payable"),
        ("discount", "", "discount_total"),
        ("shipping", "total", "shipping_cost"),
        ("sub", "gross tax", "line_total"),
        ("net tax", "gross", "net_total"),
        ("gross tax", "net", "gross_total"),
        ("tax", "", "tax_total"),
        ("net", "", "net_total"),
        ("gross", "", "gross_total"),
        ("total", "", "gross_total"),
    )
)


TOTALS = frozenset(rule[-1] for rule in _RULES)
"""The concepts that labels of amounts are read as."""


@lru_cache(maxsize=1)
def _features() -> dict[str, frozenset[str]]:
    told = json.loads((Path(__file__).with_name("data") / "amounts.json").read_text(encoding="utf-8"))
    return {name: frozenset(words) for name, words in told.items()}


@lru_cache(maxsize=8192)
def _features_of(word: str) -> frozenset[str]:
    plain = frozenset(name for name, words in _features().items() if word in words)
    if plain or len(word) <= _COMPOUND:
        return plain
    return frozenset(
        name
        for name, words in _features().items()
        if name != "plain" and any(len(end) >= _COMPOUND and word.endswith(end) for end in words)
    )


def amount_meant(words: Sequence[str]) -> tuple[str, float] | None:
    """The concept that a label of an amount names, and how much of the label says so (0–1); None for other words."""
    said = [word for word in words if not any(map(str.isdigit, word)) and word not in {"%", "n°", "#"}]
    features = [_features_of(word) for word in said]
    held = frozenset(feature for found in features for feature in found if feature != "plain")
    telling = sum(bool(found - {"plain"}) for found in features)
    known = sum(bool(found) for found in features)
    if not held or not said or known < 0.5 * len(said) or len(said) > 9:
        return None
    for has, without, concept in _RULES:
        if has <= held and not without & held:
            return concept, (known + 0.2 * telling) / (len(said) + 0.2 * telling)
    return None


def is_tax(word: str) -> bool:
    """Whether a word names a tax on sales."""
    return word in _features()["tax"]
