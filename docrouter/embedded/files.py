"""Private files of the data folder: passwords, the lock of the one launcher, and `env` with what it started."""

import fcntl
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from docrouter.embedded.errors import AlreadyRunningError, EmbeddedError


def make_private_folder(path: Path) -> None:
    """Create a folder that only its owner may enter; an existing one keeps its mode."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise EmbeddedError(f"The data folder {path} cannot be created: {error.strerror}.") from error


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, in one step, so that nobody sees half of it."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        os.fchmod(descriptor, 0o600)
        file.write(text)
    new.replace(path)


def secret(path: Path, length_bytes: int = 24) -> str:
    """Return the secret kept in a file; it is made on first use."""
    try:
        kept = path.read_text().strip()
    except FileNotFoundError:
        kept = ""
    if not kept:
        kept = secrets.token_hex(length_bytes)
        write_private(path, kept + "\n")
    return kept


def write_env(path: Path, values: Mapping[str, str]) -> None:
    """Write what was started as NAME=value lines, for `manage.py` in another terminal."""
    lines = "".join(f"{name}={value}\n" for name, value in sorted(values.items()))
    write_private(path, "# Written by the launcher at each start; removed at its end.\n" + lines)


class Lock:
    """One launcher per data folder. The kernel lets go of it when the launcher dies, however it dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def take(self) -> None:
        """Raises: AlreadyRunningError, naming the process that holds the folder."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(descriptor, 32).decode().strip() or "unknown"
            os.close(descriptor)
            message = f"DocRouter is already running on {self._path.parent} (process {holder})."
            raise AlreadyRunningError(message) from error
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
