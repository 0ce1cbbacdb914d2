"""Send the calls through a LangChain agent with ``langchain-mcp-adapters``, and print the answers.

Runs in its own environment.
"""

# mypy: ignore-errors

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial

from langchain.agents import create_agent

from benchmarks.hosts.agents.driver import Talking, names_of
from benchmarks.hosts.agents.langchain_script import Script


@asynccontextmanager
async def talking(url: str) -> Talking:
    """Yield a function that makes the model call a tool."""
    names = names_of("langchain", "An agent's tools through `langchain-mcp-adapters`", url)
    model = Script()
    agent = create_agent(model, await names["client"].get_tools())
    yield partial(model.say, agent)
