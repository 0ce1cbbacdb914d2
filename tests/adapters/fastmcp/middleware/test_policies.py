"""The options of a policy: modes, patterns, rules, limits and destructive tools."""

from __future__ import annotations

from typing import Any

import pytest
from calls import Log, Recorder, call, code, got, lenient, plain, published, rules
from fastmcp import FastMCP
from fastmcp.tools import Tool

from mcp_lenient import LenientMiddleware, Policy
from mcp_lenient.errors import PolicyError


def tool(tags: list[str], limit: int = 3) -> Any:
    """A tool."""
    return {"tags": tags, "limit": limit}


CALLS: list[tuple[dict[str, Any], set[str], str | None]] = [
    ({"tags": ["a"]}, set(), None),
    ({"tags": '["a"]', "Limit": "5"}, {"json_text_to_array", "rename_case"}, None),
    ({"tags": 5}, set(), "INVALID_TAGS_TYPE"),
    ({}, set(), "MISSING_TAGS"),
    ({"tags": [], "colour": 1}, set(), "UNKNOWN_PARAMETER"),
]


@pytest.mark.parametrize("mode", ["off", "observe"])
async def test_off_and_observe_change_nothing(mode, events: Log):
    """FastMCP answers every call as sent; in observe mode the event has what repair mode would have found."""
    recorder = Recorder()
    server = lenient(tool, policy=Policy(mode=mode))
    server.add_middleware(recorder)
    for sent, found, error in CALLS:
        events.clear()
        expected, result = await call(plain(tool), "tool", sent), await call(server, "tool", sent)
        assert (result.is_error, result.content) == (expected.is_error, expected.content)
        assert "mcp_lenient" not in (result.meta or {})
        assert recorder.arguments.pop() == sent
        logged = [
            ({each["rule"] for each in event.get("repairs", ())}, event.get("error_code")) for event in events
        ]
        assert logged == ([(found, error)] if mode == "observe" else [])
        accepted = "call_observed" if found or error else "call_accepted"
        assert events.names == [accepted] * (mode == "observe")


def _named(name: str) -> Tool:
    return Tool.from_function(tool, name=name)


async def test_the_first_pattern_that_matches_decides():
    """Patterns are tried in order; a tool that matches none has the server's policy."""
    patterns = {"delete_user": Policy(disable=()), "delete_*": Policy.strict(), "*_user": Policy(mode="off")}
    names = ["delete_user", "delete_all", "find_user", "find_all"]
    server = lenient(*map(_named, names), patterns=patterns, policy=Policy(disable={"json_text_to_array"}))
    results = {name: await call(server, name, {"tags": '["a"]'}) for name in names}
    assert rules(results["delete_user"]) == ["json_text_to_array"]
    assert code(results["delete_all"]) == "INVALID_TAGS_TYPE"
    assert "mcp_lenient" not in (results["find_user"].meta or {})
    assert code(results["find_all"]) == "INVALID_TAGS_TYPE"


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [("ns_*", True), ("tool", False), ("ns_too[ln]", True), ("NS_*", False), ("??_tool", True)],
)
async def test_a_pattern_matches_the_published_name(pattern, matches):
    """A pattern is matched against a mounted tool's name with its namespace, and case matters."""
    server = lenient(patterns={pattern: Policy.strict()})
    server.mount(plain(tool, name="child"), namespace="ns")
    assert (await call(server, "ns_tool", {"tags": '["a"]'})).is_error is matches


REFUSE, FORWARD = Policy(unrepairable="refuse"), Policy(unrepairable="forward")


@pytest.mark.parametrize(
    ("policy", "pattern", "forwards"),
    [(None, None, True), (REFUSE, None, False), (REFUSE, Policy(), False), (REFUSE, FORWARD, True)],
    ids=["default", "server-wide", "pattern that says nothing", "pattern"],
)
async def test_the_policy_decides_about_unrepairable_calls(policy, pattern, forwards, events: Log):
    """A custom tool, which may accept more than it publishes, gets the call as sent, or is not run."""
    sent = {"n": "many", "more": ["x"]}
    patterns = {"*": pattern} if pattern else None
    result = await call(
        lenient(published(n={"type": "integer"}), policy=policy, patterns=patterns), "own", sent
    )
    (event,) = events
    assert event["event"] == ("call_forwarded" if forwards else "call_rejected")
    assert {violation["pointer"] for violation in event["violations"]} == {"/n", "/more"}
    if forwards:
        assert got(result) == {"got": sent}
    else:
        assert code(result) == "INVALID_ARGUMENTS"


@pytest.mark.parametrize(
    ("arguments", "options", "named"),
    [(({},), {}, "policy"), ((), {"tools": {"a*": "off"}}, r"tools\['a\*'\]")],
)
def test_the_middleware_accepts_only_policies(arguments, options, named):
    """The error names the argument, or the pattern."""
    with pytest.raises((PolicyError, TypeError), match=f"{named} must be a Policy"):
        LenientMiddleware(*arguments, **options)


async def test_a_function_with_an_unreadable_schema_uses_its_own_validator(events: Log):
    """Calls that the function accepts run even if its published schema is unreadable."""
    odd = Tool.from_function(tool, name="odd")
    odd.parameters = {
        **odd.parameters,
        "properties": {**odd.parameters["properties"], "tags": {"type": "lst"}},
    }
    server: FastMCP = lenient(odd)
    assert got(await call(server, "odd", {"tags": ["a"]})) == {"tags": ["a"], "limit": 3}
    assert (await call(server, "odd", {"tags": 5})).is_error
    assert events.names.count("tool_not_compiled") <= 1
