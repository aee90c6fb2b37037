"""The ticket that a token is exchanged for: one view of one link, signed, good for a few minutes."""

import uuid

from django.conf import settings
from django.core import signing

from core.ids import new_id
from documents.sharing.errors import ShareTokenInvalid

_SALT = "documents.sharing.ticket"


def issue(link_id: uuid.UUID) -> str:
    """A ticket of its own for each view."""
    return signing.dumps([link_id.hex, new_id().hex], salt=_SALT)


def check(ticket: str, link_id: uuid.UUID) -> None:
    """Raises: ShareTokenInvalid when it is another link's, too old, or not ours."""
    try:
        found = signing.loads(ticket, salt=_SALT, max_age=settings.SHARE_TICKET_SECONDS)
    except signing.BadSignature as problem:
        raise ShareTokenInvalid from problem
    if not isinstance(found, list) or found[:1] != [link_id.hex]:
        raise ShareTokenInvalid
