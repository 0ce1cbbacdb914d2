"""Measure the time and memory of a report on generated logs of many tools and clients."""

from __future__ import annotations

import json
import math
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import accumulate, product
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

_MILLION: Final = 1_000_000
_FILE_LINES: Final = 1_000_000
# Each file fills several buffers of the engine, or nearly one if there are many files; all cells take some minutes.
_MATRIX_FILES: Final = ((1, 80_000), (10, 20_000), (64, 5_000))
_MATRIX_MEMORY: Final = ("64MB", "128MB", "512MB", "1GB", "2GB", "4GB")
_MATRIX_PROCESSORS: Final = (1, 2, 8, 16)
_MATRIX_SECONDS: Final = 60
"""Time limit for a cell of the matrix, in seconds."""
_START: Final = datetime(2026, 11, 1, tzinfo=timezone.utc)
_VERBS: Final = ("search", "create", "update", "delete", "list", "export")
_THINGS: Final = ("tickets", "contexts", "invoices", "pages", "users", "jobs")
_CLIENTS: Final = (
    ("claude-ai", "0.1.0", 30),
    ("cursor-vscode", "1.0.0", 22),
    ("n8n-mcp-client", "1.3.0", 14),
    ("langchain", "0.9.2", 10),
    ("custom-agent", "2.4.1", 6),
    ("custom-agent", "2.5.0", 5),
    ("LibreChat", "0.8.0", 5),
    ("goose", "1.11.1", 4),
    ("Visual Studio Code", "1.106.0", 4),
)
_OTHER_LINES: Final = (
    '{"timestamp": "2026-11-01T00:00:00Z", "level": "info", "event": "request_finished", "status": 200}',
    'INFO:     127.0.0.1:51234 - "POST /mcp HTTP/1.1" 200 OK',
    '{"timestamp": "2026-11-01T00:00:00Z", "event": "call_rejected", "tool": "cut off in the mid',
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of event: its name, its frequency, and its other fields."""

    event: str
    weight: int
    known: Callable[[str], dict[str, Any]]


def _violation(code: str, pointer: str, received: str) -> dict[str, str]:
    return {"code": code, "pointer": pointer, "received": received}


def _refused(error_code: str, *violations: dict[str, str]) -> Callable[[str], dict[str, Any]]:
    known = {"error_code": error_code, "violations": list(violations), "violation_count": len(violations)}
    return lambda _tool: known


def _repaired(rule: str, pointer: str, before: str, after: str) -> Callable[[str], dict[str, Any]]:
    repairs = [{"rule": rule, "pointer": pointer, "before": before, "after": after}]
    return lambda _tool: {"repairs": repairs, "repair_count": 1}


def _thing_name(tool: str) -> dict[str, Any]:
    return _repaired("rename_case", f"/{tool.partition('_')[2]}Id", "string", "string")(tool)


_KINDS: Final = (
    Kind("call_repaired", 30, _repaired("json_text_to_array", "/tags", "string", "array")),
    Kind("call_repaired", 12, _repaired("text_to_integer", "/limit", "string", "integer")),
    Kind("call_repaired", 10, _thing_name),
    Kind("call_repaired", 8, _repaired("drop_injected", "/toolCallId", "string", "absent")),
    Kind("call_repaired", 6, _repaired("null_to_absent", "/filter", "null", "absent")),
    Kind("call_rejected", 9, _refused("INVALID_LIMIT_TYPE", _violation("type", "/limit", "string"))),
    Kind("call_rejected", 7, _refused("INVALID_SINCE_VALUE", _violation("format", "/since", "string"))),
    Kind(
        "call_rejected",
        7,
        _refused(
            "INVALID_ARGUMENTS",
            _violation("missing", "/task", "absent"),
            _violation("unknown", "/query", "string"),
        ),
    ),
    Kind("call_rejected", 4, _refused("INVALID_ROWS_TYPE", _violation("type", "/rows/3/id", "null"))),
    Kind("call_rejected", 1, _refused("UNKNOWN_TOOL")),
    Kind("call_forwarded", 3, _refused("UNKNOWN_PARAMETER", _violation("unknown", "/metadata", "object"))),
    Kind("call_accepted", 3, lambda _tool: {"hints": [{"code": "json_text_kept", "pointer": "/text"}]}),
)


def _weights(client: str, tool: str) -> list[float]:
    """Return the frequency of each kind for this client and tool, which differs between clients."""
    habits = random.Random(f"{client} {tool.partition('_')[0]}")  # noqa: S311 - figures, no secrets
    return [each.weight * habits.choice((0, 0.2, 1, 3)) + 0.01 for each in _KINDS]


def _moment(share: float) -> datetime:
    """Return the time of a call within three weeks: more often by day than by night."""
    days = 21 * share
    return _START + timedelta(days=days + 0.12 * math.sin(2 * math.pi * days))


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a rotated log: its lines, and its server, which has its own tools."""

    file: Path
    number: int
    parts: int
    lines: int

    @property
    def server(self) -> str:
        """Return the name of the server; its users and tools have its number too."""
        return f"platform-{self.number}" if self.number else "platform"

    @property
    def suffix(self) -> str:
        """Return the suffix that makes its tools and users differ from those of other parts."""
        return f"_{self.number}" if self.number else ""


def _templates(part: Part) -> tuple[list[str], list[float]]:
    """Return line templates with placeholders, and their cumulative frequencies."""
    tools = [f"{verb}_{thing}" for verb in _VERBS for thing in _THINGS]
    # The first tools are called most often: the index is the square of a random number.
    shares = [math.sqrt((at + 1) / len(tools)) - math.sqrt(at / len(tools)) for at in range(len(tools))]
    lines, weights = [], []
    for (client, version, often), (tool, share) in product(_CLIENTS, zip(tools, shares, strict=True)):
        kinds = _weights(client, tool)
        for kind, weight in zip(_KINDS, kinds, strict=True):
            lines.append(_template(part, kind, tool, client, version))
            weights.append(often * share * weight / sum(kinds))
    return lines, list(accumulate(weights))


def _template(part: Part, kind: Kind, tool: str, client: str, version: str) -> str:
    known = {
        "timestamp": "%s",
        "level": "warning" if kind.event == "call_rejected" else "info",
        "event": kind.event,
        "tool": f"{tool}{part.suffix}",
        **kind.known(tool),
        "duration_us": 0,
        "server": part.server,
        "client_name": client,
        "client_version": version,
        "session_id": "%s",
        "request_id": "%d",
        "transport": "streamable-http",
        "trace_id": "%s",
        "span_id": "%s",
        "subject": f"user-%d{part.suffix}",
        "schema_version": 1,
    }
    return json.dumps(known, separators=(",", ":")).replace('"duration_us":0', '"duration_us":%d') + "\n"


def _lines(part: Part) -> Iterator[str]:
    """Yield the lines of one part: events ordered by time, and one other line in a hundred."""
    chance = random.Random(7 + part.number)  # noqa: S311 - figures, no secrets
    templates, weights = _templates(part)
    chosen = chance.choices(templates, cum_weights=weights, k=part.lines)
    for at, template in enumerate(chosen):
        if chance.random() < 0.01:
            yield f"{chance.choice(_OTHER_LINES)}\n"
            continue
        ids = f"{chance.getrandbits(320):080x}"
        when = _moment((part.number + at / part.lines) / part.parts)
        yield template % (
            f"{when.isoformat(timespec='microseconds')[:-6]}Z",
            chance.lognormvariate(4, 1),
            ids[:32],
            at,
            ids[32:64],
            ids[64:],
            400 * chance.random() ** 3,
        )


def _write(part: Part) -> None:
    with part.file.open("w", encoding="utf-8") as opened:
        opened.writelines(_lines(part))


def write_logs(folder: Path, count: int) -> list[Path]:
    """Write this many lines into files of a million each, like a rotated log, with one process per processor."""
    parts = -(-count // _FILE_LINES)
    wanted = [
        Part(folder / f"events-{at:03}.jsonl", at, parts, min(_FILE_LINES, count - at * _FILE_LINES))
        for at in range(parts)
    ]
    with ProcessPoolExecutor(max_workers=min(parts, os.cpu_count() or 1)) as pool:
        list(pool.map(_write, wanted))
    return [part.file for part in wanted]


def _matrix(console: Console) -> None:
    """Print the outcome of a report for each number of processors, memory limit and number of files."""
    with tempfile.TemporaryDirectory() as name:
        for count, lines in _MATRIX_FILES:
            table = Table("files", "processors", "--memory", "seconds", "peak memory", "outcome")
            folder = Path(name) / str(count)
            folder.mkdir()
            parts = [Part(folder / f"{at:02}.jsonl", at, count, lines) for at in range(count)]
            with ProcessPoolExecutor() as pool:
                list(pool.map(_write, parts))
            for memory, processors in product(_MATRIX_MEMORY, _MATRIX_PROCESSORS):
                table.add_row(*_cell([part.file for part in parts], memory, processors))
            shutil.rmtree(folder)
            console.print(table)


def _cell(files: list[Path], memory: str, processors: int) -> list[str]:
    command = [
        sys.executable,
        "-m",
        "benchmarks.report",
        *map(str, files),
        str(files[0].with_suffix(".html")),
    ]
    settings = {**os.environ, "REPORT_MEMORY": memory, "REPORT_PROCESSORS": str(processors)}
    start = time.perf_counter()
    try:
        ran = subprocess.run(  # noqa: S603 - our own program
            command, check=False, capture_output=True, text=True, env=settings, timeout=_MATRIX_SECONDS
        )
    except subprocess.TimeoutExpired:
        return [str(len(files)), str(processors), memory, f"{_MATRIX_SECONDS}", "", "not finished"]
    seconds = time.perf_counter() - start
    figures = ran.stdout.split()
    peak = f"{int(figures[-1]) / 2**20:,.0f} MiB" if ran.returncode == 0 else ""
    outcome = "report" if ran.returncode == 0 else next(iter(ran.stderr.splitlines()), "?")
    return [str(len(files)), str(processors), memory, f"{seconds:.1f}", peak, outcome]


def main(console: Console, *, millions: int = 1, matrix: bool = False) -> None:
    """Print the seconds and the peak memory of a report with its HTML page.

    Args:
        console: The output.
        millions: The size of the log in million lines.
        matrix: Whether to try numbers of processors, memory limits and numbers of files instead.
    """
    if matrix:
        _matrix(console)
        return
    table = Table(
        "lines",
        "log",
        "seconds",
        "lines a second",
        "processor",
        "peak memory",
        title="mcp-lenient report --html",
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = write_logs(folder, millions * _MILLION)
        size = sum(file.stat().st_size for file in files)
        start = time.perf_counter()
        command = [sys.executable, "-m", "benchmarks.report", *map(str, files), str(folder / "report.html")]
        ran = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own program
        seconds = time.perf_counter() - start
    processor, peak = ran.stdout.split()[-2], int(ran.stdout.split()[-1])
    table.add_row(
        f"{millions * _MILLION:,}",
        f"{size / 2**20:,.0f} MiB",
        f"{seconds:.1f}",
        f"{millions * _MILLION / seconds:,.0f}",
        f"{processor} s",
        f"{peak / 2**20:,.0f} MiB",
    )
    console.print(table)


def _child() -> None:
    """Report on the named files, write the page, and print the peak memory of this process."""
    from mcp_lenient.cli import run

    *files, page = sys.argv[1:]
    if processors := int(os.environ.get("REPORT_PROCESSORS", "0")):
        os.sched_getaffinity = lambda _process: set(range(processors))
    if run(["report", *files, "--html", page, "--memory", os.environ.get("REPORT_MEMORY", "512MB")]) != 0:
        sys.exit(2)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    spent = resource.getrusage(resource.RUSAGE_SELF)
    print(round(spent.ru_utime + spent.ru_stime, 1), most if sys.platform == "darwin" else most * 1024)


if __name__ == "__main__":
    _child()
