"""Test the engine without a server: `normalize`, and `Normalizer` for many calls with one schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import INTEGER, STRING, array, closed, each_row, enum, nullable

from mcp_lenient import Normalizer, Policy, normalize
from mcp_lenient.errors import SchemaError
from mcp_lenient.portable import publish

SCHEMA: dict[str, Any] = closed("limit", tags=array(STRING), limit=INTEGER)
VALUES = st.sampled_from([1, "1", 1.0, None, ["a"], '["a"]', "a", {"limit": "2"}])
POLICIES = [None, Policy(), Policy.strict(), Policy(mode="observe"), Policy(mode="off")]


@given(
    arguments=st.dictionaries(st.sampled_from(["tags", "limit", "Limit", "args"]), VALUES, max_size=3)
    | st.sampled_from(['{"limit": "3"}', "", "null", "[]"]),
    policy=st.sampled_from(POLICIES),
)
def test_normalizer_equals_normalize(arguments: Any, policy: Policy | None) -> None:
    """A compiled schema gives the same result as `normalize` with each policy."""
    assert Normalizer(SCHEMA, policy)(arguments) == normalize(SCHEMA, arguments, policy)


@pytest.mark.parametrize("made", [dict, MappingProxyType])
def test_normalizer_ignores_later_schema_changes(made: Any) -> None:
    """The schema is compiled when the normalizer is built, so later changes have no effect."""
    limit = {"type": "integer"}
    normalizer = Normalizer(made({"type": "object", "properties": {"limit": limit}}))
    limit["type"] = "string"
    assert normalizer({"limit": "3"}).arguments == {"limit": 3}


@each_row(
    "call", [Normalizer, lambda schema: normalize(schema, {}), lambda schema: publish(schema, "portable")]
)
@each_row("schema", [None, True, 5, "a", []])
def test_schema_must_be_an_object(call: Any, schema: Any) -> None:
    """A schema that is not a JSON object is refused when the normalizer is built."""
    with pytest.raises(SchemaError, match=rf"a schema must be an object, got {re.escape(repr(schema))}"):
        call(schema)


@pytest.mark.parametrize("call", [Normalizer, lambda schema, policy: normalize(schema, {}, policy)])
def test_policy_must_be_a_policy(call: Any) -> None:
    """An object of another type is refused when the normalizer is built."""
    with pytest.raises(TypeError, match="policy must be a Policy, got 'strict'"):
        call(SCHEMA, "strict")


@pytest.mark.parametrize("policy", [None, Policy()])
def test_schema_with_non_json_types_is_accepted(policy: Policy | None) -> None:
    """A schema with types other than plain JSON is compiled anew for each call of `normalize`."""
    schema: Mapping[str, Any] = {**SCHEMA, "x-price": Decimal("1.5"), "title": object()}
    assert normalize(schema, {"limit": "3"}, policy).arguments == {"limit": 3}
    assert Normalizer(schema, policy)({"limit": "3"}).arguments == {"limit": 3}


@pytest.mark.parametrize(
    ("schema", "sent", "read"),
    [
        pytest.param({"type": "integer", "default": ""}, "", "", id="empty-text"),
        pytest.param({"type": "boolean", "default": "false"}, "false", False, id="boolean-as-text"),
        pytest.param({"type": "integer", "default": "5"}, "5", 5, id="number-as-text"),
    ],
)
def test_a_default_that_the_schema_refuses_passes_unless_it_is_the_text_of_a_right_value(schema, sent, read):
    """A server takes its own default, but one that is only written as text is read like any other text."""
    found = normalize({"type": "object", "properties": {"value": schema}}, {"value": sent})
    assert found.arguments == {"value": read}
    assert not found.violations


NULL_TEXT = {**STRING, "default": None}


@pytest.mark.parametrize("policy", [Policy(), Policy(destructive=True)], ids=["default", "destructive"])
@each_row(
    ("schema", "sent", "read"),
    [
        (closed(s=NULL_TEXT), {"s": None}, {}),
        (closed(s=NULL_TEXT, n=INTEGER), {"s": None, "n": 1}, {"n": 1}),
        (closed(o=closed(s=NULL_TEXT, n=INTEGER)), {"o": {"s": None, "n": 1}}, {"o": {"n": 1}}),
        (closed(o=closed(s=NULL_TEXT)), {"o": {"s": None}}, {"o": {}}),
        (closed(s={**enum("none", "a"), "default": None}), {"s": None}, {}),
        (closed(s={**nullable(STRING), "default": None}), {"s": None}, {"s": None}),
        (closed(s={"default": None}), {"s": None}, {"s": None}),
    ],
)
def test_a_null_default_that_the_type_refuses_is_left_out(schema, sent, read, policy):
    """Absent is the same by the schema's own word, in destructive tools too; where null is accepted, it stays."""
    found = normalize(schema, sent, policy)
    assert (found.arguments, found.violations) == (read, ())
    assert {repair.rule for repair in found.repairs} == ({"null_to_absent"} if read != sent else set())
