"""Read the texts of vLLM's own tests of tool parsers with ``parse_tool_calls``."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.environments import ROOT, NotInstalledError
from benchmarks.printing import line, wide_console
from benchmarks.suites.fetched import unbuilt_source
from mcp_lenient import ToolCallError, parse_tool_calls
from mcp_lenient.values.json_values import same_json

_VERSION = "0.33.0"
_OUTCOMES = ("right", "not read", "different", "invented")
_ROWS = ROOT / "benchmarks" / "suites" / "inside" / "parser_texts.py"


def main(*, verbose: bool = False) -> int:
    """Print the outcome for each file of tests; the exit code is 1 if a call is different or invented.

    The tools are known by the names of the calls that the file expects. Nothing of vLLM is built or run.

    Args:
        verbose: Whether to print each text that is not read right.
    """
    console = wide_console()
    try:
        rows = _rows(unbuilt_source("vllm", _VERSION))
    except NotInstalledError as error:
        console.print(f"Not measured: {error}")
        return 0
    names: defaultdict[str, set[str]] = defaultdict(set)
    for file, _, calls in rows:
        names[file].update(call["name"] for call in calls if call["name"])
    outcomes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for file, text, calls in rows:
        outcome = _outcome(text, calls, names[file])
        outcomes[file][outcome] += 1
        if verbose and outcome != "right":
            line(console, f"{outcome}: {file}: {text!r}")
    table = Table("file", *_OUTCOMES, title=f"Texts of the tests of vLLM {_VERSION}")
    total = sum(outcomes.values(), Counter[str]())
    for name, found in (*outcomes.items(), ("all", total)):
        table.add_row(name, *(str(found[outcome]) for outcome in _OUTCOMES))
    console.print(table)
    return int(total["different"] + total["invented"] > 0)


def _rows(source: Path) -> list[tuple[str, str, list[dict[str, Any]]]]:
    command = [sys.executable, str(_ROWS), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - ours
    return [json.loads(row) for row in done.stdout.splitlines()]


def _outcome(text: str, expected: list[dict[str, Any]], names: set[str]) -> str:
    # A test that expects any call does not say its name.
    tools = names if all(call["name"] for call in expected) else None
    try:
        read = parse_tool_calls(text, tools=tools)
    except ToolCallError:
        return "not read" if expected else "right"
    if not expected:
        return "invented"
    is_right = len(read) == len(expected) and all(
        wanted["name"] in (None, call.tool)
        and (wanted["arguments"] is None or same_json(wanted["arguments"], call.arguments))
        for wanted, call in zip(expected, read, strict=True)
    )
    return "right" if is_right else "different"
