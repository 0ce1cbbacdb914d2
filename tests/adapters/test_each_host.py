"""What every host does with a call, in one table of outcomes."""

from __future__ import annotations

import json

import pytest
from adapters.hosts import EACH, HOSTS, LISTING, calls, session
from calls import Log
from fastmcp_versions import RAW, skip_on_3

from mcp_lenient import Policy

NEAR = {"text": "a", "tags": "['b']"}


@EACH
async def test_right_nearly_right_and_wrong_calls(host, events: Log):
    """A right call is unchanged, a nearly right one repaired, and a wrong one refused; each is one event."""
    async with host() as call:
        right, near = await call({"text": "a", "tags": ["b"]}), await call({"Text": "a", "tags": "['b']"})
        wrong = await call({"text": "a", "tags": 5})
    assert (right.status, right.rules, right.noted.keys() - {"repairs"}) == ("ran", [], set())
    assert (near.status, near.rules) == ("ran", ["json5_text_to_array", "rename_case"])
    assert near.text in (right.text, "{'text': 'a', 'tags': ['b']}")
    assert (wrong.status, wrong.noted["error_code"]) == ("refused", "INVALID_TAGS_TYPE")
    assert json.loads(wrong.text)["message"] == wrong.noted["message"]
    assert events.names == ["call_accepted", "call_repaired", "call_rejected"]


@EACH
async def test_arguments_may_be_one_text(host):
    """The text of an object is read, with its numbers as they are written; anything else is refused."""
    if host is not calls:
        skip_on_3(RAW)
    async with host() as call:
        answer = await call('{"text": 3.140}')
        assert (answer.status, "3.140" in answer.text) == ("ran", True)
        assert "json_text_to_object" in answer.rules
        for sent, code in (
            ('["a"]', "INVALID_ARGUMENTS"),
            ('{"text', "CUT_OFF"),
            (5, "INVALID_ARGUMENTS"),
        ):
            answer = await call(sent)
            assert (answer.status, answer.noted["error_code"]) == ("refused", code)


@LISTING
async def test_a_tool_name_in_another_spelling_is_repaired(host, events: Log):
    """The listed tool runs; the result and the log name the repair."""
    async with host() as call:
        answer = await call(NEAR, "Store")
    assert (answer.status, answer.rules) == ("ran", ["json5_text_to_array", "rename_tool"])
    assert [(event["event"], event["tool"]) for event in events] == [("call_repaired", "store")]


@pytest.mark.parametrize(
    "host", [each for each in HOSTS if each not in (calls, session)], ids=lambda host: host.__name__
)
async def test_an_unknown_tool_is_refused_with_a_suggestion(host, events: Log):
    """A server that refuses what cannot be repaired refuses a name that it does not list, and names the likely one."""
    async with host() as call:
        answer = await call({}, "stor")
    assert (answer.noted["error_code"], answer.noted["details"]["did_you_mean"]) == (
        "UNKNOWN_TOOL",
        ["store"],
    )
    assert events.names == ["call_rejected"]


@EACH
@pytest.mark.parametrize(
    ("by", "mode", "logged"),
    [
        ("policy", "observe", ["call_observed"]),
        ("environment", "observe", ["call_observed"]),
        ("setting", "observe", ["call_observed"]),
        ("policy", "off", []),
    ],
)
async def test_other_modes_change_nothing(host, by, mode, logged, events: Log, monkeypatch):
    """In observe and off mode the call is passed on as it is; the environment overrides every policy."""
    if by == "environment":
        monkeypatch.setenv("MCP_LENIENT_MODE", mode)
    patterns = {"tools": {"*": Policy(mode=mode) if by == "policy" else Policy()}}
    async with host(**({"mode": mode} if by == "setting" else patterns)) as call:
        answer = await call(NEAR)
    assert (answer.noted.get("error_code"), answer.rules) == (None, [])
    # Without the server's own refusal behind a proxy.
    assert [name for name in events.names if name != "call_refused_upstream"] == logged


@EACH
async def test_a_policy_by_tool_name_wins(host):
    """The first matching pattern sets the policy."""
    async with host(tools={"st*": Policy.strict(), "*": Policy()}) as call:
        assert (await call(NEAR)).noted["error_code"] == "INVALID_TAGS_TYPE"


@EACH
async def test_the_environment_names_a_file(host, monkeypatch, tmp_path):
    """The definitions of that file apply if the program names none."""
    file = tmp_path / "lenient.yaml"
    file.write_text("tools: {store: {parameters: {text: {aliases: [body]}}}}", encoding="utf-8")
    monkeypatch.setenv("MCP_LENIENT_CONFIG", str(file))
    async with host() as call:
        assert (await call({"body": "a"})).rules == ["rename_alias"]


@LISTING
async def test_the_model_is_told_in_the_language_of_the_policy(host):
    """Notes about repairs and refusals are translated."""
    async with host(tools={"*": Policy(tell_model=True, language="zh")}) as call:
        assert (await call(NEAR)).text.startswith("注意：'tags'")
        assert "'text' 是必需的" in (await call({})).noted["message"]
