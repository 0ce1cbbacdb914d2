"""Unit tests of the parts that a tool call passes through."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated
from weakref import WeakKeyDictionary

from calls import plain
from fastmcp.tools import FunctionTool, Tool
from fastmcp.utilities.versions import VersionSpec
from mcp.types import CallToolRequestParams
from pydantic import AfterValidator
from tables import each_row

from mcp_lenient.adapters.fastmcp.reentry import Call
from mcp_lenient.adapters.fastmcp.tools import (
    FunctionValidator,
    ServerSource,
    requested_version,
)
from mcp_lenient.adapters.gate import Gate
from mcp_lenient.engine.tool import HostTool


def count(n: int, more: list[int] = []) -> int:  # noqa: B006 - never modified
    """Count."""
    return n + len(more)


def _request(version: object) -> CallToolRequestParams:
    meta = {} if version is None else {"_meta": {"fastmcp": {"version": version}}}
    return CallToolRequestParams.model_validate({"name": "count", **meta})


@each_row(
    ("version", "asked"),
    [
        (None, None),
        (2, None),
        ("1.0", VersionSpec(eq="1.0")),
        ({"eq": "2"}, VersionSpec(eq="2")),
        ({"gte": "1", "lt": "3"}, VersionSpec(gte="1", lt="3")),
    ],
)
def test_the_requested_version_is_text_or_bounds(version, asked):
    """Text is an exact version, an object has bounds, and anything else is ignored."""
    assert requested_version(_request(version)) == asked


def _source(compiled, server, version: object = None) -> ServerSource:
    return ServerSource(compiled, server, _request(version))


async def _looked_up(compiled, server, version: object = None):
    tool = await _source(compiled, server, version).tool("count", fresh=True)
    assert tool is not None
    return Gate().compiled(tool, compiled[server]).tool


async def test_a_tool_is_cached_by_server_name_and_version():
    """A message gets the cached tool for the same version on the same server, whatever else its ``_meta`` has."""
    server, other = plain(count), plain(count)
    compiled = WeakKeyDictionary()
    tool = await _looked_up(compiled, server)
    contract = _source(compiled, server).compiled_last("count")
    assert contract is not None
    assert contract.tool is tool
    assert await _looked_up(compiled, server) == tool
    message = CallToolRequestParams.model_validate({"name": "count", "_meta": {"progressToken": 1}})
    assert await ServerSource(compiled, server, message).tool("count", fresh=False) == tool
    assert _source(compiled, server, "1.0").compiled_last("count") is None
    assert _source(compiled, other).compiled_last("count") is None


@each_row(
    ("error", "accepted"),
    [(ValueError, False), (AssertionError, False), (RecursionError, False), (KeyError, True), (None, True)],
)
def test_only_validation_errors_refuse(error, accepted):
    """Other exceptions in an author's validator are left to FastMCP, which reports them as tool errors."""

    def check(n: int) -> int:
        if error is not None:
            raise error
        return n

    def checked(n) -> int:
        return n

    checked.__annotations__["n"] = Annotated[int, AfterValidator(check)]
    tool = Tool.from_function(checked)
    assert isinstance(tool, FunctionTool)
    validator = FunctionValidator(tool, strict=False)
    for arguments in ({"n": 1}, MappingProxyType({"n": 1})):
        assert validator.accepts(arguments) is accepted
        assert (validator.faults(arguments) == ()) is accepted


def test_a_hop_is_a_server_of_the_route_with_its_tool():
    """A hop matches a server with its tool name; a call that a client passes on again counts anew."""
    first, second, third = plain(name="a"), plain(name="b"), plain(name="c")
    route = ((first, "x"), (second, "y"), (third, "z"))
    contract = Gate().compiled(HostTool("x", {"type": "object"}, route=route), {})
    call = Call(context=None, call_next=None, request=None, parent=None, contract=contract)  # type: ignore[arg-type]
    assert not call.consume_hop(second, "x")
    assert not call.consume_hop(plain(name="b"), "y")
    assert call.consume_hop(second, "y")
    assert call.arrivals == 2
    assert call.consume_hop(first, "x")
    assert call.arrivals == 2
    assert call.consume_hop(third, "z")
