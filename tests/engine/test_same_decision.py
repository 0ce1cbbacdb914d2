"""A function's own validator and its published schema lead to the same decision."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from fastmcp import Client, FastMCP
from pydantic import BaseModel

from mcp_lenient import LenientMiddleware, normalize
from mcp_lenient.adapters.client.compat import field
from tests.shared.tables import each_row, rows

if TYPE_CHECKING:
    from collections.abc import Mapping


class Item(BaseModel):
    """An entry of a list."""

    name: str
    tags: list[str] = []


async def add(tags: list[str] = [], ids: list[int] = [], items: list[Item] = []) -> None:  # noqa: B006
    """Take lists only."""


async def find(filter: Item) -> None:  # noqa: A002
    """Take one object."""


async def search(
    query: str | None = None,
    kind: Literal["new", "old"] | None = None,
    extra: str | dict[str, int] = "",
    limit: int = 10,
) -> None:
    """Take texts that may be left out, and one that may be an object."""


REFUSED = None


@each_row(
    ("tool", "sent", "meant"),
    rows(__file__, "function_and_schema_lead_to_the_same_arguments"),
)
def test_function_and_schema_lead_to_the_same_arguments(
    tool: str, sent: Mapping[str, Any], meant: Mapping[str, Any] | None
) -> None:
    """A call runs with the same arguments whether the function or its published schema is known."""
    by_function, by_schema = asyncio.run(_decided(tool, sent))
    assert by_function == meant
    assert by_schema == meant


async def _decided(tool: str, sent: Mapping[str, Any]) -> tuple[Any, Any]:
    server: FastMCP = FastMCP(
        "same", middleware=[LenientMiddleware(on_decision=(made := []).append, decision_values=True)]
    )
    for function in (add, find, search):
        server.tool(function)
    async with Client(server) as client:
        schema = next(field(each, "input_schema") for each in await client.list_tools() if each.name == tool)
        await client.call_tool(tool, dict(sent), raise_on_error=False)
    by_schema = normalize(schema, sent)
    (decision,) = made
    return (
        REFUSED if decision.status == "refused" else decision.arguments,
        REFUSED if by_schema.violations else by_schema.arguments,
    )
