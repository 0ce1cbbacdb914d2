"""A smart home: finds devices, runs commands, and understands what people say in Chinese and English.

python examples/smart_home.py           a chat in the terminal; --model NAME lets a model answer
python examples/smart_home.py --page    the same, and a page that shows the home and the last calls
python examples/smart_home.py --serve   the server over stdio

The house is an SQLite file. Devices and commands look as in SmartThings. This file needs mcp-lenient and nothing else.
"""

from __future__ import annotations

import os
import signal

if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # as long as the imports run

import argparse
import asyncio
import json
import logging
import re
import sqlite3
import sys
import urllib.error
import urllib.request
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from difflib import get_close_matches
from html import escape
from pathlib import Path
from secrets import token_urlsafe
from threading import Thread
from typing import Annotated, Any, Literal, NamedTuple, cast

from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from mcp_lenient import (
    Decision,
    LenientMiddleware,
    Policy,
    configure_logging,
    dispatch,
    lenient_session,
    tool_error,
)

DATA = Path(os.environ.get("EXAMPLES_DATA") or Path(__file__).parent / "data")
SYSTEM = (
    "You control a smart home. When the user names a place and a kind of device, call search_devices with both, "
    "such as '客厅 灯'. Use the fullId of what it finds. Call interpret_command where it is not clear which command "
    "is meant, then execute_commands. Answer in the user's language."
)

# Devices are found by their words; the other columns come with them.
TABLE = """
CREATE VIRTUAL TABLE IF NOT EXISTS devices USING fts5(
    words, id UNINDEXED, fullId UNINDEXED, name UNINDEXED, room UNINDEXED, type UNINDEXED, state UNINDEXED,
    tokenize = 'porter unicode61'
)
"""
SEARCH = "SELECT id FROM devices WHERE devices MATCH ?"

JOINING = frozenset("a an and at for in it me my of on please the to with 的 了 把 在 和 请".split())

WORD = r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+"
READS = {"readOnlyHint": True}
DeviceId = Annotated[str, "The fullId of a device."]


class DeviceSeed(NamedTuple):
    """A device that the house starts with; ``words`` are other names for it."""

    id: str
    name: str
    room: str
    type: str
    words: str
    state: dict[str, dict[str, Any]]


DEVICES = (
    DeviceSeed("abc123", "客厅吸顶灯", "客厅", "switch", "living room ceiling light lamp",
               {"switch": {"switch": "off"}, "switchLevel": {"level": 80}}),
    DeviceSeed("bed001", "卧室台灯", "卧室", "switch", "bedroom desk light lamp",
               {"switch": {"switch": "on"}, "switchLevel": {"level": 60}, "colorTemperature": {"colorTemperature": 4000}}),
    DeviceSeed("std001", "Studio lamp", "studio", "switch", "light 书房 工作室 落地灯",
               {"switch": {"switch": "off"}, "switchLevel": {"level": 50}}),
    DeviceSeed("air001", "客厅空调", "客厅", "thermostat", "living room air conditioner ac aircon climate heating thermostat 冷气 暖气",
               {"switch": {"switch": "off"}, "thermostatHeatingSetpoint": {"heatingSetpoint": 20.0}}),
    DeviceSeed("bld001", "Kitchen blind", "kitchen", "windowShade", "shade 厨房 窗帘 百叶窗",
               {"windowShade": {"windowShade": "open"}, "windowShadeLevel": {"shadeLevel": 100}}),
    DeviceSeed("dor001", "大门锁", "玄关", "lock", "front door entrance hall lock",
               {"lock": {"lock": "locked"}}),
)  # fmt: skip

TIME = r"^(?:[01]?\d|2[0-3])(?::[0-5]\d)?$"
NOTHING: TypeAdapter[Any] = TypeAdapter(tuple[()])
PERCENT: TypeAdapter[Any] = TypeAdapter(tuple[Annotated[int, Field(ge=0, le=100)]])
KELVIN: TypeAdapter[Any] = TypeAdapter(tuple[Annotated[int, Field(ge=2200, le=6500)]])
CELSIUS: TypeAdapter[Any] = TypeAdapter(tuple[Annotated[float, Field(ge=5, le=35)]])


class Effect(NamedTuple):
    """What a command sets: an attribute to a value, or to the argument that the command takes."""

    attribute: str
    value: str = ""
    takes: TypeAdapter[Any] = NOTHING


CAPABILITIES: dict[str, dict[str, Effect]] = {
    "switch": {"on": Effect("switch", "on"), "off": Effect("switch", "off")},
    "switchLevel": {"setLevel": Effect("level", takes=PERCENT)},
    "colorTemperature": {"setColorTemperature": Effect("colorTemperature", takes=KELVIN)},
    "thermostatHeatingSetpoint": {"setHeatingSetpoint": Effect("heatingSetpoint", takes=CELSIUS)},
    "windowShade": {"open": Effect("windowShade", "open"), "close": Effect("windowShade", "closed")},
    "windowShadeLevel": {"setShadeLevel": Effect("shadeLevel", takes=PERCENT)},
    "lock": {"lock": Effect("lock", "locked"), "unlock": Effect("lock", "unlocked")},
}


class Command(BaseModel):
    """One command to one part of a device."""

    model_config = ConfigDict(extra="forbid")

    component: Literal["main"] = Field(default="main", description="The part of the device.")
    capability: str = Field(description="A capability of the device, such as 'switch'.")
    command: str = Field(description="A command of this capability, such as 'on'.")
    arguments: list[Any] = Field(default_factory=list, description="What the command takes, such as [50].")


Commands = Annotated[list[Command], Field(min_length=1, description="What the device does, in order.")]


class Device(BaseModel):
    """A device of the house."""

    id: str
    fullId: str  # noqa: N815 - SmartThings writes it so
    name: str
    room: str
    type: str
    capabilities: list[str]


