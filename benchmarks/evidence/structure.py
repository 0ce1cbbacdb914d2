"""Measure the structure of the package (lines, rooms, floors, circles, what a call passes), and the examples' lines."""

from __future__ import annotations

import ast
import asyncio
import io
import re
import sys
import tokenize
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grimp
from fastmcp import FastMCP
from fastmcp.exceptions import ValidationError
from rich.table import Table

import mcp_lenient
from benchmarks import servers
from benchmarks.printing import wide_console

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

_PACKAGE = Path(mcp_lenient.__file__).parent
_ROOT = Path(__file__).resolve().parents[2]
_CORE = ("values", "schema", "rules", "engine", "refusal")
_INSIDES = re.compile(rf"^\s*(from|import) mcp_lenient\.({'|'.join(_CORE)})\b", re.MULTILINE)
_NO_CODE = frozenset(
    getattr(tokenize, name) for name in "COMMENT NL NEWLINE INDENT DEDENT ENDMARKER ENCODING".split()
)
_SYSTEMS = (
    "smart_home.py context_store.py agent_platform langchain_agent type_conversion.py transcripts".split()
)
MOST_EXAMPLE_LINES = 4_000
_PASSED = {
    "accepted": (8, {"content": "x", "tags": ["a"]}),
    "repaired": (15, {"content": "x", "tags": '["a"]'}),
    "refused": (16, {"content": "x", "tags": 5}),
}
"""Calls, and the most files that each may pass through."""


def main() -> None:
    """Print lines and files by folder, the imports between folders, and the files that a warm call passes through."""
    console = wide_console()
    servers.quiet()
    rooms, lines = _rooms(), _lines(_PACKAGE)
    table = Table("folder", "files", "lines", "imports", title="mcp_lenient/")
    for room in sorted(rooms, key=lambda each: (_height(rooms, each), each), reverse=True):
        own = [count for path, count in lines.items() if path.with_suffix("").parts[0] == room]
        own = own or [lines[Path("__init__.py")]]
        table.add_row(room, str(len(own)), f"{sum(own):,}", " ".join(sorted(rooms[room])))
    console.print(table)
    examples = Table("system", "lines of code", title="examples/")
    for system, count in example_lines().items():
        examples.add_row(system, f"{count:,}")
    console.print(examples)
    table = Table("call", "files", "at most", "functions", "which", title="What a warm call passes through")
    for kind, (files, functions) in asyncio.run(_passed()).items():
        table.add_row(kind, str(len(files)), str(_PASSED[kind][0]), str(functions), " ".join(sorted(files)))
    console.print(table)
    for title, measured, target in _figures(rooms):
        console.print(f"{title}: {measured} ({target})")


def _figures(rooms: dict[str, set[str]]) -> list[tuple[str, str, str]]:
    """Return rooms (packages and modules of the root), floors (longest chain of imports), circles, and lines."""
    core = [_PACKAGE / room for room in _CORE]
    examples = sum(example_lines().values())
    return [
        ("rooms", str(len(rooms)), "at most 18"),
        ("floors", str(max(_height(rooms, room) for room in rooms if room != "(root)")), "at most 13"),
        ("circles", str(sum(room in _reached(rooms, room) for room in rooms if room != "(root)")), "none"),
        ("lines, lines of code of the core", _size(*core), "6,500, 4,500"),
        ("lines, lines of code in mcp_lenient/", _size(_PACKAGE), "of code 17,000"),
        ("lines, lines of code in benchmarks/", _size(_ROOT / "benchmarks"), "of code 3,500"),
        ("lines of tests that import the core's modules", f"{_lines_of_insides():,}", "2,500"),
        (
            "lines of code of the five example systems and their transcripts",
            f"{examples:,}",
            f"at most {MOST_EXAMPLE_LINES:,}",
        ),
    ]


# --- imports ------------------------------------------------------------------------------------------


def _rooms() -> dict[str, set[str]]:
    """Return the folders and modules of the root, and which of them each imports."""
    graph = grimp.build_graph("mcp_lenient", cache_dir=None)
    found: dict[str, set[str]] = defaultdict(set)
    for module in graph.modules:
        room = _room_of(module)
        found[room] |= set(map(_room_of, graph.find_modules_directly_imported_by(module))) - {room}
    return found


def _room_of(module: str) -> str:
    return [*module.split("."), "(root)"][1]


def _reached(rooms: dict[str, set[str]], start: str) -> set[str]:
    """Return what a room imports, also through others; the root re-exports lazily and imports nothing."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = rooms[waiting.pop()] - found - {"(root)"}
        found |= new
        waiting += new
    return found


def _height(rooms: dict[str, set[str]], room: str, above: frozenset[str] = frozenset()) -> int:
    below = rooms[room] - {"(root)", room} - above
    return 1 + max((_height(rooms, each, above | {room}) for each in below), default=0)


# --- lines --------------------------------------------------------------------------------------------


def example_lines() -> dict[str, int]:
    """Return the lines of code of each example system and of their transcripts."""
    places = {system: _ROOT / "examples" / system for system in _SYSTEMS}
    return {system: sum(map(_code_lines, _texts(place))) for system, place in places.items()}


def _texts(place: Path) -> list[str]:
    paths = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    return [path.read_text(encoding="utf-8") for path in paths]


def _lines(folder: Path) -> dict[Path, int]:
    return {
        path.relative_to(folder): len(path.read_text(encoding="utf-8").splitlines())
        for path in sorted(folder.rglob("*.py"))
    }


def _lines_of_insides() -> int:
    texts = (path.read_text(encoding="utf-8") for path in (_ROOT / "tests").rglob("*.py"))
    return sum(len(text.splitlines()) for text in texts if _INSIDES.search(text))


def _size(*folders: Path) -> str:
    """Return the lines of folders, and their lines of code: without blanks, comments, docstrings and imports."""
    texts = [text for folder in folders for text in _texts(folder)]
    return f"{sum(len(text.splitlines()) for text in texts):,}, {sum(map(_code_lines, texts)):,}"


def _code_lines(text: str) -> int:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        is_text = isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)
        if is_text or isinstance(node, (ast.Import, ast.ImportFrom)):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


# --- what a call passes -------------------------------------------------------------------------------


async def store(content: str, tags: list[str] | None = None) -> str:
    """Store a text."""
    return f"{content}{tags}"


async def _passed() -> dict[str, tuple[set[str], int]]:
    """Return the files of the package and the number of their functions that a warm call of each kind runs.

    A comprehension or generator expression belongs to the function that it is in.
    """
    from mcp_lenient import LenientMiddleware

    server: FastMCP[Any] = FastMCP("path", middleware=[LenientMiddleware()])
    server.tool(store)
    return {kind: await _traced(server, arguments) for kind, (_, arguments) in _PASSED.items()}


async def _traced(server: FastMCP[Any], arguments: Mapping[str, Any]) -> tuple[set[str], int]:
    functions: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(_PACKAGE):
            # A comprehension is a call of its own before Python 3.12, a generator expression always.
            name, _, inner = frame.f_code.co_qualname.rpartition(".<locals>.")
            own = name if inner.endswith(("comp>", "genexpr>")) else frame.f_code.co_qualname
            functions.add((str(path.relative_to(_PACKAGE)), own))

    for profile in (None, None, None, note):
        sys.setprofile(profile)
        with suppress(ValidationError):
            await server.call_tool("store", dict(arguments))
    sys.setprofile(None)
    return {file for file, _ in functions}, len(functions)
