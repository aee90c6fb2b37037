"""The application's processes: started, started again when they end by themselves, drained and ended together."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from docrouter.embedded import files, processes
from docrouter.run.knobs import ROOT
from docrouter.run.programs import Program

LONGEST_PAUSE_SECONDS = 30.0
CALM_SECONDS = 60.0


@dataclass(slots=True)
class Child:
    """One running (or just ended) program with its history of restarts."""

    program: Program
    process: subprocess.Popen[bytes]
    started_at: float
    pause: float = 0.5
    restart_at: float = 0.0


class Children:
    """All processes of one `make run`, noted in a file so that the next start can end what a kill -9 left."""

    def __init__(self, data_dir: Path, env: Mapping[str, str], say: Callable[[str], None]) -> None:
        self._logs = data_dir / "logs"
        self._notes = data_dir / "processes.json"
        self._env = env
        self._say = say
        self._children: list[Child] = []

    def start(self, program: Program) -> None:
        self._children.append(Child(program, self._spawn(program), time.monotonic()))
        self._note()

    def log_of(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def ended(self) -> list[str]:
        """Names of the programs that are not running at the moment."""
        return [child.program.name for child in self._children if child.process.poll() is not None]

    def watch(self) -> None:
        """Start again what ended, after a pause that grows while it keeps ending."""
        now = time.monotonic()
        for child in self._children:
            if child.process.poll() is None:
                continue
            if not child.restart_at:
                child.pause = (
                    0.5 if now - child.started_at > CALM_SECONDS else min(2 * child.pause, LONGEST_PAUSE_SECONDS)
                )
                child.restart_at = now + child.pause
                _end_group(child.process.pid, signal.SIGKILL)
                self._say(
                    f"{child.program.name} ended ({child.process.returncode}), starts again in {child.pause:.0f} s; "
                    f"see {self.log_of(child.program.name)}"
                )
            elif now >= child.restart_at:
                child.process, child.started_at, child.restart_at = self._spawn(child.program), now, 0.0
                self._note()

    def drain(self, seconds: float, hurry: Callable[[], bool]) -> None:
        """Ask all to finish, wait for them, then end by force what is left, with everything that they started."""
        for child in self._children:
            if child.process.poll() is None:
                child.process.terminate()
        deadline = time.monotonic() + seconds
        while any(child.process.poll() is None for child in self._children):
            if time.monotonic() > deadline or hurry():
                break
            time.sleep(0.05)
        for child in self._children:
            if child.process.poll() is None:
                self._say(f"{child.program.name} did not end by itself.")
            _end_group(child.process.pid, signal.SIGKILL)
            child.process.wait()
        self._children.clear()
        self._notes.unlink(missing_ok=True)

    def end_leftovers(self) -> None:
        """End what an earlier supervisor on this data folder left behind when it was killed."""
        with contextlib.suppress(FileNotFoundError, ValueError, KeyError, TypeError):
            notes = [(int(note["pid"]), int(note["started"])) for note in json.loads(self._notes.read_text())]
            for pid, started in notes:
                if processes.is_alive(pid, started):
                    _end_group(pid, signal.SIGTERM)
            for pid, started in notes:
                if not processes.wait_gone(pid, started, 10):
                    _end_group(pid, signal.SIGKILL)
        self._notes.unlink(missing_ok=True)

    def _spawn(self, program: Program) -> subprocess.Popen[bytes]:
        return processes.spawn(
            program.command,
            log=self.log_of(program.name),
            env=self._env,
            cwd=ROOT,
            pass_fds=program.descriptors,
        )

    def _note(self) -> None:
        states = [(child.process.pid, processes.state_of(child.process.pid)) for child in self._children]
        notes = [{"pid": pid, "started": state[1]} for pid, state in states if state]
        files.write_private(self._notes, json.dumps(notes))


def _end_group(pid: int, signum: signal.Signals) -> None:
    """Signal a child and all that it started: each child leads a process group of its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signum)
