"""The actor: who does something, for which organization, through which door."""

import uuid
from dataclasses import dataclass
from typing import Literal

Role = Literal["admin", "user"]
Via = Literal["page", "api", "agent", "task"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The first keyword of every selector and service.

    `name` is what is written beside what the actor did (the user's name, or the access token's). `run_id` is set when
    nobody watches: the propose run that what is made belongs to. `reuses` is the one prompt revision of somebody else's
    that it may run.
    """

    user_id: uuid.UUID
    organization_id: uuid.UUID
    role: Role
    via: Via
    name: str = ""
    run_id: uuid.UUID | None = None
    reuses: uuid.UUID | None = None

    @property
    def is_admin(self) -> bool:
        return self.role == "admin"
