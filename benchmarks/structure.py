"""Measure the structure of the package (lines, rooms, floors and circles of imports) and the lines of the examples."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import grimp
from rich.table import Table

import mcp_lenient

if TYPE_CHECKING:
    from rich.console import Console

_PACKAGE = Path(mcp_lenient.__file__).parent
_MOST_ROOMS = 18
_MOST_FLOORS = 13
_CORE = ("values", "schema", "rules", "engine", "refusal")
_INSIDES = re.compile(rf"^\s*(from|import) mcp_lenient\.({'|'.join(_CORE)})\b", re.MULTILINE)
_NO_CODE = frozenset(
    (
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
        tokenize.ENCODING,
    )
)
_TESTS = Path(__file__).resolve().parents[1] / "tests"
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
        ("lines, lines of code of the core", _size(*(_PACKAGE / room for room in _CORE)), "6,500, 4,500"),
        ("lines, lines of code in mcp_lenient/", _size(_PACKAGE), "of code 17,000"),
        ("lines of tests that import the core's modules", f"{_lines_of_insides():,}", "2,500"),
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


def _size(*folders: Path) -> str:
    """Return the lines of folders, and their lines of code: without blanks, comments, docstrings and imports."""
    texts = [path.read_text(encoding="utf-8") for folder in folders for path in sorted(folder.rglob("*.py"))]
    return f"{sum(len(text.splitlines()) for text in texts):,}, {sum(map(_code_lines, texts)):,}"


def _code_lines(text: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {
        line
        for token in tokens
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom)) or _is_docstring(node):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def _is_docstring(node: ast.AST) -> TypeGuard[ast.Expr]:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _lines_of_insides() -> int:
    texts = (path.read_text(encoding="utf-8") for path in _TESTS.rglob("*.py"))
    return sum(len(text.splitlines()) for text in texts if _INSIDES.search(text))


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
