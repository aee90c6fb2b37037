"""Readers that are cut off and come back: `python -m bench.resume`.

Two real web processes behind a proxy that gives each connection to the other process and cuts three of four after one
to three kilobytes, often in the middle of a frame. Clients ask, are cut, and come back with the number of the last
whole event until their turn has ended. Then each one's events are compared with what a server tells somebody new.
"""

# ruff: noqa: E402 - Django has to be set up before its models are imported

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

from tests.agent.pair import Listener, Proxy, random_cuts, two_servers
from tests.live import Site, running

WORDS = 100
AT_ONCE = 10
SEED = """
import json
from organizations.services import create_token
from tests.agent.staging import make_document
from tests.conftest import make_person
person = make_person("bench@example.com")
document = make_document(person.actor)
_, token = create_token(user=person.user, name="bench", organization=person.organization)
print(json.dumps([token, f"/v0/orgs/{person.organization.id.hex}/documents/{document.pk.hex}/chat"]))
"""


class Figures(NamedTuple):
    """Units: seconds. `lost` and `twice` are events."""

    turns: int
    events: int
    lost: int
    twice: int
    garbled: int
    backs: list[float]
    wall: float


async def cut_off(proxy: Proxy, token: str, chat: str, *, cuts: int) -> Figures:
    """Ask and come back until so many connections were cut."""
    figures = Figures(0, 0, 0, 0, 0, [], 0.0)
    begun = time.monotonic()
    while proxy.cuts < cuts:
        talks = [Listener(token, chat) for _ in range(AT_ONCE)]
        await asyncio.gather(*(_talk(talk, proxy) for talk in talks))
        for number, talk in enumerate(talks):
            figures = await _compared(figures, talk, proxy.servers[number % 2].url)
    return figures._replace(wall=time.monotonic() - begun)


async def _talk(talk: Listener, proxy: Proxy) -> None:
    body = {"messages": [{"role": "user", "content": f"talk {WORDS}"}], "stream": True}
    await talk.ask(proxy.url, body)
    await talk.follow(proxy.url)


async def _compared(so_far: Figures, talk: Listener, url: str) -> Figures:
    """What a server tells somebody new is the truth: it comes in one go, over a connection that is not cut."""
    whole = Listener(talk.token, talk.chat)
    await whole.read(url, "GET", f"{talk.chat}/turns/{talk.turn_id}/events", headers={})
    said = "".join(event.get("chunk", "") for event in talk.events).split()
    assert whole.ids == list(range(1, len(whole.ids) + 1)), "the stream itself has a gap"
    if talk.events != whole.events:
        told, meant = (
            [(seq, event["type"], event.get("code")) for seq, event in zip(one.ids, one.events, strict=True)]
            for one in (talk, whole)
        )
        print("told otherwise:", [item for item in told if item not in meant], "at the end", told[-3:])
    return so_far._replace(
        turns=so_far.turns + 1,
        events=so_far.events + len(whole.ids),
        lost=so_far.lost + len(set(whole.ids) - set(talk.ids)),
        twice=so_far.twice + len(talk.ids) - len(set(talk.ids)),
        garbled=so_far.garbled + (talk.events != whole.events or said != [f"word{n}" for n in range(WORDS)]),
        backs=so_far.backs + talk.waits,
    )


def measure(site: Site, folder: Path, token: str, chat: str, cuts: int) -> tuple[Figures, Proxy]:
    """Units: `cuts` connections."""
    for program in list(site.processes):
        site.stop(program)
    with two_servers(folder / "pair.log", {**site.environment, "RATE_LIMIT_SCALE": "0"}) as servers:
        proxy = Proxy(servers, random_cuts(7))

        async def play() -> Figures:
            async with proxy.running():
                return await cut_off(proxy, token, chat, cuts=cuts)

        return asyncio.run(play()), proxy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=1000, help="how many connections are cut")
    cuts = parser.parse_args().cuts
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), "resume") as (site, _):
        token, chat = json.loads(site.manage("shell", "-v", "0", "-c", SEED).splitlines()[-1])
        figures, proxy = measure(site, Path(folder), token, chat, cuts)
    backs = sorted(figures.backs)
    print(f"cut connections          {proxy.cuts} of {len(proxy.used)}, over two web processes")
    print(f"turns, events            {figures.turns}, {figures.events}")
    print(f"events lost              {figures.lost}")
    print(f"events told twice        {figures.twice}")
    print(f"turns told otherwise     {figures.garbled}")
    if backs:
        p95 = backs[int(len(backs) * 0.95)]
        print(f"back to the next event   {statistics.median(backs) * 1000:.0f} ms median, {p95 * 1000:.0f} ms p95")
    print(f"wall                     {figures.wall:.0f} s")
    if figures.lost or figures.twice or figures.garbled:
        raise SystemExit("Something was lost or told twice.")


if __name__ == "__main__":
    main()
