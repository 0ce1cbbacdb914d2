"""The example server keeps what it is given, and the demo shows what it claims."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import fastmcp
import pytest
from example_runs import run
from fastmcp import Client
from fastmcp.exceptions import ToolError
from fastmcp_versions import OWN_VALIDATION, not_on_3, since

from context_store import build_server


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server that is lenient, and its file."""
    file = tmp_path_factory.mktemp("store") / "contexts.db"
    return build_server(file), file


@pytest.fixture
def store(served):
    """The file of the server, which is not there yet."""
    _, file = served
    yield file
    file.rmdir() if file.is_dir() else file.unlink(missing_ok=True)


@pytest.fixture
async def client(served, store):
    """A client of the server."""
    assert not store.exists()
    async with Client(served[0]) as client:
        yield client


async def call(client, tool, **arguments):
    """The tool's structured answer; of a list, the list itself."""
    answer = (await client.call_tool_mcp(tool, arguments)).structured_content
    return answer.get("result", answer)


async def test_a_stored_context_is_found_again(client):
    """What was stored is found by its text, in any case, with its tags in order."""
    stored = await call(client, "store_context", content="The Answer", tags=["b", "a", "b"])
    assert stored == {"context_id": 1, "content": "The Answer", "tags": ["a", "b"]}
    assert await call(client, "search_context", query="answer") == [stored]


@pytest.mark.parametrize("sought", [{"query": "ÉTUDE"}, {"query": "", "tags": ["MÜSIK"]}])
async def test_a_search_knows_no_case_of_any_script(client, sought):
    """Words and tags are found in any case, also outside ASCII and with combining marks."""
    await client.call_tool("store_context", {"content": "e\u0301tude", "tags": ["Müsik"]})
    assert len(await call(client, "search_context", **sought)) == 1


async def test_search_requires_all_tags(client):
    """A search by tags finds only what carries all of them, the newest first and no more than wanted."""
    for tags in (["x"], ["x", "y"], ["y"], ["y", "x", "z"]):
        await client.call_tool("store_context", {"content": "%_note", "tags": tags})
    found = await call(client, "search_context", query="%_", tags=["x", "y"])
    assert [one["context_id"] for one in found] == [4, 2]
    newest = await call(client, "search_context", query="", limit=1)
    assert [one["context_id"] for one in newest] == [4]


@pytest.mark.parametrize(
    ("change", "stored"),
    [
        pytest.param({}, ("old", ["a"]), id="nothing"),
        pytest.param({"content": "new"}, ("new", ["a"]), id="content"),
        pytest.param({"tags": ["b"]}, ("old", ["b"]), id="tags"),
        pytest.param({"content": "", "tags": []}, ("", []), id="both-emptied"),
    ],
)
async def test_update_keeps_omitted_fields(client, change, stored):
    """An update replaces what it names and keeps the rest."""
    await client.call_tool("store_context", {"content": "old", "tags": ["a"]})
    updated = await call(client, "update_context", context_id=1, **change)
    assert (updated["content"], updated["tags"]) == stored


@pytest.mark.parametrize("unknown", [7, 10**30], ids=["id", "beyond-sqlites-integers"])
async def test_an_empty_update_gets_an_envelope(client, unknown):
    """An unknown id is refused by the tool's body in the form of a refused call."""
    result = await client.call_tool_mcp("update_context", {"contextId": str(unknown), "tags": "a"})
    assert result.is_error
    envelope = json.loads(result.content[0].text)
    assert envelope.pop("message").startswith(f"There is no context {unknown}.")
    details = {
        "tool": "update_context",
        "parameter": "context_id",
        "received_type": "integer",
        "received_value": unknown,
    }
    assert (envelope.pop("recovery"), envelope.pop("retryable")) == ("correctable", False)
    assert envelope == {"status": "error", "error_code": "UNKNOWN_CONTEXT", "details": details}
    assert await call(client, "search_context", query="") == []


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        pytest.param(None, ["old"], id="null-keeps"),
        pytest.param([], [], id="empty"),
        pytest.param(["tag1", "tag2", "tag3"], ["tag1", "tag2", "tag3"], id="three"),
        pytest.param("single_tag", ["single_tag"], id="text"),
        pytest.param('["a", "b"]', ["a", "b"], id="json-text"),
        pytest.param([1, 2], ["1", "2"], id="numbers"),
        pytest.param(123, None, id="integer"),
        pytest.param(["tag1", 123, "tag2"], None, id="mixed"),
        pytest.param("a, b", None, id="two-readings"),
        pytest.param("", None, id="empty-text"),
        pytest.param('"a"', None, id="quoted-text"),
        pytest.param("None", ["old"], id="null-text-keeps"),
        pytest.param([1.5], None, id="fraction"),
        pytest.param({"item": ["a"]}, ["a"], id="wrapped"),
        pytest.param({"tags": ["a"]}, ["a"], id="wrapped-in-its-name"),
    ],
)
async def test_tags_of_any_type_are_checked_when_the_tool_is_called(client, sent, stored):
    """Where an author writes ``tags: Any``, what can be read one way as a list of strings or null passes, and nothing else."""
    await client.call_tool("store_context", {"content": "x", "tags": ["old"]})
    result = await client.call_tool_mcp("update_context", {"context_id": 1, "tags": sent})
    if stored is None:
        assert json.loads(result.content[0].text)["error_code"] == "INVALID_TAGS_TYPE"
    else:
        assert result.structured_content["tags"] == stored


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        pytest.param(
            lambda file: file.write_bytes(b"no database" * 100), "file is not a database", id="corrupt"
        ),
        pytest.param(lambda file: file.mkdir(), "unable to open database file", id="folder"),
    ],
)
async def test_a_file_that_cannot_be_used_gets_an_envelope(store, client, spoil, reason):
    """What SQLite or the disk refuses is an envelope without the path, not Python's own text."""
    spoil(store)
    result = await client.call_tool_mcp("store_context", {"content": "a"})
    envelope = json.loads(result.content[0].text)
    assert envelope["error_code"] == "STORE_UNAVAILABLE"
    assert envelope["message"] == f"The notes cannot be used: {reason}. Nothing was changed."
    assert str(store.parent) not in result.content[0].text


