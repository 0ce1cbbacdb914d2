"""The parts that a call of a tool passes through, each alone."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated

import pytest
from calls import plain
from fastmcp.tools import FunctionTool, Tool, ToolResult
from fastmcp.utilities.versions import VersionSpec
from mcp.types import CallToolRequestParams, TextContent
from pydantic import AfterValidator
from tables import each_row

from mcp_lenient.adapters.fastmcp.compat import Forwarding
from mcp_lenient.adapters.fastmcp.tools import (
    Call,
    FunctionValidator,
    Target,
    ToolCache,
    TransformedValidator,
    as_result,
    is_destructive,
    repaired_result,
    version_asked,
)
from mcp_lenient.declare.policies import Policies
from mcp_lenient.refusal.envelope import as_text, authors_error
from mcp_lenient.types import Repair, ValidationIssue

REPAIR = Repair("text_to_integer", "/n", "string", "integer")


def count(n: int, more: list[int] = []) -> int:  # noqa: B006 - it is only read
    """Count."""
    return n + len(more)


def _tool(**changes) -> FunctionTool:
    tool = Tool.from_function(count, **changes)
    assert isinstance(tool, FunctionTool)
    return tool


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
def test_a_request_asks_for_a_version_by_text_or_bounds(version, asked):
    """A text is the very version, an object has its bounds; anything else asks for none."""
    assert version_asked(_request(version)) == asked


async def _looked_up(cache: ToolCache, server, version: object = None):
    return await cache.look_up(server, _request(version))


async def test_a_tool_is_kept_by_server_name_and_version():
    """A message gets what was looked up for the same version on the same server."""
    server, other = plain(count), plain(count)
    cache = ToolCache(Policies(None, {}, None), lambda *_: None)
    kept = await _looked_up(cache, server)
    assert cache.get(server, _request(None)) is kept
    assert await _looked_up(cache, server) is kept
    assert cache.get(server, _request("1.0")) is None
    assert cache.get(other, _request(None)) is None


async def test_only_a_function_tool_is_known_again_without_a_look_up():
    """The parent's tool for a mounted one may be replaced at any time."""
    server, child = plain(), plain(count)
    server.mount(child)
    cache = ToolCache(Policies(None, {}, None), lambda *_: None)
    mounted, own = await _looked_up(cache, server), await _looked_up(cache, child)
    assert mounted is not None
    assert own is not None
    assert own.is_of(child, own.tool)
    assert not mounted.is_of(server, mounted.tool)


async def test_a_message_whose_meta_asks_for_no_version_gets_the_same_tool():
    """Other entries of ``_meta`` do not choose a tool."""
    server = plain(count)
    cache = ToolCache(Policies(None, {}, None), lambda *_: None)
    kept = await _looked_up(cache, server)
    message = CallToolRequestParams.model_validate({"name": "count", "_meta": {"progressToken": 1}})
    assert cache.get(server, message) is kept


def test_validators_are_equal_for_one_function_and_strictness():
    """A tool with another function, or at another strictness, is validated by another validator."""
    tool = _tool()
    validator = FunctionValidator(tool, strict=False)
    assert validator.still_validates(tool, strict=False)
    assert not validator.still_validates(tool, strict=True)
    assert not validator.still_validates(
        tool.model_copy(update={"run_in_thread": not tool.run_in_thread}), strict=False
    )
    assert not validator.still_validates(tool.model_copy(update={"fn": print}), strict=False)


def test_validators_of_one_validation_are_equal():
    """A tool registered twice is validated alike; another strictness is another validation."""
    tool = _tool()
    lax, strict = FunctionValidator(tool, strict=False), FunctionValidator(tool, strict=True)
    same = FunctionValidator(tool, strict=False)
    assert (lax == same, hash(lax) == hash(same)) == (True, True)
    assert lax != strict
    assert lax != tool


@each_row(
    ("error", "accepted"),
    [(ValueError, False), (AssertionError, False), (RecursionError, False), (KeyError, True), (None, True)],
)
def test_only_an_error_of_validation_refuses(error, accepted):
    """An author's validator that fails otherwise is answered by FastMCP, as the error of the tool that it is."""

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
        assert (validator.issues(arguments) == ()) is accepted


def test_only_a_strict_validator_refuses_whole_floats():
    """A strict validator wants integers spelled as such, a lax one does not."""
    assert FunctionValidator(_tool(), strict=True).exact_integers
    assert not FunctionValidator(_tool(), strict=False).exact_integers


@pytest.mark.parametrize(
    ("annotations", "destructive"),
    [(None, False), ({"destructiveHint": True}, True), ({"destructiveHint": False}, False), ({}, False)],
)
def test_a_tool_is_destructive_only_if_annotated(annotations, destructive):
    """Without the hint, no tool counts as destructive."""
    assert is_destructive(_tool(annotations=annotations)) is destructive


