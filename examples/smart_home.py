"""A smart home: finds devices, runs commands, and understands what people say in Chinese and English.

python examples/smart_home.py           a chat in the terminal; --model NAME lets a model answer
python examples/smart_home.py --page    the same, and a page that shows the home and the last calls
python examples/smart_home.py --serve   the server over stdio

The house is an SQLite file. Devices and commands look as in SmartThings. It needs mcp-lenient, and chat.py beside it.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import ToolResult
from pydantic import BaseModel, ConfigDict, Field

from chat import DATA, MARKS, NEXT, Page, Sentences, Talk, in_language_of, main, not_read
from mcp_lenient import LenientMiddleware, tool_error

TABLE = """
CREATE TABLE IF NOT EXISTS devices (id TEXT PRIMARY KEY, fullId TEXT, name TEXT, room TEXT, type TEXT, state TEXT)
"""
ROWS = "SELECT id, fullId, name, room, type, state FROM devices ORDER BY rowid"
INSERT = "INSERT INTO devices (id, fullId, name, room, type, state) VALUES (?, ?, ?, ?, ?, ?)"

INSTRUCTIONS = (
    "You control a smart home. When the user names a place and a kind of device, call search_devices with both, "
    "such as '客厅 灯'. Use the fullId of what it finds. Call interpret_command where it is not clear which command "
    "is meant, then execute_commands. Answer in the user's language."
)
READS = {"readOnlyHint": True}
DeviceId = Annotated[str, "The fullId of a device."]


class DeviceSeed(NamedTuple):
    """A device as the house begins with it; ``called`` are the names of its place and kind, by which it is found."""

    id: str
    name: str
    room: str
    type: str
    called: str
    state: dict[str, dict[str, Any]]


LIGHT = "灯|灯光|电灯|灯泡|照明|light|lamp|lighting|bulb"
DEVICES = (
    DeviceSeed("abc123", "客厅吸顶灯", "客厅", "switch", f"客厅|living room|livingroom|lounge|sitting room|吸顶灯|主灯|大灯|ceiling light|ceiling lamp|main light|{LIGHT}",
               {"switch": {"switch": "off"}, "switchLevel": {"level": 80}}),
    DeviceSeed("bed001", "卧室台灯", "卧室", "switch", f"卧室|卧房|睡房|bedroom|台灯|床头灯|desk light|desk lamp|bedside light|bedside lamp|{LIGHT}",
               {"switch": {"switch": "on"}, "switchLevel": {"level": 60}, "colorTemperature": {"colorTemperature": 4000}}),
    DeviceSeed("std001", "Studio lamp", "studio", "switch", f"书房|工作室|studio|study|落地灯|floor light|floor lamp|{LIGHT}",
               {"switch": {"switch": "off"}, "switchLevel": {"level": 50}}),
    DeviceSeed("air001", "客厅空调", "客厅", "thermostat",
               "客厅|living room|livingroom|lounge|sitting room|空调|冷气|暖气|air conditioner|air conditioning|air con|aircon|ac|a/c|heating|heater|thermostat",
               {"switch": {"switch": "off"}, "thermostatHeatingSetpoint": {"heatingSetpoint": 20.0}}),
    DeviceSeed("bld001", "Kitchen blind", "kitchen", "windowShade", "厨房|kitchen|窗帘|百叶窗|卷帘|window blind|blind|shade|curtain",
               {"windowShade": {"windowShade": "open"}, "windowShadeLevel": {"shadeLevel": 100}}),
    DeviceSeed("dor001", "大门锁", "玄关", "lock", "玄关|entrance hall|entrance|hallway|大门|前门|门锁|门|front door|door",
               {"lock": {"lock": "locked"}}),
)  # fmt: skip
NAMES = {
    name: {seed.id for seed in DEVICES if name in seed.called.split("|")}
    for seed in DEVICES
    for name in seed.called.split("|")
}
NOUN = "|".join(rf"\b{name}s?\b" if name.isascii() else name for name in sorted(NAMES, key=len, reverse=True))


class Range(NamedTuple):
    """The number that a command takes."""

    least: int
    most: int
    unit: str
    is_whole: bool = True

    def __str__(self) -> str:
        kind = "a whole number" if self.is_whole else "a number"
        return f"{kind} from {self.least} to {self.most}{self.unit}"

    def has(self, value: Any) -> bool:
        """Return whether a value is one of its numbers."""
        is_number = isinstance(value, int) or (isinstance(value, float) and not self.is_whole)
        return is_number and not isinstance(value, bool) and self.least <= value <= self.most


PERCENT, KELVIN = Range(0, 100, "%"), Range(2200, 6500, " K")
CELSIUS = Range(5, 35, " degrees", is_whole=False)
CAPABILITIES: dict[str, dict[str, tuple[str, str | Range]]] = {
    "switch": {"on": ("switch", "on"), "off": ("switch", "off")},
    "switchLevel": {"setLevel": ("level", PERCENT)},
    "colorTemperature": {"setColorTemperature": ("colorTemperature", KELVIN)},
    "thermostatHeatingSetpoint": {"setHeatingSetpoint": ("heatingSetpoint", CELSIUS)},
    "windowShade": {"open": ("windowShade", "open"), "close": ("windowShade", "closed")},
    "windowShadeLevel": {"setShadeLevel": ("shadeLevel", PERCENT)},
    "lock": {"lock": ("lock", "locked"), "unlock": ("lock", "unlocked")},
}
"""The commands of each capability: what they set, to which value or to a number in which range."""


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
        """Open the file, which begins with the devices above; other calls wait until the block ends."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.file)) as connection, connection:
                connection.row_factory = sqlite3.Row
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(TABLE)
                if not connection.execute("SELECT 1 FROM devices").fetchone():
                    new = ((one.id, f"uuid-{one.id}", *one[1:4], json.dumps(one.state)) for one in DEVICES)
                    connection.executemany(INSERT, new)
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
        fits = [(row, rest) for row in rows if (rest := _unmatched(query, row)) is not None]
        if not fits:
            home = ", ".join(f"{row['name']} ({row['room']}, {row['type']})" for row in rows)
            text = f"No device is called so. The home has: {home}."
            # an empty list with words; the output schema is that of the list
            return cast("list[Device]", ToolResult(text, structured_content={"result": []}))
        fits.sort(key=lambda fit: len("".join(fit[1])))
        return [Device(capabilities=[*row.pop("state")], unmatched=rest, **row) for row, rest in fits[:limit]]

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
    ) -> dict[str, Any]:
        """Set an air conditioner in one call."""
        with self._transaction() as connection:
            state = _state(connection, device_id)
            if "thermostatHeatingSetpoint" not in state:
                message = f"The device {device_id!r} is no air conditioner: it has {', '.join(state)}. Nothing was changed."
                raise tool_error("UNSUPPORTED_DEVICE", message, "device_id", received_value=device_id)
            state["thermostatHeatingSetpoint"] |= {"heatingSetpoint": temperature, "quiet": quiet}
            state["switch"]["switch"] = power
            _keep(connection, device_id, state)
        return {"temperature": temperature, "power": power, "quiet": quiet}


