"""How tests speak to the agent over HTTP: JSON as `tests.api` does, streams as lists of events with their ids."""

import asyncio
import json
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from django.test import AsyncClient

from tests.api import Api

Json = dict[str, Any]


@dataclass(frozen=True)
class Told:
    """What a stream told: events with their ids, comments, and the response's headers."""

    ids: list[int]
    events: list[Json]
    comments: list[str]
    headers: dict[str, str]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    @property
    def last(self) -> Json:
        return self.events[-1]


def read_frames(text: str) -> tuple[list[int], list[Json], list[str]]:
    """Frames exactly as we send them: `id: N`, one line of data, an empty line; or a comment."""
    ids, events, comments = [], [], []
    assert text.endswith("\n\n") or not text
    for frame in text.split("\n\n")[:-1]:
        if frame.startswith(":"):
            comments.append(frame)
            continue
        first, second = frame.split("\n")
        assert first.startswith("id: "), frame
        assert second.startswith("data: "), frame
        ids.append(int(first[4:]))
        events.append(json.loads(second[6:]))
    return ids, events, comments


def stream(api: Api, method: str, path: str, body: Any = None, *, parts: int = 100_000, **headers: str) -> Told:
    """Read a stream to its end, or leave after some parts."""
    return asyncio.run(_stream(api, method, path, body, parts, headers))


async def _stream(api: Api, method: str, path: str, body: Any, parts: int, headers: dict[str, str]) -> Told:
    sent = {"Authorization": f"Bearer {api.token}", **{name.replace("_", "-"): text for name, text in headers.items()}}
    data = json.dumps(body).encode() if body is not None else b""
    answer: Any = await AsyncClient().generic(
        method.upper(), f"{api.base}/{path}", data, content_type="application/json", headers=sent
    )
    assert answer.status_code == 200, answer.content
    text = ""
    async with aclosing(aiter(answer.streaming_content)) as pieces:
        async for piece in pieces:
            text += piece.decode()
            parts -= 1
            if not parts:
                break
    answer.close()
    return Told(*read_frames(text), dict(answer.items()))


def question(text: str = "Set it up", **more: Any) -> Json:
    """The body of a chat."""
    return {"messages": [{"role": "user", "content": text}], **more}


def decision(call_id: str = "w", *, approved: bool = True, **more: Any) -> Json:
    """One approval."""
    return {"call_id": call_id, "approved": approved, **more}
