"""Research in documents with sources, search in files, and the tools that a task needs."""

from __future__ import annotations

import ast
import asyncio
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import anyio
import yaml
from fastmcp.exceptions import ToolError
from pydantic import Field

from agent_platform import Group
from agent_platform.documents import Library, Passage, best_sentences, fits, stem, terms, visible_files, words
from agent_platform.microsandbox import install
from chat import ModelError, complete, in_language_of, text_of

MOST = 200
SEARCH = """
import pathlib, re, sys
pattern = re.compile(sys.argv[1])
for path in map(pathlib.Path, sys.argv[2:]):
    text = path.read_text("utf-8", "replace")
    for number, line in enumerate(text.splitlines() if "\\0" not in text else (), 1):  # what has a NUL is no text
        if pattern.search(line):
            print(path, number, line[:300], sep="\\0")
"""
NEEDS: dict[str, list[str]] = yaml.safe_load(Path(__file__).with_name("needs.yaml").read_text("utf-8"))
DENIED = re.compile(r"(?i)(?:\b(?:no|not|never|without|\w+n't)\b[^,.;]{0,20}|[不没无别勿][^,，。;；]{0,6})$")
POLITE = re.compile(r"(?i)\b(?:please|install|packages?)\b|请|帮我|安装|一下|包$")
INDEX = Path(__file__).with_name("packages.tsv")

Question = Annotated[str, Field(min_length=1, description="What is to be found out. 研究问题或查询。")]
Queries = Annotated[list[str] | None, "Searches to make beside the question. 初始查询列表。"]
Loops = Annotated[int | None, Field(ge=1, le=20, description="Most rounds, 3 by default. 最大循环次数。")]
Model = Annotated[str | None, "Model that writes the answer; by default it is excerpts. 推理模型。"]
Focus = Annotated[str | None, "The side of the question that matters most. 主题焦点。"]
Task = Annotated[str, Field(min_length=1, description="What is to be done. 任务描述。")]
Reason = Annotated[str | None, "Why the tools at hand are not enough. 安装原因。"]
File = Annotated[str, "File or folder, relative to the project. 文件路径。"]
Python = Annotated[str | None, "Python file, relative to the project. 文件路径。"]
Folder = Annotated[str | None, "Folder; by default the whole project. 目录路径。"]
Pattern = Annotated[str, Field(min_length=1, description="Regular expression for a line. 正则表达式模式。")]
Report = dict[str, Any]


class DeepSearch(Group):
    """Research in a library; ``data`` is the folder for reports."""

    def __init__(self, data: Path, library: Library) -> None:
        self._data, self._library = data / "reports", library

    async def close(self) -> None:
        """Drop the index."""
        self._library.close()

    async def research(
        self,
        question: Question,
        initial_queries: Queries = None,
        max_loops: Loops = None,
        reasoning_model: Model = None,
    ) -> Report:
        """Search in rounds, each following up the one before, and answer with sources (专业级深度研究)."""
        queries = [question, *(initial_queries or ())]
        report = await asyncio.to_thread(self._report, question, queries, max_loops or 3)
        if reasoning_model is not None and report["sources"]:
            report["answer"] = await asyncio.to_thread(_written, reasoning_model, question, report["answer"])
        return report

    async def quick_research(self, question: Question) -> Report:
        """Answer a question from one search (快速研究)."""
        return await asyncio.to_thread(self._report, question, [question], 1)

    async def comprehensive_research(self, question: Question, topic_focus: Focus = None) -> Report:
        """Search in many rounds, and write the report to a file, unless nothing was found (全面深入研究)."""
        queries = [question] if topic_focus is None else [f"{question} {topic_focus}", question, topic_focus]
        report = await asyncio.to_thread(self._report, question, queries, 6)
        if not report["sources"]:
            return report
        self._data.mkdir(parents=True, exist_ok=True)
        path = self._data / f"{re.sub(r'[^0-9A-Za-z_一-鿿]+', '-', question)[:60]}.md"
        path.write_text(report["answer"], "utf-8")
        return {**report, "file": str(path)}

    def _report(self, question: str, queries: list[str], most: int) -> Report:
        """Search, and search on for the headings of what was found, as long as what turns up fits what was asked."""
        wanted, asked, found, loops = [*queries], list[str](), dict[Passage, None](), 0
        while queries and loops < most:
            loops += 1
            asked += queries
            hits = [hit for query in queries for hit in self._library.search(query, 4) if hit not in found]
            hits = [hit for hit in hits if any(fits(hit, query) for query in wanted)]
            found |= dict.fromkeys(hits)
            headings = dict.fromkeys(" ".join(words(hit.heading)[:6]) for hit in hits[:3])
            queries = [heading for heading in headings if heading and heading not in asked]
        told = {"queries": asked, "loops": loops, "searched": self._library.name}
        return {**_answer(question, wanted, list(found), self._library.name), **told}


