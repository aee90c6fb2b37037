"""How well and how fast documents are set up without a person: `python -m bench.auto_create FOLDER [--cache DIR]`.

FOLDER has an `index.json` that names documents and their true values. The product is started as it is deployed (web,
both workers, a database of its own, the built-in model), and each document is uploaded with auto-create, one after the
other. Printed: the share that ends as proposed, seconds from the upload to the proposal beside the sum of the bare
steps (reading, proposing and extracting, called directly in this process), and the share of true values among what was
read. One document more comes first and is not counted. A document's bare steps are measured right before
it is uploaded, so that a busy machine slows both; with a cache, reading is as slow as it was then.
"""

import argparse
import contextlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from bench.accuracy.reading import Case, read_folder
from bench.accuracy.scoring import leaves, same
from llm.offline.engine import reply
from tests.live import Site, running

EMAIL = "bench@example.com"
MOST_SECONDS = 300
_LOOK_SECONDS = 0.03
HEAD = f"{'':36}{'status':>10}{'seconds':>9}{'bare':>8}{'over':>8}{'true values':>14}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One document. Units: seconds from the begin of the upload to the proposal, and of the bare steps."""

    name: str
    status: str
    why: str
    seconds: float
    bare: float
    found: int
    true_values: int

    @property
    def overhead(self) -> float:
        return self.seconds - self.bare


def engine_seconds(case: Case) -> float:
    """Proposing a schema and extracting with it, nothing around it."""
    started = time.perf_counter()
    reply(messages=[], tools=[], document=case.content, response_format={"type": "json_object"})
    return time.perf_counter() - started


def set_up(client: httpx.Client, path: Path) -> tuple[dict[str, Any], str, float]:
    """Upload with auto-create and wait. Returns: how it ended, the document's id, seconds."""
    started = time.perf_counter()
    with path.open("rb") as file:
        answer = client.post("documents/multipart", files={"file": (path.name, file)}, data={"auto_create": "true"})
    answer.raise_for_status()
    document_id = answer.json()["document"]["document_id"]
    while True:
        state = client.get(f"documents/{document_id}/auto_create").raise_for_status().json()
        seconds = time.perf_counter() - started
        if state["status"] in ("proposed", "failed") or seconds > MOST_SECONDS:
            return state, document_id, seconds
        time.sleep(_LOOK_SECONDS)


def true_values_found(client: httpx.Client, case: Case, document_id: str, prompt_revid: str) -> tuple[int, int]:
    """How many of the true values stand anywhere in what was read, and how many there are."""
    wanted = [value for _, value in leaves(case.fields) if value is not False]
    result = client.get(f"llm/result/{document_id}", params={"prompt_revid": prompt_revid}).raise_for_status().json()
    values = [value for _, value in leaves(result["llm_result"])]
    return sum(any(same(one, value, sign_counts=False) for value in values) for one in wanted), len(wanted)


def judge(client: httpx.Client, folder: Path, case: Case, file: str) -> Outcome:
    """Set one document up and score what came of it."""
    state, document_id, seconds = set_up(client, folder / file)
    found, wanted = 0, sum(value is not False for _, value in leaves(case.fields))
    if state["status"] == "proposed":
        found, wanted = true_values_found(client, case, document_id, state["prompt_revid"])
    why = state["error"]["message"] if state["error"] else ""
    return Outcome(case.name, state["status"], why, seconds, case.seconds + engine_seconds(case), found, wanted)


def first_of(folder: Path) -> str:
    """The document that warms everything up."""
    name: str = json.loads((folder / "index.json").read_text(encoding="utf-8"))["documents"][0]["file"]
    return name


def line(one: Outcome) -> str:
    values = f"{one.found}/{one.true_values}"
    figures = f"{one.seconds:>9.2f}{one.bare:>8.2f}{one.overhead:>8.2f}"
    return f"{one.name:36}{one.status:>10}{figures}{values:>14}  {one.why}".rstrip()


def summary(outcomes: Sequence[Outcome]) -> list[str]:
    """The figures over all documents."""
    proposed = [one for one in outcomes if one.status == "proposed"]
    found, wanted = sum(one.found for one in outcomes), sum(one.true_values for one in outcomes)
    lines = [f"proposed        {len(proposed)}/{len(outcomes)}"]
    for name, figures in (
        ("to proposed", [one.seconds for one in proposed]),
        ("bare steps", [one.bare for one in proposed]),
        ("overhead", [one.overhead for one in proposed]),
    ):
        p50, p95 = statistics.median(figures), sorted(figures)[min(int(0.95 * len(figures)), len(figures) - 1)]
        lines.append(f"{name:16}p50 {p50:.2f} s   p95 {p95:.2f} s")
    lines.append(f"true values     {found}/{wanted} {100 * found / max(wanted, 1):.1f}%")
    return lines


def client_of(site: Site, organization_id: str, token: str) -> httpx.Client:
    base = f"{site.url}/v0/orgs/{organization_id}/"
    return httpx.Client(base_url=base, headers={"Authorization": f"Bearer {token}"}, timeout=60)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--cache", type=Path)
    arguments.add_argument("--only", default="")
    chosen = arguments.parse_args()
    commands = (
        ("create_user", "--email", EMAIL, "--password", "a long enough secret"),
        ("create_organization", "--name", "Bench", "--owner", EMAIL),
        ("create_token", "--email", EMAIL, "--organization", "Bench", "--name", "bench"),
    )
    outcomes = []
    knobs = {"RATE_LIMIT_SCALE": "0", "OFFLINE_CHUNK_DELAY_MS": "8"}
    with contextlib.ExitStack() as stack:
        data = stack.enter_context(tempfile.TemporaryDirectory(prefix="docrouter-bench-"))
        site, (_, organization_id, token) = stack.enter_context(running(Path(data), "auto_create", *commands, **knobs))
        client = stack.enter_context(client_of(site, organization_id, token))
        set_up(client, chosen.folder / first_of(chosen.folder))
        sys.stdout.write(HEAD + "\n")
        for case in read_folder(chosen.folder, cache=chosen.cache, only=chosen.only):
            outcomes.append(judge(client, chosen.folder, case, case.content.name))
            sys.stdout.write(line(outcomes[-1]) + "\n")
            sys.stdout.flush()
    sys.stdout.write("\n".join(summary(outcomes)) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
