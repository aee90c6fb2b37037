"""A web process as deployed, whose model follows a script: "talk 400" says 400 words, anything else asks to make a tag.

Started by `tests.agent.pair` with a port, in an environment that names the database and Redis of the test.
"""

import sys
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from daphne.cli import CommandLineInterface

from agent import driving
from llm.types import Completion, Delta
from tests.agent.staging import StagedClient, makes_tag, says

PAUSE = 0.02
Json = dict[str, Any]


class Talker:
    """In the place of `llm.client`."""

    async def stream(self, *, messages: Sequence[Json], **others: Any) -> AsyncGenerator[Delta | Completion, None]:
        asked = next(message["content"] for message in reversed(messages) if message["role"] == "user")
        verb, _, count = asked.partition(" ")
        script = StagedClient(makes_tag(), says("Done and tagged"))
        if verb == "talk":
            script = StagedClient(says(" ".join(f"word{number}" for number in range(int(count)))), pause=PAUSE)
        async for item in script.stream(messages=messages, **others):
            yield item


def main() -> None:
    vars(driving).update(client=Talker())  # the script stands in for the client
    CommandLineInterface().run(["-v", "0", "-b", "127.0.0.1", "-p", sys.argv[1], "docrouter.asgi:application"])
