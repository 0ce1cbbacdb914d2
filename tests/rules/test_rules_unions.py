"""Test unions and discriminators."""

from __future__ import annotations

from typing import Any

import pytest
from tables import (
    ARRAY,
    BOOLEAN,
    INTEGER,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    array,
    check,
    closed,
    each_row,
    enum,
    keeps,
    nullable,
    opened,
    refuses,
    repairs_to,
    table,
    tied_values,
    union,
)

from mcp_lenient.engine.repair import Plan, repair
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.rules.policy import Policy
from mcp_lenient.types import Repair, ValidationIssue

STRINGS = array(STRING)
CIRCLE = closed("kind", "radius", kind={"const": "circle"}, radius=NUMBER)
SQUARE = closed("kind", "side", kind={"const": "square"}, side=NUMBER)
SHAPE = union(CIRCLE, SQUARE)


@table(
    repairs_to("JSON text across types", union(INTEGER, STRINGS), '["a"]', ["a"], "json_text_to_array"),
    repairs_to(
        "JSON object across types", union(INTEGER, OBJECT), '{"a": 1}', {"a": 1}, "json_text_to_object"
    ),
    repairs_to("JSON number across types", union(BOOLEAN, INTEGER), "5", 5, "text_to_integer"),
    repairs_to("JSON boolean across types", union(BOOLEAN, STRINGS), "true", True, "text_to_boolean"),
    repairs_to("integer or number", union(INTEGER, NUMBER), "5", 5, "text_to_integer"),
    repairs_to("null does not count as another type", union(array(INTEGER), NULL), 5, [5], "scalar_to_array"),
    repairs_to(
        "one branch of two objects",
        union(closed("a", a=INTEGER), closed("b", b=INTEGER)),
        {"b": "1"},
        {"b": 1},
        "text_to_integer /p/b",
    ),
    repairs_to("oneOf", {"oneOf": [INTEGER, STRINGS]}, "5", 5, "text_to_integer"),
    repairs_to("type list", {"type": ["integer", "array"]}, "5", 5, "text_to_integer"),
    refuses("JSON5 across types", union(INTEGER, STRINGS), "['a']"),
    refuses("wrapping across types", union(INTEGER, STRINGS), "a"),
    refuses("unwrapping across types", union(INTEGER, OBJECT), ["a"]),
    refuses("a member and a number", union(INTEGER, enum("1", "2")), " 1 "),
    refuses(
        "wrapping across a union in a union", union(union(enum("fast", "slow"), enum(1, 2)), ARRAY), "quick"
    ),
    refuses("number to text across types", union(STRING, STRINGS), 5),
    refuses("yes across types", union(BOOLEAN, INTEGER), "yes"),
    refuses(
        "two branches of the same type", union(closed("x", x=INTEGER), closed("x", x=BOOLEAN)), {"x": "1"}
    ),
    refuses(
        "two branches, texts and booleans", union(closed("x", x=BOOLEAN), closed("x", x=STRING)), {"x": 1}
    ),
    refuses("both branches of oneOf accept it", {"oneOf": [closed(x=INTEGER), closed(x=NUMBER)]}, {"x": 1}),
    keeps("the other branch accepts it", union(INTEGER, STRING), "5"),
    repairs_to(
        "a text in a wrapper, for two kinds of text",
        union(enum("fast", "slow"), {"type": "string", "pattern": "^F"}),
        {"p": "FAST"},
        "FAST",
        "wrapped_value",
    ),
    repairs_to(
        "a map that accepts every name",
        union(
            opened("user_id", user_id=STRING, dry_run=BOOLEAN),
            {"type": "object", "additionalProperties": union(INTEGER, BOOLEAN)},
        ),
        {"userId": "5", "dryRun": True},
        {"userId": 5, "dryRun": True},
        "text_to_integer /p/userId",
    ),
    keeps("anything", union(INTEGER, {}), "5"),
)
def test_unions_try_each_branch(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Each branch is tried. Across JSON types only JSON text and JSON literals win."""
    check(schema, sent, expected, repairs)


@table(
    repairs_to(
        "value",
        SHAPE,
        {"kind": "circle", "radius": "2"},
        {"kind": "circle", "radius": 2},
        "text_to_number /p/radius",
    ),
    repairs_to(
        "tag in another case",
        SHAPE,
        {"kind": "Circle", "radius": 2},
        {"kind": "circle", "radius": 2},
        "fold_enum /p/kind",
    ),
    repairs_to(
        "tag and value",
        SHAPE,
        {"kind": "SQUARE", "side": "2"},
        {"kind": "square", "side": 2},
        "fold_enum /p/kind",
        "text_to_number /p/side",
    ),
    repairs_to(
        "the tag's name in another case",
        SHAPE,
        {"Kind": "circle", "radius": 2},
        {"kind": "circle", "radius": 2},
        "rename_case /p/Kind",
    ),
    repairs_to(
        "the tag's name, branches differ only in the tag",
        union(
            closed("kind", "size", kind={"const": "circle"}, size=NUMBER),
            closed("kind", "size", kind={"const": "square"}, size=INTEGER),
        ),
        {"Kind": "square", "size": "2"},
        {"kind": "square", "size": 2},
        "rename_case /p/Kind",
        "text_to_integer /p/size",
    ),
    repairs_to(
        "the tag and its name in another case",
        SHAPE,
        {"Kind": "Circle", "radius": "2"},
        {"kind": "circle", "radius": 2},
        "fold_enum /p/Kind",
        "rename_case /p/Kind",
        "text_to_number /p/radius",
    ),
    repairs_to(
        "the tag's name in camel case",
        union(
            closed("shape_kind", shape_kind={"const": "circle"}),
            closed("shape_kind", shape_kind={"const": "square"}),
        ),
        {"shapeKind": "square"},
        {"shape_kind": "square"},
        "rename_case /p/shapeKind",
    ),
    repairs_to(
        "name",
        SHAPE,
        {"kind": "circle", "Radius": 2},
        {"kind": "circle", "radius": 2},
        "rename_case /p/Radius",
    ),
    repairs_to(
        "in a list",
        array(SHAPE),
        [{"kind": "circle", "radius": "2"}],
        [{"kind": "circle", "radius": 2}],
        "text_to_number /p/0/radius",
    ),
    repairs_to(
        "as text",
        SHAPE,
        '{"kind": "circle", "radius": 2}',
        {"kind": "circle", "radius": 2},
        "json_text_to_object",
    ),
    repairs_to(
        "beside null",
        union(CIRCLE, SQUARE, NULL),
        {"kind": "circle", "radius": "2"},
        {"kind": "circle", "radius": 2},
        "text_to_number /p/radius",
    ),
    refuses("the tag's name twice", SHAPE, {"Kind": "circle", "KIND": "square", "radius": 2}),
    refuses(
        "the tag's name, and it in another case", SHAPE, {"Kind": "square", "kind": "circle", "radius": 2}
    ),
    refuses("unknown tag", SHAPE, {"kind": "triangle", "side": 2}),
    refuses("a slip in the tag", SHAPE, {"kind": "cirlce", "radius": 2}),
    refuses("fields of the other branch", SHAPE, {"kind": "circle", "side": 2}),
    refuses("no tag", SHAPE, {"radius": 2}),
    refuses("a lone constant", closed("kind", kind={"const": "DELETE"}), {"kind": "delete"}),
    refuses("the tag is null", SHAPE, {"kind": None, "radius": 2}),
)
def test_discriminator_selects_the_branch(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """The property whose constants identify the branches selects the branch."""
    check(schema, sent, expected, repairs)


@each_row(
    ("schema", "sent", "readings"),
    [
        pytest.param(
            union(closed("x", x=INTEGER), closed("x", x=BOOLEAN)),
            {"x": "1"},
            [{"x": 1}, {"x": True}],
            id="objects",
        ),
        pytest.param(nullable(enum("none", "all")), "None", ["none", None], id="null or none"),
        pytest.param(union(array(INTEGER), array(BOOLEAN)), ["1"], [[1], [True]], id="lists"),
        pytest.param(
            union(closed("x", x=BOOLEAN), closed("x", x=STRING)),
            {"x": 1},
            [{"x": True}, {"x": "1"}],
            id="tier 4",
        ),
        pytest.param(
            union(opened("x", x=INTEGER, dry_run=BOOLEAN), opened("x", x=BOOLEAN, dry_run=BOOLEAN)),
            {"x": "1", "dryRun": True},
            [{"x": 1, "dryRun": True}, {"x": True, "dryRun": True}],
            id="a name that both ignore",
        ),
    ],
)
def test_tie_reports_both_candidates(schema: Any, sent: Any, readings: list[Any]) -> None:
    """Law 3: two candidates of equal cost are refused, and both are reported."""
    named = tied_values(closed("p", "n", p=schema, n=INTEGER), {"p": sent, "n": 1})["p"]
    assert len(named) == 2
    assert all(reading in named for reading in readings)


def test_tie_of_two_wrappers_reports_both_candidates() -> None:
    """If the whole arguments tie, the candidates of the parameter are reported."""
    sent = {"input": {"args": {"a": 1}}}
    schema = closed("args", args=OBJECT)
    assert tied_values(schema, sent) == {"args": [{"args": {"a": 1}}, {"a": 1}]}
    outcome = repair(Plan(schema, Policy()), sent, PublishedSchemaValidator(schema))
    assert (outcome.arguments, outcome.issues) == ({}, (ValidationIssue(("args",), "missing"),))


def test_other_parameters_are_repaired_beside_a_tie() -> None:
    """A tied parameter stays unchanged and unreported, and another parameter is repaired."""
    schema = closed("p", "n", p=nullable(enum("none", "all")), n=INTEGER)
    outcome = repair(Plan(schema, Policy()), {"p": "None", "n": "5"}, PublishedSchemaValidator(schema))
    assert outcome.arguments == {"p": "None", "n": 5}
    assert outcome.repairs == (Repair("text_to_integer", "/n", "string", "integer"),)
    assert outcome.issues == (ValidationIssue(("p",), "value"),)
