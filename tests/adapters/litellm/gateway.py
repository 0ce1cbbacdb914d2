"""Tests of ``LenientCallback`` in LiteLLM's gateway; ``test_gateway.py`` runs them separately."""

import asyncio
import io
import json
import os
import sys
import tempfile
import urllib.error
import urllib.request
from contextlib import redirect_stdout
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

from benchmarks.hosts.log import events_of, read_events
from examples.litellm_gateway.run import connected, converse, started
from mcp_lenient.adapters.litellm import LenientCallback, lenient_callback, private_gateway
from tests.adapters.running import failure_of

SCHEMA = {
    "type": "object",
    "properties": {"tags": {"type": "array", "items": {"type": "string"}}, "n": {"type": "integer"}},
    "required": ["tags"],
}


class Gateway:
    """The gateway of the example, with a client and the log."""

    def __init__(self, client: Any, url: str, key: str, log: Path) -> None:
        self.client, self.url, self.key, self.log = client, url, key, log
        self.seen = 0

    async def call(self, tool: str, arguments: Any) -> Any:
        """Return the result of a call."""
        return await self.client.call_tool(f"notes-{tool}", arguments)

    def events(self) -> list[dict[str, Any]]:
        """Return the new events since the last call of this method."""
        events = read_events(self.log)[self.seen :]
        self.seen += len(events)
        return events


def text(result: Any) -> str:
    """Return the text of a call that ran."""
    assert not result.is_error, result
    said: str = result.content[0].text
    return said


def refusal(result: Any) -> dict[str, Any]:
    """Return the envelope, which must be the whole text."""
    assert result.is_error
    reported: dict[str, Any] = json.loads(result.content[0].text)
    assert reported["status"] == "error"
    return reported


async def test_right_nearly_right_and_wrong_calls(gateway: Gateway) -> None:
    """The upstream server gets right and repaired calls; a refusal's whole text is JSON with the tool's name as sent."""
    gateway.events()
    sent = [{"content": "x", "tags": ["a"]}, {"Content": "x", "tags": "['a']", "max_results": None}]
    ran = [json.loads(text(await gateway.call("store", each))) for each in sent]
    reported = refusal(await gateway.call("store", {"content": "x", "tags": 5}))
    assert ran == [{"content": "x", "tags": ["a"], "max_results": 10}] * 2
    assert reported["error_code"] == "INVALID_TAGS_TYPE"
    assert "'notes-store'" in reported["message"]
    events = gateway.events()
    assert [each["event"] for each in events] == ["call_accepted", "call_repaired", "call_rejected"]
    assert (events[1]["server"], events[1]["tool"]) == ("notes", "notes-store")
    rules = sorted(each["rule"] for each in events[1]["repairs"])
    assert rules == ["json5_text_to_array", "null_to_absent", "rename_case"]


async def test_fully_dropped_arguments_are_sent_as_an_empty_object(gateway: Gateway) -> None:
    """If all arguments are dropped, the gateway sends an empty object, not the original arguments."""
    assert text(await gateway.call("recent", {"max_results": None})) == "the newest 10"


async def test_policies_match_server_and_tool(gateway: Gateway) -> None:
    """The example's strict policy for ``delete_note`` applies."""
    assert refusal(await gateway.call("delete_note", {"number": "7"}))["error_code"] == "INVALID_NUMBER_TYPE"
    assert text(await gateway.call("delete_note", {"number": 7})) == "removed 7"


async def test_a_destructive_tool_gets_fewer_repairs(gateway: Gateway) -> None:
    """The destructive hint, which hooks do not get, is read from the gateway's tool list."""
    assert refusal(await gateway.call("clear", {"keep": None}))["error_code"] == "INVALID_KEEP_TYPE"
    assert text(await gateway.call("clear", {"keep": "3"})) == "kept 3"


async def test_the_example_prints_its_results(gateway: Gateway) -> None:
    """The example prints two results and two refusals."""
    said = io.StringIO()
    with redirect_stdout(said):
        await converse(gateway.client)
    printed = [line.split(":")[0].strip() for line in said.getvalue().splitlines()[1::2]]
    assert printed == ["ran", "ran", "refused", "refused"]


async def test_the_gateway_answers_an_unknown_tool(gateway: Gateway) -> None:
    """The gateway does not call its hooks for an unknown tool."""
    gateway.events()
    assert (await gateway.call("stor", {})).is_error
    assert gateway.events() == []


async def test_the_gateways_http_interface_carries_the_envelope(gateway: Gateway) -> None:
    """The gateway's own error has the envelope as its message."""
    listed = await asyncio.to_thread(asked, gateway, "list")
    server = next(each["mcp_info"]["server_id"] for each in listed["tools"] if "mcp_info" in each)
    body = {"server_id": server, "name": "store", "arguments": {"content": "x", "tags": 5}}
    answered = await asyncio.to_thread(asked, gateway, "call", body)
    assert json.loads(answered["detail"]["message"])["error_code"] == "INVALID_TAGS_TYPE"


