"""Protocol features other than calls that the proxy passes on or not, as documented on its page."""

from __future__ import annotations

import base64
import re
from collections.abc import Awaitable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import anyio
import pytest
from adapters.fastmcp.proxy.fronts import over_http
from fastmcp import Client, Context, FastMCP, __version__
from fastmcp.client.elicitation import ElicitResult
from fastmcp_versions import ANSWER_UNCHECKED, since
from mcp.shared.exceptions import MCPError
from mcp_types import (
    METHOD_NOT_FOUND,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ImageContent,
    PromptReference,
    SamplingMessage,
    TextContent,
)
from packaging.version import Version

from mcp_lenient import create_lenient_proxy

_PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "proxy.md"
_DATA = base64.b64encode(b"\x00\x01 not text \xff").decode()
_ANSWERS = {
    "text": TextContent(type="text", text="a word"),
    "image": ImageContent(type="image", data=_DATA, mime_type="image/png"),
}

pytestmark = [
    pytest.mark.filterwarnings("ignore:The (roots|sampling|logging) capability is deprecated"),
    pytest.mark.filterwarnings("ignore:resources/subscribe is removed"),
]


def _sampling() -> FastMCP:

    async def sample(ctx: Context) -> dict[str, Any]:
        """Ask the client's model, and return its whole answer."""
        params = CreateMessageRequestParams(
            messages=[SamplingMessage(role="user", content=_ANSWERS["image"])],
            system_prompt="Be brief.",
            max_tokens=7,
            metadata={"for": "a test"},
        )
        answer = await ctx.session.send_request(CreateMessageRequest(params=params), CreateMessageResult)
        return answer.model_dump(mode="json", by_alias=True, exclude_none=True)

    return FastMCP("upstream", tools=[sample])


async def _sampled(front: FastMCP | str, kind: str) -> tuple[Any, list[Any]]:
    asked: list[Any] = []

    async def model(_messages: Any, params: Any, _context: Any) -> CreateMessageResult:
        asked.append(params)
        return CreateMessageResult(
            role="assistant", model="a-model", content=_ANSWERS[kind], stop_reason="maxTokens"
        )

    async with Client(front, mode="legacy", sampling_handler=model) as client:
        return (await client.call_tool_mcp("sample", {})).structured_content, asked


@pytest.mark.parametrize("kind", _ANSWERS)
async def test_any_model_answer_passes_through(kind):
    """The server gets the model's whole answer, and the client the server's whole request, over HTTP too."""
    with (
        over_http(_sampling()) if kind == "image" else nullcontext(create_lenient_proxy(_sampling())) as front
    ):
        answer, (asked,) = await _sampled(front, kind)
    assert answer["content"] == _ANSWERS[kind].model_dump(mode="json", by_alias=True, exclude_none=True)
    assert (answer["model"], answer["stopReason"]) == ("a-model", "maxTokens")
    assert (asked.system_prompt, asked.max_tokens, asked.metadata) == ("Be brief.", 7, {"for": "a test"})
    assert asked.messages[0].content.data == _DATA


def _changing() -> FastMCP:
    server = FastMCP("upstream")

    @server.completion
    async def complete(*_: Any) -> list[str]:
        return ["bees"]

    @server.prompt
    def ask(topic: str) -> str:
        return topic

    @server.resource("note://one")
    def note() -> str:
        return "a note"

    @server.tool
    async def grow(ctx: Context) -> str:
        await ctx.session.send_tool_list_changed()
        await ctx.session.send_resource_list_changed()
        await ctx.session.send_prompt_list_changed()
        return "grown"

    return server


async def _tried(front: FastMCP) -> dict[str, bool]:
    """Return for each of three protocol features whether it reaches a client."""
    reported = anyio.Event()

    async def message(item: Any) -> None:
        if "list_changed" in str(getattr(item, "method", "")):
            reported.set()

    async with Client(front, mode="legacy", message_handler=message) as client:
        await client.call_tool_mcp("grow", {})
        with anyio.move_on_after(0.1 if _includes_this("before 4.2") else 20):
            await reported.wait()
        passes = {"list_changed": reported.is_set()}
        reference = PromptReference(type="ref/prompt", name="ask")
        passes["completion/complete"] = await _is_there(
            client.complete(reference, {"name": "topic", "value": "b"})
        )
        passes["resources/subscribe"] = await _is_there(client.session.subscribe_resource("note://one"))
    return passes


def _includes_this(versions: str) -> bool:
    """Return whether versions of FastMCP, as a row of the page names them, include the one that runs."""
    return versions == "every version" or Version(__version__) < Version(versions.removeprefix("before "))


async def _is_there(request: Awaitable[Any]) -> bool:
    """Return whether a request is supported, not refused as an unknown method."""
    try:
        await request
    except MCPError as error:
        return error.error.code != METHOD_NOT_FOUND
    return True


async def test_the_page_lists_everything_that_does_not_pass():
    """The page lists exactly those of the tried features that do not pass with this FastMCP."""
    page = _PAGE.read_text(encoding="utf-8")
    section = page.partition("## What does not come through\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (every version|before [\d.]+) \|", section, re.MULTILINE)
    listed = {name for name, versions in rows if _includes_this(versions)}
    passes = await _tried(create_lenient_proxy(_changing()))
    assert listed == {name for name, does in passes.items() if not does}


async def test_the_handshake_claims_only_what_passes():
    """The proxy does not claim capabilities that it does not pass on."""
    async with Client(create_lenient_proxy(_changing()), mode="legacy") as client:
        capabilities = client.initialize_result.capabilities
    assert capabilities.completions is None
    assert not (capabilities.resources and capabilities.resources.subscribe)


def _asking() -> FastMCP:
    server = FastMCP("upstream")

    @server.tool
    async def ask(ctx: Context) -> Any:
        schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 3}}}
        return (await ctx.session.elicit("How many?", schema)).content

    @server.tool
    async def fail() -> str:
        raise MCPError(-32050, "out of paper", {"tray": 1})

    return server


@pytest.mark.parametrize(
    ("answer", "is_error"),
    [({"n": 2}, False), pytest.param({"n": 5}, True, marks=since(4, 2, ANSWER_UNCHECKED))],
)
async def test_an_elicitation_answer_is_checked(answer, is_error):
    """An answer that the schema of the question refuses does not reach the server."""

    async def user(*_: Any) -> ElicitResult:
        return ElicitResult(action="accept", content=answer)

    front = create_lenient_proxy(_asking())
    async with Client(front, mode="legacy", elicitation_handler=user) as client:
        result = await client.call_tool_mcp("ask", {})
    assert result.is_error is is_error
    assert is_error or result.structured_content == answer


async def test_an_error_of_a_tool_becomes_a_result():
    """A JSON-RPC error of a tool becomes an error result with its text."""
    async with Client(create_lenient_proxy(_asking()), mode="legacy") as client:
        result = await client.call_tool_mcp("fail", {})
    assert result.is_error
    assert "out of paper" in result.content[0].text
