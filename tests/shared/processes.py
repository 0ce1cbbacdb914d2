"""Run servers in other processes, on loopback ports."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from contextlib import closing, contextmanager

import pytest


def free_port() -> int:
    """Return a free loopback port."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(1800):
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail(f"nothing listens on port {port}")


@contextmanager
def running(command: list[str], port: int, **environment: str):
    """Run a command until the block ends. Enter the block when it listens on the port."""
    with subprocess.Popen(  # noqa: S603 - our own
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait_for(port)
            yield process
        finally:
            process.terminate()
