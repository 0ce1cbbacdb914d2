"""Slow validators of tool authors block the event loop only if they do so in FastMCP alone."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any

import pytest
from calls import call, code, got, lenient
from fastmcp import FastMCP
from fastmcp.tools import Tool
from pydantic import BeforeValidator
from waiting import PATIENCE


class _Validator:
    """A validator that waits until the event loop opens the gate, and records its threads."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.stuck = 0
        self.threads: set[int] = set()

    def __call__(self, value: Any) -> Any:
        self.threads.add(threading.get_ident())
        self.stuck += not self.gate.wait(timeout=PATIENCE)
        return value


def _server(validator: _Validator, *, on_loop: bool = False, run_in_thread: bool = True) -> FastMCP:
    def tool(value: Any) -> Any:
        return {"got": value}

    async def async_tool(value: Any) -> Any:
        return {"got": value}

    function = async_tool if on_loop else tool
    function.__annotations__["value"] = Annotated[list[int], BeforeValidator(validator)]
    return lenient(Tool.from_function(function, name="tool", run_in_thread=run_in_thread))


async def test_a_sync_tools_slow_validator_leaves_the_event_loop_free():
    """While calls wait for a validator the loop, which opens the gate, keeps running; each gets its own answer."""
    validator = _Validator()
    server = _server(validator)

    async def let_go() -> None:
        await asyncio.sleep(0.05)
        validator.gate.set()

    sent: list[Any] = [[1], "[2]", "x", "[3]", [1.5], None]
    results, _ = await asyncio.gather(
        asyncio.gather(*(call(server, "tool", {"value": value}) for value in sent)), let_go()
    )
    assert validator.stuck == 0
    assert threading.get_ident() not in validator.threads
    ran = [None if result.is_error else got(result)["got"] for result in results]
    assert ran == [[1], [2], None, [3], None, None]
    assert [code(results[index]) for index in (2, 4, 5)] == ["INVALID_VALUE_TYPE"] * 3


@pytest.mark.parametrize(
    "how", [{"on_loop": True}, {"run_in_thread": False}], ids=["async", "sync_without_thread"]
)
@pytest.mark.parametrize("value", [[1], "[1]", [1.5]], ids=["right", "near", "wrong"])
async def test_a_validator_that_fastmcp_runs_on_the_loop_stays_there(how, value):
    """If FastMCP validates in the loop's thread, so does mcp-lenient: the validator may depend on it."""
    validator = _Validator()
    validator.gate.set()
    result = await call(_server(validator, **how), "tool", {"value": value})
    assert result.is_error is (value == [1.5])
    assert validator.threads == {threading.get_ident()}
