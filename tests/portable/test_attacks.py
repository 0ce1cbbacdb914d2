"""Send the attack cases to contracts whose schemas are published in the portable form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from decisions import contract
from strategies import same_json
from tables import closed

from mcp_lenient.portable import publish
from mcp_lenient.portable.published_contract import PublishedContract

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


PAIR = {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False}
ANY: dict[str, Any] = {"description": "Anything."}


def published(schema: dict[str, Any], **more: Any) -> Any:
    """Return the contract of a tool with this schema, in the portable form."""
    return PublishedContract.around(contract(schema, **more), publish(schema, "portable"))


@pytest.mark.parametrize(
    ("schema", "sent", "read"),
    [
        (PAIR, "[3.140, 1]", ["3.140", 1]),
        (PAIR, "[12345678901234567890, 1]", ["12345678901234567890", 1]),
        (PAIR, '["3.140", 1.0]', ["3.140", 1]),
        (ANY, {"json": "[3.140, 12345678901234567890]"}, [3.14, 12345678901234567890]),
        (ANY, {"json": "3.140"}, 3.14),
        (ANY, {"json": '{"json": "1"}'}, {"json": "1"}),
    ],
)
def test_json_text_keeps_its_digits(schema: dict[str, Any], sent: Any, read: Any):
    """A number of a JSON text becomes text as it is spelled there; what the tool accepts are plain numbers."""
    found = published(closed("x", x=schema)).decide({"x": sent})
    assert found.arguments == {"x": read}
    value = found.arguments["x"]
    assert {type(each) for each in (value if isinstance(value, list) else [value])} <= {str, int, float, dict}


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ('{"a": 1, "a": 2}', "has the key 'a' twice"),
        ("[1, 2", "is not valid JSON text"),
        (r'{"a": "C:\temp\b\u0061"}', "is not valid JSON text"),
    ],
)
def test_json_text_that_cannot_be_read_says_why(sent: str, reason: str):
    """The reason speaks of what is wrong in the text."""
    found = published(closed("x", x=ANY)).decide({"x": {"json": sent}})
    assert found.status == "refused"
    assert reason in found.violations[0].message


def decided(row: dict[str, Any]) -> Any:
    """Return the arguments that reach the tool; None if the call is refused."""
    decision = published(row["schema"], destructive=row.get("destructive", False)).decide(row["sent"])
    return None if decision.status == "refused" else decision.arguments


def test_a_limit_of_undeclared_names_is_said():
    """The value of a name that the form says elsewhere may break a limit."""
    limited = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "additionalProperties": {"type": "string", "maxLength": 4},
    }
    decision = published(limited).decide({"extra": "a b c"})
    assert decision.status == "refused"
    assert "at most 4 characters" in decision.violations[0].message
