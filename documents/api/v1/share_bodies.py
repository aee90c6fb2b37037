"""Links to share and publications as `/v1` has them."""

from typing import Annotated, Any, Literal

from pydantic import Field

from core.api.v1 import Millis, V1Answer, V1Body
from core.ids import show_id
from documents.models import Publication, ShareLink

_YEAR_MS = 366 * 24 * 3_600_000


class V1ShareStart(V1Body):
    """What the link lets people do, for how long, and which fields are blacked out everywhere ("lines.*.price")."""

    role: Literal["view", "ask"] = "view"
    expires_in_ms: Annotated[int | None, Field(ge=1000, le=_YEAR_MS)] = None
    max_views: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    password: Annotated[str, Field(max_length=200)] = ""
    redact: Annotated[list[str], Field(max_length=200)] = []
    prompt_revid: str | None = None


class V1ShareLink(V1Answer):
    """A link. `fieldsOnly`: a hidden value could not be located on the pages, so none of them is shown."""

    share_id: str
    role: Literal["view", "ask"]
    views: int
    max_views: int | None
    expires_at: Millis | None
    created_at: Millis
    last_viewed_at: Millis | None
    revoked_at: Millis | None
    has_password: bool
    redact: list[str]
    fields_only: bool
    reason: str
    answers: int
    max_answers: int
    cost_usd: float

    @classmethod
    def facts_of(cls, link: ShareLink) -> dict[str, Any]:
        """The row as the fields of an answer."""
        return {
            "share_id": show_id(link.pk),
            "role": link.role,
            "views": link.views,
            "max_views": link.max_views,
            "expires_at": link.expires_at,
            "created_at": link.created_at,
            "last_viewed_at": link.last_viewed_at,
            "revoked_at": link.revoked_at,
            "has_password": bool(link.password_hash),
            "redact": link.redact,
            "fields_only": link.fields_only,
            "reason": link.fields_only_reason,
            "answers": link.answers,
            "max_answers": link.max_answers,
            "cost_usd": float(link.cost_usd),
        }


class V1ShareMade(V1ShareLink):
    """A new link. Address and token are shown only now."""

    url: str
    token: str


class V1ShareLinks(V1Answer):
    """The newest 200 links of a document."""

    share_links: list[V1ShareLink]


class V1ShareQuery(V1Body):
    """The token of a link, or the ticket of a view, where they cannot be sent as headers."""

    token: str = ""
    ticket: str = ""


class V1SharedPage(V1Answer):
    """A page: its text, and where its picture and its words with their boxes are. Units: points."""

    number: int
    width: float
    height: float
    text: str
    image_url: str
    words_url: str


class V1SharedExtraction(V1Answer):
    """Values, and by path where each of them stands; `state` "redacted" for what is hidden."""

    data: Any
    grounding: dict[str, Any]


class V1Share(V1Answer):
    """What a link shows. `ticket` continues this view for a while without counting another one."""

    share_id: str
    role: Literal["view", "ask"]
    name: str
    expires_at: Millis | None
    views_left: int | None
    answers_left: int
    ticket: str
    ticket_seconds: int
    fields_only: bool
    extraction: V1SharedExtraction | None
    pages: list[V1SharedPage]


class V1PublishStart(V1Body):
    """Which result to freeze (the newest without any), whether its pages are shown; or what to withdraw."""

    prompt_revid: str | None = None
    run_id: str | None = None
    include_pages: bool = False
    unpublish: bool = False
    publication_id: str | None = None


class V1PublicationMade(V1Answer):
    """A publication of a document; `version` counts them."""

    publication_id: str
    version: int
    url: str
    published_at: Millis
    withdrawn_at: Millis | None


class V1Publications(V1Answer):
    """The newest 200 publications of a document, with those that were withdrawn."""

    publications: list[V1PublicationMade]


class V1PublishedPage(V1Answer):
    """A page and where its picture is. Units: points."""

    number: int
    width: float
    height: float
    image_url: str


class V1Publication(V1Answer):
    """What was published, as it was then."""

    publication_id: str
    version: int
    name: str
    published_at: Millis
    document_version: int
    is_verified: bool
    data: Any
    grounding: dict[str, Any]
    pages: list[V1PublishedPage]

    @classmethod
    def of(cls, row: Publication, pages: list[V1PublishedPage]) -> "V1Publication":
        """The row as an answer."""
        return cls(
            publication_id=show_id(row.pk),
            version=row.number,
            name=row.payload["name"],
            published_at=row.created_at,
            document_version=row.payload["documentVersion"],
            is_verified=row.payload["isVerified"],
            data=row.payload["data"],
            grounding=row.payload["grounding"],
            pages=pages,
        )
