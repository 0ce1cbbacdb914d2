"""The cases as they stand in their files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from mcp_lenient.errors import LenientError

__all__ = ["Case", "CasesError", "Expected", "load_cases"]

_SCHEMA: Final = "schema.json"


class CasesError(LenientError):
    """A folder holds no cases, or a file of cases cannot be read."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is to become of a call.

    ``arguments`` are those that the tool gets: the repaired ones, or those that were sent where nothing may
    change. ``codes`` are the violation codes that a refusal may name.
    """

    outcome: Literal["repaired", "unchanged", "refused"]
    arguments: Any = None
    codes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Case:
    """One call.

    Attributes:
        id: The file's name and the case's own.
        schema: The input schema of the tool.
        arguments: What was sent.
        expected: What is to become of it.
        why: One sentence.
        rule: The repair that is made here, or must not be made.
        destructive: Whether the tool is marked as one that destroys.
        declared: The ``aliases`` and the names to ``drop`` that the author or operator has declared.
    """

    id: str
    schema: Mapping[str, Any]
    arguments: Any
    expected: Expected
    why: str
    rule: str | None = None
    destructive: bool = False
    declared: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_trap(self) -> bool:
        """Whether the call must be refused or stay as it is."""
        return self.expected.outcome != "repaired"

    def request(self) -> dict[str, Any]:
        """What an adapter is told: all but what is expected."""
        return {
            "id": self.id,
            "schema": self.schema,
            "arguments": self.arguments,
            "destructive": self.destructive,
            "declared": self.declared,
        }


def load_cases(folder: str | Path) -> tuple[Case, ...]:
    """All cases of a folder, file by file in the order of their names.

    Args:
        folder: Where the ``*.json`` files are; ``schema.json`` among them is not read.

    Raises:
        CasesError: When there are none, or a file is not what it should be; names the file.
    """
    files = sorted(file for file in Path(folder).glob("*.json") if file.name != _SCHEMA)
    if not files:
        msg = f"no cases in {folder}: no *.json file is there"
        raise CasesError(msg)
    return tuple(case for file in files for case in _cases(file))


def _cases(file: Path) -> list[Case]:
    try:
        return [_case(row) for row in json.loads(file.read_text(encoding="utf-8"))["cases"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        msg = f"{file} is no file of cases: {type(error).__name__}: {error}"
        raise CasesError(msg) from error


def _case(row: Mapping[str, Any]) -> Case:
    expected = row["expected"]
    return Case(
        id=row["id"],
        schema=row["schema"],
        arguments=row["arguments"],
        expected=Expected(
            expected["outcome"],
            expected.get("arguments", row["arguments"]),
            frozenset(expected.get("codes", ())),
        ),
        why=row["why"],
        rule=row.get("rule"),
        destructive=row.get("destructive", False),
        declared=row.get("declared", {}),
    )
