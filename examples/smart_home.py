"""A smart home: finds devices, runs commands, and understands what people say in Chinese and English.

python examples/smart_home.py           a transcript of a few conversations
python examples/smart_home.py --serve   the server over stdio

The house is an SQLite file. Devices and commands look as in SmartThings.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from fastmcp import FastMCP
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from mcp_lenient import LenientMiddleware, tool_error
from shared.documents import tokens, transaction
from shared.transcript import DATA, Call, Scene, run_example

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
SEARCH = "SELECT * FROM devices WHERE devices MATCH ? ORDER BY bm25(devices), rowid LIMIT ?"

READS = {"readOnlyHint": True}
DeviceId = Annotated[str, "The fullId of a device."]


class DeviceSeed(NamedTuple):
    """A device as the house begins with it; ``words`` are other names to find it by."""

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
    DeviceSeed("air001", "客厅空调", "客厅", "thermostat", "living room air conditioner climate heating",
               {"switch": {"switch": "off"}, "thermostatHeatingSetpoint": {"heatingSetpoint": 20.0}}),
    DeviceSeed("bld001", "Kitchen blind", "kitchen", "windowShade", "shade 厨房 窗帘 百叶窗",
               {"windowShade": {"windowShade": "open"}, "windowShadeLevel": {"shadeLevel": 100}}),
    DeviceSeed("dor001", "大门锁", "玄关", "lock", "front door entrance hall lock",
               {"lock": {"lock": "locked"}}),
)  # fmt: skip

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
        with transaction(self.file) as connection:
            connection.row_factory = sqlite3.Row
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(TABLE)
            if not connection.execute("SELECT 1 FROM devices").fetchone():
                connection.executemany("INSERT INTO devices VALUES (?, ?, ?, ?, ?, ?, ?)", map(_row, DEVICES))
            yield connection

    def search_devices(
        self,
        query: Annotated[str, "A place and a kind of device, such as '客厅 灯'."],
        limit: Annotated[int, Field(description="The most devices to return.", ge=1, le=50)] = 5,
    ) -> list[Device]:
        """Find devices by room, name or kind, in Chinese or English; all words must be found."""
        wanted = " ".join(f'"{token}"' for token in tokens(query)) or '""'
        with self._transaction() as connection:
            rows = connection.execute(SEARCH, (wanted, limit)).fetchall()
        return [Device(capabilities=list(json.loads(row["state"])), **row) for row in rows]

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
            changed = (json.dumps(state), device_id)
            connection.execute("UPDATE devices SET state = ? WHERE ? IN (id, fullId)", changed)
        return {"status": "ACCEPTED"}

    def set_climate(
        self,
        device_id: Annotated[str, "The fullId of an air conditioner."],
        temperature: Annotated[float, Field(description="In degrees Celsius.", ge=5, le=35)],
        power: Annotated[Literal["on", "off"], "Whether it runs."] = "on",
        quiet: Annotated[bool, "Whether it blows slowly."] = False,  # noqa: FBT002 - a tool is called by name
        until: Annotated[str | None, "When it ends, such as '22:00'; null for never."] = None,
    ) -> dict[str, Any]:
        """Set an air conditioner in one call."""
        capability, command = "thermostatHeatingSetpoint", "setHeatingSetpoint"
        heat = Command(capability=capability, command=command, arguments=[temperature])
        self.execute_commands(device_id, [heat, Command(capability="switch", command=power)])
        return {"temperature": temperature, "power": power, "quiet": quiet, "until": until}


def _row(seed: DeviceSeed) -> tuple[str, ...]:
    words = " ".join(tokens(f"{seed.name} {seed.room} {seed.type} {seed.words}"))
    return (words, seed.id, f"uuid-{seed.id}", seed.name, seed.room, seed.type, json.dumps(seed.state))


def _state(connection: sqlite3.Connection, device_id: str) -> dict[str, dict[str, Any]]:
    row = connection.execute("SELECT state FROM devices WHERE ? IN (id, fullId)", (device_id,)).fetchone()
    if row is None:
        message = f"There is no device {device_id!r}. Use the fullId of what search_devices finds."
        raise tool_error("UNKNOWN_DEVICE", message, "device_id", received_value=device_id)
    return dict(json.loads(row["state"]))


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


class Wording(NamedTuple):
    """What people say, and the command they mean: with the number they say, or ``step`` on from the current value."""

    said: str
    capability: str
    command: str
    step: int = 0
    otherwise: int | None = None


_WARMER, _COOLER = "warm|heat|暖|热", "cool|cold|冷|凉"
WORDINGS = (
    Wording("unlock|解锁|开锁", "lock", "unlock"),
    Wording("lock|锁", "lock", "lock"),
    Wording("柔和|暗|dim|soft|darker", "switchLevel", "setLevel", -30, 30),
    Wording("亮(?!度)|bright(?!ness)", "switchLevel", "setLevel", 30, 80),
    Wording("亮度|brightness|level|%", "switchLevel", "setLevel"),
    Wording(_WARMER, "thermostatHeatingSetpoint", "setHeatingSetpoint", 1, 22),
    Wording(_COOLER, "thermostatHeatingSetpoint", "setHeatingSetpoint", -1, 18),
    Wording("度|degree|°", "thermostatHeatingSetpoint", "setHeatingSetpoint"),
    Wording(_WARMER, "colorTemperature", "setColorTemperature", -800, 2700),
    Wording(_COOLER, "colorTemperature", "setColorTemperature", 800, 5000),
    Wording("%", "windowShadeLevel", "setShadeLevel"),
    Wording(r"\boff\b|(?<!开)关", "switch", "off"),
    Wording(r"\bon\b|开(?!关)", "switch", "on"),
    Wording("close|关|拉上", "windowShade", "close"),
    Wording("open|开", "windowShade", "open"),
)
_NOT = re.compile("不要|别|don't|do not|never", re.IGNORECASE)
_TO = re.compile(r"\bto\b|到|至", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def interpret_command(
    user_input: Annotated[str, "What the user wants, such as '柔和一些'."],
    device_capabilities: Annotated[list[str], "The capabilities of the device."],
    current_state: Annotated[dict[str, Any] | None, "What get_status has returned, if it was called."] = None,
) -> Command:
    """Choose the command that a sentence means, in Chinese or English, for execute_commands."""
    known = [wording for wording in WORDINGS if wording.capability in device_capabilities]
    for wording in () if _NOT.search(user_input) else known:
        if re.search(wording.said, user_input, re.IGNORECASE):
            arguments = _arguments(user_input, wording, current_state or {})
            if None in arguments:
                break
            return Command(capability=wording.capability, command=wording.command, arguments=arguments)
    has = ", ".join(device_capabilities) or "nothing"
    message = f"It is not clear what to do. The device has: {has}. Ask the user."
    raise tool_error("UNCLEAR_COMMAND", message, "user_input", allowed_values=device_capabilities)


def _arguments(said: str, wording: Wording, state: dict[str, Any]) -> list[float | None]:
    """Return what is meant; "2 degrees warmer" and "warmer" need the current number to go on from."""
    effect = CAPABILITIES[wording.capability][wording.command]
    if effect.takes is NOTHING:
        return []
    named = _NUMBER.search(said)
    number = None if named is None else float(named[0]) if "." in named[0] else int(named[0])
    if not wording.step or (number is not None and _TO.search(said)):
        return [number]
    part = state.get(wording.capability)  # a state is written by capability, as get_status does, or flat
    current = (part if isinstance(part, dict) else state).get(effect.attribute)
    if not isinstance(current, (int, float)):
        return [wording.otherwise if number is None else None]
    step = wording.step if number is None else number * (1 if wording.step > 0 else -1)
    (bounds,) = effect.takes.json_schema()["prefixItems"]
    return [min(max(current + step, bounds["minimum"]), bounds["maximum"])]


def build(folder: Path, *, lenient: bool, strict: bool = False) -> FastMCP:
    """Make a server for the home in a folder; strict is FastMCP's strict input validation."""
    server = FastMCP("smart-home", strict_input_validation=strict)
    if lenient:
        server.add_middleware(LenientMiddleware())
    home = Home(folder / "smart_home.db")
    for reading in (home.search_devices, home.get_status, interpret_command):
        server.tool(annotations=READS)(reading)
    for changing in (home.execute_commands, home.set_climate):
        server.tool(changing)
    return server


