"""The tools of a server on the official SDK: functions with their own model, or listed tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final

from mcp_lenient.adapters.gate import CompiledTool, HostTool, ToolsUnknownError
from mcp_lenient.adapters.mcp_sdk import compat

_MOST_PAGES: Final = 100

ListPage = Callable[[str | None], Awaitable[Mapping[str, Any]]]
"""Returns a page of ``tools/list``, starting at a cursor."""


class ServerTools:
    """The tools of one server, kept between calls.

    Attributes:
        compiled: Their contracts, by name.
        listed: The tools as last listed; None before the first listing.
        functions: The function tools, each with the SDK record that it was created from.
    """

    __slots__ = ("__weakref__", "compiled", "functions", "listed")

    def __init__(self) -> None:
        self.compiled: dict[str, CompiledTool] = {}
        self.listed: dict[str, HostTool] | None = None
        self.functions: dict[str, tuple[Any, HostTool]] = {}


class FunctionTools:
    """The functions of a server.

    Args:
        kept: The state kept between calls.
        server: The SDK's function server.
    """

    certain_names = True

    def __init__(self, kept: ServerTools, server: Any) -> None:
        self.compiled = kept.compiled
        self._functions = kept.functions
        self._server = server

    async def tool(self, name: str, *, fresh: bool) -> HostTool | None:  # noqa: ARG002 - it always is
        """Return the current tool."""
        found = compat.function_tool(self._server, name)
        if found is None:
            self._functions.pop(name, None)
            return None
        made_of, tool = self._functions.get(name, (None, None))
        if tool is None or made_of is not found:
            tool = compat.host_tool(found)
            self._functions[name] = found, tool
        return tool

    async def names(self) -> Collection[str]:
        """Return the names of all tools."""
        return [tool.name for tool in await self._server.list_tools()]


class ListedTools:
    """The tools that a server lists to the caller of one call.

    Args:
        kept: The state kept between calls.
        list_page: Requests a page from the server.
        as_validator: Returns the server's own validator for a schema; None if the server has none.
    """

    certain_names = False

    def __init__(
        self,
        kept: ServerTools,
        list_page: ListPage,
        as_validator: Callable[[Mapping[str, Any]], Any] | None = None,
    ) -> None:
        self.compiled = kept.compiled
        self._kept = kept
        self._list_page = list_page
        self._as_validator = as_validator
        self._own: dict[str, HostTool] | None = None

    async def tool(self, name: str, *, fresh: bool) -> HostTool | None:
        """Return a listed tool; the list is refreshed at most once per call."""
        return (await self._listed(fresh=fresh)).get(name)

    async def names(self) -> Collection[str]:
        """Return the names of all tools."""
        return await self._listed(fresh=True)

    async def _listed(self, *, fresh: bool) -> dict[str, HostTool]:
        # Meanwhile the server may have listed other tools to another caller.
        known = self._kept.listed if self._own is None else self._own
        if known is not None and (self._own is not None or not fresh):
            return known
        listed: dict[str, HostTool] = {}
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._page(cursor)
            for tool in page.get("tools", ()):
                own = None if self._as_validator is None else self._as_validator(tool["inputSchema"])
                listed[tool["name"]] = HostTool.listed(tool, own)
            cursor = page.get("nextCursor")
            if cursor is None:
                break
        if known is not None:
            # An unchanged tool stays the same object and keeps its contract.
            listed = {name: known[name] if known.get(name) == tool else tool for name, tool in listed.items()}
        self._kept.listed = self._own = listed
        return listed

    async def _page(self, cursor: str | None) -> Mapping[str, Any]:
        try:
            return await self._list_page(cursor)
        except Exception as error:
            # Whatever the server raises while listing, its calls must run as without the middleware.
            raise ToolsUnknownError from error
