"""The built-in PostgreSQL: initialised once, started in the foreground, stopped politely, cleaned up after a crash.

It listens on a free loopback port with a scram password and has no unix socket: socket paths may not be longer
than 107 bytes, data folders may. It is never ended with SIGKILL by us.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from docrouter.embedded import files, ports, processes, switch
from docrouter.embedded.binaries import postgres_files
from docrouter.embedded.errors import EmbeddedError

DATABASE = "docrouter"
MAJOR_VERSION = "18"
START_SECONDS = 120.0  # recovery after a crash reads the log since the last checkpoint
FAST_THEN_IMMEDIATE = ((signal.SIGINT, 60.0), (signal.SIGQUIT, 20.0))
NOT_DURABLE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


class Postgres:
    """One PostgreSQL server in `data_dir/postgres`."""

    name = "PostgreSQL"

    def __init__(self, data_dir: Path, *, durable: bool = True, way: switch.Way | None = None) -> None:
        self._data_dir = data_dir
        self._folder = data_dir / "postgres"
        self._log = data_dir / "logs" / "postgres.log"
        self._durable = durable
        self._password = files.secret(data_dir / "postgres.password")
        self._switch = switch.choose(postgres_files(), data_dir, way)
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    @property
    def url(self) -> str:
        return f"postgresql://postgres:{self._password}@127.0.0.1:{self._port}/{DATABASE}"

    @property
    def identity(self) -> str:
        """The cluster's own name: when it was made, as a file in it says."""
        return str((self._folder / "PG_VERSION").stat().st_mtime_ns)

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    def start(self) -> None:
        """Start and wait until it answers. Started again after a crash, it keeps its port."""
        is_new = not (self._folder / "PG_VERSION").exists()
        if is_new:
            self._initialise()
        self._check_version()
        self._end_orphan()
        switch.place_data(self._switch, self._folder)
        self._launch()
        self._make_database()

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        if self._process is None:
            return
        for signum, seconds in FAST_THEN_IMMEDIATE:
            if self._process.poll() is None:
                self._process.send_signal(signum)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(seconds)
        self._process = None

    def _initialise(self) -> None:
        """Create the cluster beside its place and move it there, so that a half-made one is never used."""
        new = self._folder.with_name("postgres.new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        switch.place_data(self._switch, new)
        target = new.resolve()  # nobody may have got another place for it
        with self._password_file() as password_file:
            command = self._switch.command(
                "initdb",
                f"--pgdata={target}",
                "--username=postgres",
                "--encoding=UTF8",
                "--locale-provider=builtin",
                "--locale=C.UTF-8",
                "--auth=scram-sha-256",
                f"--pwfile={password_file}",
                *([] if self._durable else ["--no-sync"]),
            )
            with processes.open_log(self._log) as log:
                user = self._switch.user
                done = subprocess.run(
                    command,
                    user=user,
                    group=user,
                    extra_groups=[] if user is not None else None,
                    cwd="/",
                    env=processes.plain_environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    check=False,
                )
        if done.returncode != 0:
            raise EmbeddedError(f"PostgreSQL could not create its data folder:\n{processes.tail(self._log)}")
        new.rename(self._folder)

    @contextlib.contextmanager
    def _password_file(self) -> Iterator[str]:
        """Lend the password to initdb in a file of its own, readable by whoever runs it and nobody else."""
        descriptor, name = tempfile.mkstemp(prefix="docrouter-")
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(self._password)
            if self._switch.user is not None:
                os.chown(name, self._switch.owner, self._switch.owner)
            yield name
        finally:
            Path(name).unlink()

    def _check_version(self) -> None:
        version = (self._folder / "PG_VERSION").read_text().strip()
        if version != MAJOR_VERSION:
            raise EmbeddedError(
                f"{self._folder} was written by PostgreSQL {version}, built in is {MAJOR_VERSION}. "
                "docs/deployment.md says how to move it over."
            )

    def _end_orphan(self) -> None:
        """Stop a server that a killed launcher left behind, and forget one that was killed itself."""
        pid_file = self._folder / "postmaster.pid"
        try:
            pid = int(pid_file.read_text().splitlines()[0])
        except (FileNotFoundError, IndexError, ValueError):
            return
        state = processes.state_of(pid)
        if state is None or not processes.is_alive(pid):
            return  # PostgreSQL recovers by itself
        if not self._is_ours(pid):
            pid_file.unlink()  # the pid went to another program: PostgreSQL would refuse to start
            return
        try:
            ended = processes.end(pid, state[1], FAST_THEN_IMMEDIATE)
        except PermissionError as error:
            raise EmbeddedError(f"Another user's PostgreSQL (process {pid}) still uses {self._folder}.") from error
        if not ended:
            raise EmbeddedError(f"PostgreSQL of an earlier start (process {pid}) does not stop.")

    def _is_ours(self, pid: int) -> bool:
        command = processes.command_of(pid)
        return bool(command) and Path(command[0]).name == "postgres" and str(self._folder.resolve()) in command

    def _launch(self) -> None:
        for _attempt in range(40):
            port = self._port or ports.free_port()
            self._process = processes.spawn(
                self._switch.command("postgres", *self._arguments(port)),
                log=self._log,
                env=processes.plain_environment(),
                user=self._switch.user,
                when_parent_dies=signal.SIGINT,
            )
            if self._wait_ready(self._process):
                self._port = port
                return
            if not self._may_try_again():
                break
            time.sleep(0.25)
        raise EmbeddedError(f"PostgreSQL did not start:\n{processes.tail(self._log)}")

    def _arguments(self, port: int) -> list[str]:
        settings = [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "max_connections=200",
            "timezone=UTC",
            "random_page_cost=1.1",  # disks have no arms any more: counts by tag use their index
            *(() if self._durable else NOT_DURABLE),
        ]
        options = [part for setting in settings for part in ("-c", setting)]
        return ["-D", str(self._folder.resolve()), "-p", str(port), *options]

    def _wait_ready(self, process: subprocess.Popen[bytes]) -> bool:
        """Wait for the word `ready` on line 8 of postmaster.pid, as pg_ctl does. False: it ended."""
        pid_file = self._folder / "postmaster.pid"
        deadline = time.monotonic() + START_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                lines = pid_file.read_text().splitlines()
                if len(lines) > 7 and lines[0] == str(process.pid) and lines[7].strip() == "ready":
                    return True
            time.sleep(0.01)
        return False

    def _may_try_again(self) -> bool:
        """After a crash the old backends need a moment to end; and a free port may be taken by now."""
        reason = processes.tail(self._log, 6)
        return any(
            sign in reason
            for sign in ("could not create any TCP/IP sockets", "still in use", "lock file", "is being shut down")
        )

    def _make_database(self) -> None:
        found = self._sql(f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'")  # noqa: S608  # a constant
        if not found:
            self._sql(f"CREATE DATABASE {DATABASE}")

    def _sql(self, statement: str) -> str:
        environment = processes.plain_environment() | {"PGPASSWORD": self._password, "PGCONNECT_TIMEOUT": "20"}
        connection = ["-h", "127.0.0.1", "-p", str(self._port), "-U", "postgres", "-d", "postgres"]
        done = subprocess.run(
            [str(self._switch.files.bin / "psql"), "-X", "-w", "-A", "-t", *connection, "-c", statement],
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise EmbeddedError(f"The built-in database does not answer: {done.stderr.strip()}")
        return done.stdout.strip()
