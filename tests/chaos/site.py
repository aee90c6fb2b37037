"""The whole product as `make run` starts it, and a hand that ends its processes with kill -9."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docrouter.embedded import processes
from tests.docrouter.launchers import ROOT
from tests.docrouter.runs import Run, processes_of, running

# How to find each kind of process by its command line; of a family, the first to start is the parent.
SIGNS = {
    "web": ("daphne",),
    "worker-ingest": ("celery", "-Q ingest "),
    "worker-ingest-child": ("celery", "-Q ingest "),
    "worker-llm": ("celery", "-Q llm"),
    "beat": ("celery", "beat"),
    "Valkey": ("valkey-server",),
    "PostgreSQL": ("postgres", " -D "),
}
KINDS = tuple(SIGNS)
LEASE_SECONDS = 5
PATIENCE_SECONDS = 180.0


@dataclass
class Site:
    """A running product, and a program's token for its one organization."""

    run: Run
    organization_id: str
    token: str

    @property
    def environment(self) -> dict[str, str]:
        """What `make run` published: where the database is, among others."""
        lines = (self.run.data_dir / "env").read_text().splitlines()
        pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith("#"))
        return {name: value.strip("'\"") for name, _, value in pairs}

    def pids(self, kind: str) -> list[int]:
        """The processes of a kind, the oldest first."""
        signs = SIGNS[kind]
        lines = processes_of(self.run.data_dir)
        found = [pid for pid, line in lines.items() if all(sign in line for sign in signs)]
        found.sort(key=lambda pid: (processes.state_of(pid) or ("", 2**62))[1])
        return found[1:] if kind.endswith("-child") else found[:1]

    def kill(self, kind: str) -> int | None:
        """kill -9; None when there is no such process at this moment."""
        found = self.pids(kind)
        if not found:
            return None
        pid = random.choice(found)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return pid

    def call(self, path: str, body: object = None, **headers: str) -> Any:
        """Ask the API of the organization; again while the product is down. The same key never does a thing twice."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return self._call(path, body, headers)
            except urllib.error.HTTPError as problem:
                if problem.code not in (409, 500, 502, 503) or time.monotonic() > deadline:
                    raise AssertionError(f"{path}: {problem.code} {problem.read()[:500]!r}") from problem
            except OSError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.3)

    def _call(self, path: str, body: object, headers: dict[str, str]) -> Any:
        url = f"{self.run.url}/v0/orgs/{self.organization_id}/{path}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Authorization": f"Bearer {self.token}", **headers})
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def upload(self, name: str, content: str, *tag_ids: str, auto_create: bool = False) -> str:
        """Upload a file (base64); the document's id. It exists once, however often the product dies meanwhile."""
        document = {"name": name, "content": content, "tag_ids": list(tag_ids)}
        body: dict[str, Any] = {"documents": [document]}
        if auto_create:
            body["auto_create"] = True
        answer = self.call("documents", body, **{"Idempotency-Key": uuid.uuid4().hex})
        return str(answer["documents"][0]["document_id"])


@contextlib.contextmanager
def site(data_dir: Path, **knobs: str) -> Iterator[Site]:
    """Start everything; leases are short, so that a run of a dead worker is soon somebody else's."""
    settings: dict[str, Any] = {
        "DEMO": "0",
        "WORKER_CONCURRENCY": "2",
        "RATE_LIMIT_SCALE": "0",
        "RUN_LEASE_SECONDS": str(LEASE_SECONDS),
        "RUN_ATTEMPTS": "50",
        "OFFLINE_CHUNK_DELAY_MS": "0",
        **knobs,
    }
    with running(data_dir, **settings) as run:
        email = "chaos@example.com"
        _manage(data_dir, "create_user", "--email", email, "--password", "a long enough one")
        organization_id = _manage(data_dir, "create_organization", "--name", "Chaos", "--owner", email)
        token = _manage(data_dir, "create_token", "--email", email, "--organization", organization_id)
        yield Site(run, organization_id, token)


def _manage(data_dir: Path, *arguments: str) -> str:
    env = {"PATH": os.environ["PATH"], "DATA_DIR": str(data_dir)}
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()
