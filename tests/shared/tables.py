"""How a table of calls is written: a schema, what is sent, and what must become of it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from strategies import Json, exactly

from mcp_lenient import normalize
from mcp_lenient.engine.repair import Plan, repair
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.rules.policy import Policy

STRING: Json = {"type": "string"}
INTEGER: Json = {"type": "integer"}
NUMBER: Json = {"type": "number"}
BOOLEAN: Json = {"type": "boolean"}
NULL: Json = {"type": "null"}
OBJECT: Json = {"type": "object"}
ARRAY: Json = {"type": "array"}


def array(items: Json, **more: Any) -> Json:
    return {"type": "array", "items": items, **more}


def union(*branches: Json) -> Json:
    return {"anyOf": list(branches)}


def nullable(schema: Json) -> Json:
    return union(schema, NULL)


def enum(*values: Any) -> Json:
    return {"enum": list(values)}


def closed(*required: str, **properties: Json) -> Json:
    return {**opened(*required, **properties), "additionalProperties": False}


def opened(*required: str, **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(required)}


# --- rows of a table about one parameter named ``p`` ----------------------------------------------------


def mends(name: str, schema: Json, sent: Any, expected: Any, *repairs: str) -> Any:
    """A value that must become another one; ``repairs`` are rules, each with its pointer where that is not /p."""
    return pytest.param(closed("p", p=schema), {"p": sent}, {"p": expected}, _records(repairs), id=name)


def refuses(name: str, schema: Json, sent: Any) -> Any:
    """A value that must be refused."""
    return pytest.param(closed("p", p=schema), {"p": sent}, None, [], id=name)


def leaves(name: str, schema: Json, sent: Any) -> Any:
    """A value that is right as it is."""
    return pytest.param(closed("p", p=schema), {"p": sent}, {"p": sent}, [], id=name)


# --- rows about whole arguments -------------------------------------------------------------------------


def mends_call(name: str, schema: Json, sent: Any, expected: Json, *repairs: str) -> Any:
    return pytest.param(schema, sent, expected, _records(repairs), id=name)


def refuses_call(name: str, schema: Json, sent: Any) -> Any:
    return pytest.param(schema, sent, None, [], id=name)


def leaves_call(name: str, schema: Json, sent: Json) -> Any:
    return pytest.param(schema, sent, sent, [], id=name)


def table(*rows: Any) -> pytest.MarkDecorator:
    """Run a test for each row, each under its own name."""
    return pytest.mark.parametrize(("schema", "sent", "expected", "repairs"), rows)


def _records(repairs: tuple[str, ...]) -> list[tuple[str, str]]:
    pairs = (record.partition(" ") for record in repairs)
    return [(rule, pointer if space else "/p") for rule, space, pointer in pairs]


def check(
    schema: Json, sent: Any, expected: Json | None, repairs: list[tuple[str, str]], **policy: Any
) -> None:
    """Send a row's arguments and compare: values with their types, repairs with their pointers, in any order."""
    before = copy.deepcopy(sent)
    result = normalize(schema, sent, Policy(**policy)) if policy else normalize(schema, sent)
    assert exactly(sent) == exactly(before), "the arguments that were sent were changed"
    if expected is None:
        assert result.violations, f"{sent} became {result.arguments} by {result.repairs}"
        assert result.arguments is sent
        assert not result.repairs
        return
    assert not result.violations, result.violations
    assert exactly(result.arguments) == exactly(expected)
    assert sorted((each.rule, each.pointer) for each in result.repairs) == sorted(repairs)
    if not repairs:
        assert result.arguments is sent
    again = normalize(schema, result.arguments)
    assert again.arguments is result.arguments
    assert not again.repairs


def check_destructive(
    schema: Json, sent: Json, expected: Json | None, repairs: list[tuple[str, str]]
) -> None:
    """The same for a tool that is marked destructive."""
    outcome = repair(Plan(schema, Policy(), destructive=True), sent, PublishedSchemaValidator(schema))
    if expected is None:
        assert outcome.status == "refused", outcome
        return
    assert outcome.status == ("repaired" if repairs else "accepted"), outcome
    assert exactly(outcome.arguments) == exactly(expected)
    assert sorted((each.rule, each.pointer) for each in outcome.repairs) == sorted(repairs)


def tied_values(schema: Json, sent: Json) -> dict[str, list[Any]]:
    """The readings that a refused call names, by parameter."""
    outcome = repair(Plan(schema, Policy()), sent, PublishedSchemaValidator(schema))
    assert outcome.status == "refused"
    return {str(tie.path[0]): [reading.value for reading in tie.readings] for tie in outcome.ties}
