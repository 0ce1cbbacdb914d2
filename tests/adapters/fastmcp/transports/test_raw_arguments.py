"""``arguments`` that are not an object, over each kind of streamable HTTP."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from adapters.fastmcp.hiding import Hiding
from answers import Message, envelope, result, rules, value
from fastmcp import FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult
from fastmcp_versions import RAW, not_on_3
from mcp.types import INVALID_PARAMS, CallToolRequestParams
from servers.notes import POLICIES, build
from tables import each_row
from wire import ABSENT, Http, call, http

from mcp_lenient import LenientMiddleware, Limits, Policy

pytestmark = not_on_3(RAW)
_KINDS = ["stateful", "stateless", "modern"]
_KEPT = {"text": "kept", "tags": ["a"], "priority": 0}
_JSON = '{"text": "kept", "tags": ["a"]}'
_ONE_TAG = '{"text": "kept", "tags": "a"}'
_SECRET = "s3cr3t"  # noqa: S105 - a word to search for
_CUT_OFF = f'{{"text": "{_SECRET}"'

_RAW = each_row("sent", [_JSON, [], "prose"])


@pytest.fixture(scope="module", params=_KINDS)
def wire(request: pytest.FixtureRequest) -> Iterator[Http]:
    """Return a connection to a lenient server that has already answered a call."""
    with http(build(), request.param) as wire:
        assert value(call(wire, "add_note", {"text": "a"}))
        yield wire


@each_row(
    ("sent", "repaired"),
    [
        pytest.param(_JSON, ["json_text_to_object"], id="json"),
        pytest.param(f"```json\n{_JSON}\n```", ["json_text_to_object"], id="code-fence"),
        pytest.param("{text: 'kept', tags: ['a',], /* all */}", ["json5_text_to_object"], id="json5"),
        pytest.param("{'text': 'kept', 'tags': ('a',)}", ["python_text_to_object"], id="python"),
        pytest.param(_ONE_TAG, ["json_text_to_object", "scalar_to_array"], id="a-repair-inside"),
    ],
)
def test_an_object_in_text_is_parsed(wire, sent, repaired, events):
    """A text that contains one object is parsed as the arguments; result and log list the repair."""
    events.clear()
    answer = call(wire, "add_note", sent)
    assert (value(answer), rules(answer)) == (_KEPT, repaired)
    assert events.names == ["call_repaired"]
    assert [repair["rule"] for repair in events[0]["repairs"]] == repaired
    kind = {"pointer": "", "before": "string", "after": "object"}
    assert events[0]["repairs"][0] == {"rule": repaired[0], **kind}


@each_row("sent", ["", " ", "null"])
def test_an_empty_text_means_no_arguments(wire, sent):
    """An empty text, as some clients send, means no arguments, so that missing ones are reported."""
    assert envelope(call(wire, "add_note", sent))["error_code"] == "MISSING_TEXT"


@each_row(
    ("sent", "kind"),
    [
        pytest.param([{"text": _SECRET}], "array", id="array-of-an-object"),
        pytest.param(f'["{_SECRET}"]', "string", id="array-in-text"),
        pytest.param(1.5, "number", id="number"),
        pytest.param(False, "boolean", id="false"),
        pytest.param(f"{_SECRET} prose", "string", id="prose"),
        pytest.param(_CUT_OFF, "string", id="cut-off"),
        pytest.param(f'{{"text": "{_SECRET}", "text": "b"}}', "string", id="duplicate-key"),
        pytest.param('{"text": "a", "priority": NaN}', "string", id="nan"),
        pytest.param("[" * 100_000, "string", id="bottomless"),
    ],
)
def test_other_values_get_the_envelope(wire, sent, kind, events):
    """Arguments that are not an object get an envelope that says so, and one event; a text is not shown in either."""
    events.clear()
    answer = call(wire, "add_note", sent)
    reported, code = envelope(answer), "CUT_OFF" if sent == _CUT_OFF else "INVALID_ARGUMENTS"
    (violation,) = reported["details"]["violations"]
    assert (violation["pointer"], violation["code"], violation["received_type"]) == ("", "type", kind)
    assert reported["details"]["parameters"]["required"] == ["text"]
    assert [(event["event"], event["error_code"]) for event in events] == [("call_rejected", code)]
    assert _SECRET not in json.dumps([events, answer if kind == "string" else None], default=str)


@each_row("sent", [None, ABSENT, {}])
def test_no_arguments_stay_no_arguments(wire, sent, events):
    """Missing arguments are an empty object, as in the protocol, and nothing is repaired."""
    events.clear()
    answer = call(wire, "ping", sent)
    assert (value(answer), rules(answer)) == ({"result": "pong"}, [])
    assert events.names == ["call_accepted"]


def test_a_refusal_reports_how_the_text_was_parsed(wire, events):
    """If the parsed object is refused, the envelope lists the parsing repair and the violation."""
    reported = envelope(call(wire, "add_note", '{"text": "kept", "tags": 123}'))
    assert reported["error_code"] == "INVALID_TAGS_TYPE"
    assert [repair["rule"] for repair in reported["details"]["repairs"]] == ["json_text_to_object"]
    assert events.names == ["call_rejected"]


@_RAW
def test_an_unknown_tool_is_reported_as_unknown(wire, sent, events):
    """An unknown tool is reported as unknown, whatever the arguments are."""
    events.clear()
    assert envelope(call(wire, "add_notes", sent))["error_code"] == "UNKNOWN_TOOL"
    assert [(event["event"], event["error_code"]) for event in events] == [("call_rejected", "UNKNOWN_TOOL")]


@_RAW
def test_the_sdk_answers_a_call_without_a_name(wire, sent, events):
    """A request without a tool name gets the SDK's error, and is not logged."""
    answer = wire.request("tools/call", {"arguments": sent})
    assert answer["error"]["code"] < 0
    assert events == []


