"""The note to the model on a repaired call."""

from __future__ import annotations

from typing import Literal

import pytest
from calls import call, got, lenient, rules

from mcp_lenient import Policy

_CASES = [
    pytest.param(
        {"tags": '["a"]'}, "'tags' was sent as a string and read as an array. Send an array.", id="text"
    ),
    pytest.param(
        {"limit": [5]}, "'limit' was sent as an array and read as an integer. Send an integer.", id="list"
    ),
    pytest.param({"limit": None}, "'limit' was sent as null and left out. Leave it out.", id="absent"),
    pytest.param(
        {"maxResults": 5},
        "'maxResults' was read in another form. Send it as the schema has it.",
        id="name",
    ),
]


def search(
    limit: int = 1, max_results: int = 1, tags: list[str] | None = None, level: Literal["high", "low"] = "low"
) -> str:
    """Search."""
    return f"{limit} {max_results} {tags} {level}"


@pytest.mark.parametrize(("sent", "said"), _CASES)
async def test_a_repaired_result_names_its_repairs(sent, said):
    """One more text block says which argument was repaired and how to send it; the rest stays unchanged."""
    result = await call(lenient(search, policy=Policy(tell_model=True)), "search", sent)
    assert [block.text for block in result.content] == [got(result), f"Note: {said}"]
    assert rules(result)


async def test_many_repairs_are_counted():
    """The note describes three repairs and counts the others."""
    sent = {"limit": [1], "max_results": [2], "tags": '["a"]', "level": "LOW"}
    result = await call(lenient(search, policy=Policy(tell_model=True)), "search", sent)
    assert result.content[-1].text.endswith(" 1 more value was corrected.")


@pytest.mark.parametrize(
    ("policy", "limit"),
    [(Policy(), [1]), (Policy(tell_model=True), 1), (Policy(tell_model=True, mode="observe"), 1)],
)
async def test_no_note_without_the_option(policy, limit):
    """By default, and if nothing is repaired, the content is the tool's own."""
    result = await call(lenient(search, policy=policy), "search", {"limit": limit})
    assert len(result.content) == 1
