"""Measure the time and memory of a report on generated logs of many tools and clients."""

from __future__ import annotations

import hashlib
import io
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
from contextlib import closing, contextmanager
from datetime import datetime, timedelta, timezone
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import duckdb
from rich.table import Table

from benchmarks.printing import wide_console
from mcp_lenient.devtools.report import Report, clickhouse, page, read_report
from mcp_lenient.devtools.report.database import Database
from mcp_lenient.devtools.report.intake import take_in
from mcp_lenient.devtools.report.sources import find_logs

_STATEMENTS: Final = Path(__file__).parents[2] / "docs" / "clickhouse"
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


_HEADS: Final = ("what", "seconds", "processor seconds", "of reading alone", "peak memory", "answers")
_SETTINGS: Final = [(threads, "2GB") for threads in (1, 2, 4, 8, 16)] + [
    (16, memory) for memory in ("64MB", "256MB", "4GB")
]
"""Threads and memory of a report, each in a process of its own."""


def main(*, millions: int = 1) -> None:
    """Print the seconds and the peak memory of a report on a log: by DuckDB, from a store, and by ClickHouse's engine.

    Args:
        millions: The size of the log in million lines.
    """
    console = wide_console()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [folder / f"events-{at:03}.jsonl" for at in range(millions)]
        with ProcessPoolExecutor() as pool:
            list(pool.map(_write, files, range(millions)))
        size = sum(file.stat().st_size for file in files) / 2**20
        table = Table(*_HEADS, title=f"{millions * _MILLION:,} events, {size:,.0f} MiB")
        alone = _row(table, "DuckDB reads the same columns", "alone", folder, {})
        _row(table, "intake of the report", "intake", folder, {}, alone)
        first = _row(table, "report, with its page", "report", folder, {}, alone)
        _row(table, "first report with a store", "store", folder, {}, alone, first)
        _row(table, "second report, nothing new", "store", folder, {}, alone, first)
        for threads, memory in _SETTINGS:
            chosen = {"REPORT_MEMORY": memory, "REPORT_THREADS": f"{threads}"}
            _row(table, f"report, {threads} threads, {memory}", "report", folder, chosen, alone, first)
        if find_spec("chdb") is None or find_spec("sqlglot") is None:
            console.print(table, "chDB or sqlglot is not installed: pip install chdb sqlglot")
            return
        _row(table, "chDB takes in the events and views", "fill", folder, {})
        disk = sum(each.stat().st_size for each in (folder / "chdb").rglob("*") if each.is_file())
        _row(table, "chDB answers from the events", "events", folder, {}, alone, first)
        _row(table, "chDB answers from the views", "views", folder, {}, alone, first)
        console.print(table)
        console.print(
            f"chDB keeps {disk / millions / _MILLION:.0f} bytes an event, those of the views among them"
        )


def _row(
    table: Table,
    what: str,
    step: str,
    folder: Path,
    environment: dict[str, str],
    alone: _Ran | None = None,
    first: _Ran | None = None,
) -> _Ran:
    """Do one step in a process of its own, and add its figures to the table."""
    command = [sys.executable, "-m", __spec__.name, step, str(folder)]
    start = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | environment)  # noqa: S603 - our own program
    seconds = time.perf_counter() - start
    *_, processor, peak, answers = done.stdout.split()
    ran = _Ran(float(processor), answers)
    times = "" if alone is None else f"{ran.processor / alone.processor:.1f}"
    equal = "" if first is None else "equal" if first.answers == answers else "DIFFERENT"
    table.add_row(what, f"{seconds:.1f}", processor, times, f"{int(peak) / 2**20:,.0f} MiB", equal)
    return ran


class _Ran(NamedTuple):
    processor: float
    answers: str


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


def _reading(files: list[str], folder: Path) -> None:
    """Have DuckDB read what a report needs of the lines, by itself."""
    texts = "timestamp event tool error_code server client_name client_version subject violations repairs hints".split()
    columns = dict.fromkeys(texts, "VARCHAR") | {"schema_version": "BIGINT"}
    config = {"memory_limit": "512MB", "preserve_insertion_order": False}
    connection = duckdb.connect(str(folder / "alone.duckdb"), config=config)
    connection.execute(
        f"CREATE TABLE x AS SELECT * FROM read_json(?, columns={columns}, format='newline_delimited', ignore_errors=true)",  # noqa: S608
        [files],
    )
    (folder / "alone.duckdb").unlink()


def _intake(files: list[str], folder: Path) -> None:
    """Take in the lines, without a question."""
    own = folder / "intake"
    own.mkdir()
    with closing(Database(own, files, remote=False, memory="512MB", progress=None)) as taking:
        take_in(taking, find_logs(files, own, None), own)


def _reported(files: list[str], folder: Path, store: Path | None = None) -> Report:
    report = read_report(files, memory=os.environ.get("REPORT_MEMORY", "512MB"), store=store)
    (folder / "report.html").write_text(page(report), encoding="utf-8")
    return report


def _session(folder: Path) -> Any:
    from chdb.session import Session

    return Session(str(folder / "chdb"))


def _fill(files: list[str], folder: Path) -> None:
    """Make the tables and views of the documentation, and fill them."""
    session = _session(folder)
    for name in ("calls.sql", "views.sql"):
        for statement in filter(None, map(str.strip, (_STATEMENTS / name).read_text("utf-8").split(";"))):
            session.query(statement)
    for file in files:
        lines = file.replace(".jsonl", ".events")
        with Path(file).open(encoding="utf-8") as log, Path(lines).open("w", encoding="utf-8") as events:
            events.writelines(each for each in log if each.startswith("{"))
        filled = "INSERT INTO calls SELECT * FROM file('{}', JSONEachRow) SETTINGS date_time_input_format = 'best_effort'"
        session.query(filled.format(lines))
        Path(lines).unlink()
    session.close()


def _asked(folder: Path, *, views: bool) -> Report:
    """Ask chDB as a server is asked, without HTTP."""
    session = _session(folder)

    @contextmanager
    def answer(_server: str, sql: str) -> Iterator[BinaryIO]:
        named = sql if views else sql.replace("'kept_", "'no_")
        yield io.BytesIO(session.query(named, "TabSeparated").bytes())

    clickhouse._answer = answer  # noqa: SLF001
    return read_report((), server="clickhouse://localhost")


def _child() -> None:
    """Do one step, and print its processor time, its peak memory and a digest of its answers."""
    if "REPORT_THREADS" in os.environ:
        processors = set(range(int(os.environ["REPORT_THREADS"])))
        os.sched_getaffinity = lambda _: processors
    step, folder = sys.argv[1], Path(sys.argv[2])
    files = sorted(map(str, folder.glob("events-*.jsonl")))
    steps = {
        "alone": lambda: _reading(files, folder),
        "intake": lambda: _intake(files, folder),
        "report": lambda: _reported(files, folder),
        "store": lambda: _reported(files, folder, folder / "store"),
        "fill": lambda: _fill(files, folder),
        "events": lambda: _asked(folder, views=False),
        "views": lambda: _asked(folder, views=True),
    }
    report = steps[step]()
    # A step of the timeline depends on what counts periods.
    told = "" if report is None else report.model_dump_json(exclude={"made", "log", "timeline"})
    spent = resource.getrusage(resource.RUSAGE_SELF)
    peak = spent.ru_maxrss if sys.platform == "darwin" else spent.ru_maxrss * 1024
    print(round(spent.ru_utime + spent.ru_stime, 1), peak, hashlib.sha256(told.encode()).hexdigest())


if __name__ == "__main__":
    _child()
