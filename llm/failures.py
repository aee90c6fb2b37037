"""What litellm raises → our errors. The provider's text stays behind; its machine-readable code may come along."""

import json
import re
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import Any

import structlog
from django.utils import timezone

from llm import errors
from llm.types import Completion

log = structlog.get_logger(__name__)

_CODE = re.compile(r"^[a-z][a-z0-9_]{2,40}$")
_BY_STATUS: dict[int, type[errors.ModelError]] = {
    401: errors.ModelKeyRefused,
    402: errors.ModelOutOfCredit,
    403: errors.ModelKeyRefused,
    404: errors.ModelNotFound,
    408: errors.ModelTimeout,
    413: errors.ModelContextTooLong,
    429: errors.ModelBusy,
}
_CONNECTION = frozenset(
    ("ConnectError", "ReadError", "WriteError", "RemoteProtocolError", "NetworkError", "ServerDisconnectedError")
)
_TIMEOUTS = frozenset(("TimeoutError", "ReadTimeout", "WriteTimeout", "PoolTimeout", "APITimeoutError", "Timeout"))
_CONNECT_TIMEOUTS = frozenset(("ConnectTimeout", "ConnectionTimeoutError"))
_UNREADABLE = frozenset(("JSONDecodeError", "APIResponseValidationError", "ValidationError"))


def translate(error: Exception, *, begun: bool, partial: Completion | None) -> errors.ModelError:
    """Our error for what a call raised. `begun`: the model had already said something."""
    names = [type(link).__name__ for link in _chain(error)]
    kind = _kind(error, names)
    status = _status(error)
    if begun and kind.retryable and kind is not errors.ModelTimeout:
        kind = errors.ModelStreamBroken
    log.warning("model_call.failed", code=kind.code, status=status, kinds=names[:4], begun=begun, where=_where(error))
    return kind(_sentence(kind, error, status), retry_after=_retry_after(error), partial=partial)


def _where(error: Exception) -> str:
    """File and line where the oldest cause was raised: enough to find a bug, without the words of its message."""
    *_, oldest = _chain(error)
    trace = oldest.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""


def _kind(error: Exception, names: list[str]) -> type[errors.ModelError]:
    if "ContextWindowExceededError" in names:
        return errors.ModelContextTooLong
    if not _CONNECT_TIMEOUTS.isdisjoint(names):
        return errors.ModelUnreachable
    if not _TIMEOUTS.isdisjoint(names):
        return errors.ModelTimeout
    if not _UNREADABLE.isdisjoint(names):
        return errors.ModelReplyMalformed
    if not _CONNECTION.isdisjoint(names):
        return errors.ModelUnreachable
    status = _status(error)
    if status is None:
        return errors.ModelError
    refused = errors.ModelRequestRefused if 400 <= status < 500 else errors.ModelFailed
    return _BY_STATUS.get(status, refused)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error, what it wraps and what led to it, nearest first, each once."""
    waiting, seen = [error], set()
    while waiting:
        link = waiting.pop(0)
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        waiting += [getattr(link, "original_exception", None), link.__cause__, link.__context__]


def _status(error: Exception) -> int | None:
    """The HTTP status that the provider sent; litellm's invented ones count only when it sent none."""
    for link in reversed(list(_chain(error))):
        status = getattr(getattr(link, "response", None), "status_code", None) or getattr(link, "status_code", None)
        if isinstance(status, int) and status >= 400:
            return status
    return None


def _headers(error: Exception) -> Any:
    for link in _chain(error):
        for headers in (
            getattr(link, "litellm_response_headers", None),
            getattr(getattr(link, "response", None), "headers", None),
        ):
            if headers and "retry-after" in headers:
                return headers
    return {}


def _retry_after(error: Exception) -> float | None:
    """Units: seconds, from a number or a date."""
    value = _headers(error).get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - timezone.now()).total_seconds())
    except (TypeError, ValueError):
        return None


def _sentence(kind: type[errors.ModelError], error: Exception, status: int | None) -> str:
    if kind not in (errors.ModelRequestRefused, errors.ModelFailed) or status is None:
        return kind.detail
    code = _provider_code(error)
    return f"{kind.detail} (HTTP {status}{', ' + code if code else ''})"


def _provider_code(error: Exception) -> str | None:
    """The provider's own word for the error, if it is only a word."""
    for link in _chain(error):
        body = getattr(link, "body", None) or _body(getattr(link, "response", None))
        details = body.get("error", body) if isinstance(body, dict) else None
        if isinstance(details, dict):
            for key in ("code", "type"):
                if isinstance(value := details.get(key), str) and _CODE.match(value):
                    return value
    return None


def _body(response: Any) -> Any:
    try:
        return json.loads(response.content)
    except (AttributeError, ValueError, RuntimeError):  # no response, no JSON, or a stream that nobody read
        return None
