"""The smart home: each type of parameter in its usual wrong forms does what the right form does, or is refused."""

from __future__ import annotations

import json

import pytest
from fastmcp import Client
from sampling import lax_and_strict

from smart_home import build_server

LIGHT = {"device_id": "light-1"}
SAID = {"user_input": "打开客厅灯", "device_capabilities": ["turn_on"]}
CLIMATE = {"device_id": "climate-1", "temperature": 20}
ON = {"set": "power", "to": "on"}
RENAMED = {"set": "name", "to": "灯"}

servers = pytest.mark.parametrize("strict", [False, True], ids=["lax", "strict"])


@pytest.fixture
def home(strict):
    """A fresh home behind a lax or a strict server."""
    return build_server(strict=strict)


async def answer(server, tool, arguments):
    """What a client gets."""
    async with Client(server) as client:
        return await client.call_tool_mcp(tool, arguments)


REPAIRED = [
    # str
    ("search_devices", {"query": ["客厅"]}, {"query": "客厅"}, "str-list"),
    ("search_devices", {"query": {"query": "客厅"}}, {"query": "客厅"}, "str-wrapped"),
    ("search_devices", {"query": 1}, {"query": "1"}, "str-number"),
    # int
    ("search_devices", {"query": "light", "limit": "1"}, {"query": "light", "limit": 1}, "int-text"),
    ("search_devices", {"query": "light", "limit": " 1 "}, {"query": "light", "limit": 1}, "int-spaces"),
    ("search_devices", {"query": "light", "limit": "1.0"}, {"query": "light", "limit": 1}, "int-float-text"),
    ("search_devices", {"query": "light", "limit": 1.0}, {"query": "light", "limit": 1}, "int-float"),
    ("search_devices", {"query": "light", "limit": [1]}, {"query": "light", "limit": 1}, "int-list"),
    ("search_devices", {"query": "light", "limit": None}, {"query": "light"}, "int-null"),
    ("search_devices", {"query": "light", "limit": ""}, {"query": "light"}, "int-empty"),
    ("search_devices", {"query": "light", "limit": "null"}, {"query": "light"}, "int-null-text"),
    # float
    ("set_climate", CLIMATE | {"temperature": "21.5"}, CLIMATE | {"temperature": 21.5}, "float-text"),
    ("set_climate", CLIMATE | {"temperature": " 21 "}, CLIMATE | {"temperature": 21}, "float-spaces"),
    ("set_climate", CLIMATE | {"temperature": [21.5]}, CLIMATE | {"temperature": 21.5}, "float-list"),
    # bool
    ("set_climate", CLIMATE | {"quiet": "true"}, CLIMATE | {"quiet": True}, "bool-text"),
    ("set_climate", CLIMATE | {"quiet": "True"}, CLIMATE | {"quiet": True}, "bool-python"),
    ("set_climate", CLIMATE | {"quiet": "Yes"}, CLIMATE | {"quiet": True}, "bool-yes"),
    ("set_climate", CLIMATE | {"quiet": "off"}, CLIMATE | {"quiet": False}, "bool-off"),
    ("set_climate", CLIMATE | {"quiet": 1}, CLIMATE | {"quiet": True}, "bool-one"),
    ("set_climate", CLIMATE | {"quiet": None}, CLIMATE, "bool-null"),
    # Literal
    ("set_climate", CLIMATE | {"mode": "Heat"}, CLIMATE | {"mode": "heat"}, "literal-case"),
    ("set_climate", CLIMATE | {"mode": ' "cool" '}, CLIMATE | {"mode": "cool"}, "literal-quotes"),
    ("set_climate", CLIMATE | {"mode": ["cool"]}, CLIMATE | {"mode": "cool"}, "literal-list"),
    ("set_climate", CLIMATE | {"mode": None}, CLIMATE, "literal-null"),
    # a list of dict
    ("execute_commands", LIGHT | {"commands": json.dumps([ON])}, LIGHT | {"commands": [ON]}, "dicts-json"),
    ("execute_commands", LIGHT | {"commands": str([ON, RENAMED])}, LIGHT | {"commands": [ON, RENAMED]}, "dicts-python"),
    ("execute_commands", LIGHT | {"commands": [json.dumps(RENAMED, ensure_ascii=False)]}, LIGHT | {"commands": [RENAMED]}, "dicts-json-inside"),
    ("execute_commands", LIGHT | {"commands": f"```json\n{json.dumps([RENAMED], ensure_ascii=False)}\n```"}, LIGHT | {"commands": [RENAMED]}, "dicts-fenced"),
    ("execute_commands", LIGHT | {"commands": {"item": [ON]}}, LIGHT | {"commands": [ON]}, "dicts-item"),
    # a list of str
    ("interpret_command", SAID | {"device_capabilities": '["turn_on", "开关"]'}, SAID | {"device_capabilities": ["turn_on", "开关"]}, "list-json"),
    ("interpret_command", SAID | {"device_capabilities": "['turn_on', '开关']"}, SAID | {"device_capabilities": ["turn_on", "开关"]}, "list-python"),
    ("interpret_command", SAID | {"device_capabilities": "turn_on"}, SAID, "list-one"),
    ("interpret_command", SAID | {"device_capabilities": {"item": ["turn_on"]}}, SAID, "list-items"),
    ("interpret_command", SAID | {"device_capabilities": [1, 2]}, SAID | {"device_capabilities": ["1", "2"]}, "list-numbers"),
    # dict and Optional
    ("interpret_command", SAID | {"current_state": '{"电源": "关"}'}, SAID | {"current_state": {"电源": "关"}}, "dict-json"),
    ("interpret_command", SAID | {"current_state": "{'电源': None, 'on': True}"}, SAID | {"current_state": {"电源": None, "on": True}}, "dict-python"),
    ("interpret_command", SAID | {"current_state": "{电源: '关',}"}, SAID | {"current_state": {"电源": "关"}}, "dict-json5"),
    ("interpret_command", SAID | {"current_state": "null"}, SAID | {"current_state": None}, "optional-null-text"),
    ("interpret_command", SAID | {"current_state": "None"}, SAID | {"current_state": None}, "optional-none-text"),
    ("interpret_command", SAID | {"current_state": ""}, SAID, "optional-empty"),
    # names and the whole
    ("interpret_command", {"userInput": "关灯", "deviceCapabilities": ["turn_off"]}, {"user_input": "关灯", "device_capabilities": ["turn_off"]}, "names-camel"),
    ("search_devices", {"arguments": {"query": "客厅", "limit": 1}}, {"query": "客厅", "limit": 1}, "whole-wrapped"),
    ("search_devices", {"input": '{"query": "客厅"}'}, {"query": "客厅"}, "whole-text"),
]  # fmt: skip