def names_in(query: str) -> list[str]:
    """Return the declared names of places and kinds in a text.

    >>> names_in("打开客厅的灯"), names_in("the lounge's Ceiling lights")
    (['客厅', '灯'], ['lounge', 'ceiling light'])
    """
    names = re.findall(NOUN, " ".join(query.casefold().split()))
    return [*dict.fromkeys(name if name in NAMES else name.removesuffix("s") for name in names)]


def _unmatched(query: str, row: dict[str, Any]) -> list[str] | None:
    """Return the words of a query that do not fit a device; None where no word does."""
    rest = query.casefold()
    names = [name for name in names_in(rest) if row["id"] in NAMES[name]]
    for name in (row["name"].casefold(), row["type"].casefold(), *names):
        rest = re.sub(rf"{re.escape(name)}s?", " ", rest)
    words = (word.strip("的") for word in re.findall(r"\w+", rest))
    return (
        None if rest == query.casefold() else [word for word in words if word not in {"the", "a", "in", ""}]
    )


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
    commands = _entry("capability", command.capability, supported, where)
    attribute, sets = _entry("command", command.command, commands, where)
    value = command.arguments[0] if len(command.arguments) == 1 else None
    if isinstance(sets, str) and not command.arguments:
        return attribute, sets
    if isinstance(sets, Range) and sets.has(value):
        return attribute, value
    takes = "no arguments" if isinstance(sets, str) else f"{sets}, such as [{(sets.least + sets.most) // 2}]"
    message = f"{command.command!r} takes {takes}. Nothing was changed."
    raise tool_error("INVALID_COMMAND_ARGUMENTS", message, f"{where}.arguments")