@dataclass(frozen=True)
class Home:
    """The devices of a house and their state, in one SQLite file; most methods are tools of the server."""

    file: Path

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Open the file, which begins with the devices above; other calls wait until the block ends."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.file)) as connection, connection:
            connection.row_factory = sqlite3.Row
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(TABLE)
            if not connection.execute("SELECT 1 FROM devices").fetchone():
                connection.executemany("INSERT INTO devices VALUES (?, ?, ?, ?, ?, ?, ?)", map(_row, DEVICES))
            yield connection

    def rows(self) -> list[dict[str, Any]]:
        """Return all devices."""
        with self._transaction() as connection:
            return [*map(dict, connection.execute("SELECT * FROM devices ORDER BY rowid"))]

    def ranked(self, query: str) -> Counter[str]:
        """Count how many words of a text each device is known by; the ids of those with any."""
        found = Counter[str]()
        for token in dict.fromkeys(tokens(query)):
            found.update(self.known_by(token))
        return found

    def known_by(self, word: str) -> list[str]:
        """Return the ids of the devices that are known by a word, in any form of it."""
        with self._transaction() as connection:
            return [row["id"] for row in connection.execute(SEARCH, (f'"{word}"',))]

    def search_devices(
        self,
        query: Annotated[str, "A place and a kind of device, such as '客厅 灯'."],
        limit: Annotated[int, Field(description="The most devices to return.", ge=1, le=50)] = 5,
    ) -> list[Device]:
        """Find devices by room, name or kind, in Chinese or English; those with most of the words come first."""
        rows = {row["id"]: row for row in self.rows()}
        found = self.ranked(query)
        if not found:
            has = ", ".join(f"{row['name']} ({row['room']}, {row['type']})" for row in rows.values())
            told = ToolResult(
                f"No device is called so. The home has: {has}.", structured_content={"result": []}
            )
            return cast(
                "list[Device]", told
            )  # an empty list with words; the output schema is that of the list
        best = sorted(found, key=lambda key: (-found[key], [*rows].index(key)))[:limit]
        return [Device(capabilities=list(json.loads(rows[key]["state"])), **rows[key]) for key in best]

    def get_status(self, device_id: DeviceId) -> dict[str, dict[str, Any]]:
        """Return the state of a device, by capability."""
        with self._transaction() as connection:
            return _state(connection, device_id)

    def execute_commands(self, device_id: DeviceId, commands: Commands) -> dict[str, str]:
        """Give a device commands. When one of them is wrong, none is run."""
        with self._transaction() as connection:
            state = _state(connection, device_id)
            for at, command in enumerate(commands):
                attribute, value = _effect(command, state, f"commands[{at}]")
                state[command.capability][attribute] = value
            _keep(connection, device_id, state)
        return {"status": "ACCEPTED"}

    def set_climate(
        self,
        device_id: Annotated[str, "The fullId of an air conditioner."],
        temperature: Annotated[float, Field(description="In degrees Celsius.", ge=5, le=35)],
        power: Annotated[Literal["on", "off"], "Whether it runs."] = "on",
        quiet: Annotated[bool, "Whether it blows slowly."] = False,  # noqa: FBT002 - a tool is called by name
        until: Annotated[
            str | None, Field(description="When it ends, such as '22:00'; null for never.", pattern=TIME)
        ] = None,
    ) -> dict[str, Any]:
        """Set an air conditioner in one call."""
        capability, command = "thermostatHeatingSetpoint", "setHeatingSetpoint"
        heat = Command(capability=capability, command=command, arguments=[temperature])
        self.execute_commands(device_id, [heat, Command(capability="switch", command=power)])
        with self._transaction() as connection:
            state = _state(connection, device_id)
            state[capability] |= {"quiet": quiet, "until": until}
            _keep(connection, device_id, state)
        return {"temperature": temperature, "power": power, "quiet": quiet, "until": until}


def tokens(text: str) -> list[str]:
    """Split a text into words, without those that only join others; each Han character is one.

    >>> tokens("客厅的 ceiling light")
    ['客', '厅', 'ceiling', 'light']
    """
    return [word for word in re.findall(WORD, text.casefold()) if word not in JOINING]


def _row(seed: DeviceSeed) -> tuple[str, ...]:
    words = " ".join(tokens(f"{seed.name} {seed.room} {seed.type} {seed.words}"))
    return (words, seed.id, f"uuid-{seed.id}", seed.name, seed.room, seed.type, json.dumps(seed.state))


def _state(connection: sqlite3.Connection, device_id: str) -> dict[str, dict[str, Any]]:
    row = connection.execute("SELECT state FROM devices WHERE ? IN (id, fullId)", (device_id,)).fetchone()
    if row is None:
        message = f"There is no device {device_id!r}. Use the fullId of what search_devices finds."
        raise tool_error("UNKNOWN_DEVICE", message, "device_id", received_value=device_id)
    return dict(json.loads(row["state"]))


def _keep(connection: sqlite3.Connection, device_id: str, state: dict[str, Any]) -> None:
    connection.execute("UPDATE devices SET state = ? WHERE ? IN (id, fullId)", (json.dumps(state), device_id))


def _effect(command: Command, state: dict[str, Any], where: str) -> tuple[str, Any]:
    """Return the attribute that a command sets, and its value."""
    supported = {capability: CAPABILITIES[capability] for capability in state}
    commands = _known("capability", command.capability, supported, where)
    effect: Effect = _known("command", command.command, commands, where)
    try:
        values = effect.takes.validate_python(tuple(command.arguments))
    except ValidationError as error:
        fault = "; ".join(each["msg"] for each in error.errors(include_url=False, include_input=False))
        message = f"The arguments of {command.command!r} are wrong: {fault}. Nothing was changed."
        raise tool_error("INVALID_COMMAND_ARGUMENTS", message, f"{where}.arguments") from None
    return effect.attribute, values[0] if values else effect.value


def _known(what: str, sent: str, known: dict[str, Any], where: str) -> Any:
    """Return what is known by a name; an unknown one is an error that lists those that are known."""
    if sent in known:
        return known[sent]
    allowed = list(known)
    meant = "".join(f" Did you mean {near!r}?" for near in get_close_matches(sent, allowed, n=1, cutoff=0.4))
    message = f"The device has no {what} {sent!r}.{meant} It has: {', '.join(allowed)}. Nothing was changed."
    code = f"UNSUPPORTED_{what.upper()}"
    raise tool_error(code, message, f"{where}.{what}", received_value=sent, allowed_values=allowed)


