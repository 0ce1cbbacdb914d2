"""Tests of published servers on the official SDK 2; ``test_real_servers.py`` runs them separately."""

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import git
from excel_mcp.config import Settings
from excel_mcp.server import create_server as excel_server
from mcp import Client, MCPError
from mcp_server_git.server import create_server as git_server

from benchmarks.hosts.log import events_of
from mcp_lenient import Policy
from mcp_lenient.adapters.mcp_sdk import LenientServerMiddleware, make_lenient
from tests.adapters.running import print_outcomes

WORKBOOK = {
    "another_name": ("find_cells", {"query": "a", "maxResults": 5}),
    "case": ("find_cells", {"query": "a", "mode": "Values"}),
    "nested_name": ("format_range", {"sheet": "Sheet1", "range": "A1", "style": {"fontName": "Arial"}}),
    "wrong": ("find_cells", {"query": "a", "max_results": "many"}),
    "missing": ("find_cells", {}),
}
"""Calls that this server refuses; its tools have a model of arguments that never raises."""


def outcome(result: Any) -> Any:
    """Return the rules that repaired a call, the code of its envelope, or what the server says of it."""
    text = result.content[0].text
    if not result.is_error:
        return [repair["rule"] for repair in result.meta["mcp_lenient"]["repairs"]]
    return json.loads(text)["error_code"] if text.startswith("{") else text.partition(":")[0]


async def outcomes(policy: Policy) -> tuple[Mapping[str, Any], list[str]]:
    """Return the outcome of each call of the workbook's tools, and the names of the events."""
    with TemporaryDirectory() as folder, events_of() as events:
        file = {"path": str(Path(folder) / "book.xlsx")}
        async with Client(make_lenient(excel_server(Settings()), policy)) as client:
            await client.call_tool("create_workbook", file)
            results = {
                name: outcome(await client.call_tool(tool, {**file, **sent}))
                for name, (tool, sent) in WORKBOOK.items()
            }
    return results, [event["event"] for event in events[1:]]


REPAIRED = {"another_name": ["rename_case"], "case": ["fold_enum"], "nested_name": ["rename_case"]}


async def test_a_replaced_model_of_arguments_leaves_the_published_schema() -> None:
    """Nearly right calls run; the server answers wrong ones itself, and each is in the log."""
    results, events = await outcomes(Policy())
    own = "Error executing tool find_cells"
    assert results == {**REPAIRED, "wrong": own, "missing": own}
    assert events == ["call_repaired"] * 3 + ["call_forwarded"] * 2


async def test_wrong_calls_of_a_replaced_model_may_be_refused() -> None:
    """With ``unrepairable="refuse"`` wrong calls are answered with the envelope."""
    results, _ = await outcomes(Policy(unrepairable="refuse"))
    assert results == {**REPAIRED, "wrong": "INVALID_MAX_RESULTS_TYPE", "missing": "MISSING_QUERY"}


CALLS = {
    "right": ("git_log", {}),
    "another_tool_name": ("git-log", {}),
    "null": ("git_log", {"max_count": None}),
    "unknown": ("git_logs", {}),
    "wrong": ("git_log", {"max_count": "many"}),
}


async def git_outcomes(server: Any) -> Mapping[str, Any]:
    """Return the outcome of each call of a repository's tools."""
    reported: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        git.Repo.init(folder).index.commit("first")
        async with Client(server) as client:
            for name, (tool, sent) in CALLS.items():
                try:
                    result = await client.call_tool(tool, {"repo_path": folder, **sent})
                except MCPError as error:
                    reported[name] = error.message
                else:
                    reported[name] = "ran" if name == "right" and not result.is_error else outcome(result)
    return reported


async def test_first_in_the_list_calls_are_repaired() -> None:
    """``make_lenient`` puts it before the server's own middleware, whose refusal of an unknown name stands."""
    assert await git_outcomes(make_lenient(git_server(None))) == {
        "right": "ran",
        "another_tool_name": ["rename_tool"],
        "null": ["null_to_absent"],
        "unknown": "Unknown tool: git_logs",
        "wrong": "INVALID_MAX_COUNT_TYPE",
    }


async def test_behind_the_servers_own_middleware_nothing_is_repaired() -> None:
    """Appended to the list it refuses, and says why in the log."""
    server = git_server(None)
    server.middleware.append(LenientServerMiddleware())
    with events_of() as events:
        assert await git_outcomes(server) == {
            "right": "ran",
            "another_tool_name": "Unknown tool: git-log",
            "null": "INVALID_MAX_COUNT_TYPE",
            "unknown": "Unknown tool: git_logs",
            "wrong": "INVALID_MAX_COUNT_TYPE",
        }
    assert [event["event"] for event in events].count("not_first") == 1


if __name__ == "__main__":
    print_outcomes(dict(globals()))
