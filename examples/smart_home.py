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
from collections import deque
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
from pydantic import BaseModel, ConfigDict, Field
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

TABLE = """
CREATE TABLE IF NOT EXISTS devices (id TEXT PRIMARY KEY, fullId TEXT, name TEXT, room TEXT, type TEXT, state TEXT)
"""
ROWS = "SELECT id, fullId, name, room, type, state FROM devices ORDER BY rowid"
INSERT = "INSERT INTO devices (id, fullId, name, room, type, state) VALUES (?, ?, ?, ?, ?, ?)"

READS = {"readOnlyHint": True}
DeviceId = Annotated[str, "The fullId of a device."]


class DeviceSeed(NamedTuple):
    """A device as the house begins with it; ``called`` are the names of its place and its kind, by which it is found."""

    id: str
    name: str
    room: str
    type: str
    called: str
    state: dict[str, dict[str, Any]]


LIGHT = "灯|灯光|电灯|照明|light|lamp|lighting"
DEVICES = (
    DeviceSeed("abc123", "客厅吸顶灯", "客厅", "switch", f"客厅|living room|吸顶灯|ceiling light|ceiling lamp|{LIGHT}",
               {"switch": {"switch": "off"}, "switchLevel": {"level": 80}}),
    DeviceSeed("bed001", "卧室台灯", "卧室", "switch", f"卧室|bedroom|台灯|desk light|desk lamp|{LIGHT}",
               {"switch": {"switch": "on"}, "switchLevel": {"level": 60}, "colorTemperature": {"colorTemperature": 4000}}),
    DeviceSeed("std001", "Studio lamp", "studio", "switch", f"书房|工作室|studio|落地灯|floor lamp|{LIGHT}",
               {"switch": {"switch": "off"}, "switchLevel": {"level": 50}}),
    DeviceSeed("air001", "客厅空调", "客厅", "thermostat",
               "客厅|living room|空调|冷气|暖气|air conditioner|ac|aircon|climate|heating|heater|heat|thermostat",
               {"switch": {"switch": "off"}, "thermostatHeatingSetpoint": {"heatingSetpoint": 20.0}}),
    DeviceSeed("bld001", "Kitchen blind", "kitchen", "windowShade", "厨房|kitchen|窗帘|百叶窗|blind|shade|curtain",
               {"windowShade": {"windowShade": "open"}, "windowShadeLevel": {"shadeLevel": 100}}),
    DeviceSeed("dor001", "大门锁", "玄关", "lock", "玄关|entrance hall|entrance|大门|门|front door|door",
               {"lock": {"lock": "locked"}}),
)  # fmt: skip
NAMES = {
    name: {seed.id for seed in DEVICES if name in seed.called.split("|")}
    for seed in DEVICES
    for name in seed.called.split("|")
}
LIGHTS = frozenset(name for name in NAMES if re.search("light|lamp|灯|照明", name))

TIME = r"^(?:[01]?\d|2[0-3])(?::[0-5]\d)?$"


class Range(NamedTuple):
    """The number that a command takes."""

    least: int
    most: int
    unit: str
    is_whole: bool = True

    def __str__(self) -> str:
        return f"from {self.least} to {self.most}{self.unit}"


PERCENT, KELVIN, CELSIUS = (
    Range(0, 100, "%"),
    Range(2200, 6500, " K"),
    Range(5, 35, " degrees", is_whole=False),
)


class Effect(NamedTuple):
    """What a command sets: an attribute to a value, or to the number that the command takes."""

    attribute: str
    value: str = ""
    takes: Range | None = None


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
    unmatched: list[str] = Field(description="The words of the query that do not fit this device.")


