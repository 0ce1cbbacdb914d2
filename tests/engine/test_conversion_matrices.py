"""Check the two conversion matrices that started this project."""

from __future__ import annotations

from typing import Any

import pytest
from tables import (
    STRING,
    array,
    check,
    closed,
    each_row,
    nullable,
)

STRINGS = array(STRING)
TAGS = closed("content", content=STRING, tags=nullable(STRINGS))


@pytest.mark.parametrize("tags", [None, [], ["tag1"], ["tag1", "tag2", "tag3"]], ids=repr)
def test_valid_tags_stay_unchanged(tags: Any) -> None:
    """Valid tags pass unchanged."""
    check(TAGS, {"content": "a", "tags": tags}, {"content": "a", "tags": tags}, [])


@pytest.mark.parametrize(
    ("tags", "rule"),
    [
        ("single_tag", "scalar_to_array"),
        ('["single_tag"]', "json_text_to_array"),
        ("['single_tag']", "json5_text_to_array"),
    ],
    ids=str,
)
def test_single_tags_and_text_lists_are_repaired(tags: Any, rule: str) -> None:
    """A single tag, or a list as text, becomes the list."""
    check(TAGS, {"content": "a", "tags": tags}, {"content": "a", "tags": ["single_tag"]}, [(rule, "/tags")])


@each_row(
    "tags",
    [123, 12.34, True, {"key": "value"}, ["tag1", 123, "tag2"], [None, "tag1"], '["a", 1]', "[1", ""],
)
def test_wrong_tags_are_refused(tags: Any) -> None:
    """Any other value for tags is refused."""
    check(TAGS, {"content": "a", "tags": tags}, None, [])


CONVERSIONS = {
    "string": {"3.14": None, "42": None, "true": None, "[1,2,3]": None, '{"key":"value"}': None},
    "number": {"3.14": 3.14, "42": 42},
    "integer": {"42": 42, "5.0": 5},
    "boolean": {"true": True, "1": True, "0": False, "false": False},
    "array": {"[1,2,3]": [1, 2, 3]},
    "object": {'{"key":"value"}': {"key": "value"}},
}
EVERY_TEXT = sorted(
    {text for texts in CONVERSIONS.values() for text in texts} | {"a", "1.5e3", "null", "{}x", "[1"}
)
ALSO = {
    ("number", "1.5e3"): 1500.0,
    ("number", "5.0"): 5.0,
    ("number", "1"): 1,
    ("number", "0"): 0,
    ("integer", "1"): 1,
    ("integer", "0"): 0,
    ("integer", "1.5e3"): 1500,
    ("array", "a"): ["a"],
    ("array", "1.5e3"): ["1.5e3"],
}
ALSO.update({("array", text): [text] for text in ("3.14", "42", "true", "false", "1", "0", "5.0")})


@each_row("json_type", sorted(CONVERSIONS))
@each_row("text", EVERY_TEXT)
def test_text_is_converted_to_the_declared_type(json_type: str, text: str) -> None:
    """Text becomes the declared type if it spells such a value, and is refused otherwise."""
    wanted = CONVERSIONS[json_type].get(text, ALSO.get((json_type, text)))
    result = text if json_type == "string" else wanted
    schema = closed("p", p={"type": json_type})
    if result is None:
        check(schema, {"p": text}, None, [])
        return
    rule = {"array": "json_text_to_array", "object": "json_text_to_object"}.get(
        json_type, f"text_to_{json_type}"
    )
    rule = "scalar_to_array" if result == [text] else rule
    check(schema, {"p": text}, {"p": result}, [] if json_type == "string" else [(rule, "/p")])
