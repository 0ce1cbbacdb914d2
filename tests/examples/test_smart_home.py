"""The smart home finds devices, runs commands and understands sentences, also where a call is nearly right."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest
from calls import on_both_servers
from fastmcp import Client

from smart_home import Home, build, names_in
from transcripts.agent import Agent, ModelError
from transcripts.play import connected

LIGHT = {"device_id": "uuid-abc123"}
ON = {"component": "main", "capability": "switch", "command": "on"}
DIM = {"capability": "switchLevel", "command": "setLevel", "arguments": [30]}
SAID = {"user_input": "亮度调到50%", "device_capabilities": ["switch", "switchLevel"]}
CLIMATE = {"device_id": "uuid-air001", "temperature": 24.5}


@pytest.fixture
def strict():
    """Whether FastMCP is strict, where a test does not say."""
    return False


@pytest.fixture(scope="module")
def street(tmp_path_factory):
    """Two homes, each behind a lax and a strict server, and their file as it is when new."""
    folders = [tmp_path_factory.mktemp("home") for _ in range(2)]
    built = [
        {strict: build(folder, lenient=True, strict=strict) for strict in (False, True)} for folder in folders
    ]
    files = [folder / "smart_home.db" for folder in folders]
    Home(files[0]).get_status("abc123")
    return SimpleNamespace(files=files, servers=built, new=files[0].read_bytes())


@pytest.fixture
def two_homes(street, strict):
    """Two fresh homes behind lax or strict servers."""
    for file in street.files:
        file.write_bytes(street.new)
    return [built[strict] for built in street.servers]


@pytest.fixture
def home(two_homes):
    """A fresh home behind a lax or a strict server."""
    return two_homes[0]


async def answer(server, tool, arguments):
    """What a client gets."""
    async with Client(server) as client:
        return await client.call_tool_mcp(tool, arguments)


def envelope(result):
    """What a refusal says."""
    assert result.is_error
    return json.loads(result.content[0].text)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("客厅 灯", ["abc123", "air001"], id="words"),
        pytest.param("客厅灯", ["abc123", "air001"], id="one-word"),
        pytest.param("打开客厅的灯", ["abc123", "air001"], id="sentence"),
        pytest.param("灯光", ["abc123", "bed001"], id="one-of-two-characters"),
        pytest.param("AC", ["air001"], id="short-name"),
        pytest.param("studio lamp", ["std001", "abc123"], id="english-name"),
        pytest.param("大门锁", ["dor001"], id="a-name"),
        pytest.param("thermostat", ["air001"], id="a-type"),
        pytest.param("厨房的窗帘", ["bld001"], id="no-single-character"),
    ],
)
async def test_devices_are_found_by_any_of_their_words(home, query, found):
    """A device is found by its room, its name or its kind, in Chinese and English, the best one first."""
    result = await answer(home, "search_devices", {"query": query, "limit": 2})
    assert [device["id"] for device in result.structured_content["result"]] == found


@pytest.mark.parametrize(
    ("query", "unmatched"),
    [
        pytest.param("the rear door", {"dor001": ["rear"]}, id="another-door"),
        pytest.param("front door bell", {"dor001": ["bell"]}, id="another-thing"),
        pytest.param(
            "厨房 灯", {"bld001": ["灯"], "abc123": ["厨房"], "bed001": ["厨房"], "std001": ["厨房"]}, id="none"
        ),
        pytest.param(
            "客厅的灯", {"abc123": [], "air001": ["灯"], "bed001": ["客厅"], "std001": ["客厅"]}, id="one-has-all"
        ),
        pytest.param("lamp switch", {"abc123": [], "bed001": [], "std001": []}, id="a-kind-and-a-type"),
        pytest.param("windowShade", {"bld001": []}, id="a-type"),
    ],
)  # fmt: skip
async def test_a_result_says_which_words_do_not_fit(home, query, unmatched):
    """Each device that is found by some of the words names the others, those with the fewest first."""
    found = (await answer(home, "search_devices", {"query": query})).structured_content["result"]
    assert {each["id"]: each["unmatched"] for each in found} == unmatched
    assert [each["id"] for each in found] == [*unmatched]


@pytest.mark.parametrize("kept", ['{"switch": ', "[1]", "null", '{"switch": "on"}', None])
async def test_a_state_that_cannot_be_read_gets_an_envelope(tmp_path, kept):
    """A row that another program spoiled is told in words, by each tool that reads it."""
    Home(tmp_path / "smart_home.db").rows()
    with closing(sqlite3.connect(tmp_path / "smart_home.db")) as connection, connection:
        connection.execute("UPDATE devices SET state = ? WHERE id = 'bed001'", (kept,))
    server = build(tmp_path, lenient=True)
    calls = {
        "search_devices": {"query": "lamp"},
        "get_status": {"device_id": "bed001"},
        "execute_commands": {"device_id": "bed001", "commands": [ON]},
    }
    for tool, sent in calls.items():
        told = envelope(await answer(server, tool, sent))
        assert told["error_code"] == "STORE_UNAVAILABLE"
        assert "the state of bed001 is no JSON object of objects" in told["message"]


async def test_a_capability_that_is_not_known_has_no_command(tmp_path):
    """Where another program added a part to a state, the other parts are still used."""
    Home(tmp_path / "smart_home.db").rows()
    with closing(sqlite3.connect(tmp_path / "smart_home.db")) as connection, connection:
        connection.execute(
            """UPDATE devices SET state = '{"switch": {"switch": "off"}, "fan": {"speed": 1}}'"""
        )
    sent = {"device_id": "abc123", "commands": [ON]}
    assert not (await answer(build(tmp_path, lenient=True), "execute_commands", sent)).is_error


@pytest.mark.parametrize("query", ["", "?!", "toaster", '"NEAR(*', "开关"])
async def test_a_search_without_a_result_says_what_there_is(home, query):
    """Where nothing fits, the answer names the devices with their rooms."""
    result = await answer(home, "search_devices", {"query": query})
    assert (result.is_error, result.structured_content) == (False, {"result": []})
    assert "客厅吸顶灯 (客厅, switch)" in result.content[0].text


async def test_a_climate_is_kept(home):
    """What set_climate confirms is in the state of the device."""
    await answer(home, "set_climate", CLIMATE | {"quiet": True})
    kept = (await state(home, "uuid-air001"))["thermostatHeatingSetpoint"]
    assert kept == {"heatingSetpoint": 24.5, "quiet": True}


async def test_a_lamp_has_no_climate(home):
    """The error names the parameter of the call, and what the lamp has."""
    told = envelope(await answer(home, "set_climate", CLIMATE | {"device_id": "uuid-abc123"}))
    assert (told["error_code"], told["details"]["parameter"]) == ("UNSUPPORTED_DEVICE", "device_id")
    assert "is no air conditioner: it has switch, switchLevel. Nothing was changed." in told["message"]


async def test_a_device_has_the_form_of_smartthings(home):
    """What is found has the six fields that callers of SmartThings know, and the words that do not fit it."""
    result = await answer(home, "search_devices", {"query": "客厅 灯", "limit": 1})
    assert result.structured_content["result"] == [
        {
            "id": "abc123",
            "fullId": "uuid-abc123",
            "name": "客厅吸顶灯",
            "room": "客厅",
            "type": "switch",
            "capabilities": ["switch", "switchLevel"],
            "unmatched": [],
        }
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("客厅的 Ceiling lights", ["客厅", "ceiling light"]),
        ("看不清书", []),
        ("the lampshade", []),
        ("the lounge lamps", ["lounge", "lamp"]),
        ("厨房的窗帘", ["厨房", "窗帘"]),
    ],
)
def test_names_are_found_as_whole_words(text, names):
    """A place or a kind is found as it is declared, and no character of it inside of another word."""
    assert names_in(text) == names


async def test_commands_are_accepted_and_change_the_state(home):
    """Commands run in their order, by the full id or the short one, and outlive the connection."""
    off = {**ON, "command": "off"}
    for device_id, commands in (("uuid-abc123", [off, ON, DIM]), ("bed001", [off])):
        result = await answer(home, "execute_commands", {"device_id": device_id, "commands": commands})
        assert result.structured_content == {"status": "ACCEPTED"}
    assert await state(home, "uuid-abc123") == {"switch": {"switch": "on"}, "switchLevel": {"level": 30}}
    assert (await state(home, "bed001"))["switch"] == {"switch": "off"}


async def test_concurrent_commands_are_all_kept(home):
    """Calls for one device that run at once do not undo each other."""
    calls = [{"commands": [ON]}, {"commands": [DIM]}] * 5
    async with Client(home) as client:
        await asyncio.gather(*(client.call_tool("execute_commands", LIGHT | call) for call in calls))
    assert await state(home, "abc123") == {"switch": {"switch": "on"}, "switchLevel": {"level": 30}}


async def state(server, device_id):
    """The state of a device."""
    return (await answer(server, "get_status", {"device_id": device_id})).structured_content


@pytest.mark.parametrize(
    ("device_id", "command", "code", "details"),
    [
        pytest.param("uuid-x", {}, "UNKNOWN_DEVICE", {"parameter": "device_id", "received_value": "uuid-x"}, id="device"),
        pytest.param("abc123", {"capability": "lock", "command": "lock"}, "UNSUPPORTED_CAPABILITY", {"parameter": "commands[1].capability", "received_value": "lock", "allowed_values": ["switch", "switchLevel"]}, id="capability"),
        pytest.param("abc123", {"command": "toggle"}, "UNSUPPORTED_COMMAND", {"parameter": "commands[1].command", "received_value": "toggle", "allowed_values": ["on", "off"]}, id="command"),
        pytest.param("abc123", {"arguments": [1]}, "INVALID_COMMAND_ARGUMENTS", {"parameter": "commands[1].arguments"}, id="too-many-arguments"),
        pytest.param("abc123", {**DIM, "arguments": []}, "INVALID_COMMAND_ARGUMENTS", {"parameter": "commands[1].arguments"}, id="no-arguments"),
        *(pytest.param("abc123", {**DIM, "arguments": [wrong]}, "INVALID_COMMAND_ARGUMENTS", {"parameter": "commands[1].arguments"}, id=f"argument-{wrong}") for wrong in (True, "30", None, 30.5, -1)),
        pytest.param("abc123", {**DIM, "arguments": [101]}, "INVALID_COMMAND_ARGUMENTS", {"parameter": "commands[1].arguments"}, id="range"),
    ],
)  # fmt: skip
async def test_a_wrong_command_changes_nothing_and_gets_an_envelope(home, device_id, command, code, details):
    """Where one command is wrong, none is run, and the answer says what the device can do."""
    before = await state(home, "abc123")
    sent = {"device_id": device_id, "commands": json.dumps([ON, ON | command])}
    reported = envelope(await answer(home, "execute_commands", sent))
    message = reported.pop("message")
    received = {"received_type": "string"} if "received_value" in details else {}
    whole = {"tool": "execute_commands", **received, **details}
    assert (reported.pop("recovery"), reported.pop("retryable")) == ("correctable", False)
    assert reported == {"status": "error", "error_code": code, "details": whole}
    assert message.endswith(("Nothing was changed.", "of what search_devices finds."))
    assert await state(home, "abc123") == before


async def test_a_wrong_argument_is_told_in_plain_words(home):
    """What a command takes is said as people say it."""
    for command, said in (
        ({**DIM, "arguments": [30, 40]}, "'setLevel' takes a whole number from 0 to 100%, such as [50]."),
        ({**ON, "arguments": [1]}, "'on' takes no arguments."),
    ):
        told = envelope(await answer(home, "execute_commands", LIGHT | {"commands": [command]}))
        assert told["message"] == f"{said} Nothing was changed."


async def test_a_blind_and_its_level_agree(home):
    """Closing a blind sets its level, and its level says whether it is open."""
    for command, shade, level in (
        ({"capability": "windowShade", "command": "close"}, "closed", 0),
        (
            {"capability": "windowShadeLevel", "command": "setShadeLevel", "arguments": [40]},
            "partially open",
            40,
        ),
        ({"capability": "windowShade", "command": "open"}, "open", 100),
    ):
        await answer(home, "execute_commands", {"device_id": "bld001", "commands": [command]})
        kept = await state(home, "bld001")
        assert (kept["windowShade"]["windowShade"], kept["windowShadeLevel"]["shadeLevel"]) == (shade, level)


@pytest.mark.parametrize("spoil", ["file", "folder"])
async def test_a_home_that_cannot_be_used_gets_an_envelope(tmp_path, spoil):
    """What SQLite or the disk refuses is an envelope without the path, not Python's own text."""
    (tmp_path / "taken").write_text("")
    (tmp_path / "smart_home.db").write_bytes(b"no database" * 100)
    folder = tmp_path if spoil == "file" else tmp_path / "taken" / "home"
    for tool, sent in (("search_devices", {"query": "灯"}), ("get_status", LIGHT)):
        result = await answer(build(folder, lenient=True), tool, sent)
        told = envelope(result)
        assert told["error_code"] == "STORE_UNAVAILABLE"
        assert told["message"].startswith("The home cannot be used: ")
        assert str(tmp_path) not in result.content[0].text


