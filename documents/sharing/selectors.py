"""Reading links: those of a document for its organization, and one by its id for whoever holds its token."""

import hashlib
import hmac
import uuid

from django.utils import timezone

from core.errors import NotFound
from core.ids import parse_id
from documents.models import Page, ShareLink
from documents.selectors import get_document
from documents.sharing.errors import ShareGone, ShareNotFound, ShareTokenInvalid
from organizations.actor import Actor
from organizations.gate import owned

MOST_LINKS = 200


def list_share_links(*, actor: Actor, document_id: object) -> list[ShareLink]:
    """The newest 200 links of a document, with those that ended. Raises: DocumentNotFound."""
    document = get_document(actor=actor, document_id=document_id)
    rows = owned(ShareLink, actor).filter(document=document).defer("masks")
    return list(rows.order_by("-created_at", "-id")[:MOST_LINKS])


def get_share_link(*, actor: Actor, document_id: object, share_id: object) -> ShareLink:
    """Raises: DocumentNotFound, ShareNotFound."""
    document = get_document(actor=actor, document_id=document_id)
    rows = owned(ShareLink, actor).filter(document=document, pk=parse_id(share_id, error=ShareNotFound))
    link = rows.first()
    if link is None:
        raise ShareNotFound
    return link


def link_of(*, share_id: object) -> ShareLink:
    """A link whose document is there, for whoever will show a token or ticket next. Raises: ShareTokenInvalid."""
    try:
        link_id = parse_id(share_id)
    except NotFound as problem:
        raise ShareTokenInvalid from problem
    rows = ShareLink.objects.select_related("document", "version", "extraction__prompt_revision")
    live = rows.filter(document__deleted_at__isnull=True, organization__deleted_at__isnull=True)
    link = live.filter(pk=link_id).first()
    if link is None:
        raise ShareTokenInvalid
    return link


def token_digest(token: str) -> str:
    """What of a token is kept."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def check_token(link: ShareLink, token: str) -> None:
    """Raises: ShareTokenInvalid."""
    if not hmac.compare_digest(token_digest(token), link.token_digest):
        raise ShareTokenInvalid


def check_open(link: ShareLink) -> None:
    """Asked for every request, so that revoking a link ends what is open. Raises: ShareGone."""
    if link.revoked_at is not None:
        raise ShareGone("This link was taken back.", code="share_revoked")
    if link.expires_at is not None and link.expires_at <= timezone.now():
        raise ShareGone("This link has expired.", code="share_expired")


def page_of(link: ShareLink, number: int) -> Page | None:
    """A page of the version that the link shows."""
    return Page.objects.filter(version_id=link.version_id, number=number).first() if 0 < number < 2**31 else None


def pages_of(version_id: uuid.UUID) -> list[Page]:
    """All pages of a version in order, without their words and text."""
    return list(Page.objects.filter(version_id=version_id).order_by("number").defer("words", "text"))


def read_pages_of(version_id: uuid.UUID) -> list[Page]:
    """All pages of a version in order, with their words."""
    return list(Page.objects.filter(version_id=version_id).order_by("number"))
