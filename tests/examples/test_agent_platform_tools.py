"""The agent platform at work: each of its forty tools does what it says, in one server and over four ports."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import sys
import threading
import zipfile
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import pytest_asyncio
from example_runs import run
from fastmcp import Client
from fastmcp.exceptions import ToolError
from fastmcp.utilities.mcp_server_config.v1.sources.filesystem import FileSystemSource
from model_provider import KEY, Provider
from processes import free_port, running, wait_for

from agent_platform import browser_use, microsandbox
from agent_platform.documents import Library
from agent_platform.microsandbox import Microsandbox
from agent_platform.research import DeepSearch, SearchTool
from agent_platform.server import PORTS, build_server, groups, report_missing
from transcripts.agent_platform_scenes import PARTS, PROJECT
from transcripts.play import repairs, value

SERVER = Path(browser_use.__file__).with_name("server.py")
TASK = "open /, then scroll down"
SHOP = ("browser_navigate", {"url": "/"})
ABOUT = ("browser_navigate", {"url": "/about.html"})
SECOND_TAB = ("browser_open_tab", {"url": "/about.html"})
SESSION = ("microsandbox_execute", {"code": "x = 20", "session_id": "s"})

with_the_servers = pytest.mark.asyncio(loop_scope="module")
COMMAND = ["-c", "from mcp_lenient.cli import main; main()"]
needs_chromium = pytest.mark.skipif(
    browser_use.missing() is not None, reason="Playwright or Chromium is not installed"
)


def in_the_browser(test):
    """Run a test where there is Chromium, which all of them share."""
    return needs_chromium(with_the_servers(test))


# The calls before; for the browser, after that of the shop.
BEFORE = {
    "microsandbox_execute": [SESSION],
    "microsandbox_list_sessions": [SESSION],
    "microsandbox_close_session": [SESSION],
    "microsandbox_cleanup_expired": [SESSION],
    "microsandbox_get_performance_stats": [SESSION],
    "browser_go_back": [ABOUT],
    "browser_send_keys": [("browser_input_text", {"index": 2, "text": "Li"})],
    "browser_scroll_up": [("browser_scroll_down", {"amount": 500})],
    "browser_switch_tab": [SECOND_TAB],
    "browser_close_tab": [SECOND_TAB],
    "browser_close_session": [SECOND_TAB],
}
# The call as a model got it wrong, the rules that repair it, and what must come of it: a value, some of
# its members, or what holds of it.
CALLS = {
    "microsandbox_execute": (
        {"args": {"code": "print('你好'); x + 1", "session": "s"}},
        "unwrap_arguments rename_alias",
        {"result": "21", "stdout": "你好\n"},
    ),
    "microsandbox_install_package": (
        {"package": "greeting", "version": " 1.0 "},
        "rename_alias strip",
        {"installed": ["greeting-1.0"]},
    ),
    "microsandbox_list_sessions": (
        {"toolCallId": "7"},
        "drop_injected",
        lambda got: "s" in [one["session_id"] for one in got],
    ),
    "microsandbox_close_session": ({"session": "s"}, "rename_alias", {"closed": "s"}),
    "microsandbox_cleanup_expired": ({"maxAge": 0}, "rename_case", {"closed": ["s"], "left": []}),
    "microsandbox_get_performance_stats": ({}, "", lambda got: got["runs"] > 0),
    "microsandbox_get_health_status": ({}, "", {"healthy": True}),
    "browser_use_execute_task": (
        {"query": TASK, "maxSteps": 500, "use_vision": "no"},
        "rename_alias rename_case clamp",
        lambda got: got["success"] and len(got["steps"]) == 2 and "file" not in got,
    ),
    "browser_navigate": ({"link": " /about.html "}, "rename_alias strip", {"title": "About the tea shop"}),
    "browser_search_google": ({"q": "what is null?"}, "rename_alias", {"title": "Search: what is null?"}),
    "browser_go_back": ({"toolCallId": "7"}, "drop_injected", {"title": "Tea shop"}),
    "browser_click_element": ({"element": 0}, "rename_alias", {"url": "http://platform.example/about.html"}),
    "browser_input_text": ({"index": 2, "content": 42}, "rename_alias number_to_text", {"value": "42"}),
    "browser_send_keys": ({"key": "Enter"}, "rename_alias", lambda got: "name=Li" in got["url"]),
    "browser_scroll_down": ({"pixels": [500]}, "rename_alias array_to_scalar", {"scrolled_to": 500}),
    "browser_scroll_up": ({"distance": 300}, "rename_alias", {"scrolled_to": 200}),
    "browser_scroll_to_text": ({"content": "Sign up"}, "rename_alias", lambda got: got["scrolled_to"] > 500),
    "browser_switch_tab": ({"tab_id": "0"}, "rename_alias", {"page_id": 0, "title": "Tea shop"}),
    "browser_open_tab": ({"href": "/about.html"}, "rename_alias", {"page_id": 1}),
    "browser_close_tab": ({"tab": 1}, "rename_alias", {"page_id": 0, "title": "Tea shop"}),
    "browser_extract_content": (
        {"goal": "price of oolong in dollars", "links": "true"},
        "rename_alias",
        lambda got: "A pot of oolong costs 15 dollars." in got["content"] and len(got["links"]) == 2,
    ),
    "browser_get_ax_tree": (
        {"limit": 5000},
        "rename_alias clamp",
        lambda got: {"role": "button", "name": "Order"} in got,
    ),
    "browser_get_dropdown_options": (
        {"element_id": 3},
        "rename_alias",
        {"options": ["Green tea", "Oolong 乌龙", "Black tea"]},
    ),
    "browser_select_dropdown_option": (
        {"index": [3], "option": "Oolong 乌龙"},
        "array_to_scalar rename_alias",
        {"selected": "Oolong 乌龙"},
    ),
    "browser_drag_drop": (
        {"from": ".card", "to": ".dropzone", "coord_source_x": None},
        "rename_alias rename_alias",
        lambda got: "Tray with a Cup" in got["text"],
    ),
    "browser_save_pdf": ({}, "", lambda got: Path(got["file"]).read_bytes()[:5] == b"%PDF-"),
    "browser_screenshot": (
        {"path": "../shop.png"},
        "rename_alias",
        lambda got: (
            got["file"].endswith("/browser/shop.png") and b"PNG" in Path(got["file"]).read_bytes()[:4]
        ),
    ),
    "browser_wait": ({"秒": -1}, "rename_alias clamp", {"waited": 0}),
    "browser_done": (
        {"result": "finished", "ok": "yes"},
        "rename_alias rename_alias",
        lambda got: got["success"] is True and got["visited"],
    ),
    "browser_get_page_info": (
        {"_meta": {}},
        "drop_injected",
        lambda got: got["elements"][2:4] == ["2 input[text] Name", "3 select[select-one] Tea"],
    ),
    "browser_get_current_url": ({}, "", "http://platform.example/"),
    "browser_get_content": ({"css": "nav a"}, "rename_alias", {"html": '<a href="/about.html">About us</a>'}),
    "browser_close_session": ({}, "", {"closed_tabs": 2}),
    "research": (
        {"question": "What becomes of null?", "initialQueries": "['null_to_absent']", "loops": 99},
        "rename_case json5_text_to_array rename_alias clamp",
        lambda got: got["loops"] > 1 and any(one.startswith("docs/rules/") for one in got["sources"]),
    ),
    "quick_research": (
        {"问题": "Which errors does an envelope hold?"},
        "rename_alias",
        lambda got: got["loops"] == 1 and "## Sources\n\n1. " in got["answer"],
    ),
    "comprehensive_research": (
        {"q": "How are values kept private?", "focus": "logs"},
        "rename_alias rename_alias",
        lambda got: Path(got["file"]).read_text("utf-8") == got["answer"] and len(got["sources"]) > 1,
    ),
    "search_file_content": (
        {"path": "mcp_lenient", "pattern": "^class PolicyError"},
        "rename_alias rename_alias",
        lambda got: [one["file"] for one in got["matches"]] == ["mcp_lenient/errors.py"],
    ),
    "list_code_definitions": (
        {"file": "mcp_lenient/errors.py", "directory": ""},
        "rename_alias rename_alias",
        lambda got: {"name": "PolicyError", "kind": "class"}.items() <= got["definitions"][1].items(),
    ),
    "analyze_tool_needs": (
        {"任务": "创建数据可视化图表"},
        "rename_alias",
        lambda got: "microsandbox_execute" in got["tools"] and got["packages"] == ["matplotlib"],
    ),
    "search_and_install_tools": (
        {"task": "需要处理PDF文件", "why": "no tool reads PDF"},
        "rename_alias rename_alias",
        {"installed": [], "would_run": ["microsandbox_install_package(package_name='pypdf')"]},
    ),
}


def wheel(folder, name):
    """Write the wheel of a package with a greeting."""
    about = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}.py", "GREETING = '你好'\n")
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")


@pytest.fixture(scope="module", autouse=True)
def packages(tmp_path_factory):
    """Two packages that pip finds, and no index."""
    folder = tmp_path_factory.mktemp("wheels")
    for name in ("greeting", "pypdf"):
        wheel(folder, name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(folder))
        yield


@contextmanager
def served(data):
    """Serve the four groups in another process; yields their addresses."""
    ports = [free_port() for _ in PORTS]
    command = [sys.executable, str(SERVER), "--unsafe", "--folder", str(PROJECT), "--http", *map(str, ports)]
    with running(command, ports[0], EXAMPLES_DATA=str(data), PYTHONPATH=str(PROJECT)):
        for port in ports:
            wait_for(port)
        yield [f"http://127.0.0.1:{port}/mcp" for port in ports]


@pytest.fixture(scope="module")
def platform(tmp_path_factory):
    """The groups of tools, which have one browser for all tests."""
    return groups(tmp_path_factory.mktemp("data"), PROJECT, PARTS, unsafe=True)


@asynccontextmanager
async def connected(*servers):
    """Connect to servers; yields the client for each tool."""
    async with AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(Client(server)) for server in servers]
        yield {tool.name: client for client in opened for tool in await client.list_tools()}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def clients(platform):
    """The client for each tool, of one server."""
    async with connected(build_server(platform)) as clients:
        yield clients


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def clients_of_four(tmp_path_factory):
    """The client for each tool, of the four servers that are served at once."""
    with served(tmp_path_factory.mktemp("data")) as urls:
        async with connected(*urls) as clients:
            yield clients


def test_the_table_calls_all_tools():
    """The forty tools of the four servers are those that are called here."""
    named = {name: [tool.__name__ for tool in group.tools] for name, group in groups(Path()).items()}
    assert [len(tools) for tools in named.values()] == [7, 26, 3, 4]
    assert sorted(tool for tools in named.values() for tool in tools) == sorted(CALLS)
    assert PORTS == {"microsandbox": 8090, "browser_use": 8082, "deepsearch": 8086, "mcp-search-tool": 8080}


@pytest.fixture
def bare_machine(monkeypatch):
    """A machine without Chromium and bubblewrap."""
    monkeypatch.setenv("PATH", "")


@pytest.fixture
async def sandboxes(tmp_path):
    """Sandboxes on a folder of their own."""
    sandboxes = Microsandbox(tmp_path, unsafe=True)
    yield sandboxes
    await sandboxes.close()


@pytest.mark.usefixtures("bare_machine")
async def test_missing_chromium_is_reported_in_one_line(tmp_path, capsys):
    """The browser tools say what is missing as an error, and the others work."""
    async with Client(build_server(groups(tmp_path, PROJECT))) as client:
        assert browser_use.missing() not in capsys.readouterr().err
        with pytest.raises(ToolError, match=r"^The browser tools need "):
            await client.call_tool("browser_get_page_info")
        with pytest.raises(ToolError, match=r"^The browser tools need "):
            await client.call_tool("browser_go_back")
        found = await client.call_tool(
            "search_file_content", {"file_path": "LICENSE", "regex_pattern": "^MIT"}
        )
        assert found.data["matches"] == [{"file": "LICENSE", "line": 1, "text": "MIT License"}]
    assert browser_use.missing() not in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "times"),
    [
        pytest.param([str(SERVER)], 1, id="chat"),
        pytest.param([str(SERVER), "--help"], 0, id="help"),
        pytest.param([*COMMAND, "check", str(SERVER)], 0, id="check"),
    ],
)
def test_missing_chromium_is_reported_when_the_server_runs(tmp_path, words, times):
    """One line says what is missing when the server runs, none where the browser plays no part."""
    done = run(*words, PATH="", EXAMPLES_DATA=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert (done.stdout + done.stderr).count("The browser tools need ") == times


async def test_a_sandbox_has_limits(sandboxes):
    """Code that takes too much memory, disk or time ends, and the session goes on with its files."""
    memory = await sandboxes.microsandbox_execute("b = bytearray(2 << 30)", "s")
    disk = await sandboxes.microsandbox_execute("open('big', 'wb').write(bytes(100 << 20))", "s")
    assert [one["error"].splitlines()[-1].split(":")[0] for one in (memory, disk)] == [
        "MemoryError",
        "OSError",
    ]
    await sandboxes.microsandbox_execute("open('kept', 'w').write('here')", "s")
    with pytest.raises(ToolError, match="stopped after 1 s"):
        await sandboxes.microsandbox_execute("while True: pass", "s", 1)
    assert (await sandboxes.microsandbox_execute("import os; os._exit(3)", "s"))["success"] is False
    assert (await sandboxes.microsandbox_execute("open('kept').read()", "s"))["result"] == "'here'"
    stats = await sandboxes.microsandbox_get_performance_stats()
    assert (stats["runs"], stats["errors"], stats["timeouts"]) == (6, 4, 1)


async def test_a_running_session_can_be_closed(sandboxes):
    """To close a session ends the code that it runs."""
    running = asyncio.create_task(sandboxes.microsandbox_execute("while True: pass", "s"))
    while (await sandboxes.microsandbox_get_performance_stats())["runs"] == 0:  # noqa: ASYNC110 - another process
        await asyncio.sleep(0.01)
    assert await sandboxes.microsandbox_close_session("s") == {"closed": "s"}
    assert (await running)["error"].startswith("The sandbox's process ended.")
    assert await sandboxes.microsandbox_list_sessions() == []


async def test_a_canceled_call_leaves_no_answer(sandboxes):
    """After a call is canceled, the next one gets its own answer."""
    running = asyncio.create_task(sandboxes.microsandbox_execute("import time; time.sleep(1); 1", "s"))
    await asyncio.sleep(0.3)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await sandboxes.microsandbox_execute("2", "s"))["result"] == "2"


@pytest.fixture(params=[True, False], ids=["isolated", "unsafe"])
def isolated(request, monkeypatch):
    """Whether code runs in bubblewrap."""
    if request.param and microsandbox.missing() is not None:
        pytest.skip("bubblewrap is missing or may not be used here")
    if not request.param:
        monkeypatch.setenv("PATH", "")


FORKS = {
    "ends": "import os; os.fork(); 1",
    "waits": "import os, time\nif os.fork() == 0: time.sleep(60)\n1",
    "leaves": "import os, time\nif os.fork() == 0: os.setsid(); time.sleep(60)\n1",
    "closes": "import os, time\nif os.fork() == 0: os.closerange(3, 99); raise SystemExit\n1",
}


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in FORKS.items()])
@pytest.mark.usefixtures("isolated")
async def test_a_forked_process_answers_no_call(sandboxes, code):
    """Each call gets its own answer after the code has forked, and the session closes in time."""
    assert [(await sandboxes.microsandbox_execute(one, "s"))["result"] for one in (code, "2", "3")] == [
        "1",
        "2",
        "3",
    ]
    closed = await asyncio.wait_for(sandboxes.microsandbox_cleanup_expired(0), 30)
    assert closed == {"closed": ["s"], "left": []}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--http", "1"], "--http takes 4 ports", id="ports"),
        pytest.param(["--folder", "/nonexistent"], "--folder is not a folder", id="folder"),
    ],
)
@pytest.mark.slow
def test_a_wrong_option_is_said_in_a_line(words, said):
    """An option that cannot be is an error of the command line, without a traceback."""
    done = run(SERVER, *words)
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slip", "said"),
    [
        (
            "type: number",
            "'max_steps' of tool 'browser_use_execute_task' is not a number: it takes an integer.",
        ),
        ("type: [integer", "this cannot be read as YAML: expected ',' or ']', but got ':'."),
    ],
)
@pytest.mark.parametrize("options", [[], ["--serve"], ["--http"]], ids=["chat", "serve", "http"])
def test_a_slip_in_the_definitions_keeps_the_server_from_starting(tmp_path, options, slip, said):
    """The one line that the server says names file and line, however it is started."""
    shutil.copytree(SERVER.parent, tmp_path / "agent_platform")
    shutil.copy(SERVER.parents[1] / "chat.py", tmp_path)
    file = tmp_path / "agent_platform/tools.yaml"
    file.write_text(file.read_text("utf-8").replace("type: integer", slip, 1), "utf-8")
    done = run(tmp_path / "agent_platform/server.py", *options, EXAMPLES_DATA=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(rf"{re.escape(str(file))}:\d+: {re.escape(said)}\n", done.stderr)


@pytest.mark.usefixtures("bare_machine")
def test_the_start_says_that_code_is_not_isolated(capsys):
    """With --unsafe the start says that code runs without isolation; without it, that it is refused."""
    for unsafe, told in ((True, "Code runs without isolation"), (False, "The sandbox refuses to run code")):
        report_missing(unsafe=unsafe)
        assert told in capsys.readouterr().err


FORGED = """
import os, sys
asked = sys._getframe()
while "asked" not in asked.f_locals or "line" not in asked.f_locals:
    asked = asked.f_back
