"""``MCP_LENIENT_MODE``, ``MCP_LENIENT_DESTRUCTIVE`` and ``MCP_LENIENT_CONFIG``."""

from __future__ import annotations

import pytest
from calls import Log, call, lenient, published, rules
from fastmcp import FastMCP
from fastmcp.tools import Tool

from mcp_lenient import LenientMiddleware, Policy
from mcp_lenient import lenient as decorated
from mcp_lenient.errors import PolicyError

SENT = {"tags": '["a"]'}


def tool(tags: list[str] | str) -> object:
    """Accept text as well as a list."""
    return tags


def strict_tool(tags: list[str]) -> object:
    """Accept only a list."""
    return tags


@pytest.mark.parametrize("mode", ["off", "observe"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"policy": Policy()}, {"patterns": {"*": Policy()}}],
    ids=["defaults", "policy", "pattern"],
)
async def test_the_environment_stops_repairs(monkeypatch, events: Log, mode, settings):
    """The mode overrides the program's policies: calls are not repaired, only logged in observe mode."""
    monkeypatch.setenv("MCP_LENIENT_MODE", mode)
    assert (await call(lenient(strict_tool, **settings), "strict_tool", SENT)).is_error
    assert events.names == (["call_observed"] if mode == "observe" else [])


@pytest.mark.parametrize("mode", ["OFF", "Off", " off "])
async def test_the_mode_is_read_in_any_case(monkeypatch, events: Log, mode):
    """Case and outer spaces do not matter."""
    monkeypatch.setenv("MCP_LENIENT_MODE", mode)
    assert (await call(lenient(strict_tool), "strict_tool", SENT)).is_error
    assert events.names == []


@pytest.mark.parametrize("mode", ["off", "observe"])
async def test_the_environment_stops_decorated_tools(monkeypatch, mode):
    """Calls of a decorated tool are not repaired."""
    monkeypatch.setenv("MCP_LENIENT_MODE", mode)
    server: FastMCP = FastMCP("decorated")
    server.tool(decorated(strict_tool))
    assert (await call(server, "strict_tool", SENT)).is_error


async def test_the_environment_only_restricts(monkeypatch):
    """``repair`` does not turn on a tool that a pattern turns off."""
    monkeypatch.setenv("MCP_LENIENT_MODE", "repair")
    off = lenient(strict_tool, patterns={"*": Policy(mode="off")})
    assert (await call(off, "strict_tool", SENT)).is_error
    assert rules(await call(lenient(strict_tool), "strict_tool", SENT)) == ["json_text_to_array"]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("MCP_LENIENT_MODE", "of", "must be one of 'off', 'observe', 'repair', got 'of'"),
        ("MCP_LENIENT_DESTRUCTIVE", "true", "must be one of 'if_marked', 'unless_read_only', got 'true'"),
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
    made = Tool.from_function(strict_tool, annotations=hints)
    for settings in ({"policy": policy}, {"patterns": {"*": policy}}):
        server = lenient(made, **settings)
        assert (await call(server, "strict_tool", {"tags": "a"})).is_error is not ran
        assert rules(await call(server, "strict_tool", SENT)) == ["json_text_to_array"]


async def test_the_environment_makes_decorated_tools_destructive(monkeypatch):
    """``unless_read_only`` applies to ``@lenient`` without the middleware, too."""
    monkeypatch.setenv("MCP_LENIENT_DESTRUCTIVE", "unless_read_only")
    for hints, ran in ((None, False), ({"readOnlyHint": True}, True)):
        server: FastMCP = FastMCP("decorated")
        server.tool(decorated(strict_tool), annotations=hints)
        assert (await call(server, "strict_tool", {"tags": "a"})).is_error is not ran


@pytest.mark.parametrize(
    ("settings", "mode"),
    [
        pytest.param({}, "observe", id="environment"),
        pytest.param({"definitions": "program.yaml"}, "repair", id="file"),
        pytest.param({"definitions": "program.yaml", "mode": "off"}, "off", id="constructor"),
    ],
)
async def test_the_constructor_precedes_the_file_and_that_the_environment(
    monkeypatch, tmp_path, events: Log, settings, mode
):
    """A file that the program names replaces that of the environment, and arguments override both."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.yaml").write_text("policy: {mode: repair}", encoding="utf-8")
    (tmp_path / "environment.yaml").write_text("policy: {mode: observe}", encoding="utf-8")
    monkeypatch.setenv("MCP_LENIENT_CONFIG", "environment.yaml")
    server: FastMCP = FastMCP("precedence")
    server.tool(strict_tool)
    server.add_middleware(LenientMiddleware(**settings))
    await call(server, "strict_tool", SENT)
    assert events.names == {"repair": ["call_repaired"], "observe": ["call_observed"], "off": []}[mode]


@pytest.mark.parametrize(
    ("server_wide", "pattern", "refuses"),
    [
        pytest.param(Policy(), None, False, id="default"),
        pytest.param(Policy(unrepairable="refuse"), None, True, id="server-wide"),
        pytest.param(Policy(unrepairable="refuse"), Policy(), True, id="pattern that says nothing"),
        pytest.param(Policy(unrepairable="refuse"), Policy(unrepairable="forward"), False, id="pattern"),
    ],
)
async def test_an_unset_mode_has_its_default(events: Log, server_wide, pattern, refuses):
    """``unrepairable`` comes from the pattern, else from the server-wide policy, and defaults to forward."""
    server = lenient(
        published(n={"type": "integer"}), policy=server_wide, patterns={"*": pattern} if pattern else None
    )
    await call(server, "own", {"n": "x"})
    assert events.names == ["call_rejected" if refuses else "call_forwarded"]
