"""Test what is counted of refused calls where nothing identifies the caller, and of calls with the same faults."""

from __future__ import annotations

import json
import re
import threading
import time
import tracemalloc
from collections.abc import Mapping
from typing import Any

import pytest
from adapters.fastmcp.hiding import Hiding
from calls import lenient, plain
from fastmcp import Client, FastMCP
from fastmcp_versions import NOT_THERE, PROXY, in_era, not_on_3, skip_on_3
from key_value.aio.stores.memory import MemoryStore
from wire import Http, call, http, serving

from mcp_lenient import LenientMiddleware, Policy
from mcp_lenient.adapters.repeats import Caller, Refusals, Repeats

WRONG = {"query": "tea", "tags": "a, b"}
RIGHT = {"query": "tea", "tags": ["a"]}
REWORDED = [{"query": f"tea {at}", "tags": f"a, {at}"} for at in range(5)]
KINDS = pytest.mark.parametrize("kind", ["stateful", "stateless", "modern"])
STRANGERS = pytest.mark.parametrize("kind", ["stateless", "modern"])
UNLIKE = re.compile(r"\b(you|your|yours)\b", re.IGNORECASE)

pytestmark = pytest.mark.filterwarnings("ignore:The (roots|sampling|logging) capability is deprecated")


def search(query: str, tags: list[str], limit: int = 5) -> str:
    """Search."""
    return f"{query} {tags} {limit}"