REFUSED = [
    # str
    ("search_devices", {"query": None}, "INVALID_QUERY_TYPE", "must be a string, but got null", "str-null"),
    ("search_devices", {"query": {"text": "客厅"}}, "INVALID_QUERY_TYPE", "but got an object", "str-object"),
    ("search_devices", {}, "MISSING_QUERY", "'query' is required", "str-missing"),
    # int
    ("search_devices", {"query": "灯", "limit": "两"}, "INVALID_LIMIT_TYPE", "must be an integer", "int-chinese"),
    ("search_devices", {"query": "灯", "limit": "２"}, "INVALID_LIMIT_TYPE", "must be an integer", "int-full-width"),  # noqa: RUF001 - that is the point
    ("search_devices", {"query": "灯", "limit": 2.5}, "INVALID_LIMIT_TYPE", "got the number 2.5", "int-fraction"),
    ("search_devices", {"query": "灯", "limit": [1, 2]}, "INVALID_LIMIT_TYPE", "got an array", "int-list"),
    # float
    ("set_climate", CLIMATE | {"temperature": "21.5°C"}, "INVALID_TEMPERATURE_TYPE", "must be a number", "float-unit"),
    ("set_climate", CLIMATE | {"temperature": "21,5"}, "INVALID_TEMPERATURE_TYPE", "must be a number", "float-comma"),
    ("set_climate", CLIMATE | {"temperature": "二十一"}, "INVALID_TEMPERATURE_TYPE", "must be a number", "float-chinese"),
    ("set_climate", CLIMATE | {"temperature": 50}, "INVALID_TEMPERATURE_VALUE", "at most 35", "float-range"),
    # bool
    ("set_climate", CLIMATE | {"quiet": "是"}, "INVALID_QUIET_TYPE", "must be a boolean", "bool-chinese"),
    ("set_climate", CLIMATE | {"quiet": 2}, "INVALID_QUIET_TYPE", "must be a boolean", "bool-two"),
    # Literal
    ("set_climate", CLIMATE | {"mode": "制冷"}, "INVALID_MODE_VALUE", '"auto", "heat", "cool", "off"', "literal-chinese"),
    ("set_climate", CLIMATE | {"mode": "cooling"}, "INVALID_MODE_VALUE", 'Did you mean "cool"?', "literal-near"),
    ("set_climate", CLIMATE | {"mode": ""}, "INVALID_MODE_VALUE", "must be one of", "literal-empty"),
    # a list of dict
    ("execute_commands", LIGHT | {"commands": "开灯"}, "INVALID_COMMANDS_TYPE", "must be an array of objects", "dicts-words"),
    ("execute_commands", LIGHT | {"commands": '[{"set": "power"'}, "INVALID_COMMANDS_TYPE", "must be an array", "dicts-cut-off"),
    ("execute_commands", LIGHT | {"commands": None}, "INVALID_COMMANDS_TYPE", "but got null", "dicts-null"),
    # a list of str
    ("interpret_command", SAID | {"device_capabilities": "开关、亮度"}, "INVALID_DEVICE_CAPABILITIES_TYPE", "Write it as JSON", "list-chinese-commas"),
    ("interpret_command", SAID | {"device_capabilities": "turn_on,turn_off"}, "INVALID_DEVICE_CAPABILITIES_TYPE", "Write it as JSON", "list-commas"),
    ("interpret_command", SAID | {"device_capabilities": ["开", 1]}, "INVALID_DEVICE_CAPABILITIES_TYPE", "'device_capabilities[1]'", "list-mixed"),
    # dict and Optional
    ("interpret_command", SAID | {"current_state": "关着"}, "INVALID_CURRENT_STATE_TYPE", "must be an object or null", "dict-words"),
    ("interpret_command", SAID | {"current_state": []}, "INVALID_CURRENT_STATE_TYPE", "must be an object or null", "dict-list"),
    # names
    ("search_devices", {"query": "灯", "房间": "客厅"}, "UNKNOWN_PARAMETER", "Accepted are 'query', 'limit'", "names-unknown"),
    ("set_climate", {"温度": 20}, "INVALID_ARGUMENTS", "'temperature' is required", "names-chinese"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "sent", "right", "strict"),
    lax_and_strict(pytest.param(*row[:3], id=row[3]) for row in REPAIRED),
)
async def test_a_wrong_form_does_what_the_right_one_does(strict, home, tool, sent, right):
    """A call that has one reading gets the answer that the right call gets."""
    wanted = await answer(build_server(strict=strict), tool, right)
    assert not wanted.is_error
    assert not (wanted.meta or {}).get("mcp_lenient")
    got = await answer(home, tool, sent)
    assert (got.is_error, got.structured_content) == (False, wanted.structured_content)


