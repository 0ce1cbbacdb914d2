"""Test the OpenTelemetry log records of events, with the SDK in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

from fastmcp_versions import SPAN, not_on_3

_RUN = """
import asyncio, json, sys
from fastmcp import Client, FastMCP
from mcp_lenient import LenientMiddleware
from opentelemetry import _logs, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider

trace.set_tracer_provider(TracerProvider())
mcp = FastMCP("notes", middleware=[LenientMiddleware()])

@mcp.tool
def store(tags: list[str], password: str = "") -> str:
    return "stored"

async def main():
    async with Client(mcp) as client:
        await client.call_tool("store", {"tags": '["a"]'})  # before there is a provider
        exporter = InMemoryLogRecordExporter()
        named = {"service.instance.id": "mine"} if "named" in sys.argv else {}
        provider = LoggerProvider(Resource(named))
        provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
        _logs.set_logger_provider(provider)
        await client.call_tool("store", {"tags": '["a"]'})
        await client.call_tool("store", {"tags": 5, "password": ["hunter2"]}, raise_on_error=False)
        for each in exporter.get_finished_logs():
            print(each.to_json(indent=None))
            print(json.dumps(dict(each.instrumentation_scope.attributes or {})), each.instrumentation_scope.version)

asyncio.run(main())
"""


def records(*arguments):
    """Return the records of two calls, the scope of each, and the lines on stderr."""
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", _RUN, *arguments], check=True, capture_output=True, text=True
    )
    lines = ran.stdout.splitlines()
    written = [json.loads(line) for line in ran.stderr.splitlines() if '"call_' in line]
    return [json.loads(line) for line in lines[::2]], [line.split() for line in lines[1::2]], written


@not_on_3(SPAN)
def test_an_event_is_a_record_with_its_fields_as_attributes_beside_its_line():
    found, scopes, lines = records()
    assert len(lines) == 3
    for record, line in zip(found, lines[1:], strict=True):
        fields = dict(record["attributes"])
        fields |= {
            name: json.loads(value) for name, value in fields.items() if name in ("violations", "repairs")
        }
        event, time, level = line.pop("event"), line.pop("timestamp"), line.pop("level")
        assert fields == line
        assert (record["event_name"], record["body"]) == (f"mcp_lenient.{event}", event)
        assert (record["severity_text"], record["timestamp"]) == (level.upper(), time)
        assert record["trace_id"] == f"0x{line['trace_id']}"
    assert [each["severity_number"] for each in found] == [9, 13]
    assert "hunter2" not in json.dumps(found)
    (instance, version), other = ((json.loads("".join(each[:-1])), each[-1]) for each in scopes)
    assert (instance, version) == other
    assert list(instance) == ["service.instance.id"]
    assert version[0].isdigit()


def test_the_instance_that_the_resource_names_is_kept():
    found, scopes, _ = records("named")
    assert [each[0] for each in scopes] == ["{}", "{}"]
    assert found[0]["resource"]["attributes"]["service.instance.id"] == "mine"
