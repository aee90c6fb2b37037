"""Free ports on the loopback interface."""

import socket


def free_port() -> int:
    """Return a port that was free a moment ago; two checkouts side by side get different ones."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