def asked(gateway: Gateway, what: str, body: Any = None) -> Any:
    """Return the answer of the gateway's own HTTP interface, including errors."""
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
    """Return the callback's answer to a call from the gateway."""
    whole = {"mcp_tool_name": "keep", "mcp_server_name": "notes", "mcp_input_schema": SCHEMA, **data}
    call_type = whole.pop("call_type", "call_mcp_tool")
    return asyncio.run(callback.async_pre_call_hook(None, None, whole, call_type))


def test_only_tool_calls_are_checked() -> None:
    """Model calls, tool lists, unlisted tools and valid calls are not changed."""
    sent = {"tags": "a"}
    assert hook(lenient_callback, mcp_arguments=sent, call_type="acompletion") is None
    assert hook(lenient_callback, mcp_arguments=sent, call_type="list_mcp_tools") is None
    assert hook(lenient_callback, mcp_arguments=sent, mcp_input_schema=None) is None
    assert hook(lenient_callback, mcp_arguments={"tags": ["a"]}) is None


def test_later_guardrails_see_repaired_arguments() -> None:
    """All places where guardrails read the arguments have the repaired ones."""
    sent = {"tags": "a"}
    message = {"role": "user", "content": f"Tool: keep\nArguments: {sent}"}
    changed = hook(lenient_callback, mcp_arguments=sent, messages=[message])
    assert changed["modified_arguments"] == changed["mcp_arguments"] == {"tags": ["a"]}
    assert changed["messages"][0]["content"] == "Tool: keep\nArguments: {'tags': ['a']}"
    assert sent == {"tags": "a"}


def test_arguments_changed_by_an_earlier_guardrail_are_validated() -> None:
    """The arguments that an earlier guardrail set are repaired."""
    sent = {"mcp_arguments": {"tags": ["secret"]}, "modified_arguments": {"tags": "masked"}}
    assert hook(lenient_callback, **sent)["modified_arguments"] == {"tags": ["masked"]}


def test_invalid_arguments_are_forwarded_by_default() -> None:
    """By default, an unrepairable call is forwarded, since the server may accept more than it publishes."""
    with events_of() as events:
        assert hook(lenient_callback, mcp_arguments={"tags": 5}) is None
    assert [each["event"] for each in events] == ["call_forwarded"]


def test_settings_apply() -> None:
    """Decisions have the tool name that the client sent; definitions of the file for other servers cause no warning."""
    decisions: list[Any] = []
    with tempfile.TemporaryDirectory() as folder, events_of() as events:
        file = Path(folder) / "tools.yaml"
        declared = "tools: {notes/keep: {parameters: {tags: {aliases: [labels]}}}, other/keep: {}}"
        file.write_text(declared, encoding="utf-8")
        callback = LenientCallback(definitions=file, on_decision=decisions.append, decision_values=True)
        assert hook(callback, mcp_arguments={"labels": ["a"]})["modified_arguments"] == {"tags": ["a"]}
        assert hook(callback, mcp_arguments={"words": ["a"]}) is None
    assert [each["event"] for each in events] == ["call_repaired", "call_forwarded"]
    assert [(each.tool, each.status, each.arguments) for each in decisions] == [
        ("keep", "repaired", {"tags": ["a"]}),
        ("keep", "refused", {"words": ["a"]}),
    ]


def test_a_changed_schema_applies_to_the_next_call() -> None:
    """A call is repaired for the tool's current schema only."""
    assert hook(lenient_callback, mcp_arguments={"tags": "a"})["modified_arguments"] == {"tags": ["a"]}
    free = {"type": "object", "properties": {"tags": {}}}
    assert hook(lenient_callback, mcp_arguments={"tags": "a"}, mcp_input_schema=free) is None


def test_events_identify_the_caller() -> None:
    """Events have the tool as the client named it, the user of the API key, and the session id if there is one."""
    metadata = {"headers": {"mcp-session-id": "s1"}}
    with events_of() as events:
        hook(lenient_callback, mcp_arguments={"tags": "a"}, metadata=metadata, user_api_key_user_id="ann")
    assert (events[0]["server"], events[0]["subject"], events[0]["session_id"]) == ("notes", "ann", "s1")
    assert private_gateway.called_name({}, "keep") == events[0]["tool"] == "keep"


def test_a_refusal_uses_what_the_gateway_sends_unchanged() -> None:
    """LiteLLM's private exception still exists; without it, the HTTP error's detail is the envelope as text."""
    error = private_gateway.refusal("notes", "CODE", '{"status":"error"}')
    assert (type(error).__name__, str(error)) == ("MCPMissingUserEnvVarsError", '{"status":"error"}')
    assert private_gateway._http_error('{"status":"error"}').detail == '{"status":"error"}'


async def outcomes(tests: dict[str, Any]) -> dict[str, str | None]:
    """Return the traceback of each test, or None if it passed; those that are asynchronous need the gateway."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "events.jsonl"
        with started(str(log)) as (url, key):
            async with connected(url, key) as client:
                gateway = Gateway(client, url, key, log)
                return {
                    name: await failure_of(
                        test(gateway) if iscoroutinefunction(test) else asyncio.to_thread(test)
                    )
                    for name, test in tests.items()
                }


if __name__ == "__main__":
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    tests = {name: each for name, each in globals().items() if name.startswith("test_")}
    sys.stdout.write(json.dumps(asyncio.run(outcomes(tests))) + "\n")
