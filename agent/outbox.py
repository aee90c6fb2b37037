"""Tells a turn's events: numbers them, lets small pieces of text wait a moment for each other, keeps their order."""

import asyncio
import uuid
from dataclasses import replace

from agent.events import AssistantTextChunk, Event, ThinkingChunk
from agent.streams import Numbered, Streams

COALESCE_SECONDS = 0.04


class Outbox:
    """The outgoing side of one run of a turn. `seq` is the number of the newest event."""

    def __init__(self, streams: Streams, turn_id: uuid.UUID, thread_id: uuid.UUID | None, *, seq: int) -> None:
        self.seq = seq
        self._streams = streams
        self._turn_id = turn_id
        self._thread_id = thread_id
        self._pieces: AssistantTextChunk | ThinkingChunk | None = None
        self._flusher: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    async def tell(self, event: Event) -> None:
        """Text waits up to 40 ms for more text; everything else goes at once, after the text before it."""
        if isinstance(event, AssistantTextChunk | ThinkingChunk):
            await self._collect(event)
            return
        async with self._lock:
            await self._flush()
            await self._send(event)

    async def close(self) -> None:
        """Nothing is left behind."""
        if self._flusher is not None:
            self._flusher.cancel()
            await asyncio.gather(self._flusher, return_exceptions=True)
        async with self._lock:
            await self._flush()

    async def _collect(self, event: AssistantTextChunk | ThinkingChunk) -> None:
        pieces = self._pieces
        if pieces is not None and (pieces.type, pieces.round_index) == (event.type, event.round_index):
            self._pieces = replace(pieces, chunk=pieces.chunk + event.chunk)
            return
        if pieces is not None:
            async with self._lock:
                await self._flush()
        self._pieces = event
        if self._flusher is None or self._flusher.done():
            self._flusher = asyncio.create_task(self._flush_soon())

    async def _flush_soon(self) -> None:
        await asyncio.sleep(COALESCE_SECONDS)
        async with self._lock:
            await self._flush()

    async def _flush(self) -> None:
        pieces, self._pieces = self._pieces, None
        if pieces is not None:
            await self._send(pieces)

    async def _send(self, event: Event) -> None:
        self.seq += 1
        await self._streams.append(self._turn_id, self._thread_id, Numbered(self.seq, event))
