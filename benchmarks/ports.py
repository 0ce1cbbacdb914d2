"""Servers on loopback ports; uses only the standard library, to run in any environment."""

from __future__ import annotations

import socket
import time
from contextlib import closing


def free_port() -> int:
    """Return a free port."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, patience: float = 180.0) -> None:
    """Return when a server listens on a port.

    Raises:
        TimeoutError: If none does within ``patience`` seconds.
    """
    end = time.monotonic() + patience
    while time.monotonic() < end:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens on port {port}")
