"""The tools that a server lists, for hosts that know no more of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mcp_lenient.adapters.source import ToolSource, ToolsUnknownError
from mcp_lenient.engine.contract import Contract
from mcp_lenient.engine.tool import HostTool

_MOST_PAGES: Final = 1_000

ListPage = Callable[[str | None], Awaitable[Any]]
"""Returns a page of ``tools/list``, starting at a cursor: a mapping, or an object of the official SDK."""


@dataclass(slots=True)
class ServerTools:
    """The tools of one server, kept between calls.

    Attributes:
        compiled: Their contracts.
        listed: The tools as last listed; None before the first listing.
    """

    compiled: dict[Any, Contract] = field(default_factory=dict)
    listed: dict[str, HostTool] | None = None


@dataclass
class ListedTools(ToolSource):
    """The tools that a server lists to the caller of one call.

    Attributes:
        server_tools: The state between calls.
        list_page: Requests a page from the server.
        as_validator: Returns the server's own validator for a schema; None if the server has none.
        server_names: The names of the server.
    """

    server_tools: ServerTools
    list_page: ListPage
    as_validator: Callable[[Mapping[str, Any]], Any] | None = None
    server_names: Collection[str] = ()
    _listed_now: dict[str, HostTool] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.compiled = self.server_tools.compiled

    async def tool(self, name: str, *, fresh: bool) -> HostTool | None:
        """Return a listed tool; the list is refreshed at most once per call."""
        return (await self.listed(fresh=fresh)).get(name)

    async def names(self) -> Collection[str]:
        """Return the names of all tools."""
        return await self.listed(fresh=True)

    async def listed(self, *, fresh: bool) -> dict[str, HostTool]:
        """Return all tools by name; with ``fresh``, from a list made for this call.

        Raises:
            ToolsUnknownError: From what the server raises instead of a list.
        """
        # Meanwhile the server may have listed other tools to another caller.
        before = self.server_tools.listed if self._listed_now is None else self._listed_now
        if before is not None and (self._listed_now is not None or not fresh):
            return before
        listed: dict[str, HostTool] = {}
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._page(cursor)
            message = page if isinstance(page, Mapping) else page.model_dump(by_alias=True)
            tools = message.get("tools", ())
            for record, tool in zip(tools if page is message else page.tools, tools, strict=True):
                validator = None if self.as_validator is None else self.as_validator(tool["inputSchema"])
                listed[tool["name"]] = HostTool.listed(tool, validator, record)
            cursor = message.get("nextCursor")
            if not cursor:
                break
        else:
            raise ToolsUnknownError from RuntimeError(
                f"The server lists tools on more than {_MOST_PAGES:,} pages."
            )
        if before is not None:
            # An unchanged tool stays the same object and keeps its contract.
            listed = {name: _unchanged(before.get(name), tool) for name, tool in listed.items()}
        self.server_tools.listed = self._listed_now = listed
        return listed

    async def _page(self, cursor: str | None) -> Any:
        try:
            return await self.list_page(cursor)
        except Exception as error:
            # Whatever the server raises while listing, its calls must run as without the middleware.
            raise ToolsUnknownError from error


def _unchanged(before: HostTool | None, tool: HostTool) -> HostTool:
    """Return the tool as it was listed before if that is the same."""
    return before if before is not None and before == tool and before.record == tool.record else tool