REPAIRED = [
    # str
    ("search_devices", {"query": 1}, {"query": "1"}, "str-number"),
    # int
    ("search_devices", {"query": "light", "limit": "1"}, {"query": "light", "limit": 1}, "int-text"),
    ("search_devices", {"query": "light", "limit": None}, {"query": "light"}, "int-null"),
    # float
    ("set_climate", CLIMATE | {"temperature": "24.5"}, CLIMATE, "float-text"),
    # bool
    ("set_climate", CLIMATE | {"quiet": "true"}, CLIMATE | {"quiet": True}, "bool-text"),
    # Literal
    ("set_climate", CLIMATE | {"power": "Off"}, CLIMATE | {"power": "off"}, "literal-case"),
    # a list of objects
    ("execute_commands", LIGHT | {"commands": json.dumps([ON])}, LIGHT | {"commands": [ON]}, "dicts-json"),
    ("execute_commands", LIGHT | {"commands": [{"Capability": "switch", "Command": "on"}]}, LIGHT | {"commands": [ON]}, "dicts-names"),
    # a list of str
    ("interpret_command", SAID | {"device_capabilities": '["switch", "switchLevel"]'}, SAID, "list-json"),
    # dict and Optional
    ("interpret_command", SAID | {"current_state": '{"level": 80}'}, SAID | {"current_state": {"level": 80}}, "dict-json"),
    # names and the whole
    ("interpret_command", {"userInput": "关灯", "deviceCapabilities": ["switch"]}, {"user_input": "关灯", "device_capabilities": ["switch"]}, "names-camel"),
    ("search_devices", {"arguments": {"query": "客厅", "limit": 1}}, {"query": "客厅", "limit": 1}, "whole-wrapped"),
]  # fmt: skip

