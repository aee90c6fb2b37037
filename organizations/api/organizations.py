"""Organizations over JSON."""

import uuid
from collections.abc import Callable, Sequence

from rest_framework.request import Request

from core.api.operations import operation
from core.errors import Invalid, NotFound
from core.ids import parse_id
from core.listing import page_of
from organizations import selectors, services
from organizations.actor import Role
from organizations.api.bodies import (
    MemberBody,
    NewOrganizationBody,
    OrganizationAnswer,
    OrganizationBody,
    OrganizationsAnswer,
    OrganizationsQuery,
    StatusAnswer,
)
from organizations.api.doors import AccountView
from organizations.services import OrganizationChanges

NEW = {"name": "Acme", "type": "team"}
CHANGED = {"name": "Acme Ltd", "type": "team"}


def _never() -> bool:
    return False


class OrganizationsView(AccountView):
    """The organizations that the caller may see, and a new one.

    `default_prompt_is_free` comes from the roof, which knows the models: whether running the default prompt on every
    document of a new organization costs nothing.
    """

    default_prompt_is_free: Callable[[], bool] = staticmethod(_never)

    @operation(
        "list_organizations",
        "List organizations",
        tag="Organizations",
        answer=OrganizationsAnswer,
        query=OrganizationsQuery,
        errors=(400, 404),
    )
    def get(self, request: Request) -> OrganizationsAnswer:
        asked = self.query(OrganizationsQuery)
        rows = selectors.list_organizations(by=self.caller.user, **asked.model_dump(exclude={"skip", "limit"}))
        found = page_of(rows, skip=asked.skip, limit=asked.limit)
        return OrganizationsAnswer(
            organizations=[OrganizationAnswer.of(row) for row in found.rows],
            total_count=found.total_count,
            skip=found.skip,
        )

    @operation(
        "create_organization",
        "Make an organization",
        tag="Organizations",
        answer=OrganizationAnswer,
        body=NewOrganizationBody,
        errors=(400,),
        example=NEW,
    )
    def post(self, request: Request) -> OrganizationAnswer:
        asked = self.body(NewOrganizationBody)
        given = asked.default_prompt_enabled
        changes = OrganizationChanges(
            default_prompt_enabled=self.default_prompt_is_free() if given is None else given,
            auto_create_enabled=asked.auto_create_enabled,
            experimental_features=asked.experimental_features,
            flow_log_level=asked.flow_log_level,
            ocr_config=asked.ocr_config.model_dump() if asked.ocr_config else None,
        )
        made = services.create_organization(
            name=asked.name, owner=self.caller.user, type=asked.type, changes=changes, via="api"
        )
        return OrganizationAnswer.of(made)


class OrganizationDetailView(AccountView):
    """One organization; for its admins and who runs the deployment."""

    @operation(
        "update_organization",
        "Change an organization",
        tag="Organizations",
        answer=OrganizationAnswer,
        body=OrganizationBody,
        errors=(400, 404),
        example=CHANGED,
    )
    def put(self, request: Request, organization_id: str) -> OrganizationAnswer:
        asked = self.body(OrganizationBody)
        changes = OrganizationChanges(
            name=asked.name,
            type=asked.type,
            members=None if asked.members is None else _roles(asked.members),
            default_prompt_enabled=asked.default_prompt_enabled,
            auto_create_enabled=asked.auto_create_enabled,
            experimental_features=asked.experimental_features,
            flow_log_level=asked.flow_log_level,
            ocr_config=asked.ocr_config.model_dump() if asked.ocr_config else None,
        )
        return OrganizationAnswer.of(
            services.update_organization(by=self.caller.user, organization_id=organization_id, changes=changes)
        )

    @operation("delete_organization", "Delete an organization", tag="Organizations", answer=StatusAnswer, errors=(404,))
    def delete(self, request: Request, organization_id: str) -> StatusAnswer:
        services.delete_organization(by=self.caller.user, organization_id=organization_id)
        return StatusAnswer()


def _roles(members: Sequence[MemberBody]) -> dict[uuid.UUID, Role]:
    """Raises: Invalid for an id that cannot be anybody's, and for somebody who is named twice."""
    roles: dict[uuid.UUID, Role] = {}
    for member in members:
        try:
            user_id = parse_id(member.user_id)
        except NotFound as problem:
            raise Invalid(f"User not found: {member.user_id[:40]}") from problem
        if user_id in roles:
            raise Invalid(f"A user can be a member once: {member.user_id[:40]}")
        roles[user_id] = member.role
    return roles
