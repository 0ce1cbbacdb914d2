"""A function's own validator and its published schema lead to the same decision."""

from __future__ import annotations

from typing import Any, Literal

from decisions import decide
from fastmcp.tools import Tool
from pydantic import BaseModel
from tables import each_row


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


@each_row(("tool", "sent", "meant"))
def test_function_and_schema_lead_to_the_same_arguments(tool: str, sent: Any, meant: Any) -> None:
    """A call runs with the same arguments whether the function or its published schema is known."""
    function = {"add": add, "find": find, "search": search}[tool]
    for known in (function, Tool.from_function(function).parameters):
        decision = decide(known, sent)
        assert (None if decision.violations else decision.arguments) == meant
