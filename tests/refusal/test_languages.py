"""Test Chinese messages."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from calls import call, envelope
from calls import lenient as lenient_server
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool, ToolResult
from fastmcp_versions import NOT_THERE, not_on_3
from pydantic import BaseModel, ConfigDict, Field, FutureDate, Json
from tables import each_row

from benchmarks.quality import lengths
from mcp_lenient import (
    LenientMiddleware,
    Policy,
    Repair,
    dispatch,
    lenient,
    lenient_session,
    normalize,
)
from mcp_lenient.adapters.fastmcp.results import repaired_result
from mcp_lenient.engine.contract import Contract
from mcp_lenient.errors import PolicyError
from mcp_lenient.normalizers import tags

catalogs = pytest.importorskip("refusal.catalogs", reason="catalogs are read by babel")
pytestmark = pytest.mark.skipif(
    bool(catalogs.untranslated("zh")) and not catalogs.IS_RELEASE,
    reason="a text has no translation yet, which test_catalogs.py names",
)
ENGLISH = re.compile(r"[A-Za-z]{2,}")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|\{.*?\}|\[.*?\]|含义：[^。]*。")
OWN_NAMES = {"JSON", "UUID", "URI", "URL", "IPv", "null", "true", "false", "schema", "date", "json"}


def english_in(message: str) -> set[str]:
    """Return the English words of a message, except names, values, descriptions, formats and JSON's own words."""
    return set(ENGLISH.findall(QUOTED.sub("", message))) - OWN_NAMES


class Point(BaseModel):
    """A place."""

    model_config = ConfigDict(extra="forbid")
    x: int
    y: int = 0


class Cat(BaseModel):
    """One branch."""

    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    """Another branch."""

    kind: Literal["dog"]
    name: str


def everything(
    tags: Annotated[list[str] | None, tags()] = None,
    when: FutureDate | None = None,
    day: date | None = None,
    ids: dict[int, str] | None = None,
    data: Json[list[int]] | None = None,
    pair: tuple[int, str] | None = None,
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]] | None = None,
    points: list[Point] | None = None,
    grid: list[list[int | str]] | None = None,
    code: Annotated[str, Field(min_length=2, max_length=4, pattern="^[a-z]+$")] = "ab",
    step: Annotated[float, Field(multiple_of=0.5, gt=0, lt=10)] = 1,
    some: Annotated[list[int], Field(min_length=1, max_length=3)] = (1,),
) -> str:
    """Take values of many kinds."""
    return f"{tags}{when}{day}{ids}{data}{pair}{pets}{points}{grid}{code}{step}{some}"


CALLS = [
    {"tags": ["a", 1]},
    {"tags": "a, b"},
    {"when": "2001-01-01"},
    {"day": "soon"},
    {"ids": {"one": "a"}},
    {"data": "no"},
    {"pair": [1]},
    {"pair": [1, 2, 3]},
    {"pets": [{"kind": "cow"}]},
    {"points": [{"x": "a"}, {"x": "b"}, {"x": "c"}, {"x": "d"}, {"x": "e"}]},
    {"points": "here"},
    {"points": [{"x": 1, "z": 2}]},
    {"grid": 7},
    {"code": "toolong"},
    {"code": "A!"},
    {"step": 0.3},
    {"some": []},
    {"some": [1, 2, 3, 4]},
    {"taggs": ["a"], "coed": "x", "unheard": 1},
    {"arguments": {"code": "abc", "step": "x"}},
    {"send each value under its own name, please": 1},
]


def _server(policy: Policy) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("notes", middleware=[LenientMiddleware(policy=policy)])
    for function in (everything, lengths.store, lengths.search, lengths.order, lengths.total):
        server.tool(function)
    return server


def _without_messages(reported: Any) -> Any:
    if isinstance(reported, dict):
        return {name: _without_messages(value) for name, value in reported.items() if name != "message"}
    return [_without_messages(each) for each in reported] if isinstance(reported, list) else reported


def _messages(reported: dict[str, Any]) -> list[str]:
    return [reported["message"], *(each["message"] for each in reported["details"].get("violations", ()))]


@pytest.fixture(scope="module")
def servers() -> list[FastMCP[Any]]:
    """Return an English server and a Chinese one with the same tools."""
    return [_server(Policy()), _server(Policy(language="zh-CN"))]


@pytest.mark.parametrize(
    ("tool", "sent"), [*lengths.ONE_FAULT, *(("everything", sent) for sent in CALLS)], ids=str
)
async def test_only_messages_are_translated(tool, sent, servers):
    """Only the messages of an envelope are translated, and they have no English words left."""
    found = []
    for server in servers:
        async with Client(server) as client:
            result = await client.call_tool(tool, dict(sent), raise_on_error=False)
            assert result.is_error
            found.append(result.meta["mcp_lenient"])
            assert json.loads(result.content[0].text)["message"] == found[-1]["message"]
    english, chinese = found
    assert _without_messages(chinese) == _without_messages(english)
    for reported, message in zip(_messages(english), _messages(chinese), strict=True):
        assert reported != message
        assert english_in(message) == set()


