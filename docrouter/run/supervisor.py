"""The order of things: services, migrations and demo, socket, web, workers, ready; and all of it back again."""

import contextlib
import hashlib
import http.client
import json
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping

from docrouter.embedded import AlreadyRunningError, Embedded, EmbeddedError, files, processes
from docrouter.run import address, programs
from docrouter.run.children import Children
from docrouter.run.knobs import ROOT, Knobs

DRAIN_SECONDS = 35.0  # turns get 30 s to end
READY_SECONDS = 120.0


class StoppedError(Exception):
    """A signal asked us to stop while we were still starting."""


def say(text: str) -> None:
    """Tell the person at the terminal."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Supervisor:
    """One run of everything. `run` returns the exit status."""

    def __init__(self, knobs: Knobs, environ: Mapping[str, str]) -> None:
        self._knobs = knobs
        self._environ = dict(environ)
        self._embedded = Embedded(knobs.data_dir, environ=environ)
        self._children: Children | None = None
        self._env: dict[str, str] = {}
        self._signals = 0
        self._wake, self._woken = socket.socketpair()

    def run(self) -> int:
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, self._on_signal)
        listener: socket.socket | None = None
        try:
            self._start_services()
            listener = address.listen(self._knobs.host, self._knobs.port, say)
            url = address.url_of(listener, self._knobs.host)
            self._start_web(listener)
            self._wait_ready(listener)
            self._start_background()
            self._greet(url)
            self._watch()
        except StoppedError:
            pass
        except (EmbeddedError, OSError) as error:
            say(f"Cannot start: {error}")
            return 1
        finally:
            self._stop(listener)
        return 0

    def run_once(self, command: list[str]) -> int:
        """Start services and workers without a web server, run the command in the foreground, stop everything.

        Raises: AlreadyRunningError when `make run` is up on this data folder."""
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, self._on_signal)
        try:
            self._start_services()
            self._start_background()
            return self._foreground(command)
        except StoppedError:
            return 130
        except (EmbeddedError, OSError) as error:
            if isinstance(error, AlreadyRunningError):
                raise
            say(f"Cannot start: {error}")
            return 1
        finally:
            self._stop(None)

    def _foreground(self, command: list[str]) -> int:
        process = subprocess.Popen(command, cwd=ROOT, env=self._env)
        try:
            while process.poll() is None:
                self._sleep(0.1)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
        return process.returncode

    def _on_signal(self, *_: object) -> None:
        self._signals += 1
        with contextlib.suppress(OSError):
            self._wake.send(b"x")

    def _sleep(self, seconds: float) -> None:
        """Sleep, but wake at once for a signal. Raises: StoppedError."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._woken, selectors.EVENT_READ)
            if not self._signals:
                selector.select(seconds)
        if self._signals:
            raise StoppedError

    def _start_services(self) -> None:
        """Start what the environment does not name, and make the database ready for our processes."""
        started = self._embedded.start()
        own = {"DATA_DIR": str(self._knobs.data_dir), "DEMO": str(int(self._knobs.demo))}
        if not (self._environ.get("SECRET_KEY") or self._environ.get("SECRET_KEY_FILE")):
            own["SECRET_KEY"] = files.secret(self._knobs.data_dir / "secret_key", 48)
        self._embedded.publish(own)
        metrics = self._knobs.data_dir / "metrics"
        shutil.rmtree(metrics, ignore_errors=True)
        metrics.mkdir(mode=0o700)
        self._env = env = self._environ | started | own | {"PROMETHEUS_MULTIPROC_DIR": str(metrics)}
        self._children = Children(self._knobs.data_dir, env, say)
        self._children.end_leftovers()
        self._prepare(env)

    def _prepare(self, env: Mapping[str, str]) -> None:
        """Migrate and make the demo, unless the very same was done before on this built-in database."""
        stamp = self._knobs.data_dir / "prepared"
        wanted = self._prepared_state()
        if "DATABASE_URL" in self._embedded.env and stamp.exists() and stamp.read_text() == wanted:
            return
        say("Preparing the database …")
        log = self._knobs.data_dir / "logs" / "prepare.log"
        process = processes.spawn([sys.executable, "manage.py", "prepare"], log=log, env=env, cwd=ROOT)
        try:
            while process.poll() is None:
                self._sleep(0.05)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
        if process.returncode:
            raise EmbeddedError(f"the database could not be prepared:\n{processes.tail(log, 30)}")
        files.write_private(stamp, wanted)

    def _prepared_state(self) -> str:
        """A fingerprint of the migrations, of the cluster and of the demo's knobs."""
        digest = hashlib.sha256()
        for path in sorted(ROOT.glob("*/migrations/*.py")):
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
        pinned = [(ROOT / "requirements.txt").read_text()]  # Django's own migrations
        state = [self._embedded.identity, self._environ.get("DEMO_PASSWORD", ""), str(self._knobs.demo), *pinned]
        digest.update(json.dumps(state).encode())
        return digest.hexdigest()

    def _start_web(self, listener: socket.socket) -> None:
        children = self._started_children()
        for number in range(1, self._knobs.web_processes + 1):
            children.start(programs.web(number, listener.fileno()))

    def _start_background(self) -> None:
        """Start workers and clock; after the web server, which somebody waits for."""
        beat = self._knobs.data_dir / "beat"
        beat.mkdir(mode=0o700, exist_ok=True)
        for program in programs.background(self._knobs, beat / "schedule"):
            self._started_children().start(program)

    def _wait_ready(self, listener: socket.socket) -> None:
        """Raises: EmbeddedError with the end of the log when the web server does not come up."""
        children = self._started_children()
        host, port = listener.getsockname()[:2]
        deadline = time.monotonic() + READY_SECONDS
        while not _is_ready(host, port):
            if "web-1" in children.ended() or time.monotonic() > deadline:
                raise EmbeddedError(f"the web server does not come up:\n{processes.tail(children.log_of('web-1'), 30)}")
            self._sleep(0.1)

    def _greet(self, url: str) -> None:
        knobs = self._knobs
        say(f"\nDocRouter is ready: {url}\n")
        if knobs.demo:
            password = self._environ.get("DEMO_PASSWORD") or (knobs.data_dir / "demo.password").read_text().strip()
            say(f"  Sign in as   demo@example.com\n  Password     {password}\n")
            say("  To try: open the sample document and accept what the agent proposes; then upload one of your own.")
        if knobs.demo_notice:
            say(f"  {knobs.demo_notice}")
        say(f"  Logs are in {knobs.data_dir / 'logs'}. Ctrl-C stops everything that was started.\n")

    def _watch(self) -> None:
        children = self._started_children()
        while True:
            self._sleep(0.5)
            children.watch()
            try:
                for name in self._embedded.revive():
                    say(f"{name} had ended and was started again.")
            except EmbeddedError as error:
                say(f"{error}\nTrying again.")
                self._sleep(2)

    def _stop(self, listener: socket.socket | None) -> None:
        before = self._signals
        if listener is not None:
            listener.close()
        if self._children is not None:
            say("Stopping … (Ctrl-C again to not wait for running work)")
            self._children.drain(DRAIN_SECONDS, lambda: self._signals > before)
        self._embedded.stop()

    def _started_children(self) -> Children:
        if self._children is None:
            raise RuntimeError("the services come first")
        return self._children


def _is_ready(host: str, port: int) -> bool:
    reach = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # compared, not bound
    connection = http.client.HTTPConnection(reach, port, timeout=20)
    try:
        connection.request("GET", "/readyz", headers={"Host": "localhost"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
