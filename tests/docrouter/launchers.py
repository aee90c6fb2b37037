"""Start launchers as processes and look at what they run; shared by the tests of the embedded services."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
import redis

from docrouter.embedded import processes

ROOT = Path(__file__).resolve().parent.parent.parent
IS_ROOT = os.geteuid() == 0
WAYS = ["namespace", "nobody"] if IS_ROOT else ["direct"]


@dataclass
class Launcher:
    """A running launcher: its process, what it handed out, the pids of its services."""

    process: subprocess.Popen[str]
    env: dict[str, str]
    pids: dict[str, int]

    def kill(self, *names: str) -> None:
        """kill -9, the launcher itself by the name `launcher`."""
        for name in names:
            if name == "launcher":
                self.process.kill()
                self.process.wait()
            else:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pids[name], signal.SIGKILL)

    def stop(self) -> None:
        self.process.communicate(timeout=60)

    def wait_gone(self) -> bool:
        return all(processes.wait_gone(pid, None, 15) for pid in self.pids.values())


@contextlib.contextmanager
def launched(
    data_dir: Path,
    way: str = "any",
    *options: str,
    python: Sequence[str] = (sys.executable,),
    user: int | None = None,
    path: Path = ROOT,
) -> Iterator[Launcher]:
    """Run tests/docrouter/launch.py; stopped politely at the end unless the test killed it."""
    process = subprocess.Popen(
        [*python, str(path / "tests" / "docrouter" / "launch.py"), str(data_dir), way, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1"},
        user=user,
        group=user,
        extra_groups=[] if user is not None else None,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"the launcher said nothing and ended with {process.wait()}"
        told = json.loads(line)
        launcher = Launcher(process, told["env"], told["pids"])
        yield launcher
    finally:
        process.communicate(timeout=60)
        with contextlib.suppress(NameError, UnboundLocalError):
            assert "orphans" in options or launcher.wait_gone()


def remember(env: dict[str, str], word: str) -> None:
    """Write a word to both services, durably."""
    with psycopg.connect(env["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS words (word text)")
        connection.execute("INSERT INTO words VALUES (%s)", (word,))
    client = redis.Redis.from_url(env["REDIS_URL"])
    client.rpush("words", word)
    client.close()


def recall(env: dict[str, str]) -> tuple[list[str], list[str]]:
    """Read the words back, from both services."""
    with psycopg.connect(env["DATABASE_URL"]) as connection:
        rows = [word for (word,) in connection.execute("SELECT word FROM words ORDER BY ctid")]
    client = redis.Redis.from_url(env["REDIS_URL"], decode_responses=True)
    kept = client.lrange("words", 0, -1)
    client.close()
    return rows, list(kept)
