"""Which values of a link must not be seen, which words of which pages say them, and whether pages can be shown at all.

Worked out when the link is made, and anew whenever the result was edited, run again, or the pages were read again.
What cannot be located is never shown: without its result, or with a value that stands nowhere or in several places,
a link shows fields only.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max

from documents.grounding import ground, leaves_of
from documents.models import Extraction, ExtractionEdit, Page, Run, ShareLink
from documents.results import results_like
from documents.selectors import page_content
from documents.sharing.errors import ShareGone, ShareInvalid
from documents.sharing.masking import Masker, masked_page
from llm.content import PageContent

_RULES = 1
"""Raise it when more spellings are known: links made before are then worked out anew."""
_ANY_ROW = "*"


@dataclass(frozen=True, slots=True)
class Redaction:
    """What is hidden on pages. `masks`: number of the page → {sum, words}; a page that is not in it is not shown."""

    fields_only: bool = False
    reason: str = ""
    masks: Mapping[str, Mapping[str, Any]] | None = None


def covers(pattern: str, path: str) -> bool:
    """Whether a pattern ("lines.*.total", "address") names this path or something above it."""
    wanted, parts = pattern.split("."), path.split(".")
    if len(wanted) > len(parts):
        return False
    return all(
        one == part or (one == _ANY_ROW and part.isdecimal())
        for one, part in zip(wanted, parts, strict=False)
    )  # fmt: skip


def is_covered(patterns: Iterable[str], path: str) -> bool:
    return any(covers(pattern, path) for pattern in patterns)


def check_patterns(extraction: Extraction | None, patterns: Sequence[str]) -> None:
    """Each names something in the result as it stands. Raises: ShareInvalid."""
    known = [path for path, _ in leaves_of(extraction.updated_llm_result)] if extraction else []
    for pattern in patterns:
        if not any(covers(pattern, path) for path in known):
            raise ShareInvalid(f"There is no field {pattern[:200]} to black out.", fields={"redact": pattern[:200]})


def usable_extraction(link: ShareLink) -> Extraction | None:
    """The result that the link shows. Raises: ShareGone when values are to be hidden and nobody knows them any more."""
    extraction = link.extraction
    if extraction is not None and extraction.withdrawn_at is not None:
        extraction = None
    if extraction is None and link.redact:
        raise ShareGone("The result that this link was made from is gone, so it shows nothing any more.")
    return extraction


def masker_of(link: ShareLink) -> Masker:
    """Knows every value that ever stood at the hidden paths: as read, as edited, in every run of the prompt."""
    extraction = usable_extraction(link)
    return Masker(_values(extraction, link.redact) if extraction and link.redact else ())


def _values(extraction: Extraction, patterns: Sequence[str]) -> Iterator[Any]:
    rows = list(results_like(extraction).only("llm_result", "updated_llm_result"))
    sources = [("", data) for row in rows for data in (row.llm_result, row.updated_llm_result)]
    edits = ExtractionEdit.objects.filter(extraction__in=[row.pk for row in rows])
    for path, before, after in edits.values_list("path", "value_from", "value_to"):
        sources += [(path, before), (path, after)]
    for start, data in sources:
        for path, value in leaves_of(data, start):
            if is_covered(patterns, path):
                yield value


def _stamp_of(link: ShareLink) -> str:
    """What the masks depend on, in short: another stamp, and they are worked out anew."""
    extraction = usable_extraction(link)
    facts: list[object] = [_RULES, link.redact, str(link.extraction_id)]
    if extraction is not None:
        facts += results_like(extraction).aggregate(Count("pk"), Max("updated_at")).values()
        reads = Run.objects.filter(version_id=link.version_id, kind=Run.Kind.PARSE)
        facts += reads.aggregate(Count("pk"), Max("updated_at")).values()
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def work_out(link: ShareLink) -> None:
    """Write the masks of a link into it, without saving it. Raises: ShareGone."""
    stamp = _stamp_of(link) if link.redact else ""
    redaction = _redact(link)
    link.masks, link.masks_stamp = dict(redaction.masks or {}), stamp
    link.fields_only, link.fields_only_reason = redaction.fields_only, redaction.reason[:500]


def work_out_again(link: ShareLink) -> None:
    """The same, kept for the next request. Raises: ShareGone."""
    work_out(link)
    link.save(update_fields=["masks", "masks_stamp", "fields_only", "fields_only_reason"])


def up_to_date(link: ShareLink) -> ShareLink:
    """The link with masks that hold for the result and the pages as they are now. Raises: ShareGone."""
    if link.redact and link.masks_stamp != _stamp_of(link):
        work_out_again(link)
    return link


def _redact(link: ShareLink) -> Redaction:
    """Look through all pages for the hidden values. Raises: ShareGone."""
    extraction = usable_extraction(link)
    if not link.redact or extraction is None:
        return Redaction()
    rows = list(Page.objects.filter(version_id=link.version_id).order_by("number"))
    contents = [page_content(row) for row in rows]
    if reason := _unlocated(extraction, link.redact):
        return Redaction(fields_only=True, reason=reason)
    hidden = masker_of(link).positions(contents)
    left = [masked_page(page, hidden[page.number]) for page in contents]
    if reason := _not_hidden(extraction, left, link.redact, hidden):
        return Redaction(fields_only=True, reason=reason)
    return Redaction(masks={str(row.number): {"sum": sum_of(row), "words": sorted(hidden[row.number])} for row in rows})


def _unlocated(extraction: Extraction, patterns: Sequence[str]) -> str:
    """Why pages cannot be shown: the first value that cannot be blacked out with certainty."""
    for path, value in leaves_of(extraction.updated_llm_result):
        if is_covered(patterns, path):
            state = str((extraction.grounding.get(path) or {}).get("state", "not_found"))
            if reason := _reason(path, state, value):
                return reason
    return ""


def _not_hidden(
    extraction: Extraction, pages: Sequence[PageContent], patterns: Sequence[str], hidden: Mapping[int, set[int]]
) -> str:
    """The last look: grounding itself must not find a value on the blacked out pages, and each was blacked out."""
    covered = {path: value for path, value in leaves_of(extraction.updated_llm_result) if is_covered(patterns, path)}
    for path, place in ground(data=covered, pages=pages).items():
        known = extraction.grounding.get(path) or {}
        lost = known.get("state") == "found" and not hidden.get(int(known.get("page") or 0))
        if lost or place.state in ("found", "ambiguous"):
            return f"The value of {path[:200]} could not be blacked out for certain, so this link shows only fields."
    return ""


def _reason(path: str, state: str, value: Any) -> str:
    shown = path[:200]
    if isinstance(value, bool):
        return f"The box of {shown} cannot be blacked out on the pages, so this link shows only fields."
    if state == "not_found":
        return f"The value of {shown} was not found on the pages, so this link shows only fields."
    if state == "ambiguous":
        return f"The value of {shown} may stand in several places of the pages, so this link shows only fields."
    return ""


def sum_of(page: Page) -> str:
    """Changes when the words of a page do."""
    words = json.dumps([page.width, page.height, page.rotation, page.words], sort_keys=True)
    return hashlib.sha256(words.encode()).hexdigest()[:32]
