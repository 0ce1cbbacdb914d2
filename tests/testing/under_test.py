"""Servers and tools for the tests of the testing tools."""

from __future__ import annotations

from typing import Any, Literal

from fastmcp.tools import Tool, ToolResult


def store(content: str, tags: list[str] | None = None, limit: int = 5) -> list[str]:
    """Store a text. The body must not run."""
    raise SystemError(content, tags, limit)


def mode(mode: Literal["read", "write"], count: int) -> str:
    """Take a mode. The body must not run."""
    raise SystemError(mode, count)


class Published(Tool):
    """A tool of an author's own class that is known only by its schema."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Raise an error, because the body must not run."""
        raise SystemError(arguments)


def published(**properties: Any) -> Published:
    """Return a tool that publishes these parameters, all of them required."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return Published(name="published", parameters=schema)
