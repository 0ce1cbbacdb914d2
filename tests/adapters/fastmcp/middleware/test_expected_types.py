"""For an untyped parameter, the refusing normalizer provides the expected types."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from calls import call, envelope, plain
from calls import lenient as lenient_server
from fastmcp import Client
from fastmcp.tools import Tool
from pydantic import BaseModel, ConfigDict

from mcp_lenient import NormalizationError, lenient
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


async def refused(function, sent, *, middleware=True):
    """Return the details of the envelope."""
    server = (lenient_server if middleware else plain)(Tool.from_function(function, name="store"))
    return envelope(await call(server, "store", sent))["details"]


@pytest.mark.parametrize(
    ("function", "middleware"),
    [
        pytest.param(lenient(tags=tags())(decorated), True, id="both"),
        pytest.param(lenient(tags=tags())(decorated), False, id="decorated"),
        pytest.param(annotated, True, id="annotated"),
    ],
)
async def test_tags_of_any_type_are_expected_to_be_an_array(function, middleware):
    """For ``tags: Any`` the envelope lists the normalizer's types, and no fix has another type."""
    for sent in (123, {"a": 1}, "a, b"):
        details = await refused(function, {"tags": sent}, middleware=middleware)
        assert details["expected_types"] == ["array of strings", "null"]
        written = [step["value"] for patch in details["violations"][0].get("fixes", []) for step in patch]
        assert all(isinstance(value, list) or value is None for value in written)


async def test_a_custom_normalizer_may_name_types():
    """The envelope lists the types given as the error's third argument, or else those of the schema."""

    def typed(number: int) -> int:
        """Store a number."""
        return number

    for function in (decorated, typed):
        assert (await refused(lenient(number=odd)(function), {"number": 2}))["expected_types"] == ["integer"]


SENT: list[Any] = json.loads("""[
    ["a", "b"], [], null, "a", "['a', 'b']", "a, b", "null", "", " ", "none", "[a", "\\"a\\"",
    [1, 2], [2024, "a"], ["a", 1], ["a", null], [null], [true], [3.1], [["a"]], [["a"], ["b"]], [{}], [{"name": "a"}],
    {"item": ["a"]}, [{"item": "a"}], "[1, 2]", "[[\\"a\\"]]", "[\\"a\\", 1]", "{\\"a\\": 1}", 7, 1.5, true
]""")


@pytest.mark.parametrize("make", [plain, lenient_server], ids=["alone", "middleware"])
async def test_tags_of_any_type_are_treated_as_typed_tags(make):
    """With ``tags()``, ``tags: Any`` takes what ``list[str] | None`` takes; results, repairs and refusals are the same."""
    told: list[list[Any]] = []
    for kind in (list[str] | None, Any):

        def store(tags: Any = None) -> str:
            return str(tags)

        store.__annotations__ = {"tags": kind, "return": str}
        async with Client(make(lenient(tags=tags())(store))) as client:
            results = [await client.call_tool_mcp("store", {"tags": sent}) for sent in SENT]
        told.append([(result.content, (result.meta or {}).get("mcp_lenient")) for result in results])
    typed, untyped = told
    assert untyped == typed


async def test_a_wrong_tag_is_named():
    """The envelope names a wrong item of the list, its type and a fix."""
    details = await refused(lenient(tags=tags())(decorated), {"tags": ["a", 1]})
    (violation,) = details["violations"]
    assert (violation["pointer"], violation["received_type"]) == ("/tags/1", "integer")
    assert violation["message"].startswith("'tags[1]' must be a string")
    assert violation["fixes"] == [[{"op": "replace", "path": "/tags/1", "value": "1"}]]


async def test_the_type_of_a_normalizer_is_not_published():
    """The published schema of ``tags: Any`` stays without a type."""
    async with Client(lenient_server(annotated)) as client:
        (tool,) = await client.list_tools()
    assert tool.model_dump(by_alias=True)["inputSchema"]["properties"] == {
        "tags": {"default": None, "title": "Tags"}
    }


class Card(BaseModel):
    """A union's member with a number, which FastMCP reads from text."""

    number: str
    expiry: str
    limit: int | None = None


class Bank(BaseModel):
    """Another member."""

    iban: str


def pay(method: Card | Bank) -> str:
    """Pay."""
    return str(method)


async def test_what_a_function_accepts_in_a_union_is_no_fault():
    """Of a union of objects, the answer names what the function refuses, and not what only the schema would."""
    (missing,) = (await refused(pay, {"method": {"number": "4", "limit": "12"}}))["violations"]
    assert missing["pointer"] == "/method/expiry"
    (wrong,) = (await refused(pay, {"method": {"number": "4", "expiry": "1/30", "limit": "many"}}))[
        "violations"
    ]
    assert wrong["pointer"] == "/method/limit"


class Box(BaseModel):
    """A union's member that refuses other names."""

    model_config = ConfigDict(extra="forbid")
    kind: Literal["box"]
    width: float
    height: float


class Ball(BaseModel):
    """Another one, which has no width."""

    model_config = ConfigDict(extra="forbid")
    kind: Literal["ball"]
    radius: float


def draw(shape: Box | Ball) -> str:
    """Draw."""
    return str(shape)


async def test_a_name_that_another_member_refuses_is_no_fault_of_its_value():
    """A text that FastMCP reads as a number stays right where a member that is not meant forbids its name."""
    (wrong,) = (await refused(draw, {"shape": {"kind": "box", "width": "3", "height": "x"}}))["violations"]
    assert wrong["pointer"] == "/shape/height"
