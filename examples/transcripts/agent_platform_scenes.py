"""Conversations with the agent platform, which searches the documentation and the code of mcp-lenient."""

from __future__ import annotations

from pathlib import Path

from fastmcp import FastMCP

from agent_platform import browser_use, microsandbox, server
from transcripts.play import Call, Scene, Transcript

PROJECT = Path(__file__).resolve().parents[2]
PARTS = ("README.md", "docs", "mcp_lenient")
SANDBOX_SCENES = [
    Scene("计算 1 到 100 的和, 再取平方根。",
        Call("microsandbox_execute", {"代码": "total = sum(range(101)); total", "session": "sums", "timeout": "30"},
             "rename_alias rename_alias", gives="5050"),
        Call("microsandbox_execute", {"session_id": "sums", "timeout": 30}, "MISSING_CODE"),
        Call("microsandbox_execute", {"args": {"code": "round(total ** 0.5, 2)", "session_id": "sums"}},
             "unwrap_arguments", gives="71.06"),
        answer="和是 5050, 平方根约为 71.06。", english="Add up 1 to 100, then take the square root."),
]  # fmt: skip
SCENES = [
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
    """Make a server of all four groups, whose data is in a folder."""
    server.report_missing()
    return server.build_server(server.groups(folder, PROJECT, PARTS), lenient=lenient)


TRANSCRIPT = Transcript(
    "Agent platform",
    server.__doc__ or "",
    build,
    [
        *(SANDBOX_SCENES if microsandbox.missing() is None else []),
        *SCENES,
        *(BROWSER_SCENES if browser_use.missing() is None else []),
    ],
)
