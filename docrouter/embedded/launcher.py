"""Start what the environment does not name, hand out its URLs, stop exactly that."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from docrouter.embedded import files, switch
from docrouter.embedded.postgres import Postgres
from docrouter.embedded.valkey import Valkey


class Embedded:
    """The built-in services of one data folder; holds the folder's lock from `start` to `stop`.

    With DATABASE_URL or REDIS_URL (or …_FILE) in `environ` the service of that name is not started."""

    def __init__(
        self,
        data_dir: Path,
        *,
        environ: Mapping[str, str] | None = None,
        durable: bool = True,
        way: switch.Way | None = None,
    ) -> None:
        self._data_dir = Path(os.path.abspath(data_dir))  # noqa: PTH100  # keeps symbolic links as they are
        self._environ = os.environ if environ is None else environ
        self._durable = durable
        self._way = way
        self._lock = files.Lock(self._data_dir / "lock")
        self._running: dict[str, Postgres | Valkey] = {}
        self._extra: dict[str, str] = {}

    @property
    def data_dir(self) -> Path:
        return self._data_dir

    @property
    def env(self) -> dict[str, str]:
        """What programs need to find the services; empty values are never in it."""
        return {name: service.url for name, service in self._running.items()} | self._extra

    @property
    def identity(self) -> str:
        """What changes when the built-in database is made anew; empty when the database is somebody else's."""
        database = self._running.get("DATABASE_URL")
        return database.identity if isinstance(database, Postgres) else ""

    @property
    def pids(self) -> dict[str, int]:
        return {service.name: service.pid for service in self._running.values()}

    def start(self) -> dict[str, str]:
        """Raises: AlreadyRunningError; EmbeddedError with what to do. Nothing stays behind when it raises."""
        files.make_private_folder(self._data_dir)
        self._lock.take()
        try:
            if not self._is_given("DATABASE_URL"):
                self._add("DATABASE_URL", Postgres(self._data_dir, durable=self._durable, way=self._way))
            if not self._is_given("REDIS_URL"):
                self._add("REDIS_URL", Valkey(self._data_dir, durable=self._durable))
            self.publish()
        except BaseException:
            self.stop()
            raise
        return self.env

    def publish(self, extra: Mapping[str, str] | None = None) -> None:
        """Write `env` into the data folder for other terminals, with what the caller adds to it."""
        self._extra |= extra or {}
        files.write_env(self._data_dir / "env", self.env)

    def revive(self) -> list[str]:
        """Start again, on its old port, what has ended by itself; return the names of what it was."""
        dead = [service for service in self._running.values() if not service.is_running()]
        for service in dead:
            service.start()
        return [service.name for service in dead]

    def stop(self) -> None:
        """Stop what this launcher started, in reverse order; harmless when called twice."""
        for name in reversed(list(self._running)):
            self._running.pop(name).stop()
        with contextlib.suppress(FileNotFoundError):
            (self._data_dir / "env").unlink()
        self._lock.release()

    def _add(self, name: str, service: Postgres | Valkey) -> None:
        self._running[name] = service
        service.start()

    def _is_given(self, name: str) -> bool:
        return bool(self._environ.get(name) or self._environ.get(f"{name}_FILE"))


@contextlib.contextmanager
def services(
    data_dir: Path | str,
    *,
    environ: Mapping[str, str] | None = None,
    durable: bool = True,
    way: switch.Way | None = None,
) -> Iterator[dict[str, str]]:
    """Run what is missing for the time of a `with` block; yields the variables to add to the environment."""
    embedded = Embedded(Path(data_dir), environ=environ, durable=durable, way=way)
    env = embedded.start()
    try:
        yield env
    finally:
        embedded.stop()