told = {"id": asked.f_locals["asked"]["id"], "success": True, "stdout": "", "stderr": "", "result": None,
    "error": None, "seconds": 0.1, "memory_mb": 1}
told.update(%r)
os.write(asked.f_locals["answers"].fileno(), __import__("json").dumps(told).encode() + b"\\n")
"""


WRITES = """
import os
for each in range(3, 20):
  try: os.write(each, %r * %d)
  except OSError: pass
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(WRITES % (b"\xff\n", 1), id="no-text"),
        pytest.param(WRITES % (b"x" * 40, 5 << 20), id="no-end"),
        # Code that knows the id of its request cannot write an answer that no process would write.
        *(
            pytest.param((FORGED % wrong).replace("nan", "float('nan')"), id=str(wrong))
            for wrong in (
                {"id": "1"},
                {"stdout": 5},
                {"seconds": float("nan")},
                {"more": 1},
            )
        ),
    ],
)
async def test_a_forged_answer_ends_the_session(sandboxes, code):
    """What code writes where the answer belongs is not taken for one; the next call gets its own, with the files."""
    await sandboxes.microsandbox_execute("open('kept', 'w').write('here')", "s")
    got = await sandboxes.microsandbox_execute(code, "s")
    assert got["success"] is False
    assert got["error"].startswith("The sandbox's process wrote something else where its answer belongs")
    assert (await sandboxes.microsandbox_execute("open('kept').read()", "s"))["result"] == "'here'"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ('raise ValueError("\\ud800")', "ValueError: \\ud800"),
        ("class A:\n  def __repr__(self): return chr(0xd800)\nA()", None),
    ],
)
async def test_half_of_a_character_is_escaped(sandboxes, code, said):
    """What UTF-8 cannot hold is written as Python writes it."""
    got = await sandboxes.microsandbox_execute(code, "s")
    assert (got["result"], got["error"] and got["error"].splitlines()[-1]) == (
        "\\ud800" if said is None else None,
        said,
    )


