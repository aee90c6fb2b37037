"""The tenant gate: the only way from an actor to rows of an organization."""

import uuid
from collections.abc import Sequence
from typing import TypeVar

from django.db.models import QuerySet

from core.errors import NotFound
from core.ids import parse_id
from core.models import TenantModel, TrashableModel
from organizations.actor import Actor
from organizations.errors import NotOwnWork

M = TypeVar("M", bound=TenantModel)


def owned(model: type[M], actor: Actor) -> QuerySet[M]:
    """Rows of the actor's organization that are not in the trash."""
    rows = model._default_manager.filter(organization_id=actor.organization_id)
    return rows.filter(deleted_at__isnull=True) if issubclass(model, TrashableModel) else rows


def get_owned(
    model: type[M], actor: Actor, row_id: object, *, error: type[NotFound] = NotFound, related: Sequence[str] = ()
) -> M:
    """One row by its id, with what it points at by the names in `related`.

    Unknown, foreign, deleted and malformed ids look the same. Raises: `error`.
    """
    rows = owned(model, actor).filter(pk=parse_id(row_id, error=error))
    row = next(iter(rows.select_related(*related) if related else rows), None)
    if row is None:
        raise error()
    return row


def require_own_work(*, actor: Actor, made_by_run: uuid.UUID | None) -> None:
    """A person may change anything; a run that nobody watches only what it made itself. Raises: NotOwnWork."""
    if actor.run_id is not None and made_by_run != actor.run_id:
        raise NotOwnWork
