"""The operator's mode takes precedence over the decorator."""

from __future__ import annotations

import pytest
from calls import call, on_both_servers, plain, text

from mcp_lenient import LenientMiddleware, Policy, lenient
from mcp_lenient.normalizers import tags


async def store(n: int, tags: list[str] | None = None) -> list[str]:
    """Store tags."""
    return (tags or []) * n


@pytest.mark.parametrize("mode", ["observe", "off"])
@on_both_servers
async def test_other_modes_give_fastmcps_own_answer(mode, strict):
    """In observe and off mode, a refused call gets the answer of a server without the library."""
    server = plain(lenient(tags=tags(), policy=Policy())(store), strict=strict)
    server.add_middleware(LenientMiddleware(tools={"*": Policy(mode=mode)}))
    bare = plain(store, strict=strict)
    for arguments in ({"n": 1, "tags": '["a"]'}, {"n": "x", "tags": 7}):
        own, answer = [await call(each, "store", arguments) for each in (bare, server)]
        assert (answer.is_error, text(answer)) == (True, text(own))


async def test_an_error_of_a_function_in_a_thread_names_the_parameter():
    """In off mode, the error of a function that FastMCP runs in a thread names a refused parameter once."""

    @lenient
    def count(n: int) -> int:
        return n

    server = plain(count)
    server.add_middleware(LenientMiddleware(mode="off"))
    said = text(await call(server, "count", {"n": "x"}))
    assert said.startswith("1 validation error for ")
    assert "n" in said.partition("[type=")[0].replace("'", "\n").splitlines()
    assert "function-wrap" not in said
