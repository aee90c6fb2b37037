"""Whose text is in a request to a model, and whether it may leave this server.

The gate stands where a request gets its key (`llm.requests.access`): nothing goes out without having said what it is
made of. This floor knows no documents: whoever asks works the answer out just before (`documents.leaving`).
"""

import uuid
from dataclasses import dataclass

import structlog

from llm import registry
from llm.errors import NeverSendToModel

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Sources:
    """The documents that a request tells a model of. `local_only`: one of them is never to leave this server for it."""

    document_ids: tuple[uuid.UUID, ...]
    local_only: bool


NO_DOCUMENT = Sources((), local_only=False)
"""For what people type themselves where no document is at hand. A house test names the doors that may say so."""


def is_remote(model: str) -> bool:
    """Whether a request to this model leaves the server. A model server of one's own counts: nobody knows whose."""
    return registry.provider_of(model) != registry.OFFLINE_PROVIDER


def require_allowed(*, model: str, about: Sources) -> None:
    """Raises: NeverSendToModel."""
    if about.local_only and is_remote(model):
        log.info("model_call.refused", model=model, documents=[one.hex for one in about.document_ids])
        raise NeverSendToModel
