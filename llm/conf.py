"""The settings of this floor, read in one place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Units: seconds. `connect` for the connection, `first` to the first chunk, `between` chunks."""

    connect: float
    first: float
    between: float


def timeouts() -> Timeouts:
    return Timeouts(settings.MODEL_CONNECT_SECONDS, settings.MODEL_FIRST_CHUNK_SECONDS, settings.MODEL_CHUNK_SECONDS)


def retries() -> int:
    return int(settings.MODEL_RETRIES)


def thinking_tokens() -> int:
    return int(settings.MODEL_THINKING_TOKENS)


def offline_chunk_delay() -> float:
    """Units: seconds."""
    return float(settings.OFFLINE_CHUNK_DELAY_MS) / 1000


def provider_keys() -> Mapping[str, str]:
    keys: Mapping[str, str] = settings.MODEL_PROVIDER_KEYS
    return keys


def api_bases() -> Mapping[str, str]:
    bases: Mapping[str, str] = settings.MODEL_API_BASES
    return bases


def listed_models() -> Sequence[str]:
    """Models that the installation names itself, known to a registry or not."""
    return [name.strip() for name in settings.CHAT_MODELS if name.strip()]


def default_models() -> tuple[str, str]:
    """Returns: the default models for chat and for extraction as configured, empty where nothing is."""
    return settings.DEFAULT_CHAT_MODEL, settings.DEFAULT_EXTRACTION_MODEL
