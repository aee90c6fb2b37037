"""Child processes of the launcher: started in their own session, told apart from recycled pids, ended in order.

Each child asks the kernel for a signal when its parent dies, so that even `kill -9` of the launcher ends it;
where the kernel forgets that (a change of user clears it), the next start finds the orphan and ends it.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG = 1
LOG_KEEPS_BYTES = 10_000_000
_libc = ctypes.CDLL(None, use_errno=True)


def state_of(pid: int) -> tuple[str, int] | None:
    """Return (state letter, start time in clock ticks since boot) of a process, or None when there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[19])


def is_alive(pid: int, started: int | None = None) -> bool:
    """Tell whether the process runs: a zombie does not, nor does another process that got the same pid."""
    state = state_of(pid)
    if state is None or started not in (None, state[1]):
        return False
    return state[0] not in "ZX" or _has_other_threads(pid)


def _has_other_threads(pid: int) -> bool:
    """The first thread of a dying process is a zombie while the others still end."""
    try:
        return len(os.listdir(f"/proc/{pid}/task")) > 1  # noqa: PTH208  # only the number matters
    except OSError:
        return False


def command_of(pid: int) -> list[str]:
    """Return the command line of a process, empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="surrogateescape").rstrip("\0").split("\0")
    except OSError:
        return []


def dies_with_parent(signum: signal.Signals) -> Callable[[], None]:
    """Return what a new child runs before exec: ask for `signum` when the parent dies."""
    parent = os.getpid()

    def ask() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, int(signum), 0, 0, 0)
        if os.getppid() != parent:  # the parent died before we asked
            os.kill(os.getpid(), signum)

    return ask


def plain_environment() -> dict[str, str]:
    """The environment for servers: without the PG… variables of the person's own database, and without our secrets."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", "HOME": "/"}


def open_log(path: Path) -> IO[bytes]:
    """Open a log for appending; one that has grown large is first moved aside."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > LOG_KEEPS_BYTES:
        path.replace(path.with_suffix(".log.1"))
    return path.open("ab")


def tail(path: Path, lines: int = 15) -> str:
    """Return the last lines of a log, for an error message."""
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""


def spawn(
    command: Sequence[str],
    *,
    log: Path,
    env: Mapping[str, str] | None = None,
    when_parent_dies: signal.Signals = signal.SIGTERM,
    stdin: bytes | None = None,
    cwd: str | Path = "/",
    user: int | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a child in a session of its own, so that Ctrl-C in the terminal reaches only the launcher."""
    with open_log(log) as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
            user=user,
            group=user,
            extra_groups=[] if user is not None else None,
            pass_fds=pass_fds,
            start_new_session=True,
            preexec_fn=dies_with_parent(when_parent_dies),  # the launcher has one thread
        )
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(stdin or b"")
            process.stdin.close()
    return process


def wait_gone(pid: int, started: int | None, seconds: float) -> bool:
    """Wait until the process is gone; works for processes that are not our children."""
    deadline = time.monotonic() + seconds
    while is_alive(pid, started):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def end(pid: int, started: int | None, signals: Sequence[tuple[signal.Signals, float]]) -> bool:
    """End a process with one signal after the other, each with its patience in seconds.

    Raises: PermissionError when the process belongs to somebody else."""
    for signum, seconds in signals:
        if not is_alive(pid, started):
            return True
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signum)
        if wait_gone(pid, started, seconds):
            return True
    return False
