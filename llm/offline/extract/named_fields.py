"""Values of form fields by what their file calls them: nobody sees it on the page, and it names them best."""

from collections.abc import Iterator

from llm.offline.extract.reading import Reading
from llm.offline.extract.targets import Target
from llm.offline.extract.values import Value, values_in
from llm.offline.layout.fields import FormField
from llm.offline.layout.lines import CHECKED, UNCHECKED
from llm.offline.matching.lexicon import find_phrases
from llm.offline.matching.senses import meant_alike, senses_of
from llm.offline.matching.words import likeness, words_of, words_of_name

_ALIKE = 0.6
"""Units: likeness 0–1. What names a target at least so well is meant for it."""

Named = tuple[Value, float, str]


def from_fields(target: Target, reading: Reading) -> Iterator[Named]:
    """What stands in the fields that are called like the target."""
    for field in reading.fields:
        score = _fits(target, field)
        if score < _ALIKE:
            continue
        sign = field.tokens[0].text if len(field.tokens) == 1 else ""
        if target.kind == "boolean":
            if sign in CHECKED or sign in UNCHECKED:
                yield Value("true" if sign in CHECKED else "false", sign, (field.tokens[0].index,)), score, field.name
        elif sign not in UNCHECKED and sign not in CHECKED:
            yield from (
                (value, score * value.fit, field.name) for value in values_in(target.kind, field.tokens, reading)
            )


def _fits(target: Target, field: FormField) -> float:
    said = words_of_name(field.name)
    alike = max(likeness(target.words, said), 0.97 * meant_alike(senses_of(target.words), senses_of(said)))
    if target.concept is not None:
        whole = (hit for hit in find_phrases(said) if hit.end - hit.start == len(said))
        alike = max(alike, 0.95 * any(target.concept.name in hit.concepts for hit in whole))
    if target.printed:
        alike = max(alike, 1.0 * (target.printed == words_of(field.name)))
    return alike
