"""Tests of LenientCallback in LiteLLM's gateway: run in its own environment by ``test_gateway.py``, which reads what this prints."""

import asyncio
import inspect
import io
import json
import os
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.request
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from benchmarks.hosts.log import events_of, read_events
from examples.litellm_gateway.run import connected, converse, started
from mcp_lenient import Policy
from mcp_lenient.adapters.litellm import LenientCallback, compat, lenient_callback

SCHEMA = {
    "type": "object",
    "properties": {"tags": {"type": "array", "items": {"type": "string"}}, "n": {"type": "integer"}},
    "required": ["tags"],
}


class Gateway:
    """The gateway of the example, with a client and its log."""

    def __init__(self, client: Any, url: str, key: str, log: Path) -> None:
        self.client, self.url, self.key, self.log = client, url, key, log
        self.seen = 0

    async def call(self, tool: str, arguments: Any) -> Any:
        """The result of one call."""
        return await self.client.call_tool(f"notes-{tool}", arguments)

    def events(self) -> list[dict[str, Any]]:
        """The events since the last time."""
        events = read_events(self.log)[self.seen :]
        self.seen += len(events)
        return events


def text(result: Any) -> str:
    """What a call that ran returned."""
    assert not result.is_error, result
    said: str = result.content[0].text
    return said


def refusal(result: Any) -> dict[str, Any]:
    """The envelope, which is the whole text."""
    assert result.is_error
    reported: dict[str, Any] = json.loads(result.content[0].text)
    assert reported["status"] == "error"
    return reported


async def test_a_right_call_is_untouched(gateway: Gateway) -> None:
    """It goes on as it came, and is counted as accepted."""
    gateway.events()
    ran = json.loads(text(await gateway.call("store", {"content": "x", "tags": ["a"]})))
    assert ran == {"content": "x", "tags": ["a"], "max_results": 10}
    assert [each["event"] for each in gateway.events()] == ["call_accepted"]


async def test_a_nearly_right_call_is_repaired(gateway: Gateway) -> None:
    """The server behind the gateway gets the call as it was meant; the repairs are in the log."""
    gateway.events()
    ran = json.loads(
        text(await gateway.call("store", {"Content": "x", "tags": "['a']", "max_results": None}))
    )
    assert ran == {"content": "x", "tags": ["a"], "max_results": 10}
    (event,) = gateway.events()
    assert event["event"] == "call_repaired"
    assert event["server"] == "notes"
    assert event["tool"] == "notes-store"
    assert sorted(each["rule"] for each in event["repairs"]) == [
        "json5_text_to_array",
        "null_to_absent",
        "rename_case",
    ]


async def test_fully_dropped_arguments_are_sent_as_an_empty_object(gateway: Gateway) -> None:
    """The gateway takes empty ones for none, unless they say that they are some."""
    assert text(await gateway.call("recent", {"max_results": None})) == "the newest 10"


async def test_a_wrong_call_is_refused_with_the_envelope_alone(gateway: Gateway) -> None:
    """The text is JSON from its first to its last character, and names the tool as the client called it."""
    gateway.events()
    reported = refusal(await gateway.call("store", {"content": "x", "tags": 5}))
    assert reported["error_code"] == "INVALID_TAGS_TYPE"
    assert "'notes-store'" in reported["message"]
    assert [each["event"] for each in gateway.events()] == ["call_rejected"]


async def test_policies_match_server_and_tool(gateway: Gateway) -> None:
    """The example repairs nothing where something is removed."""
    assert refusal(await gateway.call("delete_note", {"number": "7"}))["error_code"] == "INVALID_NUMBER_TYPE"
    assert text(await gateway.call("delete_note", {"number": 7})) == "removed 7"


async def test_a_destructive_tool_gets_fewer_repairs(gateway: Gateway) -> None:
    """Its hint is read from what the gateway has listed, since no hook is given it."""
    assert refusal(await gateway.call("clear", {"keep": None}))["error_code"] == "INVALID_KEEP_TYPE"
    assert text(await gateway.call("clear", {"keep": "3"})) == "kept 3"


async def test_the_example_prints_its_results(gateway: Gateway) -> None:
    """Two run and two are refused."""
    said = io.StringIO()
    with redirect_stdout(said):
        await converse(gateway.client)
    assert [line.split(":")[0].strip() for line in said.getvalue().splitlines()[1::2]] == [
        "ran",
        "ran",
        "refused",
        "refused",
    ]