def _entry(what: str, name: str, entries: dict[str, Any], where: str) -> Any:
    """Return the entry of a name; an unknown name is an error that lists those that there are."""
    if name in entries:
        return entries[name]
    allowed = list(entries)
    hint = "".join(f" Did you mean {near!r}?" for near in get_close_matches(name, allowed, n=1, cutoff=0.4))
    message = f"The device has no {what} {name!r}.{hint} It has: {', '.join(allowed)}. Nothing was changed."
    code = f"UNSUPPORTED_{what.upper()}"
    raise tool_error(code, message, f"{where}.{what}", received_value=name, allowed_values=allowed)


def interpret_command(
    user_input: Annotated[str, "What the user wants, such as '柔和一些'."],
    device_capabilities: Annotated[list[str], "The capabilities of the device."],
    current_state: Annotated[dict[str, Any] | None, "What get_status has returned, if it was called."] = None,
) -> Command:
    """Choose the command that a sentence means, in Chinese or English, for execute_commands.

    A complaint ("too dark") asks for a step the other way, and a step needs the state. A sentence that is not
    understood as a whole is an error that says why, in the language of the sentence: ask the user then.
    """
    reading = WISHES.read(user_input)
    try:
        if reading is None:
            why = not_read(user_input, WISHES)
        elif (names := names_in(reading[1].get("device", ""))) and not any(
            {*device_capabilities} <= seed.state.keys() for name in names for seed in called([name])
        ):
            why = in_language_of(user_input, "The device is not called so.", "设备不叫这个名字。")
        else:
            return chosen(reading[0], reading[1].get("number"), device_capabilities, current_state or {})
    except UnclearError as error:
        why = in_language_of(user_input, *error.args)
    raise tool_error("UNCLEAR_COMMAND", why, "user_input")


def build(folder: Path, *, lenient: bool, strict: bool = False, page: Page | None = None) -> FastMCP:
    """Make a server for the home in a folder; strict is FastMCP's strict input validation, a page sees each call."""
    server = FastMCP("smart-home", INSTRUCTIONS, strict_input_validation=strict)
    if lenient:
        observer = None if page is None else page.record
        server.add_middleware(LenientMiddleware(on_decision=observer, decision_values=page is not None))
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


# --- What people say, as a list: {device} is one device or several, {number} a number ---------------------------


class Wish(NamedTuple):
    """What a sentence asks for: the first of these commands that a device has, and for a step its way."""

    commands: tuple[tuple[str, str], ...]
    way: int = 0
    number: float | None = None


class UnclearError(Exception):
    """A sentence is not acted on; says why, in English and in Chinese."""


