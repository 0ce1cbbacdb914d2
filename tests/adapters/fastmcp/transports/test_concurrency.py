"""Concurrent calls over HTTP, and clients that disconnect."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from answers import envelope, rules, value
from calls import Log
from calls import rules as repaired_by
from fastmcp import Client
from fastmcp_versions import IS_3, RAW, in_era, not_on_3
from servers.notes import HOLDING, build
from waiting import PATIENCE, until
from wire import Http, call, httpx2, serving

_CALLS = 80


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Return the URL of a lenient server for clients of both protocol eras."""
    with serving(build()) as url:
        if not IS_3:
            first = Http(url, modern=True)
            first.request("tools/list", {})
            first.close()
        yield url


_KINDS: list[tuple[dict[str, Any], Any]] = [
    ({"tags": ["a"]}, (["a"], [])),
    ({"tags": '["a"]'}, (["a"], ["json_text_to_array"])),
    ({"toolCallId": "x"}, ([], ["drop_injected"])),
    ({}, None),
]
"""What is sent beside a text and a number, and the tags and repairs of the answer; None if it is refused."""


async def _asks(client: Client[Any], number: int) -> bool:
    """Make one of four kinds of call, and return whether the answer is the one to its text and number."""
    (sent, expected), text = _KINDS[number % 4], f"number {number}"
    own = {"text": text, "priority": number, **({"tags": number} if expected is None else sent)}
    answer = await client.call_tool_mcp("add_note", own)
    if answer.is_error:
        return expected is None and answer.meta["mcp_lenient"]["details"]["received_value"] == number
    note = {"text": text, "tags": expected[0], "priority": number}
    return (answer.structured_content, repaired_by(answer)) == (note, expected[1])


async def test_concurrent_calls_get_their_own_answers(url):
    """Eighty concurrent calls from four clients in both eras each get the answer to what they sent."""
    async with (
        Client(url) as a,
        Client(url) as b,
        Client(url, **in_era("legacy")) as c,
        Client(url, **in_era("legacy")) as d,
    ):
        clients = (a, b, c, d)
        # Shifted by the round, so that each client makes each kind of call.
        asked = [_asks(clients[(n + n // 4) % 4], n) for n in range(_CALLS)]
        answers = await asyncio.wait_for(asyncio.gather(*asked), PATIENCE)
    assert answers == [True] * _CALLS


def _spoken(wire: Http, number: int) -> tuple[str, Any]:
    sent, kind = [
        (json.dumps({"text": f"number {number}"}), "read"),
        ({"text": f"number {number}"}, "right"),
        ([number], "refused"),
    ][number % 3]
    return kind, call(wire, "add_note", sent)


@not_on_3(RAW)
def test_raw_arguments_of_concurrent_calls_are_not_mixed_up(url):
    """Sixty concurrent calls with text, objects and lists as arguments each get their own answer."""
    wire = Http(url, modern=True)
    with ThreadPoolExecutor(12) as threads:
        answers = list(threads.map(lambda number: _spoken(wire, number), range(60)))
    wire.close()
    for number, (kind, message) in enumerate(answers):
        if kind == "refused":
            assert envelope(message)["error_code"] == "INVALID_ARGUMENTS"
        else:
            assert value(message)["text"] == f"number {number}"
            assert rules(message) == (["json_text_to_object"] if kind == "read" else [])


async def _canceled(call: Awaitable[Any]) -> None:
    """Cancel a call while its tool runs."""
    HOLDING.clear()
    held = asyncio.ensure_future(call)
    await until(HOLDING.is_set)
    held.cancel()
    with suppress(asyncio.CancelledError):
        await held


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_canceled_repaired_call_does_not_affect_later_ones(url, mode, events: Log):
    """After a repaired call is canceled, the same client's later calls get correct answers."""
    async with Client(url, **in_era(mode)) as client:
        await _canceled(client.call_tool_mcp("hold", {"tags": '["a"]'}))
        if not IS_3:  # which lets a canceled call run on
            await until(lambda: events.names == ["call_repaired"])
        for number in (0, 1, 3):
            assert await _asks(client, number)


@pytest.mark.parametrize("modern", [False, True], ids=["handshake", "modern"])
@not_on_3(RAW)
async def test_a_disconnecting_client_does_not_affect_others(url, modern):
    """After a client disconnects during a repaired call with text, other clients get correct answers."""
    wire = Http(url, modern=modern)
    if not modern:
        wire.handshake()
    request = wire.prepared("tools/call", {"name": "hold", "arguments": '{"tags": "a"}'})
    async with httpx2.AsyncClient(timeout=PATIENCE, trust_env=False) as leaving:
        await _canceled(leaving.send(request))
    wire.close()
    async with Client(url) as client:
        for number in range(4):
            assert await _asks(client, number)