@dataclass(frozen=True)
class Home:
    """The devices of a house and their state, in one SQLite file; most methods are tools of the server."""

    file: Path

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Open the file, which begins with the devices above; other calls wait until the block ends.

        Raises:
            ToolError: When the file cannot be used; its path is not told.
        """
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.file)) as connection, connection:
                connection.row_factory = sqlite3.Row
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(TABLE)
                if not connection.execute("SELECT 1 FROM devices").fetchone():
                    connection.executemany(INSERT, map(_row, DEVICES))
                yield connection
        except (sqlite3.Error, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            message = f"The home cannot be used: {reason}. Nothing was changed."
            raise tool_error("STORE_UNAVAILABLE", message) from error

    def rows(self) -> list[dict[str, Any]]:
        """Return all devices."""
        with self._transaction() as connection:
            return [{**row, "state": _parsed(row)} for row in connection.execute(ROWS)]

    def search_devices(
        self,
        query: Annotated[str, "A place and a kind of device, such as '客厅 灯'."],
        limit: Annotated[int, Field(description="The most devices to return.", ge=1, le=50)] = 5,
    ) -> list[Device]:
        """Find devices by any word for their room, name or kind, in Chinese or English; the best come first.

        A device is surely the one that is meant only where its ``unmatched`` is empty.
        """
        rows = self.rows()
        said = " ".join(query.casefold().split())
        found = [row | {"unmatched": _unmatched(said, row)} for row in rows if _is_found(said, row)]
        if not found:
            has = ", ".join(f"{row['name']} ({row['room']}, {row['type']})" for row in rows)
            told = f"No device is called so. The home has: {has}."
            # an empty list with words; the output schema is that of the list
            return cast("list[Device]", ToolResult(told, structured_content={"result": []}))
        found.sort(key=lambda row: len("".join(row["unmatched"])))
        return [Device(capabilities=list(row.pop("state")), **row) for row in found[:limit]]

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
                _link(state, attribute, value)
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


def _is_found(said: str, row: dict[str, Any]) -> bool:
    is_called = any(row["id"] in NAMES[name] for name in names_in(said))
    return is_called or row["name"].casefold() in said or row["type"].casefold() in said.split()


def _unmatched(said: str, row: dict[str, Any]) -> list[str]:
    """Return the words of a query that are neither names of a device nor words of the grammar."""
    fit = {name for name in names_in(said) if row["id"] in NAMES[name]}
    said = re.sub(rf"\b{re.escape(row['type'].casefold())}\b", " ", said.replace(row["name"].casefold(), " "))
    return re.findall(
        r"\w+",
        LEXER.sub(lambda one: one[0] if one.lastgroup == "noun" and _name(one[0]) not in fit else " ", said),
    )


def _row(seed: DeviceSeed) -> tuple[str, ...]:
    return (seed.id, f"uuid-{seed.id}", seed.name, seed.room, seed.type, json.dumps(seed.state))


def _link(state: dict[str, Any], attribute: str, value: Any) -> None:
    """Keep the two attributes of a blind in step."""
    if attribute == "windowShade" and "windowShadeLevel" in state:
        state["windowShadeLevel"]["shadeLevel"] = 100 if value == "open" else 0
    if attribute == "shadeLevel" and "windowShade" in state:
        state["windowShade"]["windowShade"] = {0: "closed", 100: "open"}.get(value, "partially open")


def _state(connection: sqlite3.Connection, device_id: str) -> dict[str, dict[str, Any]]:
    row = connection.execute("SELECT id, state FROM devices WHERE ? IN (id, fullId)", (device_id,)).fetchone()
    if row is None:
        message = f"There is no device {device_id!r}. Use the fullId of what search_devices finds."
        raise tool_error("UNKNOWN_DEVICE", message, "device_id", received_value=device_id)
    return _parsed(row)


def _parsed(row: sqlite3.Row) -> dict[str, dict[str, Any]]:
    """Return the state in a row, which others may have written; one that is none is an error of the file."""
    with suppress(ValueError, TypeError):
        state = json.loads(row["state"])
        if isinstance(state, dict) and all(isinstance(part, dict) for part in state.values()):
            return state
    raise sqlite3.DataError(f"the state of {row['id']} is no JSON object of objects")


def _keep(connection: sqlite3.Connection, device_id: str, state: dict[str, Any]) -> None:
    connection.execute("UPDATE devices SET state = ? WHERE ? IN (id, fullId)", (json.dumps(state), device_id))


def _effect(command: Command, state: dict[str, Any], where: str) -> tuple[str, Any]:
    """Return the attribute that a command sets, and its value."""
    supported = {capability: CAPABILITIES[capability] for capability in state if capability in CAPABILITIES}
    commands = _known("capability", command.capability, supported, where)
    effect: Effect = _known("command", command.command, commands, where)
    if effect.takes is None and not command.arguments:
        return effect.attribute, effect.value
    value = command.arguments[0] if len(command.arguments) == 1 else None
    if effect.takes and _is_in(value, effect.takes):
        return effect.attribute, value
    kind = "a whole number" if effect.takes and effect.takes.is_whole else "a number"
    takes = f"takes {kind} {effect.takes}, such as [50]" if effect.takes else "takes no arguments"
    takes = takes.replace("50", str((effect.takes.least + effect.takes.most) // 2)) if effect.takes else takes
    message = f"{command.command!r} {takes}. Nothing was changed."
    raise tool_error("INVALID_COMMAND_ARGUMENTS", message, f"{where}.arguments")


def _is_in(value: Any, takes: Range) -> bool:
    is_number = isinstance(value, int) or (isinstance(value, float) and not takes.is_whole)
    return is_number and not isinstance(value, bool) and takes.least <= value <= takes.most


def _known(what: str, sent: str, known: dict[str, Any], where: str) -> Any:
    """Return what is known by a name; an unknown one is an error that lists those that are known."""
    if sent in known:
        return known[sent]
    allowed = list(known)
    meant = "".join(f" Did you mean {near!r}?" for near in get_close_matches(sent, allowed, n=1, cutoff=0.4))
    message = f"The device has no {what} {sent!r}.{meant} It has: {', '.join(allowed)}. Nothing was changed."
    code = f"UNSUPPORTED_{what.upper()}"
    raise tool_error(code, message, f"{where}.{what}", received_value=sent, allowed_values=allowed)


# What people say, by what it stands for. At each place of a sentence the first one that fits is read.
LEXICON = {
    "sees_little": r"\b(?:i|we) (?:can't|cannot|can not)(?: really)? see(?: anything| much)?\b|我?看不[清见到]楚?",
    "sees_much": r"\bhurts (?:my|our) eyes\b|刺眼|晃眼",
    "not_so": r"\b(?:don't make it|not) (?:so|that)\b|(?:别|不要|不用)(?:那么|这么|太)",
    "not_enough": r"\bnot(?= \w+ enough\b)|(?<=\bis)n't(?= \w+ enough\b)|不够",
    "enough": r"\benough\b",
    "most": r"\b(?:full|max|maximum)(?= brightness\b)|最亮|全亮",
    "half": r"\bhalf ?way\b|一半",
    "brighter": r"\b(?:brighter|lighter|brighten|more light)\b",
    "darker": r"\b(?:darker|dimmer|softer|darken|soften|less light)\b",
    "warmer": r"\b(?:warmer|hotter)\b",
    "cooler": r"\b(?:cooler|colder)\b",
    "up": r"\b(?:up|higher|increase|raise)\b|升高|提高|[高升]|(?<=调)大|开大(?=[一点些]|$)",
    "down": r"\b(?:down|lower|decrease|reduce)\b|降低|[低降]|(?<=调)小|关小(?=[一点些]|$)",
    "level": r"\bbrightness\b|亮度",
    "color": r"\bcolou?r temperature\b|色温",
    "heat": r"\btemperature\b|温度",
    "bright": r"\bbright\b|亮",
    "dark": r"\b(?:dark|gloomy)\b|[暗黑]",
    "dim": r"\b(?:dim|soft)\b|柔和",
    "hot": r"\b(?:hot|boiling)\b|热",
    "warm": r"\bwarm\b|暖和?",
    "cold": r"\b(?:cold|chilly|freezing)\b|冷",
    "cool": r"\bcool\b|凉快?",
    "too": r"\b(?:way |far |much )?too\b|\bso\b|太|好(?=[刺冷热])|很(?=[冷热])|这么|那么|有点儿?|有些",
    "unlock": r"\bunlock\b|解锁|开锁",
    "lock": r"\block\b|锁[上好住]|上锁|锁",
    "open": r"\bopen\b|拉开",
    "close": r"\b(?:close|shut)\b|拉上|放下",
    "on": r"\bon\b",
    "off": r"\boff\b|(?:(?<=light )|(?<=lights )|(?<=lamp )|(?<=lamps ))out\b|熄灭?",
    "kai": r"打开|开启|开",
    "guan": r"关[掉闭上]|关",
    "all": r"\b(?:all|both|each|every|everything|any|them)\b|所有|全部|都|每个?|全",
    "can": r"\b(?:can|could|would|will) you\b|能不能|可不可以|可以",
    "ask": r"[?？吗呢]|\b(?:what|how|why|which|does|did|are|state|status)\b|是不是|怎么样?|为什么|多少|什么|状态",
    "little": r"\ba (?:little|tiny) bit\b|\ba (?:little|bit)\b|\bslightly\b",
    "some": "一?点儿?|一?些",
    "do": r"\b(?:turn|switch|put)\b|调|弄|变",
    "make": r"\b(?:make|get)\b|让|使",
    "set": r"\bset\b|设置?|设定",
    "again": r"[再更]",
    "more": r"\bmore\b",
    "less": r"\bless\b",
    "to": r"\b(?:to|at)\b|[到至成为]",
    "by": r"\bby\b",
    "state": r"\b(?:locked|unlocked|opened|closed)\b|着",
    "dead": "死",
    "done": "了",
    "hand": "[把将]",
    "here": r"\b(?:in )?here\b|这里|这儿|屋里",
    "glue": r"\b(?:please|the|a|an|my|our|one|in|of|just|now|hey|hello|hi|ok|okay|thanks|thank you|kindly)\b"
    "|请|帮我|帮忙|麻烦|给我|我想|一下|稍微?|谢谢|里面?|[的吧啊要个]",
    "me": r"\b(?:i'm|i am|i feel|we're|we are|we feel)\b|我(?:觉得|感觉)?",
    "it": r"\b(?:it|this|that)\b|它|[这那]个",
    "is": r"\b(?:is|feels|looks)\b|\bis(?=n't\b)|(?<=\w)'s\b",
    "percent": r"%|\bpercent\b|百分之",
    "degree": r"°(?: ?c\b)?|\bdegrees?\b(?: celsius\b)?|度",
    "kelvin": r"(?<=\d) ?k\b|\bkelvin\b",
    "number": r"-?\d{1,6}(?:\.\d{1,3})?",
    "han": "[零一二两三四五六七八九十百]+",
}
NOUNS = "|".join(
    rf"\b{re.escape(name)}s?\b" if name.isascii() else name for name in sorted(NAMES, key=len, reverse=True)
)
LEXER = re.compile(
    f"(?P<noun>{NOUNS})|" + "|".join(f"(?P<{kind}>{said})" for kind, said in LEXICON.items()), re.ASCII
)
HAN_NUMBER = re.compile(
    "(?:([一二两三四五六七八九])(百)零?)?(?:([一二两三四五六七八九])?(十))?([零一二两三四五六七八九])?"
)
CLAUSES = r"[,;.!，；。！](?!\d)"  # noqa: RUF001 - as people type it
NEXT = re.compile(
    rf"{CLAUSES}\s*(?:and\s+)?(?:then\s+)?|\band then\b|\band\b|\bthen\b|然后|接着|并且", re.IGNORECASE
)

# The grammar: a clause, written as what its words stand for, is one of these as a whole, or it is not understood.
N = "(?:(?:noun|it|level|heat|color|here) )*"
OFTEN = "(?:little |too )+"
NUMBER = "(?:percent )?number (?:percent |degree |kelvin )?"
TURN = "(?P<turn>on|off|open|close|kai|guan|lock|unlock) "
POLE = "(?P<pole>bright|dark|dim|hot|warm|cold|cool) "
MORE = "(?P<pole>brighter|darker|warmer|cooler|up|down) "
START = f"(?:hand )?(?:(?:do|make|set) )?(?:again )?{N}(?:again )?(?:(?:do|make) )?(?:again )?"
WISHES = (
    (1, f"(?:do )?{N}{TURN}{N}(?:little |some |half )?"),
    (1, f"hand {N}{TURN}(?:some |half |done )?"),
    (1, f"(?:hand )?(?:do |set |make )?{N}(?:do |set )?to {NUMBER}"),
    (1, f"(?:hand )?(?:do )?{N}(?:do )?(?P<pole>dim|up|down) {N}to {NUMBER}"),
    (1, f"(?:hand )?(?:do |set |make )?{N}(?:do )?(?:to )?most {N}"),
    (1, f"(?!(?:up|down) $){START}(?:little )?{MORE}{N}(?:little |some |by {NUMBER}|number degree )?"),
    (1, f"{START}number degree {MORE}"),
    (1, f"{START}{POLE}some "),
    (1, f"(?:hand )?{N}do {POLE}{N}"),
    (1, f"make {N}(?:do )?{POLE}"),
    (1, f"(?:make )?{N}more {POLE}"),
    (1, f"(?P<pole>dim) {N}(?:little )?"),
    (-1, f"{N}not_so {POLE}"),
    (-1, f"(?:make )?{N}less {POLE}"),
)  # fmt: skip
COMPLAINTS = (
    (1, f"{N}(?:is )?not_enough {POLE}(?:enough )?"),
    (1, f"(?P<pole>sees_little) {N}"),
    (-1, f"{N}(?:is )?(?:too )*(?P<pole>sees_much) (?:done )?"),
    (-1, f"{N}(?:is )?{OFTEN}{POLE}{N}(?:done )?"),
    (-1, f"{N}is (?P<pole>dark|cold|hot) {N}"),
    (-1, f"me (?:{OFTEN}(?P<pole>hot|warm|cold|cool)|(?P<plain>hot|cold)) {N}(?:done )?"),
    (-1, "(?P<pole>hot|cold) dead (?:me )?done "),
)  # fmt: skip
RULES = [
    (sign, re.compile(pattern), rules is COMPLAINTS)
    for rules in (WISHES, COMPLAINTS)
    for sign, pattern in rules
]
POLES = {
    "bright": ("level", 1), "brighter": ("level", 1), "sees_little": ("level", 1), "sees_much": ("level", 1),
    "dark": ("level", -1), "darker": ("level", -1), "dim": ("level", -1),
    "hot": ("hot", 1), "warm": ("warm", 1), "warmer": ("warm", 1),
    "cold": ("warm", -1), "cool": ("warm", -1), "cooler": ("warm", -1), "up": ("", 1), "down": ("", -1),
}  # fmt: skip
TURNS = {
    "on": {"switch": "on"}, "off": {"switch": "off"},
    "open": {"windowShade": "open"}, "close": {"windowShade": "close"},
    "kai": {"switch": "on", "windowShade": "open"}, "guan": {"switch": "off", "windowShade": "close"},
    "lock": {"lock": "lock"}, "unlock": {"lock": "unlock"},
}  # fmt: skip
WAYS = {"on": 1, "open": 1, "off": -1, "close": -1}
WARMS = frozenset("暖气 heating heater heat thermostat".split())


class Scale(NamedTuple):
    """A value that people ask to be more or less of: by which words, and how much a step is."""

    command: str
    words: frozenset[str]
    step: float


SCALES = {
    "switchLevel": Scale("setLevel", frozenset({"level", "percent", "most"}), 30),
    "thermostatHeatingSetpoint": Scale("setHeatingSetpoint", frozenset({"heat", "degree", "warm", "hot"}), 1),
    "colorTemperature": Scale("setColorTemperature", frozenset({"color", "kelvin", "warm"}), 800),
    "windowShadeLevel": Scale("setShadeLevel", frozenset({"percent"}), 20),
}


class UnclearError(Exception):
    """A sentence is not acted on; says why."""


class QuestionError(UnclearError):
    """A sentence is a question."""


class UnableError(UnclearError):
    """A device cannot do what a sentence asks for."""


class Want(NamedTuple):
    """What a clause asks for, of whatever device it is: a turn, or a way or a number on a scale of these words."""

    nouns: tuple[str, ...]
    kinds: tuple[str, ...]
    turn: str = ""
    way: int = 0
    number: float | None = None
    words: frozenset[str] = frozenset()
    is_complaint: bool = False


class Wish(NamedTuple):
    """What is asked of one device: a command, and for a scale which way, or to which number."""

    capability: str
    command: str
    way: int = 0
    number: float | None = None
    is_target: bool = False


class Clause(NamedTuple):
    """A clause as it is read: what its words stand for, what it names, and what is not read."""

    kinds: tuple[str, ...]
    nouns: tuple[str, ...]
    numbers: tuple[float, ...]
    unread: str


def interpret_command(
    user_input: Annotated[str, "What the user wants, such as '柔和一些'."],
    device_capabilities: Annotated[list[str], "The capabilities of the device."],
    current_state: Annotated[dict[str, Any] | None, "What get_status has returned, if it was called."] = None,
) -> Command:
    """Choose the command that a sentence means, in Chinese or English, for execute_commands.

    A complaint ("too dark") asks for a step the other way, and a step needs the state. A sentence that is not
    understood as a whole is an error that says why: ask the user then.
    """
    try:
        return _command(_wished(user_input, device_capabilities), current_state or {})
    except UnclearError as error:
        raise tool_error(
            "UNCLEAR_COMMAND", str(error), "user_input", allowed_values=device_capabilities
        ) from None


def _wished(said: str, capabilities: Sequence[str]) -> Wish:
    wants = wants_of(said)
    if any("all" in want.kinds for want in wants):
        raise UnclearError(ONE_AT_A_TIME)
    nouns = sorted({noun for want in wants for noun in want.nouns})
    if nouns and not any({*capabilities} <= seed.state.keys() for seed in called(nouns)):
        raise UnclearError(f"The device is not called so: {', '.join(nouns)}.")
    return wish_of(wants, capabilities)


def called(nouns: Iterable[str]) -> list[DeviceSeed]:
    """Return the devices that all of these names are names of."""
    return [seed for seed in DEVICES if all(seed.id in NAMES[noun] for noun in nouns)]


def read(said: str) -> Clause:
    """Read a clause: each word and sign stands for something, or is not read.

    >>> read("turn on the lamp except that one").unread
    'except'
    """
    kinds, nouns, numbers, unread, at = list[str](), list[str](), list[float](), list[str](), 0
    said = " ".join(said.casefold().replace("’", "'").split())  # noqa: RUF001 - as people type it
    for found in LEXER.finditer(said):
        kind, text = found.lastgroup or "", found[0]
        unread.append(said[at : found.start()])
        at = found.end()
        if kind == "noun":
            nouns.append(_name(text))
        elif kind in {"number", "han"}:
            numbers.append(_number(text))
        if kind != "glue":
            kinds.append("number" if kind == "han" else kind)
    left = " ".join(filter(None, (text.strip() for text in (*unread, said[at:]))))
    return Clause((*kinds,), (*nouns,), (*numbers,), left)


def names_in(query: str) -> list[str]:
    """Return the names of places and kinds in a text; a single character inside of a word that is not known is none.

    >>> names_in("打开客厅的灯"), names_in("灯塔")
    (['客厅', '灯'], [])
    """
    said = " ".join(query.casefold().split())
    found = [*LEXER.finditer(said)]
    read_at = {at for one in found for at in range(*one.span())}
    unread = {at for at, char in enumerate(said) if char > "\u3400" and at not in read_at}
    nouns = [one for one in found if one.lastgroup == "noun"]
    return [
        *dict.fromkeys(
            _name(one[0]) for one in nouns if len(one[0]) > 1 or not unread & {one.start() - 1, one.end()}
        )
    ]


def _name(noun: str) -> str:
    return noun if noun in NAMES else noun.removesuffix("s")


def _number(text: str) -> float:
    """Return the value of digits, Chinese or not; infinite where Chinese digits make no number."""
    if text[-1].isascii():
        return float(text) if "." in text else int(text)
    found = HAN_NUMBER.fullmatch(text)
    if not found:
        return float("inf")
    hundreds, hundred, tens, ten, ones = found.groups()
    values = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, None: 0}
    return 100 * values[hundreds] * bool(hundred) + 10 * (values[tens] or 1) * bool(ten) + values[ones]


def wants_of(said: str) -> list[Want]:
    """Return what the clauses of a sentence ask for.

    Raises:
        UnclearError: Where one of them is not read as a whole.
    """
    clauses = [read(clause) for clause in re.split(CLAUSES, said)]
    if unread := " ".join(filter(None, (clause.unread for clause in clauses))):
        raise UnclearError(f"I could not read {unread!r}.")
    wants = [_want(clause) for clause in clauses if clause.kinds]
    if not wants:
        raise UnclearError("Nothing was asked for.")
    return wants


def _want(clause: Clause) -> Want:
    kinds = clause.kinds
    if kinds[:1] == ("can",):  # "can you ...?" is no question
        kinds = kinds[1:-1] if kinds[-1] == "ask" else kinds[1:]
    if "ask" in kinds or kinds[:1] == ("is",):
        raise QuestionError("A question is not acted on.")
    text = "".join(f"{kind} " for kind in kinds if kind != "all")
    for sign, rule, is_complaint in RULES:
        if found := rule.fullmatch(text):
            want = _meaning(sign, found.groupdict(), clause._replace(kinds=kinds))
            return want._replace(is_complaint=is_complaint)
    if "number" in kinds:
        raise UnclearError(
            "It is not clear what the number is for: say 'set it to 20' or 'up by 2', 调到20 or 调高2度."
        )
    raise UnclearError("I know these words, but not what they ask for together.")


def _meaning(sign: int, parts: dict[str, str | None], clause: Clause) -> Want:
    kinds = {*clause.kinds}
    pole = parts.get("pole") or parts.get("plain") or ""
    word, way = POLES.get(pole, ("", 0))
    is_of_room = not LIGHTS & {*clause.nouns} and (sign < 0 or len(clause.nouns) > 0)
    if word == "warm" and (kinds & {"me", "dead"} or is_of_room):
        word = "hot"  # of the air, not of a light
    words = (kinds & {"level", "heat", "color", "percent", "degree", "kelvin", "most"}) | ({word} - {""})
    number: float | None = 100 if "most" in kinds else 50 if "half" in kinds else None
    number = clause.numbers[0] if clause.numbers else number
    return Want(clause.nouns, clause.kinds, parts.get("turn") or "", sign * way, number, frozenset(words))


def wish_of(wants: Sequence[Want], capabilities: Sequence[str]) -> Wish:
    """Return the one wish for a device with these capabilities; complaints beside it are only its reasons.

    Raises:
        UnclearError: Where they ask for nothing that it has, for several things, or for another than the reason.
    """
    wishes = [_wish(want, capabilities) for want in wants if not want.is_complaint]
    complaints = {_wish(want, capabilities) for want in wants if want.is_complaint}
    if len(wishes or complaints) > 1:
        raise UnclearError("These are several wishes: say one after the other.")
    wish = wishes[0] if wishes else complaints.pop()
    if not all(_fits(wish, reason) for reason in complaints):
        raise UnclearError(NO_REASON)
    return wish._replace(way=complaints.pop().way) if complaints and wish.is_target else wish


def _fits(wish: Wish, reason: Wish) -> bool:
    """Return whether a wish goes the way of a reason: "too cold, set it to 23", "too bright, turn it off"."""
    if wish.is_target or wish.way:
        return wish.capability == reason.capability and wish.way in {0, reason.way}
    return WAYS.get(wish.command) == reason.way


def _wish(want: Want, capabilities: Sequence[str]) -> Wish:
    stepped = {"little", "some", "half"} & {*want.kinds}
    if want.turn and not stepped:
        for capability, command in TURNS[want.turn].items():
            if capability in capabilities:
                return Wish(capability, command)
        raise UnableError(f"It can only {_can(capabilities)}.")
    if want.turn:
        way = {"open": 1, "kai": 1, "close": -1, "guan": -1}.get(want.turn, 0)
        if not way or "windowShadeLevel" not in capabilities or ("half" in stepped and way < 0):
            raise UnableError(f"It can only {_can(capabilities)}.")
        number = want.number if "half" in stepped else None
        return Wish("windowShadeLevel", "setShadeLevel", 0 if number else way, number, is_target=bool(number))
    capability = _scale_of(want, capabilities)
    command = SCALES[capability].command
    way = (
        -want.way if capability == "colorTemperature" and "warm" in want.words else want.way
    )  # warm is fewer kelvins
    is_target = want.number is not None and ("most" in want.kinds or "to" in want.kinds)
    if is_target:
        _in_range(want.number or 0, capability)
    return Wish(capability, command, way, want.number, is_target)


def _scale_of(want: Want, capabilities: Sequence[str]) -> str:
    """Return the capability that an adjective or a number is about."""
    known = [name for name in SCALES if name in capabilities]
    fitting = [name for name in known if want.words <= SCALES[name].words]
    if not fitting:
        raise UnableError(f"It can only {_can(capabilities)}.")
    is_cooling = fitting[0] == "thermostatHeatingSetpoint" and not want.words and not WARMS & {*want.nouns}
    if is_cooling and want.way:
        raise UnclearError("Is it to be warmer or cooler? More of an air conditioner may be either.")
    return fitting[0]


def _can(capabilities: Sequence[str]) -> str:
    """Say in words what a device can do."""
    known = [CAPABILITIES[name] for name in capabilities if name in CAPABILITIES]
    can = [_verb(command, effect) for commands in known for command, effect in commands.items()]
    return ", ".join(can) or "do nothing"


def _verb(command: str, effect: Effect) -> str:
    if effect.takes:
        return f"be set {effect.takes}"
    return {"on": "be turned on", "off": "be turned off", "open": "be opened", "close": "be closed"}.get(
        command, f"be {effect.value}"
    )


def _in_range(number: float, capability: str) -> None:
    takes = CAPABILITIES[capability][SCALES[capability].command].takes
    if takes and not _is_in(number, takes):
        whole = " as a whole number" if takes.is_whole else ""
        raise UnclearError(f"It cannot be set to {number:g}: it can be set {takes}{whole}.")


def _command(wish: Wish, state: dict[str, Any]) -> Command:
    """Return the command for a wish; one that is relative goes on from the current value, and only its way."""
    command = Command(capability=wish.capability, command=wish.command)
    takes = CAPABILITIES[wish.capability][wish.command].takes
    if takes is None:
        return command
    current = _current(wish, state)
    if wish.is_target:
        value = wish.number or 0
        if current is not None and wish.way and (value - current) * wish.way <= 0:
            raise UnclearError(f"It is at {current:g} now, and {value:g} is not the way that was asked for.")
    elif current is None or not takes.least <= current <= takes.most:
        raise UnclearError("From where to go on is not known: call get_status first.")
    else:
        value = _moved(current, wish, takes)
    return command.model_copy(update={"arguments": [value]})


def _current(wish: Wish, state: dict[str, Any]) -> float | None:
    """Return the value of a state, which is written by capability, as get_status does, or flat."""
    part = state.get(wish.capability)
    value = (part if isinstance(part, dict) else state).get(
        CAPABILITIES[wish.capability][wish.command].attribute
    )
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _moved(current: float, wish: Wish, takes: Range) -> float:
    """Return the value after a step, which is shorter near the end and never the end."""
    step = SCALES[wish.capability].step if wish.number is None else wish.number
    value = current + wish.way * step
    if wish.number is None and not takes.least < value < takes.most:
        room = ((takes.most if wish.way > 0 else takes.least) - current) / 2
        value = current + (int(room) if isinstance(current, int) else round(room, 1))
    if (value - current) * wish.way <= 0 or not takes.least <= value <= takes.most:
        raise UnclearError(f"It is at {current:g} now, and it can be set {takes}.")
    return value


NO_REASON = "What is wrong and what is wished for do not fit together: say only what is to be done."
ONE_AT_A_TIME = "Only one device at a time is turned on or off or changed, so name one."
UNDERSTOOD = "turn the studio lamp on, 打开客厅的灯, it is too dark, dim it to 20%, I'm cold, close the blind a little, is the front door locked?"
DONE = {
    "on": ("已成功打开{name}", "is on now"), "off": ("已成功关闭{name}", "is off now"),
    "open": ("已成功打开{name}", "is open now"), "close": ("已成功关上{name}", "is closed now"),
    "lock": ("已成功锁上{name}", "is locked now"), "unlock": ("已成功解锁{name}", "is unlocked now"),
    "setLevel": ("已将{name}的亮度调到{value:g}%", "is at {value:g}% now"),
    "setHeatingSetpoint": ("已将{name}的温度设为{value:g}度", "is set to {value:g} °C now"),
    "setColorTemperature": ("已将{name}的色温调到{value:g}K", "is at {value:g} K now"),
    "setShadeLevel": ("已将{name}开到{value:g}%", "is {value:g}% open now"),
}  # fmt: skip
UNITS = {"level": "%", "shadeLevel": "% open", "heatingSetpoint": " °C", "colorTemperature": " K"}


def in_words(state: dict[str, dict[str, Any]]) -> str:
    """Say a state as people do.

    >>> in_words({"switch": {"switch": "on"}, "switchLevel": {"level": 60}})
    'on, 60%'
    """
    return ", ".join(f"{value}{UNITS[name]}" if name in UNITS else str(value) if name in state else f"{name} {value}"
                     for part in state.values() for name, value in part.items() if value is not None)  # fmt: skip


class Step(NamedTuple):
    """A part of a sentence, the devices that it may mean, and why it must be asked which one, also if it is one."""

    said: str
    keys: tuple[str, ...]
    why: str = ""


@dataclass
class Conversation:
    """Answers what is typed, without a model: by the calls that a model would make, if all that was said is read.

    Attributes:
        spoken: The id of the device that was spoken of last, if it is clear which.
        asked: What was asked for before it was clear of which device.
    """

    spoken: str = ""
    asked: Step | None = None

    async def reply(self, line: str, call: Call) -> str:
        """Find the device of each part of a line and run its command; where a part is not clear, run none and say why."""
        asked, self.asked = self.asked, None
        if asked and (keys := self._choice(line, asked)):
            step = asked._replace(keys=keys, why=asked.why if len(keys) > 1 else "")
            return await self._answer([step], line, call)
        try:
            steps = self._steps(line)
        except UnclearError as why:
            self._hear(line)
            if isinstance(why, QuestionError):
                return await self._status(line, str(why), call)
            return f"I am not sure what to do. {why} Nothing was done. I understand: {UNDERSTOOD}"
        return await self._answer(steps, line, call)

    def _hear(self, line: str) -> None:
        """Take the device that a line names as spoken of, though nothing is done; where it is not clear which, none."""
        clause = read(re.sub(CLAUSES, " ", line.rstrip("?？.。 ")))
        if clause.nouns or clause.unread:
            found = called(clause.nouns)
            self.spoken = found[0].id if len(found) == 1 else ""

    def _choice(self, line: str, asked: Step) -> tuple[str, ...]:
        """Return which of the devices that were asked about an answer names; all where it says so, none for anything else."""
        said = line.strip().rstrip(".!。！")  # noqa: RUF001 - as people type it
        if said.isascii() and said.isdigit():
            return asked.keys[int(said) - 1 :][:1] if 0 < int(said[:6]) <= len(asked.keys) else ()
        clause = read(re.sub(CLAUSES, " ", said))
        if "all" in clause.kinds and not {*clause.kinds} - {"all", "number", "it", "noun"}:
            return asked.keys
        names = {seed.id for seed in called(clause.nouns)}
        if not clause.nouns or clause.unread or {*clause.kinds} - {"noun", "it"}:
            names = {seed.id for seed in DEVICES if seed.name.casefold() == said.casefold()}
        return (*(key for key in asked.keys if key in names),)

    def _steps(self, line: str) -> list[Step]:
        """Read a line as one step with its reason, or each part of it for itself; "it" is the device of the part before."""
        parts = [part.strip() for part in NEXT.split(line) if read(part).kinds or read(part).unread]
        try:
            return [self._step(line, self.spoken)]
        except UnclearError:
            if len(parts) < 2:
                raise
        if unread := " ".join(filter(None, (read(part).unread for part in parts))):
            raise UnclearError(f"I could not read {unread!r}.")
        steps, spoken = list[Step](), self.spoken
        for part in parts:
            try:
                steps.append(self._step(part, spoken))
            except QuestionError:
                raise
            except UnclearError as why:
                raise UnclearError(f"Of {part!r}: {why}") from None
            spoken = steps[-1].keys[0] if len(steps[-1].keys) == 1 else ""
        _check(steps)
        return steps

    def _step(self, said: str, spoken: str) -> Step:
        """Return which devices may be meant: those that all names fit; where none is named, the last one, if it can do it."""
        wants = wants_of(said)
        nouns = dict.fromkeys(noun for want in wants for noun in want.nouns)
        named = called(nouns)
        if not named:
            raise UnclearError(
                f"No device is {' and '.join(map(repr, nouns))} at once. There is: {_there_is()}."
            )
        fits = _fitting(wants, named)
        if any("all" in want.kinds for want in wants):
            said = re.sub(LEXICON["all"], " ", said, flags=re.IGNORECASE | re.ASCII)
            return Step(said, fits, ONE_AT_A_TIME)
        if not spoken or nouns:
            return Step(said, fits)
        try:
            return Step(said, _fitting(wants, [seed for seed in DEVICES if seed.id == spoken]))
        except UnableError:
            is_wish = any(not want.is_complaint for want in wants)  # a complaint is about any device
            return Step(said, fits, f"{_there_is([spoken])} cannot do this." if is_wish else "")

    async def _status(self, line: str, why: str, call: Call) -> str:
        """Answer a question about one device by its state; no other question is answered."""
        clause = read(line.rstrip("?？.。 "))
        found = called(clause.nouns)
        if clause.unread or not clause.nouns or len(found) != 1 or re.search("[?？]", line.rstrip("?？.。 ")):
            unread = f"I could not read {clause.unread!r}. " if clause.unread.isalnum() else ""
            return f"I am not sure what to do. {unread}{why} Nothing was done. I understand: {UNDERSTOOD}"
        state = await call("get_status", device_id=f"uuid-{found[0].id}")
        return f"{found[0].name} ({found[0].room}): {in_words(state)}."

    async def _answer(self, steps: list[Step], line: str, call: Call) -> str:
        """Run the steps in order, or ask which device is meant; where one fails, say which were done."""
        for step in steps:
            if len(step.keys) > 1 or step.why:
                self._hear(line)
                self.asked = step if len(steps) == 1 else None
                of = "" if self.asked else f" by {step.said!r}"
                nothing = "" if self.asked else " Nothing was done."
                return f"{step.why} Which one do you mean{of}: {_there_is(step.keys)}?{nothing}".lstrip()
        done = list[str]()
        for at, step in enumerate(steps):
            try:
                done.append(await self._run(step, line, call))
            except ToolError as error:
                if len(steps) == 1:
                    raise
                left = "".join(f" Not tried: {one.said!r}." for one in steps[at + 1 :])
                return " ".join((*done, f"Not done: {step.said!r}. {error}{left}"))
        return " ".join(done)

    async def _run(self, step: Step, line: str, call: Call) -> str:
        seed = next(seed for seed in DEVICES if seed.id == step.keys[0])
        query = " ".join(dict.fromkeys(read(step.said).nouns)) or seed.name
        found = await call("search_devices", query=query)
        device = next((one for one in found if isinstance(one, dict) and one["id"] == seed.id), None)
        if device is None:
            raise ToolError(f"{seed.name} is not in the home any more.")
        self.spoken, full_id = seed.id, device["fullId"]
        state = await call("get_status", device_id=full_id)
        chosen = await call(
            "interpret_command",
            user_input=step.said,
            device_capabilities=device["capabilities"],
            current_state=state,
        )
        await call("execute_commands", device_id=full_id, commands=[chosen])
        return _done(device, chosen, state, is_chinese=bool(re.search("[一-鿿]", line)))


def _check(steps: Sequence[Step]) -> None:
    """Refuse parts of a line of which one is the reason of another, or undoes what another does."""
    wants = [wants_of(step.said) for step in steps]
    if len({want.is_complaint for some in wants for want in some}) > 1:
        raise UnclearError(NO_REASON)
    for seed in DEVICES:
        its = [some for step, some in zip(steps, wants, strict=True) if step.keys == (seed.id,)]
        wishes = [wish_of(some, list(seed.state)) for some in its]
        are_one = len({wish.capability for wish in wishes}) < len(wishes)
        if are_one or (len(wishes) > 1 and any(wish.command == "off" for wish in wishes)):
            raise UnclearError(
                f"These are several wishes for {_there_is([seed.id])}: say one after the other."
            )


def _fitting(wants: Sequence[Want], named: Sequence[DeviceSeed]) -> tuple[str, ...]:
    """Return which of the devices can do what is wanted.

    Raises:
        UnclearError: Where none of them can.
    """
    fits, why = list[str](), list[UnclearError]()
    for seed in named:
        try:
            wish_of(wants, list(seed.state))
            fits.append(seed.id)
        except UnableError as error:
            why.append(UnableError(f"{seed.name}: {error}" if len(named) == 1 else "No device does this."))
        except UnclearError as error:
            why.insert(0, error)
    if not fits:
        raise why[0]
    return (*fits,)


def _done(device: dict[str, Any], chosen: dict[str, Any], state: dict[str, Any], *, is_chinese: bool) -> str:
    """Say in the language of the line what was done, and where it does not show."""
    chinese, english = DONE[chosen["command"]]
    said = chinese if is_chinese else f"{{name}} ({{room}}) {english}."
    said = said.format(name=device["name"], room=device["room"], value=next(iter(chosen["arguments"]), 0))
    is_off = chosen["arguments"] and state.get("switch", {}).get("switch") == "off"
    if is_off:
        said += ", 但它现在是关着的" if is_chinese else " But it is off: say 'turn it on', too."
    return said


def _there_is(keys: Iterable[str] = ()) -> str:
    chosen = [seed for seed in DEVICES if seed.id in keys] or DEVICES
    return ", ".join(f"{seed.name} ({seed.room})" for seed in chosen)


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


def with_page() -> FastMCP:
    """Make the server with a page that shows the devices."""

    def state() -> list[dict[str, Any]]:
        return [
            {"device": row["name"], "room": row["room"], "state": in_words(row["state"])}
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
YES = re.compile(r"(?:y|yes|yeah|ok|是的?|好的?|可以)(?:[\s,，]+(?:please|请))?[.!。！]*", re.IGNORECASE)  # noqa: RUF001


class ModelError(Exception):
    """A model gives no answer; says why in one line."""


def complete(model: str, messages: Sequence[dict[str, Any]], tools: Sequence[Any] = ()) -> dict[str, Any]:
    """Ask a model for its next message, at OPENAI_BASE_URL with the key in OPENAI_API_KEY.

    Returns:
        The first choice of its response: the message, and why it ends.

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
            choice = json.load(answer)["choices"][0]
            return {**choice, "message": dict(choice["message"])}
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
            if not YES.fullmatch((said or "").strip()):
                return ToolResult(content="You did not allow it.", is_error=True)  # no failure of the tool
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
    """Write the events to a file, since the terminal is for the chat; where that cannot be, end with one line."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        configure_logging(file=folder / "chat.jsonl")
    except OSError as error:
        sys.exit(f"The folder {folder} cannot be used: {error.strerror}. Set EXAMPLES_DATA to another one.")
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)


async def chat(
    server: FastMCP, reply: Reply, *, model: str | None = None, system: str = "", hint: str = ""
) -> None:
    """Answer each line that is typed, until the input ends; the events go to a file of the data folder."""
    configure(DATA)
    if hint and not model:
        print(f"try     {hint}")
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
        choice = await asyncio.to_thread(complete, model, messages, await client.list_tools())
        message = choice["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            return str(message.get("content") or "(no answer)")
        done = await dispatch(
            session, {"choices": [choice]}
        )  # the whole choice, which says if it was cut off
        for one in done.calls:
            shown(one.tool, one.arguments, one.result)
        messages += done.messages
    raise ModelError(f"{model} asked for tools {MOST_TURNS} times without an answer.")


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
    return value or text  # the text beside an empty list says more


def in_json(value: Any) -> str:
    """Write a value as JSON, for the terminal."""
    return json.dumps(value, ensure_ascii=False, default=str)


def main(
    server: FastMCP,
    reply: Reply,
    *,
    system: str = "",
    page: Callable[[], FastMCP] | None = None,
    hint: str = "",
) -> None:
    """Run an example as the command line says: a chat, or a server over stdio.

    Args:
        server: What is talked to.
        reply: Answers where no model is named.
        system: The system prompt of a model.
        page: Makes the server with a page that shows what it does.
        hint: What can be typed; shown at the start.
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
            asyncio.run(chat(server, reply, model=options.model, system=system, hint=hint))
        else:
            asyncio.run(_chat_beside_page(page(), port, reply, options.model, system, hint))


@contextmanager
def interruptible() -> Iterator[None]:
    """End the program with 130 and without a traceback when it is interrupted."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        print(flush=True)
        os._exit(130)  # a thread may still wait for a line


async def _chat_beside_page(
    server: FastMCP, port: int, reply: Reply, model: str | None, system: str, hint: str
) -> None:
    """Serve a page and the tools over HTTP on loopback, until interrupted, with a chat in the terminal."""
    serving = server.run_http_async(
        host="127.0.0.1", port=port, show_banner=False, uvicorn_config={"log_level": "error"}
    )
    print(f"page    http://127.0.0.1:{port}/", flush=True)
    await asyncio.gather(serving, chat(server, reply, model=model, system=system, hint=hint))


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
    main(mcp, Conversation().reply, system=SYSTEM, page=with_page, hint=UNDERSTOOD)