async def test_the_gateway_answers_an_unknown_tool(gateway: Gateway) -> None:
    """It does not ask its hooks."""
    gateway.events()
    assert (await gateway.call("stor", {})).is_error
    assert gateway.events() == []


async def test_the_gateways_http_interface_carries_the_envelope(gateway: Gateway) -> None:
    """In the message of its own error."""
    listed = await asyncio.to_thread(asked, gateway, "list")
    server = next(each["mcp_info"]["server_id"] for each in listed["tools"] if "mcp_info" in each)
    body = {"server_id": server, "name": "store", "arguments": {"content": "x", "tags": 5}}
    answered = await asyncio.to_thread(asked, gateway, "call", body)
    assert json.loads(answered["detail"]["message"])["error_code"] == "INVALID_TAGS_TYPE"


def asked(gateway: Gateway, what: str, body: Any = None) -> Any:
    """What the gateway's own HTTP interface answers, errors included."""
    request = urllib.request.Request(  # noqa: S310 - loopback
        f"{gateway.url.removesuffix('/mcp/')}/mcp-rest/tools/{what}",
        None if body is None else json.dumps(body).encode(),
        {"Authorization": f"Bearer {gateway.key}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.loads(error.read())


def hook(callback: LenientCallback, **data: Any) -> Any:
    """What the callback makes of a call that the gateway shows it."""
    whole = {"mcp_tool_name": "keep", "mcp_server_name": "notes", "mcp_input_schema": SCHEMA, **data}
    call_type = whole.pop("call_type", "call_mcp_tool")
    return asyncio.run(callback.async_pre_call_hook(None, None, whole, call_type))


def test_the_callback_needs_no_policy() -> None:
    """It may be named in the configuration as it is."""
    assert isinstance(lenient_callback, LenientCallback)


def test_only_tool_calls_are_checked() -> None:
    """Models, lists of tools, and tools that the gateway has not listed pass by."""
    sent = {"tags": "a"}
    assert hook(lenient_callback, mcp_arguments=sent, call_type="acompletion") is None
    assert hook(lenient_callback, mcp_arguments=sent, call_type="list_mcp_tools") is None
    assert hook(lenient_callback, mcp_arguments=sent, mcp_input_schema=None) is None
    assert hook(lenient_callback, mcp_arguments={"tags": ["a"]}) is None


def test_later_guardrails_see_repaired_arguments() -> None:
    """In each place where they look for them."""
    sent = {"tags": "a"}
    message = {"role": "user", "content": f"Tool: keep\nArguments: {sent}"}
    changed = hook(lenient_callback, mcp_arguments=sent, messages=[message])
    assert changed["modified_arguments"] == changed["mcp_arguments"] == {"tags": ["a"]}
    assert changed["messages"][0]["content"] == "Tool: keep\nArguments: {'tags': ['a']}"
    assert sent == {"tags": "a"}


def test_arguments_changed_by_an_earlier_guardrail_are_validated() -> None:
    """It is what would be sent on."""
    changed = hook(
        lenient_callback, mcp_arguments={"tags": ["secret"]}, modified_arguments={"tags": "masked"}
    )
    assert changed["modified_arguments"] == {"tags": ["masked"]}


def test_invalid_arguments_are_forwarded_by_default() -> None:
    """The server may take more than it publishes."""
    with events_of() as events:
        assert hook(lenient_callback, mcp_arguments={"tags": 5}) is None
    assert [each["event"] for each in events] == ["call_forwarded"]


def test_modes_apply() -> None:
    """By the first pattern of server and tool that matches."""
    callback = LenientCallback(tools={"notes/*": Policy(mode="observe"), "*": Policy(mode="off")})
    with events_of() as events:
        assert hook(callback, mcp_arguments={"tags": "a"}) is None
        assert hook(callback, mcp_arguments={"tags": "a"}, mcp_server_name="other") is None
    assert [each["event"] for each in events] == ["call_observed"]


def test_decisions_are_reported() -> None:
    """A function is called with each, by the name that the client called."""
    decisions: list[Any] = []
    callback = LenientCallback(on_decision=decisions.append, decision_values=True)
    hook(callback, mcp_arguments={"tags": "a"})
    hook(callback, mcp_arguments={"tags": 5})
    assert [(each.tool, each.status, each.arguments) for each in decisions] == [
        ("keep", "repaired", {"tags": ["a"]}),
        ("keep", "refused", {"tags": 5}),
    ]


def test_a_changed_definitions_file_applies() -> None:
    """Tools of other servers that it names are nobody's mistake."""
    declared = "tools: {notes/keep: {parameters: {tags: {aliases: [%s]}}}, other/keep: {}}"
    with tempfile.TemporaryDirectory() as folder, events_of() as events:
        file = Path(folder) / "tools.yaml"
        file.write_text(declared % "labels", encoding="utf-8")
        callback = LenientCallback(definitions=file, reload=True)
        assert hook(callback, mcp_arguments={"labels": ["a"]})["modified_arguments"] == {"tags": ["a"]}
        file.write_text(declared % "words", encoding="utf-8")
        time.sleep(1.05)
        assert hook(callback, mcp_arguments={"words": ["a"]})["modified_arguments"] == {"tags": ["a"]}
        assert hook(callback, mcp_arguments={"labels": ["a"]}) is None
    assert [each["event"] for each in events] == ["call_repaired", "call_repaired", "call_forwarded"]


def test_a_changed_schema_applies_at_once() -> None:
    """What a tool of this name published before is forgotten."""
    assert hook(lenient_callback, mcp_arguments={"tags": "a"})["modified_arguments"] == {"tags": ["a"]}
    free = {"type": "object", "properties": {"tags": {}}}
    assert hook(lenient_callback, mcp_arguments={"tags": "a"}, mcp_input_schema=free) is None


def test_events_identify_the_caller() -> None:
    """By the key's user, and the session where there is one."""
    metadata = {"headers": {"mcp-session-id": "s1"}}
    with events_of() as events:
        hook(lenient_callback, mcp_arguments={"tags": "a"}, metadata=metadata, user_api_key_user_id="ann")
    assert (events[0]["server"], events[0]["subject"], events[0]["session_id"]) == ("notes", "ann", "s1")


def test_a_refusal_uses_the_only_exception_sent_unchanged() -> None:
    """This private place of the gateway tells when it moves."""
    error = compat.refusal("notes", "CODE", '{"status":"error"}')
    assert type(error).__name__ == "MCPMissingUserEnvVarsError"
    assert str(error) == '{"status":"error"}'


def test_a_gateway_without_that_exception_gets_the_envelope_as_well() -> None:
    """As a detail that is text, which no version writes as Python writes a dict."""
    assert compat._http_error('{"status":"error"}').detail == '{"status":"error"}'


def test_events_use_the_tool_name_the_client_sent() -> None:
    """Only the gateway's own record of the call has the server's prefix; without one the bare name is told."""
    assert compat.called_name({}, "keep") == "keep"
    with events_of() as events:
        hook(lenient_callback, mcp_arguments={"tags": "a"})
    assert events[0]["tool"] == "keep"


def outcome(test: Any, *given: Any) -> str | None:
    """What went wrong in a test; None where nothing did."""
    try:
        test(*given)
    except BaseException:  # noqa: BLE001 - whatever went wrong is the result
        return traceback.format_exc()
    return None


async def with_gateway(tests: dict[str, Any]) -> dict[str, str | None]:
    """What went wrong in each test that needs the gateway."""
    reported: dict[str, str | None] = {}
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "events.jsonl"
        with started(str(log)) as (url, key):
            async with connected(url, key) as client:
                gateway = Gateway(client, url, key, log)
                for name, test in tests.items():
                    try:
                        await test(gateway)
                    except Exception:  # noqa: BLE001 - as above
                        reported[name] = traceback.format_exc()
                    else:
                        reported[name] = None
    return reported


if __name__ == "__main__":
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    tests = {name: each for name, each in globals().items() if name.startswith("test_")}
    slow = {name: each for name, each in tests.items() if inspect.iscoroutinefunction(each)}
    reported = {name: outcome(each) for name, each in tests.items() if name not in slow}
    reported |= asyncio.run(with_gateway(slow))
    sys.stdout.write(json.dumps(reported) + "\n")
