"""Parameters in a definitions file: type, required, default and description."""

from __future__ import annotations

import pytest
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool
from fastmcp_versions import PROXY, MCPError, skip_on_3

from mcp_lenient import LenientMiddleware
from mcp_lenient.adapters.fastmcp.standing import check_statements
from mcp_lenient.errors import DefinitionError

FILE = """
browser_use_execute_task:
  description: "Run a task in a browser."
  parameters:
    task:
      type: string
      required: true
      description: "What to do, in plain words"
      aliases: [query]
    max_steps:
      type: integer
      required: false
      default: 20
      description: "Steps at most"
    use_vision:
      type: boolean
      required: false
      default: true
"""


@pytest.fixture
def served(tmp_path):
    """Return a function that creates a server with a definitions file and its one tool."""

    def made(text=FILE, server=None):
        (tmp_path / "tools.yaml").write_text(text, encoding="utf-8")
        mcp = server or platform()
        mcp.add_middleware(LenientMiddleware(definitions=tmp_path / "tools.yaml"))
        return mcp

    return made


def platform():
    """Create a server with the tool that the file describes."""

    def browser_use_execute_task(task: str, max_steps: int, *, use_vision: bool = True) -> str:
        """Execute a task."""
        return f"{task}, {max_steps}, {use_vision}"

    return FastMCP("platform", tools=[browser_use_execute_task])


async def call(server, **arguments):
    async with Client(server) as client:
        return await client.call_tool("browser_use_execute_task", arguments, raise_on_error=False)


@pytest.mark.parametrize(
    ("sent", "data"),
    [
        pytest.param({"query": "tea", "useVision": "false"}, "tea, 20, False", id="beside-repairs"),
        pytest.param({"task": "tea", "max_steps": 3}, "tea, 3, True", id="sent"),
        pytest.param({"task": "tea", "maxSteps": "3"}, "tea, 3, True", id="other-case"),
    ],
)
async def test_a_default_of_the_file_is_used_unless_the_parameter_is_sent(served, sent, data):
    """A default is filled in beside renamed and converted values, but never in place of a sent one."""
    assert (await call(served(), **sent)).data == data


async def test_a_default_of_the_file_is_a_repair(served):
    """Filling in a required parameter is recorded; leaving out what the function has a default for is not."""
    result = await call(served(), task="tea")
    assert result.data == "tea, 20, True"
    assert result.meta["mcp_lenient"]["repairs"] == [
        {"rule": "declared_default", "pointer": "/max_steps", "before": "absent", "after": "integer"}
    ]
    assert "mcp_lenient" not in ((await call(served(), task="tea", max_steps=1)).meta or {})


async def test_the_description_of_the_file_is_in_the_envelope(served):
    """The envelope for a missing parameter includes its description from the file."""
    reported = (await call(served(), max_steps=3)).meta["mcp_lenient"]
    assert "It means: What to do, in plain words." in reported["message"]


async def test_the_published_tools_stay_unchanged(served):
    """Descriptions and defaults from a file are not published: ``tools/list`` is the same without it."""
    async with Client(served()) as client, Client(platform()) as bare:
        with_file, without = await client.list_tools(), await bare.list_tools()
    assert [tool.model_dump() for tool in with_file] == [tool.model_dump() for tool in without]


async def test_statements_are_published_where_the_operator_asks(served):
    """With ``publish_statements`` a client reads the file's descriptions and defaults, and a call with them runs."""
    server = served(FILE + "policy: {publish_statements: true}\n")
    async with Client(server) as client:
        (tool,) = await client.list_tools()
    shown = tool.model_dump(by_alias=True)
    assert shown["description"] == "Run a task in a browser."
    properties = shown["inputSchema"]["properties"]
    assert {name: (one.get("description"), one.get("default")) for name, one in properties.items()} == {
        "task": ("What to do, in plain words", None),
        "max_steps": ("Steps at most", 20),
        "use_vision": (None, True),
    }
    assert shown["inputSchema"]["required"] == ["task"]
    assert (await call(server, task="tea")).data == "tea, 20, True"


def other(max_steps: int) -> int:
    """Count."""
    return max_steps


async def test_statements_may_be_published_for_one_tool(served):
    """The policy of a tool in the file has the last word, and does not change the other tools."""
    server = platform()
    server.tool(other)
    policy = "  policy: {publish_statements: true}\n"
    text = FILE + policy + "other:\n  description: Another\n"
    async with Client(served(text, server)) as client:
        told = {tool.name: tool.description for tool in await client.list_tools()}
    assert told == {"browser_use_execute_task": "Run a task in a browser.", "other": "Count."}


async def test_what_contradicts_a_foreign_tool_is_not_published(served):
    """Of a tool whose schema may change, the statements are published unless its schema contradicts them."""
    foreign = Tool(name="browser_use_execute_task", description="Do it.", parameters=FOREIGN)
    server = FastMCP("foreign")
    server.add_tool(foreign)
    async with Client(served(FILE + "policy: {publish_statements: true}\n", server)) as client:
        (tool,) = await client.list_tools()
    assert tool.model_dump(by_alias=True)["inputSchema"] == FOREIGN


