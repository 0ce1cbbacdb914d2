"""Test which unknown keys count as injected by clients."""

from __future__ import annotations

import time

import pytest
from decisions import decide
from hypothesis import given
from hypothesis import strategies as st
from tables import INTEGER, closed, each_row

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
KEY = ANY_TEXT | st.sampled_from(
    ["toolCallId", "action", "sessionId", "chatInput", "_meta", "_id", "__x", "_user_name"]
)
KEYS = st.lists(KEY, max_size=6, unique=True)


def injected_keys(unknown, declared, also=(), *, destructive=False):
    """Return the undeclared keys that are dropped from a call."""
    schema = closed(**dict.fromkeys(declared, INTEGER))
    sent = dict.fromkeys(unknown, 5)
    off = {"rename_case", "unwrap_arguments", "wrap_arguments", "nest_arguments"}
    decision = decide(schema, sent, drop=also, disable=off, destructive=destructive)
    return frozenset(sent.keys() - decision.arguments.keys())


@each_row(
    ("unknown", "declared", "dropped"),
    [
        pytest.param(["toolCallId"], [], ["toolCallId"], id="n8n"),
        pytest.param(
            ["sessionId", "action", "chatInput", "toolCallId"],
            ["query"],
            ["sessionId", "action", "chatInput", "toolCallId"],
            id="n8n-all",
        ),
        pytest.param(["sessionId", "action", "chatInput"], ["query"], [], id="n8n-without-call-id"),
        pytest.param(["toolCallId", "sessionId"], ["session_id"], ["toolCallId", "sessionId"], id="declared"),
        pytest.param(["tool_call_id", "action"], [], [], id="other-spelling"),
        pytest.param(
            ["wait_for_previous", "task_progress"],
            ["query"],
            ["wait_for_previous", "task_progress"],
            id="alone",
        ),
        pytest.param(["wait_for_previous", "action"], ["query"], ["wait_for_previous"], id="beside-action"),
        pytest.param(["waitForPreviousTools"], ["query"], ["waitForPreviousTools"], id="windsurf"),
        pytest.param(["_meta"], ["query"], ["_meta"], id="meta"),
        pytest.param(["_meta"], ["meta"], [], id="meta-declared"),
        pytest.param(["task_progress"], ["taskprogress"], [], id="declared-in-another-style"),
        pytest.param(["_META", "__meta", "_metadata", "meta_"], ["x"], [], id="other-spellings-of-meta"),
        pytest.param(["_auth_auth_type", "_as_extra"], ["query"], [], id="without-a-source"),
        pytest.param(["_lastUpdated", "_readonly", "_gt", "_until", "_namespace"], ["x"], [], id="asking"),
        pytest.param(["_id", "_limit", "_filter", "_dry_run", "_confirm"], ["x"], [], id="restraining"),
        pytest.param(["zz", "reason"], ["x"], [], id="any-other-key"),
        pytest.param([1, None, ("_meta",)], ["x"], [], id="keys-that-are-not-strings"),
    ],
)
def test_only_known_injected_keys_are_dropped(unknown, declared, dropped):
    """Only keys of known clients are dropped, unless a declared name may be meant."""
    assert injected_keys(unknown, declared) == frozenset(dropped)


@pytest.mark.parametrize(
    ("unknown", "also", "dropped"),
    [
        pytest.param(["toolCallId", "action"], (), ["toolCallId"], id="call-id"),
        pytest.param(["wait_for_previous", "task_progress", "_meta"], (), [], id="others-stay"),
        pytest.param(["reason"], ("reason",), ["reason"], id="operator-list-too"),
    ],
)
def test_destructive_tools_drop_only_the_call_id(unknown, also, dropped):
    """In a destructive tool, only the call id and the operator's keys are dropped."""
    assert injected_keys(unknown, ["x"], also, destructive=True) == frozenset(dropped)


def test_operator_keys_are_dropped():
    """A listed key is dropped only in its exact spelling."""
    assert injected_keys(["reason", "Reason", "_id"], ["x"], {"reason", "_id"}) == {"reason", "_id"}


@given(KEYS, KEYS, KEYS, st.booleans())
def test_only_unknown_keys_are_dropped(unknown, declared, also, destructive):
    """Only sent keys are dropped, and fewer of them in destructive tools."""
    undeclared = [key for key in unknown if key not in declared]
    also = [key for key in also if key]
    dropped = injected_keys(undeclared, declared, also, destructive=destructive)
    assert dropped <= set(undeclared)
    assert injected_keys(undeclared, declared, also, destructive=True) <= dropped


@given(KEYS, KEYS, KEY)
def test_declaring_more_names_drops_no_more_keys(unknown, declared, another):
    """Another declared name never causes a key to be dropped."""
    undeclared = [key for key in unknown if key not in (*declared, another)]
    assert injected_keys(undeclared, [*declared, another]) <= injected_keys(undeclared, declared)


def test_many_keys_take_linear_time():
    """Twenty thousand undeclared keys cost no more than a scan."""
    started = time.process_time()
    keys, names = [f"_key{n}" for n in range(20_000)], [f"name_{n}" for n in range(100)]
    assert injected_keys(keys, names) == frozenset()
    assert time.process_time() - started < 4
