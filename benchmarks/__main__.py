"""``python -m benchmarks cases|overhead|decorated|growth|hostile|side_by_side|all [--alone] [--marked] [--verbose] [--json FILE]``."""

from __future__ import annotations

import argparse

from rich.console import Console

from benchmarks import cases, decorated, growth, hostile, overhead, side_by_side


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Print the figures of mcp-lenient."
    )
    parser.add_argument("which", choices=(*_BENCHMARKS, "all"))
    parser.add_argument("--alone", action="store_true", help="cases: FastMCP without the middleware")
    parser.add_argument("--marked", action="store_true", help="cases: with @lenient on every function")
    parser.add_argument("--verbose", action="store_true", help="cases: every row of the real invalid calls")
    parser.add_argument("--json", metavar="FILE", help="side_by_side: write the figures")
    chosen = parser.parse_args()
    console = Console(soft_wrap=False)
    for name in _BENCHMARKS if chosen.which == "all" else (chosen.which,):
        if name == "cases":
            cases.main(console, alone=chosen.alone, marked=chosen.marked, verbose=chosen.verbose)
        elif name == "side_by_side":
            side_by_side.main(console, json_file=chosen.json)
        else:
            _BENCHMARKS[name](console)


_BENCHMARKS = {
    "cases": cases.main,
    "overhead": overhead.main,
    "decorated": decorated.main,
    "growth": growth.main,
    "hostile": hostile.main,
    "side_by_side": side_by_side.main,
}

if __name__ == "__main__":
    main()
