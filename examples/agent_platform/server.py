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

import os
import signal

if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # as long as the imports run

import argparse
import ast
import asyncio
import re
import sys
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from fastmcp import FastMCP

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where this file is run or loaded by its path

from agent_platform import Group, browser_use, microsandbox, talk
from agent_platform.browser_use import plan
from agent_platform.documents import HERE, Library, terms
from agent_platform.research import DeepSearch, SearchTool
from agent_platform.talk import DATA
from mcp_lenient import LenientMiddleware

DEFINITIONS = Path(__file__).with_name("tools.yaml")
EFFECTS = {
    "microsandbox_close_session": {"destructiveHint": True},
    "microsandbox_cleanup_expired": {"destructiveHint": True},
    "browser_send_keys": {"destructiveHint": False},
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
        mcp.tool(tool, annotations=EFFECTS.get(tool.__name__))
    return mcp


def _middleware(tools: Collection[str]) -> LenientMiddleware:
    """Read what tools.yaml says of these tools alone, since a name that a server lacks would be a warning."""
    declared = yaml.safe_load(DEFINITIONS.read_text("utf-8"))
    served = {**declared, "tools": {name: own for name, own in declared["tools"].items() if name in tools}}
    with TemporaryDirectory() as folder:
        path = Path(folder, DEFINITIONS.name)
        path.write_text(yaml.safe_dump(served, allow_unicode=True), "utf-8")
        return LenientMiddleware(definitions=path)


def report_missing(*, unsafe: bool = False) -> None:
    """Say at the start, a line each, what does not work on this machine, or runs without isolation."""
    for reason in filter(None, (browser_use.missing(), microsandbox.missing(unsafe=unsafe))):
        print(reason, file=sys.stderr)


async def serve(served: Mapping[str, Group], ports: Collection[int]) -> None:
    """Serve each group over HTTP on its port, until interrupted."""
    running = []
    for (name, group), port in zip(served.items(), ports or PORTS.values(), strict=True):
        print(f"{name}: http://127.0.0.1:{port}/mcp", flush=True)
        running.append(build_server({name: group}).run_http_async(port=port, show_banner=False))
    await asyncio.gather(*running)


async def reply(line: str, call: talk.Call) -> str:
    """Answer a line by its first word and a colon, or by its question mark; anything else is steps for the browser."""
    for pattern, answer in REPLIES:
        if found := re.fullmatch(pattern, line.strip(), re.IGNORECASE | re.DOTALL):
            return await answer(found[1].strip(), call)
    if not plan(line)[0]:
        return UNDERSTOOD.format(line.strip())
    done = await call("browser_use_execute_task", task=line, use_vision=False)
    if not done["success"]:
        return str(done["error"])
    steps = "1 step" if len(done["steps"]) == 1 else f"{len(done['steps'])} steps"
    return f"Done in {steps}. The page is {done['steps'][-1]['url']}: {done['found'][0]}"


async def _run(code: str, call: talk.Call) -> str:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError):
        return f"{code!r} is not Python, so nothing was run."
    except (RecursionError, MemoryError, OverflowError):
        return "The code is nested too deeply to be read, so nothing was run."
    done = await call("microsandbox_execute", code=code, session_id="chat")
    failed = done["error"] and f"The code failed: {done['error'].rstrip().rpartition(chr(10))[2]}"
    told = [done["stdout"].rstrip("\n"), done["stderr"].rstrip("\n"), failed or done["result"]]
    return "\n".join(filter(None, told)) or "The code ran, and printed nothing."


async def _research(question: str, call: talk.Call) -> str:
    if not terms(question):  # as in "What can you do?"
        return UNDERSTOOD.format(question)
    return str((await call("quick_research", question=question))["answer"])


async def _find(words: str, call: talk.Call) -> str:
    found = await call("search_file_content", file_path=".", regex_pattern=re.escape(words))
    lines = [f"{one['file']}:{one['line']} {one['text'].strip()}" for one in found["matches"][:5]]
    lead = "1 line holds" if found["count"] == 1 else f"{found['count'] or 'No'} lines hold"
    held = f"{lead} {words!r} as it is written."
    return "\n".join([held, *lines])


async def _packages(task: str, call: talk.Call) -> str:
    found = await call("search_and_install_tools", task_description=task)
    named = [f"{one['package']}: {one['summary']}" for one in found["found"]]
    if named:
        installed = ", ".join(found["installed"])
        named.append(f"Installed: {installed}." if installed else NOTHING)
    return "\n".join(named) or "The index has no package for this."


NOTHING = "Nothing was installed. With --install, a package is installed whose name is all that is said."
UNDERSTOOD = (
    "I could not read {!r}, so I did nothing (我没有理解, 什么都没有做). I understand (我理解): run: CODE; a question that ends "
    "with ?; research: TOPIC; find: TEXT; packages: TASK; 运行: 代码; 研究: 主题; 查找文件: 文字; 安装: 任务; "
    "or steps for the browser, such as: open /, click Order; 打开 /, 点击 Order."
)
REPLIES = (
    (r"(?:run|execute|运行|执行)\s*[:\uff1a](.+)", _run),
    (r"(?:research|研究|调查)\s*[:\uff1a](.+)", _research),
    (r"(?:find|grep|查找文件)\s*[:\uff1a](.+)", _find),
    (r"(?:packages?(?: for)?|install|安装)\s*[:\uff1a](.+)", _packages),
    (r"((?!(?:can|could|will|would) you\b)[^,;.:\n]+[?\uff1f])", _research),
)

mcp = build_server(groups())


def main() -> None:
    """Run the platform as the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chat", action="store_true", help="talk to it in the terminal; this is the default")
    parser.add_argument("--serve", action="store_true", help="serve over stdio")
    parser.add_argument("--http", nargs="*", type=int, metavar="PORT", help="serve over HTTP")
    parser.add_argument("--folder", type=Path, default=HERE, help="the folder to search")
    parser.add_argument(
        "--unsafe", action="store_true", help="run code without isolation if there is no bubblewrap"
    )
    parser.add_argument(
        "--install", action="store_true", help="install packages that are asked for by name alone"
    )
    parser.add_argument(
        "--model", metavar="NAME", help="a model at OPENAI_BASE_URL answers and plans; key: OPENAI_API_KEY"
    )
    options = parser.parse_args()
    if len(options.http or ()) not in {0, len(PORTS)}:
        parser.error(f"--http takes {len(PORTS)} ports, or none for {' '.join(map(str, PORTS.values()))}")
    if not options.folder.is_dir():
        parser.error("--folder is not a folder that can be searched")
    switches = {"unsafe": options.unsafe, "installs": options.install, "model": options.model}
    served = groups(root=options.folder, **switches)
    report_missing(unsafe=options.unsafe)
    with talk.interruptible():
        if options.http is not None:
            asyncio.run(serve(served, options.http))
        elif options.serve:
            build_server(served).run(show_banner=False)
        else:
            asyncio.run(talk.chat(build_server(served), reply, model=options.model))


if __name__ == "__main__":
    main()
