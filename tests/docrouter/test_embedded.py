"""The built-in services in quiet times: what starts, what does not, what is kept, who may read it."""

import os
import socket
from pathlib import Path

import pytest

from docrouter.embedded import AlreadyRunningError, Embedded, EmbeddedError, processes, services
from tests.docrouter.launchers import IS_ROOT, WAYS, launched, recall, remember

GIVEN = {"DATABASE_URL": "postgresql://elsewhere/x", "REDIS_URL": "redis://elsewhere"}


def test_nothing_starts_when_both_urls_are_given(tmp_path: Path) -> None:
    with services(tmp_path, environ=GIVEN) as env:
        assert env == {}
        assert sorted(path.name for path in tmp_path.iterdir()) == ["env", "lock"]


def test_a_url_in_a_file_counts_as_given(tmp_path: Path) -> None:
    given = {"DATABASE_URL_FILE": "/run/secrets/database", "REDIS_URL": "redis://elsewhere"}
    with services(tmp_path, environ=given) as env:
        assert env == {}


def test_a_second_launcher_on_the_same_folder_names_the_first(tmp_path: Path) -> None:
    with services(tmp_path, environ=GIVEN), pytest.raises(AlreadyRunningError, match=f"process {os.getpid()}"):
        Embedded(tmp_path, environ=GIVEN).start()
    with services(tmp_path, environ=GIVEN):
        pass


def test_what_was_started_is_written_for_other_terminals_and_removed_at_the_end(tmp_path: Path) -> None:
    embedded = Embedded(tmp_path, environ=GIVEN)
    embedded.start()
    embedded.publish({"SECRET_KEY": "s3cret"})
    assert "SECRET_KEY=s3cret\n" in (tmp_path / "env").read_text()
    assert (tmp_path / "env").stat().st_mode & 0o777 == 0o600
    embedded.stop()
    assert not (tmp_path / "env").exists()


def test_a_database_of_another_version_is_refused_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("17\n")
    with pytest.raises(EmbeddedError, match=r"PostgreSQL 17, built in is 18\. docs/deployment\.md"):
        Embedded(tmp_path, environ={"REDIS_URL": "redis://elsewhere"}).start()
    with services(tmp_path, environ=GIVEN):
        pass  # the lock was released


def test_valkey_alone_starts_when_only_the_database_is_given(tmp_path: Path) -> None:
    with services(tmp_path, environ={"DATABASE_URL": "postgresql://elsewhere/x"}) as env:
        assert list(env) == ["REDIS_URL"]
        assert not (tmp_path / "postgres").exists()


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_cold_then_warm_keeps_everything(open_folder: Path, way: str) -> None:
    with launched(open_folder, way) as cold:
        remember(cold.env, "first")
    with launched(open_folder, way) as warm:
        assert recall(warm.env) == (["first"], ["first"])


@pytest.mark.slow
def test_passwords_are_private_and_on_no_command_line(open_folder: Path) -> None:
    with launched(open_folder) as launcher:
        passwords = [(open_folder / name).read_text().strip() for name in ("postgres.password", "valkey.password")]
        for name in ("postgres.password", "valkey.password", "env", "valkey.pid"):
            assert (open_folder / name).stat().st_mode & 0o077 == 0, name
        lines = [" ".join(processes.command_of(int(p.name))) for p in Path("/proc").iterdir() if p.name.isdigit()]
        assert any(str(open_folder) in line for line in lines), "the look at the processes saw ours"
        for password in passwords:
            assert len(password) == 48
            assert password in launcher.env["DATABASE_URL"] + launcher.env["REDIS_URL"]
            assert not any(password in line for line in lines)


@pytest.mark.slow
def test_a_wrong_password_opens_nothing(open_folder: Path) -> None:
    with launched(open_folder) as launcher:
        wrong = {
            name: url.replace((open_folder / f"{server}.password").read_text().strip(), "wrong")
            for (name, url), server in zip(sorted(launcher.env.items()), ("postgres", "valkey"), strict=True)
        }
        with pytest.raises(Exception, match="password authentication failed"):
            recall(wrong | {"REDIS_URL": launcher.env["REDIS_URL"]})
        with pytest.raises(Exception, match=r"WRONGPASS|invalid username-password"):
            remember({"DATABASE_URL": launcher.env["DATABASE_URL"], "REDIS_URL": wrong["REDIS_URL"]}, "x")


@pytest.mark.slow
def test_two_checkouts_run_side_by_side(open_folder: Path) -> None:
    with launched(open_folder / "one") as one, launched(open_folder / "two") as two:
        remember(one.env, "one")
        remember(two.env, "two")
        assert recall(one.env) == (["one"], ["one"])
        assert recall(two.env) == (["two"], ["two"])


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "name", ["a folder with spaces, 'quotes' and ümläuts", "/".join(["deeply-nested-folder"] * 8)], ids=["odd", "long"]
)
def test_odd_and_long_folder_names_work(open_folder: Path, way: str, name: str) -> None:
    folder = open_folder / name
    assert " " in name or len(str(folder)) > 107
    with launched(folder, way) as launcher:
        remember(launcher.env, "kept")
        assert recall(launcher.env) == (["kept"], ["kept"])


@pytest.mark.slow
def test_servers_named_by_url_are_used_and_left_running(open_folder: Path) -> None:
    with launched(open_folder / "theirs") as theirs:
        with services(open_folder / "ours", environ=theirs.env) as env:
            assert env == {}
            assert sorted(path.name for path in (open_folder / "ours").iterdir()) == ["env", "lock"]
        remember(theirs.env, "still there")
        assert recall(theirs.env) == (["still there"], ["still there"])


@pytest.mark.slow
@pytest.mark.skipif(not IS_ROOT, reason="only root switches users")
def test_a_data_folder_moves_between_the_two_ways_of_root(open_folder: Path) -> None:
    for number, way in enumerate(["namespace", "nobody", "namespace"]):
        with launched(open_folder, way) as launcher:
            remember(launcher.env, str(number))
            expected = [str(before) for before in range(number + 1)]
            assert recall(launcher.env) == (expected, expected)


@pytest.mark.slow
@pytest.mark.skipif(not IS_ROOT, reason="only root switches users")
def test_a_half_made_cluster_is_never_used(open_folder: Path) -> None:
    half = open_folder / "postgres.new"
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")
    with launched(open_folder) as launcher:
        remember(launcher.env, "whole")
        assert "whole" in recall(launcher.env)[0]


@pytest.mark.slow
def test_a_port_that_is_taken_meanwhile_is_replaced(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        first = [taken.getsockname()[1]] * 2
        real = __import__("docrouter.embedded.ports", fromlist=["free_port"]).free_port
        monkeypatch.setattr("docrouter.embedded.ports.free_port", lambda: first.pop() if first else real())
        with services(open_folder, environ={}) as env:
            remember(env, "found another")
            assert recall(env) == (["found another"], ["found another"])
