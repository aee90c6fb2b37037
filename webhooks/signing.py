"""The signature of a delivery: HMAC-SHA256 over `timestamp.body` (docs/webhooks.md tells receivers)."""

import hashlib
import hmac
import secrets

PREFIX = "whs_"


def new_secret() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def signature(*, secret: str, timestamp: int, body: bytes) -> str:
    """The value of `X-DocRouter-Signature`."""
    digest = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256)
    return f"sha256={digest.hexdigest()}"
