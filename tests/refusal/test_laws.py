"""Check the laws of a refusal with generated schemas and arguments."""

from __future__ import annotations

import json

import jsonpatch
from decisions import contract
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import WEIRD, examples

from mcp_lenient import Normalizer

NAMES = st.sampled_from(["a", "ab", "user_name", "name", "api_key", "~/", "é", "\ud83d", ""])
LEAVES = st.sampled_from(
    [
        {"type": "string", "maxLength": 2},
        {"type": "integer", "minimum": 3},
        {"type": ["number", "null"]},
        {"type": "boolean"},
        {"enum": ["alpha", "beta", None, 3]},
        {"const": "only"},
        {"$ref": "#/$defs/Node"},
        {"$ref": "#/$defs/Loop"},
        {"type": "string", "pattern": "^(?=x)x"},
        {"type": "string", "format": "date", "writeOnly": True},
        {},
        True,
        False,
    ]
)
DEFS = {
    "Node": {"type": "object", "properties": {"a": {"$ref": "#/$defs/Node"}, "name": {"type": "string"}}},
    "Loop": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Loop"}}, {"$ref": "#/$defs/Node"}]},
}


def _objects(inner):
    return st.fixed_dictionaries(
        {
            "type": st.just("object"),
            "properties": st.dictionaries(NAMES.filter(str.isascii), inner, max_size=4),
        },
        optional={
            "required": st.lists(NAMES.filter(str.isascii), max_size=2, unique=True),
            "additionalProperties": st.sampled_from([True, False, {"type": "integer"}]),
        },
    )


SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: (
        _objects(inner)
        | st.fixed_dictionaries({"type": st.just("array"), "items": inner, "maxItems": st.just(2)})
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
        | st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)})
    ),
    max_leaves=8,
)
ROOTS = _objects(SCHEMAS).map(lambda root: {**root, "$defs": DEFS})


def _told(violations):
    """Return everything that violations say to a caller."""
    return [
        {
            name: getattr(each, name)
            for name in ("pointer", "message", "received_value", "did_you_mean", "fixes")
        }
        for each in violations
    ]


@settings(max_examples=examples(150), suppress_health_check=list(HealthCheck))
@given(ROOTS, st.dictionaries(NAMES, WEIRD, max_size=5))
def test_laws(schema, sent):
    """For any schema and arguments, nothing raises, sizes are bounded, and each fix removes its violation."""
    asked = contract(schema)
    decision = asked.decide(sent)
    found = decision.violations
    assert found == asked.decide(sent).violations
    assert bool(found) is (decision.status == "refused")
    assert len(found) <= 20
    assert len(json.dumps(_told(found), default=str).encode()) < 65_536
    for violation in found:
        for patch in violation.fixes:
            operations = json.loads(json.dumps([dict(each) for each in patch]))
            left = asked.decide(jsonpatch.apply_patch(sent, operations)).violations
            assert violation.pointer not in {other.pointer for other in left if other.code == violation.code}


@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(ROOTS, WEIRD)
def test_no_secret_is_repeated(schema, value):
    """A planted secret appears nowhere, whatever else is wrong with the call."""
    sent = {
        "api_key": "hunter22",
        "a": {"password": "hunter22", "b": [value]},
        "zz": "hunter22",
        "name": value,
    }
    assert "hunter22" not in json.dumps(_told(Normalizer(schema)(sent).violations), default=str)