def _answer(question: str, queries: list[str], found: list[Passage], where: str) -> Report:
    """Write a report in Markdown: of each passage the sentences that fit the question, with its source."""
    if not found:
        wanted = " ".join(dict.fromkeys(word for query in queries for word in words(query)))
        english = f"Nothing in {where} holds most of the words that were asked for: {wanted or question}."
        chinese = f"{where} 中没有内容含有所问的大部分词语: {wanted or question}。"
        return {"answer": in_language_of(question, english, chinese), "sources": []}
    texts = [_excerpt(passage, " ".join(queries)) for passage in found]
    points = [f"- {text} [{number}]" for number, text in enumerate(texts, 1)]
    sources = [one.source if "://" in one.source else f"{one.source}:{one.line}" for one in found]
    listed = [f"{number}. {source}" for number, source in enumerate(sources, 1)]
    lines = [f"# {question}", "", *points, "", "## Sources", "", *listed, ""]
    return {"answer": "\n".join(lines), "sources": sources}


def _excerpt(passage: Passage, query: str) -> str:
    """Return a heading and the sentences below it that fit best; where only the heading fits, those that come first."""
    sentences = best_sentences(passage.text, query) or [" ".join(passage.text.split())[:300]]
    return ": ".join(filter(None, (passage.heading, " ".join(sentences))))


def _written(model: str, question: str, report: str) -> str:
    """Have a model answer from a report; raise ToolError where it cannot be used."""
    told = "Answer from this report alone, and cite its sources by number."
    asked = [{"role": "system", "content": told}, {"role": "user", "content": f"{question}\n\n{report}"}]
    try:
        return text_of(complete(model, asked))
    except ModelError as error:
        raise ToolError(str(error)) from error


