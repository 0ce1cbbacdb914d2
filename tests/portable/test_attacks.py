"""Send the attack cases to contracts whose schemas are published in the portable form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from strategies import same_json

from mcp_lenient import Policy
from mcp_lenient.adapters.published import PublishedContract
from mcp_lenient.engine.contract import ToolContract
from mcp_lenient.portable import form_named

FILES = sorted((Path(__file__).parents[1] / "cases" / "attack").glob("*.json"))
SAID = {"meant/one-value-12": "JSON text is how the portable form says this value"}
"""Cases whose call is a right one in the portable form."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_attack_succeeds_in_the_portable_form(file: Path):
    """What must be refused is refused, and what runs has the arguments that were meant."""
    broken = []
    for row in json.loads(file.read_text(encoding="utf-8"))["cases"]:
        if row["id"] in SAID or not isinstance(row["sent"], dict):
            continue
        outcome = decided(row)
        if outcome is not None and not (row["expected"] != "REFUSED" and same_json(outcome, row["expected"])):
            broken.append(row["id"])
    assert broken == []


def decided(row: dict[str, Any]) -> Any:
    """Return the arguments that reach the tool; None if the call is refused."""
    author = ToolContract.of_schema(row["schema"], Policy(), destructive=row.get("destructive", False))
    contract = PublishedContract.around(author, row["schema"], form_named("portable"))
    decision = contract.decide(row["sent"])
    return None if decision.status == "refused" else decision.arguments
