"""``python -m benchmarks cases|overhead|decorated|growth|hostile|events|load|all [--alone] [--marked] [--verbose]``."""

from __future__ import annotations

import argparse

from rich.console import Console

from benchmarks import cases, decorated, events, growth, hostile, load, overhead


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Print the figures of mcp-lenient."
    )
    parser.add_argument("which", choices=(*_BENCHMARKS, "all"))
    parser.add_argument("--alone", action="store_true", help="cases: FastMCP without the middleware")
    parser.add_argument("--marked", action="store_true", help="cases: with @lenient on every function")
    parser.add_argument("--verbose", action="store_true", help="cases: every row of the real invalid calls")
    parser.add_argument("--calls", type=int, default=load.CALLS, help="load: how many calls")
    chosen = parser.parse_args()
    console = Console(soft_wrap=False)
    for name in _BENCHMARKS if chosen.which == "all" else (chosen.which,):
        if name == "cases":
            cases.main(console, alone=chosen.alone, marked=chosen.marked, verbose=chosen.verbose)
        elif name == "load":
            load.main(console, calls=chosen.calls)
        else:
            _BENCHMARKS[name](console)


_BENCHMARKS = {
    "cases": cases.main,
    "overhead": overhead.main,
    "decorated": decorated.main,
    "growth": growth.main,
    "hostile": hostile.main,
    "events": events.main,
    "load": load.main,
}

if __name__ == "__main__":
    main()