@since(4, 1, OWN_VALIDATION)
async def test_a_row_of_another_program_gets_an_envelope(store, client):
    """What the example did not think of is an envelope with an id for the log, not Python's own text."""
    await client.call_tool("store_context", {"content": "a"})
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE contexts SET tags = '[1]'")
    result = await client.call_tool_mcp("search_context", {"query": ""})
    envelope = json.loads(result.content[0].text)
    assert envelope["error_code"] == "TOOL_FAILED"
    assert "Input should be" not in result.content[0].text


async def test_a_folder_that_cannot_be_made_gets_an_envelope(tmp_path):
    """If a file is in the place of the folder, the error has the system's reason without the path."""
    (tmp_path / "taken").write_text("")
    async with Client(build_server(tmp_path / "taken/contexts.db")) as client:
        result = await client.call_tool_mcp("search_context", {"query": ""})
    envelope = json.loads(result.content[0].text)
    assert envelope["error_code"] == "STORE_UNAVAILABLE"
    assert str(tmp_path) not in result.content[0].text


@pytest.mark.parametrize(
    "wrong", [123, 12.34, True, {"a": 1}, ["a", 1], ["a", None], "", "nil", "a, b", "[bad", [1.5]]
)
async def test_the_same_mistake_gets_the_same_answer(client, wrong):
    """A declared type and ``Any`` with ``tags()`` refuse a value with the same message and the same fields."""
    answers = []
    for tool, sent in (("store_context", {"content": "a"}), ("update_context", {"context_id": 1})):
        await client.call_tool(tool, sent)  # which forgets what was refused before
        result = await client.call_tool_mcp(tool, {**sent, "tags": wrong})
        envelope = json.loads(result.content[0].text)
        details = dict(result.meta["mcp_lenient"]["details"])
        del details["parameters"], details["tool"]
        # Only what is declared as Any needs a description of what it takes.
        described = " It means: Labels: an array of strings, or null."
        said = json.loads(json.dumps([envelope, details]).replace(described, "").replace(tool, "it"))
        answers.append(said)
    assert answers[0] == answers[1]


async def test_the_first_call_creates_the_file(client, store):
    """Building a server and listing its tools writes nothing, so that a server may be looked at."""
    await client.list_tools()
    assert not store.exists()
    await client.call_tool("search_context", {"query": ""})
    assert store.exists()


async def test_delete_returns_the_deleted_context(client):
    """A deletion takes the context and its tags away and names only what was there."""
    await client.call_tool("store_context", {"content": "gone", "tags": ["a"]})
    assert await call(client, "delete_context", context_ids=[1, 1, 5], confirm=True) == [1]
    assert await call(client, "search_context", query="", tags=["a"]) == []


async def test_delete_requires_confirmation(client):
    """Without confirmation nothing is deleted."""
    await client.call_tool("store_context", {"content": "kept"})
    with pytest.raises(ToolError, match="confirm is false"):
        await client.call_tool("delete_context", {"context_ids": [1], "confirm": False})
    assert len(await call(client, "search_context", query="")) == 1


async def test_contexts_outlive_the_server(store, client):
    """A second server on the same file finds what the first one stored."""
    await client.call_tool("store_context", {"content": "lasting", "tags": "one"})
    async with Client(build_server(store)) as second:
        assert (await call(second, "search_context", query="lasting"))[0]["tags"] == ["one"]


async def test_without_the_middleware_the_same_call_is_rejected(store):
    """The switch of the demo is real: without the middleware a single tag is rejected."""
    async with Client(build_server(store, lenient=False)) as client:
        with pytest.raises(ToolError, match="valid list"):
            await client.call_tool("store_context", {"content": "a note", "tags": "one"})


@pytest.mark.slow
def test_the_demo_shows_what_it_claims():
    """The demo checks itself, its tables fit the terminal, and it writes no colors into a pipe."""
    shown = run("-c", "from mcp_lenient.cli import main; main()", "demo", COLUMNS="100")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "\x1b" not in shown.stdout
    assert 90 < max(map(len, shown.stdout.splitlines())) <= 100


@not_on_3("the demo needs FastMCP 4")
async def test_each_call_of_the_demo_does_what_it_claims(tmp_path, monkeypatch):
    """Each call of the demo has its outcomes, with servers in this process where the demo starts four."""
    import demo

    def in_this_process(_script, *, args, env, **_options):
        strict = env["FASTMCP_STRICT_INPUT_VALIDATION"] == "1"
        monkeypatch.setattr(fastmcp.settings, "strict_input_validation", strict)
        return build_server(Path(args[0]), lenient="--bare" not in args)

    monkeypatch.setattr(demo, "PythonStdioTransport", in_this_process)
    rows = await demo._rows(tmp_path)
    assert rows
    assert [surprise for row in rows for surprise in row.surprises()] == []
