"""Test unions of a thousand branches: the first call is fast and gets the right branch."""

from __future__ import annotations

import json
from time import process_time

import pytest
from tables import INTEGER, STRING, array, closed, opened, union

from mcp_lenient import normalize

MANY = 1_000
# This took more than 20 seconds when each branch compiled the whole schema again.
SECONDS = 5


def tagged(count):
    models = {
        f"M{at}": closed("kind", "count", kind={"const": f"k{at}"}, count=INTEGER) for at in range(count)
    }
    references = {name: f"#/$defs/{name}" for name in models}
    either = {
        "oneOf": [{"$ref": each} for each in references.values()],
        "discriminator": {
            "propertyName": "kind",
            "mapping": {f"k{name[1:]}": each for name, each in references.items()},
        },
    }
    return {**opened("x", x=either), "$defs": models}


def untagged(count):
    branches = [closed(f"a{at}", **{f"a{at}": INTEGER, "note": STRING}) for at in range(count)]
    return opened("x", x=union(*branches))


def demanding(count):
    names = [[f"{branch}{at}" for at in range(count)] for branch in "ab"]
    return opened("x", x=union(*(closed(*own, **dict.fromkeys(own, INTEGER)) for own in names)))


@pytest.mark.parametrize(
    ("schema", "sent", "expected"),
    [
        (tagged(MANY), {"kind": "k7", "count": "5"}, {"kind": "k7", "count": 5}),
        (tagged(MANY), {"kind": "none", "count": 5}, None),
        (untagged(MANY), {"a7": "5", "note": "q"}, {"a7": 5, "note": "q"}),
        (untagged(MANY), {"zz": "5"}, None),
        (demanding(8 * MANY), {}, None),
    ],
    ids=["discriminator", "no such tag", "names", "no branch", "all names"],
)
def test_first_call_on_a_large_union_is_fast(schema, sent, expected):
    """The first call on a large union takes seconds at most."""
    started = process_time()
    result = normalize(schema, {"x": sent})
    taken = process_time() - started
    assert result.arguments == {"x": sent if expected is None else expected}
    assert bool(result.violations) is (expected is None)
    assert taken < SECONDS


def test_a_text_is_read_as_the_branch_whose_constant_it_has():
    """Of many branches those with another constant are left at once, though each has the long list."""
    kinds = (opened("kind", kind={"const": f"k{at}"}, rows=array(INTEGER)) for at in range(40))
    sent = {"kind": "k2", "rows": ["5"] * 100}
    result = normalize(opened(x=union(*kinds)), {"x": json.dumps(sent)})
    assert result.arguments == {"x": {"kind": "k2", "rows": [5] * 100}}


def test_unsearchable_union_refuses_a_repaired_call():
    """A repaired call is refused if the search for ignored names takes too long."""
    branches = [opened(**{f"key_{at}": INTEGER}) for at in range(70)]
    schema = opened(n=INTEGER, rows=array(union(*branches)))
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
@pytest.mark.parametrize("made", [tagged, untagged])
def test_long_text_is_not_searched_for_each_branch(made, text):
    """The names and the beginning of a text are looked at in bounded time, however many branches there are."""
    started = process_time()
    assert normalize(made(MANY), {"x": text}).violations
    assert process_time() - started < SECONDS
