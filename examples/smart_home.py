"""A smart home: an MCP server that finds devices, gives them commands and understands what people say.

Run it over stdio::

    python examples/smart_home.py

The house is kept in memory: it is as it was whenever the server starts.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from pydantic import Field

from mcp_lenient import LenientMiddleware

Mode = Literal["auto", "heat", "cool", "off"]

DEVICES: dict[str, dict[str, Any]] = {
    "light-1": {"name": "客厅灯", "room": "living room", "kind": "light", "power": "off", "brightness": 0},
    "light-2": {"name": "卧室灯", "room": "bedroom", "kind": "light", "power": "off", "brightness": 0},
    "climate-1": {
        "name": "客厅空调",
        "room": "living room",
        "kind": "climate",
        "mode": "off",
        "target": 20.0,
    },
    "cover-1": {"name": "Blind", "room": "kitchen", "kind": "cover", "position": 100},
}

WORDS = {
    "turn_off": ("turn off", "switch off", "关"),
    "turn_on": ("turn on", "switch on", "打开", "开"),
    "set_temperature": ("degrees", "warmer", "colder", "温度", "度"),
    "set_brightness": ("bright", "dim", "亮", "暗"),
}


@dataclass
class Home:
    """The devices of a house and the state they are in."""

    devices: dict[str, dict[str, Any]] = field(default_factory=lambda: deepcopy(DEVICES))

    def search(self, query: str) -> list[dict[str, Any]]:
        """The devices with this text in their id, name, room or kind, in any case."""
        wanted = query.casefold()
        return [
            {"device_id": name, **device}
            for name, device in self.devices.items()
            if any(wanted in str(part).casefold() for part in (name, *device.values()))
        ]

    def change(self, device_id: str, changes: dict[str, Any]) -> dict[str, Any]:
        """Set what a device has, and return it.

        Raises:
            ToolError: When there is no such device, or it has nothing of that name.
        """
        device = self.devices.get(device_id)
        if device is None:
            msg = f"There is no device {device_id}."
            raise ToolError(msg)
        foreign = [name for name in changes if name not in device]
        if foreign:
            msg = f"{device_id} has no {', '.join(foreign)}."
            raise ToolError(msg)
        device.update(changes)
        return {"device_id": device_id, **device}


def build_server(home: Home | None = None, *, strict: bool = False) -> FastMCP:
    """An MCP server for this home, or for a new one.

    Args:
        home: The devices.
        strict: Whether FastMCP validates arguments in Pydantic's strict mode.
    """
    house = home or Home()
    mcp = FastMCP("smart-home", strict_input_validation=strict)
    mcp.add_middleware(LenientMiddleware())

    @mcp.tool
    def search_devices(query: str, limit: int = 5) -> list[dict[str, Any]]:
        """Find devices by name, room or kind; at most limit of them."""
        return house.search(query)[:limit]

    @mcp.tool
    def execute_commands(device_id: str, commands: list[dict[str, Any]]) -> dict[str, Any]:
        """Give a device commands in their order, each like {"set": "power", "to": "on"}, and return its state."""
        changes = {str(command.get("set")): command.get("to") for command in commands}
        return {"done": len(commands), **house.change(device_id, changes)}

    @mcp.tool
    def interpret_command(
        user_input: str, device_capabilities: list[str], current_state: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Choose what a user's sentence, in English or Chinese, asks of a device with these capabilities."""
        said = user_input.casefold()
        meant = [name for name, words in WORDS.items() if any(word in said for word in words)]
        chosen = next((name for name in meant if name in device_capabilities), None)
        return {"capability": chosen, "heard": user_input, "current_state": current_state}

    @mcp.tool
    def set_climate(
        device_id: str,
        temperature: Annotated[float, Field(ge=5, le=35)],
        mode: Mode = "auto",
        quiet: bool = False,  # noqa: FBT001, FBT002 - a tool is called by name
    ) -> dict[str, Any]:
        """Set the temperature in degrees Celsius and the mode of an air conditioner."""
        changed = house.change(device_id, {"target": temperature, "mode": mode})
        return {**changed, "quiet": quiet}

    return mcp


if __name__ == "__main__":
    build_server().run(show_banner=False)
