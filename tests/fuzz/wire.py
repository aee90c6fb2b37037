"""The application without a network: requests go into its ASGI door on a loop of its own, whole responses come out."""

import asyncio
import hashlib
import hmac
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx
import requests
from schemathesis import Case
from schemathesis.transport.requests import REQUESTS_TRANSPORT

from docrouter.on_loop import Application

BASE = "http://127.0.0.1"
SIGNING_KEY = "shared with a front end"
SECONDS = 60
STREAM_SECONDS = 0.3
"""How long an event stream is read before its reader hangs up."""
PARTS = ("method", "url", "headers", "params", "cookies", "json", "data", "files")


class Wire:
    """Sends to the application as a server would."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._application = Application()

    def send(self, case: Case, token: str) -> httpx.Response:
        """Every request is signed as well, for the one address that asks for it.

        Returns: the response. Raises: what the application itself raises.
        """
        given = REQUESTS_TRANSPORT.serialize_case(case, base_url=BASE, headers={"Authorization": f"Bearer {token}"})
        request = requests.Request(**{key: part for key, part in given.items() if key in PARTS}).prepare()
        body = request.body.encode() if isinstance(request.body, str) else request.body or b""
        request.headers["X-Request-Signature"] = hmac.new(SIGNING_KEY.encode(), body, hashlib.sha256).hexdigest()
        answer: Future[tuple[int, list[Any], bytes]] = asyncio.run_coroutine_threadsafe(
            self._exchange(_scope(request, len(body)), bytes(body)), self._loop
        )
        status, headers, content = answer.result(SECONDS)
        asked = httpx.Request(request.method or "", request.url or "")
        response = httpx.Response(status, headers=headers, content=content, request=asked)
        response.elapsed = timedelta(0)
        return response

    async def _exchange(self, scope: dict[str, Any], body: bytes) -> tuple[int, list[Any], bytes]:
        start: dict[str, Any] = {}
        content = bytearray()
        sent, hung_up = False, asyncio.Event()

        async def receive() -> dict[str, Any]:
            nonlocal sent
            if not sent:
                sent = True
                return {"type": "http.request", "body": body, "more_body": False}
            await hung_up.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
                if any(value.startswith(b"text/event-stream") for _, value in message["headers"]):
                    asyncio.get_running_loop().call_later(STREAM_SECONDS, hung_up.set)
            else:
                content.extend(message.get("body", b""))

        await asyncio.wait_for(self._application(scope, receive, send), SECONDS)
        return start["status"], list(start["headers"]), bytes(content)


def _scope(request: requests.PreparedRequest, length: int) -> dict[str, Any]:
    address = urlsplit(request.url or "")
    headers = {**request.headers, "Host": "127.0.0.1", "Content-Length": str(length)}
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(address.path),
        "raw_path": address.path.encode(),
        "query_string": address.query.encode(),
        "root_path": "",
        "headers": [(_bytes(name).lower(), _bytes(value)) for name, value in headers.items()],
        "client": ("127.0.0.1", 40000),
        "server": ("127.0.0.1", 80),
    }


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1", "replace")


@contextmanager
def wire() -> Iterator[Wire]:
    """The application on a loop in a thread; what it has begun may end before the loop does."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="fuzzed", daemon=True)
    thread.start()
    try:
        yield Wire(loop)
    finally:
        asyncio.run_coroutine_threadsafe(_settle(), loop).result(SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(SECONDS)
        loop.close()


async def _settle() -> None:
    """Wait a little for turns and runs, then end them."""
    own = asyncio.current_task()
    if tasks := [task for task in asyncio.all_tasks() if task is not own]:
        _, late = await asyncio.wait(tasks, timeout=5)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
