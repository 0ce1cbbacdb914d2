"""Test how schemas are described in JSON terms."""

from __future__ import annotations

from tables import STRING, array, each_row, opened, union

from mcp_lenient import Policy, normalize

DEFS = {
    "$defs": {
        "Tag": {"type": "string"},
        "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}},
        "Cat": opened("kind", kind={"const": "cat"}),
        "Dog": opened("kind", kind={"const": "dog"}),
    }
}


def violation_of(schema, value):
    """Return the violation of a value, without repairs."""
    (violation,) = normalize({**opened(p=schema), **DEFS}, {"p": value}, Policy.strict()).violations
    return violation


@each_row(
    ("schema", "words", "phrase"),
    [
        (STRING, ("string",), "a string"),
        ({"type": ["null", "integer"]}, ("integer", "null"), "an integer or null"),
        (union(array(STRING), {"type": "null"}), ("array of strings", "null"), "an array of strings or null"),
        (array({"$ref": "#/$defs/Tag"}), ("array of strings",), "an array of strings"),
        (
            array({"type": ["string", "integer"]}),
            ("array of integers or strings",),
            "an array of integers or strings",
        ),
        (array(array({"type": "number"})), ("array of arrays",), "an array of arrays"),
        ({"allOf": [{"type": "integer"}]}, ("integer",), "an integer"),
        ({"enum": ["a", "b"]}, ("string",), 'one of "a", "b"'),
        (union({"type": "integer"}, {"const": "auto"}), ("integer", "string"), 'an integer or "auto"'),
        (union({"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}), ("object",), "an object"),
        ({"$ref": "#/$defs/Node"}, ("object",), "an object"),
    ],
)
def test_types(schema, words, phrase):
    """Types are named in JSON terms, through references, unions and allOf."""
    violation = violation_of(schema, True)
    assert violation.expected_types == words
    assert violation.message.startswith(f"'p' must be {phrase}, but got ")


@each_row(("schema", "text"))
def test_example(schema, text):
    """A text in place of another type gets a small example; where none is certain, the brackets alone."""
    assert text in violation_of(schema, "some text").message


@each_row(("schema", "value", "words"))
def test_limits(schema, value, words):
    """Each limit has a phrase."""
    assert f"'p' must {words}" in violation_of(schema, value).message


_CARD = opened("card", card=STRING)
_BANK = opened("iban", "kind", iban=STRING, kind={"const": "bank"})
_EITHER = "has either 'card' (a string) or 'iban' (a string) and 'kind' (\"bank\")."


@each_row(
    ("schema", "value", "text"),
    [
        (union(_CARD, _BANK), 5, f"It {_EITHER}"),
        (union(_CARD, _BANK, {"type": "null"}), 5, f"It {_EITHER}"),
        (array(union(_CARD, _BANK)), 5, f"Each item {_EITHER}"),
    ],
)
def test_one_of_several_objects(schema, value, text):
    """Where one of several objects is expected, what each requires is said, since an example would show one alone."""
    message = violation_of(schema, value).message
    assert message.endswith(text)
    assert "like" not in message


def test_a_missing_object_of_several():
    """A missing object that may be one of several says what each requires."""
    (violation,) = normalize(opened("p", p=union(_CARD, _BANK)), {}).violations
    assert f"It {_EITHER}" in violation.message


def test_many_values():
    """A long enum is described by its first values and a count of the rest."""
    message = violation_of({"enum": [f"value {number}" for number in range(5_000)]}, "x").message
    assert message.startswith('\'p\' must be one of "value 0", "value 1"')
    assert "more" in message
    assert len(message) < 600


@each_row(
    ("schema", "values"),
    [
        (union({"enum": ["a"]}, {"type": "null"}), ("a",)),
        (union({"enum": ["a"]}, {"type": "integer"}), ()),
    ],
)
def test_values_of_a_union(schema, values):
    """Allowed values are listed only if all forms but null limit them."""
    assert violation_of(schema, "zz").allowed_values == values
