"""Test that repairs and refusals select the same branch of a union."""

from __future__ import annotations

import pytest
from tables import INTEGER, NULL, NUMBER, STRING, array, each_row, opened, union

from mcp_lenient import normalize

BY_NUMBER = [opened(version={"const": 1}, n=INTEGER), opened(version={"const": 2}, n=INTEGER)]
BESIDE_NUMBER = [opened("a", a=INTEGER), opened("b", b=INTEGER), NUMBER, NULL]


def published(branches):
    return {
        "type": "object",
        "properties": {"x": {"anyOf": branches}},
        "$defs": {"A": {"enum": ["a"]}, "B": {"enum": ["b", "c"]}},
    }


@each_row(("branches", "value", "violations"))
def test_a_refusal_is_about_the_branch_that_is_meant(branches, value, violations):
    """A tag or a required name of its own selects a branch; where none does, the union as a whole is wrong."""
    found = normalize(published(branches), {"x": value}).violations
    assert [f"{each.code} {each.pointer}" for each in found] == violations


@pytest.mark.parametrize("value", [5, 7.0, None])
def test_a_number_is_accepted_by_any_branch_of_numbers(value):
    """An integer is a number, and a whole float an integer."""
    assert not normalize(published([*BESIDE_NUMBER, INTEGER]), {"x": value}).violations


@each_row(("branches", "sent", "message"))
def test_refusals_describe_the_selected_branch(branches, sent, message):
    """A refusal describes the selected branch and the errors that its repairs leave."""
    found = normalize(published(branches), {"x": sent}).violations
    assert [violation.message.partition(" Write")[0] for violation in found] == [message]


def test_quoted_integer_tag_is_repaired():
    """A discriminator sent as text or as a number selects the branch."""
    schema = published(BY_NUMBER)
    assert normalize(schema, {"x": {"version": "2", "n": "5"}}).arguments == {"x": {"version": 2, "n": 5}}


@pytest.mark.parametrize("discriminated_first", [True, False])
def test_a_repaired_tag_adds_to_the_cost_of_its_branch(discriminated_first):
    """A branch that accepts the tag as sent wins over a discriminated one that needs it repaired."""
    tagged = {
        "oneOf": [opened("kind", "n", kind={"const": each}, n=INTEGER) for each in ("text", "number")],
        "discriminator": {"propertyName": "kind"},
    }
    either = [tagged, opened("kind", "n", kind={"const": "Text"}, n=INTEGER)]
    schema = opened("x", x={"anyOf": either if discriminated_first else either[::-1]})
    found = normalize(schema, {"x": {"kind": "Text", "n": "5"}})
    assert found.arguments == {"x": {"kind": "Text", "n": 5}}
    assert [repair.rule for repair in found.repairs] == ["text_to_integer"]


@pytest.mark.parametrize("sent", ["[1, 2]", [1, 2]])
def test_an_item_that_fits_two_branches_of_one_is_no_reading(sent):
    """A list whose items fit two branches of a ``oneOf`` is not a reading, and hides no other one."""
    overlapping = {"oneOf": [INTEGER, NUMBER]}
    schema = opened("x", x={"anyOf": [array(overlapping), array(STRING)]})
    assert normalize(schema, {"x": sent}).arguments == {"x": ["1", "2"]}


def test_a_name_that_another_union_of_the_same_object_declares_is_accepted():
    """In an object of two unions, a name is not taken for that of the branch that one of them means."""
    kinds = union(opened(kind={"const": "a"}, max_size=INTEGER), opened(kind={"const": "b"}))
    sizes = {"oneOf": [opened("maxSize", maxSize=INTEGER), opened("q", q=INTEGER)]}
    sent = {"x": {"kind": "a", "maxSize": 5}}
    result = normalize(opened(x=kinds | sizes), sent)
    assert (result.arguments, result.violations) == (sent, ())
