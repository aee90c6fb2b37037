"""What must be true of every document once all of its runs have ended, read from the database itself."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

_OPEN = "NOT IN ('complete', 'error', 'cancelled')"
# Each finds what must not be: nothing may come back.
RULES = {
    "a run that has not ended": (
        "SELECT id, kind, phase FROM documents_run WHERE phase NOT IN ('complete', 'error', 'cancelled')"
    ),
    "an event that is missing": (
        "SELECT document_id, count(*), max(seq) FROM documents_event GROUP BY document_id"
        " HAVING count(*) <> max(seq) OR min(seq) <> 1"
    ),
    "a log whose head is not its last event": (
        "SELECT document_id FROM documents_eventhead h WHERE last_seq <>"
        " (SELECT coalesce(max(seq), 0) FROM documents_event e WHERE e.document_id = h.document_id)"
    ),
    "a page that was read twice": "SELECT version_id, number, reads FROM documents_page WHERE reads <> 1",
    "a page that was told twice": (
        "SELECT run_id, data->>'page' FROM documents_event WHERE type = 'page.parsed'"
        " GROUP BY 1, 2 HAVING count(*) <> 1"
    ),
    "a read without all of its pages": (
        "SELECT r.id, r.pages_total FROM documents_run r WHERE kind = 'parse' AND phase = 'complete' AND pages_total <>"
        " (SELECT count(*) FROM documents_page p WHERE p.version_id = r.version_id)"
    ),
    "a read that was queued or ended other than once": (
        "SELECT r.id FROM documents_run r JOIN documents_event e ON e.run_id = r.id WHERE r.kind = 'parse'"
        " GROUP BY r.id HAVING count(*) FILTER (WHERE type = 'run.queued') <> 1"
        " OR count(*) FILTER (WHERE type IN ('run.completed', 'run.failed', 'run.cancelled')) <> 1"
    ),
    "a run of a prompt that was queued or ended other than once": (
        "SELECT r.id FROM documents_run r JOIN documents_event e ON e.run_id = r.id WHERE r.kind = 'extract'"
        " AND r.caused_by_id IS NOT NULL GROUP BY r.id HAVING count(*) FILTER (WHERE type = 'extraction.queued') <> 1"
        " OR count(*) FILTER (WHERE type IN ('extraction.completed', 'extraction.failed')) <> 1"
    ),
    "a finished run of a prompt without its one result": (
        "SELECT r.id FROM documents_run r WHERE kind = 'extract' AND phase = 'complete'"
        " AND (SELECT count(*) FROM documents_extraction x WHERE x.run_id = r.id) <> 1"
    ),
    "a prompt that ran other than once on a read": (
        "SELECT caused_by_id, prompt_revision_id FROM documents_run WHERE kind = 'extract' AND caused_by_id IS NOT NULL"
        " GROUP BY 1, 2 HAVING count(*) <> 1"
    ),
    "a document whose prompts were forgotten": (
        "SELECT document_id FROM documents_run WHERE kind = 'parse' AND phase = 'complete' AND NOT ocr_only"
        " AND prompts_queued_at IS NULL"
    ),
    "a document that does not show how its run ended": (
        "SELECT d.id, d.state FROM documents_document d JOIN documents_run r"
        " ON r.version_id = d.current_version_id AND r.kind = 'parse'"
        " WHERE (d.state IN ('uploaded', 'ocr_processing', 'llm_processing')"
        " OR (r.phase = 'complete') = (d.state = 'ocr_failed'))"
        " AND NOT EXISTS (SELECT 1 FROM documents_run n WHERE n.document_id = d.id AND n.created_at > r.created_at"
        " AND n.kind = 'parse')"
    ),
    "an attempt of the agent that has not ended": (
        "SELECT id, status FROM documents_autocreate WHERE status IN ('pending', 'running')"
    ),
    "a schema that no proposal wants": (
        "SELECT s.id FROM schemas_app_schema s LEFT JOIN documents_autocreate a ON a.run_id = s.made_by_run"
        " WHERE s.made_by_run IS NOT NULL AND s.deleted_at IS NULL"
        " AND (a.id IS NULL OR a.status NOT IN ('proposed', 'accepted'))"
    ),
    "a prompt that no proposal wants": (
        "SELECT p.id FROM prompts_app_prompt p LEFT JOIN documents_autocreate a ON a.run_id = p.made_by_run"
        " WHERE p.made_by_run IS NOT NULL AND p.deleted_at IS NULL"
        " AND (a.id IS NULL OR a.status NOT IN ('proposed', 'accepted'))"
    ),
    "more than one schema or prompt for a proposal": (
        "SELECT made_by_run FROM (SELECT made_by_run FROM schemas_app_schema WHERE deleted_at IS NULL UNION ALL"
        " SELECT made_by_run FROM prompts_app_prompt WHERE deleted_at IS NULL) AS made"
        " WHERE made_by_run IS NOT NULL GROUP BY 1 HAVING count(*) > 2"
    ),
    "a turn that has not ended": "SELECT id, status FROM agent_turn WHERE status = 'running'",
}


@dataclass
class Findings:
    """What was looked at, and what should not be."""

    documents: int = 0
    events: int = 0
    pages: int = 0
    pages_told: int = 0
    retries: dict[str, int] = field(default_factory=dict)
    runs: dict[tuple[str, str, str], int] = field(default_factory=dict)
    broken: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)


def ask(database_url: str, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Rows of a query, asked again while the database is down."""
    for _ in range(240):
        try:
            with psycopg.connect(database_url, autocommit=True, connect_timeout=5) as connection:
                return connection.execute(query, values or None).fetchall()
        except psycopg.OperationalError:
            time.sleep(0.25)
    raise AssertionError("the database does not come back")


