"""What a prompt consists of, checked before it is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llm.seeds import CLIENTS_MODEL
from prompts_app.errors import PromptInvalid
from prompts_app.models import default_include
from schemas_app.naming import clean_name, is_storable

MAX_CONTENT = 100_000
MAX_KEYS = 100
MAX_KEY = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptConfig:
    """A whole prompt as a client gives it. What is left out is the default, never the value before.

    A schema without a version means its latest one.
    """

    name: str
    content: str
    schema_id: str | None = None
    schema_version: int | None = None
    tag_ids: Sequence[str] = ()
    model: str | None = None
    include: Mapping[str, Any] | None = None
    peer_match_keys: Sequence[str] = field(default=())


def checked_name(config: PromptConfig) -> str:
    """Raises: NameInvalid."""
    return clean_name(config.name)


def checked_content(config: PromptConfig) -> str:
    """Raises: PromptInvalid."""
    if not config.content.strip() or len(config.content) > MAX_CONTENT or not is_storable(config.content):
        message = f"1 to {MAX_CONTENT} characters that can be stored"
        raise PromptInvalid(f"A prompt's text needs {message}.", fields={"content": message})
    return config.content


def checked_model(config: PromptConfig) -> str:
    return config.model or CLIENTS_MODEL


def checked_include(config: PromptConfig) -> dict[str, Any]:
    """What of the document goes along; unknown keys are left out.

    Raises: PromptInvalid.
    """
    wanted = {**default_include(), **{key: value for key, value in (config.include or {}).items() if value is not None}}
    for key in ("ocr_text", "pdf"):
        if not isinstance(wanted[key], bool):
            raise PromptInvalid(f"include.{key} is true or false.", fields={f"include.{key}": "true or false"})
    keys = _keys(wanted["metadata_keys"], "include.metadata_keys")
    return {"ocr_text": wanted["ocr_text"], "metadata_keys": keys, "pdf": wanted["pdf"]}


def checked_peer_match_keys(config: PromptConfig) -> list[str]:
    """Raises: PromptInvalid."""
    return _keys(list(config.peer_match_keys), "peer_match_keys")


def _keys(value: object, name: str) -> list[str]:
    fits = isinstance(value, list) and len(value) <= MAX_KEYS
    if not fits or not all(isinstance(key, str) and len(key) <= MAX_KEY and is_storable(key) for key in _list(value)):
        raise PromptInvalid(f"{name} is a list of at most {MAX_KEYS} short texts.", fields={name: "a list of texts"})
    return _list(value)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
