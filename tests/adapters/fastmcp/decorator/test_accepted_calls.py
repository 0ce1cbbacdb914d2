"""A decorated function accepts every value that the plain function accepts, for all types and servers."""

from __future__ import annotations

import logging
import math
from datetime import date
from typing import Annotated, Any

import pytest
from calls import lax_unless_slow, plain, text
from declare.normalizers.marked import TYPES, VALUES, Point
from fastmcp.exceptions import ValidationError
from fastmcp.tools import Tool
from pydantic import BeforeValidator, Field, WithJsonSchema

from mcp_lenient import lenient

SENT = [value for value in VALUES if not isinstance(value, float) or math.isfinite(value)]
KINDS = [
    *TYPES,
    pytest.param(Annotated[int, "how many"], id="description-alone"),
    pytest.param(Annotated[int, WithJsonSchema({"type": "integer", "x": 1})], id="own-schema"),
    pytest.param(Annotated[list[date], BeforeValidator(lambda value: value)], id="before-validator"),
    pytest.param(Annotated[list[Point], Field(min_length=1, description="where")], id="described-list"),
]


def _same(value: Any) -> Any:
    return value


def _tools(kind: Any) -> list[Tool]:
    """Return three tools with one parameter: plain, decorated, and decorated with a normalizer."""

    async def tell(value):
        return repr(value)

    tell.__annotations__ = {"value": kind, "return": str}
    functions = {"unmarked": tell, "marked": lenient(tell), "normalized": lenient(value=_same)(tell)}
    return [Tool.from_function(function, name=name) for name, function in functions.items()]


@pytest.mark.parametrize("kind", KINDS)
def test_the_schemas_stay_unchanged(kind):
    """Input and output schemas are byte for byte those of the plain function."""
    unmarked, *others = (
        tool.model_dump_json(include={"parameters", "output_schema"}) for tool in _tools(kind)
    )
    assert others == [unmarked, unmarked]


@lax_unless_slow
@pytest.mark.parametrize("kind", KINDS)
async def test_accepted_values_stay_accepted(kind, strict, caplog):
    """Each value that the plain function accepts reaches the decorated body as the same value."""
    caplog.set_level(logging.CRITICAL, "fastmcp")  # it would log each refused value
    server = plain(*_tools(kind), strict=strict)

    async def body_text(tool: str, value: Any) -> str | None:
        try:
            result = await server.call_tool(tool, {"value": value})
        except ValidationError:
            return None
        assert "mcp_lenient" not in (result.meta or {})
        return None if result.is_error else text(result)

    wanted = [(value, await body_text("unmarked", value)) for value in SENT]
    taken = [(value, reply) for value, reply in wanted if reply is not None]
    for tool in ("marked", "normalized"):
        assert [(value, await body_text(tool, value)) for value, _ in taken] == taken
