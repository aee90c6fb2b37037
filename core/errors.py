"""Domain errors: born once where a rule is broken, translated once at each door.

    DomainError
    ├── NotFound       the thing does not exist, or not for this actor (indistinguishable)
    ├── Forbidden      the actor may see it but may not do this
    ├── Invalid        the input breaks a rule; `fields` says which part
    ├── Conflict       the state of the thing does not allow it now
    ├── LimitReached   a size, count, rate or cost limit; `retry_after` when waiting helps
    └── Unavailable    something we depend on is not there; `retry_after` seconds when known

`code` is for programs and part of the contract, `detail` is a sentence for a person.
This module imports nothing, so that the agent's loop may use it.
"""

from typing import Any, ClassVar


class DomainError(Exception):
    """A rule of the product said no. `detail` never contains document text."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 400
    detail: str = "That is not possible."

    def __init__(
        self,
        detail: str | None = None,
        *,
        code: str | None = None,
        fields: dict[str, str] | None = None,
        retry_after: float | None = None,
        **extra: Any,
    ) -> None:
        self.error_code = code or self.code
        self.detail = detail or self.detail
        self.fields = fields or {}
        self.retry_after = retry_after
        self.extra = extra
        super().__init__(self.detail)


class NotFound(DomainError):
    code = "not_found"
    status = 404
    detail = "Not found."


class Forbidden(DomainError):
    code = "forbidden"
    status = 403
    detail = "You may not do this."


class Invalid(DomainError):
    code = "invalid"
    status = 400
    detail = "That input is not valid."


class Conflict(DomainError):
    code = "conflict"
    status = 409
    detail = "That is not possible right now."


class LimitReached(DomainError):
    code = "limit_reached"
    status = 429
    detail = "A limit was reached."


class Unavailable(DomainError):
    code = "unavailable"
    status = 503
    detail = "Something this needs is not available right now."
