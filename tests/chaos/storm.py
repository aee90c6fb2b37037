"""Kills of random processes at random moments, under steady uploads."""

import random
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime

from llm.registry import OFFLINE_MODEL
from tests.chaos.audit import Findings, ask, look, open_runs, wait_until_all_ended
from tests.chaos.paper import RECEIPT_FIELDS, any_document
from tests.chaos.site import KINDS, Site

MOST_OPEN = 12
DRAIN_SECONDS = 600.0
LEFT_ALONE = (
    0.5  # after how many of the kills the product may recover before the next one; the others hit it recovering
)


@dataclass
class Figures:
    """What the storm did, and what was found afterwards. Units: seconds."""

    kills: Counter[str] = field(default_factory=Counter)
    kill_times: list[tuple[str, datetime]] = field(default_factory=list)
    uploaded: set[str] = field(default_factory=set)
    proposals: int = 0
    lasted: float = 0.0
    drained: float = 0.0
    longest_pause: tuple[float, str] = (0.0, "")
    findings: Findings = field(default_factory=Findings)

    @property
    def is_sound(self) -> bool:
        return not self.findings.broken and self.findings.documents == len(self.uploaded)


class Uploads:
    """Keeps a few runs open at any time, until told to stop."""

    def __init__(self, site: Site, database_url: str, figures: Figures, *, auto_create: bool) -> None:
        self._site, self._url, self._figures, self._auto_create = site, database_url, figures, auto_create
        self._tag = _prompt_on_a_tag(site)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name="uploads")
        self.problem: BaseException | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Wait for the last upload. Raises what went wrong with any."""
        self._ended.set()
        self._thread.join()
        if self.problem is not None:
            raise self.problem

    def _work(self) -> None:
        try:
            while not self._ended.is_set():
                if open_runs(self._url) < MOST_OPEN:
                    self._upload()
                else:
                    self._ended.wait(0.3)
        except (AssertionError, OSError) as problem:
            self.problem = problem

    def _upload(self) -> None:
        name, content = any_document()
        wanted = self._auto_create and name == "receipt.pdf" and random.random() < 0.5
        tags = () if wanted or random.random() < 0.4 else (self._tag,)
        self._figures.uploaded.add(self._site.upload(name, content, *tags, auto_create=wanted))
        self._figures.proposals += wanted


def _prompt_on_a_tag(site: Site) -> str:
    tag = site.call("tags", {"name": "Receipts"})["id"]
    schema = {"type": "object", "properties": RECEIPT_FIELDS, "additionalProperties": False,
              "required": list(RECEIPT_FIELDS)}  # fmt: skip
    response_format = {"type": "json_schema", "json_schema": {"name": "receipt", "schema": schema, "strict": True}}
    made = site.call("schemas", {"name": "Receipt", "response_format": response_format})
    site.call(
        "prompts",
        {
            "name": "Receipt",
            "content": "Read the receipt.",
            "schema_id": made["schema_id"],
            "schema_version": made["schema_version"],
            "tag_ids": [tag],
            "model": OFFLINE_MODEL,
        },
    )
    return str(tag)


def storm(site: Site, *, kills: int, pause: tuple[float, float] = (0.5, 7.0), auto_create: bool = False) -> Figures:
    """Kill so many processes, each kind about as often as the others; then wait for the end and look."""
    figures = Figures()
    database_url = site.environment["DATABASE_URL"]
    uploads = Uploads(site, database_url, figures, auto_create=auto_create)
    started = time.monotonic()
    uploads.start()
    try:
        while figures.kills.total() < kills:
            time.sleep(random.uniform(*pause))
            _kill_one(site, figures)
            if random.random() < LEFT_ALONE:
                _wait_for_progress(database_url, figures.kill_times[-1][1])
            assert uploads.problem is None, uploads.problem
    finally:
        uploads.stop()
    figures.lasted = time.monotonic() - started
    figures.drained = wait_until_all_ended(database_url, DRAIN_SECONDS)
    figures.longest_pause = _longest_pause(database_url, figures)
    figures.findings = look(database_url)
    return figures


def _kill_one(site: Site, figures: Figures) -> None:
    """One of the kinds that were killed least often and live at this moment."""
    fewest_first = sorted(KINDS, key=lambda kind: (figures.kills[kind], random.random()))
    for kind in fewest_first:
        now = datetime.now(UTC)
        if (pid := site.kill(kind)) is not None:
            figures.kills[kind] += 1
            figures.kill_times.append((kind, now))
            sys.stdout.write(f"{figures.kills.total():3}  {now:%H:%M:%S}  kill -9 {kind} ({pid})\n")
            sys.stdout.flush()
            return


def _wait_for_progress(database_url: str, since: datetime) -> None:
    """Leave the product alone until some run has ended."""
    query = "SELECT 1 FROM documents_run WHERE completed_at > %s LIMIT 1"
    deadline = time.monotonic() + DRAIN_SECONDS
    while not ask(database_url, query, since):
        assert time.monotonic() < deadline, "nothing goes on"
        time.sleep(0.3)


def _longest_pause(database_url: str, figures: Figures) -> tuple[float, str]:
    """How long it took at most from a kill until the next run ended, and after which kill that was."""
    ends = [row[0] for row in ask(database_url, "SELECT completed_at FROM documents_run ORDER BY 1")]
    pauses = [
        (min((end - at).total_seconds() for end in ends if end > at), kind)
        for kind, at in figures.kill_times
        if ends and ends[-1] > at
    ]
    return max(pauses, default=(0.0, ""))


def show(figures: Figures) -> str:
    """The figures, a line each."""
    found = figures.findings
    kills = ", ".join(f"{kind} {count}" for kind, count in sorted(figures.kills.items()))
    runs = ", ".join(f"{kind} {phase}{' ' + code if code else ''} {n}" for (kind, phase, code), n in found.runs.items())
    retries = ", ".join(f"{code} {count}" for code, count in found.retries.items()) or "none"
    slowest, after = figures.longest_pause
    lines = [
        f"kills -9            {figures.kills.total()} in {figures.lasted:.0f} s ({kills})",
        f"documents           {len(figures.uploaded)} uploads acknowledged, {found.documents} documents"
        f" ({figures.proposals} to be set up by the agent)",
        f"runs ended          {sum(found.runs.values())} ({runs})",
        f"retries             {retries}",
        f"longest recovery    {slowest:.1f} s until the next run ended (after {after})",
        f"last run ended      {figures.drained:.1f} s after the last upload",
        f"pages               {found.pages} stored, {found.pages_told} parsed",
        f"events              {found.events} in {found.documents} logs, without a gap",
    ]
    lines += [f"BROKEN              {rule}: {rows}" for rule, rows in found.broken.items()]
    if found.documents != len(figures.uploaded):
        lines.append("BROKEN              not as many documents as uploads that were acknowledged")
    return "\n".join(lines)
