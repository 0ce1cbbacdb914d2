"""Where a host's tools come from."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from dataclasses import replace
from typing import Any

from mcp_lenient.engine.contract import Contract
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.engine.tool import HostTool
from mcp_lenient.refusal.envelope import unknown_tool
from mcp_lenient.rules.dispatchers import Dispatcher, Entries, is_entry
from mcp_lenient.schema.compile import readable
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
        may_rename: Whether a call may be given the name of another tool.
        answers_below: Whether a refusal is left to the place where a tool is called, since others may deny the call there.
    """

    compiled: dict[Any, Contract]
    certain_names: bool | None = False
    server_names: Collection[str] = ()
    may_rename: bool = True
    answers_below: bool = False

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

    def inside(self, outer: HostTool, form: Dispatcher) -> ToolSource | None:
        """Return the tools that a dispatcher calls, for its next call; None where they are not known."""
        entries = form.entries()
        if entries is None:
            return copy(self) if form.tools == "server" else None
        return DeclaredTools(outer, entries, self.compiled)

    def unknown(self, name: str, names: Collection[str], language: str) -> dict[str, Any]:
        """Return the envelope for a call of an unknown tool; ``names`` are those of all tools."""
        similar = near(name, set(names) - {name})
        return unknown_tool(name, similar, names, has_versions=name in names, language=language)


class DeclaredTools(ToolSource):
    """The tools that a dispatcher was declared to call.

    Args:
        outer: The dispatcher.
        entries: Their entries of ``tools/list`` by name.
        compiled: The contracts of the dispatcher's source.
    """

    certain_names = None

    def __init__(self, outer: HostTool, entries: Entries, compiled: dict[Any, Contract]) -> None:
        self.compiled = compiled
        self._outer = outer
        self._entries = entries

    async def tool(self, name: str, *, fresh: bool) -> HostTool | None:  # noqa: ARG002 - they were read for this call
        """Return a tool; its entry is the author's word, so it leaves no doubt."""
        entry = self._entries.get(name)
        if entry is None or not is_entry(entry):
            return None
        validator = PublishedSchemaValidator(readable(entry["inputSchema"]))
        tool = HostTool.listed({**entry, "name": name}, validator)
        return replace(tool, key=("inside", self._outer.key or self._outer.name, name))

    async def names(self) -> Collection[str]:
        """Return the names of all tools."""
        return self._entries.keys()
