"""Telling open sockets that memberships changed, so that who may no longer look is shown out at once."""

import uuid

from core.publish import publish_on_commit


def members_group(organization_id: uuid.UUID) -> str:
    """The channel group of everybody who looks at something of this organization."""
    return f"members.{organization_id.hex}"


def tell_membership_changed(*, organization_id: uuid.UUID) -> None:
    """After the commit: every socket looks again whether its person may still see what it shows."""
    publish_on_commit(members_group(organization_id), {"type": "membership.changed"})
