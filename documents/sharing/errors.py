"""What can go wrong with links and publications, in sentences for a person."""

from core.errors import Conflict, DomainError, Forbidden, Invalid, NotFound


class ShareNotFound(NotFound):
    code = "share_not_found"
    detail = "There is no such link."


class ShareTokenInvalid(DomainError):
    """An unknown link, a wrong token, a ticket that ran out: they look the same."""

    code = "share_token_invalid"
    status = 401
    detail = "This link is not valid, or the time to look at it has ended. Open the link again as you were sent it."


class SharePasswordWrong(DomainError):
    code = "share_password_wrong"
    status = 401
    detail = "This link needs its password, and this is not it."


class ShareGone(DomainError):
    """`code` says which: expired, used up, revoked, or nothing is left that can be shown."""

    code = "share_gone"
    status = 410
    detail = "This link can no longer be used."


class ShareRoleRefused(Forbidden):
    code = "share_role"
    detail = "This link is for looking only; questions cannot be asked through it."


class ShareAnswersUsedUp(DomainError):
    code = "share_answers_used_up"
    status = 410
    detail = "All the answers that this link allows have been given."


class ShareFieldsOnly(Conflict):
    code = "share_fields_only"
    detail = "This link shows only fields: its pages cannot be shown or asked about."


class ShareInvalid(Invalid):
    code = "share_invalid"
    detail = "A link like this cannot be made."


class PublicationNotFound(NotFound):
    code = "publication_not_found"
    detail = "There is no such publication."


class PublicationWithdrawn(DomainError):
    code = "publication_withdrawn"
    status = 410
    detail = "This publication was withdrawn."


class NothingPublished(Conflict):
    code = "nothing_published"
    detail = "Nothing of this document is published."
