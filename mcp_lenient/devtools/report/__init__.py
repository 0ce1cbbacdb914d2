"""Summarize a log: what happened to the calls, which tools fail for which clients, and what to do about it.

>>> from mcp_lenient.devtools.report import read_report
>>> report = read_report(["examples/no-such-log.jsonl"])
Traceback (most recent call last):
mcp_lenient.devtools.report.database.ReportError: examples/no-such-log.jsonl: no such file
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import BinaryIO

from mcp_lenient.devtools.report.advice import advice
from mcp_lenient.devtools.report.clickhouse import fetch
from mcp_lenient.devtools.report.counting import TABLES, Counted, counting, parameters, span
from mcp_lenient.devtools.report.database import (
    DEFAULT_MEMORY,
    LOWEST_MEMORY,
    Database,
    OutOfMemoryError,
    Progress,
    ReportError,
)
from mcp_lenient.devtools.report.intake import read_lists, take_in
from mcp_lenient.devtools.report.model import Advice, Report, Selection
from mcp_lenient.devtools.report.page import page
from mcp_lenient.devtools.report.questions import answers, prepare, step
from mcp_lenient.devtools.report.sources import FoundLogs, find_logs, is_store
from mcp_lenient.devtools.report.store import KeptCounts

__all__ = ["Advice", "Report", "ReportError", "Selection", "page", "read_report"]

_TOP = 20


def read_report(
    paths: Sequence[str | Path],
    *,
    selection: Selection | None = None,
    top: int = _TOP,
    memory: str = DEFAULT_MEMORY,
    progress: Progress | None = None,
    stdin: BinaryIO | None = None,
    store: Path | None = None,
    server: str | None = None,
) -> Report:
    """Summarize the calls in logs, or in a table of ClickHouse.

    Lines that are not events, such as an unfinished last line, are counted and skipped. Files may be written to
    meanwhile. Data beyond ``memory`` goes to a temporary folder (in ``TMPDIR``), which is removed at the end.

    Args:
        paths: Files of JSON lines, plain or compressed by gzip or zstd, and Parquet files; folders, patterns
            such as ``logs/**/*.jsonl.gz``, addresses such as ``s3://bucket/*.jsonl``, and ``-`` for standard input.
        selection: Which calls to include; all by default. With ``store``, its times are whole days, UTC.
        top: Maximum number of entries in a list.
        memory: The engine's memory limit, such as ``2GB``.
        progress: Called with the current step and its percentage.
        stdin: What ``-`` reads; the process's standard input by default.
        store: A folder that keeps what was counted. Only what is new in the logs is read, and the report is of
            everything in the folder; without paths, of that alone.
        server: A database such as ``clickhouse://localhost/logs``, instead of paths.

    Raises:
        ReportError: When a log is missing or unreadable, ``memory`` is too low, or a package is not installed.
    """
    chosen = selection or Selection()
    if store is not None and (store / "state.json").exists():  # of Parquet files, as before 0.1.0
        msg = f"--store {store}: an earlier version has kept it; give another folder"
        raise ReportError(msg)
    if store is not None and not paths and not is_store(store):
        msg = f"--store {store}: nothing is kept there yet; name the logs to count"
        raise ReportError(msg)
    with tempfile.TemporaryDirectory(prefix="mcp-lenient-report-", ignore_cleanup_errors=True) as name:
        folder, logs = Path(name).resolve(), FoundLogs(())
        if server is None and (paths or store is None):
            stream = stdin if stdin is not None else getattr(sys.stdin, "buffer", None)
            logs = find_logs(paths, folder, stream)
        if server is not None:
            count = partial(fetch, server, chosen)
        elif store is not None:
            count = partial(KeptCounts(store).count, logs, chosen)
        else:
            count = partial(_count_calls, logs, chosen)
        return _in_database(partial(_report, count, top), folder, memory, progress, logs, store)


def _in_database(
    make: Callable[[Database, Path], Report],
    folder: Path,
    memory: str,
    progress: Progress | None,
    logs: FoundLogs,
    store: Path | None,
) -> Report:
    """Make a report in a temporary database, with one thread if several need too much memory."""
    files = [name for file in logs.files for name in (file.pattern, file.path)]
    remote = any(file.remote for file in logs.files)
    folders = (folder, *([store.resolve()] if store else ()))
    for threads in ({}, {"most_threads": 1}):  # one may fit where several do not
        spill = Path(tempfile.mkdtemp(dir=folder))
        with (
            suppress(OutOfMemoryError),
            closing(
                Database(
                    spill, files, remote=remote, memory=memory, progress=progress, folders=folders, **threads
                )
            ) as database,
        ):
            return make(database, spill)
    msg = f"--memory {memory} is too little for these logs: give four times as much, {LOWEST_MEMORY} at least"
    raise ReportError(msg)


def _report(count: Callable[[Database, Path], Counted], top: int, database: Database, folder: Path) -> Report:
    """Make a report of the calls that are counted into the tables of the database."""
    log, selection, least = count(database, folder)
    with database.committed_once():
        read_lists(database)
        prepare(database)
    ((first, last),) = database.run("SELECT min(earliest), max(latest) FROM counted_periods")
    return Report(
        made=datetime.now(timezone.utc),
        selection=selection,
        log=log,
        advice=advice(database, top),
        **answers(database, top, step(first, last, least)),
    )


def _count_calls(logs: FoundLogs, selection: Selection, database: Database, folder: Path) -> Counted:
    log, values = take_in(database, logs, folder), parameters(selection)
    ((first, last, _),) = database.run(span(selection), values)
    seconds = step(first, last)
    with database.committed_once():
        for name in TABLES:
            database.run(f"CREATE TABLE counted_{name} AS {counting(name, selection, seconds)}", values)
    return log, selection, seconds