FOREIGN = {"type": "object", "properties": {"task": {"type": "integer"}, "max_steps": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("old", "new", "line", "reported"),
    [
        pytest.param("type: integer\n      required: false\n      default: 20", "type: string", 11, "is not a string: it takes an integer.", id="type"),
        pytest.param("type: boolean\n      required: false\n      default: true", "type: [array, object, number]", 16, "is not an array or an object or a number: it takes a boolean.", id="several-types"),
        pytest.param("type: boolean\n      required: false\n      default: true", "required: true", 16, "is not required: the tool may be called without it.", id="required"),
        pytest.param("required: false\n      default: 20", "required: false", 12, "is required: give it a default here, or say so.", id="not-required"),
        pytest.param("type: integer\n      required: false\n      default: 20", "default: many", 11, "does not take its default.", id="default"),
    ],
)  # fmt: skip
async def test_a_contradiction_of_the_function_is_an_error_with_its_line(
    served, tmp_path, old, new, line, reported
):
    """A statement that contradicts the function raises before the first call, with file and line."""
    server = served(FILE.replace(old, new, 1))
    with pytest.raises(DefinitionError) as caught:
        await check_statements(server)
    assert f"{tmp_path}/tools.yaml:{line}: '" in str(caught.value)
    assert str(caught.value).endswith(reported)


@pytest.mark.parametrize(("policy", "lines"), [("", 1), ("policy: {publish_statements: true}\n", 0)])
async def test_descriptions_that_no_client_reads_are_logged(served, events, policy, lines):
    """Where the file describes tools and does not publish it, one line says so, however often tools are listed."""
    async with Client(served(FILE + policy)) as client:
        for _ in range(2):
            await client.list_tools()
    told = [event["reason"] for event in events if event["event"] == "definition_unused"]
    assert len(told) == lines
    assert all("publish_statements: true" in reason for reason in told)


async def test_a_server_with_a_wrong_file_does_not_start(served, tmp_path, events):
    """A client cannot connect, and one line of the log names the file, the line and both types."""
    server = served(FILE.replace("type: boolean\n      required: false\n      default: true", "type: string"))
    for _ in range(2):
        with pytest.raises(
            (MCPError, RuntimeError), match="cannot start: its definitions file contradicts a tool"
        ):
            async with Client(server) as client:
                await client.list_tools()
    (refused,) = [event for event in events if event["event"] == "definitions_refused"]
    assert refused["reason"] == (
        f"{tmp_path}/tools.yaml:16: 'use_vision' of tool 'browser_use_execute_task' is not a string: it takes a boolean."
    )


async def test_a_corrected_file_lets_a_server_start(tmp_path, later):
    """With ``reload`` a file that was wrong at the start is read again."""
    file = tmp_path / "tools.yaml"
    file.write_text("tools: {add: {parameters: {n: {type: string}}}}", encoding="utf-8")

    def add(n: int) -> int:
        return n + 1

    middleware = LenientMiddleware(definitions=file, reload=True)
    server: FastMCP = FastMCP("edited", middleware=[middleware], tools=[add])
    with pytest.raises((MCPError, RuntimeError), match="cannot start"):
        async with Client(server) as client:
            await client.list_tools()
    file.write_text("tools: {add: {parameters: {n: {type: integer}}}}", encoding="utf-8")
    later()
    async with Client(server) as client:
        assert (await client.call_tool("add", {"n": "1"})).data == 2


async def test_a_narrower_type_is_not_a_contradiction(served):
    """The file may declare fewer types than the function accepts; an integer is a number."""

    def browser_use_execute_task(task: str | None, max_steps: float, *, use_vision: bool = True) -> str:
        """Execute a task."""
        return f"{task}, {max_steps}, {use_vision}"

    mcp = FastMCP("platform", tools=[browser_use_execute_task])

    assert (await call(served(server=mcp), task="tea")).data == "tea, 20.0, True"


async def test_a_contradiction_of_another_server_is_ignored_and_logged(tmp_path, events):
    """Behind a proxy, a statement that contradicts the schema is ignored, and one event reports it."""
    skip_on_3(PROXY)
    from mcp_lenient import create_lenient_proxy

    file = tmp_path / "tools.yaml"
    file.write_text(
        FILE.replace("type: integer", "type: string").replace("default: 20", "default: x"), encoding="utf-8"
    )
    result = await call(create_lenient_proxy(platform(), definitions=file), task="tea", max_steps="4")
    assert result.data == "tea, 4, True"
    assert [line["event"] for line in events if "tools.yaml:11" in line.get("reason", "")] == [
        "definition_unused"
    ]


async def test_a_reloaded_contradiction_changes_nothing(tmp_path, later, events):
    """A changed file that contradicts the function is not used, and one event names its parameter."""
    file = tmp_path / "tools.yaml"
    file.write_text("tools: {add: {parameters: {n: {aliases: [number]}}}}", encoding="utf-8")

    def add(n: int) -> int:
        return n + 1

    server: FastMCP = FastMCP(
        "edited", middleware=[LenientMiddleware(definitions=file, reload=True)], tools=[add]
    )

    file.write_text("tools: {add: {parameters: {n: {type: string}}}}", encoding="utf-8")
    async with Client(server) as client:
        for _ in range(2):
            later()
            assert (await client.call_tool("add", {"number": 1})).data == 2
    (kept,) = [event for event in events if event["event"] == "definitions_kept"]
    assert "'n'" in kept["reason"]
