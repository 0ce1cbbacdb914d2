"""Write schemas shortly, and check tables of calls: a schema, the sent arguments and the expected result."""

from __future__ import annotations

import copy
import inspect
import json
import re
import reprlib
from collections.abc import Callable, Iterable
from functools import cache, wraps
from pathlib import Path
from typing import Any

import jsonpatch
import pytest
from strategies import Json, exactly

from mcp_lenient import DEFAULT_RULES, Policy, normalize

ParameterSet = type(pytest.param())

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


def rows(file: str, table: str) -> list[Any]:
    """Return the rows of a table in the JSON file beside a test file: a list, or an object that names each row."""
    found = json.loads(Path(file).with_suffix(".json").read_text(encoding="utf-8"))[table]
    if isinstance(found, list):
        return found
    return [
        pytest.param(*row, id=name) if isinstance(row, list) else pytest.param(row, id=name)
        for name, row in found.items()
    ]


Test = Callable[..., None]


def each_row(names: str | tuple[str, ...], given: Iterable[Any] | None = None) -> Callable[[Test], Test]:
    """Run all rows in one test, and report each failed row under its name.

    It accepts the arguments of ``pytest.mark.parametrize`` and is for pure functions, because pytest's
    overhead per test exceeds the time of such a row. Two tables are combined into all pairs of rows.
    Without rows, the table of the test's name is read from the JSON file beside the test file.
    """
    names = tuple(re.split(r",\s*", names)) if isinstance(names, str) else names

    def decorate(test: Test) -> Test:
        assert not inspect.iscoroutinefunction(test), "nothing here awaits the test"
        body, inner = getattr(test, "multiplied", (test, [((), {})]))
        read = (
            rows(body.__code__.co_filename, body.__name__.removeprefix("test_")) if given is None else given
        )
        own = [_row(row, names) for row in read]
        assert own, "a table without rows would always pass"
        table = [((*more, *ids), {**others, **values}) for ids, values in own for more, others in inner]
        needed = [name for name in inspect.signature(test).parameters if name not in {*names, "subtests"}]

        @wraps(body)
        def run(*, subtests: pytest.Subtests, **fixtures: Any) -> None:
            for ids, values in table:
                try:
                    body(**values, **fixtures)
                except (Exception, pytest.fail.Exception):
                    with subtests.test("-".join(ids) or reprlib.repr(values)):
                        raise

        run.multiplied = (body, table)
        run.__signature__ = inspect.Signature(
            [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in ("subtests", *needed)]
        )
        return run

    return decorate


def _row(row: Any, names: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, Any]]:
    if not isinstance(row, ParameterSet):
        row = pytest.param(*(row if len(names) > 1 else [row]))
    assert not row.marks, f"a row with marks is a test of its own: {row}"
    return (row.id,) if row.id else (), dict(zip(names, row.values, strict=True))


def records(repairs: Iterable[str]) -> list[tuple[str, str]]:
    pairs = (record.partition(" ") for record in repairs)
    return [(rule, pointer if space else "/p") for rule, space, pointer in pairs]


def check(
    schema: Json, sent: Any, expected: Json | None, repairs: list[tuple[str, str]], **policy: Any
) -> None:
    """Send a row's arguments and compare values with their types, and repairs in any order."""
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


def tied_values(schema: Json, sent: Json) -> dict[str | None, list[Any]]:
    """Return the readings of a refused call that tie, by parameter; each is offered as a fix."""
    return {
        each.parameter: [jsonpatch.apply_patch(sent, [*patch])[each.parameter] for patch in each.fixes]
        for each in normalize(schema, sent).violations
        if each.code == "ambiguous"
    }


# --- the one value of ``p`` -----------------------------------------------------------------------------


class Refused:
    """What :func:`read_as` returns for a value that is refused."""

    def __repr__(self) -> str:
        return "REFUSED"


REFUSED = Refused()


@cache
def only(*rules: str) -> Policy:
    """Return a policy with no other rules than these."""
    return Policy(rules=tuple(rule for rule in DEFAULT_RULES if rule.name in rules))


def read_as(schema: Json, value: Any, *rules: str) -> Any:
    """Return the accepted or repaired value, or REFUSED. Without names of rules, all rules apply."""
    result = normalize(closed("p", p=schema), {"p": value}, only(*rules) if rules else None)
    return REFUSED if result.violations else result.arguments["p"]
