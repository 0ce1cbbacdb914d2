"""The recorded calls to measure with; they are other people's data and no part of this project."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VARIABLE = "MCP_LENIENT_CASES"
"""The environment variable that names the folder; without it ``../shared/cases`` beside the project."""

SECOND = ("reported_calls_2", "peer_suites")
"""Sets collected after version 0.1; a folder may lack them."""

FILES = (
    "conversion_cases.json",
    "reported_calls.jsonl",
    "real_calls_valid.jsonl",
    "real_calls_invalid.jsonl",
)


class MissingCasesError(Exception):
    """The folder with the recorded calls is not there; says where it was looked for."""


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded call: the tool's schema, what was sent, and what counts as right.

    ``row`` is the record as it stands in its file; ``name`` tells it from the others of the file.
    """

    name: str
    schema: dict[str, Any]
    sent: Any
    row: dict[str, Any]


def cases_folder() -> Path:
    """Where the recorded calls are.

    Raises:
        MissingCasesError: When a file of them is not there.
    """
    beside = Path(__file__).resolve().parents[2] / "shared" / "cases"
    folder = Path(os.environ.get(VARIABLE, beside))
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        msg = f"no {', '.join(missing)} in {folder}; set {VARIABLE} to the folder with the recorded calls"
        raise MissingCasesError(msg)
    return folder


def conversion_cases(folder: Path) -> list[Case]:
    """One small conversion each, with the outcomes that count as right."""
    rows = json.loads((folder / "conversion_cases.json").read_text(encoding="utf-8"))
    return [Case(row["id"], _closed(row["schema"]), row["sent"], row) for row in rows]


def reported_calls(folder: Path, name: str = "reported_calls") -> list[Case]:
    """Calls from public bug reports, their schemas closed at the top level as a function's is."""
    rows = _lines(folder / f"{name}.jsonl")
    return [Case(row["id"], _closed(row["param_schema"]), row["sent"], row) for row in rows]


def peer_suites(folder: Path) -> list[Case]:
    """Rows of peers' own tests, named by their line; the schemas are as written, open ones stay open."""
    rows = _lines(folder / "peer_suites.jsonl")
    return [Case(f"p{line:03}", row["schema"], row["sent"], row) for line, row in enumerate(rows, 1)]


def missing_second_sets(folder: Path) -> list[str]:
    """Return the names of the second sets that the folder lacks."""
    return [name for name in SECOND if not (folder / f"{name}.jsonl").is_file()]


def real_calls(folder: Path, kind: str) -> list[Case]:
    """Calls that models made, ``valid`` or ``invalid``, their schemas closed at the top level."""
    rows = _lines(folder / f"real_calls_{kind}.jsonl")
    return [
        Case(f"{number}:{row['id']}", _closed(row["schema"]), row["sent"], row)
        for number, row in enumerate(rows)
    ]


def _lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    return {"additionalProperties": False, **schema}