# What people say, by its meaning. At each place of a sentence the first pattern that matches is used.
WORDS = {
    "later": r"\b(?:in|after|for|every)\b[^,.]*?\b(?:second|minute|hour|day)s?\b|\bat \d+(?::\d+| ?[ap]m\b| o'clock)"
    r"|\b(?:when|if|unless|until|while|later|tomorrow|tonight)\b|分钟|小时|点钟|秒后|以后|之后|明天|今晚|等会|如果|要是|的话|每",
    "except": r"\b(?:except|excluding|without|but not|(?:other|rather) than|apart from|instead of)\b|除|以外",
    "you": r"\b(?:can|could|would|will) you\b|能|可不可以|可以|请|\bplease\b",
    "ask": r"[?？吗呢]|^(?:is|are|what|how|why|which|does|did)\b|为什么|怎么|是不是",
    "see_little": r"(?:can't|cannot|can not) (?:even |really )?see|看不[清见到]",
    "see_much": r"hurts? (?:my|the|our) eyes?|刺眼|晃眼|伤眼|glaring|blinding",
    "not_so": r"(?:别|不要|不用|没)(?:那么|这么|太)|(?<!is )(?<!'s )\b(?:not|don't)(?: be| make it)? (?:so|that)\b|\bless\b(?! light)",
    "not_enough": r"不够|(?:\bnot|n't)(?: \w+)?(?= \w+ enough)",
    "not": r"不|别|没|\b(?:not|never|no)\b|(?<!ca)n't\b",
    "fine": r"\benough\b|\b(?:nice|good|perfect|fine)\b|够|正好|刚好",
    "too": r"\b(?:too|so|very|pretty|quite|really|rather)\b|\ba (?:bit|little)(?: too)?(?= (?:dark|dim|bright|cold|cool|chilly|hot|warm)\b)"
    r"|太|好(?=[亮暗黑冷热凉])|很|真|这么|那么|有点儿?|有些",
    "little": r"\ba (?:little|bit)\b|\bslightly\b|一?点儿?|一?些|稍微?|一下",
    "on": r"\b(?:turn|switch|put|power)(?: \w+){0,6}? on\b|^on\b|\bon(?=$| again|[.!,])|\bopen\b|(?:打开|开启|开(?!关|着|锁|[高低大小亮暗暖]))",
    "off": r"\b(?:turn|switch|power|shut)(?: \w+){0,6}? off\b|^off\b|\boff(?=$| again|[.!,])|lights? out\b|\b(?:close|shut)\b"
    r"|(?<!开)关(?!于|着|系|小)|熄|拉上|放下",
    "unlock": r"\bunlock\b|解锁|开锁",
    "lock": r"(?:^|\b(?:please|and|to|you|then) )lock\b|上锁|锁(?:[上好住了]|(?=门)|$)",
    "most": r"\b(?:full|max|maximum|brightest)\b|最亮|全亮",
    "level": r"\bbrightness\b|亮度",
    "heat": r"\b(?:temperature|heating|thermostat|the heat)\b|温度|暖气",
    "color": "colou?r temperature|色温",
    "percent": r"%|\bpercent\b",
    "degree": r"度|°(?! ?f)c?|\bdegrees?\b",
    "kelvin": r"(?<=\d) ?k\b|\bkelvin\b",
    "other_unit": r"\bf\b|fahrenheit|华氏",
    "number": r"\d+(?:\.\d+)?",
    "brighter": r"\b(?:brighter|lighter|brighten|more light)\b",
    "darker": r"\b(?:darker|dimmer|softer|soften|darken|less light)\b",
    "hotter": r"\b(?:warmer|hotter)\b",
    "colder": r"\b(?:cooler|colder)\b",
    "bright": r"\bbright\b|亮",
    "dark": r"\b(?:dark|gloomy)\b|暗|黑",
    "dim": r"\b(?:dim|soft)\b|柔和|弱",
    "hot": r"\b(?:hot|boiling|sweating)\b|热",
    "warm": r"\b(?:warm|heat)\b|暖和?",
    "cold": r"\b(?:cold|chilly|freezing)\b|冷|冻",
    "cool": r"\bcool\b|凉快?",
    "up": r"\bup\b|\b(?:higher|increase|raise|high)\b|高|升|调大|开大",
    "down": r"\bdown\b|\b(?:lower|decrease|reduce|low)\b|低|降|调小|关小",
    "dead": "死|坏",
    "to": r"\b(?:to|at)\b|到|至|成|=",
    "me": r"\b(?:i|we)(?:'m|'re| am| are| feel)?\b|我们?",
    "is": r"\b(?:is|are|feels?|looks?|it's|getting)\b|觉得|感觉",
    "make": r"\b(?:make|turn|set|keep|get|want|need|like|let|more)\b|调|弄|变|让|使|要|更|再",
}
LEXER = re.compile("|".join(f"(?P<{tag}>{said})" for tag, said in WORDS.items()), re.IGNORECASE)
PLUS, MINUS = "bright|brighter|hot|hotter|warm|up", "dark|darker|dim|cold|colder|cool|down"
ADJECTIVE = f"(?:{PLUS}|{MINUS})"
# Matched against the meanings of a clause's words: these ask for the opposite of the adjective, or for less of it.
COMPLAINS = re.compile(
    rf"\b(?:too|not_so)(?: is| make| too)* ({ADJECTIVE})\b|\b(?:is|me) (bright|dark|dim|hot|warm|cold|cool)\b"
    r"|\b(hot|cold) dead\b|^(bright|dark|hot|cold)$"
)
WISHES = re.compile(
    r"\b(?:not_enough|make)(?: \w+)*? (bright|dark|dim|hot|warm|cold|cool|up|down)\b|\b(brighter|darker|hotter|colder|up|down)\b"
    r"|\b(bright|dark|dim|hot|warm|cold|cool) little\b|^(?:you )?(?:little )?(dim|warm|cool)\b"
)
CLAUSES = r"[,;.!，；。！]\s*(?!\d)|\bbut\b"  # noqa: RUF001 - as people type it
STOPS = {"later", "except", "not", "fine", "other_unit"}
HAN_DIGITS = "零一二三四五六七八九"
HAN_NUMBER = re.compile(
    r"百分之([零一二三四五六七八九十百]+)|(?<=[到至成])([零一二三四五六七八九十]+)|([零一二两三四五六七八九十]+)(?=度)"
)


