"""Compare the length of a refusal with FastMCP's own text."""

from __future__ import annotations

import json

from fastmcp import Client, FastMCP

from benchmarks.quality import lengths
from mcp_lenient import LenientMiddleware


async def test_one_fault_takes_few_characters():
    """For one error, the message is no longer than FastMCP's text, and the text block at most 2.4 times."""
    found = await lengths.one_fault()
    assert len(found) == len(lengths.ONE_FAULT)
    messages, texts = zip(*(each.times for each in found), strict=True)
    assert max(messages) <= lengths.MOST_MESSAGE
    assert max(texts) <= lengths.MOST_TEXT


async def test_the_text_repeats_no_sentence():
    """The text block contains each violation's message only once."""
    server = FastMCP("lenient", middleware=[LenientMiddleware()])
    for function in (lengths.store, lengths.search, lengths.order, lengths.total):
        server.tool(function)
    async with Client(server) as client:
        for tool, sent in lengths.ONE_FAULT:
            result = await client.call_tool(tool, dict(sent), raise_on_error=False)
            for violation in result.meta["mcp_lenient"]["details"]["violations"]:
                written = json.dumps(violation["message"], ensure_ascii=False)[1:-1]
                assert result.content[0].text.count(written) == 1


async def test_the_text_omits_what_the_message_says():
    """The text omits the tool's name, the received value and the parameter's pointer. ``_meta`` has them."""
    server = FastMCP("lenient", middleware=[LenientMiddleware()])
    server.tool(lengths.store)
    async with Client(server) as client:
        result = await client.call_tool("store", {"content": "tea", "tags": 123}, raise_on_error=False)
    details = json.loads(result.content[0].text)["details"]
    assert details == {
        "parameter": "tags",
        "received_type": "integer",
        "expected_types": ["array of strings", "null"],
        "violations": [{"code": "type"}],
    }
    whole = result.meta["mcp_lenient"]["details"]
    assert (whole["tool"], whole["received_value"]) == ("store", 123)
    assert whole["violations"][0]["pointer"] == "/tags"
