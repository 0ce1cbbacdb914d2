"""A server whose tools record what they receive, called with a fuzzer's inputs."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import structlog
from fastmcp import FastMCP
from fastmcp.exceptions import FastMCPError, NotFoundError
from fastmcp.tools import Tool
from pydantic import BaseModel

from benchmarks.servers import RecordingTool
from mcp_lenient import LenientMiddleware, Policy, lenient


class Release(BaseModel):
    """A model whose fields are texts that look like numbers."""

    version: str
    notes: list[str] = []


Tree = Any
"""Arguments as a tree in which each number is its source text."""


def version(version: str) -> str:
    """Take one text."""
    return version


def texts(values: list[str]) -> str:
    """Take texts."""
    return str(values)


def mapping(values: dict[str, str]) -> str:
    """Take texts by name."""
    return str(values)


def model(values: Release) -> str:
    """Take a model."""
    return str(values)


def nested(values: list[list[str]]) -> str:
    """Take lists of texts."""
    return str(values)


def nullable(values: list[str] | None = None) -> str:
    """Take texts or nothing."""
    return str(values)


def models(values: list[Release]) -> str:
    """Take models."""
    return str(values)


def vault(api_keys: dict[str, int]) -> str:
    """Take a map with a secret name, whose keys are secret too."""
    return str(api_keys)


FUNCTIONS: Final[tuple[Callable[..., str], ...]] = (version, texts, mapping, model, nested, nullable, models)
KINDS: Final = ("function", "decorated", "custom")


@dataclass(frozen=True, slots=True)
class Served:
    """A server, the event loop of its calls, and what its tools received."""

    server: FastMCP[Any]
    loop: asyncio.AbstractEventLoop
    received: list[Any] = field(default_factory=list)

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Return what the tool received, as JSON; None when it did not run."""
        self.received.clear()
        try:
            self.loop.run_until_complete(self.server.call_tool(tool, arguments))
        except (FastMCPError, NotFoundError):
            assert not self.received, "the tool ran, and the call failed"
            return None
        assert len(self.received) <= 1, "the tool ran twice"
        return self.received[0] if self.received else None


@cache
def parameters(name: str) -> dict[str, Any]:
    """Return the input schema of one of the functions."""
    function = next(each for each in (*FUNCTIONS, vault) if each.__name__ == name)
    return Tool.from_function(function, name=name).parameters


@cache
def served() -> Served:
    """Return the server with each function as a function tool, decorated, and as a custom tool."""
    found = Served(FastMCP("fuzzed"), asyncio.new_event_loop())
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    for function in (*FUNCTIONS, vault):
        name = function.__name__
        noting = _noting(function, found.received)
        found.server.tool(noting, name=f"function_{name}")
        found.server.tool(lenient(_noting(function, found.received)), name=f"decorated_{name}")
        found.server.add_tool(RecordingTool.noting(f"custom_{name}", parameters(name), found.received))
    found.server.add_middleware(LenientMiddleware(Policy(unrepairable="refuse")))
    return found


def _noting(function: Callable[..., str], received: list[Any]) -> Callable[..., str]:
    def tool(**arguments: Any) -> str:
        received.append({name: _as_json(value) for name, value in arguments.items()})
        return "ran"

    tool.__name__ = function.__name__
    tool.__doc__ = function.__doc__
    tool.__annotations__ = dict(function.__annotations__)
    tool.__wrapped__ = function  # type: ignore[attr-defined]
    return tool


def _as_json(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    return value


@contextmanager
def logged() -> Iterator[list[str]]:
    """Collect the events logged meanwhile, each as one text."""
    events: list[str] = []

    def write(_logger: Any, _level: str, event: structlog.typing.EventDict) -> Any:
        events.append(json.dumps(event, ensure_ascii=False, default=repr))
        raise structlog.DropEvent

    structlog.configure(
        processors=[write], wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG)
    )
    try:
        yield events
    finally:
        structlog.reset_defaults()
