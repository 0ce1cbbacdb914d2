"""``python -m benchmarks NAME``: print the tables of a script; ``--help`` lists the scripts, ``NAME --help`` its options."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

from cyclopts import App

SCRIPTS = {
    "overhead": "speed.overhead",
    "speed": "speed.speed",
    "proxy": "speed.proxy",
    "report": "speed.report",
    "cases": "quality.cases",
    "lengths": "quality.lengths",
    "text_calls": "quality.text_calls",
    "parser_texts": "quality.parser_texts",
    "hosts": "hosts.matrix",
    "attacks": "evidence.attacks",
    "loops": "evidence.loops",
    "schemas": "evidence.schemas",
    "listed": "evidence.listed",
    "structure": "evidence.structure",
    "evidence": "evidence.evidence",
    "suites": "suites.suites",
}
"""The module of each script, whose ``main`` prints its tables; an exit code of 1 says that a target is missed."""


def _question(module: str) -> str:
    """Return the first line of a module's docstring, without importing it."""
    spec = find_spec(module)
    assert spec is not None
    described = ast.get_docstring(ast.parse(Path(str(spec.origin)).read_text("utf-8"))) or ""
    return described.splitlines()[0]


app = App(name="python -m benchmarks", help="Print the figures of mcp-lenient.", version_flags=())
for _name, _module in SCRIPTS.items():
    app.command(f"benchmarks.{_module}:main", name=_name, help=_question(f"benchmarks.{_module}"))

if __name__ == "__main__":
    app()
