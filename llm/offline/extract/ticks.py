"""What check boxes answer: yes or no to a field of their own, or which of several options was chosen."""

from collections.abc import Iterator, Sequence

from llm.offline.extract.reading import Reading
from llm.offline.extract.targets import Target
from llm.offline.extract.values import Value
from llm.offline.layout.model import Check
from llm.offline.matching.senses import meant_alike, senses_of
from llm.offline.matching.words import content_words, in_english, likeness, polarity, word_likeness, words_of

_ENOUGH = 0.3
_ASKED = 0.5
"""Units: likeness 0–1. From here on a question is the one of a field."""
_PLAIN = frozenset({"is", "has", "tax", "classify", "checked", "box", "flag"})

Ticked = tuple[Value, float, str]


def ticked(target: Target, reading: Reading) -> Iterator[Ticked]:
    """The boxes for a field that is true or false: the value, how well the box fits it, and its caption."""
    wanted = target.printed or tuple(word for word in target.words if word not in _PLAIN) or target.words
    for check in reading.layout.checks:
        yield from _by_caption(wanted, check)
        yield from _by_question(wanted, check)


def _by_caption(wanted: tuple[str, ...], check: Check) -> Iterator[Ticked]:
    for rank, caption in enumerate(check.captions):
        said = words_of(caption.split("(")[0])
        fits = max(likeness(wanted, words) for words in (said, in_english(said)))
        fits = max(fits, 0.97 * meant_alike(senses_of(wanted), senses_of(said)))
        if fits >= _ENOUGH and (polarity(said) is None or not check.question):
            yield _value(check, state=check.checked), fits * (1.0 - 0.05 * rank), caption


def _by_question(wanted: tuple[str, ...], check: Check) -> Iterator[Ticked]:
    """Fields named after what is asked: "electric_vehicle" of yes and no, "civil_status_married" of its options."""
    if not check.question:
        return
    option, asked = words_of(check.captions[0].split("(")[0]), words_of(check.question.split("(")[0])
    side = polarity(option)
    if side is None:
        yield _value(check, state=check.checked), together(wanted, option, asked), check.captions[0]
        return
    own = polarity(wanted[-1:]) if len(wanted) > 1 else None
    fits = alike(wanted[:-1] if own is not None else wanted, asked)
    if own is None:
        state = check.checked if side else not check.checked
        yield _value(check, state=state), fits * (1.0 if check.checked else 0.9), check.question
    elif own == side:
        yield _value(check, state=check.checked), fits, check.question


def together(wanted: tuple[str, ...], option: tuple[str, ...], asked: tuple[str, ...]) -> float:
    """How well an option and its question name a field between them: the option must say a part of it itself."""
    option = (*option, *(word for word in in_english(option) if word not in option))
    own = [max((word_likeness(word, other) for other in option), default=0.0) for word in content_words(wanted)]
    if not any(own):
        return 0.9 * meant_alike(senses_of(wanted), senses_of((*asked, *option))) if alike(wanted, option) else 0.0
    both = [
        max(mine, 0.9 * max((word_likeness(word, other) for other in asked), default=0.0))
        for word, mine in zip(content_words(wanted), own, strict=True)
    ]
    matched = sum(any(word_likeness(word, other) for word in wanted) for other in option)
    return sum(both) / len(both) * (0.6 + 0.4 * matched / len(option))


def alike(wanted: tuple[str, ...], asked: tuple[str, ...]) -> float:
    """How well words that are printed name a field, by themselves or by what they mean in any language."""
    return max(likeness(wanted, asked), 0.97 * meant_alike(senses_of(wanted), senses_of(asked)))


def chosen(target: Target, reading: Reading) -> Iterator[Ticked]:
    """The option that is checked, as text, for a field named after the question; for an enum what its options say."""
    for check in reading.layout.checks:
        if not check.checked:
            continue
        option = words_of(check.captions[0])
        fits = alike(target.words, words_of(check.question.split("(")[0])) if check.question else 0.0
        named = _named_option(target, option)
        if named is not None:
            yield Value(str(named), str(named), (check.token.index, *check.said)), 0.5 + 0.5 * fits, check.question
        elif fits >= _ASKED and not target.enum:
            text = check.captions[0].strip(" .:;")
            yield Value(text, text, (check.token.index, *check.said)), fits, check.question


def _named_option(target: Target, option: Sequence[str]) -> object | None:
    for wanted in target.enum:
        words = words_of(str(wanted).replace("_", " "))
        if isinstance(wanted, str) and words and words in {tuple(option), in_english(option), tuple(option[:1])}:
            return wanted
    return None


def unchosen(reading: Reading) -> frozenset[int]:
    """The words of options: of several that a question offers they are no answers by themselves."""
    asked = [check for check in reading.layout.checks if check.question]
    several = {check.question for check in asked if sum(other.question == check.question for other in asked) > 1}
    return frozenset(index for check in asked if check.question in several for index in check.said)


def _value(check: Check, *, state: bool) -> Value:
    return Value("true" if state else "false", check.token.text, (check.token.index,))
