"""Where a host's tools come from."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mcp_lenient.engine.contract import Contract
from mcp_lenient.engine.tool import HostTool
from mcp_lenient.refusal.envelope import unknown_tool
from mcp_lenient.values.names import near


class ToolsUnknownError(Exception):
    """The host cannot list its tools."""


class ToolSource:
    """The tools of one host that the caller of one call may see.

    Attributes:
        compiled: Their contracts; kept by the host between calls.
        certain_names: Whether a name that is not listed is certainly not a tool; None if the host itself finds out, and
            then asks ``if_unknown`` of the decision.
        server_names: Names of the server that a prefix ``mcp__server__`` may have.
        renames: Whether a call may be given the name of another tool.
    """

    compiled: dict[Any, Contract]
    certain_names: bool | None = False
    server_names: Collection[str] = ()
    renames: bool = True

    async def tool(self, name: str, *, fresh: bool) -> HostTool | None:
        """Return a tool; with ``fresh``, look it up again.

        Raises:
            ToolsUnknownError: When the host cannot list its tools.
        """
        raise NotImplementedError

    async def names(self) -> Collection[str] | None:
        """Return the names of all tools; None if the host only shows the called tool.

        Raises:
            ToolsUnknownError: When the host cannot list its tools.
        """
        return None

    def unknown(self, name: str, names: Collection[str], language: str) -> dict[str, Any]:
        """Return the envelope for a call of an unknown tool; ``names`` are those of all tools."""
        similar = near(name, set(names) - {name})
        return unknown_tool(name, similar, names, has_versions=name in names, language=language)
