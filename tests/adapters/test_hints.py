"""Test how a tool's annotations and the policy say that it is destructive."""

from __future__ import annotations

from typing import Any

import pytest
from calls import call, code, got, lenient, plain
from mcp.types import ToolAnnotations
from tables import each_row

from mcp_lenient import LenientCalls, Policy
from mcp_lenient import lenient as decorate
from mcp_lenient.engine.tool import is_destructive, is_read_only


@each_row(
    ("annotations", "destructive", "read_only"),
    [
        (None, False, False),
        ({}, False, False),
        ({"destructiveHint": True}, True, False),
        (ToolAnnotations(destructiveHint=True), True, False),
        ({"destructive_hint": True}, True, False),
        ({"destructiveHint": None, "destructive_hint": True}, True, False),
        ({"destructiveHint": False}, False, False),
        ({"destructiveHint": "true"}, False, False),
        ({"readOnlyHint": True}, False, True),
        ({"read_only_hint": True}, False, True),
        ({"readOnlyHint": True, "read_only_hint": False}, False, False),
        ({"readOnlyHint": 1}, False, False),
        ({"readOnlyHint": True, "destructiveHint": True}, True, True),
    ],
)
def test_hints_in_both_spellings(annotations: Any, destructive: bool, read_only: bool) -> None:
    """MCP's spelling and that of SDK 2 are read, and only ``true`` counts; of two that differ, the careful one."""
    assert is_destructive(annotations) is destructive
    assert is_read_only(annotations) is read_only


READS: Any = {"readOnlyHint": True}
SCHEMA = {"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "integer"}}}}


@each_row(
    ("destructive", "annotations", "ran"),
    [
        ("if_marked", None, True),
        ("if_marked", {"destructiveHint": False}, True),
        ("if_marked", {"destructiveHint": True}, False),
        ("unless_read_only", None, False),
        ("unless_read_only", {"destructiveHint": False}, False),
        ("unless_read_only", {"readOnlyHint": True}, True),
        ("unless_read_only", {"readOnlyHint": True, "destructiveHint": True}, False),
        (True, {"readOnlyHint": True}, False),
        (False, {"destructiveHint": True}, True),
    ],
)
def test_the_policy_says_which_tools_are_destructive(destructive: Any, annotations: Any, ran: bool) -> None:
    """``if_marked`` follows the hint, ``unless_read_only`` counts all others too, True and False decide alone."""
    calls = LenientCalls(Policy(destructive=destructive, unrepairable="refuse"))
    tool = {"name": "purge", "inputSchema": SCHEMA, "annotations": annotations}
    assert (calls.check(tool, {"ids": 5}).refusal is None) is ran
    assert calls.check(tool, {"ids": "[5]"}).refusal is None


def search(text: str, tags: list[str] | None = None) -> Any:
    """Search."""
    return {"text": text, "tags": tags}


@pytest.mark.parametrize(
    ("annotations", "error"), [(ToolAnnotations(**READS), None), (None, "INVALID_TAGS_TYPE")]
)
@pytest.mark.parametrize("decorated", [True, False], ids=["decorator", "middleware"])
async def test_an_empty_text_for_a_list_is_left_out_only_where_a_tool_reads(
    annotations, error, *, decorated: bool
):
    """``""`` for an optional list runs in a tool with ``readOnlyHint``; without the hint it may mean an empty list."""
    server = plain() if decorated else lenient()
    server.tool(decorate()(search) if decorated else search, annotations=annotations)
    result = await call(server, "search", {"text": "tea", "tags": ""})
    assert (code(result) if result.is_error else None) == error
    if error is None:
        assert got(result) == {"text": "tea", "tags": None}


@each_row(("annotations", "sent"), [(READS, {}), ({}, {"ids": ""}), ({"readOnlyHint": False}, {"ids": ""})])
def test_an_empty_text_is_left_out_before_it_is_sent_to_a_tool_that_reads(
    annotations: Any, sent: Any
) -> None:
    """Where only the listed tool is known, its annotations decide as well."""
    listed = {"name": "find", "inputSchema": SCHEMA, "annotations": annotations}
    assert LenientCalls().check(listed, {"ids": ""}).arguments == sent
