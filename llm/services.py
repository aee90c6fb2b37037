"""Writing providers: what an administrator decides about models and keys; and what plain calls of models cost."""

import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from core.ids import show_id
from core.sealing import SealBroken, reseal, seal
from llm import providers, registry
from llm.errors import ProviderConfigInvalid, ProvidersFixed, ProviderUnknown
from llm.models import PlainCall, Provider
from llm.seeds import BUILT_IN, SEEDS
from llm.types import Usage
from organizations.services import record_for_deployment

log = structlog.get_logger(__name__)

LONGEST_KEY = 10_000  # Google's are whole JSON documents
_MASK = "******"


@dataclass(frozen=True, slots=True)
class PlainCaller:
    """For whom a model is asked; without an organization for the deployment."""

    user_id: uuid.UUID
    name: str
    organization_id: uuid.UUID | None = None


@transaction.atomic
def configure_provider(
    *,
    user_id: uuid.UUID,
    user_name: str,
    name: str,
    models_enabled: Sequence[str] | None = None,
    models_chat_agent: Sequence[str] | None = None,
    enabled: bool | None = None,
    token: str | None = None,
    api_base: str | None = None,
) -> None:
    """Change what is given of a provider, leave the rest. An empty `token` clears the key, the environment's included.

    For administrators of the deployment; the door checks that.
    Raises: ProviderUnknown, ProviderConfigInvalid, ProvidersFixed.
    """
    if not settings.PROVIDERS_IN_DATABASE:
        raise ProvidersFixed
    row = lock_provider(name=name)
    given: dict[str, Any] = {"models_enabled": models_enabled, "models_chat_agent": models_chat_agent}
    given |= {"enabled": enabled, "token": token, "api_base": api_base}
    if models_enabled is not None:
        row.models_enabled = _checked_models(row, models_enabled)
    if models_chat_agent is not None:
        row.models_chat_agent = _checked_models(row, models_chat_agent, chat=True)
    if enabled is not None:
        row.enabled = enabled
    if api_base is not None:
        _set_base(row, api_base.strip(), token)
    if token is not None:
        _set_token(row, token.strip())
    row.save()
    changed = sorted(key for key, value in given.items() if value is not None)
    data = {"changed": changed}  # never what: a key is among it
    record_for_deployment(
        user_id=user_id, name=user_name, action="provider.configured", target=("provider", name), data=data
    )
    log.info("provider.configured", provider=name, changed=changed, user_id=show_id(user_id))
    transaction.on_commit(providers.announce)


def lock_provider(*, name: str) -> Provider:
    """The row of a provider, made from what the environment says if there is none.

    Raises: ProviderUnknown, ProviderConfigInvalid.
    """
    if name == BUILT_IN.name:
        raise ProviderConfigInvalid("The built-in provider is always on and cannot be changed.")
    if name not in SEEDS:
        raise ProviderUnknown(f"Provider '{name[:100]}' not found")
    state = providers.environment_state(SEEDS[name])
    defaults = {
        "display_name": state.display_name,
        "litellm_provider": state.litellm_provider,
        "models_enabled": list(state.models_enabled),
        "models_chat_agent": list(state.models_chat_agent),
        "enabled": state.enabled,
    }
    row, _ = Provider.objects.select_for_update().get_or_create(name=name, defaults=defaults)
    return row


@transaction.atomic
def reseal_keys() -> tuple[int, list[str]]:
    """Put every key under the first of ENCRYPTION_KEYS. Returns: how many, and the providers whose key none opens."""
    count, unreadable = 0, []
    for row in Provider.objects.select_for_update().order_by("name"):
        if not row.sealed_token:
            continue
        try:
            row.sealed_token = reseal(bytes(row.sealed_token))
        except SealBroken:
            unreadable.append(row.name)
            continue
        row.save(update_fields=["sealed_token", "updated_at"])
        count += 1
    transaction.on_commit(providers.announce)
    return count, unreadable


def record_plain_call(
    *, caller: PlainCaller, kind: str, model: str, usage: Usage, cost_usd: Decimal | None, error_code: str = ""
) -> None:
    """What a call without a document used, however it ended. Units: `cost_usd` in US dollars, None where unknown."""
    PlainCall.objects.create(
        organization_id=caller.organization_id,
        user_id=caller.user_id,
        actor_name=caller.name,
        kind=kind,
        model=model,
        usage=asdict(usage),
        cost_usd=cost_usd,
        error_code=error_code,
    )


def _checked_models(row: Provider, names: Sequence[str], *, chat: bool = False) -> list[str]:
    """Each once, in the order given. Raises: ProviderConfigInvalid."""
    available = {*providers.environment_state(SEEDS[row.name]).models_available, *row.models_enabled}
    for name in names:
        entry = registry.find(name)
        if name not in available or (chat and entry is not None and not entry.chats):
            raise ProviderConfigInvalid(f"Model '{name[:100]}' is not available for provider '{row.name}'")
    return list(dict.fromkeys(names))


def _set_token(row: Provider, token: str) -> None:
    """Raises: ProviderConfigInvalid. Its words never have the key in them."""
    if token.endswith(_MASK):
        raise ProviderConfigInvalid("This is the masked form of a key. Send the key itself, or leave it out.")
    if len(token) > LONGEST_KEY or not (token.isascii() and token.isprintable()):
        raise ProviderConfigInvalid(f"A key has at most {LONGEST_KEY} visible ASCII characters.")
    row.sealed_token = seal(token) if token else b""
    row.token_created_at = timezone.now() if token else None


def _set_base(row: Provider, base: str, token: str | None) -> None:
    """Raises: ProviderConfigInvalid. A key goes to the address that it was given for, never to a later one."""
    if base == row.api_base:
        return
    if base and not _is_address(base):
        raise ProviderConfigInvalid("An address begins with https:// or http:// and has at most 500 characters.")
    if token is None:
        raise ProviderConfigInvalid("Send the key together with a new address.")
    row.api_base = base


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username and len(text) <= 500
    except ValueError:
        return False
