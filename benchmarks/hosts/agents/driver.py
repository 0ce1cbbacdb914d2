"""``driver FRAMEWORK``: run a page's code in its framework with a scripted model, and print what the model receives."""

# mypy: ignore-errors

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from benchmarks.hosts.agents.notes import started
from benchmarks.hosts.calls import CALLS
from benchmarks.hosts.log import events_of

HOW_TO: Final = Path(__file__).parents[3] / "docs" / "how-to"
URL: Final = "http://127.0.0.1:8000/mcp"

Say = Callable[[str, Any], Awaitable[str]]
"""A function that makes the model call a tool, and returns what the model receives."""

ALSO: Final[Mapping[str, tuple[str, Any]]] = {
    "echoed": ("echo", {"content": "x", "tags": ["a", "1", "null"], "max_results": 7}),
    "echoed_least": ("echo", {"content": "[1]"}),
    "echoed_repaired": ("echo", {"content": "x", "tags": "a", "max_results": "7"}),
    "destructive": ("remove", {"number": 1, "keep": None}),
    "destructive_repaired": ("remove", {"number": 1, "keep": "2"}),
}
"""More calls, for tests of the exact arguments that a server gets, and of a destructive tool."""


def code(page: str, section: str) -> str:
    """Return the code of a section, after that of the page's introduction."""
    text = (HOW_TO / f"{page}.md").read_text(encoding="utf-8")
    introduction = text.partition("\n## ")[0]
    shared = re.findall(r"^```py\n(.*?)^```", introduction, re.MULTILINE | re.DOTALL)
    found = re.search(rf"^##+ {re.escape(section)}\n.*?^```py\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return "\n".join([*shared, found[1]])


def names_of(page: str, section: str, url: str, **given: Any) -> dict[str, Any]:
    """Run the code of a section, and return the names that it defines."""
    names = {"__name__": section, **given}
    exec(compile(code(page, section).replace(URL, url), section, "exec"), names)  # noqa: S102 - our own page
    return names


def answered(text: str) -> dict[str, Any]:
    """Return what a model received as a protocol result; an envelope is an error."""
    try:
        read = json.loads(text)
    except ValueError:
        read = None
    is_error = isinstance(read, dict) and read.get("status") == "error"
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


async def converse(say: Say) -> dict[str, Any]:
    """Return the answer and the events of each call."""
    sent = {name: (call.tool, call.arguments) for name, call in CALLS.items()} | dict(ALSO)
    received: dict[str, Any] = {}
    for name, (tool, arguments) in sent.items():
        with events_of() as events:
            try:
                answer = answered(await say(tool, arguments))
            except Exception as error:  # noqa: BLE001 - whatever a framework raises is the outcome
                answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        received[name] = {"answer": answer, "events": events}
    return received


async def answers(framework: str) -> dict[str, Any]:
    """Return the answers of a framework, whose module has ``talking(url)``, a context with its ``Say``."""
    host = import_module(f"benchmarks.hosts.agents.{framework}_host")
    async with host.talking(started()) as say:
        return await converse(say)


Talking = AsyncIterator[Say]

if __name__ == "__main__":
    print(f"\n{json.dumps(asyncio.run(answers(sys.argv[1])))}", flush=True)
