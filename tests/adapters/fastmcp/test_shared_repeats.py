"""Test that servers that share a store recognize a refused call that was sent to another of them."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from key_value.aio.stores.filetree import FileTreeStore
from key_value.aio.stores.memory import MemoryStore
from wire import serving

from mcp_lenient import LenientCalls, LenientMiddleware
from mcp_lenient.errors import PolicyError

pytestmark = [
    pytest.mark.filterwarnings("ignore:A configured store is unstable"),
    pytest.mark.filterwarnings("ignore:The (roots|sampling|logging) capability is deprecated"),
]

KEY = "a key of the operator"
WRONG = {"query": "tea", "tags": 5}
RIGHT = {"query": "tea", "tags": ["a"]}


class _Replica:
    """A server that knows its callers by their token."""

    def __init__(self, store: Any, key: str | None = KEY) -> None:
        middleware = LenientMiddleware(repeats=store, repeats_key=key)
        tokens = {name: {"client_id": name, "scopes": []} for name in ("ada", "bob")}
        self.server = FastMCP("replica", auth=StaticTokenVerifier(tokens), middleware=[middleware])
        self.url = ""

        @self.server.tool
        def search(query: str, tags: list[str]) -> str:
            return f"{query} {tags}"

    async def repeated(self, arguments: dict[str, Any], who: str = "ada") -> int:
        """Call the tool in a session of its own; return how often this call was refused, 0 if it ran."""
        async with Client(StreamableHttpTransport(self.url, auth=who)) as client:
            result = await client.call_tool_mcp("search", arguments)
        answer = json.loads(result.content[0].text) if result.is_error else {"details": {"repeated": 0}}
        return answer["details"].get("repeated", 1)


@pytest.fixture
def started():
    """Start servers."""
    with ExitStack() as stack:

        def start(*replicas):
            for replica in replicas:
                replica.url = stack.enter_context(serving(replica.server))
            return replicas

        yield start


@pytest.fixture
def patient(monkeypatch):
    """Wait for a store of files as long as a machine under load needs."""
    monkeypatch.setattr("mcp_lenient.adapters.repeats._LONGEST_ANSWER", 30.0)


@pytest.mark.usefixtures("patient")
async def test_replicas_share_what_they_refused(tmp_path, started):
    """A call is counted wherever it is sent; another caller's is not, and a call that runs begins anew."""
    one, other = started(*(_Replica(FileTreeStore(data_directory=tmp_path)) for _ in range(2)))
    assert [await each.repeated(WRONG) for each in (one, other, one, other)] == [1, 2, 3, 4]
    assert await other.repeated(WRONG, "bob") == 1
    assert await other.repeated(RIGHT) == 0
    assert [await each.repeated(WRONG) for each in (one, other)] == [1, 2]


@pytest.mark.usefixtures("patient")
async def test_the_store_has_no_caller_no_tool_and_no_value(tmp_path, started):
    """Only keyed hashes and numbers are stored; with another key nothing is recognized."""
    replicas = [
        _Replica(FileTreeStore(data_directory=tmp_path), key) for key in (KEY, "another key of another")
    ]
    one, other = started(*replicas)
    sent = {"query": "chamomile", "tags": {"pin": "hunter2"}}
    assert [await each.repeated(sent) for each in (one, other)] == [1, 1]
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file() and path.stem != "info"]
    assert any('"value"' in text for text in texts)
    stored = f"{texts} {[*tmp_path.rglob('*')]}"
    assert not any(word in stored for word in ("ada", "search", "hunter2", "chamomile"))


class _Broken:
    """A store that cannot be reached."""

    async def get(self, key, **_options):
        raise ConnectionError(key)

    put = delete = get


class _Silent(_Broken):
    """A store that never answers."""

    async def get(self, key, **_options):
        await asyncio.sleep(60, key)

    put = delete = get


@pytest.mark.parametrize("store", [_Broken(), _Silent()], ids=["broken", "silent"])
async def test_a_store_that_fails_fails_no_call(store, started, events):
    """Calls are answered and counted by the server alone, and one line of the log says why."""
    (one,) = started(_Replica(store))
    assert [await one.repeated(WRONG) for _ in range(3)] == [1, 2, 3]
    assert await one.repeated(RIGHT) == 0
    warned = [event for event in events if event["event"] == "repeats_unavailable"]
    assert [event["reason"] for event in warned] == [
        f"the store of refused calls raised {'ConnectionError' if type(store) is _Broken else 'TimeoutError'}"
    ]


async def test_foreign_data_in_a_store_fails_no_call(started):
    """What others wrote into the store is not read as counts."""
    store = MemoryStore()
    (one,) = started(_Replica(store))
    await one.repeated(WRONG)
    (name,) = await store.keys(collection="mcp_lenient_repeats")
    await store.put(name, {"zz": "x"}, collection="mcp_lenient_repeats")
    assert await one.repeated(WRONG) == 2


def test_a_store_that_may_be_shared_needs_a_key(tmp_path, monkeypatch):
    """Without a key only a store in memory is taken; the key may come from the environment."""
    store = FileTreeStore(data_directory=tmp_path)
    with pytest.raises(PolicyError, match=r"repeats=FileTreeStore\(\.\.\.\) needs repeats_key"):
        LenientMiddleware(repeats=store)
    with pytest.raises(PolicyError, match="at least 16 characters, got 5"):
        LenientMiddleware(repeats=store, repeats_key="short")
    LenientMiddleware(repeats=MemoryStore())
    monkeypatch.setenv("MCP_LENIENT_REPEATS_KEY", KEY)
    LenientMiddleware(repeats=store)
    LenientCalls(repeats=store)
