"""A process of its own that plays web: asks, decides and runs turns through the services. Killed at will by races.

Started by `test_races` with scene, script and arguments as JSON, after Django is set up.
A line of JSON on standard output says when something has happened.
"""

import asyncio
import json
import sys
import threading
import time
import uuid
from dataclasses import replace
from typing import Any

from django.db import connections

from agent import driving, runner
from agent.models import Turn
from agent.services import Decision, decide, start_turn
from agent.toolbox import toolbox
from llm import client
from organizations.models import User
from organizations.selectors import actor_for
from tests.agent.staging import StagedClient, asks, makes_tag, says, waits_for

SCRIPTS: dict[str, Any] = {
    "tag": lambda: StagedClient(makes_tag(), says("Done")),
    "extract": lambda: StagedClient(asks(("w", "run_extraction", "{}")), says("Done")),
    "provider": lambda: client,  # the real one; the environment says where the provider is
    "chatter": lambda: StagedClient(says("word " * 3000), pause=0.02),
}
ENDED = ("done", "failed", "cancelled", "interrupted", "expired")


def tell(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def actor_of(arguments: dict[str, Any]) -> Any:
    user = User.objects.get(email=arguments["email"])
    return actor_for(user=user, organization_id=uuid.UUID(arguments["organization"]), via="page")


def ask(arguments: dict[str, Any]) -> None:
    """Ask, say when the turn is in the state that is waited for, and stay until killed."""
    turn = start_turn(actor=actor_of(arguments), document_id=arguments["document"], text="Tag it")
    waits_for(turn.pk, arguments["until"])
    tell(turn=turn.pk.hex)
    time.sleep(60)


def decide_at_once(arguments: dict[str, Any]) -> None:
    """Many threads decide the same call at the same moment; each says what it was told."""
    actor = actor_of(arguments)
    gate = threading.Barrier(arguments["threads"])
    answers: list[dict[str, Any]] = []

    def post(number: int) -> None:
        approved = arguments["approve"] == "all" or number % 2 == 0
        decision = Decision(call_id="w", approved=approved, reason="" if approved else f"no {number}")
        gate.wait()
        try:
            outcome = decide(
                actor=actor, document_id=arguments["document"], turn_id=arguments["turn"], decisions=[decision]
            )
            answer = outcome.answers[0]
            answers.append({"decision": answer.decision, "accepted": answer.accepted, "at": str(answer.decided_at)})
        finally:
            connections.close_all()

    threads = [threading.Thread(target=post, args=(number,)) for number in range(arguments["threads"])]
    connections.close_all()
    tell(ready=True)
    sys.stdin.readline()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tell(answers=answers, status=waits_for(arguments["turn"], *ENDED, seconds=20).status)


def approve_and_hang(arguments: dict[str, Any]) -> None:
    """Approve a write that has done its work but never comes back; say when it hangs."""
    tool = toolbox.get(arguments["tool"])

    def hang(ctx: Any, **values: Any) -> Any:
        tool.function(ctx, **values)
        tell(hangs=True)
        time.sleep(60)

    async def hang_async(_ctx: Any, **_values: Any) -> Any:
        tell(hangs=True)
        await asyncio.sleep(60)

    toolbox._tools[tool.name] = replace(tool, function=hang_async if tool.is_async else hang)
    decision = Decision(call_id="w", approved=True)
    decide(
        actor=actor_of(arguments), document_id=arguments["document"], turn_id=arguments["turn"], decisions=[decision]
    )
    time.sleep(60)


def drain(arguments: dict[str, Any]) -> None:
    """Ask, then shut down as SIGTERM makes a process do, with little patience."""
    turn = start_turn(actor=actor_of(arguments), document_id=arguments["document"], text="Talk")
    while Turn.objects.get(pk=turn.pk).epoch == 0:
        time.sleep(0.02)
    time.sleep(0.3)
    runner.drain(0.3)
    tell(turn=turn.pk.hex)


def main() -> None:
    scene, script, given = sys.argv[1:4]
    driving.client = SCRIPTS[script]()  # type: ignore[attr-defined]  # the script stands in for the client
    {"ask": ask, "decide_at_once": decide_at_once, "approve_and_hang": approve_and_hang, "drain": drain}[scene](
        json.loads(given)
    )
