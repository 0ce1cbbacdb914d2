"""Test unions of a thousand branches: the first call is fast and gets the right branch."""

from __future__ import annotations

from time import process_time

import pytest

from mcp_lenient import normalize

MANY = 1_000
# This took more than 20 seconds when each branch compiled the whole schema again.
SECONDS = 5


def tagged(count):
    models = {
        f"M{at}": {
            "type": "object",
            "properties": {"kind": {"const": f"k{at}"}, "count": {"type": "integer"}},
            "required": ["kind", "count"],
            "additionalProperties": False,
        }
        for at in range(count)
    }
    references = {name: f"#/$defs/{name}" for name in models}
    union = {
        "oneOf": [{"$ref": each} for each in references.values()],
        "discriminator": {
            "propertyName": "kind",
            "mapping": {f"k{name[1:]}": each for name, each in references.items()},
        },
    }
    return {"type": "object", "properties": {"x": union}, "required": ["x"], "$defs": models}


def untagged(count):
    branches = [
        {
            "type": "object",
            "properties": {f"a{at}": {"type": "integer"}, "note": {"type": "string"}},
            "required": [f"a{at}"],
            "additionalProperties": False,
        }
        for at in range(count)
    ]
    return {"type": "object", "properties": {"x": {"anyOf": branches}}, "required": ["x"]}


@pytest.mark.parametrize(
    ("schema", "sent", "expected"),
    [
        pytest.param(
            tagged(MANY), {"kind": "k7", "count": "5"}, {"kind": "k7", "count": 5}, id="discriminator"
        ),
        pytest.param(
            tagged(MANY),
            {"kind": "none", "count": 5},
            None,
            id="no-such-branch",
        ),
        pytest.param(
            untagged(MANY),
            {"a7": "5", "note": "q"},
            {"a7": 5, "note": "q"},
            id="names",
        ),
        pytest.param(untagged(MANY), {"zz": "5"}, None, id="no-branch"),
    ],
)
def test_first_call_on_a_large_union_is_fast(schema, sent, expected):
    """The first call on a large union takes seconds at most."""
    started = process_time()
    result = normalize(schema, {"x": sent})
    taken = process_time() - started
    assert result.arguments == {"x": sent if expected is None else expected}
    assert bool(result.violations) is (expected is None)
    assert taken < SECONDS


def test_unsearchable_union_refuses_a_repaired_call():
    """A repaired call is refused if the search for ignored names takes too long."""
    branches = [{"type": "object", "properties": {f"key_{at}": {"type": "integer"}}} for at in range(70)]
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "rows": {"type": "array", "items": {"anyOf": branches}}},
    }
    for rows, status in ((1, "repaired"), (400, "refused")):
        sent = {"n": "5", "rows": [{"other": 1}] * rows}
        result = normalize(schema, sent)
        assert bool(result.violations) is (status == "refused")
    assert [(each.code, each.pointer) for each in result.violations] == [("type", "/n")]
    assert result.arguments == sent


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{" + ",".join(f'"name_{at}": 1' for at in range(20_000)) + "}", id="names"),
        pytest.param(" " * 400_000, id="white space"),
    ],
)
@pytest.mark.parametrize("union", [tagged, untagged])
def test_long_text_is_not_searched_for_each_branch(union, text):
    """The names and the beginning of a text are looked at in bounded time, however many branches there are."""
    started = process_time()
    assert normalize(union(MANY), {"x": text}).violations
    assert process_time() - started < SECONDS
