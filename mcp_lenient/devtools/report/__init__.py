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
from contextlib import ExitStack, closing, suppress
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import BinaryIO

from mcp_lenient.devtools.report.advice import advice
from mcp_lenient.devtools.report.clickhouse import fetch
from mcp_lenient.devtools.report.counting import (
    HOUR,
    TABLES,
    counting,
    created,
    parameters,
    span,
    whole_days,
)
from mcp_lenient.devtools.report.database import (
    DEFAULT_MEMORY,
    LOWEST_MEMORY,
    Database,
    OutOfMemoryError,
    Progress,
    ReportError,
)
from mcp_lenient.devtools.report.intake import read_lists, take_in
from mcp_lenient.devtools.report.model import Advice, LogFigures, Report, Selection
from mcp_lenient.devtools.report.page import page
from mcp_lenient.devtools.report.questions import answers, prepare, step
from mcp_lenient.devtools.report.sources import STDIN, FoundLogs, find_logs, is_store
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
    if store is not None and not paths and not is_store(store):
        msg = f"--store {store}: nothing is kept there yet; name the logs to count"
        raise ReportError(msg)
    with (
        tempfile.TemporaryDirectory(prefix="mcp-lenient-report-", ignore_cleanup_errors=True) as name,
        ExitStack() as stack,
    ):
        folder, logs = Path(name).resolve(), FoundLogs(())
        if server is None and (paths or store is None):
            stream = stdin if stdin is not None else getattr(sys.stdin, "buffer", None)
            logs = find_logs(paths, folder, stream)
        if server is not None:
            make = partial(_answered, counted=fetch(server, chosen, folder), top=top)
        elif store is not None:
            kept = stack.enter_context(KeptCounts(store))
            make = partial(_kept, store=kept, logs=logs, selection=chosen, top=top)
        else:
            is_stdin = STDIN in map(str, paths)
            make = partial(_read, logs=logs, selection=chosen, top=top, stdin=is_stdin)
        return _tried(make, folder, memory, progress, logs, store)


def _tried(
    make: Callable[[Database, Path], Report],
    folder: Path,
    memory: str,
    progress: Progress | None,
    logs: FoundLogs,
    store: Path | None,
) -> Report:
    """Make a report in a database of its own."""
    files = [path for group in logs.groups for path in (*group.patterns, *group.shown)]
    remote = any(group.remote for group in logs.groups)
    folders = (folder, *([store.resolve()] if store else ()))
    settings: tuple[dict[str, int], ...] = ({}, {"most_threads": 1})
    for number, each in enumerate(settings):  # one thread may fit where several do not
        own = folder / f"{number}"
        own.mkdir()
        with (
            suppress(OutOfMemoryError),
            closing(
                Database(own, files, remote=remote, memory=memory, progress=progress, folders=folders, **each)
            ) as database,
        ):
            return make(database, own)
    msg = f"--memory {memory} is too little for these logs: give four times as much, {LOWEST_MEMORY} at least"
    raise ReportError(msg)


def _read(
    database: Database, folder: Path, *, logs: FoundLogs, selection: Selection, top: int, stdin: bool
) -> Report:
    log, given = take_in(database, logs, folder, stdin=stdin), parameters(selection)
    ((first, last, _),) = database.run(span(selection), given)
    seconds = step(first, last)
    with database.committed_once():
        for name in TABLES:
            database.run(f"CREATE TABLE counted_{name} AS {counting(name, selection, seconds)}", given)
        prepare(database)
    return _made(database, log, selection, seconds, top)


def _kept(
    database: Database, folder: Path, *, store: KeptCounts, logs: FoundLogs, selection: Selection, top: int
) -> Report:
    log, days = store.update(database, logs, folder), whole_days(selection)
    store.count(database, days)
    return _answered(database, folder, counted=(log, days, HOUR), top=top)


def _answered(
    database: Database, folder: Path, *, counted: tuple[LogFigures, Selection, int], top: int
) -> Report:
    """Answer from tables of counts; those of a database server are files in the folder above."""
    log, selection, least = counted
    for name in TABLES:
        if (file := folder.parent / f"{name}.parquet").exists():
            database.run(created(name))
            database.run(
                f"INSERT INTO counted_{name} FROM read_parquet(?, binary_as_string=true)", [str(file)]
            )
    with database.committed_once():
        read_lists(database, "counted_shapes")
        prepare(database)
    ((first, last),) = database.run("SELECT min(earliest), max(latest) FROM counted_periods")
    return _made(database, log, selection, step(first, last, least), top)


def _made(database: Database, log: LogFigures, selection: Selection, seconds: int, top: int) -> Report:
    return Report(
        made=datetime.now(timezone.utc),
        selection=selection,
        log=log,
        advice=advice(database, top),
        **answers(database, top, seconds),
    )
