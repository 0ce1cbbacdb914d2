"""``@lenient`` on methods of every kind."""

from __future__ import annotations

import pytest
from calls import call, envelope, got
from fastmcp import Client
from fastmcp.tools import Tool, tool

from mcp_lenient import lenient
from mcp_lenient.normalizers import aliases, tags


class Shelf:
    """A class with tools."""

    def __init__(self, name: str) -> None:
        self.name = name

    @lenient(tags=tags(), content=aliases("text"))
    def put(self, content: str, tags: list[str] | None = None) -> list[str]:
        """Put a text on this shelf."""
        return [self.name, content, *(tags or [])]

    def bare(self, content: str, tags: list[str] | None = None) -> list[str]:
        """Put a text on this shelf, not decorated."""
        return [self.name, content, *(tags or [])]

    @lenient(tags=tags())
    async def put_later(self, content: str, tags: list[str] | None = None) -> list[str]:
        """Put a text on this shelf later."""
        return self.bare(content, tags)

    @classmethod
    @lenient(tags=tags())
    def of_class(cls, content: str, tags: list[str] | None = None) -> list[str]:
        """Put a text on any shelf."""
        return [cls.__name__, content, *(tags or [])]

    @staticmethod
    @lenient(tags=tags())
    def of_none(content: str, tags: list[str] | None = None) -> list[str]:
        """Put a text nowhere."""
        return ["nowhere", content, *(tags or [])]

    @tool
    @lenient(tags=tags())
    def below_tool(self, content: str, tags: list[str] | None = None) -> list[str]:
        """Put a text here."""
        return self.bare(content, tags)


METHODS = [
    pytest.param(Shelf("left").put, "left", id="instance"),
    pytest.param(Shelf("left").put_later, "left", id="async"),
    pytest.param(Shelf.of_class, "Shelf", id="class"),
    pytest.param(Shelf.of_none, "nowhere", id="static"),
    pytest.param(Shelf("left").below_tool, "left", id="below-tool"),
    pytest.param(lenient(tags=tags())(Shelf("left").bare), "left", id="bound"),
]


@pytest.mark.parametrize(("method", "where"), METHODS)
async def test_methods(method, where, serve):
    """Calls of methods are repaired and refused, and the envelope does not list ``self`` or ``cls``."""
    async with Client(serve(method)) as client:
        right, near, wrong = [
            await client.call_tool_mcp(method.__name__, {"content": "a", "tags": each})
            for each in (["b"], "b", 5)
        ]
    assert (got(right), got(near)) == ([where, "a", "b"], [where, "a", "b"])
    reported = envelope(wrong)
    assert reported["error_code"] == "INVALID_TAGS_TYPE"
    assert reported["details"]["parameters"] == {"required": ["content"], "optional": ["tags"]}


async def test_methods_keep_their_instances(serve):
    """The same method of two instances makes two separate tools."""
    server = serve(
        *(Tool.from_function(Shelf(name).put, name=name) for name in ("left", "right")),
    )
    for name in ("left", "right"):
        assert got(await call(server, name, {"content": "a", "tags": "b"})) == [name, "a", "b"]
