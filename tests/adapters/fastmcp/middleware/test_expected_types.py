"""For an untyped parameter, the refusing normalizer provides the expected types."""

from __future__ import annotations

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


@pytest.mark.parametrize("sent", [123, ["a", 1], {"a": 1}, True, "a, b"])
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


LISTS = [[1, 2], [["a"]], {"item": ["a"]}, "['a', 'b']", ["a", 1], [None], [{}], 7, "a, b"]


@pytest.mark.parametrize("sent", LISTS, ids=str)
async def test_tags_of_any_type_take_the_lists_of_typed_tags(sent):
    """``tags: Any`` with ``tags()`` runs with the lists that ``list[str] | None`` runs with, after the same repairs."""
    server = FastMCP("notes", middleware=[LenientMiddleware()])

    @server.tool
    def typed(tags: list[str] | None = None) -> str:
        return str(tags)

    server.tool(annotated)
    async with Client(server) as client:
        one, other = [await client.call_tool_mcp(name, {"tags": sent}) for name in ("typed", "annotated")]
    assert one.is_error == other.is_error
    if not one.is_error:
        assert one.structured_content == other.structured_content


async def test_the_type_of_a_normalizer_is_not_published():
    """The published schema of ``tags: Any`` stays without a type."""
    server = FastMCP("notes", middleware=[LenientMiddleware()])
    server.tool(annotated)
    async with Client(server) as client:
        (tool,) = await client.list_tools()
    assert tool.model_dump(by_alias=True)["inputSchema"]["properties"] == {
        "tags": {"default": None, "title": "Tags"}
    }