def answer(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the envelope that a message has; of a call that ran, an empty one."""
    result = message["result"]
    told = json.loads(result["content"][0]["text"]) if result["isError"] else {}
    return {"message": "", "details": {}, **told}


def repeated(wire: Http, sent: Any = WRONG, tool: str = "search") -> int:
    """Return how often a call was refused, by the answer to it; 0 if it ran."""
    told = answer(call(wire, tool, sent))
    return told["details"].get("repeated", 1) if told["message"] else 0


def alike(wire: Http, sent: Any) -> int | None:
    """Return how many calls had the same faults, by the answer to one; None if it does not say."""
    return answer(call(wire, "search", sent))["details"].get("alike")


def as_other(wire: Http, **headers: str) -> Http:
    """Return the connection with other headers."""
    wire._client.headers.update({name.replace("_", "-"): text for name, text in headers.items()})
    return wire


# --- what is counted --------------------------------------------------------------------------------------


@KINDS
def test_the_same_call_is_answered_differently_over_http(kind):
    """Five equal wrong calls have five answers; calls with other values differ from the third on."""
    with http(lenient(search), kind) as wire:
        told = [answer(call(wire, "search", WRONG))["message"] for _ in range(5)]
        assert len(set(told)) == 5
        call(wire, "search", RIGHT)
        told = [answer(call(wire, "search", sent)) for sent in REWORDED]
    assert [each["details"].get("alike") for each in told] == [None, None, 3, 4, 5]
    assert [len(each["details"]["violations"]) for each in told] == [1] * 5
    assert len({each["message"] for each in told[2:]}) == 3
    assert (
        "3 calls of 'search' were refused for the same reason; only other values were sent."
        in told[2]["message"]
    )
    assert told[4]["message"].endswith("Stop calling it and tell the user what is missing or wrong.")


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_same_call_is_answered_differently_within_a_process(era):
    """Clients are told apart by their names; those of one name are counted together."""
    from mcp.types import Implementation

    server = lenient(search)
    async with Client(server, **in_era(era)) as client:
        told = [(await client.call_tool_mcp("search", WRONG)).content[0].text for _ in range(5)]
        told += [(await client.call_tool_mcp("search", sent)).content[0].text for sent in REWORDED]
    assert len(set(told)) == 10
    assert [json.loads(text)["details"].get("alike") for text in told] == [None] * 6 + [3, 4, 5, 6]
    other = Implementation(name="another client", version="1")
    async with Client(server, client_info=other, **in_era(era)) as client:
        assert "repeated" not in (await client.call_tool_mcp("search", WRONG)).content[0].text


@STRANGERS
def test_strangers_are_told_apart_by_user_agent_and_name(kind):
    """Another user agent is another caller; so is another client name, where requests have one."""
    with http(lenient(search), kind) as wire:
        assert [repeated(wire) for _ in range(2)] == [1, 2]
        assert repeated(as_other(wire, user_agent="another")) == 1
        if kind == "modern":
            request = wire.prepared("tools/call", {"name": "search", "arguments": WRONG})
            content = request.content.replace(b'"by-hand"', b'"another"')
            headers = {name: text for name, text in request.headers.items() if name != "content-length"}
            sent = wire._client.post(request.url, content=content, headers=headers)
            assert "repeated" not in sent.text
        assert repeated(wire) == 2


@STRANGERS
def test_no_header_says_who_a_stranger_is(kind):
    """Neither a header of a proxy nor an invented session makes another caller, or one that is known."""
    if kind == "modern":
        skip_on_3(NOT_THERE)
    server = plain(search)
    middleware = LenientMiddleware()
    server.add_middleware(middleware)
    with serving(server, stateless=kind == "stateless", proxy_headers=False) as url:
        wire = Http(url, modern=kind == "modern")
        times = []
        for at in range(4):
            as_other(wire, x_forwarded_for=f"10.0.0.{at}", mcp_session_id=f"invented-{at}")
            times.append(repeated(wire))
        wire.close()
    assert times == [1, 2, 3, 4]
    assert not middleware._gate.repeats._identified._entries


@STRANGERS
def test_a_shared_connection_counts_no_faults(kind):
    """Behind a proxy other callers may use the connection, so calls with other values are not counted together."""
    with http(lenient(search), kind) as wire:
        as_other(wire, via="1.1 gateway")
        assert [alike(wire, sent) for sent in REWORDED] == [None] * 5
        assert [repeated(wire) for _ in range(3)] == [1, 2, 3]


@STRANGERS
def test_another_connection_counts_its_own_faults(kind):
    """The same faults over two connections are not counted together."""
    if kind == "modern":
        skip_on_3(NOT_THERE)
    with serving(lenient(search), stateless=kind == "stateless") as url:
        one, other = (Http(url, modern=kind == "modern") for _ in range(2))
        told = [alike(wire, sent) for wire, sent in zip([one, other] * 2, REWORDED[:4], strict=True)]
        one.close()
        other.close()
    assert told == [None] * 4


async def test_only_different_calls_count_as_alike():
    """The same call again is counted as such, and other faults or a call that runs begin anew."""
    async with Client(lenient(search)) as client:

        async def sent(arguments: Any) -> tuple[int | None, int | None]:
            details = answer(
                {"result": (await client.call_tool_mcp("search", arguments)).model_dump(by_alias=True)}
            )["details"]
            return details.get("repeated"), details.get("alike")

        calls = [REWORDED[0], REWORDED[0], REWORDED[1], {"query": 5}, REWORDED[2], RIGHT, *REWORDED[3:]]
        told = [await sent(arguments) for arguments in calls]
    assert told == [
        (None, None),
        (2, None),
        (None, None),
        (None, None),
        (None, 3),
        (None, None),
        (None, None),
        (None, None),
    ]


@STRANGERS
def test_a_call_that_runs_begins_anew(kind):
    """As for callers that are known."""
    with http(lenient(search), kind) as wire:
        assert [repeated(wire, sent) for sent in (WRONG, WRONG, RIGHT, WRONG)] == [1, 2, 0, 1]


def test_strangers_are_forgotten_after_ten_minutes(monkeypatch):
    """Known callers are not."""
    now, repeats = [1_000.0], Repeats()
    monkeypatch.setattr("mcp_lenient.adapters.repeats.monotonic", lambda: now[0])
    near, known = Caller("near", "line", is_identified=False), Caller("a", "a")

    def sent() -> list[int]:
        return [repeats.count(caller, "search", "X", {}).same for caller in (near, known)]

    assert sent() == [1, 1]
    now[0] += 599
    assert sent() == [2, 2]
    now[0] += 601
    assert sent() == [1, 3]
    now[0] += 601
    assert repeats.forget(known, "search")
    assert not repeats.knows("search")


# --- what it does not tell --------------------------------------------------------------------------------


@KINDS
def test_the_words_speak_of_calls(kind):
    """No answer after the first one says what its reader has done: a neighbor may have sent it."""
    faults = [WRONG, {"query": "tea"}, {"qeury": "tea", "tags": []}, {"query": "x" * 200, "tags": "a, b"}]
    with http(lenient(search), kind) as wire:
        again = [answer(call(wire, "search", sent))["message"] for sent in faults for _ in range(4)]
        again += [answer(call(wire, "serch", {}))["message"] for _ in range(4)]
        again += [answer(call(wire, "search", sent))["message"] for sent in REWORDED]
    firsts = range(0, 20, 4)
    # "Did you mean" is of the message about a name, and of no other call.
    later = [told.replace("Did you mean", "") for at, told in enumerate(again) if at not in firsts]
    assert not [told for told in later if UNLIKE.search(told)]


def told_of(wire: Http, tool: str, sent: Any) -> str:
    """Return the whole answer to a call, without the name of the tool."""
    message = {**call(wire, tool, sent), "id": 0}
    return json.dumps(message, sort_keys=True).replace("search", "absent")


def test_hidden_tools_are_answered_as_absent_ones():
    """Each of several answers is the same for both but for the name."""
    server = lenient(search)
    server.disable(names={"search"})
    with http(server, "stateless") as wire:
        for sent in [WRONG, WRONG, RIGHT, WRONG, *REWORDED]:
            assert told_of(wire, "search", sent) == told_of(wire, "absent", sent)


@pytest.mark.parametrize("place", ["inside", "outside"])
def test_calls_that_a_middleware_denies_are_not_counted(place):
    """What denies a call answers it each time, and nothing is remembered."""
    server, lenient_middleware = plain(search), LenientMiddleware()
    middleware = [lenient_middleware, Hiding("search")]
    for entry in middleware if place == "inside" else reversed(middleware):
        server.add_middleware(entry)
    with http(server, "stateless") as wire:
        assert len({told_of(wire, "search", sent) for sent in [WRONG, WRONG, RIGHT, *REWORDED]}) == 1
    assert not lenient_middleware._gate.repeats.knows("search")


def test_names_that_do_not_exist_are_counted_apart():
    """A neighbor that may see the tool, and runs it, changes nothing of what is counted for one that may not."""
    repeats, near = Repeats(), Caller("near", "line", is_identified=False)
    assert repeats.count(near, "admin", "UNKNOWN_TOOL", {}, exists=False).same == 1
    assert not repeats.knows("admin")
    assert repeats.count(near, "admin", "UNKNOWN_TOOL", {}).same == 1
    assert repeats.forget(near, "admin")
    assert repeats.count(near, "admin", "UNKNOWN_TOOL", {}, exists=False).same == 2


@STRANGERS
def test_servers_of_one_process_count_apart(kind):
    """What one server refuses is not known to another one."""
    with http(lenient(search), kind) as one, http(lenient(search), kind) as other:
        assert [repeated(wire) for wire in (one, other, one, other)] == [1, 1, 2, 2]


@STRANGERS
def test_no_event_has_an_address_or_a_user_agent(kind, events):
    """What tells strangers apart is in no event."""
    with http(lenient(search), kind) as wire:
        as_other(wire, user_agent="unusual agent")
        assert [repeated(wire) for _ in range(2)] == [1, 2]
    assert [event.get("repeated") for event in events] == [None, 2]
    assert not any(word in json.dumps(events) for word in ("127.0.0.1", "unusual", "near", "line"))


async def test_strangers_are_in_no_store():
    """A store of the operator gets nothing of them."""
    store = MemoryStore()
    server = plain(search)
    server.add_middleware(LenientMiddleware(repeats=store))
    with http(server, "stateless") as wire:
        assert [repeated(wire) for _ in range(2)] == [1, 2]
    assert await store.keys(collection="mcp_lenient_repeats") == []


def test_only_hashes_are_kept():
    """Neither values nor callers, addresses and names of tools that do not exist are in memory."""
    repeats = Repeats()
    for known in (True, False):
        caller = Caller("10.0.0.7", "10.0.0.7 81", is_identified=known)
        repeats.count(caller, "search", "X", {"password": "hunter2"}, [("/password", "type")])
        repeats.count(caller, "secret-tool", "UNKNOWN_TOOL", {}, exists=False)
    memory = repr([repeats._identified._entries, repeats._strangers._entries, repeats._identified.tools])
    assert not any(word in memory for word in ("10.0.0.7", "hunter2", "password", "secret-tool"))


# --- floods -----------------------------------------------------------------------------------------------


def test_strangers_cannot_push_out_known_callers():
    """A flood of strangers is bounded in memory and time, and callers that are known keep their counts."""
    repeats, known = Repeats(), Caller("session", "session")
    repeats.count(known, "search", "X", {})
    tracemalloc.start()
    started = time.process_time()
    for at in range(30_000):
        stranger = Caller(f"{at}" * 50, f"{at} 80", is_identified=False)
        repeats.count(stranger, f"tool {at}" * 100, "UNKNOWN_TOOL", {"n": at}, exists=False)
    seconds, mebibytes = time.process_time() - started, tracemalloc.get_traced_memory()[0] / 2**20
    tracemalloc.stop()
    assert len(repeats._strangers._entries) == 10_000
    assert repeats._strangers.tools == {None: 10_000}
    assert (seconds < 5, mebibytes < 10) == (True, True)
    assert repeats.count(known, "search", "X", {}).same == 2


def test_calls_in_many_threads_are_counted_once_each():
    """Counting and forgetting at once loses and invents nothing."""
    repeats, near = Repeats(), Caller("near", "line", is_identified=False)

    def refuse() -> None:
        for at in range(500):
            repeats.count(near, "search", "X", {})
            repeats.count(near, f"tool {at}", "X", {})
            repeats.forget(near, f"tool {at}")

    threads = [threading.Thread(target=refuse) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert repeats.count(near, "search", "X", {}) == Refusals(4_001)
    assert repeats._strangers.tools == {"search": 2}


# --- settings ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["policy", "pattern", "file", "environment"])
def test_repeats_can_be_turned_off(by, monkeypatch, tmp_path):
    """Each answer is then the first one, for the same call and for other values, also for tools that do not exist."""
    settings: dict[str, Any] = {}
    if by == "environment":
        monkeypatch.setenv("MCP_LENIENT_REPEATS", "False")
    elif by == "file":
        file = tmp_path / "lenient.yaml"
        file.write_text("policy: {repeats: false}", encoding="utf-8")
        settings["definitions"] = file
    elif by == "pattern":
        settings["tools"] = {"s*": Policy(repeats=False)}
    else:
        settings["policy"] = Policy(repeats=False)
    server = plain(search)
    server.add_middleware(LenientMiddleware(**settings))
    with http(server, "stateful") as wire:
        assert len({answer(call(wire, "search", WRONG))["message"] for _ in range(3)}) == 1
        assert len({answer(call(wire, "serch", {}))["message"] for _ in range(3)}) == 1
        assert [alike(wire, sent) for sent in REWORDED] == [None] * 5


# --- the proxy --------------------------------------------------------------------------------------------


@not_on_3(PROXY)
@STRANGERS
def test_callers_of_a_proxy_are_told_apart_by_their_own_requests(kind):
    """What counts is the request to the proxy, not the one that the proxy sends."""
    from mcp_lenient import create_lenient_proxy

    with serving(plain(search)) as upstream:
        proxy: FastMCP = create_lenient_proxy(upstream)
        with http(proxy, kind) as wire:
            assert [repeated(wire) for _ in range(5)] == [1, 2, 3, 4, 5]
            assert repeated(as_other(wire, user_agent="another")) == 1
