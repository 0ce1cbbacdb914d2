"""Test containers sent as text: JSON, JSON5 and Python literals."""

from __future__ import annotations

from typing import Any

import pytest
from decisions import decide
from tables import (
    INTEGER,
    OBJECT,
    STRING,
    array,
    check,
    closed,
    each_row,
)

STRINGS = array(STRING)


@pytest.mark.parametrize("rule", ["json_text_to_array", "json5_text_to_array", "python_text_to_array"])
def test_each_grammar_can_be_disabled(rule: str) -> None:
    """Text in a disabled grammar is refused, even if another grammar could parse it."""
    texts = {"json_text_to_array": '["a"]', "json5_text_to_array": "['a']", "python_text_to_array": "('a',)"}
    schema = closed("p", p=STRINGS)
    check(schema, {"p": texts[rule]}, {"p": ["a"]}, [(rule, "/p")])
    disabled = {"json5_text_to_array", "python_text_to_array"} if rule == "json5_text_to_array" else {rule}
    check(schema, {"p": texts[rule]}, None, [], disable=disabled)


@pytest.mark.parametrize(
    ("kind", "schema", "text", "value"),
    [("array", STRINGS, r"['a\/b']", ["a/b"]), ("object", OBJECT, r"{'a': '\/'}", {"a": "/"})],
)
def test_disabled_grammar_does_not_make_text_ambiguous(kind: str, schema: Any, text: str, value: Any) -> None:
    """Text that two grammars read differently is parsed if one of them is disabled."""
    (other,) = {"array", "object"} - {kind}
    sent = {"p": text}
    check(closed(p=schema), sent, None, [], disable={f"python_text_to_{other}"})
    check(
        closed(p=schema),
        sent,
        {"p": value},
        [(f"json5_text_to_{kind}", "/p")],
        disable={f"python_text_to_{kind}"},
    )


@each_row(
    ("schema", "text"),
    [
        *((STRINGS, '{"a": 1}'), (STRINGS, "{'a': 1}"), (OBJECT, "[1]"), (OBJECT, "[1,]")),
        *((INTEGER, "[1]"), (INTEGER, "{'a': 1}")),
    ],
)
def test_text_of_another_container_stays_text(schema: Any, text: str) -> None:
    """The text is refused as sent, because the parsed value is not valid either."""
    outcome = decide(closed(p=schema), {"p": text})
    assert (outcome.status, outcome.arguments, outcome.repairs) == ("refused", {"p": text}, ())
