"""The options of a policy: modes, patterns, rules, limits and destructive tools."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from calls import Log, Recorder, call, code, envelope, got, lenient, plain, published, rules
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool

from mcp_lenient import LenientMiddleware, Limits, Policy
from mcp_lenient.errors import PolicyError


def tool(tags: list[str], limit: int = 3) -> Any:
    """A tool."""
    return {"tags": tags, "limit": limit}


CALLS = {
    "right": {"tags": ["a"]},
    "near": {"tags": '["a"]'},
    "two_faults": {"tags": "a", "Limit": "5"},
    "wrong": {"tags": 5},
    "missing": {},
    "unknown": {"tags": [], "colour": 1},
}


@pytest.mark.parametrize("mode", ["off", "observe"])
@pytest.mark.parametrize("arguments", CALLS.values(), ids=CALLS.keys())
async def test_off_and_observe_change_nothing(mode, arguments, events: Log):
    """In off and observe mode, FastMCP answers every call, and inner middleware sees the sent arguments."""
    recorder = Recorder()
    server = lenient(tool, policy=Policy(mode=mode))
    server.add_middleware(recorder)
    expected = await call(plain(tool), "tool", arguments)
    result = await call(server, "tool", arguments)
    assert (result.is_error, result.content) == (expected.is_error, expected.content)
    assert "mcp_lenient" not in (result.meta or {})
    assert recorder.arguments == [arguments]
    assert len(events) == (mode == "observe")


@pytest.mark.parametrize(
    ("arguments", "event", "repaired", "error_code"),
    [
        ("right", "call_accepted", [], None),
        ("near", "call_observed", ["json_text_to_array"], None),
        ("two_faults", "call_observed", ["scalar_to_array", "rename_case"], None),
        ("wrong", "call_observed", [], "INVALID_TAGS_TYPE"),
        ("missing", "call_observed", [], "MISSING_TAGS"),
        ("unknown", "call_observed", [], "UNKNOWN_PARAMETER"),
    ],
)
async def test_observe_mode_logs_the_repairs_it_would_make(
    arguments, event, repaired, error_code, events: Log
):
    """The event lists the repairs, or the error code, that repair mode would have given."""
    await call(lenient(tool, policy=Policy(mode="observe")), "tool", CALLS[arguments])
    (logged,) = events
    assert logged["event"] == event
    assert {repair["rule"] for repair in logged.get("repairs", [])} >= set(repaired)
    assert logged.get("error_code") == error_code


def _named(name: str) -> Tool:
    return Tool.from_function(tool, name=name)


async def test_the_first_pattern_that_matches_decides():
    """Patterns are tried in order; a tool that matches none has the server's policy."""
    patterns = {"delete_user": Policy(), "delete_*": Policy.strict(), "*_user": Policy(mode="off")}
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


@pytest.mark.parametrize("name", ["scalar_to_array", "rename_case"])
async def test_a_disabled_rule_does_nothing(name):
    """A disabled rule is not applied, and the others still are."""
    server = lenient(tool, policy=Policy(disable={name}))
    scalar = await call(server, "tool", {"tags": "a"})
    renamed = await call(server, "tool", {"Tags": ["a"]})
    assert scalar.is_error is (name == "scalar_to_array")
    assert renamed.is_error is (name == "rename_case")


@pytest.mark.parametrize("arguments", [call for name, call in CALLS.items() if name != "right"])
async def test_strict_repairs_nothing_and_reports_everything(arguments):
    """``Policy.strict()`` refuses wrong calls with an envelope, for function and custom tools alike."""
    own = published("own", tags={"type": "array", "items": {"type": "string"}})
    server = lenient(tool, own, policy=Policy.strict())
    for name in ("tool", "own"):
        assert envelope(await call(server, name, arguments))["details"]["repairs"] == []
    assert rules(await call(server, "own", {"tags": ["a"]})) == []


