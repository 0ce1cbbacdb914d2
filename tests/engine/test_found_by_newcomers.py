"""Refusals that once sent a caller astray."""

from __future__ import annotations

import pytest

from mcp_lenient import Policy, normalize

_SCHEMA = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "query": {"type": "string"},
        "name": {"type": "string"},
        "filter": {
            "anyOf": [
                {"type": "object", "additionalProperties": {"type": "integer"}},
                {"type": "array", "items": {"type": "string"}},
            ]
        },
    },
    "required": ["name"],
    "additionalProperties": False,
}
_POLICY = Policy(aliases={"query": ("q",)})


def _told(arguments):
    return [
        (violation.code, violation.message) for violation in normalize(_SCHEMA, arguments, _POLICY).violations
    ]


@pytest.mark.parametrize("sent", ["500", "0", "500.0"])
def test_a_number_in_text_beyond_a_limit_is_told_its_limit(sent):
    """Where the number itself is wrong, the quotes around it are not what is told."""
    ((code, message),) = _told({"name": "a", "limit": sent})
    assert code == "range"
    assert "quotes" not in message


def test_text_that_is_no_number_is_told_what_a_number_looks_like():
    """A hint that is followed to the letter must give a call that runs."""
    ((code, message),) = _told({"name": "a", "limit": "ten"})
    assert (code, "in digits, like 1." in message) == ("type", True)


def test_an_alias_beside_its_own_parameter_is_told_whom_it_stands_for():
    """Two keys for one parameter are refused, and the one to keep is named."""
    ((code, message),) = _told({"name": "a", "q": "x", "query": "y"})
    assert code == "unknown"
    assert "stands for 'query'" in message


def test_a_name_is_not_meant_by_what_its_value_cannot_be():
    """An object under an unknown name is not proposed for a string."""
    assert not any(
        "'body' is meant" in message or "Did you mean" in message for _, message in _told({"body": {"a": 1}})
    )


def test_a_wrapper_in_a_union_of_objects_and_lists_has_two_readings():
    """What may be a map or a wrapped list is refused, not taken for one of them."""
    assert _told({"name": "a", "filter": {"item": ["42"]}})


@pytest.mark.parametrize("sent", ["", "null"])
def test_a_text_that_says_nothing_is_no_arguments(sent):
    """Whole arguments that came as an empty text are none."""
    assert dict(normalize({"type": "object", "properties": {}}, sent).arguments) == {}
