"""Test declared aliases and keys that clients add."""

from __future__ import annotations

import pytest
from tables import (
    INTEGER,
    STRING,
    check,
    closed,
    opened,
)

NAMED = closed("name", name=STRING)


def test_dropped_key_does_not_block_its_name() -> None:
    """Another key may be renamed to the name that a dropped key resembles."""
    check(
        closed(max_results=INTEGER),
        {"maxResults": 5, "maxresults": 6},
        {"max_results": 5},
        [("rename_case", "/maxResults"), ("drop_injected", "/maxresults")],
        drop={"maxresults"},
    )


@pytest.mark.parametrize("key", ["requestId", "trace_id"])
def test_policy_drop_adds_keys(key: str) -> None:
    """A key in ``Policy.drop`` is dropped if it is unknown, and kept if it is declared."""
    check(NAMED, {"name": "a", key: "r"}, {"name": "a"}, [("drop_injected", f"/{key}")], drop={key})
    check(closed(**{key: STRING}), {key: "r"}, {key: "r"}, [], drop={key})
    check(opened(), {key: "r"}, {key: "r"}, [], drop={key})
