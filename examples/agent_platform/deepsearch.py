"""Research on the web: each tool returns the arguments it was given."""

from __future__ import annotations

from typing import Any


def research(
    question: str,
    initial_queries: list[str] | None = None,
    max_loops: int | None = None,
    reasoning_model: str | None = None,
) -> dict[str, Any]:
    """Answer a question from the web, starting with these searches, in max_loops rounds at most."""
    return {
        "question": question,
        "initial_queries": initial_queries,
        "max_loops": max_loops,
        "reasoning_model": reasoning_model,
    }


def quick_research(question: str) -> dict[str, Any]:
    """Answer a question from the first few pages that are found."""
    return {"question": question}


def comprehensive_research(question: str, topic_focus: str | None = None) -> dict[str, Any]:
    """Answer a question at length, with the focus on one side of it."""
    return {"question": question, "topic_focus": topic_focus}


TOOLS = (research, quick_research, comprehensive_research)
