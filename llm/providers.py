"""The providers in effect: rows of an administrator over what the environment says. Cheap enough for every call.

Rows are kept in the process. Who asks outside of an event loop looks at most once a second whether another process
changed them (a version in Redis), and reads them again at least every 30 seconds; so a change is seen by all processes
within a second, or within 30 while Redis is away. On an event loop nothing waits: what is kept is used, and `freshen`
looks in a thread.
"""

import asyncio
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import structlog
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError
from redis.exceptions import RedisError

from core.ids import new_id
from core.sealing import SealBroken, unseal
from core.threads import in_thread
from llm import conf, registry
from llm.models import Provider
from llm.seeds import BUILT_IN, SEEDS, Seed
from llm.selectors import provider_rows

log = structlog.get_logger(__name__)

LOOK_SECONDS = 1.0
READ_SECONDS = 30.0
_VERSION = "llm:providers:version"


@dataclass(frozen=True, slots=True)
class ProviderState:
    """A provider as it is in effect. `is_configured`: an administrator chose, so nothing else may be used of it."""

    name: str
    display_name: str
    litellm_provider: str
    enabled: bool
    models_enabled: tuple[str, ...]
    models_chat_agent: tuple[str, ...]
    key: str = field(default="", repr=False)
    key_created_at: datetime | None = None
    api_base: str = ""
    is_configured: bool = False

    @property
    def models_available(self) -> tuple[str, ...]:
        """What can be enabled: what the registry knows, what CHAT_MODELS names, and what is enabled already."""
        if self.name == BUILT_IN.name:
            return self.models_enabled
        known = registry.models_of(self.litellm_provider)
        return tuple(dict.fromkeys([*known, *_listed(self.name), *self.models_enabled]))

    @property
    def masked_key(self) -> str | None:
        """The key as lists show it: its first 16 characters where that gives little away."""
        if not self.key:
            return None
        return (self.key[:16] if len(self.key) >= 32 else "") + "******"

    def offers(self, model: str) -> bool:
        """Whether the model is among the enabled ones, with or without its provider in front."""
        entry = registry.find(model)
        names = {model, model.removeprefix(f"{self.litellm_provider}/"), entry.name if entry else model}
        return self.enabled and not names.isdisjoint(self.models_enabled)


_BUILT_IN = ProviderState(BUILT_IN.name, BUILT_IN.display_name, BUILT_IN.name, True, BUILT_IN.chats, BUILT_IN.chats)


@dataclass(frozen=True, slots=True)
class _Kept:
    """Rows as they were read. Units: seconds of the monotonic clock."""

    states: Mapping[str, ProviderState]
    version: object
    read_at: float
    looked_at: float


_kept: _Kept | None = None
_reading = threading.Lock()


def states(*, fresh: bool = False) -> list[ProviderState]:
    """Every provider that there is: known ones, those that only CHAT_MODELS brings in, the built-in one last.

    `fresh` reads the rows whatever is kept, for whoever changes them.
    """
    if fresh:
        forget()
    rows = _rows()
    known = [rows.get(name) or environment_state(seed) for name, seed in SEEDS.items()]
    others = dict.fromkeys(registry.provider_of(name) for name in conf.listed_models())
    others = {name: None for name in others if name not in SEEDS and name != BUILT_IN.name}
    return [*known, *(environment_state(Seed(name, name)) for name in others), _BUILT_IN]


def state_of(litellm_provider: str) -> ProviderState | None:
    """The provider by litellm's name, if there is such a one."""
    if litellm_provider in SEEDS:
        return _rows().get(litellm_provider) or environment_state(SEEDS[litellm_provider])
    return next((state for state in states() if state.litellm_provider == litellm_provider), None)


def environment_state(seed: Seed) -> ProviderState:
    """A provider that no administrator configured: a key enables its usual models, CHAT_MODELS adds others."""
    key, listed = conf.provider_keys().get(seed.name, ""), _listed(seed.name)
    chats = tuple(dict.fromkeys([*listed, *seed.known_chats])) if key or not listed else listed
    return ProviderState(
        seed.name,
        seed.display_name,
        seed.name,
        enabled=bool(key or listed),
        models_enabled=tuple(dict.fromkeys([*chats, *(seed.known_embeds if key or not listed else ())])),
        models_chat_agent=chats,
        key=key,
        api_base=conf.api_bases().get(seed.name, ""),
    )


async def freshen() -> None:
    """To be awaited before a call: reads the rows again in a thread if it is time to."""
    if not settings.PROVIDERS_IN_DATABASE or (_kept and time.monotonic() - _kept.looked_at < LOOK_SECONDS):
        return
    try:
        await in_thread(_look)
    except DatabaseError as problem:
        log.warning("providers.not_read", problem=type(problem).__name__, known=_kept is not None)


def forget() -> None:
    """Read the rows anew when next asked."""
    global _kept
    _kept = None


def announce() -> None:
    """Tell every process that rows changed. For after the commit."""
    forget()
    try:
        cache.set(_VERSION, new_id().hex, timeout=None)
    except (RedisError, OSError) as problem:
        log.warning("providers.not_announced", problem=type(problem).__name__)


def _rows() -> Mapping[str, ProviderState]:
    if not settings.PROVIDERS_IN_DATABASE:
        return {}
    if not _is_on_a_loop():
        _look()
    kept = _kept
    return kept.states if kept else {}


def _look() -> None:
    """Keep what is kept for as long as it may be, else read the rows."""
    global _kept
    kept, now = _kept, time.monotonic()
    if kept and now - kept.looked_at < LOOK_SECONDS:
        return
    first = _reading.acquire(blocking=False)
    if kept and not first:
        return  # another thread is at it; to wait for it could cost a connection that it waits for
    try:
        version = _version(kept)
        if kept and version == kept.version and now - kept.read_at < READ_SECONDS:
            _kept = _Kept(kept.states, version, kept.read_at, now)
        else:
            _kept = _Kept({row.name: _state(row) for row in provider_rows()}, version, now, now)
    finally:
        if first:
            _reading.release()


def _version(kept: _Kept | None) -> object:
    try:
        return cache.get(_VERSION)
    except (RedisError, OSError):
        return kept.version if kept else None


def _state(row: Provider) -> ProviderState:
    seed = SEEDS.get(row.name) or Seed(row.name, row.display_name)
    return ProviderState(
        row.name,
        row.display_name,
        row.litellm_provider,
        enabled=row.enabled,
        models_enabled=tuple(row.models_enabled),
        models_chat_agent=tuple(name for name in row.models_chat_agent if name in row.models_enabled),
        key=conf.provider_keys().get(seed.name, "") if row.sealed_token is None else _key(row),
        key_created_at=row.token_created_at,
        api_base=row.api_base or conf.api_bases().get(seed.name, ""),
        is_configured=True,
    )


def _key(row: Provider) -> str:
    if not row.sealed_token:
        return ""
    try:
        return unseal(bytes(row.sealed_token))
    except SealBroken:
        log.error("provider.key_unreadable", provider=row.name)
        return ""


def _listed(provider: str) -> tuple[str, ...]:
    return tuple(name for name in conf.listed_models() if registry.provider_of(name) == provider)


def _is_on_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
