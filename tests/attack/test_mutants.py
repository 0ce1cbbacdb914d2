"""What no other test noticed when a fault was put into the code on purpose."""

from __future__ import annotations

from typing import Annotated

from calls import call, got, lenient, rules
from fastmcp.tools import FunctionTool, Tool
from pydantic import BaseModel, BeforeValidator
from tables import BOOLEAN, INTEGER, array, closed

from mcp_lenient import normalize
from mcp_lenient.judge import FunctionJudge
from mcp_lenient.schema_judge import SchemaJudge


class Row(BaseModel):
    """A row whose tags the author splits at blanks."""

    tags: Annotated[
        list[str], BeforeValidator(lambda value: value.split() if isinstance(value, str) else value)
    ]
    count: int


def rows(rows: list[Row]) -> list[list[str]]:
    """Takes rows."""
    return [row.tags for row in rows]


async def test_an_item_keeps_what_only_its_own_validator_takes():
    """In a list, too, a field that the author's validator takes is not repaired beside one that is wrong."""
    answer = await call(lenient(rows, strict=True), "rows", {"rows": [{"tags": "a b", "count": "5"}]})
    assert got(answer) == [["a", "b"]]
    assert rules(answer) == ["text_to_integer"]


def test_a_declared_name_is_never_unknown():
    """Beside an unknown name, a declared one whose value is wrong has that fault alone."""
    judge = SchemaJudge(
        {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
    )
    found = [(fault.path, fault.kind) for fault in judge.faults({"n": "x", "other": 1})]
    assert sorted(found) == [(("n",), "type"), (("other",), "unknown")]


def test_a_name_by_pattern_is_never_unknown():
    """In a closed object, a key that a pattern knows is no fault beside one that is."""
    schema = {**closed(n=INTEGER), "patternProperties": {"^x-": INTEGER}}
    found = [(fault.path, fault.kind) for fault in SchemaJudge(schema).faults({"n": "x", "x-a": 1})]
    assert found == [(("n",), "type")]


def test_items_beside_a_wrong_one_are_no_faults():
    """In a list that is refused for one item, an item that can be repaired is not told of as wrong."""
    found = normalize(closed(flags=array(BOOLEAN)), {"flags": ["yes", "no", {}]}).violations
    assert [each.pointer for each in found] == ["/flags/2"]


def _judge(*, strict: bool = False) -> FunctionJudge:
    tool = Tool.from_function(rows)
    assert isinstance(tool, FunctionTool)
    return FunctionJudge(tool, strict=strict)


def test_judges_of_one_function_are_equal():
    """A tool that is looked up again is judged as before, so that nothing is compiled anew; at another strictness it is not."""
    assert _judge() == _judge()
    assert _judge() != _judge(strict=True)
    assert hash(_judge()) == hash(_judge())


def test_what_is_beside_a_fault_within_is_no_fault():
    """In an object that is refused for one field, a field that can be repaired is not told of as wrong."""
    schema = closed(o=closed(b=BOOLEAN, m=INTEGER), rows=array(closed(b=BOOLEAN, m=INTEGER)))
    row = {"b": "yes", "m": "x"}
    found = normalize(schema, {"o": row, "rows": [row]}).violations
    assert [each.pointer for each in found] == ["/o/m", "/rows/0/m"]
