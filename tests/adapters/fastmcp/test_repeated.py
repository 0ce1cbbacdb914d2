"""Test that a refused call that is sent again unchanged gets another answer."""

from __future__ import annotations

import json
import time
from typing import Any

from calls import lenient, text
from fastmcp import Client
from fastmcp_versions import in_era
from tables import each_row
from typing_extensions import TypedDict

from mcp_lenient.adapters.repeats import Caller, Repeats, caller_of

_TEXT = {"query": "tea", "tags": "a, b"}
_A = Caller("a", "a")


class Point(TypedDict):
    """An object with required names."""

    x: int
    y: int


def draw(point: Point) -> str:
    """Draw a point."""
    return f"{point}"


def search(query: str, tags: list[str], password: str = "", limit: int = 5) -> str:
    """Search."""
    return f"{query} {tags} {password} {limit}"


async def answers(*calls: dict[str, Any], tool: str = "search") -> list[tuple[str, int]]:
    """Return what each of several calls in one session was answered."""
    found = []
    async with Client(lenient(draw, search), **in_era("legacy")) as client:
        for arguments in calls:
            result = await client.call_tool_mcp(tool, arguments)
            answer = json.loads(text(result)) if result.is_error else {"message": text(result), "details": {}}
            found.append((answer["message"], answer["details"].get("repeated", 1)))
    return found


async def test_each_answer_to_the_same_call_is_another_one():
    """The second answer has a corrected call, the third says how often the call was refused, and what else to do."""
    first, second, third, fourth = await answers(*[_TEXT] * 4)
    assert first[1] == 1
    assert first[0].startswith("Invalid arguments for tool 'search':")
    assert second[1] == 2
    assert second[0].startswith("'search' refused the same call before. 'tags' must be an array of strings")
    assert second[0].endswith(
        'Send the one that is meant: {"query": "tea", "tags": ["a", "b"]} or {"query": "tea", "tags": ["a, b"]}'
    )
    assert len(second[0].partition("Send the")[0]) < len(first[0])
    assert third[0].startswith("This exact call of 'search' was refused 3 times, unchanged.")
    assert third[0].endswith("change it, ask the user for what is missing, or do without this tool.")
    assert fourth[1] == 4


async def test_a_call_of_an_unknown_tool_is_counted():
    """An unknown tool that is called again gets another answer, which names the tools that there are."""
    (first, _), (second, twice), (third, thrice) = await answers(*[{}] * 3, tool="serch")
    assert first.startswith("Unknown tool 'serch'.")
    assert second == (
        "Unknown tool 'serch'. Nothing was run. This exact call of 'serch' was refused 2 times, unchanged. "
        "Call 'search', or do without it."
    )
    assert "refused 3 times" in third
    assert (twice, thrice) == (2, 3)


async def test_another_call_and_a_call_that_runs_begin_anew():
    """Only the same arguments count, and only until the tool runs, also with a repaired call."""
    runs, repaired = {"query": "x", "tags": ["a"]}, {"query": "x", "tags": '["a"]'}
    found = await answers(_TEXT, {}, _TEXT, runs, _TEXT, repaired, _TEXT)
    assert [times for _, times in found] == [1, 1, 2, 1, 1, 1, 1]


async def test_a_call_with_one_correction_is_written_whole():
    """Where only one correction is likely, the second answer has the call to send."""
    sent = {"qeury": "tea", "tags": ["a"]}
    _, (second, _) = await answers(sent, sent)
    assert second.endswith('Send this instead: {"tags": ["a"], "query": "tea"}')


async def test_an_object_sent_as_text_is_answered_again():
    """A call in which a fix cannot be applied as it was sent has an answer each time."""
    found = await answers(*[{"point": '{"x": 1}', "y": 2}] * 3, tool="draw")
    assert [times for _, times in found] == [1, 2, 3]


async def test_no_fault_is_forgotten():
    """Without a corrected call, the second answer names every fault again, and that a missing value may be cut off."""
    for sent, names in (
        ({}, ["query", "tags"]),
        ({"query": "tea", "limit": "many", "tags": {}}, ["limit", "tags"]),
    ):
        _, (second, _) = await answers(sent, sent)
        assert all(f"'{name}' {'must be' if sent else 'is required'}" in second for name in names)
        assert sent or second.endswith("an output limit may have cut it off: send less at once.")


async def test_a_corrected_call_repeats_no_secret_and_no_long_value():
    """Long and secret values are replaced by their names."""
    sent = {"query": "x" * 200, "tags": "a, b", "password": "hunter2"}
    _, (second, _) = await answers(sent, sent)
    assert second.endswith(
        'Send the one that is meant: {"query": "<query>", "tags": ["a", "b"], "password": "<password>"} or '
        '{"query": "<query>", "tags": ["a, b"], "password": "<password>"} '
        'Put the real values in place of "<query>" and "<password>".'
    )


@each_row(
    ("who", "key"),
    [
        ({"transport": "stdio", "session_id": "a"}, "stdio"),
        ({"transport": "streamable-http", "session_id": "a"}, "session_id 'a'"),
        ({"transport": "streamable-http", "subject": "a", "session_id": "b"}, "subject 'a'"),
        ({"transport": "streamable-http", "subject": "a", "near": "c"}, "subject 'a'"),
        ({"transport": None}, None),
    ],
)
def test_a_caller_is_known_by_its_session_or_subject(who, key):
    """A session with the name of a subject is another caller; without anything nothing is counted."""
    assert caller_of(who) == (None if key is None else Caller(key, key))


def test_a_session_id_that_anyone_can_choose_makes_no_caller_known():
    """Where no session identifies a caller, its id does not count."""
    who = {"transport": "streamable-http", "session_id": "a", "near": "b", "line": "c"}
    assert caller_of(who) == Caller("b", "c", is_identified=False)


def test_many_refusals_are_bounded():
    """What is remembered of 1,000 callers is bounded, and costs a few microseconds a refusal."""
    repeats, started = Repeats(), time.process_time()
    for at in range(30_000):
        caller = f"session {at % 20_000}"
        repeats.count(Caller(caller, caller), "search", "MISSING_QUERY", {"n": at % 7})
    seconds = time.process_time() - started
    assert len(repeats._identified._entries) == 10_000
    assert sum(repeats._identified.tools.values()) == 10_000
    assert seconds < 1


def test_different_calls_of_one_caller_are_bounded():
    """Of one tool only the last calls of a caller are remembered."""
    repeats = Repeats()
    for at in range(100):
        assert repeats.count(_A, "search", "X", {"n": at}) == (1, at + 1)
    ((name, entry),) = repeats._identified._entries.items()
    assert (len(name), len(entry.counts)) == (16, 16)
    assert repeats.count(_A, "search", "X", {"n": 99}).same == 2


def test_no_value_is_kept():
    """What is remembered has no value of a call, and another key gives another hash."""
    one, other = Repeats(b"k"), Repeats(b"l")
    for repeats in (one, other):
        repeats.count(_A, "search", "X", {"password": "hunter2"})
    assert "hunter2" not in repr(one._identified._entries)
    assert one._identified._entries.keys() != other._identified._entries.keys()


@each_row("pair", [("\ud800A", "\ud800B"), (10**5000, 10**5000 + 1)])
def test_different_calls_that_are_no_json_text_are_not_the_same(pair):
    """What cannot be compared as JSON text is not counted as repeated."""
    repeats = Repeats()
    assert [repeats.count(_A, "tool", "CODE", {"x": value}).same for value in pair] == [1, 1]