class Scale(NamedTuple):
    """A value that people ask to be more or less of."""

    command: str
    nouns: set[str]
    step: float
    usual: dict[int, int] = {}  # noqa: RUF012 - a named tuple; what more and less mean where the state is not known


SCALES = {
    "switchLevel": Scale("setLevel", {"level", "percent", "most"}, 30, {1: 80, -1: 30}),
    "thermostatHeatingSetpoint": Scale("setHeatingSetpoint", {"heat", "degree"}, 1),
    "colorTemperature": Scale("setColorTemperature", {"color", "kelvin"}, 800, {1: 5000, -1: 2700}),
    "windowShadeLevel": Scale("setShadeLevel", {"percent", "most"}, 20),
}
TURNS = {
    "lock": {"lock": "lock", "unlock": "unlock"},
    "switch": {"on": "on", "off": "off"},
    "windowShade": {"on": "open", "off": "close"},
}


@dataclass(frozen=True)
class Wish:
    """What a sentence asks for: a capability, and its direction, number or new value."""

    capability: str
    way: int = 0
    number: float | None = None
    turn: str = ""


def interpret_command(
    user_input: Annotated[str, "What the user wants, such as '柔和一些'."],
    device_capabilities: Annotated[list[str], "The capabilities of the device."],
    current_state: Annotated[dict[str, Any] | None, "What get_status has returned, if it was called."] = None,
) -> Command:
    """Choose the command that a sentence means, in Chinese or English, for execute_commands.

    A complaint ("too dark") asks for the opposite, and "a little" is a step. What is not understood is an error.
    """
    clauses = [*map(_read, re.split(CLAUSES, _digits(user_input.casefold())))]
    wishes = {wish for tags in clauses if tags for wish in _wishes(tags, device_capabilities)}
    kinds = {tag for tags in clauses for tag, _ in tags}
    stopped = kinds & (STOPS - {"fine"} if "not_enough" in kinds else STOPS)
    wishes = _narrowed(wishes)
    if stopped or len(wishes) != 1:
        has = ", ".join(device_capabilities) or "nothing"
        raise _unclear(
            f"It is not clear what to do. The device has: {has}. Ask the user.", device_capabilities
        )
    (wish,) = wishes
    return _command(wish, current_state or {}, device_capabilities)


def _narrowed(wishes: set[Wish]) -> set[Wish]:
    """Leave out a complaint that only gives the reason: "too cold, set it to 23", "too hot, turn it off"."""
    exact = {wish for wish in wishes if wish.number is not None or wish.turn}
    if len(exact) != 1:
        return wishes
    (only,) = exact
    way = {"on": 1, "open": 1, "off": -1, "close": -1}.get(only.turn)
    fits = all(wish.way == way if way else wish.capability == only.capability for wish in wishes - exact)
    return exact if fits else wishes


def _digits(said: str) -> str:
    """Write the numbers of a Chinese sentence as digits: "百分之五十" is "50%", "一半" too."""

    def number(found: re.Match[str]) -> str:
        han = found[1] or found[2] or found[3]
        tens, ten, ones = han.replace("两", "二").replace("百", "十零").rpartition("十")
        value = int("".join(str(HAN_DIGITS.index(digit)) for digit in ones) or 0)
        value += 10 * (HAN_DIGITS.index(tens[-1]) if tens else 1) if ten else 0
        return f"{100 if han in {'百', '一百'} else value}{'%' if found[1] else ''}"

    return HAN_NUMBER.sub(number, re.sub(r"一半|\bhalf(?:way)?\b", " 50% ", said))


def _read(clause: str) -> list[tuple[str, str]]:
    """Return the meanings of a clause's words; unknown words are skipped."""
    return [(found.lastgroup or "", found[0]) for found in LEXER.finditer(clause.strip())]


def _wishes(tags: list[tuple[str, str]], capabilities: list[str]) -> set[Wish]:
    """Return what a clause may ask of a device: nothing where it is a question, several where it contradicts itself."""
    kinds = [tag for tag, _ in tags]
    said, ways = " ".join(kinds), set[Wish]()
    for pole, way in _poles(said):
        if scale := _scale_of(pole, kinds, capabilities):
            reverse = scale == "colorTemperature" and pole not in {
                "up",
                "down",
            }  # warm light has fewer kelvins
            ways.add(Wish(scale, -way if reverse else way))
    if "ask" in kinds and not {"you", "too", "see_little", "see_much", "not_so"} & {*kinds}:
        return set()
    numbers = [float(text) if "." in text else int(text) for tag, text in tags if tag == "number"]
    if "most" in kinds:
        numbers.append(100)
    if numbers:
        scale = _scale_of("", kinds, capabilities)
        relative = {wish.way for wish in ways if "to" not in kinds} or {0}
        return {Wish(scale, way, number) for way in relative for number in numbers} if scale else set()
    turned = [kind for before, kind in zip(["", *kinds], kinds, strict=False) if before != "is"]
    for capability, turns in TURNS.items():
        for kind in turns.keys() & {*turned} if capability in capabilities else ():
            by_steps = (
                "little" in kinds and capability == "windowShade" and "windowShadeLevel" in capabilities
            )
            step = Wish("windowShadeLevel", 1 if kind == "on" else -1)
            ways.add(step if by_steps else Wish(capability, turn=turns[kind]))
    return ways


def _poles(said: str) -> Iterator[tuple[str, int]]:
    """Yield the adjectives of a clause, with 1 where more is asked for and -1 where less."""
    complaints = [*COMPLAINS.finditer(said)]
    rest = COMPLAINS.sub(" ", said)
    for found, sign in (*((one, -1) for one in complaints), *((one, 1) for one in WISHES.finditer(rest))):
        pole = next(filter(None, found.groups()))
        yield pole, sign if pole in PLUS.split("|") else -sign
    if "see_little" in said or "see_much" in said:
        yield "bright", 1 if "see_little" in said else -1