LEVEL, SHADE = ("switchLevel", "setLevel"), ("windowShadeLevel", "setShadeLevel")
HEAT, COLOR = ("thermostatHeatingSetpoint", "setHeatingSetpoint"), ("colorTemperature", "setColorTemperature")
STEPS = {"setLevel": 30, "setShadeLevel": 20, "setHeatingSetpoint": 1, "setColorTemperature": -800}
ONE = (
    rf"(?:(?:all|both|every|each)(?: of)? )?(?:the |my )?(?:所有的?|全部的?|每个)?(?:{NOUN})"
    rf"(?:(?: in the | of the | |的|里的?)?(?:{NOUN}))*|it|them|它|这个|那个"
)
SLOTS = {
    "device": rf"(?:{ONE})(?:(?:,? and (?:the )?|, (?:the )?|[和跟、，])(?:{ONE}))*",
    "number": r" ?(?:[0-9]{1,4}(?:[.][0-9])?|[二三四五六七八九]?十[一二三四五六七八九]?|[零一二三四五六七八九])",
    "_is": " is| was|'s",
    "_am": " am| feel|'m",
    "_bit": "一点|一些|点|些",
}
WISHES = Sentences(
    {
        "turn on {device} | turn {device} on | switch on {device} | switch {device} on | 打开{device} | 开{device} | 把{device}[都]打开 | {device}打开 | on": Wish((("switch", "on"), ("windowShade", "open"))),
        "turn off {device} | turn {device} off | switch off {device} | switch {device} off | 关掉{device} | 关{device} | 关闭{device} | 关上{device} | 把{device}[都]关[掉][上][了] | {device}[都]关[掉][了] | 关掉 | off": Wish((("switch", "off"), ("windowShade", "close"))),
        "open {device} | raise {device} | 拉开{device} | 把{device}拉开": Wish((("windowShade", "open"),)),
        "close {device} | shut {device} | 拉上{device} | 把{device}拉上": Wish((("windowShade", "close"),)),
        "open {device} halfway | close {device} halfway | {device}开一半 | 把{device}开一半": Wish((SHADE,), number=50),
        "close {device} a little | {device}关小一点 | {device}关小一些 | 把{device}关小{_bit}": Wish((SHADE,), -1),
        "open {device} a little | {device}开大一点 | {device}开大一些 | 把{device}开大{_bit}": Wish((SHADE,), 1),
        "lock {device} | 锁[上]{device} | 把{device}锁[上][了]": Wish((("lock", "lock"),)),
        "unlock {device} | 解锁{device} | 把{device}解锁": Wish((("lock", "unlock"),)),
        "set {device} to {number}% | dim {device} to {number}% | set {device} to {number} percent | dim {device} to {number} percent | {device}调到{number}% | 把{device}调到{number}% | [把][{device}][的]亮度调到{number}%": Wish((LEVEL, SHADE)),
        "set {device} to {number} degrees | set {device} to {number}°[C] | {device}{number}度 | {device}调到{number}度 | 把{device}调到{number}度 | [把][{device}][的]温度调到{number}度": Wish((HEAT,)),
        "set {device} to {number}[ ]K | [把]{device}[的]色温调到{number}[ ]K": Wish((COLOR,)),
        "make {device} brighter | brighten {device} | brighter | 亮一点 | it{_is} too dark[ in here] | it{_is} too dark in {device} | {device}{_is} too dark | too dark | [把][让][{device}][调]亮{_bit} | [{device}]太暗[了] | [{device}]有点暗 | [{device}]不够亮 | [我]看不清[了]": Wish((LEVEL,), 1),
        "make {device} dimmer | make {device} softer | dim {device} | dimmer | softer | 暗一点 | it{_is} too bright[ in here] | it{_is} too bright in {device} | {device}{_is} too bright | too bright | [把][让][{device}][调]暗{_bit} | [让][{device}]柔和{_bit} | [{device}]太亮[了] | [{device}]太刺眼[了]": Wish((LEVEL,), -1),
        "I am cold | I{_am} cold | I{_am} too cold | it{_is} too cold[ in here] | 我冷 | [我][有点][好]冷[了] | [我]太冷[了]": Wish((HEAT,), 1),
        "I am hot | I{_am} hot | I{_am} too hot | it{_is} too hot[ in here] | 我热 | [我][有点][好]热[了] | [我]太热[了]": Wish((HEAT,), -1),
        "make {device} warmer | warmer | 暖一点 | {device}{_is} too cold | it{_is} too cold in {device} | [把][让][{device}][调]暖[和]{_bit} | {device}太冷[了] | {device}[有点]冷[了]": Wish((HEAT, COLOR), 1),
        "make {device} cooler | cooler | 凉快一点 | {device}{_is} too hot | it{_is} too hot in {device} | [把][让][{device}][调]凉快{_bit} | [把][让][{device}][调]冷{_bit} | {device}太热[了] | {device}[有点]热[了]": Wish((HEAT, COLOR), -1),
        "turn {device} up by {number} degrees | [把]{device}调高{number}度": Wish((HEAT,), 1),
        "turn {device} down by {number} degrees | [把]{device}调低{number}度": Wish((HEAT,), -1),
    },
    **SLOTS,
)  # fmt: skip