def test_other_requests_with_text_are_not_parsed(wire, events):
    """Text as the arguments of a prompt gets the SDK's error."""
    answer = wire.request("prompts/get", {"name": "none", "arguments": "{}"})
    assert answer["error"]["code"] == INVALID_PARAMS
    assert events == []


def _shape(message: Message) -> tuple[list[str], list[str]]:
    answered = result(message)
    return sorted(answered), sorted(answered["_meta"])


def test_a_refusal_of_raw_arguments_looks_like_any_refusal(wire):
    """Both kinds of refusal have the same fields on the wire, in each protocol era."""
    assert _shape(call(wire, "add_note", [])) == _shape(call(wire, "add_note", {"tags": 1}))


Connect = Callable[[FastMCP], Http]


@contextmanager
def _connecting(kind: str) -> Iterator[Connect]:
    """Yield a function that connects to servers over this kind of HTTP until the test ends, and lists their tools first."""

    def connected(server: FastMCP) -> Http:
        wire = opened.enter_context(http(server, kind))
        wire.request("tools/list", {})
        return wire

    with ExitStack() as opened:
        yield connected


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Return a function that connects over modern HTTP."""
    with _connecting("modern") as connect:
        yield connect


@pytest.fixture(scope="module")
def plain() -> Iterator[Http]:
    """Return a connection to a server without the middleware."""
    with _connecting("modern") as connect:
        yield connect(build(None))


def _outcome(message: Message) -> Any:
    answered = result(message)
    return envelope(message)["error_code"] if answered["isError"] else (value(message), rules(message))


@pytest.mark.parametrize("kind", ["stateless", "modern"])
@each_row(("tool", "sent"), [("add_note", _JSON), ("add_note", "prose"), ("add_notes", _JSON)])
def test_the_sdk_answers_text_in_a_servers_first_message(kind, tool, sent, events):
    """Text that arrives before the hook does gets the SDK's error; the next one is parsed."""
    events.clear()
    with http(build(), kind) as wire:
        assert call(wire, tool, sent)["error"]["code"] == INVALID_PARAMS
        assert events == []
        assert rules(call(wire, "add_note", _JSON)) == ["json_text_to_object"]


@_RAW
def test_off_mode_keeps_the_sdk_error(connect, plain, sent, events):
    """In off mode the answer is the same as without the middleware, and nothing is logged."""
    off = connect(build(POLICIES["off"]))
    for _ in range(2):
        assert call(off, "add_note", sent)["error"] == call(plain, "add_note", sent)["error"]
    assert events == []


@_RAW
def test_observe_mode_changes_nothing_and_logs_the_repair(connect, plain, sent, events):
    """In observe mode the SDK's error stays, and one event per call lists the repairs or the error code."""
    events.clear()
    observed = connect(build(POLICIES["observe"]))
    for _ in range(2):
        assert call(observed, "add_note", sent)["error"] == call(plain, "add_note", sent)["error"]
    assert events.names == ["call_observed"] * 2
    for event in events:
        found = ([repair["rule"] for repair in event.get("repairs", [])], event.get("error_code"))
        assert found == ((["json_text_to_object"], None) if sent == _JSON else ([], "INVALID_ARGUMENTS"))


def test_disabling_json5_parsing(connect):
    """If the JSON5 rule is disabled, a JSON5 text is refused, and a JSON text is still parsed."""
    wire = connect(build(Policy(disable={"json5_text_to_object"})))
    assert _outcome(call(wire, "add_note", "{text: 'kept', tags: ['a']}")) == "INVALID_ARGUMENTS"
    assert value(call(wire, "add_note", _JSON)) == _KEPT


def test_a_text_beyond_the_limit_is_refused(connect):
    """A text longer than the policy's limit is refused with an envelope."""
    wire = connect(build(Policy(limits=Limits(text=20))))
    assert envelope(call(wire, "add_note", _JSON))["details"]["received_type"] == "string"


def test_the_policy_of_the_tool_applies(connect):
    """The policy for the called tool decides whether text is parsed."""
    server = build(None)
    server.add_middleware(LenientMiddleware(tools={"add_*": Policy(mode="off"), "count_*": Policy.strict()}))
    wire = connect(server)
    assert call(wire, "add_note", _JSON)["error"]["code"] == INVALID_PARAMS
    assert envelope(call(wire, "count_words", "{}"))["error_code"] == "INVALID_ARGUMENTS"
    assert rules(call(wire, "ping", "{}")) == ["json_text_to_object"]


