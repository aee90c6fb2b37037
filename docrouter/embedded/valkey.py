"""The built-in Valkey (Redis protocol): queue, channel layer and cache.

Its configuration, password included, goes in through standard input: nothing of it is on a command line or on disk.
Our own pid file names process, start time and port, so that a later start can end what a killed launcher left.
"""

import contextlib
import json
import signal
import socket
import subprocess
import time
from pathlib import Path

from docrouter.embedded import files, ports, processes
from docrouter.embedded.binaries import valkey_server
from docrouter.embedded.errors import EmbeddedError

START_SECONDS = 60.0
TERM_THEN_KILL = ((signal.SIGTERM, 20.0), (signal.SIGKILL, 5.0))


class Valkey:
    """One Valkey server with its append-only file in `data_dir/valkey`."""

    name = "Valkey"

    def __init__(self, data_dir: Path, *, durable: bool = True) -> None:
        self._folder = data_dir / "valkey"
        self._pid_file = data_dir / "valkey.pid"
        self._log = data_dir / "logs" / "valkey.log"
        self._password = files.secret(data_dir / "valkey.password")
        self._durable = durable
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    @property
    def url(self) -> str:
        return f"redis://:{self._password}@127.0.0.1:{self._port}/0"

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    def start(self) -> None:
        """Start and wait until it answers. Started again after a crash, it keeps its port."""
        files.make_private_folder(self._folder)
        self._end_orphan()
        for _attempt in range(5):
            port = self._port or ports.free_port()
            self._process = processes.spawn(
                [str(valkey_server()), "-"],
                log=self._log,
                env=processes.plain_environment(),
                stdin=self._configuration(port).encode(),
            )
            state = processes.state_of(self._process.pid)
            note = {"pid": self._process.pid, "started": state[1] if state else 0, "port": port}
            files.write_private(self._pid_file, json.dumps(note))
            if self._wait_ready(self._process, port):
                self._port = port
                return
            time.sleep(0.1)
        raise EmbeddedError(f"Valkey did not start:\n{processes.tail(self._log)}")

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        if self._process is None:
            return
        for signum, seconds in TERM_THEN_KILL:
            if self._process.poll() is None:
                self._process.send_signal(signum)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(seconds)
        self._process = None
        self._pid_file.unlink(missing_ok=True)

    def _configuration(self, port: int) -> str:
        folder = str(self._folder.resolve()).replace("\\", "\\\\").replace('"', '\\"')
        return "\n".join(
            [
                "bind 127.0.0.1",
                f"port {port}",
                f"requirepass {self._password}",
                f"appendonly {'yes' if self._durable else 'no'}",
                'save ""',
                "daemonize no",
                f'dir "{folder}"',
                "",
            ]
        )

    def _end_orphan(self) -> None:
        try:
            note = json.loads(self._pid_file.read_text())
            pid, started = int(note["pid"]), int(note["started"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return
        try:
            ended = processes.end(pid, started, TERM_THEN_KILL)
        except PermissionError as error:
            raise EmbeddedError(f"Another user's Valkey (process {pid}) still uses {self._folder}.") from error
        if not ended:
            raise EmbeddedError(f"Valkey of an earlier start (process {pid}) does not stop.")

    def _wait_ready(self, process: subprocess.Popen[bytes], port: int) -> bool:
        deadline = time.monotonic() + START_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            if self._answers(port):
                return True
            time.sleep(0.01)
        return False

    def _answers(self, port: int) -> bool:
        """Ask with a PING; while it still reads its file it says LOADING."""
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
                connection.sendall(f"AUTH {self._password}\r\nPING\r\nQUIT\r\n".encode())
                with connection.makefile("rb") as answer:
                    return b"+PONG" in answer.read()
        except OSError:
            return False