def called(names: Sequence[str]) -> list[DeviceSeed]:
    """Return the devices that all of these names are names of."""
    return [seed for seed in DEVICES if all(seed.id in NAMES[name] for name in names)]


def chosen(wish: Wish, written: str | None, capabilities: Sequence[str], state: dict[str, Any]) -> Command:
    """Return the command for a wish; raise an UnclearError where a device cannot do it, or not from where it is."""
    capability, command = next((option for option in wish.commands if option[0] in capabilities), ("", ""))
    if not command:
        can = ", ".join(name for part in capabilities for name in CAPABILITIES.get(part, ()))
        raise UnclearError(f"The device can: {can or 'nothing'}.", f"设备只能: {can or '无'}。")
    attribute, takes = CAPABILITIES[capability][command]
    if isinstance(takes, str):
        return Command(capability=capability, command=command)
    number = wish.number if written is None else _number(written)
    if wish.way:
        if capability != "windowShadeLevel" and _value(state, "switch", "switch") == "off":
            if wish.way < 0:
                raise UnclearError("It is off.", "它关着。")
            return Command(capability="switch", command="on")
        number = _moved(_value(state, capability, attribute), wish, command, takes, number)
    if not takes.has(number):
        raise UnclearError(f"It must be {takes}.", f"只能是 {takes.least} 到 {takes.most}{takes.unit}。")
    return Command(capability=capability, command=command, arguments=[number])


def _value(state: dict[str, Any], capability: str, attribute: str) -> Any:
    """Return a value of a state, which is written by capability, as get_status does, or flat."""
    part = state.get(capability)
    return (part if isinstance(part, dict) else state).get(attribute)


def _moved(current: Any, wish: Wish, command: str, takes: Range, by: float | None) -> float:
    """Return the value after a step, which is shorter near the end and never the end."""
    if not isinstance(current, (int, float)) or not takes.has(current):
        raise UnclearError("Its value is not known: call get_status.", "不知道现在的值: 请调用 get_status。")
    step = wish.way * STEPS[command] if by is None else wish.way * by
    if by is None and not takes.least < current + step < takes.most:
        room = ((takes.most if step > 0 else takes.least) - current) / 2
        step = int(room) if isinstance(current, int) else round(room, 1)
    if not step:
        raise UnclearError(f"It is at {current:g} already.", f"已经是 {current:g} 了。")
    return current + step


def _number(written: str) -> float:
    if written.strip().isascii():
        return float(written) if "." in written else int(written)
    digits, (tens, ten, ones) = "零一二三四五六七八九", written.strip().rpartition("十")
    return 10 * bool(ten) * digits.index(tens or "一") + digits.index(ones or "零")


# --- The chat ---------------------------------------------------------------------------------------------------

