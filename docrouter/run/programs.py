"""The command lines of the application's own processes, for `make run` (operators: docs/deployment.md)."""

import sys
from dataclasses import dataclass
from pathlib import Path

from docrouter.run.knobs import Knobs

LLM_THREADS = 8
CELERY = ("-m", "celery", "-A", "docrouter.celery:app")
WORKER = ("worker", "--without-gossip", "--without-mingle", "--loglevel=WARNING")


@dataclass(frozen=True, slots=True)
class Program:
    """One process to keep running; `descriptors` are the open files that it inherits."""

    name: str
    command: tuple[str, ...]
    descriptors: tuple[int, ...] = ()


def web(number: int, descriptor: int) -> Program:
    """A web server on the listening socket that all of them share. No access log: query strings may hold tokens."""
    command = (sys.executable, "-m", "daphne", "-v", "0", "--no-server-name", "--fd", str(descriptor))
    return Program(f"web-{number}", (*command, "docrouter.asgi:application"), (descriptor,))


def background(knobs: Knobs, beat_schedule: Path) -> list[Program]:
    """The workers, one for each pool, and the clock."""
    concurrency = str(knobs.worker_concurrency)
    ingest = ("-Q", "ingest", "-n", "ingest@%h", "-P", "prefork", "-c", concurrency, "--max-tasks-per-child=200")
    llm = ("-Q", "llm,default", "-n", "llm@%h", "-P", "threads", "-c", str(LLM_THREADS))
    beat = ("beat", f"--schedule={beat_schedule}", "--pidfile=", "--loglevel=WARNING")
    return [
        Program("worker-ingest", (sys.executable, *CELERY, *WORKER, *ingest)),
        Program("worker-llm", (sys.executable, *CELERY, *WORKER, *llm)),
        Program("beat", (sys.executable, *CELERY, *beat)),
    ]
