"""Test the file and the prompt that ``mcp-lenient definitions`` writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables import each_row

from mcp_lenient import ToolCall, parse_tool_call
from mcp_lenient.adapters.fastmcp.standing import check_statements
from mcp_lenient.cli import run
from mcp_lenient.declare.definitions import load_definitions

SERVER = '''
from typing import Literal
from fastmcp import FastMCP
from fastmcp.tools import Tool, ToolResult
from mcp_lenient import LenientMiddleware
from pathlib import Path
from pydantic import BaseModel, Field

mcp = FastMCP("odd")


class Point(BaseModel):
    x: int = Field(description="From the left")
    y: float = 0.5


@mcp.tool
def plot(points: list[Point], label: str | None = None, mode: Literal["line", "dot"] = "dot", scale: float = 1) -> str:
    """Plot \\"points\\".

    On several lines \\U0001f4c8\\u2028 with a \\\\ in them.
    """
    return "plotted"


class Other(Tool):
    async def run(self, arguments):
        return ToolResult("done")


mcp.add_tool(
    Other(
        name="on",
        description="",
        parameters={
            "type": "object",
            "properties": {"yes": {"default": "no"}, "1_000": {"type": "integer", "default": "many"}, "n\\nl": {}},
            "required": ["yes"],
        },
    )
)
for file in Path(__file__).parent.glob("*.yaml"):
    mcp.add_middleware(LenientMiddleware(definitions=file))
'''


@pytest.fixture
def server(tmp_path):
    """Return a server with odd names and texts that loads the definitions file in its folder."""
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    return tmp_path / "server.py"


def test_the_file_can_be_read_back(server, capsys):
    """The written definitions file loads and matches the tools, even with odd names and texts."""
    assert run(["definitions", str(server)]) == 0
    file = server.with_name("tools.yaml")
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    definitions = load_definitions(file)
    assert definitions.names == {"plot": {"points", "label", "mode", "scale"}, "on": {"yes", "1_000", "n\nl"}}
    plot = definitions.tools["plot"]
    assert plot.description == 'Plot "points".\n\nOn several lines \U0001f4c8\u2028 with a \\ in them.'
    assert {name: stated.types for name, stated in plot.stated.items()} == {
        "points": ("array",),
        "label": ("string", "null"),
        "mode": ("string",),
        "scale": ("number",),
    }
    assert [stated.default for stated in plot.stated.values()] == [(), (), ("dot",), (1,)]
    assert run(["definitions", str(server)]) == 0, "the server itself accepts the file"
    assert capsys.readouterr().out == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("example", ["smart_home.py", "context_store.py", "agent_platform/server.py"])
async def test_the_inventory_of_an_example_contradicts_nothing(example, tmp_path):
    """The definitions of each example match the example's own server."""
    from mcp_lenient import LenientMiddleware
    from mcp_lenient.cli.targets import target_of
    from mcp_lenient.devtools.check.surface import published
    from mcp_lenient.devtools.inventory import as_definitions

    server = target_of([str(Path(__file__).parents[2] / "examples" / example)])
    tools = [each.tool for each in await published(server)]
    (tmp_path / "tools.yaml").write_text(as_definitions(tools), encoding="utf-8")
    server.add_middleware(LenientMiddleware(definitions=tmp_path / "tools.yaml"))
    await check_statements(server)


def test_the_prompt_has_every_parameter(server, capsys):
    """The prompt shows how to call a tool, with the type and default of each parameter, also nested ones."""
    assert run(["definitions", str(server), "--prompt"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for line in (
        "<tool_name>",
        "- points (an array of objects, required)",
        "  - x (an integer, required): From the left",
        "  - y (a number, optional, default 0.5)",
        "- label (a string or null, optional)",
        '- mode (one of "line", "dot", optional, default "dot")',
        "- scale (a number, optional, default 1)",
        '- yes (any JSON value, required, default "no")',
        "- n\\nl (any JSON value, optional)",
    ):
        assert line in lines, line


UNIONS = """
from typing import Annotated, Literal
from fastmcp import FastMCP
from pydantic import BaseModel, Field

mcp = FastMCP("drawing")


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: float


class Text(BaseModel):
    kind: Literal["text"]
    words: str = Field(description="What it says")


Shape = Annotated[Circle | Text, Field(discriminator="kind")]


@mcp.tool
def draw(shapes: Shape | list[Shape], at: Circle | None = None) -> None:
    pass
"""


def test_the_prompt_may_teach_the_tag_of_a_server(server, capsys):
    """With --server a call is taught as it is read: a tag for the tool inside that of its server."""
    assert run(["definitions", str(server), "--prompt", "--server", "web"]) == 0
    taught = capsys.readouterr().out
    call = taught[taught.index("<web>") : taught.index("</web>") + len("</web>")]
    assert call == '<web>\n<tool_name>\n{"parameter": "value"}\n</tool_name>\n</web>'
    read = parse_tool_call(call.replace("tool_name", "search"), servers=["web"])
    assert read == ToolCall("web", "search", {"parameter": "value"})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--server", "web"], "add --prompt"),
        (["--prompt", "--server", "my web"], "must be the name of a tag"),
    ],
)
def test_a_server_that_is_no_tag_is_an_error(server, capsys, options, said):
    """The error says what --server takes, and with what."""
    assert run(["definitions", str(server), *options]) == 2
    assert said in capsys.readouterr().err