DONE = {
    "on": ("is on now", "已成功打开{name}"), "off": ("is off now", "已成功关闭{name}"),
    "open": ("is open now", "已成功打开{name}"), "close": ("is closed now", "已成功关上{name}"),
    "lock": ("is locked now", "已成功锁上{name}"), "unlock": ("is unlocked now", "已成功解锁{name}"),
    "setLevel": ("is at {value:g}% now", "已将{name}的亮度调到{value:g}%"),
    "setHeatingSetpoint": ("is set to {value:g} °C now", "已将{name}的温度设为{value:g}度"),
    "setColorTemperature": ("is at {value:g} K now", "已将{name}的色温调到{value:g}K"),
    "setShadeLevel": ("is {value:g}% open now", "已将{name}开到{value:g}%"),
}  # fmt: skip
UNITS = {"level": "%", "shadeLevel": "% open", "heatingSetpoint": " °C", "colorTemperature": " K"}
SAID = {"on": "开着", "off": "关着", "open": "开着", "partially open": "半开", "closed": "关着", "locked": "锁着",
        "unlocked": "没锁"}  # fmt: skip
QUESTIONS = Sentences(
    {
        "is {device} {state} | what is the state of {device} | how is {device} | {device}{state}[了]吗 | {device}的状态 | {device}怎么样": None,
        "which devices do I have | what devices do I have | what devices are there | list [the ][all ][my ]devices | 有哪些设备 | [我][家里]有什么设备 | [列出][所有]设备": None,
    },
    device=SLOTS["device"], state="on|off|open|closed|locked|unlocked|开着|关着|锁着|开|关|锁|锁好|亮着",
)  # fmt: skip
Step = tuple[str, list[DeviceSeed]]
"""A part of a line, and the devices that it is about."""


def in_words(state: dict[str, dict[str, Any]]) -> str:
    """Say a state as people do.

    >>> in_words({"switch": {"switch": "on"}, "switchLevel": {"level": 60}})
    'on, 60%'
    """
    values = [(name, value) for part in state.values() for name, value in part.items() if value is not None]
    return ", ".join(
        f"{value}{UNITS[name]}" if name in UNITS else str(value) if name in state else f"{name} {value}"
        for name, value in values
    )


class WhichError(UnclearError):
    """Several devices may be meant by a part of a line."""

    def __init__(self, step: Step) -> None:
        listed = "; ".join(f"{at} {seed.name} ({seed.room})" for at, seed in enumerate(step[1], 1))
        super().__init__(f"Which one do you mean: {listed}?", f"你指的是哪一个: {listed}?")
        self.step = step


