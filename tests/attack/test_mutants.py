"""Check single decisions that no other test covers, each of which a fault in one line would change."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from calls import call, code, got, lenient, on_both_servers, rules
from decisions import contract, decide, refusals
from fastmcp import FastMCP
from fastmcp.tools import FunctionTool, Tool
from fastmcp.tools.tool_transform import ArgTransform
from fastmcp_versions import NO_JSON, since
from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field
from tables import BOOLEAN, INTEGER, NULL, OBJECT, array, closed, union

from mcp_lenient import Policy, normalize
from mcp_lenient.adapters.fastmcp.tools import FunctionValidator, find_target
from mcp_lenient.types import Repair


class Row(BaseModel):
    """A row whose own validator splits its tags at blanks."""

    tags: Annotated[
        list[str], BeforeValidator(lambda value: value.split() if isinstance(value, str) else value)
    ]
    count: int


class Named(BaseModel):
    """A field with a validation alias that the schema does not show."""

    model_config = ConfigDict(extra="forbid")

    name: str = ""
    tags: list[str] = Field(default=[], validation_alias=AliasChoices("tags", "tgas"))


def rows(rows: list[Row]) -> list[list[str]]:
    """Return the tags of each row."""
    return [row.tags for row in rows]


def test_a_name_that_matches_a_pattern_is_never_unknown():
    """In a closed object, a key that matches ``patternProperties`` has no fault next to a wrong value."""
    schema = {**closed(n=INTEGER), "patternProperties": {"^x-": INTEGER}}
    found = [(fault.path, fault.kind) for fault in contract(schema).validator.faults({"n": "x", "x-a": 1})]
    assert found == [(("n",), "type")]


def test_valid_items_beside_a_wrong_one_are_not_reported():
    """If one item makes a list invalid, the repairable items are not reported."""
    found = normalize(closed(flags=array(BOOLEAN)), {"flags": ["yes", "no", {}]}).violations
    assert [each.pointer for each in found] == ["/flags/2"]


def _validator(*, strict: bool = False) -> FunctionValidator:
    tool = Tool.from_function(rows)
    assert isinstance(tool, FunctionTool)
    return FunctionValidator(tool, strict=strict)


def test_validators_of_one_function_are_equal():
    """Two equally strict validators of one function are equal, so that nothing is compiled again."""
    assert _validator() == _validator()
    assert _validator() != _validator(strict=True)
    assert hash(_validator()) == hash(_validator())


def test_valid_fields_beside_a_wrong_one_are_not_reported():
    """If one field makes an object invalid, the repairable fields are not reported."""
    schema = closed(o=closed(b=BOOLEAN, m=INTEGER), rows=array(closed(b=BOOLEAN, m=INTEGER)))
    row = {"b": "yes", "m": "x"}
    found = normalize(schema, {"o": row, "rows": [row]}).violations
    assert [each.pointer for each in found] == ["/o/m", "/rows/0/m"]


def test_a_tie_does_not_block_another_parameter():
    """If one parameter is ambiguous, another is repaired, even if its name begins with the same letter."""
    one = union(closed(x=INTEGER), closed(x=BOOLEAN))
    schema = closed(p=one, pq=INTEGER)
    outcome = decide(schema, {"p": {"x": "1"}, "pq": "5"})
    assert outcome.status == "refused"
    assert outcome.arguments == {"p": {"x": "1"}, "pq": 5}
    assert outcome.repairs == (Repair("text_to_integer", "/pq", "string", "integer"),)
    assert refusals(outcome) == ["ambiguous /p"]


def test_arguments_for_one_branch_are_repaired_in_part():
    """If the arguments match one branch of a union, the unambiguous repairs in them are made."""
    branches = [closed(kind={"const": "a"}, n=INTEGER, m=INTEGER), closed(kind={"const": "b"})]
    outcome = decide(union(*branches), {"kind": "a", "n": "5", "m": "x"})
    assert outcome.status == "refused"
    assert outcome.arguments == {"kind": "a", "n": 5, "m": "x"}


def test_items_of_a_list_in_place_of_text_are_not_repaired():
    """If a parameter accepts no list, its ``items`` keyword is not used to repair one."""
    schema = closed(p={"type": "string", "items": INTEGER})
    outcome = decide(schema, {"p": ["5", "x"]})
    assert outcome.arguments == {"p": ["5", "x"]}


def test_a_name_in_only_one_candidate_is_a_tie():
    """Arguments that may be a wrapper or a wrapped parameter differ in the names of both."""
    schema = closed("arguments", arguments=OBJECT, n=INTEGER)
    sent = {"params": {"arguments": {}, "n": 1}}
    outcome = decide(schema, sent)
    assert outcome.status == "refused"
    assert refusals(outcome)[:2] == ["ambiguous /arguments", "ambiguous /n"]


@on_both_servers
@pytest.mark.parametrize("wrappers", [1, 2, 3])
async def test_no_more_than_two_wrappers(wrappers, strict):
    """A value wrapped in its own name once or twice is unwrapped. More wrappers are refused."""

    def own(p: int) -> int:
        return p

    sent: Any = 5
    for _ in range(wrappers):
        sent = {"p": sent}
    assert bool(normalize(closed(p=INTEGER), {"p": sent}).violations) is (wrappers > 2)
    assert (await call(lenient(own, strict=strict), "own", {"p": sent})).is_error is (wrappers > 2)


def test_an_object_that_needs_larger_repairs_is_not_wrapped_in_a_list():
    """An object becomes the single item of a list only if little in it must change."""
    schema = closed(p=array(closed("a", a=INTEGER, b=INTEGER)))
    assert normalize(schema, {"p": {"a": "1"}}).arguments == {"p": [{"a": 1}]}
    assert normalize(schema, {"p": {"a": 1, "b": None}}).violations


async def test_relocations_record_both_types():
    """A relocation is recorded like any other repair, also for a tool's own validator."""

    def own(row: Row, times: int = 1) -> list[str]:
        return row.tags * times

    answer = await call(lenient(own), "own", {"args": {"Row": '{"tags": "a b", "count": 1}', "_meta": 1}})
    assert got(answer) == ["a", "b"]
    assert (answer.meta or {})["mcp_lenient"]["repairs"] == [
        {"rule": "unwrap_arguments", "pointer": "", "before": "object", "after": "object"},
        {"rule": "drop_injected", "pointer": "/_meta", "before": "integer", "after": "absent"},
        {"rule": "rename_case", "pointer": "/Row", "before": "string", "after": "string"},
        {"rule": "json_text_to_object", "pointer": "/Row", "before": "string", "after": "object"},
    ]


