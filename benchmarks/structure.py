"""Measure the structure of the package (lines, rooms, floors and circles of imports) and the lines of the examples."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import grimp
from rich.table import Table

import mcp_lenient

if TYPE_CHECKING:
    from rich.console import Console

_PACKAGE = Path(mcp_lenient.__file__).parent
_MOST_ROOMS = 24
_MOST_FLOORS = 12
_EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
_SYSTEMS = (
    "smart_home.py",
    "context_store.py",
    "agent_platform",
    "langchain_agent",
    "type_conversion.py",
    "shared",
)
MOST_EXAMPLE_LINES = 2_500


def figures() -> list[tuple[str, str, str]]:
    """Return rooms (packages and modules of the root), floors (longest chain of imports) and circles."""
    rooms = _rooms()
    circles = _circles(rooms)
    return [
        ("rooms", str(len(rooms)), f"at most {_MOST_ROOMS}"),
        ("floors", str(_floors(rooms)), f"at most {_MOST_FLOORS}"),
        ("circles", str(len(circles)), "none"),
        ("lines in mcp_lenient/", f"{sum(_lines(_PACKAGE).values()):,}", "about 17,000"),
        (
            "Python lines of the five example systems and what they share",
            f"{sum(example_lines().values()):,}",
            f"at most {MOST_EXAMPLE_LINES:,}",
        ),
    ]


def main(console: Console) -> None:
    """Print lines and files by folder, and the imports between folders."""
    table = Table("folder", "files", "lines", "imports", title="mcp_lenient/")
    rooms = _rooms()
    lines = _lines(_PACKAGE)
    for room in sorted(rooms, key=lambda each: (_height(rooms, each), each), reverse=True):
        own = {path: count for path, count in lines.items() if _room_of(_module(path)) == room}
        table.add_row(room, str(len(own)), f"{sum(own.values()):,}", " ".join(sorted(rooms[room])))
    console.print(table)
    examples = Table("system", "lines", title="examples/")
    for system, count in example_lines().items():
        examples.add_row(system, f"{count:,}")
    console.print(examples)
    for title, measured, target in figures():
        console.print(f"{title}: {measured} ({target})")


def _rooms() -> dict[str, set[str]]:
    """Return the folders and modules of the root, and which of them each imports."""
    graph = grimp.build_graph("mcp_lenient", cache_dir=None)
    found: dict[str, set[str]] = defaultdict(set)
    for module in graph.modules:
        room = _room_of(module)
        found[room] |= {
            _room_of(imported) for imported in graph.find_modules_directly_imported_by(module)
        } - {room}
    return found


def _room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "(root)"


def _module(path: Path) -> str:
    return ".".join(("mcp_lenient", *path.with_suffix("").parts)).removesuffix(".__init__")


def example_lines() -> dict[str, int]:
    """Return the Python lines of each example system and of the folder that they share."""
    lines = _lines(_EXAMPLES)
    return {
        system: sum(count for path, count in lines.items() if path.parts[0] == system) for system in _SYSTEMS
    }


def _lines(folder: Path) -> dict[Path, int]:
    return {
        path.relative_to(folder): len(path.read_text(encoding="utf-8").splitlines())
        for path in sorted(folder.rglob("*.py"))
    }


def _circles(rooms: dict[str, set[str]]) -> list[str]:
    """Return the rooms that import themselves through others; the root re-exports lazily and imports nothing."""
    return [room for room in rooms if room != "(root)" and room in _reached(rooms, room)]


def _reached(rooms: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for room in rooms[waiting.pop()] - found - {"(root)"}:
            found.add(room)
            waiting.append(room)
    return found


def _floors(rooms: dict[str, set[str]]) -> int:
    return max(_height(rooms, room) for room in rooms if room != "(root)")


def _height(rooms: dict[str, set[str]], room: str, above: frozenset[str] = frozenset()) -> int:
    below = rooms[room] - {"(root)", room} - above
    return 1 + max((_height(rooms, each, above | {room}) for each in below), default=0)
