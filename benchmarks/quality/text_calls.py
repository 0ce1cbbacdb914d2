"""Read the recorded model outputs of the package ``canitoolcall`` with ``parse_tool_calls``."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import as_file, files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from rich.table import Table

from benchmarks.printing import wide_console
from mcp_lenient import ToolCallError, parse_tool_calls
from mcp_lenient.values.json_values import same_json

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGE = "canitoolcall"
_OUTCOMES = ("right", "not read", "different", "invented")


def main(*, verbose: bool = False) -> None:
    """Print the outcome for each family of recorded outputs, by what is known about the tools.

    Args:
        verbose: Whether to name each output that is not read right.
    """
    console = wide_console()
    if find_spec(_PACKAGE) is None:
        console.print(f"Install the recorded outputs first: pip install --no-deps {_PACKAGE}")
        return
    for with_schemas in (True, False):
        known = "their definitions" if with_schemas else "nothing"
        table = Table("family", *_OUTCOMES, title=f"Calls in text, with {known} given of the tools")
        rows = list(_outcomes(with_schemas=with_schemas))
        for family in (*sorted({family for family, _, _ in rows}), "all"):
            found = Counter(outcome for own, _, outcome in rows if family in (own, "all"))
            table.add_row(family, *(str(found[outcome]) for outcome in _OUTCOMES))
        console.print(table)
        if verbose:
            for _, fixture, outcome in rows:
                if outcome != "right":
                    console.print(f"{outcome}: {fixture}")


def _outcomes(*, with_schemas: bool) -> Iterator[tuple[str, str, str]]:
    with as_file(files(_PACKAGE).joinpath("_data/fixtures")) as folder:
        for file in sorted(folder.glob("*/*.jsonl")):
            for fixture in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
                yield (
                    file.parent.name,
                    fixture["id"],
                    _outcome(fixture, fixture["tools"] if with_schemas else None),
                )


def _outcome(fixture: dict[str, Any], tools: Any) -> str:
    expected = (fixture.get("expected") or {}).get("tool_calls", [])
    try:
        found = parse_tool_calls(fixture["raw_output"], tools=tools)
    except ToolCallError:
        return "right" if not expected else "not read"
    if not expected:
        return "invented"
    read = [{"name": call.tool, "arguments": call.arguments} for call in found]
    return "right" if same_json(read, expected) else "different"
