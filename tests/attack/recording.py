"""Everything that is recorded of calls, for a search for what must not be in it."""

from __future__ import annotations

from typing import Any

from exported_spans import exported_spans
from fastmcp import Client, FastMCP
from opentelemetry.trace import SpanKind

Call = tuple[str, dict[str, Any]]


async def records_of(log: list[str], server: FastMCP, *calls: Call, **client: Any) -> tuple[str, str]:
    """Return everything recorded of these calls, in bounded lines, and all answers."""
    answers = ""
    with exported_spans() as spans:
        async with Client(server, **client) as own:
            for name, arguments in calls:
                answers += (await own.call_tool_mcp(name, arguments)).model_dump_json()
        # FastMCP's client writes the whole answer to its own span. It stands for another process here.
        served = [span for span in spans.get_finished_spans() if span.kind is not SpanKind.CLIENT]
    assert served
    assert all(len(line) < 2_000 and "\n" not in line for line in log)
    return "".join(log) + "".join(span.to_json() for span in served), answers