def _renamed() -> TransformedValidator:
    forwarding = Forwarding(
        parent=_tool(),
        names={"number": "n", "extra": "more"},
        required=("number", "extra"),
        defaults={"extra": [1]},
        hidden={},
    )
    return TransformedValidator(FunctionValidator(_tool(), strict=False), forwarding)


@each_row(
    ("arguments", "issues"),
    [
        ({"number": 1}, ()),
        ({"number": 1, "extra": [2]}, ()),
        ({}, (ValidationIssue(("number",), "missing"),)),
        ({"number": "x"}, (ValidationIssue(("number",), "type"),)),
        ({"number": 1, "n": 1}, (ValidationIssue(("n",), "unknown"),)),
        ({"number": 1, "extra": ["x"]}, (ValidationIssue(("extra", 0), "type"),)),
    ],
)
def test_a_transformed_tool_is_validated_by_its_own_names(arguments, issues):
    """Issues bear the published names; a default counts as sent, the parent's name does not."""
    validator = _renamed()
    assert [*validator.issues(arguments)] == [*issues]
    assert validator.accepts(arguments) is (not issues)


def test_a_transformed_tool_distinguishes_values_by_its_own_names():
    """Two values make a difference under the published name, and none under another."""
    assert _renamed().tells_apart({"number": 1}, {"number": 2})
    assert not _renamed().tells_apart({"number": 1}, {"number": "1"})
    assert not _renamed().tells_apart({"number": 1, "n": 1}, {"number": 1, "n": 2})


@pytest.mark.parametrize("has_output_schema", [True, False])
def test_a_refusal_is_structured_only_without_an_output_schema(has_output_schema):
    """A client that checks structured content against an output schema gets none."""
    refusal = authors_error("UNKNOWN_USER", "There is no such user.", {})
    result = as_result(refusal, has_output_schema=has_output_schema)
    assert result.is_error
    assert result.structured_content == (None if has_output_schema else refusal)
    assert [block.text for block in result.content if isinstance(block, TextContent)] == [as_text(refusal)]
    assert [*(result.meta or {}).values()] == [refusal]


def test_a_result_keeps_its_own_meta_beside_the_repairs():
    """The repairs come beside what the tool put into the meta, in a result of their own."""
    own = ToolResult(content="x", meta={"mine": 1})
    reported = repaired_result(own, [REPAIR])
    assert own.meta == {"mine": 1}
    assert (reported.meta or {})["mine"] == 1
    assert len(reported.meta or {}) == 2
    assert reported.content == own.content


def test_a_note_comes_after_the_content():
    """With a language, one text more says what was repaired."""
    own = ToolResult(content="x")
    reported = repaired_result(own, [REPAIR], note_language="en")
    assert reported.content[:-1] == own.content
    assert isinstance(reported.content[-1], TextContent)


@pytest.mark.parametrize("result", [ToolResult(content="x"), {"task": 1}], ids=["tool", "other"])
def test_a_result_without_repairs_is_the_same_object(result):
    """Where nothing was repaired nothing is added."""
    assert repaired_result(result, []) is result


def test_a_result_of_another_kind_is_the_same_object():
    """A task or a request for input has no place for repairs."""
    other = {"task": 1}
    assert repaired_result(other, [REPAIR]) is other


def _call(**changes) -> Call:
    return Call(context=None, call_next=None, request=None, parent=None, started=0, **changes)  # type: ignore[arg-type]


def test_each_hop_of_a_route_counts_once():
    """A call arrives at a server on its route under the name it has there, and leaves what is before it behind."""
    first, second, third = plain(name="a"), plain(name="b"), plain(name="c")
    call = _call(route=((first, "x"), (second, "y"), (third, "z")))
    assert not call.consume_hop(second, "x")
    assert not call.consume_hop(plain(name="b"), "y")
    assert call.consume_hop(second, "y")
    assert not call.consume_hop(first, "x")
    assert not call.consume_hop(second, "y")
    assert call.consume_hop(third, "z")
    assert call.route == ()


@pytest.mark.parametrize(
    ("mode", "other", "handled"),
    [
        ("repair", "observe", True),
        ("repair", "repair", True),
        ("observe", "observe", True),
        ("observe", "repair", False),
    ],
)
def test_a_call_is_handled_by_an_equally_active_mode(mode, other, handled):
    """A server that repairs leaves nothing to do below; one that only observes leaves repairs."""
    assert _call(mode=mode).handles_mode(other) is handled


def test_a_mounted_tool_is_named_by_the_servers_on_its_route():
    """The names of the servers are joined; a tool of the server itself has none."""
    route = ((plain(name="a"), "x"), (plain(name="b"), "y"))
    assert Target(_tool(), route=route).mounted == "a/b"
    assert Target(_tool()).mounted is None