REFUSED = [
    # str
    ("search_devices", {"query": ["客厅"]}, "INVALID_QUERY_TYPE", "Send one value.", "str-list"),
    ("search_devices", {}, "MISSING_QUERY", "'query' is required", "str-missing"),
    # int
    ("search_devices", {"query": "灯", "limit": "２"}, "INVALID_LIMIT_TYPE", "must be an integer", "int-full-width"),  # noqa: RUF001 - that is the point
    # bool
    ("set_climate", CLIMATE | {"quiet": "是"}, "INVALID_QUIET_TYPE", "must be a boolean", "bool-chinese"),
    # a list of objects
    ("execute_commands", LIGHT | {"commands": "开灯"}, "INVALID_COMMANDS_TYPE", "must be an array of objects", "dicts-words"),
    ("execute_commands", LIGHT | {"commands": [{"set": "power", "to": "on"}]}, "INVALID_ARGUMENTS", "'commands[0].capability' is required", "dicts-names"),
    # a list of str
    ("interpret_command", SAID | {"device_capabilities": "switch,lock"}, "INVALID_DEVICE_CAPABILITIES_TYPE", "Write it in the form", "list-commas"),
    # names
    ("search_devices", {"query": "灯", "房间": "客厅"}, "UNKNOWN_PARAMETER", "Accepted are 'query', 'limit'", "names-unknown"),
]  # fmt: skip


