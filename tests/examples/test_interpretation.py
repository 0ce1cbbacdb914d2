"""What people say to the smart home, in Chinese and English: complaints, wishes, numbers, and what is not understood."""

from __future__ import annotations

import json

import pytest
from fastmcp.exceptions import ToolError
from tables import each_row

from smart_home import interpret_command, wants_of

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
    pytest.param("too dark", LAMP, "setLevel 60", id="too-dark"),
    pytest.param("why is it so dark?", LAMP, UNCLEAR, id="so-dark"),
    pytest.param("看不清", LAMP, "setLevel 60", id="cannot-see-zh"),
    pytest.param("not bright enough", LAMP, "setLevel 60", id="not-enough"),
    pytest.param("too bright", lamp(90), "setLevel 60", id="too-bright"),
    pytest.param("I'm cold", HEAT, "setHeatingSetpoint 21.0", id="cold"),
    pytest.param("太热了", heat(26), "setHeatingSetpoint 25", id="too-hot-zh"),
    pytest.param("太暗了, 亮一点", LAMP, "setLevel 60", id="complaint-and-wish"),
    pytest.param("the light is too cold", WHITE, "setColorTemperature 3200", id="cold-light"),
    # A wish is a step, and never jumps to an end of the range.
    pytest.param("让灯光柔和一些", lamp(80), "setLevel 50", id="softer-zh"),
    pytest.param("让灯光柔和一些", lamp(10), "setLevel 5", id="softer-at-the-end"),
    pytest.param("a little brighter, please", LAMP, "setLevel 60", id="brighter"),
    pytest.param("brighter", lamp(90), "setLevel 95", id="brighter-at-the-end"),
    pytest.param("brighter", lamp(100), UNCLEAR, id="at-the-end"),
    pytest.param("dim the lights", lamp(80), "setLevel 50", id="dim"),
    pytest.param("turn the heating up by 2 degrees", HEAT, "setHeatingSetpoint 22.0", id="up-by"),
    pytest.param("5 degrees warmer", heat(34), UNCLEAR, id="beyond-the-range"),
    pytest.param("暖一点", WHITE, "setColorTemperature 3200", id="warmer-light-zh"),
    pytest.param("close the blind a little", BLIND, "setShadeLevel 40", id="blind-a-little"),
    # A number is the new value, unless the sentence says that it is a change.
    pytest.param("温度调到二十二度", HEAT, "setHeatingSetpoint 22", id="degrees-zh"),
    pytest.param("full brightness", LAMP, "setLevel 100", id="most"),
    pytest.param("窗帘开一半", BLIND, "setShadeLevel 50", id="half-zh"),
    pytest.param("70 degrees Fahrenheit", HEAT, UNCLEAR, id="fahrenheit"),
    # On, off, open, close, lock.
    pytest.param("Can you turn the light on?", LAMP, "on", id="on-asked"),
    pytest.param("lights out", LAMP, "off", id="off"),
    pytest.param("lock the front door", DOOR, "lock", id="lock"),
    # What is not understood is not done.
    pytest.param("don't turn the light off", LAMP, UNCLEAR, id="not"),
    pytest.param("turn it off in 10 minutes", LAMP, UNCLEAR, id="later"),
    pytest.param("the lock is jammed", DOOR, UNCLEAR, id="a-noun"),
    pytest.param("", LAMP, UNCLEAR, id="nothing"),
]

PARAPHRASES = [
    pytest.param("put the heating off", HEAT, "off", id="put-off"),
    pytest.param("可以把灯关了吗", LAMP, "off", id="may-it-zh"),
    pytest.param("open the curtain halfway", BLIND, "setShadeLevel 50", id="halfway"),
    pytest.param("reduce the brightness by 15%", lamp(80), "setLevel 65", id="reduce-by"),
    pytest.param("暖气开大一点", HEAT, "setHeatingSetpoint 21.0", id="more-heating-zh"),
    pytest.param("turn it down to 18 degrees", HEAT, "setHeatingSetpoint 18", id="down-to"),
]
HOSTILE = [
    # A number that is no target.
    pytest.param("95% is far too bright", lamp(95), UNCLEAR, id="number-in-a-complaint"),
    pytest.param("turn the brightness up 80%", LAMP, UNCLEAR, id="up-or-to"),
    pytest.param("20% brighter", LAMP, UNCLEAR, id="of-what"),
    pytest.param("零下五度", HEAT, UNCLEAR, id="below-zero-zh"),
    pytest.param("set it to ３０%", LAMP, UNCLEAR, id="full-width"),  # noqa: RUF001 - that is the point
    pytest.param("调到一百零一", LAMP, UNCLEAR, id="one-too-much-zh"),
    pytest.param("调到二三", LAMP, UNCLEAR, id="no-number-zh"),
    pytest.param("set it to 33.3%", LAMP, UNCLEAR, id="no-whole-percent"),
    # A way that the state does not allow.
    pytest.param("dim it to 80%", lamp(20), UNCLEAR, id="dim-up"),
    pytest.param("too dark, set it to 10%", LAMP, UNCLEAR, id="reason-against-number"),
    pytest.param("brighter", lamp(120), UNCLEAR, id="outside-of-the-range"),
    pytest.param("brighter", lamp(True), UNCLEAR, id="a-level-that-is-none"),
    # Questions, negations and conditions.
    pytest.param("is it too bright", lamp(90), UNCLEAR, id="asked-without-a-mark"),
    pytest.param("不太亮", lamp(90), UNCLEAR, id="not-very-zh"),
    pytest.param("灯开着", LAMP, UNCLEAR, id="a-state-zh"),
    # Words inside of words, and words of another kind of device.
    pytest.param("开心一点", LAMP, UNCLEAR, id="be-happy-zh"),
    pytest.param("打开窗帘", LAMP, UNCLEAR, id="another-kind-zh"),
    pytest.param("get out", LAMP, UNCLEAR, id="get-out"),
    # A wish beside a wish is one more, whichever way it goes.
    pytest.param("set it to 23, up by 2 degrees", HEAT, UNCLEAR, id="to-and-up"),
    pytest.param("别这么亮，调到10%", LAMP, UNCLEAR, id="a-wish-is-no-reason-zh"),
    # A complaint beside a wish is its reason, which fits or not.
    pytest.param("I'm cold, up by 3 degrees", HEAT, "setHeatingSetpoint 23.0", id="reason-and-step"),
    pytest.param("turn it off, it is too dark", LAMP, UNCLEAR, id="off-against-reason"),
    # Several.
    pytest.param("每个灯都打开", LAMP, UNCLEAR, id="each-zh"),
    pytest.param("dimmest", lamp(80), UNCLEAR, id="superlative"),
]
TABLE = [*SENTENCES, *PARAPHRASES, *HOSTILE]


