"""litellm in this process: imported once, in a thread, before anybody needs it.

`start_warming()` belongs where a process starts (web, worker); `is_warm()` is for the readiness check. litellm is the
one lazy import of the house: it takes seconds and 160 MB, which processes that call no model never pay.
"""

import asyncio
import importlib
import logging
import os
import threading
import warnings
from typing import Any

import structlog

from llm import registry
from llm.offline_provider import registration

log = structlog.get_logger(__name__)

# Checked before litellm is imported: no price list from the network, no .env of whatever folder we are in.
_ENVIRONMENT = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
_SILENT = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
_NO_DETAILS = ("openai", "httpx", "httpcore", "aiohttp")  # at DEBUG they log whole requests, documents included

_lock = threading.Lock()
_warm = threading.Event()
_warming = threading.Event()
_litellm: Any = None


def start_warming() -> None:
    """Begin to import litellm in a thread. Returns at once; may be called again."""
    if not _warming.is_set():
        _warming.set()
        # Not a daemon: an interpreter that ends in the middle of an import waits for its lock for ever.
        threading.Thread(target=warm, name="litellm-import").start()


def is_warm() -> bool:
    return _warm.is_set()


def warm() -> None:
    """Import litellm and set it up: quiet, local, with our offline model. Takes seconds, but only once."""
    global _litellm
    _warming.set()
    with _lock:
        if _warm.is_set():
            return
        for name, value in _ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = importlib.import_module("litellm")
            _set_up(module)
            _rehearse(module)
        _litellm = module
        _warm.set()
    log.info("litellm.imported", version=getattr(module, "__version__", None))


async def litellm() -> Any:
    """The imported module. Waits without a thread of its own while another one still imports it."""
    if not _warm.is_set():
        start_warming()
        while not _warm.is_set():  # noqa: ASYNC110 — a thread sets it; an asyncio event per loop would be more machinery
            await asyncio.sleep(0.05)
    return _litellm


def _set_up(module: Any) -> None:
    module.suppress_debug_info = True
    module.turn_off_message_logging = True
    module.drop_params = False
    for name in _NO_DETAILS:
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in _SILENT:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
        logger.setLevel(logging.CRITICAL + 1)
    module.custom_provider_map = [registration(module)]
    module.utils.custom_llm_setup()


def _leave_json_alone() -> None:
    """OpenAI's client compares each tool and message with its types, for keys to rename and dates to write: some
    milliseconds in every round of the agent. What we send is JSON already, so that is put back untouched."""
    module: Any = importlib.import_module("openai.resources.chat.completions.completions")
    transform = getattr(module, "async_maybe_transform", None)
    if transform is None or hasattr(transform, "leaves_json_alone"):
        return

    async def transform_the_rest(data: Any, expected_type: Any) -> Any:
        if not isinstance(data, dict):
            return await transform(data, expected_type)
        plain = {key: data[key] for key in ("messages", "tools") if _is_plain(data.get(key))}
        rest = {key: value for key, value in data.items() if key not in plain}
        return {**await transform(rest, expected_type), **plain}

    transform_the_rest.leaves_json_alone = True  # type: ignore[attr-defined]  # a mark, so that it is done once
    module.async_maybe_transform = transform_the_rest


def _is_plain(value: Any) -> bool:
    """A list of JSON objects, as far down as there is anything but text, numbers and the like."""
    if type(value) is not list:
        return False
    waiting = list(value)
    while waiting:
        part = waiting.pop()
        if type(part) is dict:
            waiting += part.values()
        elif type(part) is list:
            waiting += part
        elif not (part is None or type(part) in (str, int, float, bool)):
            return False
    return all(type(item) is dict for item in value)


def _rehearse(module: Any) -> None:
    """Load what the first call would load, a second or more in somebody's request: a call that goes nowhere."""
    importlib.import_module("openai.resources")
    _leave_json_alone()
    registry.entries()

    async def call() -> None:
        messages = [{"role": "user", "content": "rehearsal"}]
        tools = [{"type": "function", "function": {"name": "nothing", "parameters": {"type": "object"}}}]
        chunks = await module.acompletion(
            model="gpt-4o-mini", messages=messages, tools=tools, mock_response="fine", stream=True
        )
        async for _ in chunks:
            pass

    asyncio.run(call())
