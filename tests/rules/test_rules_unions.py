"""Test unions and discriminators."""

from __future__ import annotations

from typing import Any

import jsonpatch
import pytest
from decisions import decide, records, refusals
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
    opened,
    refuses,
    repairs_to,
    table,
    tied_values,
    union,
)

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
    repairs_to(
        "two branches, texts and booleans",
        union(closed("x", x=BOOLEAN), closed("x", x=STRING)),
        {"x": 1},
        {"x": "1"},
        "number_to_text /p/x",
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
        pytest.param(union(array(INTEGER), array(BOOLEAN)), ["1"], [[1], [True]], id="lists"),
    ],
)
def test_tie_reports_both_candidates(schema: Any, sent: Any, readings: list[Any]) -> None:
    """Law 3: two candidates of equal cost are refused, and both are reported."""
    named = tied_values(closed("p", "n", p=schema, n=INTEGER), {"p": sent, "n": 1})["p"]
    assert len(named) == 2
    assert all(reading in named for reading in readings)


@each_row(
    ("schema", "sent", "kept"),
    [
        pytest.param(closed("args", args=OBJECT), {"input": {"args": {"a": 1}}}, {}, id="two wrappers"),
        pytest.param(
            closed(
                "p",
                p=union(opened("x", x=INTEGER, dry_run=BOOLEAN), opened("x", x=BOOLEAN, dry_run=BOOLEAN)),
            ),
            {"p": {"x": "1", "dryRun": True}},
            {"p": {"x": "1", "dryRun": True}},
            id="a name that both ignore",
        ),
    ],
)
def test_tie_of_whole_values_is_reported_at_the_parameter(schema: Any, sent: Any, kept: Any) -> None:
    """If the readings tie as a whole, the parameter is ambiguous, and none is offered that the tool refuses."""
    decision = decide(schema, sent)
    assert refusals(decision) == [f"ambiguous /{name}" for name in schema["required"]]
    for patch in decision.violations[0].fixes:
        assert not decide(schema, jsonpatch.apply_patch(sent, [*patch])).violations
    assert decision.arguments == kept


def test_other_parameters_are_repaired_beside_a_tie() -> None:
    """A tied parameter stays unchanged, and another parameter is repaired."""
    schema = closed("p", "n", p=union(array(INTEGER), array(BOOLEAN)), n=INTEGER)
    decision = decide(schema, {"p": ["1"], "n": "5"})
    assert decision.arguments == {"p": ["1"], "n": 5}
    assert records(decision) == ["text_to_integer /n string integer"]
    assert refusals(decision) == ["ambiguous /p"]
