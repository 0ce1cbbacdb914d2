"""``python -m benchmarks NAME``: each script prints its tables; ``--help`` names them and their options."""

from __future__ import annotations

import argparse
from importlib import import_module

from rich.console import Console

_SCRIPTS = {
    "cases": ("alone", "marked", "verbose"),
    "overhead": (),
    "decorated": (),
    "growth": (),
    "hostile": (),
    "events": (),
    "proxy": (),
    "import_time": (),
    "report": ("millions",),
    "load": ("calls",),
    "side_by_side": ("json_file",),
}
"""The scripts, each a module of this package with ``main(console, ...)``, and the options it takes."""


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Print the figures of mcp-lenient."
    )
    parser.add_argument("which", choices=(*_SCRIPTS, "all"))
    parser.add_argument("--alone", action="store_true", help="cases: FastMCP without the middleware")
    parser.add_argument("--marked", action="store_true", help="cases: with @lenient on every function")
    parser.add_argument("--verbose", action="store_true", help="cases: every row of the real invalid calls")
    parser.add_argument("--millions", type=int, default=1, help="report: how many million lines the log has")
    parser.add_argument("--calls", type=int, default=5_000, help="load: how many calls are sent")
    parser.add_argument("--json", dest="json_file", metavar="FILE", help="side_by_side: write the figures")
    chosen = parser.parse_args()
    for name in _SCRIPTS if chosen.which == "all" else (chosen.which,):
        script = import_module(f"benchmarks.{name}")
        script.main(
            Console(soft_wrap=False), **{option: getattr(chosen, option) for option in _SCRIPTS[name]}
        )


if __name__ == "__main__":
    main()
