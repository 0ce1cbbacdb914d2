"""The two matrices this project was born from."""

from __future__ import annotations

from typing import Any

import pytest
from tables import (
    STRING,
    array,
    check,
    closed,
    nullable,
)

STRINGS = array(STRING)
TAGS = closed("content", content=STRING, tags=nullable(STRINGS))


@pytest.mark.parametrize("tags", [None, [], ["tag1"], ["tag1", "tag2", "tag3"]], ids=repr)
def test_right_tags_pass(tags: Any) -> None:
    """The matrix this project was born from: what is right passes unchanged."""
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
def test_tags_that_are_nearly_right_are_mended(tags: Any, rule: str) -> None:
    """The matrix this project was born from: one tag, or a list as text, becomes the list."""
    check(TAGS, {"content": "a", "tags": tags}, {"content": "a", "tags": ["single_tag"]}, [(rule, "/tags")])


@pytest.mark.parametrize(
    "tags",
    [123, 12.34, True, {"key": "value"}, ["tag1", 123, "tag2"], [None, "tag1"], '["a", 1]', "[1", ""],
    ids=repr,
)
def test_wrong_tags_are_refused(tags: Any) -> None:
    """The matrix this project was born from: everything else is refused."""
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


@pytest.mark.parametrize("json_type", sorted(CONVERSIONS))
@pytest.mark.parametrize("text", EVERY_TEXT)
def test_conversions_by_declared_type(json_type: str, text: str) -> None:
    """The second root of the project: a text becomes the declared type where it spells one, and is refused elsewhere."""
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


@pytest.mark.parametrize("text", EVERY_TEXT)
def test_a_parameter_without_a_type_is_left_alone(text: str) -> None:
    """Where every JSON type may come, a text stays a text."""
    check(closed("p", p={}), {"p": text}, {"p": text}, [])
    check(closed("p", p={"description": "anything"}), {"p": text}, {"p": text}, [])
