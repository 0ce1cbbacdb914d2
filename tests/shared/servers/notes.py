"""Run a small lenient server over stdio: ``python notes.py [repair|strict|observe|off|plain]``."""

from __future__ import annotations

import asyncio
import sys
from threading import Event

from fastmcp import FastMCP
from fastmcp.tools import ToolResult
from pydantic import BaseModel

from mcp_lenient import LenientMiddleware, Policy

POLICIES = {
    "repair": Policy(),
    "strict": Policy.strict(),
    "observe": Policy(mode="observe"),
    "off": Policy(mode="off"),
}


class Note(BaseModel):
    """A note as the server stored it."""

    text: str
    tags: list[str]
    priority: int


def add_note(text: str, tags: list[str] | None = None, priority: int = 0) -> Note:
    """Add a note. This tool has an output schema."""
    return Note(text=text, tags=tags or [], priority=priority)


def count_words(words: list[str]) -> ToolResult:
    """Count words. This tool has no output schema."""
    return ToolResult(content=str(len(words)))


def ping() -> str:
    """Say that the server is there. This tool has no parameters."""
    return "pong"


HOLDING = Event()
"""Set while a call is held."""


async def hold(tags: list[str]) -> list[str]:
    """Keep a call waiting until it is canceled."""
    HOLDING.set()
    await asyncio.Event().wait()
    return tags


def build(policy: Policy | None = POLICIES["repair"], *, name: str = "notes") -> FastMCP:
    """Return the server, without the middleware if there is no policy."""
    server: FastMCP = FastMCP(name)
    for tool in (add_note, count_words, ping, hold):
        server.tool(tool)
    if policy is not None:
        server.add_middleware(LenientMiddleware(policy))
    return server


if __name__ == "__main__":
    build(POLICIES.get(sys.argv[1] if len(sys.argv) > 1 else "repair")).run(show_banner=False)
