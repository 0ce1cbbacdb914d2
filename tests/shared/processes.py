"""Run servers in other processes, on loopback ports."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager

from benchmarks.ports import free_port, wait_for

__all__ = ["free_port", "running", "wait_for"]


@contextmanager
def running(command: list[str], port: int, **environment: str):
    """Run a command until the block ends. Enter the block when it listens on the port."""
    with subprocess.Popen(  # noqa: S603 - our own
        command,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        try:
            wait_for(port)
            yield process
        finally:
            process.terminate()
