"""Who, as the wire has it: sessions, tokens, organizations, users, letters."""

import json
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from core.api.bodies import HIGHEST, Answer, Body, Paging
from core.ids import show_id
from organizations.models import AccessToken, Invitation, Organization, User

Role = Literal["admin", "user"]
Type = Literal["individual", "team", "enterprise"]
FlowLogLevel = Literal["ERROR", "INFO", "TRACE"]
OcrMode = Literal["textract", "mistral", "mistral_vertex", "llm", "pymupdf"]
TextractFeature = Literal["FORMS", "LAYOUT", "SIGNATURES", "TABLES"]
PersonName = Annotated[str, Field(max_length=200)]
Address = Annotated[str, Field(max_length=254)]
Password = Annotated[str, Field(max_length=1024)]
MAX_OCR_CONFIG_CHARS = 10_000


class SignedUserBody(Body):
    """Whom a front end vouches for, by its signature over the whole body."""

    id: str
    name: str
    email: str


class SessionAnswer(Answer):
    token: str


class TokenBody(Body):
    """`lifetime` in days; 0 never ends."""

    name: str
    lifetime: int


class AccessTokenAnswer(Answer):
    """`token` is the whole text in the answer that makes it, afterwards its first ten characters."""

    id: str
    user_id: str
    organization_id: str | None
    name: str
    token: str
    created_at: datetime
    lifetime: int

    @classmethod
    def of(cls, row: AccessToken, *, text: str = "") -> "AccessTokenAnswer":
        """The row as an answer; `text` is there only when it was just made."""
        return cls(
            id=show_id(row.pk),
            user_id=show_id(row.user_id),
            organization_id=show_id(row.organization_id) if row.organization_id else None,
            name=row.name,
            token=text or row.prefix,
            created_at=row.created_at,
            lifetime=row.lifetime_days,
        )


class AccessTokensAnswer(Answer):
    access_tokens: list[AccessTokenAnswer]


class TokenQuery(Body):
    token: str


class TokenOrganizationAnswer(Answer):
    """All null for an account-level token."""

    organization_id: str | None = None
    organization_name: str | None = None
    organization_type: Type | None = None


class TextractConfig(Body):
    feature_types: list[TextractFeature] = Field(default_factory=list, max_length=4)


class OcrModelConfig(Body):
    provider: str | None = None
    model: str | None = None


class OcrConfig(Body):
    """Kept for clients; pages are read by this server's own engine whatever stands here."""

    mode: OcrMode = "textract"
    textract: TextractConfig = Field(default_factory=TextractConfig)
    mistral: dict[str, Any] = Field(default_factory=dict)
    mistral_vertex: dict[str, Any] = Field(default_factory=dict)
    pymupdf: dict[str, Any] = Field(default_factory=dict)
    llm: OcrModelConfig = Field(default_factory=OcrModelConfig)

    @model_validator(mode="after")
    def is_small(self) -> "OcrConfig":
        """What is kept with every organization stays small."""
        if len(json.dumps(self.model_dump())) > MAX_OCR_CONFIG_CHARS:
            raise ValueError(f"ocr_config has at most {MAX_OCR_CONFIG_CHARS} characters")
        return self


class OcrCatalog(Answer):
    textract_feature_types: list[str] = ["FORMS", "LAYOUT", "SIGNATURES", "TABLES"]
    modes: list[str] = ["textract", "mistral", "mistral_vertex", "llm", "pymupdf"]
    mistral_enabled: bool = False
    mistral_vertex_enabled: bool = False


class NewOrganizationBody(Body):
    """Without `default_prompt_enabled` it is on where that costs nothing."""

    name: str
    type: Type = "individual"
    default_prompt_enabled: bool | None = None
    auto_create_enabled: bool | None = None
    experimental_features: bool = False
    flow_log_level: FlowLogLevel = "ERROR"
    ocr_config: OcrConfig | None = None


class MemberBody(Body):
    user_id: str
    role: Role


class OrganizationBody(Body):
    """What changes; what is not there stays, except `type`, which is "individual" when it is not there."""

    name: str | None = None
    type: Type | None = "individual"
    members: Annotated[list[MemberBody], Field(max_length=10_000)] | None = None
    default_prompt_enabled: bool | None = None
    auto_create_enabled: bool | None = None
    experimental_features: bool | None = None
    flow_log_level: FlowLogLevel | None = None
    ocr_config: OcrConfig | None = None


