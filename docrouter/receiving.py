"""How daphne takes in bodies: forms are left to Django, and one that no address would take is cut off while it comes.

The server below daphne reads every form into memory, several times over, before anybody is asked. Django does it
again, piece by piece, into files.
"""

import json
from typing import Any

from daphne import http_protocol
from django.conf import settings

LARGEST_BODY = 4 * settings.MAX_UPLOAD_BYTES  # a form of our pages may bring several files
_REFUSAL = json.dumps({"detail": f"A request has at most {LARGEST_BODY // 1_048_576} MB.", "code": "body_too_large"})
_ANSWER = (
    "HTTP/1.1 413 Content Too Large\r\nContent-Type: application/json\r\n"
    f"Content-Length: {len(_REFUSAL)}\r\nConnection: close\r\n\r\n{_REFUSAL}"
).encode()


class BoundedRequest(http_protocol.WebRequest):  # type: ignore[misc]  # daphne says nothing of its types
    """A request whose body is bounded, and not looked into."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options, parsePOSTFormSubmission=False)
        self._received = 0

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - twisted's name
        """Called when the headers are there; `length` is what they promise."""
        super().gotLength(length)
        if length is not None and length > LARGEST_BODY:
            self._refuse()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - twisted's name
        """Called for each piece, also of a body that does not say how long it is."""
        self._received += len(data)
        if self._received > LARGEST_BODY:
            self._refuse()
        else:
            super().handleContentChunk(data)

    def _refuse(self) -> None:
        if not self.channel.transport.disconnecting:
            self.channel.transport.write(_ANSWER)
            self.channel.transport.loseConnection()


def bound_bodies() -> None:
    """Make daphne's requests so; once, before it listens."""
    http_protocol.WebRequest = BoundedRequest
