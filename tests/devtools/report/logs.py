"""Write logs to report on, with lines as the library writes them."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

NOON = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)


def line(event="call_rejected", tool="search", *, minute=0, **known):
    """Return one event as a line."""
    written = {
        "timestamp": (NOON + timedelta(minutes=minute)).isoformat().replace("+00:00", "Z"),
        "level": "info",
        "event": event,
        "tool": tool,
        "client_name": "agent",
        "client_version": "1.0",
        "schema_version": 1,
        **known,
    }
    for name, count in (("violations", "violation_count"), ("repairs", "repair_count")):
        if name in written:
            written.setdefault(count, len(written[name]))
    return json.dumps({name: value for name, value in written.items() if value is not None})


def wrong(code, pointer, received=None):
    """Return one violation of an event."""
    found = {"code": code, "pointer": pointer, "received": received}
    return {name: value for name, value in found.items() if value is not None}


def repair(rule, pointer, before="string", after="array"):
    """Return one repair of an event."""
    return {"rule": rule, "pointer": pointer, "before": before, "after": after}


def log(folder, *lines, name="events.jsonl"):
    """Write a log with these lines."""
    file = folder / name
    file.write_text("".join(f"{each}\n" for each in lines), encoding="utf-8")
    return file
