"""The functions of a server on the official SDK, validated by their own arguments model."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mcp_lenient.adapters.listed import ServerTools
from mcp_lenient.adapters.mcp_sdk import private_sdk
from mcp_lenient.adapters.source import ToolSource
from mcp_lenient.declare.decorator_metadata import declared_of, marks_of
from mcp_lenient.engine.tool import HostTool


class FunctionTools(ToolSource):
    """The functions of a server.

    Args:
        server_tools: The state between calls.
        server: The SDK's function server.
    """

    certain_names = True

    def __init__(self, server_tools: ServerTools, server: Any) -> None:
        self.compiled = server_tools.compiled
        self.server_names = (server.name,)
        self._server = server

    async def tool(self, name: str, *, fresh: bool) -> HostTool | None:  # noqa: ARG002 - it always is
        """Return the current tool."""
        record, contract = private_sdk.function_tool(self._server, name), self.compiled.get(name)
        if record is None:
            return None
        if contract is not None and contract.tool.record is record:
            return contract.tool
        marks = marks_of(record.fn)
        return HostTool(
            record.name,
            record.parameters,
            record.annotations,
            has_output_schema=record.output_schema is not None,
            validator=private_sdk.validator(record),
            declared=declared_of(record.fn),
            policy=marks.policy if marks is not None else None,
            record=record,
        )

    async def names(self) -> Collection[str]:
        """Return the names of all tools."""
        return [tool.name for tool in await self._server.list_tools()]
