"""Check the laws of a refusal with generated schemas and arguments."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sampling import examples

from mcp_lenient.adapters.fastmcp.tools import as_result
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.errors import SchemaError
from mcp_lenient.refusal.envelope import envelope
from mcp_lenient.refusal.fixes import applied
from mcp_lenient.refusal.violations import violations
from mcp_lenient.rules.policy import Policy
from mcp_lenient.schema.node import FormReader, SchemaTree
from mcp_lenient.types import Outcome, ValidationIssue

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**400),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["\ud800", "a,b", "[1", "null", "é" * 300]),
)
NAMES = st.sampled_from(["a", "ab", "user_name", "name", "api_key", "~/", "é", "\ud83d", ""])
VALUES = st.recursive(
    JUNK,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(NAMES, inner, max_size=4)
        | st.dictionaries(st.integers(0, 3), inner, max_size=2)
    ),
    max_leaves=12,
)
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


@settings(max_examples=examples(150), suppress_health_check=list(HealthCheck))
@given(ROOTS, st.dictionaries(NAMES, VALUES, max_size=5))
def test_laws(schema, sent):
    """For any schema and arguments, nothing raises, sizes are bounded, and each fix removes its violation."""
    try:
        validator = PublishedSchemaValidator(schema)
    except SchemaError:
        return
    issues = validator.issues(sent)
    outcome = Outcome("refused", sent, (), issues)
    found = violations(SchemaTree(schema).reader, outcome, validator, Policy())
    assert found == violations(SchemaTree(schema).reader, outcome, validator, Policy())
    assert bool(found) is bool(issues)
    assert len(found) <= 20
    whole = envelope("tool", FormReader(schema), found)
    assert len(json.dumps(whole, ensure_ascii=False).encode()) < 16_384
    as_result(whole, has_output_schema=False).model_dump_json()
    for violation in found:
        for patch in violation.fixes:
            after = applied(sent, patch)
            left = violations(
                SchemaTree(schema).reader,
                Outcome("refused", after, (), validator.issues(after)),
                validator,
                Policy(),
            )
            assert violation.pointer not in {other.pointer for other in left if other.code == violation.code}


@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(ROOTS, VALUES)
def test_no_secret_is_repeated(schema, value):
    """A planted secret appears nowhere, whatever else is wrong with the call."""
    try:
        validator = PublishedSchemaValidator(schema)
    except SchemaError:
        return
    sent = {
        "api_key": "hunter22",
        "a": {"password": "hunter22", "b": [value]},
        "zz": "hunter22",
        "name": value,
    }
    detail = ValidationIssue(("name",), "value", "hunter22 does not fit")
    outcome = Outcome("refused", sent, (), (*validator.issues(sent), detail))
    found = violations(SchemaTree(schema).reader, outcome, validator, Policy())
    assert "hunter22" not in json.dumps(envelope("tool", FormReader(schema), found))
