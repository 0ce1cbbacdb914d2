"""Fixtures for the proxy's tests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator

import pytest
from application_log import application_log
from calls import Log
from fastmcp import FastMCP
from meters import provide

from mcp_lenient.cli import run


@pytest.fixture
def logged() -> Iterator[Log]:
    """Record the log from level INFO on."""
    with application_log(logging.INFO) as log:
        yield log


@pytest.fixture
def commanded(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Awaitable[FastMCP]]:
    """Return a function that runs ``mcp-lenient proxy`` and returns the proxy that it would serve."""
    provide()
    fronts: list[FastMCP] = []

    async def keep(self: FastMCP, **_: object) -> None:
        fronts.append(self)

    async def command(*arguments: str) -> FastMCP:
        assert await asyncio.to_thread(run, ["proxy", "--http", "127.0.0.1:0", *arguments]) == 0
        return fronts.pop()

    monkeypatch.setattr(FastMCP, "run_async", keep)
    return command