@dataclass
class Conversation:
    """Answers lines without a model, by the calls that a model would make: all that a line says is done, or nothing.

    Attributes:
        spoken: The device that was spoken of last.
        pending: What was asked for before it was clear of which device.
    """

    spoken: DeviceSeed | None = None
    pending: Step | None = None

    async def reply(self, line: str, talk: Talk) -> str:
        """Find the devices of each part of a line, and run its command; where a part is not clear, say why."""
        talk.line, pending, self.pending = line, self.pending, None
        if pending and (seeds := _picked(line, pending[1])):
            talk.line = pending[0]
            return await self._run([(pending[0], seeds)], talk)
        if question := QUESTIONS.read(line):
            return await self._state(question[1].get("device"), talk)
        try:
            steps = self._steps(line)
            return await self._run(steps, talk) if steps else not_read(line, WISHES, QUESTIONS)
        except WhichError as which:
            self.pending = which.step
            return talk.say(*which.args)
        except UnclearError as why:
            return talk.say(f"Nothing was done. {why.args[0]}", f"什么都没有做。{why.args[1]}")

    def _steps(self, line: str) -> list[Step]:
        """Return each part of a line with its devices; none where a part is not understood."""
        parts = [line] if WISHES.read(line) else [part for part in NEXT.split(line) if part.strip()]
        steps, spoken = list[Step](), self.spoken
        for part in parts:
            if (reading := WISHES.read(part)) is None:
                return []
            steps.append((part, _devices(part, *reading, spoken)))
            spoken = steps[-1][1][-1]
        seeds = [seed.id for _, seeds in steps for seed in seeds]
        if len({*seeds}) < len(seeds):
            raise UnclearError("These are several wishes for one device.", "对同一个设备有几个要求。")
        return steps

    async def _state(self, text: str | None, talk: Talk) -> str:
        names = names_in(text or "")
        seeds = called(names) if names or text is None else [*filter(None, [self.spoken])]
        states = [(seed, await talk.call("get_status", device_id=f"uuid-{seed.id}")) for seed in seeds]
        english = "; ".join(f"{seed.name} ({seed.room}): {in_words(state)}" for seed, state in states)
        chinese = re.sub(r"\bpartially open\b|\b[a-z]+\b", lambda word: SAID.get(word[0], word[0]), english)
        return (
            talk.say(english, chinese) if seeds else talk.say("There is no such device.", "没有这样的设备。")
        )

    async def _run(self, steps: list[Step], talk: Talk) -> str:
        done = list[str]()
        for part, seed in ((part, seed) for part, seeds in steps for seed in seeds):
            try:
                done.append(await self._run_one(part, seed, talk))
            except ToolError as error:
                done.append(talk.say(f"Not done: {seed.name}. {error}", f"没有完成: {seed.name}。{error}"))
                break
        return " ".join(done)

    async def _run_one(self, part: str, seed: DeviceSeed, talk: Talk) -> str:
        self.spoken = seed
        devices = await talk.call("search_devices", query=seed.name, limit=1)
        if not isinstance(devices, list):
            raise ToolError(talk.say("It is not in the home any more.", "家里已经没有它了。"))
        (device,) = devices
        state = await talk.call("get_status", device_id=device["fullId"])
        sent = {"user_input": part, "device_capabilities": device["capabilities"], "current_state": state}
        command = await talk.call("interpret_command", **sent)
        is_off = command["arguments"] and state.get("switch", {}).get("switch") == "off"
        commands = [command, *[{"capability": "switch", "command": "on"}] * bool(is_off)]
        await talk.call("execute_commands", device_id=device["fullId"], commands=commands)
        english, chinese = DONE[command["command"]]
        answer = talk.say(f"{{name}} ({{room}}) {english}.", f"{chinese}。")
        return answer.format(**device, value=(command["arguments"] or [None])[0])


def _picked(line: str, seeds: list[DeviceSeed]) -> list[DeviceSeed]:
    """Return which of the devices that were asked about an answer names; none where it says anything else."""
    answer = line.strip(MARKS).casefold()
    if answer in {"all", "both", "all of them", "都", "全部", "所有的"}:
        return seeds
    named = called(names_in(answer)) if re.fullmatch(SLOTS["device"], answer) else []
    return [
        seed for at, seed in enumerate(seeds, 1) if answer in {str(at), seed.name.casefold()} or seed in named
    ]


def _devices(part: str, wish: Wish, slots: dict[str, str], spoken: DeviceSeed | None) -> list[DeviceSeed]:
    """Return the devices that a part of a line is about; raise an UnclearError where it is not clear which."""
    seeds = list[DeviceSeed]()
    for phrase in re.split(r"(?i),? and |, |[和跟、，]", slots.get("device", "")):
        names = names_in(phrase)
        able = [seed for seed in called(names) if any(option[0] in seed.state for option in wish.commands)]
        if not names and spoken in able:
            able = [spoken] if spoken else able
        is_all = re.search(r"(?i)\b(?:all|both|every|each)\b|所有|全部|每个|(?:light|lamp)s\b", phrase)
        if not called(names):
            raise UnclearError(f"No device is called {phrase!r}.", f"没有叫 “{phrase}” 的设备。")
        if not able:
            raise UnclearError(f"It cannot be done with {phrase}.", f"{phrase} 做不到。")
        if len(able) > 1 and not is_all:
            raise WhichError((part, able))
        seeds += [seed for seed in able if seed not in seeds]
    return seeds


mcp = build(DATA, lenient=True)

if __name__ == "__main__":
    main(mcp, Conversation().reply, page=with_page)