@each_row(("said", "state", "expected"), TABLE)
def test_a_sentence_chooses_what_it_means(said, state, expected):
    """A complaint is read as one, a wish is a step, and what is not understood is refused."""
    assert chosen(said, state) == expected


@each_row(
    ("said", "capabilities", "expected"),
    [
        pytest.param("柔和一些", "switch switchLevel", "get_status", id="softer"),
        pytest.param("太暗了", "switch switchLevel", "get_status", id="too-dark"),
        pytest.param("I'm cold", "thermostatHeatingSetpoint", "get_status", id="cold"),
        pytest.param("set it to 45%", "switchLevel", "setLevel 45", id="number"),
    ],
)
@pytest.mark.parametrize("state", [None, {}], ids=["null", "empty"])
def test_without_a_state_a_step_is_not_guessed(said, capabilities, expected, state):
    """From which value to go on must be asked first, or a step might go the wrong way."""
    try:
        command = interpret_command(said, capabilities.split(), state)
        told = f"{command.command} {command.arguments[0]}"
    except ToolError as error:
        told = str(error)
    assert expected in told


@each_row(
    ("said", "state", "why"),
    [
        pytest.param("set it to -5 degrees", HEAT, "from 5 to 35 degrees", id="range"),
        pytest.param("调到百分之一百五十", LAMP, "from 0 to 100%", id="range-zh"),
        pytest.param("brighter", lamp(100), "It is at 100 now", id="end"),
        pytest.param("turn all lamps off", LAMP, "Only one device at a time", id="several"),
        pytest.param("is it too dark?", LAMP, "A question is not acted on.", id="question"),
        pytest.param("太亮了, 20%", LAMP, "say 'set it to 20'", id="number"),
        pytest.param("don't turn it off", LAMP, 'I could not read "don\'t"', id="unread"),
        pytest.param("打开窗帘", LAMP, "not called so: 窗帘", id="kind"),
        pytest.param("open the door", DOOR, "It can only be locked, be unlocked.", id="command"),
    ],
)
def test_a_refusal_says_why(said, state, why):
    """What is not done is not done for a reason that is said, with what can be said instead."""
    with pytest.raises(ToolError) as caught:
        interpret_command(said, list(state), state)
    assert why in json.loads(str(caught.value))["message"]


UNDERSTOOD = [row.values[:2] for row in TABLE if row.values[2] != UNCLEAR]


@pytest.mark.parametrize(
    "strange", ["{} xyzzy", "never {}", "{}, unless it rains", "塔{}", "{} / 2", "{} 3 4", "why {}"]
)
def test_a_word_more_is_not_passed_over(strange):
    """No sentence is acted on with a word, a sign or a number that is not read."""
    acted = [said for said, state in UNDERSTOOD if chosen(strange.format(said), state) != UNCLEAR]
    assert acted == []


@pytest.mark.parametrize("joint", [", ", "; ", "，"])
def test_no_wish_is_dropped(joint):
    """Of two sentences at once both are done, or neither: one is chosen alone only if the other complains of the same."""
    done = {said: chosen(said, state) for said, state in UNDERSTOOD if state == LAMP}
    complains = {said: all(want.is_complaint for want in wants_of(said)) for said in done}
    pairs = [(one, other) for one in done for other in done if one != other]
    told = {(one, other): chosen(f"{one}{joint}{other}", LAMP) for one, other in pairs}
    acted = {pair for pair in pairs if told[pair] != UNCLEAR}
    assert [pair for pair in acted if not any(complains[said] for said in pair)] == []
    wishes = {pair: next((said for said in pair if not complains[said]), pair[0]) for pair in acted}
    assert [pair for pair in acted if told[pair] != done[wishes[pair]]] == []
    assert acted


def test_a_question_mark_makes_a_question():
    """A sentence that is asked is not acted on, unless it begins as a request."""
    acted = [said for said, state in UNDERSTOOD if chosen(f"{said}?", state) != UNCLEAR]
    assert {
        said for said in acted if not said.casefold().startswith(("can you", "would you", "可以"))
    } == set()


@pytest.mark.parametrize("level", [0, 1, 2, 50, 98, 99, 100])
def test_a_step_goes_its_way_and_never_to_an_end(level):
    """A relative wish moves towards what was asked for, or is refused."""
    for said, way in (
        ("brighter", 1),
        ("太暗了", 1),
        ("不够亮", 1),
        ("dimmer", -1),
        ("太亮了", -1),
        ("柔和一些", -1),
    ):
        told = chosen(said, lamp(level))
        if told != UNCLEAR:
            moved = int(told.removeprefix("setLevel "))
            assert (moved - level) * way > 0, said
            assert 0 < moved < 100, said
