"""What people say to the smart home, in Chinese and English: complaints, wishes, numbers, and what is not understood."""

from __future__ import annotations

import json

import pytest
from fastmcp.exceptions import ToolError
from tables import each_row

from smart_home import Home, interpret_command, leaves_out, unread

LAMP = {"switch": {"switch": "on"}, "switchLevel": {"level": 30}}
WHITE = {**LAMP, "colorTemperature": {"colorTemperature": 4000}}
HEAT = {"switch": {"switch": "on"}, "thermostatHeatingSetpoint": {"heatingSetpoint": 20.0}}
BLIND = {"windowShade": {"windowShade": "open"}, "windowShadeLevel": {"shadeLevel": 60}}
DOOR = {"lock": {"lock": "locked"}}


def lamp(level):
    """A lamp at this level."""
    return {**LAMP, "switchLevel": {"level": level}}


def heat(degrees):
    """A heater at this temperature."""
    return {**HEAT, "thermostatHeatingSetpoint": {"heatingSetpoint": degrees}}


def chosen(said, state):
    """The command and its argument; the error's code where there is none."""
    try:
        command = interpret_command(said, list(state), state)
    except ToolError as error:
        return json.loads(str(error))["error_code"]
    return " ".join(map(str, (command.command, *command.arguments)))


UNCLEAR = "UNCLEAR_COMMAND"
SENTENCES = [
    # A complaint asks for the opposite.
    pytest.param("太暗了", LAMP, "setLevel 60", id="too-dark-zh"),
    pytest.param("too dark", LAMP, "setLevel 60", id="too-dark"),
    pytest.param("It's too dark in here", LAMP, "setLevel 60", id="too-dark-here"),
    pytest.param("why is it so dark?", LAMP, "setLevel 60", id="so-dark"),
    pytest.param("怎么这么暗", LAMP, "setLevel 60", id="so-dark-zh"),
    pytest.param("有点暗", LAMP, "setLevel 60", id="a-bit-dark-zh"),
    pytest.param("it is a bit dim", LAMP, "setLevel 60", id="a-bit-dim"),
    pytest.param("I can't see anything", LAMP, "setLevel 60", id="cannot-see"),
    pytest.param("看不清", LAMP, "setLevel 60", id="cannot-see-zh"),
    pytest.param("not bright enough", LAMP, "setLevel 60", id="not-enough"),
    pytest.param("不够亮", LAMP, "setLevel 60", id="not-enough-zh"),
    pytest.param("太亮了", lamp(90), "setLevel 60", id="too-bright-zh"),
    pytest.param("too bright", lamp(90), "setLevel 60", id="too-bright"),
    pytest.param("灯光好刺眼", lamp(90), "setLevel 60", id="glaring-zh"),
    pytest.param("The light hurts my eyes", lamp(90), "setLevel 60", id="hurts"),
    pytest.param("别这么亮", lamp(90), "setLevel 60", id="not-so-bright-zh"),
    pytest.param("I'm cold", HEAT, "setHeatingSetpoint 21.0", id="cold"),
    pytest.param("我有点冷", HEAT, "setHeatingSetpoint 21.0", id="cold-zh"),
    pytest.param("冷死了", HEAT, "setHeatingSetpoint 21.0", id="freezing-zh"),
    pytest.param("I am freezing", HEAT, "setHeatingSetpoint 21.0", id="freezing"),
    pytest.param("太热了", heat(26), "setHeatingSetpoint 25", id="too-hot-zh"),
    pytest.param("it's way too warm", heat(26), "setHeatingSetpoint 25", id="too-warm"),
    pytest.param("热死我了", heat(26), "setHeatingSetpoint 25", id="too-hot-zh-2"),
    pytest.param("太暗了, 亮一点", LAMP, "setLevel 60", id="complaint-and-wish"),
    pytest.param("the light is too cold", WHITE, "setColorTemperature 3200", id="cold-light"),
    # A wish is a step, and never jumps to an end of the range.
    pytest.param("让灯光柔和一些", lamp(80), "setLevel 50", id="softer-zh"),
    pytest.param("让灯光柔和一些", lamp(10), "setLevel 5", id="softer-at-the-end"),
    pytest.param("a little brighter, please", LAMP, "setLevel 60", id="brighter"),
    pytest.param("brighter", lamp(90), "setLevel 95", id="brighter-at-the-end"),
    pytest.param("再亮一点", lamp(95), "setLevel 97", id="brighter-at-the-end-zh"),
    pytest.param("brighter", lamp(100), UNCLEAR, id="at-the-end"),
    pytest.param("dimmer", lamp(1), UNCLEAR, id="dimmest"),
    pytest.param("dim the lights", lamp(80), "setLevel 50", id="dim"),
    pytest.param("调暗一点", lamp(80), "setLevel 50", id="dim-zh"),
    pytest.param("less bright", lamp(80), "setLevel 50", id="less"),
    pytest.param("turn the brightness down", lamp(80), "setLevel 50", id="down"),
    pytest.param("亮度调低一点", lamp(80), "setLevel 50", id="down-zh"),
    pytest.param("把温度调高一点", HEAT, "setHeatingSetpoint 21.0", id="up-zh"),
    pytest.param("make it warmer", HEAT, "setHeatingSetpoint 21.0", id="warmer"),
    pytest.param("turn the heating up by 2 degrees", HEAT, "setHeatingSetpoint 22.0", id="up-by"),
    pytest.param("再高两度", HEAT, "setHeatingSetpoint 22.0", id="up-by-zh"),
    pytest.param("凉一点", HEAT, "setHeatingSetpoint 19.0", id="cooler-zh"),
    pytest.param("5 degrees warmer", heat(34), UNCLEAR, id="beyond-the-range"),
    pytest.param("暖一点", WHITE, "setColorTemperature 3200", id="warmer-light-zh"),
    pytest.param("close the blind a little", BLIND, "setShadeLevel 40", id="blind-a-little"),
    # A number is the new value, unless the sentence says that it is a change.
    pytest.param("set the light to 45%", LAMP, "setLevel 45", id="percent"),
    pytest.param("亮度调到百分之五十", LAMP, "setLevel 50", id="percent-zh"),
    pytest.param("温度调到二十二度", HEAT, "setHeatingSetpoint 22", id="degrees-zh"),
    pytest.param("too cold, set it to 23", HEAT, "setHeatingSetpoint 23", id="complaint-and-number"),
    pytest.param("full brightness", LAMP, "setLevel 100", id="most"),
    pytest.param("窗帘开一半", BLIND, "setShadeLevel 50", id="half-zh"),
    pytest.param("set it to 150%", LAMP, UNCLEAR, id="too-much"),
    pytest.param("70 degrees Fahrenheit", HEAT, UNCLEAR, id="fahrenheit"),
    pytest.param("between 20 and 22 degrees", HEAT, UNCLEAR, id="two-numbers"),
    # On, off, open, close, lock.
    pytest.param("打开客厅的灯", LAMP, "on", id="on-zh"),
    pytest.param("Can you turn the light on?", LAMP, "on", id="on-asked"),
    pytest.param("lights out", LAMP, "off", id="off"),
    pytest.param("把窗帘拉上", BLIND, "close", id="close-zh"),
    pytest.param("lock the front door", DOOR, "lock", id="lock"),
    pytest.param("开锁", DOOR, "unlock", id="unlock-zh"),
    # What is not understood is not done.
    pytest.param("is the light on?", LAMP, UNCLEAR, id="question"),
    pytest.param("灯开着吗", LAMP, UNCLEAR, id="question-zh"),
    pytest.param("don't turn the light off", LAMP, UNCLEAR, id="not"),
    pytest.param("不要关灯", LAMP, UNCLEAR, id="not-zh"),
    pytest.param("turn it off in 10 minutes", LAMP, UNCLEAR, id="later"),
    pytest.param("十分钟后关灯", LAMP, UNCLEAR, id="later-zh"),
    pytest.param("turn on every lamp except that one", LAMP, UNCLEAR, id="except"),
    pytest.param("除了这个都关掉", LAMP, UNCLEAR, id="except-zh"),
    pytest.param("off and on again", LAMP, UNCLEAR, id="both"),
    pytest.param("brighter but also dimmer", LAMP, UNCLEAR, id="both-ways"),
    pytest.param("I'm cold", WHITE, UNCLEAR, id="a-lamp-does-not-heat"),
    pytest.param("the lock is jammed", DOOR, UNCLEAR, id="a-noun"),
    pytest.param("I am on the sofa", LAMP, UNCLEAR, id="on-the-sofa"),
    pytest.param("play some jazz", LAMP, UNCLEAR, id="something-else"),
    pytest.param("唱首歌", LAMP, UNCLEAR, id="something-else-zh"),
    pytest.param("", LAMP, UNCLEAR, id="nothing"),
]


