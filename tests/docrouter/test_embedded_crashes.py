"""The built-in services after kill -9: of the database, of the launcher, of both; nothing is lost, nothing stays."""

import os
import time
from pathlib import Path

import pytest

from docrouter.embedded import Embedded, processes
from tests.docrouter.launchers import WAYS, launched, recall, remember

pytestmark = pytest.mark.slow

BOTH = ("PostgreSQL", "launcher")
CASES = [
    (("PostgreSQL",), "told"),
    (("Valkey",), "told"),
    (("launcher",), "told"),
    (("launcher",), "orphans"),
    (BOTH, "told"),
    (BOTH, "orphans"),
    (("Valkey", *BOTH), "told"),
]


@pytest.mark.parametrize(("victims", "kind"), CASES)
@pytest.mark.parametrize("way", WAYS)
def test_the_next_start_has_every_row(open_folder: Path, way: str, victims: tuple[str, ...], kind: str) -> None:
    with launched(open_folder, way, kind) as first:
        remember(first.env, "before")
        time.sleep(1.1)  # Valkey writes its file once a second
        first.kill(*victims)
    with launched(open_folder, way) as second:
        assert recall(second.env) == (["before"], ["before"])
        remember(second.env, "after")
        assert not any(processes.is_alive(pid) for pid in first.pids.values()), "the orphans were ended"
    assert second.wait_gone()


@pytest.mark.parametrize("way", WAYS)
def test_children_are_told_when_their_launcher_is_killed(open_folder: Path, way: str) -> None:
    with launched(open_folder, way) as launcher:
        launcher.kill("launcher")
        assert launcher.wait_gone()


def test_a_dead_service_is_started_again_on_its_port(open_folder: Path) -> None:
    embedded = Embedded(open_folder, environ={})
    env = embedded.start()
    try:
        remember(env, "kept")
        time.sleep(1.1)
        assert embedded.revive() == []
        for pid in embedded.pids.values():
            os.kill(pid, 9)
            assert processes.wait_gone(pid, None, 5)
        assert embedded.revive() == ["PostgreSQL", "Valkey"]
        assert embedded.env == env
        assert recall(env) == (["kept"], ["kept"])
    finally:
        embedded.stop()


def test_a_pid_that_went_to_another_program_is_no_obstacle(open_folder: Path) -> None:
    with launched(open_folder) as first:
        remember(first.env, "kept")
        first.kill("PostgreSQL", "launcher")
        assert first.wait_gone()
    pid_file = open_folder / "postgres" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    (open_folder / "valkey.pid").write_text(f'{{"pid": {os.getpid()}, "started": 1, "port": 1}}')
    with launched(open_folder) as second:
        assert recall(second.env)[0] == ["kept"]
