"""Test keys sent under another name."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tables import (
    BOOLEAN,
    INTEGER,
    STRING,
    array,
    check,
    closed,
    each_row,
    enum,
    nullable,
    opened,
    rows,
)

from mcp_lenient import Normalizer, normalize

STRINGS = array(STRING)


OPEN_ORDER = opened(
    "item", "count", item=STRING, count=INTEGER, dry_run=BOOLEAN, preview=BOOLEAN, tags=array(STRING)
)


@each_row(
    ("schema", "sent", "pointer"),
    rows(__file__, "a_name_of_another_branch_is_no_unknown_name"),
)
def test_a_name_of_another_branch_is_no_unknown_name(schema: Any, sent: Any, pointer: str) -> None:
    """A name that only another branch declares is not lost: what is wrong is its value there."""
    assert [each.pointer for each in normalize(schema, sent).violations] == [pointer]


@pytest.mark.parametrize("count", [17, 20, 200])
def test_rename_case_has_no_limit_on_names(count: int) -> None:
    """All names of a client with another case style are renamed."""
    names = [f"key_{'abcdefghij'[n % 10]}{n}_name" for n in range(count)]
    sent = {name.title().replace("_", ""): "x" for name in names}
    schema = closed(*names, **dict.fromkeys(names, STRING))
    check(schema, sent, dict.fromkeys(names, "x"), [("rename_case", f"/{key}") for key in sent])


def test_renaming_takes_linear_time() -> None:
    """Renaming ten times as many names takes less than 50 times as long."""

    def seconds(count: int) -> float:
        names = [f"key_a{n}_name" for n in range(count)]
        normalizer = Normalizer(closed(**dict.fromkeys(names, INTEGER)))
        sent = {name.upper(): 1 for name in names}
        normalizer(sent)
        times = []
        for _ in range(5):
            started = time.process_time()
            assert normalizer(sent).repairs
            times.append(time.process_time() - started)
        return min(times)

    assert seconds(2_000) < 50 * seconds(200) + 0.05


def test_destructive_tool_corrects_the_case_of_names() -> None:
    """In a destructive tool too, a name in another case style is renamed."""
    sent = {"item": "tea", "count": 5, "dryRun": True}
    expected = {"item": "tea", "count": 5, "dry_run": True}
    check(OPEN_ORDER, sent, expected, [("rename_case", "/dryRun")], destructive=True)


SINGULARS = [
    ({"tags": STRINGS}, {"tag": ["a"]}),
    ({"tags": STRINGS}, {"tag": "a"}),
    ({"tags": nullable(STRINGS)}, {"tag": ["a"]}),
]


@each_row(("names", "sent"), SINGULARS)
def test_the_singular_of_a_list_is_offered_as_it(names: Any, sent: Any) -> None:
    """Moving the value to the list is the first fix, and the name is suggested."""
    ((name, _),) = names.items()
    (violation,) = normalize(closed(**names), sent).violations
    assert violation.did_you_mean == (name,)
    assert violation.fixes[0][0] == {"op": "move", "from": f"/{next(iter(sent))}", "path": f"/{name}"}


@each_row(
    ("sent", "name"),
    [
        ("tgas", "tags"),
        ("contnt", "content"),
        ("max_resluts", "max_results"),
        ("debt", "debit"),
        ("hostel", "hotel"),
    ],
)
def test_slip_is_the_first_suggestion_and_fix(sent: str, name: str) -> None:
    """A name one letter away is the first suggestion, and moving the value there is the first fix."""
    schema = closed(**{name: STRING, "city": STRING, "note": STRING})
    (violation,) = normalize(schema, {sent: "a"}).violations
    assert violation.did_you_mean[0] == name
    assert violation.fixes[0] == ({"op": "move", "from": f"/{sent}", "path": f"/{name}"},)


def test_values_do_not_select_names() -> None:
    """A value never decides which name is meant."""
    check(closed("mode", mode=enum("a", "b")), {"kind": "a"}, None, [])
