"""Test keys sent under another name."""

from __future__ import annotations

from typing import Any

import pytest
from tables import (
    STRING,
    array,
    check,
    closed,
    each_row,
    enum,
    nullable,
)

from mcp_lenient import normalize

STRINGS = array(STRING)


@each_row(("schema", "sent", "pointer"))
def test_a_name_of_another_branch_is_no_unknown_name(schema: Any, sent: Any, pointer: str) -> None:
    """A name that only another branch declares is not lost: what is wrong is its value there."""
    assert [each.pointer for each in normalize(schema, sent).violations] == [pointer]


@pytest.mark.parametrize("count", [17, 200])
def test_rename_case_has_no_limit_on_names(count: int) -> None:
    """All names of a client with another case style are renamed."""
    names = [f"key_{'abcdefghij'[n % 10]}{n}_name" for n in range(count)]
    sent = {name.title().replace("_", ""): "x" for name in names}
    schema = closed(*names, **dict.fromkeys(names, STRING))
    check(schema, sent, dict.fromkeys(names, "x"), [("rename_case", f"/{key}") for key in sent])


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


def test_values_do_not_select_names() -> None:
    """A value never decides which name is meant."""
    check(closed("mode", mode=enum("a", "b")), {"kind": "a"}, None, [])
