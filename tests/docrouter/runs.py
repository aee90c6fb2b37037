"""Start `make run` for a test, and look at what it leaves behind."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.docrouter.launchers import ROOT

SERVICES = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "DATA_DIR", "TEST_DATA_DIR", "DJANGO_SETTINGS_MODULE")


@dataclass
class Run:
    """One `make run`: its process, what it has said so far."""

    process: subprocess.Popen[str]
    data_dir: Path
    said: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.said)

    @property
    def url(self) -> str:
        found = re.search(r"is ready: (\S+)", self.text)
        assert found, self.text
        return found[1]

    @property
    def supervisor(self) -> int:
        return int((self.data_dir / "lock").read_text())

    def wait_for(self, sign: str, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while sign not in self.text:
            assert self.process.poll() is None or sign in self.text, self.text
            assert time.monotonic() < deadline, f"no '{sign}' in: {self.text}"
            time.sleep(0.05)

    def get(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(self.url + path, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def stop(self, signum: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(signum)
        return self.process.wait(60)


@contextlib.contextmanager
def running(data_dir: Path, *, command: Sequence[str] = (), ready: bool = True, **knobs: str) -> Iterator[Run]:
    """Run `docrouter.run` on a data folder; whatever the test did, nothing of it is left at the end."""
    env = {name: value for name, value in os.environ.items() if name not in SERVICES}
    process = subprocess.Popen(
        command or [sys.executable, "-m", "docrouter.run"],
        cwd=ROOT,
        env=env | {"DATA_DIR": str(data_dir), "PORT": "0", "WORKER_CONCURRENCY": "1"} | knobs,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    run = Run(process, data_dir)
    assert process.stdout is not None
    reader = threading.Thread(target=lambda: run.said.extend(process.stdout or ()), daemon=True)
    reader.start()
    try:
        if ready:
            run.wait_for("Logs are in")
        yield run
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(60)
        reader.join(10)
        process.stdout.close()


def processes_of(data_dir: Path) -> dict[int, str]:
    """Every process that belongs to a data folder: by its environment, its command line or where it works."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            environment = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
            folder = str((entry / "cwd").readlink())
            is_ours = f"DATA_DIR={data_dir}" in environment or str(data_dir) in line or folder.startswith(str(data_dir))
            if is_ours and line:
                found[int(entry.name)] = line
    return found


def nothing_left(data_dir: Path, seconds: float = 0) -> bool:
    """Tell whether no process of the data folder is left, waiting for the last ones that long."""
    deadline = time.monotonic() + seconds
    while left := processes_of(data_dir):
        if time.monotonic() > deadline:
            raise AssertionError(f"left behind: {left}")
        time.sleep(0.1)
    return True
