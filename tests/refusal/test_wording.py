"""Test how schemas are described in JSON terms."""

from __future__ import annotations

import pytest
from tables import each_row

from mcp_lenient.refusal.wording import allowed_values, example, expected, limit_words, type_words
from mcp_lenient.schema.node import FormReader
from mcp_lenient.values.language import Language

DEFS = {
    "$defs": {
        "Tag": {"type": "string"},
        "Node": {
            "type": "object",
            "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}},
        },
        "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}, {"$ref": "#/$defs/Loop"}]},
        "Cat": {"type": "object", "properties": {"kind": {"const": "cat"}}, "required": ["kind"]},
        "Dog": {"type": "object", "properties": {"kind": {"const": "dog"}}, "required": ["kind"]},
    }
}


@each_row(
    ("schema", "words", "phrase"),
    [
        pytest.param({"type": "string"}, ("string",), "a string", id="scalar"),
        pytest.param(
            {"type": ["null", "integer"]}, ("integer", "null"), "an integer or null", id="null comes last"
        ),
        pytest.param(
            {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
            ("array of strings", "null"),
            "an array of strings or null",
            id="optional list",
        ),
        pytest.param(
            {"type": "array", "items": {"$ref": "#/$defs/Tag"}},
            ("array of strings",),
            "an array of strings",
            id="reference",
        ),
        pytest.param(
            {"type": "array", "items": {"type": ["string", "integer"]}},
            ("array of strings or integers",),
            "an array of strings or integers",
            id="list of a union",
        ),
        pytest.param(
            {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            ("array of arrays of numbers",),
            "an array of arrays of numbers",
            id="list of lists",
        ),
        pytest.param({"allOf": [{"type": "boolean"}]}, ("boolean",), "a boolean", id="allOf"),
        pytest.param({"enum": ["a", "b"]}, ("string",), 'one of "a", "b"', id="enum"),
        pytest.param(
            {"anyOf": [{"type": "integer"}, {"const": "auto"}]},
            ("integer", "string"),
            'an integer or "auto"',
            id="a literal beside a type",
        ),
        pytest.param(
            {"anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]},
            ("object",),
            'an object whose "kind" is one of "cat", "dog"',
            id="discriminated union",
        ),
        pytest.param({"$ref": "#/$defs/Node"}, ("object",), "an object", id="recursive"),
        pytest.param({"$ref": "#/$defs/Loop"}, (), "", id="nothing but recursion"),
        pytest.param({"$ref": "https://example.com/x.json"}, (), "", id="remote"),
        pytest.param({"$ref": "#/$defs/None"}, (), "", id="dangling"),
        pytest.param({}, (), "", id="anything"),
        pytest.param(True, (), "", id="true schema"),
    ],
)
def test_types(schema, words, phrase):
    """Types are named in JSON terms, through references, unions and allOf."""
    choices = FormReader(DEFS).forms(schema)
    assert type_words(choices) == words
    assert expected(choices, Language()) == phrase


@each_row(
    ("schema", "text"),
    [
        pytest.param({"type": "array", "items": {"type": "string"}}, '["a", "b"]', id="list of strings"),
        pytest.param({"type": "integer"}, "1", id="integer"),
        pytest.param({"enum": ["asc", "desc"]}, '"asc"', id="enum"),
        pytest.param(
            {
                "type": "object",
                "properties": {"f": {"type": "string"}, "n": {"type": "integer"}},
                "required": ["f"],
            },
            '{"f": "a"}',
            id="object with what it requires",
        ),
        pytest.param(
            {"type": "array", "items": {"$ref": "#/$defs/Cat"}}, '[{"kind": "cat"}]', id="list of objects"
        ),
        pytest.param({"type": "object"}, None, id="free-form object"),
        pytest.param({"type": "string", "format": "date"}, '"2026-01-31"', id="format"),
        pytest.param({"type": "string", "format": "iban"}, None, id="unknown format"),
        pytest.param({"type": "integer", "minimum": 10}, "10", id="within limits"),
        pytest.param({"type": "string", "pattern": "^c+$"}, None, id="none that keeps the pattern"),
        pytest.param(
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
            '[1, "a"]',
            id="positions",
        ),
        pytest.param({"type": "object", "additionalProperties": {"type": "integer"}}, '{"key": 1}', id="map"),
        pytest.param({}, None, id="anything"),
    ],
)
def test_example(schema, text):
    """An example is given if a small one is certain."""
    assert example(FormReader(DEFS).forms(schema)) == text


@each_row(
    ("keyword", "bound", "words"),
    [
        pytest.param("minimum", 1, "be at least 1", id="minimum"),
        pytest.param("exclusiveMaximum", 0.5, "be less than 0.5", id="exclusiveMaximum"),
        pytest.param("minItems", 1, "have at least 1 item", id="one item"),
        pytest.param("maxItems", 3, "have at most 3 items", id="items"),
        pytest.param("uniqueItems", True, "contain no item twice", id="uniqueItems"),
        pytest.param("pattern", "^a$", 'match the pattern "^a$"', id="pattern"),
        pytest.param("format", "date", 'be a date such as "2026-01-31"', id="known format"),
        pytest.param("format", "iban", 'be in the format "iban"', id="other format"),
        pytest.param("not", {}, None, id="no words"),
    ],
)
def test_limits(keyword, bound, words):
    """Each limit has a phrase."""
    assert limit_words(keyword, bound, Language()) == words


def test_many_values():
    """A long enum is described by its first values and a count of the rest."""
    choices = FormReader({}).forms({"enum": [f"value {number}" for number in range(5_000)]})
    phrase = expected(choices, Language())
    assert phrase.startswith('one of "value 0", "value 1"')
    assert phrase.endswith("more")
    assert len(phrase) < 500


def test_values_of_a_union():
    """Allowed values are listed only if all forms but null limit them."""
    assert allowed_values(FormReader({}).forms({"anyOf": [{"enum": ["a"]}, {"type": "null"}]})) == ("a",)
    assert allowed_values(FormReader({}).forms({"anyOf": [{"enum": ["a"]}, {"type": "string"}]})) == ()


def test_doubling_unions():
    """Unions that each refer twice to the next are described in linear time."""
    chain = {
        f"U{n}": {"anyOf": [{"$ref": f"#/$defs/U{n + 1}"}, {"$ref": f"#/$defs/U{n + 1}"}]} for n in range(60)
    }
    root = {"$defs": {**chain, "U60": {"type": "string"}}}
    assert type_words(FormReader(root).forms({"$ref": "#/$defs/U0"})) == ("string",)
