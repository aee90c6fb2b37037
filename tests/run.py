"""`python -m tests.run fast|slow|fuzz|check|fix|bench`: what `make` calls, with PostgreSQL and Valkey of its own."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from docrouter.embedded import services
from tests.notes import VARIABLE, read_notes

ROOT = Path(__file__).resolve().parent.parent
DATA_DIR = ROOT / ".data" / "test"
PYTHON = sys.executable
LOUD = "!" * 100
NO_TESTS = 5
FUZZ_EXAMPLES = 5000
OWN_TARGETS = {"startup", "screenshots"}  # in bench/, but no figure of speed

Check = tuple[str, list[str], dict[str, str]]


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def tool(name: str) -> str:
    """The tool beside this interpreter, wherever the virtual environment is."""
    return str(Path(sys.executable).with_name(name))


def checks() -> list[Check]:
    production = {
        "SECRET_KEY": secrets.token_urlsafe(64),
        "ALLOWED_HOSTS": "docrouter.example.com",
        "HTTPS": "1",
        "DEBUG": "0",
        "DEMO": "0",
    }
    return [
        ("format", [tool("ruff"), "format", "--check", "--quiet", "."], {}),
        ("lint", [tool("ruff"), "check", "--quiet", "."], {}),
        ("imports", [tool("lint-imports"), "--no-logo"], {}),
        ("templates", [tool("djlint"), "--check", "--lint", "--quiet", "templates"], {}),
        ("types", [tool("mypy"), "--no-error-summary", "."], {}),
        ("migrations", [PYTHON, "manage.py", "makemigrations", "--check", "--dry-run"], {}),
        ("production", [PYTHON, "manage.py", "check", "--deploy", "--fail-level", "WARNING"], production),
    ]


def pytest(*arguments: str) -> list[str]:
    return [PYTHON, "-m", "pytest", "-q", *arguments]


class Report:
    """Runs one thing after the other, never stops at the first failure, tells all at the end."""

    def __init__(self, env: dict[str, str]) -> None:
        self._env = env
        self._failed: list[str] = []
        self.notes: list[str] = []
        self._said = Path(env["DATA_DIR"]) / "notes"
        self._said.unlink(missing_ok=True)
        self._env[VARIABLE] = str(self._said)

    def run(
        self, name: str, command: Sequence[str], extra: dict[str, str] | None = None, fine: Sequence[int] = (0,)
    ) -> None:
        say(f"--- {name}")
        started = time.monotonic()
        done = subprocess.run(command, cwd=ROOT, env=self._env | (extra or {}), stdin=subprocess.DEVNULL, check=False)
        word = "ok" if done.returncode in fine else f"FAILED ({done.returncode})"
        say(f"--- {name}: {word}, {time.monotonic() - started:.0f} s")
        if done.returncode not in fine:
            self._failed.append(name)

    def close(self) -> int:
        for note in [*self.notes, *read_notes(self._said)]:
            say(f"{LOUD}\n{note}\n{LOUD}")
        say(f"FAILED: {', '.join(self._failed)}" if self._failed else "All is well.")
        return 1 if self._failed else 0


def has_chromium() -> bool:
    """Look for a browser; root installs Debian's."""
    names = ("chromium", "chromium-browser", "google-chrome")
    if not any(map(shutil.which, names)) and os.geteuid() == 0 and shutil.which("apt-get"):
        say("--- installing Debian's chromium")
        env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", "chromium"]):
            subprocess.run(["apt-get", *command], env=env, stdin=subprocess.DEVNULL, check=False)
    return any(map(shutil.which, names))


def fast(report: Report) -> None:
    check(report)
    report.run("fast tests", pytest("-n", "2"))
    if has_chromium():
        report.run("browser journeys", pytest("-m", "browser and not slow"), fine=(0, NO_TESTS))
    else:
        report.notes.append("BROWSER JOURNEYS DID NOT RUN: no chromium here. apt-get install chromium")


def slow(report: Report) -> None:
    report.run("slow tests", pytest("-n", "2", "--dist", "loadgroup", "-m", "slow"))
    fuzz(report)


def fuzz(report: Report) -> None:
    report.run("fuzzing", pytest("tests/fuzz"), {"FUZZ_EXAMPLES": str(FUZZ_EXAMPLES)})


def check(report: Report) -> None:
    for name, command, extra in checks():
        report.run(name, command, extra)


def fix(report: Report) -> None:
    report.run("format", [tool("ruff"), "format", "."])
    report.run("lint", [tool("ruff"), "check", "--fix", "."])
    report.run("templates", [tool("djlint"), "--reformat", "--quiet", "templates"], fine=(0, 1))


def bench(report: Report) -> None:
    for path in sorted((ROOT / "bench").glob("[a-z]*.py")):
        if path.stem not in OWN_TARGETS:
            report.run(path.stem, [PYTHON, "-m", f"bench.{path.stem}"])


def screenshots(report: Report) -> None:
    report.run("screenshots", [PYTHON, "-m", "bench.screenshots"])


JOBS: dict[str, Callable[[Report], None]] = {
    "fast": fast,
    "slow": slow,
    "fuzz": fuzz,
    "check": check,
    "fix": fix,
    "bench": bench,
    "screenshots": screenshots,
}


def main() -> int:
    job = JOBS[sys.argv[1]]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with services(DATA_DIR, durable=False) as env:
        report = Report(os.environ | env | {"DATA_DIR": str(DATA_DIR), "TEST_DATA_DIR": str(DATA_DIR / "runs")})
        job(report)
        return report.close()


if __name__ == "__main__":
    raise SystemExit(main())
