"""The listening socket: bound by the supervisor, shared by all web processes."""

import errno
import socket
from collections.abc import Callable

TRIES = 20
BACKLOG = 2048


def listen(host: str, port: int, say: Callable[[str], None]) -> socket.socket:
    """Bind the port, or say that it is taken and take the next one.

    Raises: OSError when none of the next ports is free, or the address is not ours."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in range(port, min(port + TRIES, 65536)):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host.strip("[]"), candidate))
        except OSError as error:
            listener.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES) or not candidate:
                raise
            say(f"Port {candidate} is taken, trying {candidate + 1}.")
            continue
        listener.listen(BACKLOG)
        return listener
    raise OSError(errno.EADDRINUSE, f"none of the ports {port} to {port + TRIES - 1} is free")


def url_of(listener: socket.socket, host: str) -> str:
    """The address to open in a browser on this machine."""
    port = listener.getsockname()[1]
    shown = "localhost" if host in ("0.0.0.0", "::", "127.0.0.1") else host  # noqa: S104  # compared, not bound
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
