"""Tools called through FastMCP's search transform: ``call_tool`` passes the call on, and its result back."""

from __future__ import annotations

from typing import Any

import pytest
from calls import Log, call, code, envelope, got, lenient, rules
from fastmcp import FastMCP
from fastmcp.server.transforms.search import BM25SearchTransform, RegexSearchTransform


def store(content: str, tags: list[str] | None = None) -> Any:
    """Store a text under tags."""
    return {"content": content, "tags": tags}


def _server(transform: Any = RegexSearchTransform) -> FastMCP:
    server = lenient(store)
    server.add_transform(transform())
    return server


def _through(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


@pytest.mark.parametrize("transform", [RegexSearchTransform, BM25SearchTransform])
async def test_a_tool_called_by_search_is_refused_with_the_envelope(transform, events: Log):
    """A call that the found tool does not accept gets the envelope of that tool, as without the transform."""
    result = await call(_server(transform), "call_tool", _through("store", content="x", tags=5))
    assert (result.is_error, code(result)) == (True, "INVALID_TAGS_TYPE")
    assert envelope(result)["details"]["tool"] == "store"
    assert events.names[-1] == "call_rejected"


@pytest.mark.parametrize(("tags", "repairs"), [(["a"], []), ('["a"]', ["json_text_to_array"])])
async def test_a_tool_called_by_search_is_repaired(tags, repairs):
    """The found tool's arguments are repaired if it does not accept them, and the result says so."""
    result = await call(_server(), "call_tool", _through("store", content="x", tags=tags))
    assert (got(result), rules(result)) == ({"content": "x", "tags": ["a"]}, repairs)


async def test_an_own_tool_of_that_name_gets_the_exception():
    """A tool of the author that calls another gets an exception for a bad call, whatever it is called."""

    async def call_tool(name: str) -> str:
        try:
            result = await server.call_tool(name, {"content": "x", "tags": 5})
        except Exception as error:  # noqa: BLE001 - whatever it is
            return type(error).__name__
        return f"answered {result.is_error}"

    server = lenient(store, call_tool)
    assert got(await call(server, "call_tool", {"name": "store"})) == "ValidationError"
