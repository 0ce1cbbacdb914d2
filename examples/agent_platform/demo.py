"""The transcript of the agent platform: calls as models make them, and what comes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastmcp import FastMCP

from agent_platform import browser_use
from agent_platform.server import build_server, groups
from shared.transcript import Call, Scene, run_example

SCENES = [
    Scene(
        "计算 1 到 100 的和, 再取平方根。",
        [
            Call(
                "microsandbox_execute",
                {"代码": "total = sum(range(101)); total", "session": "sums", "timeout": "30"},
                ("rename_alias", "rename_alias"),
                gives={"result": "5050"},
            ),
            Call("microsandbox_execute", {"session_id": "sums", "timeout": 30}, refused="MISSING_CODE"),
            Call(
                "microsandbox_execute",
                {"args": {"code": "round(total ** 0.5, 2)", "session_id": "sums"}},
                ("unwrap_arguments",),
                gives={"result": "71.06"},
            ),
        ],
        "和是 5050, 平方根约为 71.06。",
    ),
    Scene(
        "What becomes of null? Look it up thoroughly.",
        [
            Call(
                "research",
                {"query": "What becomes of null?", "initialQueries": '["null_to_absent"]', "max_loops": 2.0},
                ("rename_alias", "rename_case", "json_text_to_array"),
                gives={"loops": 2, "answer": "## Sources"},
            ),
            Call(
                "search_file_content",
                {"path": "mcp_lenient/rules", "regex": "^def null_", "toolCallId": "call_7"},
                ("rename_alias", "rename_alias", "drop_injected"),
            ),
        ],
        "null_to_absent leaves null out; null_text_to_null and null_text_to_absent read the word.",
    ),
    Scene(
        "我要把数据画成图表, 需要哪些工具?",
        [
            Call(
                "analyze_tool_needs",
                {"任务": "把数据画成图表"},
                ("rename_alias",),
                gives={"packages": ["matplotlib"]},
            )
        ],
        "microsandbox_execute 可以运行代码, 并需要安装 matplotlib。",
    ),
]

BROWSER_SCENES = [
    Scene(
        "Order oolong for Li in the tea shop.",
        [
            Call("browser_navigate", {"link": " / "}, ("rename_alias", "strip"), gives={"title": "Tea shop"}),
            Call("browser_get_page_info", {}, gives={"page_id": 0}),
            Call(
                "browser_input_text", {"index": "2", "value": "Li"}, ("rename_alias",), gives={"value": "Li"}
            ),
            Call(
                "browser_select_dropdown_option", {"index": [3], "text": "Oolong 乌龙"}, ("array_to_scalar",)
            ),
            Call(
                "browser_click_element", {"element": 4}, ("rename_alias",), gives={"title": "Order received"}
            ),
            Call(
                "browser_get_content",
                {"css": "#order"},
                ("rename_alias",),
                gives={"html": "Oolong 乌龙 for Li."},
            ),
        ],
        "The oolong is ordered.",
    ),
    Scene(
        "打开 /about.html, 说说这家店。",
        [
            Call(
                "browser_use_execute_task",
                {"query": "打开 /about.html", "max_steps": 500, "wait_for_previous": True},
                ("rename_alias", "clamp", "drop_injected"),
                gives={"success": True},
            ),
        ],
        "1987 年由两姐妹在杭州开店。",
    ),
]


def main() -> int:
    """Play the scenes; those of the browser where there is one."""
    problem = browser_use.missing()
    if problem:
        print(problem)

    def build(folder: Path, lenient: bool) -> FastMCP[Any]:  # noqa: FBT001 - the runner's protocol
        return build_server(groups(folder / "agent_platform"), lenient=lenient)

    return run_example("Agent platform", build, SCENES if problem else SCENES + BROWSER_SCENES)
