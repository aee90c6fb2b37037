"""The address of a webhook and the header that it may have, as text from outside: what can be used, and how it is read.

What an address leads to is looked at when it is connected to (`webhooks.guard`).
"""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings

from webhooks.errors import WebhookInvalid
from webhooks.guard import is_permitted

MAX_URL = 2000
MAX_HEADER_VALUE = 4000
_HOST = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_OURS = {
    *("host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "te", "upgrade"),
    *("trailer", "expect", "keep-alive", "user-agent", "accept", "accept-encoding"),
}


@dataclass(frozen=True, slots=True)
class Place:
    """An address in its parts, as the request has them."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{_shown(self.host)}:{self.port}"

    @property
    def host_header(self) -> str:
        usual = {"http": 80, "https": 443}[self.scheme]
        return _shown(self.host) if self.port == usual else f"{_shown(self.host)}:{self.port}"


def read_url(text: str) -> Place:
    """Raises: WebhookInvalid, in a sentence without the address."""
    if not text or len(text) > MAX_URL or not text.isascii() or not text.isprintable() or " " in text or "\\" in text:
        raise _refusal(f"An address has at most {MAX_URL} characters, all of them plain ASCII without spaces.")
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").lower().removesuffix("."), parts.port
    except ValueError:
        raise _refusal("This is not an address.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise _refusal("An address begins with https:// or http:// and a name.")
    if "@" in parts.netloc:
        raise _refusal("An address may not have a user name or a password in it.")
    port = port or {"http": 80, "https": 443}[parts.scheme]
    if settings.WEBHOOK_PORTS and port not in settings.WEBHOOK_PORTS:
        raise _refusal("This port is not allowed here.")
    _check_host(host)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Place(parts.scheme, host, port, path)


def check_header(name: str, value: str) -> None:
    """Raises: WebhookInvalid."""
    if not _TOKEN.fullmatch(name) or name.lower() in _OURS or name.lower().startswith("x-docrouter-"):
        message = "letters, digits and dashes; none of the headers that we send ourselves"
        raise WebhookInvalid(f"A header's name has {message}.", fields={"auth_header_name": message})
    if not value or len(value) > MAX_HEADER_VALUE or not (value.isascii() and value.isprintable()):
        message = f"1 to {MAX_HEADER_VALUE} visible ASCII characters"
        raise WebhookInvalid(f"A header's value has {message}.", fields={"auth_header_value": message})


def _check_host(host: str) -> None:
    try:
        address = ip_address(host)
    except ValueError:
        if len(host) > 253 or not _HOST.fullmatch(host):
            raise _refusal("The name in this address cannot be used.") from None
        return
    if "%" in host or not is_permitted(address):
        raise _refusal("This address is in a private or reserved network, which webhooks may not reach.")


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _refusal(sentence: str) -> WebhookInvalid:
    return WebhookInvalid(sentence, fields={"url": sentence})
