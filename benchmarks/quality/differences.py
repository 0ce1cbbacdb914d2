"""Compare the outcomes of two commits, as written by ``cases --json``."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.quality import outcomes
from benchmarks.quality.outcomes import COMPARED, ENVELOPE

if TYPE_CHECKING:
    from rich.console import Console

    from benchmarks.quality.outcomes import Row


def main(console: Console, *, files: list[str], envelopes: bool = False, verbose: bool = False) -> int:
    """Print each call whose outcome differs between two files; return 1 if one does.

    Args:
        console: The output.
        files: The earlier file and the later one.
        envelopes: Whether to compare codes, violations and fixes of refusals too.
        verbose: Whether to print complete values instead of one line.
    """
    if len(files) != 2:
        console.print("differences needs two files, both made by: python -m benchmarks cases --json FILE")
        return 2
    before, after = (outcomes.read(Path(file)) for file in files)
    parts = (*COMPARED, *ENVELOPE) if envelopes else COMPARED
    found = sorted(outcomes.differences(before, after, parts))
    for key, differing in found:
        _print_row(console, before[key], after[key], differing, verbose=verbose)
    changes = Counter(f"{before[key]['status']} -> {after[key]['status']}" for key, _ in found)
    reported = "; ".join(f"{change}: {count}" for change, count in changes.most_common()) or "none"
    common = before.keys() & after.keys()
    _print(console, f"{len(found)} of {len(common)} outcomes differ ({reported})", verbose=True)
    for file, only in zip(files, (before.keys() - after.keys(), after.keys() - before.keys()), strict=True):
        if only:
            _print(console, f"{len(only)} rows only in {file}, not compared", verbose=True)
    return int(bool(found))


def _print_row(
    console: Console, before: Row, after: Row, differing: tuple[str, ...], *, verbose: bool
) -> None:
    name = f"{before['set']}, {before['kind']}, {before['row']}: {', '.join(differing)}"
    _print(console, name, verbose=verbose)
    _print(console, f"  sent    {_text(before['sent'])}", verbose=verbose)
    for label, row in (("before", before), ("after ", after)):
        _print(console, f"  {label}  {_reported(row, differing)}", verbose=verbose)


def _reported(row: Row, differing: tuple[str, ...]) -> str:
    if row["status"] == "ran":
        by = ", ".join(f"{repair['rule']} {repair.get('pointer', '')}" for repair in row["repairs"])
        return f"ran with {_text(row['arguments'])}" + (f" by {by}" if by else "")
    envelope = "; ".join(f"{part} {_text(row[part])}" for part in differing if part in ENVELOPE)
    return f"refused {row['code']} {envelope}".rstrip()


def _text(value: Any) -> str:
    return json.dumps(value)


def _print(console: Console, text: str, *, verbose: bool) -> None:
    # Values may look like markup; long ones are limited to one line of the terminal.
    how: dict[str, Any] = {"soft_wrap": True} if verbose else {"no_wrap": True, "overflow": "ellipsis"}
    console.print(text, markup=False, highlight=False, **how)
