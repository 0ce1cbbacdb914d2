"""Whole ``arguments`` that are no object, over streamable HTTP of each kind."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from answers import Message, envelope, result, rules, value
from fastmcp import FastMCP
from fastmcp.exceptions import NotFoundError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool, ToolResult
from fastmcp_versions import RAW, not_on_3
from mcp.types import INVALID_PARAMS, CallToolRequestParams
from servers.notes import POLICIES, build
from wire import ABSENT, Http, Wire, call, http

from mcp_lenient import LenientMiddleware, Limits, Policy

pytestmark = not_on_3(RAW)
_KINDS = [*(pytest.param(kind, marks=pytest.mark.slow) for kind in ("stateful", "stateless")), "modern"]
_KEPT = {"text": "kept", "tags": ["a"], "priority": 0}
_JSON = '{"text": "kept", "tags": ["a"]}'
_SECRET = "s3cr3t"  # noqa: S105 - a word to look for

_OBJECT_IN_TEXT = [
    pytest.param(_JSON, ["json_text_to_object"], id="json"),
    pytest.param(f"\n\t{_JSON} ", ["json_text_to_object"], id="outer-space"),
    pytest.param(json.dumps(_JSON), ["json_text_to_object"], id="doubly-encoded"),
    pytest.param(f"```json\n{_JSON}\n```", ["json_text_to_object"], id="code-fence"),
    pytest.param("{text: 'kept', tags: ['a',], /* all */}", ["json5_text_to_object"], id="json5"),
    pytest.param("{'text': 'kept', 'tags': ('a',)}", ["python_text_to_object"], id="python"),
    pytest.param(
        '{"text": "kept", "tags": "a"}', ["json_text_to_object", "scalar_to_array"], id="a-repair-inside"
    ),
    pytest.param(
        '{"text": "kept", "tags": "[\\"a\\"]"}',
        ["json_text_to_object", "json_text_to_array"],
        id="text-inside",
    ),
]

_NO_OBJECT = [
    pytest.param([], "array", id="empty-array"),
    pytest.param([{"text": _SECRET}], "array", id="array-of-an-object"),
    pytest.param(f'["{_SECRET}"]', "string", id="array-in-text"),
    pytest.param(5, "integer", id="integer"),
    pytest.param(0, "integer", id="zero"),
    pytest.param(1.5, "number", id="number"),
    pytest.param(False, "boolean", id="false"),
    pytest.param(f"{_SECRET} prose", "string", id="prose"),
    pytest.param(f'{{"text": "{_SECRET}"', "string", id="cut-off"),
    pytest.param(f'{{"text": "{_SECRET}", "text": "b"}}', "string", id="duplicate-key"),
    pytest.param('{"text": "a", "priority": NaN}', "string", id="nan"),
    pytest.param('{"text": "a"} {"text": "b"}', "string", id="two-objects"),
    pytest.param("[" * 100_000, "string", id="bottomless"),
]


@pytest.fixture(scope="module", params=_KINDS)
def wire(request: pytest.FixtureRequest) -> Iterator[Http]:
    """A connection to a lenient server that has served calls before."""
    with http(build(), request.param) as wire:
        assert value(call(wire, "add_note", {"text": "a"}))
        yield wire


@pytest.mark.parametrize(("sent", "repaired"), _OBJECT_IN_TEXT)
def test_an_object_in_text_runs(wire, sent, repaired, events):
    """A text that is one object is read as the arguments, which the result and the log say."""
    answer = call(wire, "add_note", sent)
    assert (value(answer), rules(answer)) == (_KEPT, repaired)
    assert [event["event"] for event in events] == ["call_repaired"]
    assert [repair["rule"] for repair in events[0]["repairs"]] == repaired
    assert events[0]["repairs"][0] == {
        "rule": repaired[0],
        "pointer": "",
        "before": "string",
        "after": "object",
    }


@pytest.mark.parametrize("sent", ["", " ", "null"], ids=["empty", "blank", "null"])
def test_an_empty_text_means_no_arguments(wire, sent):
    """Some clients send an empty text where a tool needs no arguments: missing arguments are then reported as usual."""
    assert envelope(call(wire, "add_note", sent))["error_code"] == "MISSING_TEXT"


@pytest.mark.parametrize(("sent", "kind"), _NO_OBJECT)
def test_other_values_get_the_envelope(wire, sent, kind, events):
    """Arguments that are no object are refused by an envelope that says so, and by one event."""
    reported = envelope(call(wire, "add_note", sent))
    assert reported["error_code"] == "INVALID_ARGUMENTS"
    assert [
        (one["pointer"], one["code"], one["received_type"]) for one in reported["details"]["violations"]
    ] == [("", "type", kind)]
    assert reported["details"]["parameters"]["required"] == ["text"]
    assert [(event["event"], event["error_code"]) for event in events] == [
        ("call_rejected", "INVALID_ARGUMENTS")
    ]


@pytest.mark.parametrize("sent", [f'["{_SECRET}"]', f'{{"text": "{_SECRET}"'], ids=["array", "cut-off"])
def test_refused_text_is_never_shown(wire, sent, events):
    """A text that stood for the arguments is neither echoed nor logged."""
    answer = call(wire, "add_note", sent)
    assert _SECRET not in json.dumps([answer, events], default=str)


def test_structured_content_is_the_envelope_only_without_an_output_schema(wire):
    """The envelope of a whole refusal is structured content where the tool has no output schema, and only there."""
    assert "structuredContent" not in result(call(wire, "add_note", []))
    refused = call(wire, "count_words", [])
    assert result(refused)["structuredContent"] == envelope(refused)


@pytest.mark.parametrize("sent", [None, ABSENT, {}], ids=["null", "absent", "empty"])
def test_no_arguments_stay_no_arguments(wire, sent, events):
    """No arguments at all are an empty object, as the protocol has it, and nothing is repaired."""
    answer = call(wire, "ping", sent)
    assert (value(answer), rules(answer)) == ({"result": "pong"}, [])
    assert [event["event"] for event in events] == ["call_accepted"]


def test_a_refusal_reports_how_the_text_was_parsed(wire, events):
    """Where the object in the text is refused itself, envelope and event name the reading and the fault."""
    reported = envelope(call(wire, "add_note", '{"text": "kept", "tags": 123}'))
    assert reported["error_code"] == "INVALID_TAGS_TYPE"
    assert [repair["rule"] for repair in reported["details"]["repairs"]] == ["json_text_to_object"]
    assert [event["event"] for event in events] == ["call_rejected"]


@pytest.mark.parametrize("sent", [_JSON, [], "prose"], ids=["object-in-text", "array", "prose"])
def test_an_unknown_tool_is_reported_as_unknown(wire, sent, events):
    """Of a tool that is not there, the caller learns just that, whatever the arguments were."""
    reported = envelope(call(wire, "add_notes", sent))
    assert reported["error_code"] == "UNKNOWN_TOOL"
    assert [(event["event"], event["error_code"]) for event in events] == [("call_rejected", "UNKNOWN_TOOL")]


@pytest.mark.parametrize("sent", [_JSON, [], "prose"], ids=["object-in-text", "array", "prose"])
def test_the_sdk_answers_a_call_without_a_name(wire, sent, events):
    """A request that names no tool gets the SDK's error, and is no call to log."""
    answer = wire.request("tools/call", {"arguments": sent})
    assert answer["error"]["code"] < 0
    assert events == []