def test_two_servers_do_not_share_a_hook(connect, events):
    """Each of two servers applies its own policy and logs its own name."""
    lenient, strict = connect(build(name="one")), connect(build(POLICIES["strict"], name="two"))
    for _ in range(2):
        assert value(call(lenient, "add_note", _JSON)) == _KEPT
        assert envelope(call(strict, "add_note", _JSON))["error_code"] == "INVALID_ARGUMENTS"
    assert [(event["event"], event["server"]) for event in events] == [
        ("call_repaired", "one"),
        ("call_rejected", "two"),
    ] * 2


def test_two_servers_may_share_a_middleware(connect):
    """One middleware added to two servers parses text on both."""
    middleware = LenientMiddleware()
    for name in ("one", "two"):
        server = build(None, name=name)
        server.add_middleware(middleware)
        assert rules(call(connect(server), "add_note", _JSON)) == ["json_text_to_object"]


def test_two_middlewares_parse_once(connect, events):
    """With the middleware added twice, a text is parsed and logged once."""
    server = build()
    server.add_middleware(LenientMiddleware())
    wire = connect(server)
    for _ in range(2):
        assert rules(call(wire, "add_note", _JSON)) == ["json_text_to_object"]
    assert [event["event"] for event in events if event["event"] == "call_repaired"] == ["call_repaired"] * 2


@pytest.mark.parametrize("child_policy", [None, Policy()], ids=["parent-only", "both"])
def test_mounted_tools_may_be_called_with_text(connect, child_policy, events):
    """Text for a tool of a mounted server is parsed once, by the parent's middleware."""
    parent: FastMCP = FastMCP("parent")
    parent.mount(build(child_policy), namespace="sub")
    parent.add_middleware(LenientMiddleware())
    wire = connect(parent)
    for _ in range(2):
        answer = call(wire, "sub_add_note", _JSON)
        assert (value(answer), rules(answer)) == (_KEPT, ["json_text_to_object"])
    assert envelope(call(wire, "sub_add_note", []))["details"]["parameters"]["required"] == ["text"]
    assert events.names == ["call_repaired", "call_repaired", "call_rejected"]


def test_a_nested_call_is_not_recorded_as_text(connect, events):
    """A call made by a tool's body does not report the outer call's parsing repair."""
    server = build()

    @server.tool
    async def outer(tags: list[str]) -> int:
        return len((await server.call_tool("add_note", {"text": "a", "tags": tags})).meta or {})

    wire = connect(server)
    for _ in range(2):
        answer = call(wire, "outer", '{"tags": ["a"]}')
        assert (value(answer), rules(answer)) == ({"result": 0}, ["json_text_to_object"])
    assert [(event["event"], event["tool"]) for event in events if event["level"] != "debug"] == [
        ("call_repaired", "outer")
    ] * 2


class _Filling(Middleware):
    async def on_call_tool(
        self, context: MiddlewareContext[CallToolRequestParams], call_next: CallNext[Any, ToolResult]
    ) -> ToolResult:
        arguments = {**(context.message.arguments or {}), "priority": 3}
        message = context.message.model_copy(update={"arguments": arguments})
        return await call_next(context.copy(message=message))


def test_what_another_middleware_adds_to_a_text_is_kept(connect):
    """The tool gets what an outer middleware added; the repairs tell of the text, too."""
    server = build(None)
    server.add_middleware(_Filling())
    server.add_middleware(LenientMiddleware())
    wire = connect(server)
    for _ in range(2):
        answer = call(wire, "add_note", _JSON)
        assert (value(answer), rules(answer)) == ({**_KEPT, "priority": 3}, ["json_text_to_object"])


@_RAW
def test_a_tool_hidden_by_another_middleware_stays_hidden(connect, sent):
    """A tool hidden by an outer middleware gets the same answer for raw arguments as for an object."""
    server = build(None)
    server.add_middleware(Hiding("add_note"))
    server.add_middleware(LenientMiddleware())
    wire = connect(server)
    hidden = result(call(wire, "add_note", {}))["content"]
    for _ in range(2):
        assert result(call(wire, "add_note", sent))["content"] == hidden


def test_a_refusal_lists_the_requested_versions_parameters(connect):
    """A refusal lists the parameters of the requested version."""
    server: FastMCP = FastMCP("versions")
    server.tool(name="add", version="1.0")(lambda text: text)
    server.tool(name="add", version="2.0")(lambda number: number)
    server.add_middleware(LenientMiddleware())
    wire = connect(server)
    for version, parameter in (("1.0", "text"), ("2.0", "number")):
        asked = {"name": "add", "arguments": [], "_meta": {"fastmcp": {"version": version}}}
        reported = envelope(wire.request("tools/call", asked))
        assert reported["details"]["parameters"]["required"] == [parameter]


def test_the_sdk_logs_no_warning(wire, caplog):
    """Neither the SDK nor FastMCP logs a warning for parsed or refused raw arguments."""
    with caplog.at_level(logging.WARNING):
        for sent in ([], _JSON):
            call(wire, "add_note", sent)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
