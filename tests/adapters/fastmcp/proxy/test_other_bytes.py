"""A server over stdio that writes bytes that are not UTF-8: no value is changed, and later calls are answered."""

from __future__ import annotations

import codecs
import logging
from time import process_time

import pytest
from adapters.fastmcp.proxy.fronts import SERVERS, of_process
from fastmcp import Client
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR

from mcp_lenient.adapters.fastmcp.proxy import utf8


def _proxy(mode: str = "legacy"):
    return of_process(str(SERVERS / "latin.py"), mode=mode, timeout=20)


async def _called(client: Client, name: str) -> str:
    return (await client.call_tool_mcp(name, {})).content[0].text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_answer_that_is_not_utf_8_is_an_error(mode, logged, caplog):
    """The call gets an error and one line in the log; the server keeps running, and answers later calls."""
    async with _proxy(mode) as client:
        before = await _called(client, "process")
        with pytest.raises(MCPError, match="The server's answer is not UTF-8") as caught:
            await client.call_tool_mcp("latin", {})
        after = await _called(client, "process")
    assert caught.value.error.code == INTERNAL_ERROR
    assert before == after
    assert [(event["event"], event["tool"], event["error_code"]) for event in logged] == [
        ("call_unanswered", "latin", "MALFORMED_ANSWER")
    ]
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_list_that_is_not_utf_8_is_an_error():
    """A list gets an error too."""
    async with _proxy() as client:
        with pytest.raises(MCPError, match="answered 'prompts/list' with something that is not such a list"):
            await client.list_prompts()


async def test_other_lines_that_are_not_utf_8_are_dropped(caplog):
    """A line that answers no request is dropped, with a line in the log, and the call is answered."""
    async with _proxy() as client:
        assert await _called(client, "stray") == "written"
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert warnings == ["A server over stdio wrote a line that is not UTF-8. It was dropped."] * 2


@given(st.text(), st.lists(st.integers(1, 9)))
def test_utf_8_is_decoded_wherever_it_is_cut(text, sizes):
    """Text that is UTF-8 comes out as it is, whatever the sizes of the chunks."""
    data = f"{text}\n".encode(errors="replace")
    decoder = codecs.getincrementaldecoder(utf8.CODEC)()
    decoded, at = "", 0
    for size in sizes:
        decoded += decoder.decode(data[at : at + size])
        at += size
    decoded += decoder.decode(data[at:])
    assert decoded == data.decode()
    assert decoder.decode(b"rest", final=True) == "rest"


def test_a_long_line_takes_time_in_proportion_to_its_length():
    """A line of 16 MB that comes in chunks takes a tenth of a second, and not five, of which others would wait for each."""
    decoder = codecs.getincrementaldecoder(utf8.CODEC)()
    started = process_time()
    for _ in range(256):
        assert decoder.decode(b"a" * 2**16) == ""
    assert len(decoder.decode(b"\n")) == 2**24 + 1
    assert process_time() - started < 1