def test_other_requests_with_a_text_are_left_alone(wire, events):
    """Only tool calls are read: the arguments of a prompt that are text stay the SDK's business."""
    answer = wire.request("prompts/get", {"name": "none", "arguments": "{}"})
    assert answer["error"]["code"] == INVALID_PARAMS
    assert events == []


def _shape(message: Message) -> tuple[list[str], list[str]]:
    answered = result(message)
    return sorted(answered), sorted(answered["_meta"])


def test_a_refusal_of_raw_arguments_looks_like_any_refusal(wire):
    """Both kinds of refusal have the same fields on the wire, in each era of the protocol."""
    assert _shape(call(wire, "add_note", [])) == _shape(call(wire, "add_note", {"tags": 1}))


Connect = Callable[[FastMCP], Http]


@contextmanager
def _connecting(kind: str) -> Iterator[Connect]:
    """Connects to servers, in one way, until the test is over."""
    with ExitStack() as opened:
        yield lambda server: opened.enter_context(http(server, kind))


@pytest.fixture(params=_KINDS)
def fresh(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Connects to a server that no call has reached yet, in each way."""
    with _connecting(request.param) as connect:
        yield connect


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Connects in the way in which the first message of a server may be a call, and all others alike."""
    with _connecting("modern") as connect:
        yield connect


@pytest.fixture(scope="module")
def plain() -> Iterator[Http]:
    """A connection to a server without the middleware."""
    with _connecting("modern") as connect:
        yield connect(build(None))


def test_the_first_call_is_parsed(fresh, events):
    """The first call that a server ever gets may have its arguments as text; it is logged once."""
    answer = call(fresh(build()), "add_note", _JSON)
    assert (value(answer), rules(answer)) == (_KEPT, ["json_text_to_object"])
    assert [event["event"] for event in events] == ["call_repaired"]


def test_the_first_call_is_refused_with_the_envelope(fresh, events):
    """The first call that a server ever gets is refused by envelope where its arguments are no object."""
    assert envelope(call(fresh(build()), "add_note", "prose"))["error_code"] == "INVALID_ARGUMENTS"
    assert [event["event"] for event in events] == ["call_rejected"]


def test_the_first_answer_looks_like_later_ones(fresh):
    """The answer to a first call with text has the same fields on the wire as to a later one."""
    wire = fresh(build())
    assert _shape(call(wire, "add_note", _JSON)) == _shape(call(wire, "add_note", _JSON))


def test_the_first_call_of_an_unknown_tool_is_reported_as_unknown(fresh):
    """The first call that a server ever gets may be of an unknown tool, with text."""
    assert envelope(call(fresh(build()), "add_notes", _JSON))["error_code"] == "UNKNOWN_TOOL"


def test_parsing_state_ends_with_its_call(fresh):
    """A call that follows one with text is not said to have been repaired."""
    wire = fresh(build())
    assert rules(call(wire, "add_note", _JSON)) == ["json_text_to_object"]
    assert rules(call(wire, "add_note", json.loads(_JSON))) == []


@pytest.mark.parametrize("sent", [_JSON, [], "prose"], ids=["object-in-text", "array", "prose"])
def test_the_strict_policy_refuses_raw_arguments(fresh, sent, events):
    """Without repairs, arguments that are no object are refused by envelope even where the text is one."""
    wire = fresh(build(POLICIES["strict"]))
    for _ in range(2):
        assert envelope(call(wire, "add_note", sent))["error_code"] == "INVALID_ARGUMENTS"
    assert [event["event"] for event in events] == ["call_rejected"] * 2


def _error(message: Message) -> Any:
    return message["error"]


@pytest.mark.parametrize("sent", [_JSON, [], "prose"], ids=["object-in-text", "array", "prose"])
def test_off_mode_keeps_the_sdk_error(fresh, plain, sent, events):
    """With mode ``off`` the answer is the one of a server without the middleware, and nothing is logged."""
    off = fresh(build(POLICIES["off"]))
    for _ in range(2):
        assert _error(call(off, "add_note", sent)) == _error(call(plain, "add_note", sent))
    assert events == []


@pytest.mark.quick_rows("modern-array")
@pytest.mark.parametrize(
    ("sent", "repaired"),
    [
        pytest.param(_JSON, ["json_text_to_object"], id="object-in-text"),
        pytest.param([], [], id="array"),
        pytest.param("prose", [], id="prose"),
    ],
)
def test_observe_mode_changes_nothing_and_logs_the_repair(fresh, plain, sent, repaired, events):
    """With mode ``observe`` the SDK's own error stays, and one event a call says what would have been done."""
    observed = fresh(build(POLICIES["observe"]))
    for _ in range(2):
        assert _error(call(observed, "add_note", sent)) == _error(call(plain, "add_note", sent))
    assert [event["event"] for event in events] == ["call_observed"] * 2
    for event in events:
        assert [repair["rule"] for repair in event.get("repairs", [])] == repaired
        assert event.get("error_code") == (None if repaired else "INVALID_ARGUMENTS")


def test_a_disabled_rule_parses_nothing(connect):
    """Where reading JSON5 is off, a JSON5 text is refused, and a JSON text is read all the same."""
    wire = connect(build(Policy(disable={"json5_text_to_object"})))
    assert (
        envelope(call(wire, "add_note", "{text: 'kept', tags: ['a']}"))["error_code"] == "INVALID_ARGUMENTS"
    )
    assert value(call(wire, "add_note", _JSON)) == _KEPT


def test_a_text_beyond_the_limit_is_refused(connect):
    """A text longer than the policy lets be parsed is refused by envelope."""
    wire = connect(build(Policy(limits=Limits(text=20))))
    assert envelope(call(wire, "add_note", _JSON))["details"]["received_type"] == "string"


def test_the_policy_of_the_tool_applies(connect):
    """Whether a text is read is decided by the policy for the tool that is called."""
    server = build(None)
    server.add_middleware(LenientMiddleware(tools={"add_*": Policy(mode="off"), "count_*": Policy.strict()}))
    wire = connect(server)
    assert _error(call(wire, "add_note", _JSON))["code"] == INVALID_PARAMS
    assert envelope(call(wire, "count_words", "{}"))["error_code"] == "INVALID_ARGUMENTS"
    assert rules(call(wire, "ping", "{}")) == ["json_text_to_object"]


def test_two_servers_do_not_share_a_hook(connect, events):
    """Each of two servers reads by its own policy and logs by its own name."""
    lenient, strict = connect(build(name="one")), connect(build(POLICIES["strict"], name="two"))
    for _ in range(2):
        assert value(call(lenient, "add_note", _JSON)) == _KEPT
        assert envelope(call(strict, "add_note", _JSON))["error_code"] == "INVALID_ARGUMENTS"
    assert [(event["event"], event["server"]) for event in events] == [
        ("call_repaired", "one"),
        ("call_rejected", "two"),
    ] * 2


def test_two_servers_may_share_a_middleware(connect):
    """One middleware object makes both servers that it was added to read text."""
    middleware = LenientMiddleware()
    for name in ("one", "two"):
        server = build(None, name=name)
        server.add_middleware(middleware)
        wire = connect(server)
        for _ in range(2):
            assert rules(call(wire, "add_note", _JSON)) == ["json_text_to_object"]


def test_two_middlewares_parse_once(connect, events):
    """With the middleware added twice, a text is read, recorded and logged once."""
    server = build()
    server.add_middleware(LenientMiddleware())
    wire = connect(server)
    for _ in range(2):
        assert rules(call(wire, "add_note", _JSON)) == ["json_text_to_object"]
    assert [event["event"] for event in events if event["event"] == "call_repaired"] == ["call_repaired"] * 2


@pytest.mark.parametrize("child_policy", [None, Policy()], ids=["parent-only", "both"])
def test_tools_of_a_mounted_server_are_called_with_text(connect, child_policy, events):
    """A text for a tool of a mounted server is read, by the parent's middleware, once."""
    parent: FastMCP = FastMCP("parent")
    parent.mount(build(child_policy), namespace="sub")
    parent.add_middleware(LenientMiddleware())
    wire = connect(parent)
    for _ in range(2):
        answer = call(wire, "sub_add_note", _JSON)
        assert (value(answer), rules(answer)) == (_KEPT, ["json_text_to_object"])
    assert envelope(call(wire, "sub_add_note", []))["details"]["parameters"]["required"] == ["text"]
    assert [event["event"] for event in events] == ["call_repaired", "call_repaired", "call_rejected"]


def test_a_nested_call_is_not_recorded_as_text(connect, events):
    """A call that a tool's body makes gets no part in how the outer call's arguments were read."""
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


class _Hiding(Middleware):
    """An application's middleware that keeps a tool from everyone."""

    def __init__(self, hidden: str) -> None:
        self._hidden = hidden

    async def on_list_tools(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Sequence[Tool]]
    ) -> Sequence[Tool]:
        return [tool for tool in await call_next(context) if tool.name != self._hidden]

    async def on_call_tool(
        self, context: MiddlewareContext[CallToolRequestParams], call_next: CallNext[Any, ToolResult]
    ) -> ToolResult:
        if context.message.name == self._hidden:
            raise NotFoundError(self._hidden)
        return await call_next(context)