def _scale_of(pole: str, kinds: list[str], capabilities: list[str]) -> str:
    """Return the capability that an adjective or a number is about; empty where the device has none."""
    known = [name for name in SCALES if name in capabilities]
    named = [name for name in known if SCALES[name].nouns & {*kinds}]
    if pole in {"up", "down"} or not pole:
        a_unit_of_none = not named and not pole and {"percent", "degree", "kelvin"} & {*kinds}
        without_anything = not named and not pole and "to" not in kinds
        return "" if a_unit_of_none or without_anything else next(iter([*named, *known]), "")
    if pole in {"bright", "brighter", "dark", "darker", "dim"}:
        return "switchLevel" if "switchLevel" in known else ""
    if "thermostatHeatingSetpoint" in known:
        return "thermostatHeatingSetpoint"
    of_a_light = pole != "hot" and "me" not in kinds
    return "colorTemperature" if of_a_light and "colorTemperature" in known else ""


def _command(wish: Wish, state: dict[str, Any], capabilities: list[str]) -> Command:
    """Return the command for a wish; one that is relative goes on from the current value."""
    if wish.turn:
        return Command(capability=wish.capability, command=wish.turn)
    scale = SCALES[wish.capability]
    effect = CAPABILITIES[wish.capability][scale.command]
    part = state.get(wish.capability)  # a state is written by capability, as get_status does, or flat
    current = (part if isinstance(part, dict) else state).get(effect.attribute)
    (bounds,) = effect.takes.json_schema()["prefixItems"]
    least, most = bounds["minimum"], bounds["maximum"]
    if not wish.way:
        value = wish.number
    elif isinstance(current, (int, float)):
        step = scale.step if wish.number is None else wish.number
        value = current + wish.way * step
        if wish.number is None and not least < value < most:  # a step never jumps to the end: half of the way
            room = (most - current if wish.way > 0 else current - least) / 2
            value = current + wish.way * (int(room) if isinstance(current, int) else round(room, 1))
            value = None if value == current else value
    else:
        value = scale.usual.get(wish.way) if wish.number is None else None
    if value is None or not least <= value <= most:
        told = (
            f"It is {current}"
            if isinstance(current, (int, float))
            else "Its state is not known: call get_status first"
        )
        raise _unclear(
            f"It cannot be set so. {told}; it goes from {least} to {most}. Ask the user.", capabilities
        )
    return Command(capability=wish.capability, command=scale.command, arguments=[value])


def _unclear(message: str, capabilities: list[str]) -> ToolError:
    return tool_error("UNCLEAR_COMMAND", message, "user_input", allowed_values=capabilities)


# What a sentence may say beside what is read: of words that are in neither of these, nothing is done.
FILLERS = frozenset(
    "a an and any anything are as at be been can could d do does doing done each every everything for get go have hello hey "
    "hi how i in is it its just kindly light ll m me my now of oh ok okay on one ones our out over please re really s see so "
    "some somewhat state status t thank thanks that the them there here these this those to us ve want was way we what which "
    "why will with would you youryour all both by "
    "一 个 下 些 人 们 你 我 您 它 她 他 这 那 里 儿 就 得 地 的 了 着 过 吧 啊 呀 哦 嘛 给 帮 把 请 在 和 是 想 麻 烦 谢 现 家 屋 死 起 来 去 光 "
    "都 全 部 所 有 掉 点 多 少 什 么 哪 几 好 上 住".split()
)
EACH = re.compile(r"\b(?:all|both|each|every|everything|any)\b|所有|全部|都", re.IGNORECASE)
NEXT = re.compile(
    r"[,;，；。]\s*(?:and\s+)?(?:then\s+)?|\b(?:and|then)\b\s*(?:then\b)?|\.\s+|然后|接着|并且|再(?=[把打开关锁拉])",
    re.IGNORECASE,
)


def unread(said: str) -> list[str]:
    """Return the words of a sentence without a known meaning, except fillers; names of devices are included.

    >>> unread("turn on every lamp except the studio lamp")
    ['lamp', 'except', 'studio']
    """

    def inner(found: re.Match[str]) -> str:  # of "turn the studio lamp on", the words between stay unread
        return f" {' '.join(found[0].split()[1:-1])} " if found.lastgroup in {"on", "off"} else " "

    rest = LEXER.sub(inner, _digits(said.casefold()))
    return [word for word in dict.fromkeys(re.findall(WORD, rest)) if word not in FILLERS]


def leaves_out(said: str, capabilities: list[str], command: Command) -> bool:
    """Return whether a sentence asks also for what a command does not do, such as another turn or a step."""
    turns = TURNS.get(command.capability, {})
    used = {kind for kind, turn in turns.items() if turn == command.command}
    used |= {"on", "off"} if command.capability == "windowShadeLevel" else set()
    for clause in re.split(CLAUSES, _digits(said.casefold())):
        kinds = [tag for tag, _ in _read(clause)]
        turned = {kind for before, kind in zip(["", *kinds], kinds, strict=False) if before != "is"}
        poles = [pole for pole, _ in _poles(" ".join(kinds))]
        steps = bool(turns) and WISHES.search(COMPLAINS.sub(" ", " ".join(kinds)))
        if turned & {"on", "off", "lock", "unlock"} - used or steps:
            return True
        if not all(_scale_of(pole, kinds, capabilities) for pole in poles):
            return True
    return False


class Step(NamedTuple):
    """A part of a sentence, and the devices with a command that it may mean."""

    said: str
    commands: dict[str, Command]


