"""Test enum values in another spelling."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest
from tables import (
    BOOLEAN,
    STRING,
    array,
    check,
    closed,
    enum,
    keeps,
    nullable,
    refuses,
    repairs_to,
    table,
    union,
)

from mcp_lenient import normalize

MODES = enum("fast", "slow_mode", "AUTO")


@table(
    repairs_to("upper", MODES, "FAST", "fast", "fold_enum"),
    repairs_to("lower", MODES, "auto", "AUTO", "fold_enum"),
    repairs_to("space", MODES, " fast ", "fast", "fold_enum"),
    repairs_to("quotes", MODES, '"fast"', "fast", "fold_enum"),
    repairs_to("hyphen", MODES, "slow-mode", "slow_mode", "fold_enum"),
    repairs_to("blank", MODES, "Slow Mode", "slow_mode", "fold_enum"),
    repairs_to("number text", enum(1, 2), "2", 2, "fold_enum"),
    repairs_to("typed", {**STRING, "enum": ["asc", "desc"]}, "ASC", "asc", "fold_enum"),
    repairs_to("in a list", array(MODES), ["FAST"], ["fast"], "fold_enum /p/0"),
    repairs_to("nullable", nullable(MODES), "Fast", "fast", "fold_enum"),
    repairs_to("with null", enum("asc", "desc", None), "ASC", "asc", "fold_enum"),
    refuses("beginning", MODES, "fas"),
    refuses("slip", MODES, "fsat"),
    refuses("meaning", MODES, "quick"),
    refuses("joined words", MODES, "slowmode"),
    refuses("two fit", enum("ab", "AB", "c"), "Ab"),
    refuses("minute or month", enum("1m", "1h"), "1M"),
    refuses("month or minute", enum("1M", "1w"), "1m"),
    refuses("one letter", enum("m", "h"), "M"),
    refuses("lone const", {"const": "DELETE"}, "delete"),
    refuses("lone enum value", enum("DELETE"), "delete"),
    refuses("lone enum value, typed", {**STRING, "enum": ["DELETE"]}, "delete"),
    refuses("lone text beside null", enum("DELETE", None), "delete"),
    refuses("lone text beside the empty text", enum("DELETE", ""), "delete"),
    refuses("lone text beside a list and an object", enum("DELETE", ["a"], {"a": 1}), "delete"),
    repairs_to(
        "beside a list and an object", enum("asc", "desc", ["a"], {"a": 1}), "ASC", "asc", "fold_enum"
    ),
    refuses("number beside its text in another case", enum("1", 1), 1.5),
    refuses("hyphen beside a digit", enum("v1_0", "v2_0"), "v1-0"),
    repairs_to("number of a text member", enum("1", "2"), 1, "1", "number_to_text"),
    refuses("number of the only text member", enum("1"), 1),
    refuses("number of a text member spelt otherwise", enum("1.0", "2.0"), 1),
    refuses("empty", MODES, ""),
    refuses("null", MODES, None),
    repairs_to("across types", union(BOOLEAN, enum("auto", "never")), "AUTO", "auto", "fold_enum"),
    keeps("both spellings are members", enum("ab", "AB"), "AB"),
    keeps("a text and its number", enum("1", 1), "1"),
    refuses("number of a text member beside a number", enum("1", 2), 1),
)
def test_fold_enum_finds_the_only_match(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """The only enum value that differs just in spelling is found."""
    check(schema, sent, expected, repairs)


MANY = 3_000


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        pytest.param(
            array(enum(*(f"Value_{at}" for at in range(MANY)))), [f"value {at}" for at in range(MANY)]
        ),
        pytest.param(array(enum(*(f"v{at}" for at in range(MANY)))), [f"w{at}" for at in range(MANY)]),
        pytest.param(array(array(enum(*(f"v{at}" for at in range(MANY))))), ["v1, v2"] * MANY),
        pytest.param(array(closed(p=enum(*(f"v{at}" for at in range(MANY))))), [{"p": None}] * MANY),
    ],
    ids=["other-spelling", "other-values", "lists-in-texts", "nulls"],
)
def test_many_values_of_a_large_enum_are_read_fast(schema, sent):
    """A value costs as much beside thousands of allowed values as beside a few."""
    started = process_time()
    normalize({"type": "object", "properties": {"p": schema}, "additionalProperties": False}, {"p": sent})
    assert process_time() - started < 1
