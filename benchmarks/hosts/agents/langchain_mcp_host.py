"""Send the calls through an agent with LangChain's ``MCPAdapter``, and print the answers.

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
    model = Script()
    async with names_of("langchain", "An agent's tools through `MCPAdapter`", url)["adapter"] as adapter:
        yield partial(model.say, create_agent(model, await adapter.list_tools()))
