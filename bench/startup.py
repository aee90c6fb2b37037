"""`make bench-startup`: how long until DocRouter is ready, and how much memory it needs when nothing happens.

From a fresh clone with an empty package cache (downloads, so it needs a package index), then a second start of the
same clone. Memory per part: RSS counts shared pages in every process, PSS shares them out.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AT_REST_SECONDS = 30
OURS = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "DATA_DIR", "VIRTUAL_ENV", "PYTHONPATH")


def start(clone: Path, environ: dict[str, str]) -> tuple[subprocess.Popen[str], float]:
    """Run `make run` until it says that it is ready; return it with the seconds that took."""
    started = time.monotonic()
    process = subprocess.Popen(
        ["make", "run"], cwd=clone, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "is ready" in line:
            return process, time.monotonic() - started
    raise SystemExit(f"make run ended with {process.wait()}")


def stop(data_dir: Path, process: subprocess.Popen[str]) -> float:
    started = time.monotonic()
    os.kill(int((data_dir / "lock").read_text()), signal.SIGINT)
    process.communicate()
    return time.monotonic() - started


def part_of(command: str, parents: str) -> str | None:
    """Which part of DocRouter a process belongs to, by its own or its parent's command line."""
    signs = {
        "daphne": "web",
        "-Q ingest": "worker ingest",
        "-Q llm": "worker llm",
        " beat ": "beat",
        "postgres -D": "PostgreSQL",
        "postgres:": "PostgreSQL",
        "valkey-server": "Valkey",
        "docrouter.run": "supervisor",
    }
    for line in (command, parents):
        for sign, part in signs.items():
            if sign in line:
                return part
    return None


def memory(supervisor: int) -> dict[str, tuple[int, float, float]]:
    """Processes, RSS and PSS in MB of each part below the supervisor."""
    parents: dict[int, int] = {}
    lines: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                lines[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    below = {supervisor}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    sums: dict[str, tuple[int, float, float]] = {}
    for pid in below:
        part = part_of(lines.get(pid, ""), lines.get(parents.get(pid, 0), ""))
        with contextlib.suppress(OSError):
            fields = {}
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
                name, value = line.split(":")
                fields[name] = int(value.split()[0]) / 1024
            count, rss, pss = sums.get(part or "other", (0, 0.0, 0.0))
            sums[part or "other"] = (count + 1, rss + fields["Rss"], pss + fields["Pss"])
    return sums


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="docrouter-bench-"))
    clone, data_dir = folder / "clone", folder / "data"
    environ = {name: value for name, value in os.environ.items() if name not in OURS}
    environ |= {"DATA_DIR": str(data_dir), "PORT": "0", "UV_CACHE_DIR": str(folder / "cache"), "PIP_NO_CACHE_DIR": "1"}
    try:
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        process, seconds = start(clone, environ)
        print(f"fresh clone, empty package cache, to ready: {seconds:6.1f} s")
        stop(data_dir, process)
        for _ in range(3):
            process, seconds = start(clone, environ)
            print(f"second start to ready:                      {seconds:6.1f} s")
            if _ < 2:
                stop(data_dir, process)
        time.sleep(AT_REST_SECONDS)
        print(f"\n{'at rest':<16}{'processes':>10}{'RSS MB':>10}{'PSS MB':>10}")
        total = 0.0
        for part, (count, rss, pss) in sorted(memory(int((data_dir / "lock").read_text())).items()):
            total += pss
            print(f"{part:<16}{count:>10}{rss:>10.0f}{pss:>10.0f}")
        print(f"{'together':<16}{'':>10}{'':>10}{total:>10.0f}")
        print(f"\nstop: {stop(data_dir, process):.1f} s")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
