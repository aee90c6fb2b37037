"""`make run` as people use it: started, used from another terminal, stopped, killed, started again."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from docrouter.embedded import processes
from tests.docrouter.launchers import ROOT, launched
from tests.docrouter.runs import nothing_left, processes_of, running

pytestmark = pytest.mark.slow

OPEN = "0.0.0.0"  # noqa: S104  # refused, that is the point


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """One data folder for all of these tests, so that only the first start prepares a database."""
    folder = Path(tempfile.mkdtemp(prefix="docrouter-run-"))
    yield folder / "data"
    shutil.rmtree(folder)


def manage(data_dir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`manage.py` in another terminal, which knows nothing but the data folder."""
    env = {"PATH": os.environ["PATH"], "DATA_DIR": str(data_dir)}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )


def test_it_is_ready_serves_operators_and_leaves_nothing_behind(data_dir: Path) -> None:
    with launched(data_dir.parent / "neighbour") as neighbour, running(data_dir) as run:
        status, body = run.get("/readyz")
        state = json.loads(body)
        assert (status, state["database"], state["redis"]) == (200, "ok", "ok")
        assert run.get("/healthz") == (200, "ok\n")
        assert "docrouter_up" in run.get("/metrics")[1]
        assert "demo@example.com" in run.text
        owner = manage(data_dir, "create_user", "--email", "carol@example.com", "--password", "a long enough one")
        assert len(owner.stdout.strip()) == 32, owner.stderr
        made = manage(data_dir, "create_organization", "--name", "Carol's", "--owner", "carol@example.com")
        assert len(made.stdout.strip()) == 32, made.stderr
        token = manage(data_dir, "create_token", "--email", "carol@example.com", "--organization", made.stdout.strip())
        assert token.stdout.startswith("org_")
        assert len(token.stdout.split()) == 1
        assert run.stop(signal.SIGINT) == 0
        assert nothing_left(data_dir)
        assert not (data_dir / "env").exists()
        assert all(processes.is_alive(pid) for pid in neighbour.pids.values()), "what others started still runs"


def test_make_run_ends_by_ctrl_c_like_in_a_terminal(data_dir: Path) -> None:
    with running(data_dir, command=["make", "-o", "install", "run", f"RUN={sys.executable}"]) as run:
        os.killpg(run.process.pid, signal.SIGINT)
        run.process.wait(60)
        assert nothing_left(data_dir)


def test_sigterm_while_it_still_starts_leaves_nothing_behind(data_dir: Path) -> None:
    with running(data_dir, ready=False) as run:
        deadline = time.monotonic() + 30
        while len(processes_of(data_dir)) < 4 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert run.stop(signal.SIGTERM) == 0
        assert nothing_left(data_dir)


def test_after_kill_9_nothing_lingers_and_the_next_start_works(data_dir: Path) -> None:
    with running(data_dir) as first:
        os.kill(first.supervisor, signal.SIGKILL)
        first.process.wait(10)
        assert nothing_left(data_dir, seconds=60)
    with running(data_dir) as second:
        assert second.get("/readyz")[0] == 200


def test_what_dies_is_started_again(data_dir: Path) -> None:
    with running(data_dir) as run:
        for sign in ("daphne", "postgres -D", "valkey-server"):
            victims = [pid for pid, line in processes_of(data_dir).items() if sign in line]
            os.kill(min(victims), signal.SIGKILL)
        run.wait_for("PostgreSQL had ended and was started again")
        run.wait_for("Valkey had ended and was started again")
        run.wait_for("web-1 ended")
        deadline = time.monotonic() + 60
        while run.get("/readyz")[0] != 200:
            assert time.monotonic() < deadline
            time.sleep(0.5)


def test_a_second_make_run_names_the_first_and_harms_nothing(data_dir: Path) -> None:
    with running(data_dir) as first:
        with running(data_dir, ready=False) as second:
            assert second.process.wait(30) == 1
        assert f"already running on {data_dir} (process {first.supervisor})" in second.text
        assert first.get("/readyz")[0] == 200


def test_a_taken_port_is_told_and_two_web_processes_share_the_next(data_dir: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        with running(data_dir, PORT=port, WEB_PROCESSES="2") as run:
            assert f"Port {port} is taken" in run.text
            assert not run.url.endswith(port)
            web = [line for line in processes_of(data_dir).values() if "daphne" in line]
            assert len(web) == 2
            assert all(run.get("/healthz")[0] == 200 for _ in range(10))


def test_nothing_embedded_starts_on_servers_of_our_own(data_dir: Path) -> None:
    ours = data_dir.parent / "ours"
    with launched(data_dir.parent / "theirs") as theirs, running(ours, DEMO="0", **theirs.env) as run:
        assert run.get("/readyz")[0] == 200
        assert "demo@example.com" not in run.text
        assert not (ours / "postgres").exists()
        assert not (ours / "valkey").exists()
        assert not any("postgres -D" in line or "valkey" in line for line in processes_of(ours).values())
        assert run.stop() == 0
        assert nothing_left(ours)
        assert all(processes.is_alive(pid) for pid in theirs.pids.values())


def test_a_demo_on_an_open_address_does_not_start(tmp_path: Path) -> None:
    with running(tmp_path / "data", ready=False, HOST=OPEN, DEMO="1") as run:
        assert run.process.wait(30) == 2
    assert f"refused on HOST={OPEN}" in run.text
    assert not (tmp_path / "data").exists()
