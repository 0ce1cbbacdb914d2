"""``python -m benchmarks NAME``: print the tables of a script; ``--help`` lists the scripts and their options."""

from __future__ import annotations

import argparse
import ast
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

_SCRIPTS = {
    "cases": ("quality", "alone", "verbose", "save", "damaged", "seed"),
    "lengths": ("quality",),
    "text_calls": ("quality", "verbose"),
    "overhead": ("speed",),
    "speed": ("speed",),
    "growth": ("speed",),
    "events": ("speed",),
    "import_time": ("speed",),
    "load": ("speed", "calls"),
    "proxy": ("speed",),
    "report": ("speed", "millions"),
    "hosts": ("",),
    "attacks": ("evidence",),
    "hostile": ("evidence",),
    "loops": ("evidence",),
    "schemas": ("evidence",),
    "listed": ("evidence",),
    "structure": ("evidence",),
    "side_by_side": ("evidence", "json_file"),
    "evidence": ("evidence", "files"),
}
"""The scripts: the folder of each, and the options of its ``main(console, ...)``."""

_NO_TABLES = ("evidence",)
"""Scripts that ``all`` leaves out, since they need files."""
_WIDTH = 120
"""In a narrower terminal, wide tables are wrapped line by line: Rich would cut their cells."""
_FILE_WIDTH = 300
"""More than the widest table."""
_FILES = "evidence: folders of clones (docs/evidence.md)"
_JSON = "side_by_side: write the figures"


def main() -> int:
    """Print the chosen tables; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Print the figures of mcp-lenient.",
        epilog=_scripts(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("which", choices=(*_SCRIPTS, "all"), metavar="NAME", help="one of the names below")
    parser.add_argument("files", nargs="*", help=_FILES)
    parser.add_argument("--alone", action="store_true", help="cases: measure FastMCP without the middleware")
    parser.add_argument("--verbose", action="store_true", help="cases: print everything")
    parser.add_argument("--millions", type=int, default=1, help="report: size of the log in million lines")
    parser.add_argument("--calls", type=int, default=5_000, help="load: number of calls to send")
    parser.add_argument("--json", dest="json_file", metavar="FILE", help=_JSON)
    parser.add_argument("--save", metavar="FILE", help="cases: write outcomes for mcp-lenient outcomes")
    parser.add_argument("--damaged", type=int, default=0, help="cases: number of damaged calls")
    parser.add_argument("--seed", type=int, default=1, help="cases: seed for choosing damage")
    chosen = parser.parse_args()
    tables = [name for name in _SCRIPTS if name not in _NO_TABLES]
    return max(_run(name, chosen) for name in (tables if chosen.which == "all" else (chosen.which,)))


def _module(name: str) -> str:
    return ".".join(filter(None, ("benchmarks", _SCRIPTS[name][0], name)))


def _scripts() -> str:
    """Return the names with the first line of each script's docstring, without importing the scripts."""
    lines = ["names:"]
    for name in _SCRIPTS:
        spec = find_spec(_module(name))
        assert spec is not None
        described = ast.get_docstring(ast.parse(Path(str(spec.origin)).read_text("utf-8"))) or ""
        lines.append(f"  {name:<13} {described.splitlines()[0].replace('``', '`')}")
    return "\n".join([*lines, f"  {'all':<13} All of them except {', '.join(_NO_TABLES)}."])


def _run(name: str, chosen: argparse.Namespace) -> int:
    options = {option: getattr(chosen, option) for option in _SCRIPTS[name][1:]}
    # Scripts that miss a target return an exit code; the others only print.
    return import_module(_module(name)).main(wide_console(), **options) or 0


def wide_console() -> Console:
    """Return a console that shows tables whole, also in a narrow terminal, a file or a pipe."""
    terminal = Console(soft_wrap=False)
    width = max(terminal.width, _WIDTH) if terminal.is_terminal else _FILE_WIDTH
    return Console(soft_wrap=False, width=width)


if __name__ == "__main__":
    sys.exit(main())
