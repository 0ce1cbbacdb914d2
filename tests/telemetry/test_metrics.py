"""Test what the metrics count, and that no client can choose a label."""

from __future__ import annotations

import pytest
from calls import call, lenient, published, rules
from fastmcp import Client
from fastmcp_versions import CLIENT
from mcp import Client as SdkClient
from mcp.server.mcpserver import MCPServer
from mcp.types import Implementation

from mcp_lenient import LenientMiddleware, Policy
from mcp_lenient.adapters.mcp_sdk import LenientServerMiddleware
from mcp_lenient.telemetry.otel import CLIENTS

FLAGS = {"tags": '["a"]', "limit": "5"}


def tool(tags: list[str], limit: int = 5) -> list[str]:
    """A tool."""
    return tags[:limit]


REJECTED = {"outcome": "rejected", "tool": "tool", "fault": "wrong_shape"}
UNKNOWN = {"outcome": "rejected", "tool": "(unknown)", "fault": "unknown_tool"}


def labels(**values: str) -> tuple[tuple[str, str], ...]:
    """Return labels in the form in which points are counted."""
    return tuple(sorted(values.items()))


@pytest.mark.parametrize(
    ("name", "arguments", "reported"),
    [
        pytest.param("tool", {"tags": ["a"]}, {"outcome": "accepted", "tool": "tool"}, id="accepted"),
        pytest.param("tool", {"tags": '["a"]'}, {"outcome": "repaired", "tool": "tool"}, id="repaired"),
        pytest.param("tool", {"tags": 5}, REJECTED, id="rejected"),
        pytest.param("own", {"n": "x"}, REJECTED | {"outcome": "forwarded", "tool": "own"}, id="forwarded"),
        pytest.param("nothing", {}, UNKNOWN, id="unknown tool"),
    ],
)
async def test_each_call_is_counted_once(name, arguments, reported, counted):
    """A call adds one to ``mcp_lenient.calls`` and one to the histogram of added time."""
    await call(lenient(tool, published(n={"type": "integer"})), name, arguments)
    found = counted()
    assert found["mcp_lenient.calls"] == {labels(**reported): 1}
    assert found["mcp_lenient.added_time"] == {labels(outcome=reported["outcome"]): 1}


async def test_a_tools_own_error_is_counted_once_more(counted):
    """A call that fails in the tool's own code is counted as accepted, and as failed, without the tool's time."""

    def failing(tags: list[str]) -> None:
        raise KeyError(tags)

    await call(lenient(failing), "failing", {"tags": ["a"]})
    found = counted()
    assert found["mcp_lenient.calls"] == {
        labels(outcome="accepted", tool="failing"): 1,
        labels(outcome="failed", tool="failing", fault="tool_failed"): 1,
    }
    assert found["mcp_lenient.added_time"] == {labels(outcome="accepted"): 1}


async def test_repairs_are_counted_by_rule_tool_and_client(counted):
    """Each repair counts as one."""
    result = await call(lenient(tool), "tool", FLAGS)
    assert counted()["mcp_lenient.repairs"] == {
        labels(rule=rule, tool="tool", client=CLIENT.split()[0]): 1 for rule in rules(result)
    }


async def test_violations_are_counted_by_code(counted):
    """Each violation counts as one, also in observe mode."""
    await call(lenient(tool, policy=Policy(mode="observe")), "tool", {"tags": 5, "limit": {}, "more": 1})
    found = counted()
    assert {dict(each)["outcome"] for each in found["mcp_lenient.calls"]} == {"observed"}
    assert found["mcp_lenient.violations"] == {
        labels(code="type", tool="tool", client=CLIENT.split()[0]): 2,
        labels(code="unknown", tool="tool", client=CLIENT.split()[0]): 1,
    }


async def test_a_mounted_tool_is_counted_once(counted):
    """If parent and child have the middleware, a call counts once, by the name that the parent publishes."""
    parent = lenient(name="parent")
    parent.mount(lenient(tool, name="child"), namespace="ns")
    await call(parent, "ns_tool", {"tags": ["a"]})
    await call(parent, "ns_tool", {"tags": 5})
    assert counted()["mcp_lenient.calls"] == {
        labels(outcome="accepted", tool="ns_tool"): 1,
        labels(**REJECTED | {"tool": "ns_tool"}): 1,
    }


@pytest.mark.parametrize(
    ("name", "label"),
    [
        pytest.param("claude-ai", "claude-ai", id="well known"),
        pytest.param("Visual Studio Code", "visual studio code", id="in any case"),
        pytest.param("claude-ai (via mcp-remote 0.1.37)", "claude-ai", id="through a bridge"),
        pytest.param("acme-agent", "acme-agent", id="named by the operator"),
        pytest.param("sk-live-4242424242", "(other)", id="unknown"),
        pytest.param("x" * 2**20, "(other)", id="a megabyte"),
        pytest.param("claude-ai\n", "(other)", id="almost well known"),
    ],
)
async def test_a_client_cannot_choose_its_label(name, label, counted):
    """Well-known clients and those named by the operator have their own label. All others share one."""
    server = lenient(tool)
    server.middleware[:] = [LenientMiddleware(clients=["ACME-agent"])]
    async with Client(server, client_info=Implementation(name=name, version="1")) as client:
        await client.call_tool_mcp("tool", {"tags": 5})
    assert counted()["mcp_lenient.violations"] == {labels(code="type", tool="tool", client=label): 1}


@pytest.mark.parametrize("clients", ["acme-agent", [1]], ids=["one name", "no names"])
def test_clients_are_names(clients):
    """A value that is not a collection of names is refused when the middleware is built."""
    with pytest.raises(TypeError, match="clients must be names of clients"):
        LenientMiddleware(clients=clients)


def test_well_known_names_are_in_lower_case():
    """All well-known names are lowercase, and none starts like a label for others."""
    assert {name.lower() for name in CLIENTS} == CLIENTS
    assert not any(name.startswith("(") for name in CLIENTS)


@pytest.mark.parametrize(
    ("name", "arguments", "reported"),
    [
        pytest.param("tool", {"tags": "a"}, {"outcome": "repaired", "tool": "tool"}, id="repaired"),
        pytest.param("nothing", {}, UNKNOWN, id="unknown tool"),
    ],
)
async def test_calls_on_the_official_sdk_are_counted_the_same(name, arguments, reported, counted):
    """Calls on the official SDK have the same metrics and labels, including the client's name."""
    server = MCPServer("notes", middleware=[LenientServerMiddleware()], log_level="ERROR")
    server.tool()(tool)
    async with SdkClient(server) as client:
        await client.call_tool(name, arguments)
    found = counted()
    outcome = reported["outcome"]
    assert found["mcp_lenient.calls"] == {labels(**reported): 1}
    assert found["mcp_lenient.added_time"] == {labels(outcome=outcome): 1}
    assert found.get("mcp_lenient.repairs", {}) == (
        {labels(rule="scalar_to_array", tool="tool", client="mcp"): 1} if outcome == "repaired" else {}
    )
