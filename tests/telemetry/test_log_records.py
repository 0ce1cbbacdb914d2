"""Test the OpenTelemetry log records of events, with the SDK's provider."""

from __future__ import annotations

import json

from calls import call, lenient
from exported_logs import exported_logs
from exported_spans import exported_spans
from fastmcp_versions import SPAN, not_on_3

REPAIRED = {"tags": '["a"]'}
REFUSED = {"tags": 5, "password": ["hunter2"]}


def store(tags: list[str], password: str = "") -> str:
    """Store."""
    return f"{tags}{password}"


@not_on_3(SPAN)
async def test_an_event_is_a_record_with_its_fields_as_attributes_beside_its_line(events):
    with exported_spans():
        await call(lenient(store), "store", REPAIRED)  # before there is a provider
        with exported_logs() as exporter:
            for sent in (REPAIRED, REFUSED):
                await call(lenient(store), "store", sent)
    records = exporter.get_finished_logs()
    found = [json.loads(each.to_json(indent=None)) for each in records]
    assert len(events) == 3
    for record, line in zip(found, events[1:], strict=True):
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
    one, other = (each.instrumentation_scope for each in records)
    assert (one.attributes, one.version) == (other.attributes, other.version)
    assert list(one.attributes) == ["service.instance.id"]
    assert one.version[0].isdigit()


async def test_the_instance_that_the_resource_names_is_kept():
    with exported_logs(**{"service.instance.id": "mine"}) as exporter:
        await call(lenient(store), "store", REPAIRED)
    (record,) = exporter.get_finished_logs()
    assert not record.instrumentation_scope.attributes
    assert record.resource.attributes["service.instance.id"] == "mine"
