"""Load the recorded calls, which are other people's data and not part of this project."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VARIABLE = "MCP_LENIENT_CASES"
"""The environment variable that names the folder; by default ``../shared/cases`` next to the project."""
SECOND = ("reported_calls_2", "reported_calls_3", "reported_calls_4", "peer_suites")
"""Sets collected after version 0.1; a folder may lack them."""
_FILES = (
    "conversion_cases.json",
    *(f"{name}.jsonl" for name in ("reported_calls", "real_calls_valid", "real_calls_invalid")),
)


class MissingCasesError(Exception):
    """The folder with the recorded calls is missing; the message names it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded call: the tool's schema, the arguments as sent, and the right outcomes.

    ``row`` is the record in its file; ``name`` is unique in the file.
    """

    name: str
    schema: dict[str, Any]
    sent: Any
    row: dict[str, Any]


def cases_folder() -> Path:
    """Return the folder with the recorded calls.

    Raises:
        MissingCasesError: If a file is missing.
    """
    folder = Path(os.environ.get(VARIABLE, Path(__file__).resolve().parents[2] / "shared" / "cases"))
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if missing:
        raise MissingCasesError(
            f"no {', '.join(missing)} in {folder}; set {VARIABLE} to the folder with the recorded calls"
        )
    return folder


def conversion_cases(folder: Path) -> list[Case]:
    """Return cases with one small conversion each, and their right outcomes."""
    found = json.loads((folder / "conversion_cases.json").read_text(encoding="utf-8"))
    return [Case(row["id"], _closed(row["schema"]), row["sent"], row) for row in found]


def reported_calls(folder: Path, name: str = "reported_calls") -> list[Case]:
    """Return calls from public bug reports; like those of functions, their schemas are closed at the top level."""
    return [Case(row["id"], _closed(row["param_schema"]), row["sent"], row) for row in rows(folder, name)]


def peer_suites(folder: Path) -> list[Case]:
    """Return rows of peers' own tests, named by their line, with unchanged schemas."""
    found = enumerate(rows(folder, "peer_suites"), 1)
    return [Case(f"p{line:03}", row["schema"], row["sent"], row) for line, row in found]


def real_calls(folder: Path, kind: str) -> list[Case]:
    """Return ``valid`` or ``invalid`` calls of models, with schemas closed at the top level."""
    found = enumerate(rows(folder, f"real_calls_{kind}"))
    return [Case(f"{number}:{row['id']}", _closed(row["schema"]), row["sent"], row) for number, row in found]


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of a file.

    Raises:
        MissingCasesError: If it is missing.
    """
    file = folder / f"{name}.jsonl"
    if not file.is_file():
        raise MissingCasesError(f"no {file.name} in {folder}")
    lines = file.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    # Closed beside a union, an object could have none of the names that its branches declare.
    return schema if "properties" not in schema else {"additionalProperties": False, **schema}
