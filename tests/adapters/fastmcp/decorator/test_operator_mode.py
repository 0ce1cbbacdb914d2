"""The operator's mode takes precedence over the decorator."""

from __future__ import annotations

from typing import Any

import pytest
from fastmcp import Client, FastMCP

from mcp_lenient import LenientMiddleware, Policy, lenient
from mcp_lenient.normalizers import tags


def _store() -> Any:
    async def store(n: int, tags: list[str] | None = None) -> list[str]:
        return (tags or []) * n

    return store


def _server(mode: Any, *, strict: bool = False) -> FastMCP:
    server = FastMCP("modes", strict_input_validation=strict)
    server.add_middleware(LenientMiddleware(tools={"*": Policy(mode=mode)}))
    server.tool(lenient(tags=tags(), policy=Policy())(_store()))
    return server


@pytest.mark.parametrize("mode", ["observe", "off"])
@pytest.mark.parametrize(
    "arguments",
    [{"n": 1, "tags": '["a"]'}, {"n": 1, "tags": 7}, {"n": "x", "tags": 7}],
    ids=["repairable", "wrong", "two"],
)
@pytest.mark.parametrize("strict", [False, True], ids=["lax", "strict"])
async def test_other_modes_give_fastmcps_own_answer(
    mode: str, arguments: dict[str, Any], strict: bool
) -> None:
    """In observe and off mode, a refused call gets the answer of a server without the library."""
    bare = FastMCP("bare", strict_input_validation=strict)
    bare.tool(_store())
    answers = []
    for server in (bare, _server(mode, strict=strict)):
        async with Client(server) as client:
            answers.append(await client.call_tool("store", arguments, raise_on_error=False))
    own, with_library = answers
    assert with_library.is_error
    assert with_library.content[0].text == own.content[0].text


async def test_an_error_of_a_function_in_a_thread_names_the_parameter() -> None:
    """In off mode, the error of a function that FastMCP runs in a thread names a refused parameter once."""
    server = FastMCP("modes", middleware=[LenientMiddleware(mode="off")])

    @server.tool
    @lenient
    def count(n: int) -> int:
        return n

    async with Client(server) as client:
        answer = await client.call_tool("count", {"n": "x"}, raise_on_error=False)
    text = answer.content[0].text
    assert text.startswith("1 validation error for ")
    assert "n" in text.partition("[type=")[0].replace("'", "\n").splitlines()
    assert "function-wrap" not in text


async def test_repair_mode_repairs() -> None:
    """In repair mode, the same call is repaired and runs."""
    async with Client(_server("repair")) as client:
        answer = await client.call_tool("store", {"n": 1, "tags": '["a"]'})
    assert answer.data == ["a"]
