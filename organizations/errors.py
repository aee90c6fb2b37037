"""What can go wrong with who."""

from core.errors import Conflict, Forbidden, Invalid, NotFound


class OrganizationNotFound(NotFound):
    code = "organization_not_found"
    detail = "Organization not found"


class UserNotFound(NotFound):
    code = "user_not_found"
    detail = "User not found"


class EmailTaken(Conflict):
    code = "email_taken"
    status = 400
    detail = "Email already registered"


class EmailInvalid(Invalid):
    code = "email_invalid"
    detail = "That is not an e-mail address."


class OrganizationNameTaken(Conflict):
    code = "organization_name_taken"
    status = 400


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
