"""Test refusals that once misled a caller."""

from __future__ import annotations

import pytest
from tables import INTEGER, OBJECT, STRING, array, closed, union

from mcp_lenient import Policy, normalize

_SCHEMA = closed(
    "name",
    limit={**INTEGER, "minimum": 1, "maximum": 100},
    query=STRING,
    name=STRING,
    filter=union({**OBJECT, "additionalProperties": INTEGER}, array(STRING)),
)
_POLICY = Policy(aliases={"query": ("q",)})


def _reported(arguments):
    return [
        (violation.code, violation.message) for violation in normalize(_SCHEMA, arguments, _POLICY).violations
    ]


@pytest.mark.parametrize("sent", ["500", "0", "500.0"])
def test_quoted_number_out_of_range_reports_the_limit(sent):
    """If the number itself is wrong, the message reports its limit and not the quotes."""
    ((code, message),) = _reported({"name": "a", "limit": sent})
    assert code == "range"
    assert "quotes" not in message


def test_hint_for_a_number_gives_a_valid_call():
    """Following the hint literally gives a call that runs."""
    ((code, message),) = _reported({"name": "a", "limit": "ten"})
    assert (code, "Leave it out only if the tool then does what you mean." in message) == ("type", True)


def test_alias_beside_its_parameter_is_unknown():
    """Two keys for one parameter are refused, and the message names the parameters."""
    ((code, message),) = _reported({"name": "a", "q": "x", "query": "y"})
    assert code == "unknown"
    assert message.startswith("unknown parameter 'q'.")
    assert "'query'" in message


def test_suggested_name_must_accept_the_value():
    """An object under an unknown name is not suggested for a string."""
    assert not any(
        "'body' is meant" in message or "Did you mean" in message
        for _, message in _reported({"body": {"a": 1}})
    )


def test_wrapper_in_a_union_of_objects_and_lists_is_refused():
    """A value that may be a map or a wrapped list is refused."""
    assert _reported({"name": "a", "filter": {"item": ["42"]}})


@pytest.mark.parametrize("sent", ["", "null"])
def test_empty_text_as_arguments_means_no_arguments(sent):
    """Arguments sent as empty or null text become an empty object."""
    assert dict(normalize({"type": "object", "properties": {}}, sent).arguments) == {}
