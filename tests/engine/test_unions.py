"""Test that repairs and refusals select the same branch of a union."""

from __future__ import annotations

import pytest
from tables import each_row

from mcp_lenient import normalize
from mcp_lenient.schema.node import SchemaTree
from mcp_lenient.schema.unions import Disambiguator


def obj(*required, **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


TEXT, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
BY_TEXT = [obj("kind", kind={"const": "a"}, n=INTEGER), obj("kind", kind={"const": "b"}, n=INTEGER)]
BY_NUMBER = [obj(version={"const": 1}, n=INTEGER), obj(version={"const": 2}, n=INTEGER)]
BY_BOOLEAN = [obj(ok={"const": True}, n=INTEGER), obj(ok={"const": False}, error=TEXT)]
BY_REFERENCE = [
    obj(kind={"$ref": "#/$defs/A"}, n=INTEGER),
    obj(kind={"$ref": "#/$defs/B"}, n=INTEGER),
]
BY_NAMES = [obj("path", path=TEXT, line=INTEGER), obj("url", url=TEXT, line=INTEGER)]
BY_BOTH = [
    obj("kind", "path", kind={"const": "a"}, path=TEXT),
    obj("kind", "url", kind={"const": "b"}, url=TEXT),
]
LISTS = [{"type": "array", "items": TEXT}, {"type": "array", "items": INTEGER}]
BESIDE_NUMBER = [obj("a", a=INTEGER), obj("b", b=INTEGER), NUMBER, {"type": "null"}]


def tree(branches):
    return SchemaTree(
        {
            "type": "object",
            "properties": {"x": {"anyOf": branches}},
            "$defs": {"A": {"enum": ["a"]}, "B": {"enum": ["b", "c"]}},
        }
    )


def deciders(branches):
    """Return the union as used by repairs and by refusals. Each has branch indices."""
    read = tree(branches)
    forms = read.reader.top[0].child("x")
    return [read.top.property_nodes["x"].union, Disambiguator(forms)]


def places(union, found):
    return [union.branches.index(branch) for branch in found]


@each_row(
    ("branches", "value", "meant"),
    [
        # Repairs used to reject an integer as a number. JSON Schema, and refusals, accept it.
        pytest.param(BESIDE_NUMBER, 5, [2], id="an integer is a number"),
        pytest.param([INTEGER, TEXT], 7.0, [0], id="a whole float is an integer"),
        pytest.param([INTEGER, TEXT], 7.5, [], id="a fraction is not an integer"),
        pytest.param(BESIDE_NUMBER, None, [3], id="null"),
        pytest.param(BESIDE_NUMBER, [], [], id="no branch takes a list"),
        # Partial repairs and relocations used to check only the JSON type, refusals also the discriminator.
        pytest.param(BY_TEXT, {"kind": "b", "n": "x"}, [1], id="discriminator"),
        pytest.param([*BY_TEXT, {"type": "null"}], {"kind": "b"}, [1], id="discriminator beside null"),
        pytest.param(BY_TEXT, {"kind": "z", "n": 1}, [0, 1], id="an unknown tag decides nothing"),
        pytest.param(BY_TEXT, {"n": 1}, [0, 1], id="a missing tag decides nothing"),
        # Repairs used to know only string tags, refusals also integers and booleans.
        pytest.param(BY_NUMBER, {"version": 2, "n": "x"}, [1], id="integer tags"),
        pytest.param(BY_BOOLEAN, {"ok": False, "error": 1}, [1], id="boolean tags"),
        pytest.param(BY_NUMBER, {"version": True}, [0, 1], id="true is not the tag 1"),
        pytest.param(BY_NUMBER, {"version": 2.0}, [1], id="2.0 is the tag 2"),
        pytest.param(BY_NUMBER, {"version": [2]}, [0, 1], id="a list is not a tag"),
        # Refusals used to ignore a reference to the enum of a tag.
        pytest.param(BY_REFERENCE, {"kind": "c", "n": "x"}, [1], id="tags behind references"),
        # Refusals used to take the first branch with the fewest violations, the wrong one for this value.
        pytest.param(BY_NAMES, {"url": 1}, [1], id="a required name of its own"),
        pytest.param(BY_NAMES, {"line": "x"}, [0, 1], id="a shared name decides nothing"),
        pytest.param(BY_NAMES, {"url": 1, "path": 2}, [0, 1], id="names of two branches decide nothing"),
        pytest.param([*LISTS, *BY_NAMES], ["url"], [0, 1], id="an item is not a name"),
        pytest.param(BY_BOTH, {"url": 1}, [0, 1], id="beside a discriminator names decide nothing"),
    ],
)
def test_repairs_and_refusals_select_the_same_branches(branches, value, meant):
    """Repairs and refusals select the same branches."""
    for union in deciders(branches):
        assert places(union, union.meant(value)) == meant


def test_exact_integers_exclude_whole_floats():
    """If the validator refuses 7.0 as an integer, no integer branch matches it."""
    for union in deciders([INTEGER, TEXT]):
        assert union.meant(7.0, exact_integers=True) == ()


def test_relocations_ignore_required_names():
    """A relocation follows the discriminator, not a name that only makes a branch likely."""
    for union in deciders(BY_NAMES):
        assert places(union, union.certain({"url": 1})) == [0, 1]
    for union in deciders(BY_TEXT):
        assert places(union, union.certain({"kind": "b"})) == [1]


@pytest.mark.parametrize(
    ("value", "possible"),
    [
        pytest.param({"kind": "a"}, [0], id="a constant"),
        pytest.param({"n": 1}, [0, 1], id="no constant"),
        pytest.param("a", [], id="another type"),
    ],
)
def test_possible_branches_of_accepted_values(value, possible):
    """All branches whose constants match an accepted value are possible."""
    for union in deciders(BY_TEXT):
        assert places(union, union.possible(value)) == possible


@pytest.mark.parametrize(
    ("branches", "sent", "message"),
    [
        pytest.param(
            BY_TEXT,
            {"kind": "b", "n": "x", "more": "1"},
            "'x.n' must be an integer, but got the string \"x\".",
            id="branch of the tag",
        ),
        pytest.param(
            BY_NUMBER,
            {"version": 2, "n": "x"},
            "'x.n' must be an integer, but got the string \"x\".",
            id="branch of an integer tag",
        ),
        pytest.param(
            BY_NAMES,
            {"url": [], "line": "5"},
            "'x.url' must be a string, but got an array. Send one string.",
            id="branch with the name",
        ),
    ],
)
def test_refusals_describe_the_selected_branch(branches, sent, message):
    """A refusal describes the selected branch and the errors that its repairs leave."""
    found = normalize(tree(branches).root, {"x": sent}).violations
    assert [violation.message.partition(" Write")[0] for violation in found] == [message]


def test_quoted_integer_tag_is_repaired():
    """A discriminator sent as text or as a number selects the branch."""
    schema = tree(BY_NUMBER).root
    assert normalize(schema, {"x": {"version": "2", "n": "5"}}).arguments == {"x": {"version": 2, "n": 5}}


@pytest.mark.parametrize("discriminated_first", [True, False])
def test_a_repaired_tag_adds_to_the_cost_of_its_branch(discriminated_first):
    """A branch that accepts the tag as sent wins over a discriminated one that needs it repaired."""
    tagged = {
        "oneOf": [obj("kind", "n", kind={"const": each}, n=INTEGER) for each in ("text", "number")],
        "discriminator": {"propertyName": "kind"},
    }
    either = [tagged, obj("kind", "n", kind={"const": "Text"}, n=INTEGER)]
    schema = obj("x", x={"anyOf": either if discriminated_first else either[::-1]})
    found = normalize(schema, {"x": {"kind": "Text", "n": "5"}})
    assert found.arguments == {"x": {"kind": "Text", "n": 5}}
    assert [repair.rule for repair in found.repairs] == ["text_to_integer"]
