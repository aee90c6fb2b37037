"""What of a document leaves through a link: values, pages, words and the name, with what is hidden blacked out.

Everything that is shown of a link comes from here; nothing else may read its document.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import PurePath
from typing import Any

from documents.errors import PageNotFound, TextNotReady
from documents.models import Page, ShareLink
from documents.page_images import PageImage, cached_image
from documents.selectors import page_content
from documents.sharing.errors import ShareFieldsOnly
from documents.sharing.masking import HIDDEN, Masker, black_boxes, masked_columns, masked_page
from documents.sharing.redaction import is_covered, masker_of, sum_of, usable_extraction, work_out_again
from documents.sharing.selectors import page_of, pages_of, read_pages_of
from llm.content import DocumentContent

_WORD_COLUMNS = ("text", "x0", "y0", "x1", "y1", "line")
_HIDDEN_PLACE: dict[str, Any] = {"state": "redacted", "page": None, "boxes": [], "quote": ""}


@dataclass(frozen=True, slots=True)
class SharedView:
    """One question's worth of a link: what a model may see, and how much is left. Units: `cost_left_usd` in USD.

    `content` has the hidden words blacked out; its `document_id` is the real one, for the gates of the model client.
    """

    share_id: uuid.UUID
    document_id: uuid.UUID
    organization_id: uuid.UUID
    name: str
    content: DocumentContent
    ticket: str
    answers_left: int
    cost_left_usd: Decimal


@dataclass(frozen=True, slots=True)
class SharedFields:
    """Values and where they stand, by path."""

    data: Any
    grounding: dict[str, Any]


def shared_name(link: ShareLink) -> str:
    """The document's name, or only its kind when a hidden value stands in it."""
    name = link.document.name
    return name if masker_of(link).text(name) == name else f"document{PurePath(name).suffix[:6]}"


def shared_fields(link: ShareLink) -> SharedFields | None:
    """The result that the link shows, None without one. Raises: ShareGone."""
    extraction = usable_extraction(link)
    if extraction is None:
        return None
    if not link.redact:
        return SharedFields(extraction.updated_llm_result, dict(extraction.grounding))
    masker = masker_of(link)
    grounding: dict[str, Any] = {}
    data = _hide(extraction.updated_llm_result, ("", ""), link, masker, extraction.grounding, grounding)
    return SharedFields(data, grounding)


def _hide(
    value: Any,
    paths: tuple[str, str],
    link: ShareLink,
    masker: Masker,
    known: Mapping[str, Any],
    grounding: dict[str, Any],
) -> Any:
    """The value as it may be shown. `paths` are where it stands, and how that is shown: names can tell a value too."""
    path, shown = paths

    def below(key: object, shown_key: str, part: Any) -> Any:
        inner = (f"{path}.{key}" if path else str(key), f"{shown}.{shown_key}" if shown else shown_key)
        return _hide(part, inner, link, masker, known, grounding)

    if path and is_covered(link.redact, path):
        grounding[shown] = _HIDDEN_PLACE
        return HIDDEN
    if isinstance(value, dict) and value:
        names = {key: _shown_key(masker, str(key), at) for at, key in enumerate(value)}
        return {names[key]: below(key, names[key], part) for key, part in value.items()}
    if isinstance(value, list) and value:
        return [below(at, str(at), part) for at, part in enumerate(value)]
    masked = masker.value(value)
    if path:
        grounding[shown] = _place(known.get(path), masked == value and type(masked) is type(value), link, masker.text)
    return masked


def _shown_key(masker: Masker, key: str, at: int) -> str:
    return key if masker.text(key) == key else f"{HIDDEN} {at + 1}"


def _place(known: Any, is_plain: bool, link: ShareLink, clean: Callable[[str], str]) -> dict[str, Any]:
    """Where a value that is shown stands; without pages there is nothing to point at."""
    if not is_plain:
        return _HIDDEN_PLACE
    place = dict(known) if isinstance(known, dict) else {"state": "not_found", "page": None, "boxes": [], "quote": ""}
    place["quote"] = clean(str(place.get("quote") or ""))
    if link.fields_only:
        place |= {"page": None, "boxes": [], "quote": ""}
    return place


def hidden_words(link: ShareLink, page: Page) -> set[int]:
    """Which words of the page are blacked out. A page that changed since is looked through first.

    Raises: PageNotFound, ShareFieldsOnly, ShareGone.
    """
    if not link.redact:
        return set()
    if _mask_of(link, page) is None:
        work_out_again(link)
    if link.fields_only:
        raise ShareFieldsOnly
    hidden = _mask_of(link, page)
    if hidden is None:
        raise PageNotFound
    return hidden


def _mask_of(link: ShareLink, page: Page) -> set[int] | None:
    """The hidden words of the page, None when nobody has looked through it as it is now."""
    mask = link.masks.get(str(page.number))
    return set(mask["words"]) if mask is not None and mask["sum"] == sum_of(page) else None


def _page(link: ShareLink, number: int) -> Page:
    if link.fields_only:
        raise ShareFieldsOnly
    page = page_of(link, number)
    if page is None:
        raise PageNotFound
    return page


def shared_words(link: ShareLink, number: int) -> dict[str, list[Any]]:
    """The words of a page with their boxes, column by column. Raises: ShareFieldsOnly, PageNotFound."""
    page = _page(link, number)
    columns: dict[str, Sequence[Any]] = {name: page.words.get(name, []) for name in _WORD_COLUMNS}
    return masked_columns(columns, hidden_words(link, page))


def shared_picture(link: ShareLink, number: int, width: int) -> PageImage:
    """The picture of a page with boxes drawn into it over what is hidden.

    Raises: ShareFieldsOnly, PageNotFound, ParserBusy, ParserCrashed, UnreadableFile.
    """
    page = _page(link, number)
    boxes = black_boxes(page_content(page), hidden_words(link, page))
    return cached_image(link.version, number, width, boxes=boxes)


def shared_content(link: ShareLink) -> DocumentContent:
    """All pages as a model may see them. Raises: ShareFieldsOnly, TextNotReady, PageNotFound."""
    if link.fields_only:
        raise ShareFieldsOnly
    rows = read_pages_of(link.version_id)
    if not rows:
        raise TextNotReady
    pages = [page_content(row) for row in rows]
    if link.redact:
        pages = [masked_page(page, hidden_words(link, row)) for page, row in zip(pages, rows, strict=True)]
    return DocumentContent(link.document_id.hex, shared_name(link), tuple(pages))


@dataclass(frozen=True, slots=True)
class SharedPage:
    """A page with its text. Units: points."""

    number: int
    width: float
    height: float
    text: str


def shared_sheets(link: ShareLink) -> list[Page]:
    """The pages that may be looked at: numbers and sizes only."""
    return [] if link.fields_only else pages_of(link.version_id)


def shared_pages(link: ShareLink) -> list[SharedPage]:
    """The pages with their text; none of a link that shows only fields."""
    if link.fields_only:
        return []
    shown = []
    for row in read_pages_of(link.version_id):
        page = page_content(row)
        text = masked_page(page, hidden_words(link, row)).text if link.redact else page.text
        shown.append(SharedPage(row.number, row.width, row.height, text))
    return shown