def test_the_prompt_says_which_branch_has_which_parameters(tmp_path, capsys):
    """The branches of a union are listed one below the other, each once, with their own parameters."""
    file = tmp_path / "drawing.py"
    file.write_text(UNIONS, encoding="utf-8")
    assert run(["definitions", str(file), "--prompt"]) == 0
    expected = """\
  - either an object with:
    - kind ("circle", required)
    - radius (a number, required)
  - or an object with:
    - kind ("text", required)
    - words (a string, required): What it says
- at (an object or null, optional)
  - kind ("circle", required)
  - radius (a number, required)
"""
    assert capsys.readouterr().out.endswith(expected)


LIMITED = """
from typing import Annotated, Literal
from fastmcp import FastMCP
from pydantic import BaseModel, Field

mcp = FastMCP("limited")
Level = Literal[tuple([f"level number {number} of a long list" for number in range(30)])]


class Item(BaseModel):
    sku: Annotated[str, Field(pattern="^[A-Z]+$")]


@mcp.tool
def order(
    items: Annotated[list[Item], Field(min_length=1, max_length=3)],
    level: Level,
    size: Annotated[int, Field(ge=1, lt=10)],
    kinds: list[Literal["a", "b"]],
    grid: list[list[int]],
    pair: tuple[int, str],
    stock: dict[str, int],
    rows: dict[str, list[Item]],
    mixed: Annotated[int, Field(ge=1)] | Annotated[str, Field(max_length=3)] | None = None,
) -> None:
    pass
"""


def test_the_prompt_keeps_values_limits_and_inner_types(tmp_path, capsys):
    """A model reads all allowed values, the limits, and what is in lists, tuples and objects with free names."""
    file = tmp_path / "limited.py"
    file.write_text(LIMITED, encoding="utf-8")
    assert run(["definitions", str(file), "--prompt"]) == 0
    out = capsys.readouterr().out
    assert all(f'"level number {number} of a long list"' in out for number in range(30))
    expected = """\
- size (an integer, required, must be at least 1 and be less than 10)
- kinds (an array of strings, required)
  - each item (one of "a", "b")
- grid (an array of arrays, required)
  - each item (an array of integers)
- pair (an array, required, must have at least 2 items and have at most 2 items)
  - item 1 (an integer)
  - item 2 (a string)
- stock (an object, required)
  - any name (an integer)
- rows (an object, required)
  - any name (an array of objects)
    - sku (a string, required, must match the pattern "^[A-Z]+$")
- mixed (an integer, a string or null, optional, an integer must be at least 1, a string must have at most 3 characters)
"""
    assert out.endswith(expected)
    assert (
        "- items (an array of objects, required, must have at least 1 item and have at most 3 items)\n" in out
    )


@each_row(
    ("written", "said"),
    [
        ("plott: {description: x}", "There is no tool 'plott'; did you mean 'plot'?"),
        ("plot: {parameters: {lable: {}}}", "Tool 'plot' has no parameter 'lable'; did you mean 'label'?"),
    ],
)
def test_a_name_that_the_server_lacks_is_an_error(written, said, server, tmp_path, capsys):
    """A definitions file for another server is not used in silence."""
    file = tmp_path / "other.yml"
    file.write_text(f"tools: {{{written}}}", encoding="utf-8")
    assert run(["definitions", str(server), "--prompt", "--config", str(file)]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith(f"error: {file}: {said}")


def test_definitions_override_the_inventory(server, tmp_path, capsys):
    """With ``--config`` the prompt uses the file's descriptions and defaults."""
    file = tmp_path / "other.toml"
    file.write_text(
        '[plot]\ndescription = "Draw"\nparameters.label = {description = "Its name", default = "x"}\n',
        encoding="utf-8",
    )
    assert run(["definitions", str(server), "--prompt", "--config", str(file)]) == 0
    assert '- label (a string or null, optional, default "x"): Its name' in capsys.readouterr().out
    assert run(["definitions", str(server), "--config", str(file)]) == 2
    assert "add --prompt" in capsys.readouterr().err


def test_a_contradiction_is_reported_in_one_line(server, capsys):
    """A server that contradicts its own definitions file is refused, naming the line of the file."""
    file = server.with_name("tools.yaml")
    file.write_text("plot:\n  parameters:\n    scale: {type: string}\n", encoding="utf-8")
    for command in ("definitions", "check"):
        assert run([command, str(server)]) == 2
        assert f"{file}:3: 'scale' of tool 'plot' is not a string: it takes " in " ".join(
            capsys.readouterr().err.split()
        )
