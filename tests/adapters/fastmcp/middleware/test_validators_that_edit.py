"""Validators that edit their input: judging has no side effect (law 1)."""

from __future__ import annotations

import copy
from typing import Annotated, Any

import pytest
from calls import call, got, lenient, on_both_servers, plain
from pydantic import BaseModel, BeforeValidator, PlainValidator, WrapValidator, model_validator


def _decreased(value: dict[str, int]) -> dict[str, int]:
    value["n"] -= 1
    return value


def _popped(value: Any) -> Any:
    if isinstance(value, dict) and "legacy" in value:
        value["n"] = value.pop("legacy") + 1
    return value


def _wrapped(value: Any, handler: Any) -> Any:
    value.append("z")
    return handler(value)


class _Order(BaseModel):
    n: int = 0
    tags: list[str] = []

    @model_validator(mode="before")
    @classmethod
    def _edit(cls, value: Any) -> Any:
        if isinstance(value, dict):
            value.setdefault("tags", []).append("z")
        return _popped(value)


_TYPES = {
    "before": (Annotated[dict[str, int], BeforeValidator(_decreased)], {"n": 1}),
    "plain": (Annotated[dict[str, int], PlainValidator(_decreased)], {"n": 1}),
    "wrap": (Annotated[list[str], WrapValidator(_wrapped)], ["a"]),
    "model": (_Order, {"legacy": 1}),
    "items": (list[_Order], [{"n": 1}, {"tags": ["a"]}]),
    "branch": (_Order | None, {"n": 2}),
    "values": (dict[str, Annotated[dict[str, int], BeforeValidator(_decreased)]], {"a": {"n": 1}}),
}


@on_both_servers
@pytest.mark.parametrize(("kind", "sent"), _TYPES.values(), ids=_TYPES)
async def test_the_tool_receives_what_one_validation_makes(kind, sent, strict):
    """What such a validator makes of an accepted argument is what FastMCP alone makes of it."""

    def tool(x: Any) -> Any:
        return x

    tool.__annotations__ = {"x": kind, "return": Any}
    alone = await call(plain(tool, strict=strict), "tool", {"x": copy.deepcopy(sent)})
    ours = await call(lenient(tool, strict=strict), "tool", {"x": copy.deepcopy(sent)})
    assert ours.is_error == alone.is_error
    assert alone.is_error or got(ours) == got(alone)


async def test_a_repaired_argument_is_validated_once():
    """The tool receives what one validation makes of the repaired argument."""

    def tool(x: Annotated[dict[str, int], BeforeValidator(_decreased)], limit: int = 0) -> int:
        return x["n"] + limit

    assert got(await call(lenient(tool), "tool", {"x": {"n": 5}, "Limit": 1})) == 5
