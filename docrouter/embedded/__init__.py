"""The built-in PostgreSQL and Valkey: real servers from wheels, as our child processes, when no URL names others.

Needs nothing but the standard library and the two wheels; no Django.
"""

from docrouter.embedded.errors import AlreadyRunningError, EmbeddedError
from docrouter.embedded.launcher import Embedded, services

__all__ = ["AlreadyRunningError", "Embedded", "EmbeddedError", "services"]