@each_row(("said", "state", "expected"), SENTENCES)
def test_a_sentence_chooses_what_it_means(said, state, expected):
    """A complaint is read as one, a wish is a step, and what is not understood is refused."""
    assert chosen(said, state) == expected


@each_row(
    ("said", "capabilities", "expected"),
    [
        pytest.param("柔和一些", "switch switchLevel", "setLevel 30", id="softer"),
        pytest.param("太暗了", "switch switchLevel", "setLevel 80", id="too-dark"),
        pytest.param("I'm cold", "thermostatHeatingSetpoint", "UNCLEAR_COMMAND", id="cold"),
        pytest.param("set it to 45%", "switchLevel", "setLevel 45", id="number"),
    ],
)
def test_without_a_state_a_temperature_is_not_guessed(said, capabilities, expected):
    """A light has a soft and a bright level; from which temperature to go on must be asked first."""
    assert chosen(said, dict.fromkeys(capabilities.split())) == expected


def test_what_is_understood_of_one_device_is_read_as_a_whole(tmp_path):
    """No sentence that chooses a command has a word that the chat would not have read."""
    home = Home(tmp_path / "smart_home.db")
    understood = [row.values for row in SENTENCES if row.values[2] != UNCLEAR]
    for said, state, _ in understood:
        assert [word for word in unread(said) if not home.known_by(word)] == [], said
        command = interpret_command(said, list(state), state)
        assert not leaves_out(said, list(state), command), said