async def test_only_unknown_names_are_renamed():
    """Only the key that the tool's own validator calls unknown is renamed."""

    def own(one: Named) -> list[str]:
        return [one.name, *one.tags]

    answer = await call(lenient(own), "own", {"one": {"tgas": ["a"], "Name": "b"}})
    assert got(answer) == ["b", "a"]
    assert rules(answer) == ["rename_case"]


@pytest.mark.parametrize("text", ["[[1, 2]]", "[5]", "[]", '"a"'])
async def test_only_an_object_is_taken_out_of_a_wrapper(text):
    """If the text of the whole arguments is not an object, the call is refused."""
    answer = await call(lenient(rows), "rows", {"args": text})
    assert (code(answer), normalize(closed("p", p=INTEGER), {"args": text}).violations != ()) == (
        "INVALID_ARGUMENTS",
        True,
    )


def test_a_call_that_takes_too_long_is_refused_unchanged(monkeypatch):
    """If a schema branches so much that the call is given up, none of it is changed."""
    schema, sent = closed(p=array(union(INTEGER, NULL))), {"p": ["1", "2", "3"]}
    assert decide(schema, sent).status == "repaired"
    looked_at = -2 * 4 - 10 * 5  # steps that the size of the arguments adds
    monkeypatch.setattr("mcp_lenient.engine.repair._STEPS", looked_at + 20)
    assert decide(schema, sent).status == "repaired"
    monkeypatch.setattr("mcp_lenient.engine.repair._STEPS", looked_at)
    outcome = decide(schema, sent)
    assert (outcome.status, outcome.arguments, outcome.repairs) == ("refused", sent, ())


async def _transformed(hidden: Any) -> Any:
    def parent(n: int, hidden: int = 0) -> int:
        return n + hidden

    changed = Tool.from_tool(
        Tool.from_function(parent),
        name="changed",
        transform_args={"hidden": ArgTransform(hide=True, default=hidden)},
    )
    server = FastMCP("transformed", strict_input_validation=True)
    server.add_tool(changed)
    validator = (await find_target(server, changed)).validator
    assert validator is not None
    return validator


async def test_hidden_parameters_are_not_reported():
    """A hidden argument that the parent refuses is not a fault of a call that cannot set it."""
    validator = await _transformed("no number")
    assert validator.faults({"n": 1}) == ()
    assert validator.accepts({"n": 1})
    assert not validator.accepts({"n": "x"})


@since(4, 1, NO_JSON)
async def test_whole_call_errors_of_a_transformed_tool_are_reported():
    """A number that no validator can read is reported with kind ``size`` for a transformed tool too."""
    validator = await _transformed(0)
    assert [(fault.path, fault.kind) for fault in validator.faults({"n": 10**5000})] == [((), "size")]


def test_fewer_changes_decide_between_unwrapping_and_a_repair():
    """If a value could also be repaired in place in the same tier, the fewer changes decide."""
    schema = closed(a=INTEGER, items=array(closed(a=INTEGER)))
    result = normalize(schema, {"args": {"a": 1}}, Policy(aliases={"items": ("args",)}))
    assert result.arguments == {"a": 1}
    assert [each.rule for each in result.repairs] == ["unwrap_arguments"]


def test_many_values_are_validated_as_strictly_as_few():
    """Large arguments, which are checked without building them, get the server's strictness."""
    for count in (1, 200):
        sent = {"rows": [{"tags": ["a"], "count": "5"}] * count}
        assert _validator().accepts(sent)
        assert not _validator(strict=True).accepts(sent)
        assert not _validator().accepts({"rows": [*sent["rows"], {"tags": ["a"], "count": "x"}]})
