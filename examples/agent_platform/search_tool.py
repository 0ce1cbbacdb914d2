"""Search in files, and tools for a task: which of the platform's fit, and which packages can be added."""

from __future__ import annotations

import ast
import asyncio
import os
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from fastmcp.exceptions import ToolError
from pydantic import Field

from agent_platform import Group
from agent_platform.microsandbox import install

MOST = 200
SEARCH = """
import pathlib, re, sys
pattern = re.compile(sys.argv[1])
for path in map(pathlib.Path, sys.argv[2:]):
    for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
        if pattern.search(line):
            print(path, number, line[:300], sep="\\0")
"""
NEEDS = {
    r"code|script|comput|calculat|python|chart|plot|visuali|data|代码|计算|运行|图表|可视化|数据": (
        "microsandbox_execute microsandbox_install_package"
    ),
    r"web|site|page|browser|click|form|网页|网站|浏览器|点击|表单": (
        "browser_use_execute_task browser_navigate browser_extract_content"
    ),
    r"pdf|screenshot|print|截图|打印": "browser_save_pdf browser_screenshot",
    r"research|find out|compare|report|trend|why|研究|调查|比较|报告|趋势": "quick_research comprehensive_research",
    r"file|function|class|refactor|bug|文件|函数|重构": "search_file_content list_code_definitions",
}
PACKAGES = {
    r"pdf": "pypdf",
    r"excel|xlsx|spreadsheet|表格": "openpyxl",
    r"chart|plot|visuali|图表|可视化": "matplotlib",
    r"csv|statistic|data ?frame|统计": "pandas",
    r"image|photo|图片|图像|照片": "pillow",
}

Task = Annotated[str, Field(min_length=1, description="What is to be done. 任务描述。")]
Reason = Annotated[str | None, "Why the tools at hand are not enough. 安装原因。"]
File = Annotated[str, "File or folder, relative to the project. 文件路径。"]
Pattern = Annotated[str, Field(min_length=1, description="Regular expression for a line. 正则表达式模式。")]


class SearchTool(Group):
    """Searches below ``root``, the folder that paths are relative to; ``data`` is the folder for packages."""

    def __init__(self, data: Path, root: Path) -> None:
        self._packages, self._root = data / "packages", root.resolve()

    async def search_file_content(self, file_path: File, regex_pattern: Pattern) -> dict[str, Any]:
        """Find the lines of a file, or of all files in a folder, that match a pattern (搜索文件内容)."""
        files = map(str, _files(self._path(file_path)))
        command = [sys.executable, "-X", "utf8", "-c", SEARCH, regex_pattern, *files]  # it can be stopped
        process = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
        try:
            out, err = await asyncio.wait_for(process.communicate(), 10)
        except asyncio.TimeoutError:
            process.kill()
            await process.wait()
            msg = "The search was stopped after 10 s. Use a simpler pattern or a smaller folder."
            raise ToolError(msg) from None
        if process.returncode:
            msg = f"The pattern cannot be searched: {err.decode().splitlines()[-1]}"
            raise ToolError(msg)
        found = [line.split("\0") for line in out.decode().splitlines()]
        matches = [{"file": self._name(file), "line": int(line), "text": text} for file, line, text in found]
        return {"count": len(matches), "matches": matches[:MOST]}

    def list_code_definitions(
        self,
        file_path: Annotated[str | None, "Python file, relative to the project. 文件路径。"] = None,
        directory_path: Annotated[str | None, "Folder; by default the whole project. 目录路径。"] = None,
    ) -> dict[str, Any]:
        """List the functions and classes of Python files (列出代码定义)."""
        tops = [self._path(path) for path in (file_path, directory_path) if path] or [self._root]
        found = [
            {"file": self._name(path), "line": line, "name": name, "kind": kind}
            for top in tops
            for path in _files(top)
            if path.suffix == ".py"
            for line, name, kind in _definitions(path)
        ]
        return {"count": len(found), "definitions": found[:MOST]}

    def analyze_tool_needs(self, task_description: Task) -> dict[str, Any]:
        """Say which tools of the platform a task needs, and which packages would help (分析任务的工具需求)."""
        tools = " ".join(_fitting(NEEDS, task_description)).split()
        return {"tools": [*dict.fromkeys(tools)], "packages": _fitting(PACKAGES, task_description)}

    async def search_and_install_tools(self, task_description: Task, reason: Reason = None) -> dict[str, Any]:
        """Find Python packages for a task and install them for all sandboxes (搜索并安装新工具)."""
        wanted = _fitting(PACKAGES, f"{task_description} {reason or ''}")
        installed = [one for package in wanted for one in await install(package, self._packages)]
        return {"packages": wanted, "installed": installed, "reason": reason}

    def _path(self, path: str) -> Path:
        found = (self._root / path).resolve()
        if not found.is_relative_to(self._root) or not found.exists():
            msg = f"There is no {path!r} in the project. Paths are relative to its folder, such as README.md."
            raise ToolError(msg)
        return found

    def _name(self, path: str | Path) -> str:
        return Path(path).relative_to(self._root).as_posix()


def _files(top: Path) -> Iterator[Path]:
    """List a file, or the files of a folder that are not hidden."""
    if top.is_file():
        yield top
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name[0] != ".")
        yield from (Path(folder, name) for name in sorted(names) if name[0] != ".")


def _definitions(path: Path) -> Iterator[tuple[int, str, str]]:
    """Read line, name and kind of each function and class, the methods of a class after its name."""
    try:
        nodes: list[tuple[ast.AST, str]] = [(ast.parse(path.read_bytes()), "")]
    except (SyntaxError, ValueError):
        return
    for node, owner in nodes:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                nodes.append((child, f"{owner}{child.name}."))
                yield child.lineno, owner + child.name, "class"
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield child.lineno, owner + child.name, "function"


def _fitting(words: dict[str, str], text: str) -> list[str]:
    return [each for pattern, each in words.items() if re.search(pattern, text, re.IGNORECASE)]
