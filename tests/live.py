"""The product as it is deployed, for one test session: its own database, web server, workers. Offline model."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60
CELERY = ("-m", "celery", "-A", "docrouter.celery:app", "worker", "--without-gossip", "--without-mingle")
PROGRAMS = {
    "ingest": (*CELERY, "--loglevel=WARNING", "-Q", "ingest", "-n", "ingest@%h", "-P", "solo"),
    "llm": (*CELERY, "--loglevel=WARNING", "-Q", "llm,default", "-n", "llm@%h", "-P", "threads", "-c", "4"),
}
SEVERAL = """
import io, json, sys
import django
from django.core.management import call_command
django.setup()
printed = []
for name, *arguments in json.loads(sys.argv[1]):
    out = io.StringIO()
    call_command(name, *arguments, stdout=out)
    printed.append(out.getvalue().strip())
sys.stdout.write(json.dumps(printed))
"""


@dataclass
class Site:
    """A running product; `url` is where it answers. Its web server can be killed and started again."""

    url: str
    port: int
    environment: dict[str, str]
    folder: Path
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def start(self, name: str) -> None:
        """Start one of web, ingest, llm."""
        web = ("-m", "daphne", "-v", "0", "-b", "127.0.0.1", "-p", str(self.port), "docrouter.asgi:application")
        arguments = web if name == "web" else PROGRAMS[name]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def stop(self, name: str, signal_number: int = signal.SIGTERM) -> None:
        """End one process with all that it started."""
        process = self.processes.pop(name)
        os.killpg(process.pid, signal_number)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def manage(self, *arguments: str) -> str:
        """Run a management command; returns what it prints."""
        command = [sys.executable, "manage.py", *arguments]
        outcome = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)
        assert outcome.returncode == 0, outcome.stderr[-3000:]
        return outcome.stdout.strip()

    def manage_all(self, *commands: Sequence[str]) -> list[str]:
        """Run management commands one after the other in one process; returns what each prints."""
        command = [sys.executable, "-c", SEVERAL, json.dumps(commands)]
        outcome = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)
        assert outcome.returncode == 0, outcome.stderr[-3000:]
        printed: list[str] = json.loads(outcome.stdout.splitlines()[-1])
        return printed

    def wait(self) -> None:
        """Until the web server answers."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{self.url}/sign-in", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        raise AssertionError(self.log("web"))

    def log(self, name: str) -> str:
        """The end of what a process has written."""
        return (self.folder / f"{name}.log").read_text(errors="replace")[-4000:]


@contextmanager
def running(folder: Path, name: str, *commands: Sequence[str], **knobs: str) -> Iterator[tuple[Site, list[str]]]:
    """Start everything on loopback with a database of its own that has what the management commands make.

    Afterwards nothing is left. `knobs` are environment variables beside, or instead of, those that are set here.
    Yields: the site, which answers already, and what each command has printed.
    """
    name = f"{name}_{secrets.token_hex(4)}"
    with _database(name) as database_url:
        port = _free_port()
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "docrouter.settings",
            "DATABASE_URL": database_url,
            "REDIS_PREFIX": name,
            "DATA_DIR": str(folder),
            "DEMO": "0",
            "OFFLINE_CHUNK_DELAY_MS": "2",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "PYTHONWARNINGS": "ignore",
            **knobs,
        }
        site = Site(f"http://127.0.0.1:{port}", port, environment, folder)
        try:
            _migrations, *printed = site.manage_all(("migrate", "-v", "0"), *commands)
            for program in ("web", *PROGRAMS):
                site.start(program)
            site.wait()
            yield site, printed
        finally:
            with ThreadPoolExecutor() as threads:
                list(threads.map(site.stop, list(site.processes)))


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def _database(name: str) -> Iterator[str]:
    parts = urlsplit(os.environ["DATABASE_URL"])
    admin = urlunsplit(parts._replace(path="/postgres"))
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        yield urlunsplit(parts._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
