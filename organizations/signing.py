"""Signatures: our own on sessions (JWT), and a front end's on the request that asks for one. No rows here.

The keys of the two jobs are different. The first key of a list signs; all verify, so that keys rotate.
"""

import hashlib
import hmac
import uuid
from datetime import datetime

import jwt
from django.conf import settings

from core.errors import NotFound
from core.ids import parse_id, show_id
from organizations.errors import SignatureInvalid, SignatureMissing, SigningNotConfigured, TokenInvalid

ALGORITHM = "HS256"
_LONGEST = 4096  # characters of a token that are worth a look


def sign_session(*, session_id: uuid.UUID, user_id: uuid.UUID, name: str, email: str, expires_at: datetime) -> str:
    """The token of a session, with the claims that clients know."""
    claims = {
        "userId": show_id(user_id),
        "userName": name,
        "email": email,
        "jti": show_id(session_id),
        "exp": expires_at,
    }
    return jwt.encode(claims, settings.SESSION_SIGNING_KEYS[0], algorithm=ALGORITHM)


def session_id_of(*, token: str) -> uuid.UUID:
    """The session that a token of ours names. Raises: TokenInvalid, also when it has expired."""
    for key in settings.SESSION_SIGNING_KEYS if len(token) <= _LONGEST else ():
        try:
            claims = jwt.decode(token, key, algorithms=[ALGORITHM], options={"require": ["exp", "jti"]})
        except (jwt.InvalidTokenError, ValueError, RecursionError):  # of a header that is no text, or too deep
            continue
        return _read_id(claims["jti"])
    raise TokenInvalid()


def check_request_signature(*, raw: bytes, signature: str | None) -> None:
    """Whether a front end that shares a key with us sent exactly these bytes.

    Raises: SigningNotConfigured, SignatureMissing, SignatureInvalid.
    """
    if not settings.REQUEST_SIGNING_KEYS:
        raise SigningNotConfigured()
    if not signature:
        raise SignatureMissing()
    given = signature.strip().lower().encode(errors="replace")
    if not any(hmac.compare_digest(_hexdigest(key, raw), given) for key in settings.REQUEST_SIGNING_KEYS):
        raise SignatureInvalid()


def _hexdigest(key: str, raw: bytes) -> bytes:
    return hmac.new(key.encode(), raw, hashlib.sha256).hexdigest().encode()


def _read_id(text: object) -> uuid.UUID:
    try:
        return parse_id(text)
    except NotFound as problem:
        raise TokenInvalid() from problem