async def test_operators_declare_aliases_and_dropped_names():
    """Names listed in the policy are renamed and dropped."""
    server = lenient(tool, policy=Policy(aliases={"tags": ("labels",)}, drop={"colour"}))
    result = await call(server, "tool", {"labels": ["a"], "colour": "red"})
    assert got(result) == {"tags": ["a"], "limit": 3}
    assert sorted(rules(result)) == ["drop_injected", "rename_alias"]


async def test_the_envelope_echoes_values_only_if_allowed():
    """Values are echoed by default, but not with ``echo_values=False`` and not for secrets."""
    for policy, echoed in (
        (Policy(), True),
        (Policy(echo_values=False), False),
        (Policy(secret={"limit"}), False),
    ):
        refused = await call(lenient(tool, policy=policy), "tool", {"tags": [], "limit": 3.25})
        assert ("3.25" in str(refused)) is echoed


async def test_too_large_calls_are_refused():
    """A call beyond the limits is refused with its own code, unless the tool accepts it unchanged."""
    server = lenient(tool, policy=Policy(limits=Limits(items=5, depth=3)))
    for tags in ([1] * 10, [[[["a"]]]]):
        assert code(await call(server, "tool", {"tags": tags})) == "ARGUMENTS_TOO_LARGE"
    assert rules(await call(server, "tool", {"tags": ["a"] * 10})) == []
    assert rules(await call(server, "tool", {"tags": '["a"]'})) == ["json_text_to_array"]


async def test_an_unrepairable_call_is_forwarded_by_default(events: Log):
    """A custom tool, which may accept more than it publishes, gets the call unchanged; the event says so."""
    server = lenient(published(n={"type": "integer"}))
    sent = {"n": "many", "more": ["x"]}
    assert got(await call(server, "own", sent)) == {"got": sent}
    (event,) = events
    assert event["event"] == "call_forwarded"
    assert {violation["pointer"] for violation in event["violations"]} == {"/n", "/more"}


async def test_an_unrepairable_call_is_refused_on_request():
    """With ``unrepairable="refuse"``, the published schema decides, and the tool is not run."""
    recorder = Recorder()
    server = lenient(published(n={"type": "integer"}), policy=Policy(unrepairable="refuse"))
    server.add_middleware(recorder)
    assert code(await call(server, "own", {"n": "many"})) == "INVALID_N_TYPE"
    assert recorder.arguments == []


@pytest.mark.parametrize(
    ("arguments", "options", "named"),
    [(({},), {}, "policy"), ((), {"tools": {"a*": "off"}}, r"tools\['a\*'\]")],
)
def test_the_middleware_accepts_only_policies(arguments, options, named):
    """The error names the argument, or the pattern."""
    with pytest.raises((PolicyError, TypeError), match=f"{named} must be a Policy"):
        LenientMiddleware(*arguments, **options)


async def test_a_tool_whose_schema_cannot_be_compiled_stays_callable(events: Log, caplog):
    """Its calls are passed on unchanged, and one warning names the tool and the reason."""
    caplog.set_level(logging.CRITICAL, logger="fastmcp")
    server = lenient(published("odd", n={"type": "float"}), published(n={"type": "integer"}))
    for sent in ({"n": "5"}, {"n": "5", "more": 1}, {}):
        result = await call(server, "odd", sent)
        assert got(result) == {"got": sent}
        assert rules(result) == []
    assert rules(await call(server, "own", {"n": "5"})) == ["text_to_integer"]
    warnings = [event for event in events if event["level"] == "warning"]
    assert [(event["event"], event["subject"]) for event in warnings] == [("tool_not_compiled", "odd")]


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


async def test_a_policy_by_tool_keeps_the_secrets_of_the_server():
    """A policy for some tools does not echo values that the server's policy keeps secret."""
    server = FastMCP("shop")
    server.add_middleware(
        LenientMiddleware(policy=Policy(secret={"codeword"}), tools={"pay_*": Policy.strict()})
    )

    @server.tool
    def pay_bill(codeword: int) -> int:
        return codeword

    async with Client(server) as client:
        answer = await client.call_tool("pay_bill", {"codeword": "open sesame"}, raise_on_error=False)
    assert answer.is_error
    assert "sesame" not in answer.content[0].text
