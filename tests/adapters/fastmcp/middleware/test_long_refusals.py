"""Refusals of large calls leave the event loop free and count omitted violations."""

from __future__ import annotations

import threading
from inspect import Parameter, Signature
from time import process_time
from typing import Annotated, Any

import pytest
from calls import call, envelope, lenient
from fastmcp.tools import Tool
from pydantic import BeforeValidator
from tables import each_row

from mcp_lenient.values.json_values import holds_many

MANY = 2_000


def _wide(count: int, annotation: Any) -> Tool:
    async def tool(**arguments: Any) -> str:
        return str(arguments)

    names = [f"field_{at}" for at in range(count)]
    kinds = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation) for name in names]
    tool.__signature__ = Signature(kinds)  # type: ignore[attr-defined]
    tool.__annotations__ = dict.fromkeys(names, annotation)
    return Tool.from_function(tool, name="tool")


def _some(numbers: list[int] | None = None) -> str:
    return f"{numbers}"


async def test_omitted_violations_are_counted():
    """Of many violations twenty are listed, and the last one says how many more there are."""
    sent = {f"unknown_{at}": at for at in range(MANY)}
    details = envelope(await call(lenient(_some), "_some", sent))["details"]
    violations = details["violations"]
    assert len(violations) + details.get("violations_omitted", 0) == 20
    assert f"{MANY - 20} more faults were found." in violations[-1]["message"]


async def test_unknown_names_take_linear_time():
    """Four times the unknown names take no more than eight times the time."""
    server, seconds = lenient(_some), []
    for count in (2_000, 4_000, 16_000):  # the first call also compiles the tool
        started = process_time()
        await call(server, "_some", {f"unknown_{at}": at for at in range(count)})
        seconds.append(process_time() - started)
    assert seconds[2] < 8 * seconds[1]


async def test_very_many_violations_are_grouped_by_parameter():
    """Thousands of wrong items in a list are one violation, listed beside unknown and missing names."""
    tool = _wide(3, list[int])
    reported = envelope(
        await call(lenient(tool), "tool", {"field_0": ["many"] * MANY, "field_1": [1] * MANY, "other": 1})
    )
    found = {(each["parameter"], each["code"]) for each in reported["details"]["violations"]}
    assert found == {("field_0", "type"), ("field_2", "missing"), ("other", "unknown")}


class _Noted:
    """A validator that records the threads that it runs in."""

    def __init__(self) -> None:
        self.threads: set[int] = set()

    def __call__(self, value: Any) -> Any:
        self.threads.add(threading.get_ident())
        return value

    def wide(self, count: int) -> Tool:
        """Create an async tool with ``count`` integers, whose validators FastMCP would run on the loop."""
        return _wide(count, Annotated[int, BeforeValidator(self)])


@pytest.mark.parametrize(
    ("count", "wrong", "leaves"),
    [(200, 200, True), (300, 1, True), (20, 20, False)],
    ids=["200 of 200", "1 of 300", "20 of 20"],
)
async def test_a_large_refusal_leaves_the_event_loop(count, wrong, leaves):
    """Many parameters are repaired and reported in a worker thread, few on the loop: a thread would cost more."""
    noted = _Noted()
    sent = {f"field_{at}": "many" if at < wrong else at for at in range(count)}
    assert envelope(await call(lenient(noted.wide(count)), "tool", sent))["status"] == "error"
    assert (noted.threads != {threading.get_ident()}) is leaves


@each_row(
    ("value", "many"),
    [
        ({"a": [[1] * 60, [2] * 60]}, True),
        ({"a": {str(at): at for at in range(101)}}, True),
        ({"a": ["x" * 6_000, "y" * 6_000]}, True),
        ({"a": [1] * 60, "b": "x" * 9_000}, False),
        ({}, False),
    ],
)
def test_large_arguments_are_detected_at_any_depth(value, many):
    """Nested values and characters count, not only those at the top level."""
    assert holds_many(value) is many
