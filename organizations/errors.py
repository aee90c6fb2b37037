"""What can go wrong with who."""

from core.errors import Conflict, Forbidden, Invalid, NotFound, Unavailable


class OrganizationNotFound(NotFound):
    code = "organization_not_found"
    detail = "Organization not found"


class UserNotFound(NotFound):
    code = "user_not_found"
    detail = "User not found"


class TokenNotFound(NotFound):
    code = "token_not_found"
    detail = "Token not found"


class InvitationNotFound(NotFound):
    code = "invitation_not_found"
    detail = "Invitation not found"


class InvitationExpired(Conflict):
    code = "invitation_expired"
    status = 400
    detail = "Invitation has expired"


class EmailTaken(Conflict):
    code = "email_taken"
    status = 400
    detail = "Email already registered"


class EmailInvalid(Invalid):
    code = "email_invalid"
    detail = "That is not an e-mail address."


class EmailVerified(Conflict):
    code = "email_verified"
    status = 400
    detail = "Email already verified"


class VerificationInvalid(Invalid):
    code = "verification_invalid"
    detail = "Invalid verification token"


class PasswordRefused(Invalid):
    """`detail` is what the validators say."""

    code = "password_refused"


class NothingToChange(Invalid):
    code = "nothing_to_change"
    detail = "No valid update data provided"


class OrganizationNameTaken(Conflict):
    code = "organization_name_taken"
    status = 400


class OrganizationTypeRefused(Conflict):
    code = "organization_type_refused"
    status = 400


class LastAdmin(Conflict):
    """Somebody has to be able to run what others work in."""

    code = "last_admin"
    status = 400
    detail = "Organization must have at least one admin"


class AlreadyAMember(Conflict):
    code = "already_a_member"
    status = 400
    detail = "User is already a member of this organization"


class TooManyOrganizations(Forbidden):
    code = "too_many_organizations"


class TooManyUsers(Forbidden):
    code = "too_many_users"


class NotAMember(Forbidden):
    code = "not_a_member"
    detail = "You are not a member of this organization"


class AdminRequired(Forbidden):
    code = "admin_required"
    detail = "Admin access required"


class TokenInvalid(Forbidden):
    code = "token_invalid"
    status = 401
    detail = "Invalid authentication credentials: invalid token"


class TokenExpired(Forbidden):
    code = "token_expired"
    status = 401
    detail = "API token expired"


class SignatureMissing(Forbidden):
    code = "signature_missing"
    status = 401
    detail = "Missing X-Request-Signature header"


class NotOwnWork(Forbidden):
    """A run that nobody watches wanted to change, or to run, what it did not make itself."""

    code = "not_own_work"
    detail = "A run without a person changes and runs only what it made itself, and sets no tags."


class SignatureInvalid(Forbidden):
    code = "signature_invalid"
    status = 401
    detail = "Invalid request signature"


class SignedUserUnknown(Forbidden):
    code = "signed_user_unknown"
    status = 401
    detail = "User not found in database"


class SigningNotConfigured(Unavailable):
    """No key is shared with a front end: nobody can sign in this way."""

    code = "signing_not_configured"
    status = 500
    detail = "Server configuration error"


class LetterNotSent(Unavailable):
    """The mail server did not take it; asking again makes a new one."""

    code = "letter_not_sent"
    detail = "The e-mail could not be sent. Try again in a moment."