@on_both_servers
@pytest.mark.parametrize(("tool", "sent", "right"), [pytest.param(*row[:3], id=row[3]) for row in REPAIRED])
async def test_a_wrong_form_does_what_the_right_one_does(two_homes, strict, tool, sent, right):
    """A call that has one reading gets the answer that the right call gets; what a strict server repairs is recorded."""
    home, other = two_homes
    wanted = await answer(other, tool, right)
    assert not wanted.is_error
    assert not (wanted.meta or {}).get("mcp_lenient")
    got = await answer(home, tool, sent)
    assert (got.is_error, got.structured_content) == (False, wanted.structured_content)
    assert not strict or got.meta["mcp_lenient"]["repairs"]
    if tool == "execute_commands":
        assert await state(home, "abc123") == await state(other, "abc123")


@on_both_servers
@pytest.mark.parametrize(
    ("tool", "sent", "code", "words"), [pytest.param(*row[:4], id=row[4]) for row in REFUSED]
)
async def test_ambiguous_input_is_refused(home, tool, sent, code, words):
    """A call without one reading gets the envelope, which says what is wanted."""
    reported = envelope(await answer(home, tool, sent))
    assert reported["error_code"] == code
    assert words in reported["message"]


SEARCH = {"query": "客厅 灯", "limit": 5}
EXECUTE = {"device_id": "uuid-abc123", "commands": [ON]}
FORMS = [
    pytest.param(SEARCH, EXECUTE, id="right"),
    pytest.param({"Query": "客厅 灯"}, EXECUTE | {"toolCallId": "7"}, id="str"),
    pytest.param(SEARCH, EXECUTE | {"commands": json.dumps([ON])}, id="list"),
    pytest.param({"arguments": SEARCH}, {"deviceId": "uuid-abc123", "commands": [ON]}, id="names"),
    pytest.param(json.dumps(SEARCH, ensure_ascii=False), json.dumps(EXECUTE), id="whole-text"),
]


