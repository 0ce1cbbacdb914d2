"""Research in the documents and the code: questions are searched, followed up and answered with sources."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Annotated, Any

from fastmcp.exceptions import ToolError
from pydantic import Field

from agent_platform import Group
from shared.documents import Library, Passage, best_sentences, terms

Question = Annotated[str, Field(min_length=1, description="What is to be found out. 研究问题或查询。")]
Queries = Annotated[list[str] | None, "Searches to make beside the question. 初始查询列表。"]
Loops = Annotated[int | None, Field(ge=1, le=20, description="Most rounds, 3 by default. 最大循环次数。")]
Model = Annotated[
    str | None, "Model that writes the answer, as provider:name; by default excerpts. 推理模型。"
]
Focus = Annotated[str | None, "The side of the question that matters most. 主题焦点。"]
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
        if reasoning_model is not None:
            report["answer"] = await asyncio.to_thread(_written, reasoning_model, question, report["answer"])
        return report

    async def quick_research(self, question: Question) -> Report:
        """Answer a question from one search (快速研究)."""
        return await asyncio.to_thread(self._report, question, [question], 1)

    async def comprehensive_research(self, question: Question, topic_focus: Focus = None) -> Report:
        """Search in many rounds, and write the report to a file as well (全面深入研究)."""
        queries = [question] if topic_focus is None else [f"{question} {topic_focus}", question, topic_focus]
        report = await asyncio.to_thread(self._report, question, queries, 6)
        self._data.mkdir(parents=True, exist_ok=True)
        path = self._data / f"{re.sub(r'[^0-9A-Za-z_一-鿿]+', '-', question)[:60]}.md"
        path.write_text(report["answer"], "utf-8")
        return {**report, "file": str(path)}

    def _report(self, question: str, queries: list[str], most: int) -> Report:
        """Search, and search on for the headings of what was found, until nothing new turns up."""
        asked: list[str] = []
        found: dict[Passage, None] = {}
        loops = 0
        while queries and loops < most:
            loops += 1
            asked += queries
            hits = [hit for query in queries for hit in self._library.search(query, 4) if hit not in found]
            found |= dict.fromkeys(hits)
            headings = dict.fromkeys(" ".join(terms(hit.heading)[:6]) for hit in hits[:3])
            queries = [heading for heading in headings if heading and heading not in asked]
        return {**_answer(question, list(found)), "queries": asked, "loops": loops}


def _answer(question: str, found: list[Passage]) -> Report:
    """Write a report in Markdown: of each passage the sentences that fit the question, with its source."""
    said: list[str] = []
    sources: list[str] = []
    for passage in found:
        if sentences := best_sentences(passage.text, question):
            sources.append(f"{passage.source}:{passage.line}")
            said.append(f"- {passage.heading}: {' '.join(sentences)} [{len(sources)}]")
    listed = [f"{number}. {source}" for number, source in enumerate(sources, 1)]
    lines = [f"# {question}", "", *(said or ["Nothing was found."]), "", "## Sources", "", *listed, ""]
    return {"answer": "\n".join(lines), "sources": sources}


def _written(model: str, question: str, report: str) -> str:
    """Have a model answer from a report; raise ToolError where it cannot be used."""
    from shared.agent import langchain_model

    try:
        ask = langchain_model(model, "Answer from this report alone, and cite its sources by number.")
    except RuntimeError as error:
        raise ToolError(str(error)) from error
    response = ask([{"role": "user", "content": f"{question}\n\n{report}"}], [])
    return "".join(block["text"] for block in response["content"] if block["type"] == "text")
