"""A provider that does nothing but emit: OpenAI's stream, rendered beforehand, each chunk with the time it left.

`python -m bench.emitter` prints its port. `POST /pace {"chunks": 400, "seconds": 0.5}` says how many chunks an answer
has from now on and how far apart they are; 0 seconds: as fast as they are read, one write for each.
"""

import asyncio
import json
import random
import sys
import time
from typing import Any

STAMP_DIGITS = 18  # of nanoseconds on the machine's monotonic clock, which all processes share
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    b"Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
)


def _frame(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    head = {"id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o-mini"}
    choices = [] if more else [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
    return b"data: " + json.dumps(head | {"choices": choices} | more).encode() + b"\n\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


_MARK = "#" * STAMP_DIGITS
BEFORE, AFTER = _chunk(_frame({"content": f"{_MARK} "})).split(_MARK.encode())
START = _chunk(_frame({"role": "assistant", "content": ""}))
USAGE = _frame({}, usage={"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18})
END = _chunk(_frame({}, "stop") + USAGE + b"data: [DONE]\n\n") + b"0\r\n\r\n"


class Emitter:
    """One server; all its answers have the pace that was set last."""

    def __init__(self) -> None:
        self.chunks, self.seconds = 10, 0.0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                body = await reader.readexactly(int(length.partition(b":")[2]))
                if head.startswith(b"POST /pace "):
                    pace = json.loads(body)
                    self.chunks, self.seconds = pace["chunks"], pace["seconds"]
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                else:
                    await self._emit(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _emit(self, writer: asyncio.StreamWriter) -> None:
        chunks, seconds = self.chunks, self.seconds
        writer.write(ANSWER + START)
        due = time.monotonic() + random.random() * seconds
        for _ in range(chunks):
            await asyncio.sleep(max(0.0, due - time.monotonic()) if seconds else 0)
            due += seconds
            writer.write(b"%b%0*d%b" % (BEFORE, STAMP_DIGITS, time.monotonic_ns(), AFTER))
            await writer.drain()
        writer.write(END)
        await writer.drain()


async def _main() -> None:
    server = await asyncio.start_server(Emitter().serve, "127.0.0.1", 0, backlog=1000)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main())