async def test_failing_code_returns_its_error(sandboxes):
    """An error of the code is an answer with its traceback, without the sandbox's own lines."""
    answer = await sandboxes.microsandbox_execute("print('before')\n1 / 0")
    assert answer["stdout"] == "before\n"
    assert answer["error"].splitlines() == [
        "Traceback (most recent call last):",
        '  File "<code>", line 2, in <module>',
        "ZeroDivisionError: division by zero",
    ]


async def test_a_sandbox_sees_only_its_own_files(sandboxes, tmp_path):
    """Where there is bubblewrap, code reads nothing outside of its folder and reaches no network."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    if (await sandboxes.microsandbox_get_health_status())["isolation"] != "bubblewrap":
        pytest.skip("bubblewrap is missing or may not be used here")
    answer = await sandboxes.microsandbox_execute(f"open({str(secret)!r})")
    assert "FileNotFoundError" in answer["error"]
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        answer = await sandboxes.microsandbox_execute(
            f"import socket; socket.create_connection({server.getsockname()!r}, 1)"
        )
    assert "ConnectionRefusedError" in answer["error"]


@pytest.mark.usefixtures("bare_machine")
async def test_a_sandbox_refuses_to_run_without_isolation(tmp_path):
    """Without bubblewrap no code is run, no session is left, and the health says why."""
    sandboxes = Microsandbox(tmp_path)
    with pytest.raises(ToolError, match=r"--unsafe"):
        await sandboxes.microsandbox_execute("1", "s")
    health = await sandboxes.microsandbox_get_health_status()
    assert (health["healthy"], health["sessions"]) == (False, 0)
    assert "bubblewrap" in health["error"]


@pytest.mark.usefixtures("bare_machine")
async def test_an_unsafe_sandbox_has_limits_only(sandboxes):
    """Where the operator allows it, code runs without bubblewrap: the limits hold, and the answer says so."""
    answer = await sandboxes.microsandbox_execute("bytearray(2 << 30)")
    assert answer["isolation"] == "none"
    assert "MemoryError" in answer["error"]


@pytest.mark.skipif(
    microsandbox.missing() is not None, reason="bubblewrap is missing or may not be used here"
)
async def test_bubblewrap_is_started_where_it_is_found(tmp_path, monkeypatch):
    """The program that was found on the PATH is the one that runs, also where the default PATH has none."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/bwrap").symlink_to(shutil.which("bwrap"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(os, "defpath", "/nowhere")
    sandboxes = Microsandbox(tmp_path / "data")
    assert (await sandboxes.microsandbox_execute("6 * 7"))["isolation"] == "bubblewrap"
    await sandboxes.close()


async def test_sessions_of_dead_servers_are_swept(tmp_path, sandboxes):
    """The first session removes the folders whose server has died, and no others."""
    dead = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await dead.wait()
    for name in (f"old-{dead.pid}-1", f"mine-{os.getpid()}-2", "notes"):
        (tmp_path / "sessions" / name).mkdir(parents=True)
    await sandboxes.microsandbox_execute("1", "s")
    left = {path.name for path in (tmp_path / "sessions").iterdir()}
    assert {f"mine-{os.getpid()}-2", "notes"} < left
    assert f"old-{dead.pid}-1" not in left


@pytest.mark.slow
async def test_packages_are_available_in_their_session(sandboxes):
    """A package is installed for one session or for all; what pip cannot find is an error."""
    await sandboxes.microsandbox_install_package("greeting", session_id="a")
    code = "import greeting; greeting.GREETING"
    assert (await sandboxes.microsandbox_execute(code, "a"))["result"] == "'你好'"
    assert "ModuleNotFoundError" in (await sandboxes.microsandbox_execute(code, "b"))["error"]
    await sandboxes.microsandbox_install_package("greeting")
    assert (await sandboxes.microsandbox_execute(code, "b"))["result"] == "'你好'"
    with pytest.raises(ToolError, match=r"^nowhere was not installed\. "):
        await sandboxes.microsandbox_install_package("nowhere")


@with_the_servers
@pytest.mark.parametrize(
    ("path", "pattern", "said"),
    [
        pytest.param("../", "a", "There is no '../' in the project", id="outside"),
        pytest.param("missing.py", "a", "There is no 'missing.py'", id="missing"),
        pytest.param("LICENSE", "(", "The pattern cannot be searched", id="pattern"),
    ],
)
async def test_search_lists_unreadable_files(clients, path, pattern, said):
    """A path outside of the project and a broken pattern are errors."""
    with pytest.raises(ToolError, match=f"^{re.escape(said)}"):
        await clients["search_file_content"].call_tool(
            "search_file_content", {"file_path": path, "regex_pattern": pattern}
        )


MISSING = [
    ("browser_switch_tab", {"page_id": 9}, "There is no tab 9"),
    ("browser_get_dropdown_options", {"index": 0}, "Element 0 is no drop-down"),
    ("browser_select_dropdown_option", {"index": 3, "text": "No"}, "There is no option 'No'"),
    ("browser_drag_drop", {"coord_source_x": 1}, "A drag needs a source"),
    ("browser_drag_drop", {"element_source": "#no", "element_target": ".card"}, "There is no '#no' on this"),
    ("browser_navigate", {"url": "file:///etc/passwd"}, "'file:///etc/passwd' is"),
    ("browser_get_content", {"selector": "#no"}, "There is no '#no' on this"),
    ("browser_get_content", {"selector": "p["}, "This is no CSS selector"),
    ("browser_scroll_to_text", {"text": "Coffee"}, "There is no 'Coffee'"),
]


@in_the_browser
async def test_the_browser_reports_missing_elements(clients):
    """What a page does not have is an error in one line."""
    await clients["browser_navigate"].call_tool(*SHOP)
    for tool, arguments, said in MISSING:
        with pytest.raises(ToolError, match=f"^{re.escape(said)}.*$"):
            await clients[tool].call_tool(tool, arguments)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def one_browser(platform):
    """The browser, whose site searches the documentation."""
    yield platform["browser_use"]
    await platform["browser_use"].close()


@pytest_asyncio.fixture(loop_scope="module")
async def browser(one_browser):
    """The tools of a browser with one tab; to start Chromium or a tab for each test would take long."""
    yield {tool.__name__: tool for tool in one_browser.tools}
    for page in one_browser._windows["process"].context.pages[1:]:
        await page.close()


@in_the_browser
async def test_a_failed_navigation_leaves_the_browser_as_it_was(browser):
    """After an address that cannot be opened, the previous page and its history are still there."""
    await browser["browser_navigate"]("/")
    await browser["browser_navigate"]("/about.html")
    with pytest.raises(ToolError, match="cannot be opened"):
        await browser["browser_open_tab"]("http://127.0.0.1:9/")
    for _ in range(2):
        with pytest.raises(ToolError, match=r"^http://127\.0\.0\.1:9/ cannot be opened"):
            await browser["browser_navigate"]("http://127.0.0.1:9/?a=1")
        assert (await browser["browser_get_current_url"]()).endswith("/about.html")
    assert (await browser["browser_go_back"]())["title"] == "Tea shop"
    assert (await browser["browser_navigate"]("/about.html"))["page_id"] == 0
    assert len((await browser["browser_get_page_info"]())["tabs"]) == 1


@in_the_browser
async def test_after_an_error_page_the_browser_goes_on(browser):
    """A page that a server has answered with an error is no success; the page before it is one again."""
    await browser["browser_navigate"]("/about.html")
    with pytest.raises(ToolError, match=r"^/nope\.html is no page: the server answers 404\.$"):
        await browser["browser_navigate"]("/nope.html")
    assert (await browser["browser_go_back"]())["title"] == "About the tea shop"
    assert (await browser["browser_navigate"]("/"))["title"] == "Tea shop"


@in_the_browser
async def test_there_may_be_no_page_to_go_back_to(browser):
    """Where there is no page before, this is an error; the blank page that a browser begins with is none."""
    await browser["browser_open_tab"]("/")
    with pytest.raises(ToolError, match="no page to go back to"):
        await browser["browser_go_back"]()


@in_the_browser
@pytest.mark.parametrize(
    ("page", "index", "said"),
    [
        pytest.param(
            "/order.html", 0, "There is no element 0: the page has 0, and numbers begin with 0.", id="none"
        ),
        pytest.param(
            "/", 99, "There is no element 99: the page has 6, and numbers begin with 0.", id="several"
        ),
    ],
)
async def test_a_missing_element_is_named_with_those_there_are(browser, page, index, said):
    """The error says which numbers there are, also where there are none."""
    await browser["browser_navigate"](page)
    with pytest.raises(ToolError, match=f"^{re.escape(said)}$"):
        await browser["browser_click_element"](index)


@in_the_browser
@pytest.mark.parametrize(
    ("task", "said"),
    [
        pytest.param(
            "open /about.html, then order tea", "什么都没有做): 'order tea'. Write steps", id="part"
        ),
        pytest.param(
            "搜索李文倩目前工作地点", "Nothing was found for '李文倩目前工作地点'", id="nothing-found"
        ),
        pytest.param(
            "open /../../../etc/passwd", "/etc/passwd is no page: the server answers 404.", id="passwd"
        ),
    ],
)
async def test_a_task_that_is_not_done_is_no_success(browser, task, said):
    """What cannot be read, found or opened is reported, and nothing else is done in its place."""
    got = await browser["browser_use_execute_task"](task, use_vision=False)
    assert (got["success"], got["steps"]) == (False, [])
    assert said in got["error"]


@in_the_browser
@pytest.mark.parametrize(
    ("task", "said"),
    [
        pytest.param("click Tea shop", "'Tea shop' on this page. There are: 'About us'", id="heading"),
        pytest.param("press Tab", None, id="focus"),
        pytest.param("open /about.html, press Tab", "No element of this page has the focus", id="no-focus"),
        pytest.param("open /about.html, scroll down", "Step 3, scroll, failed: This page does", id="end"),
        pytest.param("click about", None, id="one-match"),
    ],
)
async def test_a_step_counts_on_what_it_names(browser, task, said):
    """A click counts on one link, button or field of this name, a text in a field, a result of a search."""
    got = await browser["browser_use_execute_task"](f"open /; {task}", use_vision=False)
    assert (got["success"], got["error"] is None) == (said is None, said is None), got
    assert said is None or said in got["error"]
    assert got["steps"][0]["action"] == "open"


@needs_chromium
async def test_the_documents_own_task_is_done(tmp_path):
    """The sentence with which the tool was described finds a page of the site, and opens it."""
    browser = groups(tmp_path)["browser_use"]
    execute = next(tool for tool in browser.tools if tool.__name__ == "browser_use_execute_task")
    got = await execute("搜索Python教程并打开第一个结果", use_vision=False)
    await browser.close()
    assert (got["success"], got["steps"][-1]["action"]) == (True, "open_first"), got
    assert got["steps"][-1]["url"].endswith("/document/site/python.html")


@in_the_browser
async def test_a_task_of_too_many_steps_is_no_success(browser):
    """Where the steps run out, the answer says how far it came."""
    got = await browser["browser_use_execute_task"]("open /, scroll down", 1, use_vision=False)
    assert (got["success"], len(got["steps"]), got["error"]) == (False, 1, "Stopped after 1 of 2 steps.")


@in_the_browser
@pytest.mark.parametrize(("query", "found"), [("blockchain trends", True), ("xyzzy", False)])
async def test_a_search_engine_has_found_what_its_links_name(browser, monkeypatch, query, found):
    """With another engine a search is a success where a link names what was searched for."""
    with Web() as web:
        monkeypatch.setenv("AGENT_PLATFORM_SEARCH", f"{web.url}/search?q=")
        got = await browser["browser_use_execute_task"](f"search for {query}", use_vision=False)
    assert got["success"] is found, got


@in_the_browser
async def test_what_a_page_does_not_say_is_not_extracted(browser):
    """A goal of which the page has no word finds nothing, and says so."""
    await browser["browser_navigate"]("/")
    got = await browser["browser_extract_content"]("kangaroos")
    assert (got["content"], "No sentence of this page" in got["note"]) == ([], True)


@needs_chromium
@pytest.mark.slow
async def test_each_session_has_a_browser_of_its_own(tmp_path):
    """Over HTTP what one client opens or closes is not seen by another, and a browser ends with its session."""
    with served(tmp_path) as (_, url, *_):
        async with Client(url) as one:
            async with Client(url) as other:
                await one.call_tool(*ABOUT)
                await other.call_tool(*SECOND_TAB)
                assert (await other.call_tool("browser_close_session")).data == {"closed_tabs": 2}
                assert (await one.call_tool("browser_get_current_url")).data.endswith("/about.html")
            await other_ended(one)


async def other_ended(client):
    """A client goes on after another has ended."""
    assert (await client.call_tool("browser_close_session")).data == {"closed_tabs": 1}


PLANS = {
    'Here: {"steps": [{"action": "open", "given": ["/about.html"]}]}': True,
    '{"steps": []}': False,
    "I would rather not.": False,
    '{"steps": [{"action": "pay", "given": []}]}': False,
    '{"steps": [{"action": "open", "given": []}]}': False,
    '{"steps": [{"action": "click", "given": ["a", "b"]}]}': False,
}
"""What a model answers, and whether that is a plan that can be done."""


@in_the_browser
async def test_a_model_plans_over_the_same_steps(one_browser, browser, monkeypatch):
    """With a model, the steps are those that it writes; an answer without a plan fails."""
    monkeypatch.setattr(one_browser, "_model", "loopback-1")
    with Provider(*PLANS) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        execute = browser["browser_use_execute_task"]
        got = [await execute("Tell me about the shop", use_vision=False) for _ in PLANS]
    assert [each["success"] for each in got] == list(PLANS.values())
    assert [not each["error"] for each in got] == list(PLANS.values())


@pytest.fixture
def research(tmp_path):
    """Research in the example's own folder, whose reports go to a folder of the test."""
    return lambda **options: DeepSearch(tmp_path, Library(**options))


async def test_research_finds_the_pages_of_the_site(research):
    """A question about the shop is answered from its pages."""
    report = await research().comprehensive_research("When was the shop founded?")
    assert "1987" in report["answer"]
    assert report["file"].endswith("reports/When-was-the-shop-founded-.md")


async def test_research_about_nothing_writes_no_report(research, tmp_path):
    """On a foreign topic one round is made, the answer says so, and no file is written."""
    report = await research().comprehensive_research("区块链技术发展趋势", "2024年最新进展")
    assert report["answer"].startswith("agent_platform/ 中没有内容含有所问的大部分词语: 区块链技术发展趋势")
    assert (report["loops"], report["sources"], "file" in report) == (1, [], False)
    assert not [*tmp_path.iterdir()]


class Web(ThreadingHTTPServer):
    """A search engine on loopback, and the page that it finds."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), WebPage)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *error):
        self.shutdown()
        super().__exit__(*error)


class WebPage(BaseHTTPRequestHandler):
    """Answers a search with a link, and the link with a page about blockchains."""

    def do_GET(self):
        page = "<h1>Trends</h1><p>The blockchain trends of 2024 are rollups.</p>"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<a href='/page'>Blockchain trends</a>" if "search" in self.path else page.encode())

    def log_message(self, *_):
        """Keep the log out of the tests' output."""


async def test_research_reads_what_a_search_engine_finds(research):
    """With the address of an engine, the pages that it finds are searched, and named as sources."""
    with Web() as web:
        report = await research(engine=f"{web.url}/search?q=").quick_research("blockchain trends 2024")
    assert (report["sources"], "rollups" in report["answer"]) == ([f"{web.url}/page"], True)


async def test_files_that_are_no_text_are_not_searched(tmp_path):
    """A file with a NUL is left out, whatever it holds."""
    (tmp_path / "a.bin").write_bytes(b"tea\0tea\0\ntea\n")
    (tmp_path / "a.txt").write_text("tea\n", "utf-8")
    found = await SearchTool(tmp_path, tmp_path).search_file_content(".", "tea")
    assert found["matches"] == [{"file": "a.txt", "line": 1, "text": "tea"}]


async def test_an_engine_that_does_not_answer_is_named(research):
    """What was not reached was not searched, and the answer says so."""
    report = await research(engine="http://127.0.0.1:1/?q=").quick_research("blockchain trends 2024")
    assert report["searched"] == "agent_platform/ (127.0.0.1:1 could not be reached)"
    assert report["searched"] in report["answer"]


async def test_a_data_folder_that_cannot_be_made_is_an_error():
    """The error is a line without the path."""
    async with Client(build_server(groups(Path("/proc/nope"), unsafe=True))) as client:
        for call in (
            ("microsandbox_execute", {"code": "1"}),
            ("comprehensive_research", {"question": "founded"}),
        ):
            with pytest.raises(
                ToolError, match=r"^A file or folder of the platform cannot be used: [\w ]+\.$"
            ):
                await client.call_tool(*call)


@with_the_servers
async def test_what_removes_files_is_marked_as_destructive(clients):
    """A chat asks before sessions are closed, whose files are gone then."""
    tools = await clients["research"].list_tools()
    removing = {tool.name for tool in tools if tool.annotations and tool.annotations.destructive_hint}
    assert removing == {"microsandbox_close_session", "microsandbox_cleanup_expired"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "installed"),
    [
        ("pypdf", ["pypdf-1.0"]),
        ("PyPDF, pypdf", ["pypdf-1.0"]),
        ("do not install pypdf", []),
        ("pypdf, but not now", []),
    ],
)
async def test_packages_are_installed_where_their_names_are_all_that_is_said(tmp_path, task, installed):
    """With ``--install`` a name is installed; anything more, such as a "not", only says what would be done."""
    async with Client(build_server(groups(tmp_path, installs=True))) as client:
        got = (await client.call_tool("search_and_install_tools", {"task_description": task})).data
    assert got["installed"] == installed
    assert not (got["installed"] and got["would_run"])


@with_the_servers
async def test_a_missing_model_is_an_error(clients, monkeypatch):
    """Where the model that should write the answer cannot be used, the error says so."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    with pytest.raises(ToolError, match=r"^none gave no answer at "):
        await clients["research"].call_tool("research", {"question": "null", "reasoning_model": "none"})


each_tool = pytest.mark.parametrize(
    "tool", [pytest.param(tool, marks=needs_chromium if tool.startswith("browser") else ()) for tool in CALLS]
)


# The last tests of the browser, since one of its tools closes it.
@with_the_servers
@each_tool
async def test_each_tool_works_for_a_model_that_makes_mistakes(clients, tool):
    """A call with the mistakes of real models is repaired, and the tool does what its name says."""
    await check(clients, tool)


@pytest.mark.slow
@with_the_servers
@each_tool
async def test_each_tool_works_over_its_port(clients_of_four, tool):
    """The same holds of four servers."""
    await check(clients_of_four, tool)


async def check(clients, tool):
    """Make a call of the table."""
    sent, rules, expected = CALLS[tool]
    if tool.startswith("browser"):
        await close_tabs(clients)
    for name, arguments in [SHOP] * tool.startswith("browser") + BEFORE.get(tool, []):
        await clients[name].call_tool(name, arguments)
    result = await clients[tool].call_tool_mcp(tool, sent)
    assert not result.is_error, result.content
    assert sorted(repair["rule"] for repair in repairs(result)) == sorted(rules.split())
    got = value(result)
    if isinstance(expected, dict):
        assert expected.items() <= got.items()
    else:
        assert expected(got) if callable(expected) else got == expected, got


async def close_tabs(clients):
    """Close all tabs but the first."""
    info = await clients["browser_get_page_info"].call_tool("browser_get_page_info")
    for page_id in range(len(info.data["tabs"]) - 1, 0, -1):
        await clients["browser_close_tab"].call_tool("browser_close_tab", {"page_id": page_id})


async def test_the_file_is_a_server():
    """The module has a server that FastMCP's command finds by the file alone."""
    server = await FileSystemSource(path=str(SERVER)).load_server()
    assert len(await server.list_tools()) == 40