class SearchTool(Group):
    """Searches below a folder, and finds packages for a task.

    Args:
        data: The folder for packages.
        root: The folder that paths are relative to.
        installs: Whether packages that are asked for by name alone may be installed; otherwise it is said what would be done.
    """

    def __init__(self, data: Path, root: Path, *, installs: bool = False) -> None:
        self._packages, self._root, self._installs = data / "packages", root.resolve(), installs

    async def search_file_content(self, file_path: File, regex_pattern: Pattern) -> Report:
        """Find the lines of a file, or of all files in a folder, that match a pattern (搜索文件内容)."""
        files = map(str, visible_files(self._path(file_path)))
        command = [sys.executable, "-X", "utf8", "-c", SEARCH, regex_pattern, *files]
        try:
            with anyio.fail_after(10):  # a pattern that takes for ever cannot be stopped in a thread
                done = await anyio.run_process(command, check=False)
        except TimeoutError:
            raise ToolError("The search was stopped after 10 s. Use a simpler pattern or folder.") from None
        if done.returncode:
            raise ToolError(f"The pattern cannot be searched: {done.stderr.decode().splitlines()[-1]}")
        found = [line.split("\0") for line in done.stdout.decode().splitlines()]
        matches = [{"file": self._name(file), "line": int(line), "text": text} for file, line, text in found]
        return {"count": len(matches), "matches": matches[:MOST]}

    async def list_code_definitions(self, file_path: Python = None, directory_path: Folder = None) -> Report:
        """List the functions and classes of Python files (列出代码定义)."""
        tops = [self._path(path) for path in (file_path, directory_path) if path] or [self._root]
        files = [file for top in tops for file in visible_files(top) if file.suffix == ".py"]
        read = await asyncio.to_thread(lambda: [(file, [*_definitions(file)]) for file in files])
        found = [{"file": self._name(file), **definition} for file, rows in read for definition in rows]
        return {"count": len(found), "definitions": found[:MOST]}

    async def analyze_tool_needs(self, task_description: Task) -> Report:
        """Say which tools of the platform a task needs, by which of its words, and which packages would help (分析任务的工具需求)."""
        went_by, denied = _needs(task_description)
        return {
            "tools": [*dict.fromkeys(chain.from_iterable(went_by.values()))],
            "went_by": went_by,
            "not_needed": [*denied],
            "packages": [one["package"] for one in _packages_for(task_description)],
        }

    async def search_and_install_tools(self, task_description: Task, reason: Reason = None) -> Report:
        """Find Python packages for a task in an index, and install those that it consists of by name (搜索并安装新工具)."""
        found = _packages_for(task_description) or _packages_for(reason or "")
        calls = [f"microsandbox_install_package(package_name={one['package']!r})" for one in found]
        named = _named(task_description) if self._installs else []
        installed = [package for name in named for package in await install(name, self._packages)]
        done = {"would_run": [] if installed else calls, "installed": installed, "reason": reason}
        return {"searched": INDEX.name, "found": found, **done}

    def _path(self, path: str) -> Path:
        found = (self._root / path).resolve()
        if not found.is_relative_to(self._root) or not found.exists():
            raise ToolError(f"There is no {path!r} in the project. Paths are relative to it, like README.md.")
        return found

    def _name(self, path: str | Path) -> str:
        return Path(path).relative_to(self._root).as_posix()


def _definitions(file: Path) -> Iterator[Report]:
    """Read the functions and classes of a file, a method with the name of its class."""
    with suppress(SyntaxError, ValueError):
        nodes: list[tuple[ast.AST, str]] = [(ast.parse(file.read_bytes()), "")]
        for node, owner in nodes:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.ClassDef):
                    nodes.append((child, f"{owner}{child.name}."))
                if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    kind = "class" if isinstance(child, ast.ClassDef) else "function"
                    yield {"line": child.lineno, "name": owner + child.name, "kind": kind}


def _needs(task: str) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the words of a task that call for tools, with these; and those that it says not to need."""
    went_by, denied = dict[str, list[str]](), dict[str, list[str]]()
    for pattern, tools in NEEDS.items():
        for word in re.finditer(pattern, task, re.IGNORECASE):
            (denied if DENIED.search(task[: word.start()]) else went_by)[word[0]] = tools
    return went_by, denied


def _rows() -> list[list[str]]:
    return [line.split("\t") for line in INDEX.read_text("utf-8").splitlines() if line[:1] != "#"]


def _named(task: str) -> list[str]:
    """Return the packages that a task consists of; none where it has any other word, such as "not"."""
    said = dict.fromkeys(filter(None, re.split(r"[\s,，、]+", POLITE.sub(" ", task.casefold()))))
    return [*said] if said.keys() <= {row[0] for row in _rows()} else []


def _packages_for(task: str) -> list[dict[str, str]]:
    """Search the index of packages: those that a task names, or else those with the most, at least two, of its words.

    Han text without a space is one word, since nothing says where its words end.
    """
    rows = _rows()
    named = {row[0] for row in rows} & {*re.findall(r"[a-z0-9-]+", task.casefold())}
    said = {stem(term) for term in terms(task)}
    count = len(words(task))
    scores = [len(said & {stem(term) for term in terms(" ".join(row))}) for row in rows]
    best = max(scores, default=0)
    fitting = [row for row, score in zip(rows, scores, strict=True) if score == best >= min(2, count) > 0]
    found = [row for row in rows if row[0] in named] or fitting[:3]
    return [{"package": name, "summary": summary} for name, summary, _ in found]