async def test_servers_of_one_process_have_their_own_languages():
    """The language belongs to the policy, and simultaneous calls do not mix languages."""
    async with Client(_server(Policy())) as one, Client(_server(Policy(language="zh"))) as other:
        calls = [client.call_tool("store", {}, raise_on_error=False) for client in (one, other) * 20]
        found = [json.loads(result.content[0].text)["message"] for result in await asyncio.gather(*calls)]
    assert all("is required" in each and "是" not in each for each in found[::2])
    assert all("是必需的" in each and "is required" not in each for each in found[1::2])


async def test_a_note_of_repairs_is_translated():
    """The text block of ``tell_model`` is in the policy's language."""
    async with Client(_server(Policy(language="zh", tell_model=True))) as client:
        result = await client.call_tool("store", {"content": "tea", "tags": '["a"]'})
    assert result.content[1].text == "注意：'tags' 发送的是字符串，已解读为数组。请发送数组。"


@each_row(
    "repair",
    [
        Repair("rename_tool", "", "string", "string"),
        Repair("unwrap_arguments", "", "object", "object"),
        Repair("drop_injected", "/toolCallId", "string", "absent"),
        Repair("null_to_absent", "/a", "null", "absent"),
        Repair("rename_case", "/aB", "string", "string"),
        Repair("fold_enum", "/a", "string", "string"),
        Repair("of_an_author", "/a", "string", "integer"),
    ],
)
def test_each_note_is_translated(repair):
    """The note about each kind of repair is translated."""
    for repairs in ([repair], [repair] * 5):
        decision = (
            Contract.of_schema({}, Policy(tell_model=True, language="zh")).decide({}).after(tuple(repairs))
        )
        result = repaired_result(ToolResult(content="ran"), decision)
        assert english_in(result.content[1].text) == set()


async def test_the_unknown_tool_message_is_translated():
    """The answer for an unknown tool is in the policy's language."""
    async with Client(_server(Policy(language="zh"))) as client:
        result = await client.call_tool("serch", {}, raise_on_error=False)
        told = "未知工具 'serch'，未运行任何工具。您是指 'search' 吗？其他工具有'store'、'everything'、'order'和'total'。"
        assert result.meta["mcp_lenient"]["message"] == told


@pytest.mark.parametrize(
    ("names", "version"), [((), None), (("store", "order"), None), (("serch",), "9")], ids=str
)
async def test_other_messages_about_unknown_tools_are_translated(names, version):
    """So is it where there is no tool, another one, or another version."""
    tools = [Tool.from_function(lengths.store, name=name, version="1") for name in names]
    answer = await call(lenient_server(*tools, policy=Policy(language="zh")), "serch", {}, version=version)
    assert english_in(envelope(answer)["message"]) == set()


@not_on_3(NOT_THERE)
async def test_the_unavailable_server_message_is_translated():
    """The answer of a proxy whose server cannot be reached is in the policy's language."""
    from mcp_lenient import create_lenient_proxy

    proxy = create_lenient_proxy("http://127.0.0.1:9/mcp", policy=Policy(language="zh"))
    assert english_in(envelope(await call(proxy, "store", {}))["message"]) == set()


@each_row("sent", ["no JSON", [1]])
def test_the_non_object_message_is_translated(sent):
    """The message of ``normalize`` for arguments that are not an object is translated."""
    (violation,) = normalize({"type": "object"}, sent, Policy(language="zh")).violations
    assert english_in(violation.message) == set()


@each_row("tag", ["fr", 5, None, ["zh"]])
def test_an_unknown_language_is_an_error_that_names_the_known_ones(tag):
    """A language without a catalog, or that is no string, is an error of the policy."""
    with pytest.raises(PolicyError, match=r"Policy\.language must be one of 'en', 'zh', got "):
        Policy(language=tag)


def test_a_policy_names_the_language_by_its_catalog():
    """Tags of the same language make equal policies."""
    assert Policy(language="zh-CN") == Policy(language="zh")
    assert Policy(language="en-US") == Policy()


async def test_a_function_with_its_own_policy_answers_in_its_language():
    """Without the middleware, the decorator's policy sets the language."""
    server: FastMCP[Any] = FastMCP("notes")

    @server.tool
    @lenient(policy=Policy(language="zh"))
    def keep(tags: list[str]) -> str:
        return f"kept {tags}"

    async with Client(server) as client:
        result = await client.call_tool("keep", {"tags": 5}, raise_on_error=False)
    assert english_in(json.loads(result.content[0].text)["message"]) == set()


async def test_a_clients_session_answers_in_its_language():
    """A session's language applies to refused calls, unknown tools and text that is not a call."""
    server: FastMCP[Any] = FastMCP("notes")
    server.tool(lengths.store)
    async with Client(server) as client:
        session = lenient_session(client, Policy(language="zh", unrepairable="refuse"))
        for name, sent, reported in (("store", {}, "是必需的"), ("stroe", {}, "未知工具")):
            done = await dispatch(session, [{"type": "tool_use", "id": "1", "name": name, "input": sent}])
            assert reported in done.messages[0]["content"][0]["content"]
        done = await dispatch(session, '{"name": "store", "arguments": {"content": "tea"')
        assert "无法解析该工具调用" in json.dumps(done.messages, ensure_ascii=False)
