"""Server-sent events: one frame, the response of a stream, the cursor that a reader comes back with."""

from collections.abc import AsyncGenerator

from django.http import HttpRequest, StreamingHttpResponse

from core.errors import Invalid

KEEPALIVE_SECONDS = 15.0
KEEPALIVE = b": keepalive\n\n"
MAX_CURSOR = 2**53


class CursorInvalid(Invalid):
    code = "cursor_invalid"
    detail = "Last-Event-ID is the number of an event."


def frame(data: str, *, seq: int | None = None, name: str = "") -> bytes:
    """One event. `seq` is the cursor that a reader comes back with; `data` has no line breaks."""
    lines = [f"id: {seq}"] if seq is not None else []
    lines += [f"event: {name}"] if name else []
    return "\n".join([*lines, f"data: {data}", "", ""]).encode()


def event_response(content: AsyncGenerator[bytes, None]) -> StreamingHttpResponse:
    """The response of every stream: never kept, never collected by a proxy, never compressed."""
    response = StreamingHttpResponse(content, content_type="text/event-stream; charset=utf-8")
    response["Cache-Control"] = "no-cache"
    response["X-Accel-Buffering"] = "no"
    response["Content-Encoding"] = "identity"
    return response


def wants_events(request: HttpRequest) -> bool:
    """Whether the reader asked for a stream."""
    return "text/event-stream" in request.headers.get("Accept", "")


def cursor_of(request: HttpRequest, *, otherwise: int) -> int:
    """The last event that the reader has, by its header. Raises: CursorInvalid."""
    given = request.headers.get("Last-Event-ID", "").strip()
    if not given:
        return otherwise
    if not (given.isascii() and given.isdigit() and len(given) <= 16 and int(given) <= MAX_CURSOR):
        raise CursorInvalid()
    return int(given)
