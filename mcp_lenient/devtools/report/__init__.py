"""Summarize a log: what happened to the calls, which tools fail for which clients, and what to do about it.

>>> from mcp_lenient.devtools.report import read_report
>>> report = read_report(["examples/no-such-log.jsonl"])
Traceback (most recent call last):
mcp_lenient.devtools.report.database.ReportError: examples/no-such-log.jsonl: no such file
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO

from mcp_lenient.devtools.report.advice import advice
from mcp_lenient.devtools.report.database import (
    DEFAULT_MEMORY,
    Database,
    OutOfMemoryError,
    Progress,
    ReportError,
)
from mcp_lenient.devtools.report.intake import enough_memory, take_in
from mcp_lenient.devtools.report.model import Advice, LogFigures, Report, Selection
from mcp_lenient.devtools.report.page import page
from mcp_lenient.devtools.report.questions import answers, prepare
from mcp_lenient.devtools.report.sources import STDIN, find_logs

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
) -> Report:
    """Summarize the calls in logs.

    Lines that are not events, such as an unfinished last line, are counted and skipped. Files may be written to
    meanwhile. Data beyond ``memory`` goes to a temporary folder (in ``TMPDIR``), which is removed at the end.

    Args:
        paths: Files of JSON lines, plain or compressed by gzip or zstd, and Parquet files; folders, patterns
            such as ``logs/**/*.jsonl.gz``, addresses such as ``s3://bucket/*.jsonl``, and ``-`` for standard input.
        selection: Which calls to include; all by default.
        top: Maximum number of entries in a list.
        memory: The engine's memory limit, such as ``2GB``.
        progress: Called with the current step and its percentage.
        stdin: What ``-`` reads; the process's standard input by default.

    Raises:
        ReportError: When a log is missing or unreadable, ``memory`` is too low, or DuckDB is not installed.
    """
    stream = stdin if stdin is not None else getattr(sys.stdin, "buffer", None)
    with tempfile.TemporaryDirectory(prefix="mcp-lenient-report-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        logs = find_logs(paths, folder, stream)
        files = [path for group in logs.groups for path in (*group.patterns, *group.shown)]
        remote = any(group.remote for group in logs.groups)
        settings: tuple[dict[str, int], ...] = ({}, {"most_threads": 1})
        for number, each in enumerate(settings):  # one thread may fit where several do not
            own = folder / f"{number}"
            own.mkdir()
            with (
                suppress(OutOfMemoryError),
                closing(
                    Database(own, files, remote=remote, memory=memory, progress=progress, **each)
                ) as database,
            ):
                chosen = selection or Selection()
                log = take_in(database, logs, chosen, own, stdin=STDIN in map(str, paths))
                return _made(database, log, chosen, top)
        msg = f"--memory {memory} is too little for these logs: {enough_memory(logs)}"
        raise ReportError(msg)


def _made(database: Database, log: LogFigures, selection: Selection, top: int) -> Report:
    prepare(database)
    return Report(
        made=datetime.now(timezone.utc),
        selection=selection,
        log=log,
        advice=advice(database, top),
        **answers(database, top),
    )
