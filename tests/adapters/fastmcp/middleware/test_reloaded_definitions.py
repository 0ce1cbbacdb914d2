"""``definitions`` with ``reload=True``: editing a definitions file while the server runs."""

from __future__ import annotations

import pytest
from calls import Log, call, rules
from fastmcp import FastMCP

from mcp_lenient import LenientMiddleware

ALIAS = "tools: {store: {parameters: {text: {aliases: [%s]}}}}"
WRONG = [
    pytest.param("tools: {store: {parameters: {text: {alias: [words]}}}}", "alias", id="no such field"),
    pytest.param("tools: [", "", id="not YAML"),
    pytest.param(
        "tools: {store: {parameters: {text: {type: integer}}}}", "text", id="contradicts the function"
    ),
]


def store(text: str) -> str:
    """A tool."""
    return text


@pytest.fixture
def file(tmp_path):
    """Return a file that declares the alias ``body``."""
    path = tmp_path / "lenient.yaml"
    path.write_text(ALIAS % "body", encoding="utf-8")
    return path


def server_of(file, **settings) -> FastMCP:
    """Return a server whose definitions are in a file."""
    server: FastMCP = FastMCP("edited", middleware=[LenientMiddleware(definitions=file, **settings)])
    server.tool(store)
    return server


async def accepted(server: FastMCP, name: str) -> bool:
    """Return whether the parameter is accepted under this name."""
    result = await call(server, "store", {name: "a"})
    return not result.is_error and rules(result) == ["rename_alias"]


async def test_a_changed_file_applies(file, later, events: Log):
    """The next call uses the new definitions, and no longer the old ones."""
    server = server_of(file, reload=True)
    assert await accepted(server, "body")
    file.write_text(ALIAS % "words", encoding="utf-8")
    later()
    assert await accepted(server, "words")
    assert not await accepted(server, "body")
    assert "definitions_kept" not in events.names


async def test_the_file_is_checked_once_a_second(file):
    """A call within the same second does not read the file again."""
    server = server_of(file, reload=True)
    file.write_text(ALIAS % "words", encoding="utf-8")
    assert not await accepted(server, "words")


async def test_without_reload_nothing_changes(file, later):
    """Without ``reload`` the file is read only once."""
    server = server_of(file)
    file.write_text(ALIAS % "words", encoding="utf-8")
    later()
    assert await accepted(server, "body")


@pytest.mark.parametrize(("text", "named"), WRONG)
async def test_a_wrong_file_changes_nothing(file, later, events: Log, text, named):
    """The old definitions stay in force, and one event reports the error, until the file changes again."""
    server = server_of(file, reload=True)
    file.write_text(text, encoding="utf-8")
    for _ in range(2):
        later()
        assert await accepted(server, "body")
    (kept,) = [event for event in events if event["event"] == "definitions_kept"]
    assert kept["subject"] == str(file)
    assert named in kept["reason"]
    file.write_text(ALIAS % "words", encoding="utf-8")
    later()
    assert await accepted(server, "words")


async def test_a_deleted_file_changes_nothing(file, later, events: Log):
    """The old definitions stay in force if the file is missing, as while an editor replaces it."""
    server = server_of(file, reload=True)
    file.unlink()
    later()
    assert await accepted(server, "body")
    assert events.names.count("definitions_kept") == 1


async def test_a_partly_written_file_changes_nothing(file, later, events: Log):
    """The old definitions stay in force while the file is empty, so that secrets stay hidden."""
    server = server_of(file, reload=True)
    file.write_text("", encoding="utf-8")
    later()
    assert await accepted(server, "body")
    assert events.names.count("definitions_kept") == 1
