"""The oldest and the newest official SDK 1, as packages of an environment without FastMCP."""

from __future__ import annotations

from typing import Final

from benchmarks.hosts.matrix import HOSTS

NEWEST: Final = HOSTS["sdk_1"].needs
# The oldest SDK 1 does not start with a newer Pydantic.
OLDEST: Final = ("mcp==1.20.0", "pydantic==2.12.*", *NEWEST[1:])
