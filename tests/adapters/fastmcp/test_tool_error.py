"""``tool_error``: raising the envelope from a tool's body."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from calls import call, plain
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp_versions import not_on_3
from tables import each_row

from mcp_lenient import LenientMiddleware, tool_error


def rename(user_id: int) -> dict[str, Any]:
    """Rename a user."""
    error = tool_error("UNKNOWN_USER", "There is no such user.", "user_id", received_value=user_id)
    raise error


_ENVELOPE = {
    "status": "error",
    "error_code": "UNKNOWN_USER",
    "recovery": "correctable",
    "retryable": False,
    "message": "There is no such user.",
    "details": {"tool": "rename", "parameter": "user_id", "received_type": "integer", "received_value": 7},
}


@pytest.mark.parametrize(
    "middleware",
    [
        pytest.param(
            [], marks=not_on_3("without the middleware a body does not know which tool was called"), id="bare"
        ),
        pytest.param([LenientMiddleware()], id="lenient"),
    ],
)
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("mounted", [True, False])
async def test_the_caller_gets_the_envelope(middleware, masked, mounted):
    """The error's text is the envelope, with or without the middleware, masked errors and a mount."""
    server = FastMCP("users", middleware=middleware, mask_error_details=masked)
    if mounted:
        server.mount(plain(rename))
    else:
        server.add_tool(rename)
    result = await call(server, "rename", {"user_id": 7})
    assert result.is_error
    assert json.loads(result.content[0].text) == _ENVELOPE


@pytest.mark.parametrize(
    ("recovery", "retryable"), [("correctable", False), ("transient", True), ("terminal", False)]
)
def test_an_author_says_whether_another_call_may_succeed(recovery, retryable):
    """Only a call that failed for the time being may be sent again as it is."""
    told = json.loads(str(tool_error("BUSY", "The printer is busy.", recovery=recovery)))
    assert (told["recovery"], told["retryable"]) == (recovery, retryable)


def test_another_recovery_is_an_error():
    """The words for it are a closed set."""
    with pytest.raises(ValueError, match="recovery must be one of correctable, transient, terminal"):
        tool_error("BUSY", "The printer is busy.", recovery="later")


async def test_a_nested_call_raises_tool_error():
    """The body of another tool gets a ``ToolError``."""

    async def outer(ctx: Context) -> str:
        try:
            await ctx.fastmcp.call_tool("rename", {"user_id": 7})
        except ToolError as error:
            return json.loads(str(error))["error_code"]
        return ""

    assert (await call(plain(rename, outer), "outer", {})).structured_content == {"result": "UNKNOWN_USER"}


def test_details_may_be_any_json():
    """Dates, sets and other objects are converted; outside a call the details have no tool."""
    error = tool_error("A_1", "No\ud800.", day=date(2026, 1, 31), names={"a"}, other=object)
    reported = json.loads(str(error))
    assert reported["details"].keys() == {"day", "names", "other"}
    assert reported["details"]["day"] == "2026-01-31"
    str(error).encode()


@each_row("code", ["lower", "", "A" * 101, "A B", None])
def test_codes_have_a_fixed_format(code):
    """Codes are logged, so that only a fixed format is allowed."""
    with pytest.raises(ValueError, match="tool_error: code must be at most 100 upper-case letters"):
        tool_error(code, "No.")