@on_both_servers
@pytest.mark.parametrize(("search", "execute"), FORMS)
def test_the_conversation_runs_to_the_end(home, search, execute):
    """The living room's light is found and turned on, whichever way the model writes its calls."""
    found = {"type": "tool_use", "id": "toolu_01ABC", "name": "search_devices", "input": search}
    turned = {"type": "tool_use", "name": "execute_commands", "input": execute}  # without an id
    model = replies(use(found), use(turned), said("已成功打开客厅吸顶灯"))
    agent = Agent(model)
    with connected(home) as (execute_tool, agent.tools):
        assert agent.chat("打开客厅的灯", mcp_executor=execute_tool) == "已成功打开客厅吸顶灯"
        light = execute_tool("get_status", LIGHT).structured_content
    assert light["switch"] == {"switch": "on"}
    asked, use_1, result_1, use_2, result_2, reported = agent.messages
    assert asked == {"role": "user", "content": "打开客厅的灯"}
    assert use_1["content"] == [found]
    (block,) = result_1["content"]
    assert (block["type"], block["tool_use_id"], block["is_error"]) == ("tool_result", "toolu_01ABC", False)
    assert json.loads(block["content"])[0]["name"] == "客厅吸顶灯"
    (block,) = result_2["content"]
    assert block["tool_use_id"] == use_2["content"][0]["id"] == "toolu_01"
    assert json.loads(block["content"]) == {"status": "ACCEPTED"}
    assert reported["content"][0]["text"] == "已成功打开客厅吸顶灯"


def replies(*responses):
    """A model that answers with whole responses, one after the other."""
    left = iter(responses)
    return lambda _messages, _tools: next(left)


def use(*blocks: dict[str, Any], stop: str = "tool_use"):
    """A response that asks for tools."""
    return {"stop_reason": stop, "content": list(blocks)}


def said(text):
    """A response that ends the turn."""
    return {"stop_reason": "end_turn", "content": [{"type": "text", "text": text}]}


def test_an_executor_may_be_any_function():
    """An executor that calls functions itself has its values written as JSON, several calls of one turn in order."""
    blocks = [{"type": "tool_use", "id": f"t{at}", "name": "double", "input": {"n": at}} for at in (1, 2)]
    agent = Agent(replies(use({"type": "text", "text": "Two."}, *blocks), said("Done.")))
    assert agent.chat("Double.", mcp_executor=lambda _name, sent: {"二": sent["n"] * 2}) == "Done."
    results = agent.messages[2]["content"]
    assert [(each["tool_use_id"], each["content"]) for each in results] == [
        ("t1", '{"二": 2}'),
        ("t2", '{"二": 4}'),
    ]


def test_a_failing_executor_leaves_no_call_without_a_result():
    """What an executor raises is the result of its call, and the calls beside it are made."""
    blocks = [{"type": "tool_use", "id": f"t{at}", "name": "half", "input": {"n": at}} for at in (0, 1)]
    agent = Agent(replies(use(*blocks), said("Done.")))
    assert agent.chat("Halve.", mcp_executor=lambda _name, sent: 1 / sent["n"]) == "Done."
    failed, done = agent.messages[2]["content"]
    assert (failed["is_error"], failed["content"]) == (True, "The call failed: division by zero")
    assert (done["tool_use_id"], done["content"]) == ("t1", "1.0")


def test_a_truncated_call_is_not_made():
    """Where the model ran out of tokens, its calls may be cut off: none is made."""
    block = {"type": "tool_use", "id": "t", "name": "execute_commands", "input": {}}
    agent = Agent(replies(use({"type": "text", "text": "I will"}, block, stop="max_tokens")))
    assert agent.chat("On.", mcp_executor=lambda *_: pytest.fail("called")) == "I will"


def test_a_model_that_never_ends_is_stopped():
    """A model that asks for tools without end does not run for ever."""
    block = {"type": "tool_use", "name": "search_devices", "input": {}}
    agent = Agent(lambda _messages, _tools: use(block))
    with pytest.raises(ModelError, match="20 times"):
        agent.chat("On.", mcp_executor=lambda *_: "nothing")
