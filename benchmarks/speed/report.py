"""Measure the time and memory of a report on generated logs of many tools and clients."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timedelta, timezone
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.table import Table

if TYPE_CHECKING:
    from rich.console import Console

_MILLION: Final = 1_000_000
_START: Final = datetime(2026, 11, 1, tzinfo=timezone.utc)
_TOOLS: Final = [
    f"{verb}_{thing}"
    for verb, thing in product(
        "search create update delete list export".split(),
        "tickets contexts invoices pages users jobs".split(),
    )
]
_CLIENTS: Final = "claude-ai cursor-vscode n8n-mcp-client langchain custom-agent LibreChat goose".split()
_OTHER_LINE: Final = 'INFO:     127.0.0.1:51234 - "POST /mcp HTTP/1.1" 200 OK\n'


def _repaired(rule: str, pointer: str, before: str, after: str) -> dict[str, Any]:
    repairs = [{"rule": rule, "pointer": pointer, "before": before, "after": after}]
    return {"event": "call_repaired", "level": "info", "repairs": repairs, "repair_count": 1}


def _refused(error_code: str, event: str = "call_rejected", *violations: str) -> dict[str, Any]:
    found = [dict(zip(("code", "pointer", "received"), each.split(), strict=True)) for each in violations]
    known = {"error_code": error_code, "violations": found, "violation_count": len(found)}
    return {"event": event, "level": "warning" if event == "call_rejected" else "info", **known}


_KINDS: Final = (
    (30, _repaired("json_text_to_array", "/tags", "string", "array")),
    (12, _repaired("text_to_integer", "/limit", "string", "integer")),
    (10, _repaired("rename_case", "/ticketId", "string", "string")),
    (8, _repaired("drop_injected", "/toolCallId", "string", "absent")),
    (6, _repaired("null_to_absent", "/filter", "null", "absent")),
    (9, _refused("INVALID_LIMIT_TYPE", "call_rejected", "type /limit string")),
    (7, _refused("INVALID_SINCE_VALUE", "call_rejected", "format /since string")),
    (7, _refused("INVALID_ARGUMENTS", "call_rejected", "missing /task absent", "unknown /query string")),
    (4, _refused("INVALID_ROWS_TYPE", "call_rejected", "type /rows/3/id null")),
    (1, _refused("UNKNOWN_TOOL")),
    (3, _refused("UNKNOWN_PARAMETER", "call_forwarded", "unknown /metadata object")),
    (
        3,
        {
            "event": "call_accepted",
            "level": "info",
            "hints": [{"code": "json_text_kept", "pointer": "/text"}],
        },
    ),
)
"""Kinds of events, and how often each occurs."""


def main(console: Console, *, millions: int = 1) -> None:
    """Print the seconds and the peak memory of a report with its HTML page.

    Args:
        console: The output.
        millions: The size of the log in million lines.
    """
    heads = ("lines", "log", "seconds", "lines a second", "processor", "peak memory")
    table = Table(*heads, title="mcp-lenient report --html")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [folder / f"events-{at:03}.jsonl" for at in range(millions)]
        with ProcessPoolExecutor() as pool:
            list(pool.map(_write, files, range(millions)))
        size = sum(file.stat().st_size for file in files)
        command = [sys.executable, "-m", __spec__.name, *map(str, files), str(folder / "report.html")]
        start = time.perf_counter()
        ran = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own program
        seconds = time.perf_counter() - start
    processor, peak = ran.stdout.split()[-2:]
    lines = millions * _MILLION
    log = (f"{lines:,}", f"{size / 2**20:,.0f} MiB", f"{seconds:.1f}", f"{lines / seconds:,.0f}")
    table.add_row(*log, f"{processor} s", f"{int(peak) / 2**20:,.0f} MiB")
    console.print(table)


def _write(file: Path, number: int) -> None:
    with file.open("w", encoding="utf-8") as opened:
        opened.writelines(_lines(number))


def _lines(number: int) -> Iterator[str]:
    """Yield a million lines: events of one server, ordered by time, and one other line in a hundred."""
    chance = random.Random(number)  # noqa: S311 - figures, no secrets
    # The first tools and clients occur most often.
    templates = [_template(kind, *each) for each in product(_TOOLS, _CLIENTS) for _, kind in _KINDS]
    weights = [
        often / (tool + 1) / (client + 1)
        for tool, client in product(range(len(_TOOLS)), range(len(_CLIENTS)))
        for often, _ in _KINDS
    ]
    for at, template in enumerate(chance.choices(templates, weights, k=_MILLION)):
        ids = f"{chance.getrandbits(320):080x}"
        when = _START + timedelta(days=7 * number, seconds=at / 2)
        yield template % (
            f"{when.isoformat(timespec='microseconds')[:-6]}Z",
            chance.lognormvariate(4, 1),
            ids[:32],
            at,
            ids[32:64],
            ids[64:],
            400 * chance.random() ** 3,
        )
        if at % 100 == 0:
            yield _OTHER_LINE


def _template(kind: dict[str, Any], tool: str, client: str) -> str:
    known = {
        "timestamp": "%s",
        **kind,
        "tool": tool,
        "duration_us": 0,
        "server": "platform",
        "client_name": client,
        "client_version": "1.0.0",
        "session_id": "%s",
        "request_id": "%d",
        "transport": "streamable-http",
        "trace_id": "%s",
        "span_id": "%s",
        "subject": "user-%d",
        "schema_version": 1,
    }
    return json.dumps(known, separators=(",", ":")).replace('"duration_us":0', '"duration_us":%d') + "\n"


def _child() -> None:
    """Report on the named files, write the page, and print processor time and peak memory of this process."""
    from mcp_lenient.cli import run

    *files, page = sys.argv[1:]
    if run(["report", *files, "--html", page, "--memory", os.environ.get("REPORT_MEMORY", "512MB")]) != 0:
        sys.exit(2)
    spent = resource.getrusage(resource.RUSAGE_SELF)
    peak = spent.ru_maxrss if sys.platform == "darwin" else spent.ru_maxrss * 1024
    print(round(spent.ru_utime + spent.ru_stime, 1), peak)


if __name__ == "__main__":
    _child()