class MemberAnswer(Answer):
    user_id: str
    role: Role


class OrganizationAnswer(Answer):
    id: str
    name: str
    members: list[MemberAnswer]
    type: Type
    default_prompt_enabled: bool
    auto_create_enabled: bool
    experimental_features: bool
    flow_log_level: FlowLogLevel
    ocr_config: OcrConfig
    ocr_catalog: OcrCatalog
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, row: Organization) -> "OrganizationAnswer":
        """The row as an answer, with its members."""
        return cls.model_validate(
            {
                "id": show_id(row.pk),
                "name": row.name,
                "members": [{"user_id": show_id(one.user_id), "role": one.role} for one in row.memberships.all()],
                "type": row.type,
                "default_prompt_enabled": row.default_prompt_enabled,
                "auto_create_enabled": row.auto_create_enabled,
                "experimental_features": row.experimental_features,
                "flow_log_level": row.flow_log_level,
                "ocr_config": row.ocr_config,
                "ocr_catalog": OcrCatalog(),
                "created_at": row.created_at,
                "updated_at": row.updated_at,
            }
        )


class OrganizationsAnswer(Answer):
    organizations: list[OrganizationAnswer]
    total_count: int
    skip: int


class OrganizationsQuery(Paging):
    """`user_id` and `organization_id` exclude each other. Searches are plain text, at most 200 characters."""

    user_id: str | None = None
    organization_id: str | None = None
    name_search: str | None = None
    member_search: str | None = None


class StatusAnswer(Answer):
    status: Literal["success"] = "success"


class UserBody(Body):
    email: Address
    name: PersonName
    password: Password


class UserUpdateBody(Body):
    """What changes. `role` and `email_verified` count only from who runs the deployment."""

    name: PersonName | None = None
    password: Password | None = None
    role: Role | None = None
    email_verified: bool | None = None
    has_seen_tour: bool | None = None


class UserAnswer(Answer):
    id: str
    email: str
    name: str | None
    role: Role
    email_verified: bool | None
    created_at: datetime
    has_password: bool
    has_seen_tour: bool | None = None

    @classmethod
    def of(cls, user: User) -> "UserAnswer":
        """The row as an answer. `has_seen_tour` is null, as in the reference."""
        return cls(
            id=show_id(user.pk),
            email=user.email,
            name=user.name or None,
            role="admin" if user.is_system_admin else "user",
            email_verified=user.email_verified,
            created_at=user.created_at,
            has_password=user.has_usable_password(),
        )


class UsersAnswer(Answer):
    users: list[UserAnswer]
    total_count: int
    skip: int


class UsersQuery(Body):
    """`user_id` and `organization_id` exclude each other. `limit` has no upper bound."""

    skip: Annotated[int, Field(ge=0, le=HIGHEST)] = 0
    limit: Annotated[int, Field(ge=1, le=HIGHEST)] = 10
    organization_id: str | None = None
    user_id: str | None = None
    search_name: str | None = None


class InvitationBody(Body):
    """Without an organization: an account of their own, offered by who runs the deployment."""

    email: Address
    organization_id: str | None = None
    role: Role = "user"


class AcceptBody(Body):
    """Needed for a new account; who has one joins with it as it is."""

    name: PersonName | None = None
    password: Password | None = None


class InvitationAnswer(Answer):
    id: str
    email: str
    organization_id: str | None
    organization_name: str | None
    role: Role
    user_exists: bool
    created_at: datetime
    expires_at: datetime

    @classmethod
    def of(cls, row: Invitation, *, user_exists: bool) -> "InvitationAnswer":
        """The row as an answer."""
        return cls(
            id=show_id(row.pk),
            email=row.email,
            organization_id=show_id(row.organization.pk) if row.organization else None,
            organization_name=row.organization.name if row.organization else None,
            role="admin" if row.role == "admin" else "user",
            user_exists=user_exists,
            created_at=row.created_at,
            expires_at=row.expires_at,
        )


class InvitationsAnswer(Answer):
    invitations: list[InvitationAnswer]
    total_count: int
    skip: int
