"""For an untyped parameter, the refusing normalizer provides the expected types."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from fastmcp import Client, FastMCP

from mcp_lenient import LenientMiddleware, NormalizationError, lenient
from mcp_lenient.normalizers import tags


def odd(value):
    """Refuse even numbers."""
    if isinstance(value, int) and value % 2 == 0:
        code = "INVALID_{PARAMETER}_TYPE"
        raise NormalizationError(code, "send an odd number", ("integer",))
    return value


def decorated(tags: Any = None, number: Any = 1) -> str:
    """Store tags."""
    return f"{tags} {number}"


def annotated(tags: Annotated[Any, tags()] = None) -> str:
    """Store tags."""
    return str(tags)


async def refused(function, sent, *, middleware):
    """Return the details of the envelope."""
    mcp = FastMCP("notes")
    mcp.tool(name="store")(function)
    if middleware:
        mcp.add_middleware(LenientMiddleware())
    async with Client(mcp) as client:
        result = await client.call_tool("store", sent, raise_on_error=False)
    assert result.is_error
    return result.meta["mcp_lenient"]["details"]


@pytest.mark.parametrize("sent", [123, {"a": 1}, True, "a, b"])
@pytest.mark.parametrize(
    ("function", "middleware"),
    [
        pytest.param(lenient(tags=tags())(decorated), True, id="both"),
        pytest.param(lenient(tags=tags())(decorated), False, id="decorated"),
        pytest.param(annotated, True, id="annotated"),
    ],
)
async def test_tags_of_any_type_are_expected_to_be_an_array(function, middleware, sent):
    """For ``tags: Any`` the envelope lists the normalizer's types, and no fix has another type."""
    details = await refused(function, {"tags": sent}, middleware=middleware)
    assert details["expected_types"] == ["array of strings", "null"]
    written = [step["value"] for patch in details["violations"][0].get("fixes", []) for step in patch]
    assert all(isinstance(value, list) or value is None for value in written)


async def test_a_custom_normalizer_may_name_types():
    """The envelope lists the types given as the error's third argument."""
    details = await refused(lenient(number=odd)(decorated), {"number": 2}, middleware=True)
    assert details["expected_types"] == ["integer"]


async def test_a_declared_type_names_the_expected_types():
    """If the parameter has a type, the envelope lists the schema's type."""

    def typed(number: int) -> int:
        """Store a number."""
        return number

    details = await refused(lenient(number=odd)(typed), {"number": 2}, middleware=True)
    assert details["expected_types"] == ["integer"]


SENT: list[Any] = json.loads("""[
    ["a", "b"], [], null, "a", "['a', 'b']", "a, b", "null", "", " ", "none", "[a", "\\"a\\"",
    [1, 2], [2024, "a"], ["a", 1], ["a", null], [null], [true], [3.1], [["a"]], [["a"], ["b"]], [{}], [{"name": "a"}],
    {"item": ["a"]}, [{"item": "a"}], "[1, 2]", "[[\\"a\\"]]", "[\\"a\\", 1]", "{\\"a\\": 1}", 7, 1.5, true
]""")


@pytest.mark.parametrize("middleware", [False, True], ids=["alone", "middleware"])
@pytest.mark.parametrize("sent", SENT, ids=json.dumps)
async def test_tags_of_any_type_are_treated_as_typed_tags(sent, middleware):
    """With ``tags()``, ``tags: Any`` takes what ``list[str] | None`` takes; results, repairs and refusals are the same."""
    told = []
    for kind in (list[str] | None, Any):

        def store(tags: Any = None) -> str:
            return str(tags)

        store.__annotations__ = {"tags": kind, "return": str}
        server = FastMCP("notes", middleware=[LenientMiddleware()] if middleware else [])
        server.tool(lenient(tags=tags())(store))
        async with Client(server) as client:
            result = await client.call_tool_mcp("store", {"tags": sent})
        told.append((result.content, (result.meta or {}).get("mcp_lenient")))
    typed, untyped = told
    assert untyped == typed


@pytest.mark.parametrize(
    ("sent", "violations"),
    [
        (["a", 1], [("/tags/1", "integer", [[{"op": "replace", "path": "/tags/1", "value": "1"}]])]),
        (["a", None], [("/tags/1", "null", None)]),
        ([True, "a"], [("/tags/0", "boolean", [[{"op": "replace", "path": "/tags/0", "value": "true"}]])]),
        ('["a", 1]', [("/tags/1", "integer", None)]),
    ],
    ids=["integer", "null", "boolean", "text"],
)
async def test_a_wrong_tag_is_named(sent, violations):
    """The envelope names a wrong item of the list, its type and a fix."""
    details = await refused(lenient(tags=tags())(decorated), {"tags": sent}, middleware=True)
    found = [(each["pointer"], each["received_type"], each.get("fixes")) for each in details["violations"]]
    assert found == violations


async def test_the_type_of_a_normalizer_is_not_published():
    """The published schema of ``tags: Any`` stays without a type."""
    server = FastMCP("notes", middleware=[LenientMiddleware()])
    server.tool(annotated)
    async with Client(server) as client:
        (tool,) = await client.list_tools()
    assert tool.model_dump(by_alias=True)["inputSchema"]["properties"] == {
        "tags": {"default": None, "title": "Tags"}
    }