@pytest.mark.parametrize(
    ("tool", "sent", "code", "words", "strict"),
    lax_and_strict(pytest.param(*row[:4], id=row[4]) for row in REFUSED),
)
async def test_what_may_mean_several_things_is_refused(home, tool, sent, code, words):
    """A call without one reading gets the envelope, which says what is wanted."""
    told = await answer(home, tool, sent)
    assert told.is_error
    envelope = json.loads(told.content[0].text)
    assert envelope["error_code"] == code
    assert words in envelope["message"]


@pytest.mark.parametrize("strict", [True], ids=["strict"])
async def test_each_wrong_form_leaves_a_record(home):
    """On a strict server each repair is named in the result."""
    for tool, sent, _, name in REPAIRED:
        result = await answer(home, tool, sent)
        assert result.meta["mcp_lenient"]["repairs"], name


@servers
async def test_commands_change_the_home(home):
    """What a command sets is what a search finds afterwards."""
    await answer(home, "execute_commands", LIGHT | {"commands": json.dumps([ON])})
    found = await answer(home, "search_devices", {"query": "客厅灯"})
    assert [device["power"] for device in found.structured_content["result"]] == ["on"]


@servers
@pytest.mark.parametrize(
    ("said", "chosen"),
    [
        pytest.param("打开客厅灯", "turn_on", id="on"),
        pytest.param("请把灯关掉", "turn_off", id="off"),
        pytest.param("Make it brighter", "set_brightness", id="english"),
        pytest.param("温度调到22度", "set_temperature", id="temperature"),
        pytest.param("唱首歌", None, id="nothing"),
    ],
)
async def test_sentences_choose_a_capability(home, said, chosen):
    """A sentence chooses among what the device can do."""
    capabilities = str(["turn_on", "turn_off", "set_brightness", "set_temperature"])
    result = await answer(
        home, "interpret_command", {"user_input": said, "device_capabilities": capabilities}
    )
    assert result.structured_content["capability"] == chosen


@servers
@pytest.mark.parametrize(
    ("device", "change", "words"),
    [
        pytest.param("light-9", ON, "There is no device light-9", id="device"),
        pytest.param("cover-1", ON, "cover-1 has no power", id="property"),
    ],
)
async def test_the_tools_own_errors_stay_its_own(home, device, change, words):
    """What the house refuses is answered in the tool's words, not by an envelope."""
    result = await answer(home, "execute_commands", {"device_id": device, "commands": [change]})
    assert result.is_error
    assert words in result.content[0].text
    assert "mcp_lenient" not in (result.meta or {})