@dataclass
class Conversation:
    """Answers what is typed, without a model: by the calls that a model would make, if all that was said is read.

    Attributes:
        home: Where the devices are looked up.
        spoken: The ids of the devices that were spoken of, the last one first.
        asked: What was asked for before it was clear of which device, with the devices that it may mean.
    """

    home: Home
    spoken: tuple[str, ...] = ()
    asked: Step | None = None

    async def reply(self, line: str, call: Call) -> str:
        """Find the device of each part of a line and choose its command; run all of them, or none and say why."""
        asked, self.asked = self.asked, None
        if asked and (key := self._choice(line, [*asked.commands])):
            return await self._run(key, asked.said, call)
        whole = self._step(line, self.spoken)
        steps = [whole] if whole.commands else self._parts(line)
        if all(len(step.commands) == 1 for step in steps):
            return " ".join([await self._run(next(iter(step.commands)), step.said, call) for step in steps])
        missed = next((step.said for step in steps if not step.commands), "")
        if not missed and len(steps) == 1:
            self.asked = whole
            return f"Which one do you mean: {self._named(whole.commands)}?"
        if not missed:
            several = next(step for step in steps if len(step.commands) > 1)
            return f"Which one do you mean by {several.said!r}: {self._named(several.commands)}? Nothing was done."
        return await self._missed(line, missed, call)

    def _choice(self, line: str, offered: list[str]) -> str:
        """Return which of the offered devices an answer names; empty where it says anything else."""
        said = line.strip().rstrip(".!。！")  # noqa: RUF001 - as people type it
        if re.fullmatch("[0-9]+", said):
            return offered[int(said) - 1] if 0 < int(said) <= len(offered) else ""
        words = [word for word in re.findall(WORD, said.casefold()) if word not in FILLERS]
        named = [key for key in offered if words and all(key in self.home.known_by(word) for word in words)]
        return named[0] if len(named) == 1 else ""

    def _parts(self, line: str) -> list[Step]:
        """Read each part of a line for itself; "it" is the device of the part before."""
        steps, spoken = list[Step](), self.spoken
        for said in filter(None, map(str.strip, NEXT.split(line))):
            steps.append(self._step(said, spoken))
            if len(steps[-1].commands) == 1:
                spoken = (*steps[-1].commands, *spoken)
        return steps if len(steps) > 1 else [self._step(line, self.spoken)]

    def _step(self, said: str, spoken: tuple[str, ...]) -> Step:
        """Return what each device may be meant to do: those that all words fit, or where none is named, the last one that can do it."""
        keys = [row["id"] for row in self.home.rows()]
        named = self._fitting(said)
        before = () if EACH.search(said) else dict.fromkeys(spoken)
        groups = [named] if named != keys else [*([key] for key in before), keys]
        for group in groups:
            fits = {key: command for key in group if (command := self._meant(said, key))}
            if fits:
                return Step(said, fits)
        return Step(said, {})

    def _fitting(self, said: str) -> list[str]:
        """Return the devices that are known by each word that is not another part of the sentence."""
        words = unread(said)
        named = [
            row["id"]
            for row in self.home.rows()
            if all(row["id"] in self.home.known_by(word) for word in words)
        ]
        ranked = self.home.ranked(said)  # words that are read as well, such as "heating", tell devices apart
        most = max((ranked[key] for key in named), default=0)
        return [key for key in named if ranked[key] == most]

    def _meant(self, said: str, key: str) -> Command | None:
        state = self.home.get_status(key)
        with suppress(ToolError):
            command = interpret_command(said, list(state), state)
            return None if leaves_out(said, list(state), command) else command
        return None

    async def _missed(self, line: str, missed: str, call: Call) -> str:
        """Answer a question about one device, or say what was not understood."""
        fitting = self._fitting(line) if unread(line) else []
        if _QUESTION.search(line) and len(fitting) == 1:
            state = await call("get_status", device_id=fitting[0])
            return f"{self._named(fitting)}: {json.dumps(state, ensure_ascii=False)}"
        await call("search_devices", query=line)
        rest = NEXT.sub(" ", line)
        unknown = [text for tag, text in _read(rest) if tag in STOPS]
        unknown += [word for word in unread(rest) if not self.home.known_by(word)]
        none_fits = [] if self._fitting(missed) else unread(missed)
        if not _read(rest) and unknown == unread(rest):  # nothing at all was read
            return f"I am not sure what to do. I understand: {UNDERSTOOD}"
        part = " ".join(unknown or none_fits) or (missed if missed != line else "")
        why = f" I could not read {part!r}, so nothing was done." if part else ""
        return f"I am not sure what to do.{why} I understand: {UNDERSTOOD}"

    async def _run(self, key: str, said: str, call: Call) -> str:
        device = next(row for row in self.home.rows() if row["id"] == key)
        self.spoken, full_id = (key, *self.spoken)[:10], device["fullId"]
        state = await call("get_status", device_id=full_id)
        chosen = await call(
            "interpret_command", user_input=said, device_capabilities=list(state), current_state=state
        )
        await call("execute_commands", device_id=full_id, commands=[chosen])
        return f"{device['name']} ({device['room']}): {' '.join(map(str, (chosen['command'], *chosen['arguments'])))}."

    def _named(self, keys: Iterable[str]) -> str:
        return ", ".join(f"{row['name']} ({row['room']})" for row in self.home.rows() if row["id"] in {*keys})


UNDERSTOOD = "turn the studio lamp on, 打开客厅的灯, it is too dark, dim it to 20%, I'm cold, close the blind a little."
_QUESTION = re.compile(WORDS["ask"], re.IGNORECASE)


def build(folder: Path, *, lenient: bool, strict: bool = False, page: Page | None = None) -> FastMCP:
    """Make a server for the home in a folder; strict is FastMCP's strict input validation, a page sees each call."""
    server = FastMCP("smart-home", strict_input_validation=strict)
    if lenient:
        server.add_middleware(
            LenientMiddleware(
                on_decision=None if page is None else page.record, decision_values=page is not None
            )
        )
    home = Home(folder / "smart_home.db")
    for reading in (home.search_devices, home.get_status, interpret_command):
        server.tool(annotations=READS)(reading)
    server.tool(home.execute_commands, meta={"confirm": ["unlock"]})
    server.tool(home.set_climate)
    return server


def _in_words(state: dict[str, dict[str, Any]]) -> str:
    return ", ".join(f"{name} {value}" for part in state.values() for name, value in part.items())


def with_page() -> FastMCP:
    """Make the server with a page that shows the devices."""

    def state() -> list[dict[str, Any]]:
        return [
            {"device": row["name"], "room": row["room"], "state": _in_words(json.loads(row["state"]))}
            for row in Home(DATA / "smart_home.db").rows()
        ]

    page = Page("Smart home", state)
    return page.serve_on(build(DATA, lenient=True, page=page))


# --- The chat: the same lines in each example, so that each can be copied alone -------------------------------

Call = Callable[..., Awaitable[Any]]
"""Calls a tool by its name with arguments; returns its value, or raises ToolError with what the server says."""
Reply = Callable[[str, Call], Awaitable[str]]
"""Answers a line without a model: by calls, or by saying what it understands."""
MOST_TURNS = 20


class ModelError(Exception):
    """A model gives no answer; says why in one line."""


