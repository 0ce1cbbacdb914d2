"""An agent platform: forty tools that run code, drive a browser, search files, and research questions.

python examples/agent_platform/server.py            a chat in the terminal; --model NAME lets a model answer
python examples/agent_platform/server.py --serve    all forty tools over stdio
python examples/agent_platform/server.py --http     four servers over HTTP, on ports 8090 8082 8086 8080
python examples/agent_platform/server.py --folder . search this folder; by default the example's own

tools.yaml has what the model reads of each parameter, and other names for them, in English and Chinese.
--unsafe runs code without isolation where bubblewrap is missing; --install installs packages that are asked for by name.
AGENT_PLATFORM_SEARCH is the address of a search engine up to the query, such as https://www.google.com/search?q=
"""

from __future__ import annotations

import ast
import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastmcp import FastMCP
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.responses import JSONResponse

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where this file is run or loaded by its path

import chat
from agent_platform import Group, browser_use, microsandbox
from agent_platform.browser_use import plan
from agent_platform.documents import HERE, Library, terms
from agent_platform.research import DeepSearch, SearchTool
from chat import DATA, Script, Talk
from mcp_lenient import LenientError, LenientMiddleware
from mcp_lenient.adapters.fastmcp.standing import check_statements
from mcp_lenient.declare.definitions import load_definitions

DEFINITIONS = Path(__file__).with_name("tools.yaml")
EFFECTS = {
    "microsandbox_close_session": {"destructiveHint": True},
    "microsandbox_cleanup_expired": {"destructiveHint": True},
    "browser_send_keys": {"destructiveHint": False},
}
NEWEST_WITH_SESSIONS = "2025-11-25"
INSTRUCTIONS = {
    "microsandbox": "Runs Python code; name a session_id to keep variables and files.",
    "browser_use": "Drives a browser; browser_get_page_info numbers the elements of a page.",
    "deepsearch": "Answers questions from documents, with sources.",
    "mcp-search-tool": "Searches files, and finds tools and packages for a task.",
}
PORTS = {"microsandbox": 8090, "browser_use": 8082, "deepsearch": 8086, "mcp-search-tool": 8080}


def groups(
    folder: Path = DATA,
    root: Path = HERE,
    parts: tuple[str, ...] = (".",),
    *,
    unsafe: bool = False,
    installs: bool = False,
    model: str | None = None,
) -> dict[str, Group]:
    """Make the groups of tools by the id of their server.

    Args:
        folder: Where they write.
        root: The folder that they search.
        parts: The parts of it that research reads.
        unsafe: Whether code runs without isolation where there is no bubblewrap.
        installs: Whether packages that are asked for by name may be installed.
        model: The model that plans tasks for the browser.
    """
    data = folder / "agent_platform"
    library = Library(root, parts, os.environ.get("AGENT_PLATFORM_SEARCH", ""))
    return {
        "microsandbox": microsandbox.Microsandbox(data, unsafe=unsafe),
        "browser_use": browser_use.BrowserUse(data, library, model),
        "deepsearch": DeepSearch(data, library),
        "mcp-search-tool": SearchTool(data, root, installs=installs),
    }


def build_server(served: Mapping[str, Group], *, lenient: bool = True) -> FastMCP:
    """Make one server of these groups."""
    tools = [tool for group in served.values() for tool in group.tools]

    @asynccontextmanager
    async def lifespan(server: FastMCP) -> AsyncIterator[None]:
        with refusing():
            await check_statements(server)
        yield
        for group in served.values():
            await group.close()

    name = "agent-platform" if len(served) > 1 else next(iter(served))
    mcp = FastMCP(name, " ".join(INSTRUCTIONS[group] for group in served), lifespan=lifespan)
    if lenient:
        with refusing():
            mcp.add_middleware(_middleware({tool.__name__ for tool in tools}))
    for tool in tools:
        mcp.tool(tool, annotations=EFFECTS.get(tool.__name__))
    return mcp


@contextmanager
def refusing() -> Iterator[None]:
    """Do not start, and say why in one line, where tools.yaml cannot be read or contradicts a tool."""
    try:
        yield
    except LenientError as error:
        sys.exit(str(error))


def _middleware(tools: Collection[str]) -> LenientMiddleware:
    """Read what tools.yaml says of these tools alone, since a name that a server lacks would be a warning."""
    definitions = load_definitions(DEFINITIONS)
    served = {name: declared for name, declared in definitions.tools.items() if name in tools}
    names = {name: parameters for name, parameters in definitions.names.items() if name in tools}
    return LenientMiddleware(definitions=replace(definitions, tools=served, names=names))


def report_missing(*, unsafe: bool = False) -> None:
    """Say at the start, a line each, what does not work on this machine, or runs without isolation."""
    for reason in filter(None, (browser_use.missing(), microsandbox.missing(unsafe=unsafe))):
        print(reason, file=sys.stderr)


