"""An agent platform: forty tools that run code, drive a browser, search files, and research questions.

python examples/agent_platform/server.py            a transcript of calls as models make them
python examples/agent_platform/server.py --serve    all forty tools over stdio
python examples/agent_platform/server.py --http     four servers over HTTP, on ports 8090 8082 8086 8080 or four you add

tools.yaml lists other names for the parameters, in English and Chinese, and bounds for their values.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from fastmcp import FastMCP

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where this file is run or loaded by its path

from agent_platform import Group, browser_use
from agent_platform.microsandbox import Microsandbox
from agent_platform.research import DeepSearch, SearchTool
from mcp_lenient import LenientMiddleware
from shared.documents import PARTS, PROJECT, Library
from shared.transcript import DATA, Call, Scene, run_example

DEFINITIONS = Path(__file__).with_name("tools.yaml")
PORTS = {"microsandbox": 8090, "browser_use": 8082, "deepsearch": 8086, "mcp-search-tool": 8080}


def groups(folder: Path = DATA, root: Path = PROJECT, parts: tuple[str, ...] = PARTS) -> dict[str, Group]:
    """Make the groups of tools by the id of their server: they write to a folder, and search in root."""
    data, library = folder / "agent_platform", Library(root, parts)
    return {
        "microsandbox": Microsandbox(data),
        "browser_use": browser_use.BrowserUse(data, library),
        "deepsearch": DeepSearch(data, library),
        "mcp-search-tool": SearchTool(data, root),
    }


def build_server(served: Mapping[str, Group], *, lenient: bool = True) -> FastMCP:
    """Make one server of these groups."""

    @asynccontextmanager
    async def lifespan(_: FastMCP) -> AsyncIterator[None]:
        yield
        for group in served.values():
            await group.close()

    name = "agent-platform" if len(served) > 1 else next(iter(served))
    mcp = FastMCP(name, lifespan=lifespan)
    tools = [tool for group in served.values() for tool in group.tools]
    if lenient:
        mcp.add_middleware(_middleware({tool.__name__ for tool in tools}))
    for tool in tools:
        mcp.tool(tool)
    return mcp


def _middleware(tools: Collection[str]) -> LenientMiddleware:
    """Read what tools.yaml says of these tools alone, since a name that a server lacks would be a warning."""
    declared = yaml.safe_load(DEFINITIONS.read_text("utf-8"))["tools"]
    served = {"tools": {name: declared[name] for name in tools if name in declared}}
    with TemporaryDirectory() as folder:
        path = Path(folder, DEFINITIONS.name)
        path.write_text(yaml.safe_dump(served))
        return LenientMiddleware.from_file(path)


async def serve(ports: Sequence[int]) -> None:
    """Serve each group over HTTP on its port, until interrupted."""
    browser_use.report_missing()
    running = []
    for (name, group), port in zip(groups().items(), ports or PORTS.values(), strict=True):
        print(f"{name}: http://127.0.0.1:{port}/mcp", flush=True)
        running.append(build_server({name: group}).run_http_async(port=port, show_banner=False))
    await asyncio.gather(*running)


SCENES = [
    Scene("计算 1 到 100 的和, 再取平方根。",
        Call("microsandbox_execute", {"代码": "total = sum(range(101)); total", "session": "sums", "timeout": "30"},
             "rename_alias rename_alias", gives="5050"),
        Call("microsandbox_execute", {"session_id": "sums", "timeout": 30}, "MISSING_CODE"),
        Call("microsandbox_execute", {"args": {"code": "round(total ** 0.5, 2)", "session_id": "sums"}},
             "unwrap_arguments", gives="71.06"),
        answer="和是 5050, 平方根约为 71.06。", english="Add up 1 to 100, then take the square root."),
    Scene("Why does mcp-lenient sometimes leave null out? Find the code, too.",
        Call("research", {"query": "Why is null sometimes left out?", "initialQueries": '["null_to_absent"]', "max_loops": 2.0},
             "rename_alias rename_case json_text_to_array", gives="## Sources"),
        Call("search_file_content", {"path": "mcp_lenient/rules", "regex": "^def null_", "toolCallId": "call_7"},
             "rename_alias rename_alias drop_injected"),
        answer="It leaves null out where a schema forbids it: null_to_absent in mcp_lenient/rules/rules.py."),
    Scene("我要把数据画成图表, 需要哪些工具?",
        Call("analyze_tool_needs", {"任务": "把数据画成图表"}, "rename_alias", gives="matplotlib"),
        answer="microsandbox_execute 可以运行代码, 并需要安装 matplotlib。", english="I want to chart data; which tools do I need?"),
]  # fmt: skip
BROWSER_SCENES = [
    Scene("Order oolong for Li in the tea shop.",
        Call("browser_navigate", {"link": " / "}, "rename_alias strip", gives="Tea shop"),
        Call("browser_get_page_info", {}, gives="4 button[submit] Order"),
        Call("browser_input_text", {"index": "2", "value": "Li"}, "rename_alias", gives='"value": "Li"'),
        Call("browser_select_dropdown_option", {"index": [3], "text": "Oolong 乌龙"}, "array_to_scalar"),
        Call("browser_click_element", {"element": 4}, "rename_alias", gives="Order received"),
        Call("browser_get_content", {"css": "#order"}, "rename_alias", gives="Oolong 乌龙 for Li."),
        answer="The oolong is ordered."),
    Scene("打开 /about.html, 说说这家店。",
        Call("browser_use_execute_task", {"query": "打开 /about.html", "max_steps": 500, "wait_for_previous": True},
             "rename_alias clamp drop_injected", gives='"success": true'),
        Call("browser_extract_content", {"goal": "founded in Hangzhou", "links": "no"}, "rename_alias", gives="1987"),
        answer="1987 年由两姐妹在杭州开店。", english="Open /about.html and tell me about the shop."),
]  # fmt: skip


def build(folder: Path, *, lenient: bool) -> FastMCP:
    """Make a server of all four groups, whose data is in a folder, to run it."""
    browser_use.report_missing()
    return build_server(groups(folder), lenient=lenient)


mcp = build_server(groups())

if __name__ == "__main__":
    scenes = SCENES if browser_use.missing() else SCENES + BROWSER_SCENES
    sys.exit(run_example("Agent platform", build, scenes, http=serve))
