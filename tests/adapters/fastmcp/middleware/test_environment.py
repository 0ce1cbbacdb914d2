"""``MCP_LENIENT_MODE``, ``MCP_LENIENT_DESTRUCTIVE``, ``MCP_LENIENT_REPEATS`` and ``MCP_LENIENT_CONFIG``."""

from __future__ import annotations

import pytest
from calls import Log, call, lenient, plain, rules
from fastmcp.tools import Tool

from mcp_lenient import LenientMiddleware, Policy
from mcp_lenient import lenient as decorated
from mcp_lenient.errors import PolicyError

SENT = {"tags": '["a"]'}


def tool(tags: list[str]) -> object:
    """Accept only a list."""
    return tags


@pytest.mark.parametrize(
    "settings",
    [{}, {"policy": Policy()}, {"patterns": {"*": Policy()}}],
    ids=["defaults", "policy", "pattern"],
)
@pytest.mark.parametrize("mode", [" Off ", "observe"])
async def test_the_environment_stops_repairs(monkeypatch, events: Log, mode, settings):
    """The mode, in any case, overrides the program's policies: calls are at most logged."""
    monkeypatch.setenv("MCP_LENIENT_MODE", mode)
    assert (await call(lenient(tool, **settings), "tool", SENT)).is_error
    assert (await call(plain(decorated(tool)), "tool", SENT)).is_error
    assert events.names == (["call_observed"] * 2 if mode == "observe" else [])


async def test_the_environment_only_restricts(monkeypatch):
    """``repair`` does not turn on a tool that a pattern turns off."""
    monkeypatch.setenv("MCP_LENIENT_MODE", "repair")
    assert (await call(lenient(tool, patterns={"*": Policy(mode="off")}), "tool", SENT)).is_error
    assert rules(await call(lenient(tool), "tool", SENT)) == ["json_text_to_array"]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("MCP_LENIENT_MODE", "of", "must be one of 'off', 'observe', 'repair', got 'of'"),
        ("MCP_LENIENT_DESTRUCTIVE", "true", "must be one of 'if_marked', 'unless_read_only', got 'true'"),
        ("MCP_LENIENT_REPEATS", "never", "must be one of 'true', 'false', got 'never'"),
    ],
)
def test_an_unknown_word_is_an_error(monkeypatch, name, value, said):
    """Creating the middleware with an unknown word in the environment raises."""
    monkeypatch.setenv(name, value)
    with pytest.raises(PolicyError, match=f"{name} {said}"):
        LenientMiddleware()


@pytest.mark.parametrize(
    ("policy", "hints", "ran"),
    [
        pytest.param(Policy(), None, False, id="unmarked"),
        pytest.param(Policy(), {"destructiveHint": False}, False, id="marked harmless"),
        pytest.param(Policy(), {"readOnlyHint": True}, True, id="read only"),
        pytest.param(Policy(destructive=False), None, True, id="the policy says no"),
    ],
)
async def test_the_environment_makes_unmarked_tools_destructive(monkeypatch, policy, hints, ran):
    """``unless_read_only`` applies to every policy that leaves the field at its default, in any case."""
    monkeypatch.setenv("MCP_LENIENT_DESTRUCTIVE", "Unless_Read_Only")
    by_author = plain()
    by_author.tool(decorated(policy=policy)(tool), annotations=hints)
    made = Tool.from_function(tool, annotations=hints)
    for server in (lenient(made, policy=policy), lenient(made, patterns={"*": policy}), by_author):
        assert (await call(server, "tool", {"tags": "a"})).is_error is not ran
        assert rules(await call(server, "tool", SENT)) == ["json_text_to_array"]


async def test_a_file_of_the_program_replaces_that_of_the_environment(monkeypatch, tmp_path, events: Log):
    """``MCP_LENIENT_CONFIG`` is read only where the program names no file."""
    (tmp_path / "program.yaml").write_text("policy: {mode: repair}", encoding="utf-8")
    (tmp_path / "environment.yaml").write_text("policy: {mode: observe}", encoding="utf-8")
    monkeypatch.setenv("MCP_LENIENT_CONFIG", str(tmp_path / "environment.yaml"))
    for settings in ({}, {"definitions": tmp_path / "program.yaml"}):
        server = plain(tool)
        server.add_middleware(LenientMiddleware(**settings))
        await call(server, "tool", SENT)
    assert events.names == ["call_observed", "call_repaired"]