class Sessions:
    """Speaks the protocols over HTTP that have sessions, since a browser belongs to one; says when one has ended.

    To the newest protocol, which has none, it answers as an older server does; clients then turn to an older one.
    """

    def __init__(self, app: Any, group: Group) -> None:
        self._app, self._group = app, group

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle a request."""
        headers = Headers(raw=scope.get("headers", []))
        if headers.get("mcp-protocol-version", "") > NEWEST_WITH_SESSIONS:
            error = {"code": -32600, "message": f"This server speaks MCP up to {NEWEST_WITH_SESSIONS}."}
            answer = JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)
        if scope["type"] == "http" and scope["method"] == "DELETE":
            await self._group.end(headers.get("mcp-session-id", ""))


async def serve(served: Mapping[str, Group], ports: Collection[int]) -> None:
    """Serve each group over HTTP on its port, until interrupted."""
    running = []
    for (name, group), port in zip(served.items(), ports or PORTS.values(), strict=True):
        print(f"{name}: http://127.0.0.1:{port}/mcp", flush=True)
        sessions = [Middleware(Sessions, group=group)]
        server = build_server({name: group})
        running.append(server.run_http_async(port=port, show_banner=False, middleware=sessions))
    await asyncio.gather(*running)


mcp = build_server(groups())

# --- The chat: what the stand-in for a model understands, besides steps for the browser ---------------------------


async def reply(line: str, talk: Talk) -> str:
    """Answer a line by its first word and a colon, or by its question mark; anything else is steps for the browser."""
    talk.line = line
    if not plan(line)[0]:
        if script.sentences.read(line) is None:
            return chat.not_read(line, script.sentences) + talk.say(*STEPS)
        return await script.reply(line, talk)
    done = await talk.call("browser_use_execute_task", task=line, use_vision=False)
    if not done["success"]:
        return str(done["error"])
    count, last = len(done["steps"]), done["steps"][-1]["url"]
    lead = talk.say(f"Done, steps: {count}. The page is {last}: ", f"{count} 步完成。页面是 {last}: ")
    return lead + str(done["found"][0])


async def _run(talk: Talk, code: str) -> str:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError):
        return talk.say(f"{code!r} is not Python, so nothing was run.", f"{code!r} 不是 Python, 没有运行。")
    except (RecursionError, MemoryError, OverflowError):
        return "The code is nested too deeply to be read, so nothing was run."
    done = await talk.call("microsandbox_execute", code=code, session_id="chat")
    failed = done["error"] and f"The code failed: {done['error'].rstrip().rpartition(chr(10))[2]}"
    parts = [done["stdout"].rstrip("\n"), done["stderr"].rstrip("\n"), failed or done["result"]]
    nothing = talk.say("The code ran, and printed nothing.", "代码已运行, 没有输出。")
    return "\n".join(filter(None, parts)) or nothing


async def _research(talk: Talk, question: str) -> str:
    if not terms(question):  # as in "What can you do?"
        return chat.not_read(talk.line, script.sentences)
    return str((await talk.call("quick_research", question=question))["answer"])


async def _find(talk: Talk, text: str) -> str:
    found = await talk.call("search_file_content", file_path=".", regex_pattern=re.escape(text))
    lines = [f"{one['file']}:{one['line']} {one['text'].strip()}" for one in found["matches"][:5]]
    lead = talk.say(f"Lines that hold {text!r}: ", f"含有 {text!r} 的行: ")
    return "\n".join([f"{lead}{found['count']}", *lines])


async def _packages(talk: Talk, task: str) -> str:
    found = await talk.call("search_and_install_tools", task_description=task)
    named = [f"{one['package']}: {one['summary']}" for one in found["found"]]
    if not named:
        return talk.say("The index has no package for this.", "索引中没有这样的包。")
    installed, nothing = ", ".join(found["installed"]), talk.say(*NOTHING)
    return "\n".join([*named, talk.say("Installed: ", "已安装: ") + installed if installed else nothing])


STEPS = (
    " Or steps for the browser: open /, click Order, type Li into Name, press Enter, scroll down, search for tea.",
    "还有浏览器的步骤: 打开 /, 点击 Order, 在Name中输入李, 按Enter, 向下滚动, 搜索茶。",
)
NOTHING = (
    "Nothing was installed. With --install, a package is installed whose name is all that is said.",
    "什么都没有安装。启动时加 --install, 并且只说包名, 才会安装。",
)
script = Script(
    {
        "run: {code} | execute: {code} | 运行: {code} | 运行{_colon}{code} | 执行{_colon}{code}": _run,
        "research: {question} | 研究: {question} | 研究{_colon}{question} | 调查{_colon}{question}": _research,
        "find: {text} | grep: {text} | 查找文件: {text} | 查找文件{_colon}{text}": _find,
        "packages: {task} | install: {task} | install {task} | 安装: {task} | 安装{_colon}{task} | 安装{task}": _packages,
        "{question}": _research,
    },
    _colon=r"\s*[:：]",
    code=r".+",
    task=r".+",
    text=r".+",
    question=r"(?<=[:：])\s*.+|(?i:what|when|where|who|why|how|which|is|are|does|do)\b[^,;.:]+[?？]|[^,;.:，。；：]*(?:什么|怎|哪|谁|几|多少|吗|呢)[^,;.:，。；：]*[?？]",
)


def main() -> None:
    """Run the platform as the command line says."""
    parser = chat.arguments_parser()
    parser.add_argument("--http", nargs="*", type=int, metavar="PORT", help="serve over HTTP")
    parser.add_argument("--folder", type=Path, default=HERE, help="the folder to search")
    parser.add_argument("--unsafe", action="store_true", help="run code also without bubblewrap")
    parser.add_argument("--install", action="store_true", help="install packages asked for by name alone")
    options = parser.parse_args()
    with refusing():
        asyncio.run(check_statements(mcp))
    if len(options.http or ()) not in {0, len(PORTS)}:
        parser.error(f"--http takes {len(PORTS)} ports, or none for {' '.join(map(str, PORTS.values()))}")
    if not options.folder.is_dir():
        parser.error("--folder is not a folder that can be searched")
    served = groups(root=options.folder, unsafe=options.unsafe, installs=options.install, model=options.model)
    report_missing(unsafe=options.unsafe)
    if options.http is None:
        chat.run(build_server(served), reply, options)
    else:
        with chat.interruptible():
            asyncio.run(serve(served, options.http))


if __name__ == "__main__":
    main()