LIGHT, LAMP = "uuid-abc123", "uuid-bed001"
ON = {"component": "main", "capability": "switch", "command": "on"}
WARM = {"capability": "colorTemperature", "command": "setColorTemperature"}
SCENES = (
    Scene("打开客厅的灯",
        Call("search_devices", {"query": "客厅 灯", "limit": None}, "null_to_absent", gives='"id": "abc123"'),
        Call("execute_commands", lambda found: {"deviceId": json.loads(found[0])[0]["fullId"], "commands": json.dumps([ON])},
             "rename_case json_text_to_array", gives="ACCEPTED"),
        Call("get_status", {"device_id": [LIGHT]}, "array_to_scalar", gives='"switch": "on"'),
        answer="已成功打开客厅吸顶灯", english="Turn on the living room light."),
    Scene("让灯光柔和一些",
        Call("interpret_command",
             {"user_input": "柔和一些", "device_capabilities": "['switch', 'switchLevel']", "current_state": '{"level": 80}'},
             "json5_text_to_array json_text_to_object",
             gives='"command": "setLevel", "arguments": [50]'),
        Call("execute_commands", lambda found: {"device_id": LIGHT, "commands": json.loads(found[0])}, "object_to_array", gives="ACCEPTED"),
        answer="客厅吸顶灯的亮度已调到 50%。", english="Make the light softer."),
    Scene("Make the bedroom lamp warmer, and turn the studio lamp on",
        [
            Call("search_devices", {"arguments": {"query": "bedroom lamp"}}, "unwrap_arguments", gives="卧室台灯"),
            Call("search_devices", '{"query": "studio lamp"}', "json_text_to_object", gives="studio"),
        ],
        Call("execute_commands", {"device_id": LAMP, "commands": [WARM | {"capability": "color", "arguments": [3200]}]},
             "UNSUPPORTED_CAPABILITY"),
        [
            Call("execute_commands", {"device_id": LAMP, "commands": [WARM | {"args": [3200]}]}, "INVALID_COMMANDS_TYPE"),
            Call("execute_commands", {"device_id": "uuid-std001", "commands": [json.dumps(ON)]}, "json_text_to_object"),
        ],
        Call("execute_commands", {"device_id": LAMP, "commands": [WARM | {"arguments": "[3200]"}]},
             "json_text_to_array", gives="ACCEPTED"),
        answer="The bedroom lamp is at 3200 K now, and the studio lamp is on."),
    Scene("把卧室的灯关掉",
        Call("search_devices", {"query": "卧室灯", "limit": "两"}, "INVALID_LIMIT_TYPE"),
        Call("search_devices", {"query": "卧室灯", "limit": 2}, gives=LAMP),
        Call("interpret_command",
             {"userInput": "关掉", "deviceCapabilities": {"item": ["switch", "switchLevel"]}, "currentState": None},
             "rename_case rename_case rename_case item_wrapper_to_array",
             gives='"command": "off"'),
        Call("execute_commands", lambda found: {"device_id": LAMP, "commands": [json.loads(found[-1])]}, gives="ACCEPTED"),
        answer="卧室台灯已关闭。", english="Turn off the bedroom light."),
)  # fmt: skip


mcp = build(DATA, lenient=True)

if __name__ == "__main__":
    sys.exit(run_example("Smart home", build, SCENES, system=SYSTEM))