def complete(model: str, messages: Sequence[dict[str, Any]], tools: Sequence[Any] = ()) -> dict[str, Any]:
    """Ask a model for its next message, at OPENAI_BASE_URL with the key in OPENAI_API_KEY.

    Raises:
        ModelError: When it gives none.
    """
    base = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1").rstrip("/")
    listed = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
    offered = [
        {"name": one["name"], "description": one.get("description", ""), "parameters": one["inputSchema"]}
        for one in listed
    ]
    body: dict[str, Any] = {"model": model, "messages": [*messages]}
    body |= {"tools": [{"type": "function", "function": one} for one in offered]} if offered else {}
    headers = {
        "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}",
        "Content-Type": "application/json",
    }
    request = urllib.request.Request(f"{base}/chat/completions", json.dumps(body).encode(), headers)  # noqa: S310 - the user's own
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:  # noqa: S310 - as above
            return dict(json.load(answer)["choices"][0]["message"])
    except urllib.error.HTTPError as error:
        told = error.read().decode("utf-8", "replace").strip()
        raise ModelError(f"{model} gave no answer: {error.code} {told[:300].splitlines()[:1]}") from error
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ModelError(f"{model} gave no answer at {base}: {error}") from error


class Approval(Middleware):
    """Asks the person before a destructive tool runs; a call that is refused anyway never comes this far.

    Of a tool with ``meta={"confirm": ["unlock"]}`` it asks for the calls that hold this text.
    """

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Run the tool, if the person allows it."""
        name, arguments = context.message.name, context.message.arguments or {}
        tool = await context.fastmcp_context.fastmcp.get_tool(name)
        hints = tool.annotations.model_dump(by_alias=True) if tool is not None and tool.annotations else {}
        guarded = ((tool.meta or {}) if tool is not None else {}).get("confirm", ())
        if hints.get("destructiveHint") or any(f'"{word}"' in in_json(arguments) for word in guarded):
            kind = "is destructive" if hints.get("destructiveHint") else "needs your yes"
            said = await ask(f"{name}({in_json(arguments)}) {kind}. Run it? [y/N] ")
            if (said or "").strip().casefold() not in {"y", "yes", "是"}:
                raise ToolError("The user did not allow it.")
        return await call_next(context)


async def ask(prompt: str) -> str | None:
    """Read a line from the person; None at the end of the input."""
    loop = asyncio.get_running_loop()
    said: asyncio.Future[str | None] = loop.create_future()

    def read() -> None:
        try:
            line = input(prompt)
        except EOFError:
            line = None
        loop.call_soon_threadsafe(said.set_result, line)

    Thread(target=read, daemon=True).start()  # a thread of asyncio's own would keep the program from ending
    line = await said
    if not sys.stdin.isatty():  # what is piped in does not show
        print(line or "")
    return line


def configure(folder: Path) -> None:
    """Write the events to a file, since the terminal is for the chat."""
    folder.mkdir(parents=True, exist_ok=True)
    configure_logging(file=folder / "chat.jsonl")
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)


async def chat(server: FastMCP, reply: Reply, *, model: str | None = None, system: str = "") -> None:
    """Answer each line that is typed, until the input ends; the events go to a file of the data folder."""
    configure(DATA)
    server.add_middleware(Approval())
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}]
    async with Client(server) as client:

        async def call(name: str, **arguments: Any) -> Any:
            return value_of(shown(name, arguments, await client.call_tool_mcp(name, arguments)))

        while (line := await ask("you     ")) is not None:
            if not line.strip():
                continue
            try:
                print(
                    "answer ", await (_modeled(client, model, messages, line) if model else reply(line, call))
                )
            except (ModelError, ToolError) as error:
                print("answer ", error)


async def _modeled(client: Client[Any], model: str, messages: list[dict[str, Any]], line: str) -> str:
    """Let a model answer: it calls tools until it says something; the server repairs its calls."""
    messages.append({"role": "user", "content": line})
    session = lenient_session(client, Policy(mode="off"))
    for _ in range(MOST_TURNS):
        message = await asyncio.to_thread(complete, model, messages, await client.list_tools())
        messages.append(message)
        if not message.get("tool_calls"):
            return str(message.get("content") or "(no answer)")
        calls = [
            {**one, "function": {**one["function"], "arguments": as_object(one["function"]["arguments"])}}
            for one in message["tool_calls"]
        ]
        done = await dispatch(session, {"choices": [{"message": {**message, "tool_calls": calls}}]})
        for one in done.calls:
            shown(one.tool, one.arguments, one.result)
        messages += done.messages
    raise ModelError(f"{model} asked for tools {MOST_TURNS} times without an answer.")


def as_object(written: str) -> dict[str, Any]:
    """Parse the arguments that a model wrote; text that is not a JSON object is sent as it is, and the server refuses it."""
    with suppress(ValueError):
        if isinstance(value := json.loads(written), dict):
            return value
    return {"arguments": written}


def shown(name: str, arguments: Any, result: Any) -> Any:
    """Print a call and what became of it; return its result."""
    print(f"call    {name}({in_json(arguments)})")
    told = result.model_dump(by_alias=True)
    for each in ((told.get("_meta") or {}).get("mcp_lenient") or {}).get("repairs", ()):
        print(f"repair  {each['pointer'] or 'whole call'}: {each['rule']}")
    try:
        print(f"result  {in_json(value_of(result))[:400]}")
    except ToolError as error:
        print(f"error   {error}")
    return result


def value_of(result: Any) -> Any:
    """Return the value of a result, or its text.

    Raises:
        ToolError: With the message of an error.
    """
    told = result.model_dump(by_alias=True)
    text = "\n".join(block.get("text", f"[{block['type']}]") for block in told["content"])
    if told.get("isError"):
        raise ToolError(json.loads(text)["message"] if text.startswith('{"status"') else text)
    value = told.get("structuredContent") or text
    value = value["result"] if isinstance(value, dict) and value.keys() == {"result"} else value
    return value or text  # an empty list comes with words


def in_json(value: Any) -> str:
    """Write a value as JSON, for the terminal."""
    return json.dumps(value, ensure_ascii=False, default=str)


def main(
    server: FastMCP, reply: Reply, *, system: str = "", page: Callable[[], FastMCP] | None = None
) -> None:
    """Run an example as the command line says: a chat, or a server over stdio.

    Args:
        server: What is talked to.
        reply: Answers where no model is named.
        system: The system prompt of a model.
        page: Makes the server with a page that shows what it does.
    """
    about = sys.modules["__main__"].__doc__ or ""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chat", action="store_true", help="talk to it in the terminal; this is the default")
    parser.add_argument("--serve", action="store_true", help="serve over stdio")
    parser.add_argument(
        "--model", metavar="NAME", help="a model at OPENAI_BASE_URL answers; its key: OPENAI_API_KEY"
    )
    if page is not None:
        about = "show a page on this port (8350), beside the chat; other clients connect to /mcp"
        parser.add_argument("--page", nargs="?", type=int, const=8350, metavar="PORT", help=about)
    options = parser.parse_args()
    port = getattr(options, "page", None)
    if port is not None and not 0 < port < 1 << 16:
        sys.exit(f"There is no port {port}: a port is a number from 1 to 65535.")
    with interruptible():
        if options.serve:
            server.run(show_banner=False)
        elif page is None or port is None:
            asyncio.run(chat(server, reply, model=options.model, system=system))
        else:
            asyncio.run(_chat_beside_page(page(), port, reply, options.model, system))


@contextmanager
def interruptible() -> Iterator[None]:
    """End the program with 130 and without a traceback when it is interrupted."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        print(flush=True)
        os._exit(130)  # a thread may still wait for a line


