"""Which keys a client put beside the caller's own, and which only look so."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lenient.rules.injected import injected_keys

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
KEY = ANY_TEXT | st.sampled_from(
    ["toolCallId", "action", "sessionId", "chatInput", "_meta", "_id", "__x", "_user_name"]
)
KEYS = st.lists(KEY, max_size=6, unique=True)


@pytest.mark.parametrize(
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
        pytest.param(
            ["toolCallId", "sessionId"], ["session_id"], ["toolCallId", "sessionId"], id="never-renamed"
        ),
        pytest.param(["tool_call_id", "action"], [], [], id="other-spelling"),
        pytest.param(
            ["wait_for_previous", "task_progress"],
            ["query"],
            ["wait_for_previous", "task_progress"],
            id="alone",
        ),
        pytest.param(
            ["wait_for_previous", "action"], ["query"], ["wait_for_previous"], id="not-beside-these"
        ),
        pytest.param(["_meta"], ["query"], ["_meta"], id="meta"),
        pytest.param(["_meta"], ["meta"], [], id="meta-declared"),
        pytest.param(["_auth_auth_type"], ["query"], ["_auth_auth_type"], id="auth"),
        pytest.param(["_auth_auth_type"], ["auth_type"], [], id="auth-declared"),
        pytest.param(["_as_extra"], ["query"], ["_as_extra"], id="extra"),
        pytest.param(["__trace"], ["query"], ["__trace"], id="two-underscores"),
        pytest.param(["_user_name"], ["name"], [], id="declared-is-a-word-of-it"),
        pytest.param(["_name"], ["user_name"], [], id="it-is-a-word-of-declared"),
        pytest.param(["_userName"], ["user_name"], [], id="case-style"),
        pytest.param(["_username"], ["user_name"], [], id="run-together"),
        pytest.param(["_tag"], ["tags"], [], id="plural"),
        pytest.param(["_flies"], ["fly"], [], id="irregular-stem"),
        pytest.param(["_qurey"], ["query"], [], id="slip"),
        pytest.param(["_user_type"], ["user_name"], ["_user_type"], id="one-shared-word-of-two"),
        pytest.param(["_image"], ["age"], ["_image"], id="contained-but-not-as-a-word"),
        pytest.param(["_id", "_limit", "_filter", "_query", "_sort"], ["x"], [], id="never"),
        pytest.param(["_ID", "__id", "_filters", "_Sort"], ["x"], [], id="never-in-other-spelling"),
        pytest.param(["_page", "_offset", "_count", "_where"], ["x"], [], id="narrowing-the-answer"),
        pytest.param(["_dry_run", "_dryRun", "_confirm", "_force"], ["x"], [], id="restraining-the-call"),
        pytest.param(["_", "__", "_1", "_-x"], ["x"], [], id="no-name-behind"),
        pytest.param(["_meta"], ["_"], ["_meta"], id="declared-without-a-word"),
        pytest.param(["query_", "meta"], ["x"], [], id="no-underscore-in-front"),
        pytest.param(["zz", "reason"], ["x"], [], id="any-other-key"),
        pytest.param([f"_k{'a' * n}" for n in range(20)], ["x"], [], id="more-than-a-client-adds"),
        pytest.param(
            [f"_k{'a' * n}" for n in range(16)],
            ["x"],
            [f"_k{'a' * n}" for n in range(16)],
            id="as-many-as-a-client-adds",
        ),
        pytest.param([f"_k{'a' * n}" for n in range(17)], ["x"], [], id="one-more"),
        pytest.param(["_" + "a" * 100], ["x"], ["_" + "a" * 100], id="longest"),
        pytest.param(["_" + "a" * 101], ["x"], [], id="too-long"),
        pytest.param(["_os"], ["o"], ["_os"], id="two-letters-are-no-plural"),
        pytest.param(["_ids"], ["id"], [], id="three-letters-are"),
        pytest.param(["_isDraft", "_if_match", "_skip_cache"], ["x"], [], id="holding-a-restraining-word"),
        pytest.param(["_offSet"], ["x"], [], id="narrowing-in-two-words"),
        pytest.param(["_fly"], ["flies"], [], id="irregular-plural"),
        pytest.param(["_k8s"], ["x"], ["_k8s"], id="a-digit-behind-the-first-letter"),
        pytest.param(["_a_b"], ["x_a_b_y"], [], id="words-inside-of-declared"),
        pytest.param(["_a_b"], ["a_x_b"], ["_a_b"], id="words-apart-in-declared"),
        pytest.param([1, None, ("_meta",)], ["x"], [], id="keys-that-are-no-text"),
    ],
)
def test_injected_keys(unknown, declared, dropped):
    """Only keys that a known client adds are dropped, and none that may mean something declared."""
    assert injected_keys(unknown, declared) == frozenset(dropped)


@pytest.mark.parametrize(
    ("unknown", "also", "dropped"),
    [
        pytest.param(["toolCallId", "action"], (), ["toolCallId", "action"], id="call-id"),
        pytest.param(["wait_for_previous", "task_progress", "_meta"], (), [], id="others-stay"),
        pytest.param(["reason"], ("reason",), [], id="operator-list-too"),
    ],
)
def test_destructive_tools(unknown, also, dropped):
    """For a tool that destroys only the call id goes, and what comes with it."""
    assert injected_keys(unknown, ["x"], also, destructive=True) == frozenset(dropped)


def test_the_operator_may_list_more():
    """A listed key is dropped as it is spelt, whatever else is known of it."""
    assert injected_keys(["reason", "Reason", "_id"], ["x"], {"reason", "_id"}) == {"reason", "_id"}


@given(KEYS, KEYS, KEYS, st.booleans())
def test_only_unknown_keys_are_dropped(unknown, declared, also, destructive):
    """Whatever comes, only keys that came are dropped, and fewer of them where the tool destroys."""
    undeclared = [key for key in unknown if key not in declared]
    dropped = injected_keys(undeclared, declared, also, destructive=destructive)
    assert dropped <= set(undeclared)
    assert injected_keys(undeclared, declared, also, destructive=True) <= dropped


@given(KEYS, KEYS, KEY)
def test_declaring_more_drops_no_more(unknown, declared, another):
    """A further declared name never makes a key injected that was not."""
    undeclared = [key for key in unknown if key not in (*declared, another)]
    assert injected_keys(undeclared, [*declared, another]) <= injected_keys(undeclared, declared)


def test_many_keys_take_linear_time():
    """A hundred thousand undeclared keys cost no more than looking at them."""
    started = time.monotonic()
    assert (
        injected_keys([f"_key{n}" for n in range(100_000)], [f"name_{n}" for n in range(100)]) == frozenset()
    )
    assert time.monotonic() - started < 10
