"""Tells a turn's events: numbers them, lets pieces of text that follow fast wait for each other, keeps their order.

A task of its own sends, so that a turn goes on while Redis answers; what gathers meanwhile goes in one batch.
"""

import asyncio
import uuid
from contextlib import suppress
from dataclasses import replace

from agent.events import AssistantTextChunk, Event, ThinkingChunk
from agent.streams import Numbered, Streams

COALESCE_SECONDS = 0.04
MAX_UNSENT = 100


class Outbox:
    """The outgoing side of one run of a turn. `seq` is the number of the newest event."""

    def __init__(self, streams: Streams, turn_id: uuid.UUID, thread_id: uuid.UUID | None, *, seq: int) -> None:
        self.seq = seq
        self._streams = streams
        self._turn_id = turn_id
        self._thread_id = thread_id
        self._pieces: AssistantTextChunk | ThinkingChunk | None = None
        self._unsent: list[Numbered] = []
        self._hurry = asyncio.Event()
        self._sender: asyncio.Task[None] | None = None
        self._sent_at = 0.0  # by the loop's clock

    async def tell(self, event: Event) -> None:
        """Text goes once 40 ms have passed since the last was sent; all else at once, after the text before it.

        Returns before it is sent, unless Redis is so slow that much has gathered.
        """
        if isinstance(event, AssistantTextChunk | ThinkingChunk):
            self._collect(event)
        else:
            self._seal()
            self._number(event)
            self._hurry.set()
        sender = self._sending()
        if len(self._unsent) >= MAX_UNSENT:
            await asyncio.wait([sender])

    async def close(self) -> None:
        """Nothing is left behind."""
        self._seal()
        self._hurry.set()
        sender = self._sending()
        await asyncio.wait([sender])
        sender.result()

    def _collect(self, event: AssistantTextChunk | ThinkingChunk) -> None:
        pieces = self._pieces
        if pieces is not None and (pieces.type, pieces.round_index) == (event.type, event.round_index):
            self._pieces = replace(pieces, chunk=pieces.chunk + event.chunk)
            return
        self._seal()
        self._pieces = event

    def _seal(self) -> None:
        """No more text joins the pieces that wait."""
        pieces, self._pieces = self._pieces, None
        if pieces is not None:
            self._number(pieces)

    def _number(self, event: Event) -> None:
        self.seq += 1
        self._unsent.append(Numbered(self.seq, event))

    def _sending(self) -> "asyncio.Task[None]":
        if self._sender is not None and self._sender.done():
            self._sender.result()  # a bug in sending ends the turn, as any other would
            self._sender = None
        if self._sender is None:
            self._sender = asyncio.create_task(self._send())
        return self._sender

    async def _send(self) -> None:
        while self._unsent or self._pieces:
            if not self._unsent:
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(self._sent_at + COALESCE_SECONDS):
                        await self._hurry.wait()
                self._seal()
            self._hurry.clear()
            self._sent_at = asyncio.get_running_loop().time()
            batch, self._unsent = self._unsent, []
            await self._streams.append(self._turn_id, self._thread_id, batch)