def open_runs(database_url: str) -> int:
    """How many runs, and wishes for one, have not ended; a read whose prompts nobody has queued yet is one."""
    ((count,),) = ask(
        database_url,
        f"SELECT (SELECT count(*) FROM documents_run WHERE phase {_OPEN})"  # noqa: S608 - a constant
        " + (SELECT count(*) FROM documents_autocreate WHERE status IN ('pending', 'running'))"
        " + (SELECT count(*) FROM documents_run WHERE kind = 'parse' AND phase = 'complete' AND NOT ocr_only"
        "    AND prompts_queued_at IS NULL)",
    )
    return int(count)


def wait_until_all_ended(database_url: str, seconds: float) -> float:
    """Wait for the last run. Returns: how long that took. Units: seconds."""
    started = time.monotonic()
    while left := open_runs(database_url):
        assert time.monotonic() - started < seconds, f"{left} runs have not ended: {_what_is_open(database_url)}"
        time.sleep(0.25)
    return time.monotonic() - started


def _what_is_open(database_url: str) -> Sequence[tuple[Any, ...]]:
    columns = "id, kind, phase, attempts, pages_done, pages_total, admitted_at, lease_until, cancel_requested"
    return ask(database_url, f"SELECT {columns} FROM documents_run WHERE phase {_OPEN} LIMIT 5")  # noqa: S608 - constants


def look(database_url: str) -> Findings:
    """Check every rule, and count."""

    def number(query: str) -> int:
        return int(ask(database_url, query)[0][0])

    findings = Findings(
        documents=number("SELECT count(*) FROM documents_document"),
        events=number("SELECT count(*) FROM documents_event"),
        pages=number("SELECT count(*) FROM documents_page"),
        pages_told=number("SELECT count(*) FROM documents_event WHERE type = 'page.parsed'"),
    )
    counted = "SELECT kind, phase, error_code, count(*) FROM documents_run GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    findings.runs = {(kind, phase, code): count for kind, phase, code, count in ask(database_url, counted)}
    told = "SELECT data->>'code', count(*) FROM documents_event WHERE type = 'run.retried' GROUP BY 1 ORDER BY 1"
    findings.retries = dict(ask(database_url, told))
    for rule, query in RULES.items():
        if rows := ask(database_url, query):
            findings.broken[rule] = rows[:5]
    return findings


def eventually(what: Callable[[], object], seconds: float = 60) -> object:
    """Wait until something is the case; what it is."""
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline, "that never came to be"
        time.sleep(0.02)
    return found