@pytest.mark.parametrize("sent", [_JSON, [], "prose"], ids=["object-in-text", "array", "prose"])
def test_a_tool_hidden_by_another_middleware_stays_hidden(connect, sent):
    """A tool that an outer middleware hides is answered as with an object, and its parameters are not shown."""
    server = build(None)
    server.add_middleware(_Hiding("add_note"))
    server.add_middleware(LenientMiddleware())
    wire = connect(server)
    for _ in range(2):
        assert (
            result(call(wire, "add_note", sent))["content"] == result(call(wire, "add_note", {}))["content"]
        )


def test_parameters_are_those_of_the_requested_version(connect):
    """A refusal lists the parameters of the requested version."""
    server: FastMCP = FastMCP("versions")
    server.tool(name="add", version="1.0")(_add_text)
    server.tool(name="add", version="2.0")(_add_number)
    server.add_middleware(LenientMiddleware())
    wire = connect(server)
    for version, parameter in (("1.0", "text"), ("2.0", "number")):
        asked = {"name": "add", "arguments": [], "_meta": {"fastmcp": {"version": version}}}
        reported = envelope(wire.request("tools/call", asked))
        assert reported["details"]["parameters"]["required"] == [parameter]


def _add_text(text: str) -> str:
    return text


def _add_number(number: int) -> int:
    return number


@pytest.mark.parametrize("wrong", [False, True], ids=["object-in-text", "no-object"])
def test_the_sdk_logs_no_warning(wire: Wire, wrong, caplog):
    """Neither SDK nor FastMCP logs a failure for what is read or refused."""
    with caplog.at_level(logging.WARNING):
        call(wire, "add_note", [] if wrong else _JSON)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
