"""``python -m benchmarks cases|overhead|decorated|growth|hostile|import_time|all [--alone] [--marked] [--verbose]``."""

from __future__ import annotations

import argparse

from rich.console import Console

from benchmarks import cases, decorated, growth, hostile, import_time, overhead


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Print the figures of mcp-lenient."
    )
    parser.add_argument("which", choices=(*_BENCHMARKS, "all"))
    parser.add_argument("--alone", action="store_true", help="cases: FastMCP without the middleware")
    parser.add_argument("--marked", action="store_true", help="cases: with @lenient on every function")
    parser.add_argument("--verbose", action="store_true", help="cases: every row of the real invalid calls")
    chosen = parser.parse_args()
    console = Console(soft_wrap=False)
    for name in _BENCHMARKS if chosen.which == "all" else (chosen.which,):
        if name == "cases":
            cases.main(console, alone=chosen.alone, marked=chosen.marked, verbose=chosen.verbose)
        else:
            _BENCHMARKS[name](console)


_BENCHMARKS = {
    "cases": cases.main,
    "overhead": overhead.main,
    "decorated": decorated.main,
    "growth": growth.main,
    "hostile": hostile.main,
    "import_time": import_time.main,
}

if __name__ == "__main__":
    main()