async def _chat_beside_page(server: FastMCP, port: int, reply: Reply, model: str | None, system: str) -> None:
    """Serve a page and the tools over HTTP on loopback, until interrupted, with a chat in the terminal."""
    serving = server.run_http_async(
        host="127.0.0.1", port=port, show_banner=False, uvicorn_config={"log_level": "error"}
    )
    print(f"page    http://127.0.0.1:{port}/", flush=True)
    await asyncio.gather(serving, chat(server, reply, model=model, system=system))


# --- The end of the chat --------------------------------------------------------------------------------------

# --- The page: the same lines in each example that has one ----------------------------------------------------


class Page:
    """A page that shows the state of a server, and its last calls: which were repaired or refused, and why.

    ``LenientMiddleware(on_decision=page.record, decision_values=True)`` tells it of each call.

    Args:
        title: Its title.
        state: Returns the state as the rows of a table.
    """

    def __init__(self, title: str, state: Callable[[], list[dict[str, Any]]]) -> None:
        self._title, self._state = title, state
        self._calls: deque[str] = deque(maxlen=20)
        self._nonce = token_urlsafe(16)

    def record(self, decision: Decision) -> None:
        """Keep a call for the page."""
        why = [
            f"{each.pointer or 'whole call'}: {each.rule} ({each.before} → {each.after})"
            for each in decision.repairs
        ]
        why += [each.message for each in decision.violations]
        lines = "".join(f"<li>{escape(line)}</li>" for line in why)
        called = f"{decision.tool}({json.dumps(dict(decision.arguments), ensure_ascii=False, default=str)})"
        moment = datetime.now(tz=timezone.utc).astimezone().strftime("%H:%M:%S")
        head = f"<b>{decision.status}</b> <time>{moment}</time> <code>{escape(called[:300])}</code>"
        self._calls.appendleft(f'<div class="{decision.status}">{head}<ul>{lines}</ul></div>')

    def serve_on(self, server: FastMCP) -> FastMCP:
        """Add the page to a server that is served over HTTP: / is the page, /changes its events."""
        server.custom_route("/", ["GET"])(self._whole)
        server.custom_route("/changes", ["GET"])(self._changes)
        return server

    def _body(self) -> str:
        rows = self._state()
        heads = "".join(f"<th>{escape(name)}</th>" for name in (rows[0] if rows else ()))
        cells = ("".join(f"<td>{escape(str(value))}</td>" for value in row.values()) for row in rows)
        table = "".join(f"<tr>{row}</tr>" for row in cells)
        calls = "".join(self._calls) or "<p>No calls yet.</p>"
        return f"<h2>State</h2><table><tr>{heads}</tr>{table}</table><h2>Calls</h2>{calls}"

    async def _whole(self, request: Request) -> Response:
        if not _is_local(request):
            return Response("Open this page as 127.0.0.1.", 403)
        policy = f"default-src 'none'; connect-src 'self'; style-src 'nonce-{self._nonce}'; script-src 'nonce-{self._nonce}'"
        html = TEMPLATE.format(title=escape(self._title), nonce=self._nonce, body=self._body())
        return HTMLResponse(html, headers={"Content-Security-Policy": policy})

    async def _changes(self, request: Request) -> Response:
        if not _is_local(request):
            return Response("Open this page as 127.0.0.1.", 403)

        async def events() -> AsyncIterator[str]:
            shown = ""
            while not await request.is_disconnected():
                body = await asyncio.to_thread(self._body)
                if body != shown:
                    yield f"data: {json.dumps(body)}\n\n"
                shown = body
                await asyncio.sleep(0.3)

        return StreamingResponse(events(), media_type="text/event-stream")


def _is_local(request: Request) -> bool:
    """Return whether the browser asked for this machine: another site's name may lead here, too."""
    return request.url.hostname in {"127.0.0.1", "localhost"}


TEMPLATE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<style nonce="{nonce}">
  body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222 }}
  table {{ border-collapse: collapse; width: 100% }}
  th, td {{ text-align: left; padding: .3em .8em .3em 0; border-bottom: 1px solid #ddd }}
  div {{ border-left: 4px solid; padding: .2em .8em; margin: .6em 0 }}
  .accepted {{ border-color: #2a7 }} .repaired {{ border-color: #c90 }} .refused {{ border-color: #c33 }}
  ul {{ margin: .2em 0 }} time {{ color: #666; margin: 0 .5em }} code {{ overflow-wrap: anywhere }}
</style>
<h1>{title}</h1>
<main>{body}</main>
<script nonce="{nonce}">
  new EventSource("/changes").onmessage = event => {{
    document.querySelector("main").innerHTML = JSON.parse(event.data) // escaped by the server
  }}
</script>
</html>
"""

# --- The end of the page --------------------------------------------------------------------------------------


mcp = build(DATA, lenient=True)

if __name__ == "__main__":
    main(mcp, Conversation(Home(DATA / "smart_home.db")).reply, system=SYSTEM, page=with_page)
