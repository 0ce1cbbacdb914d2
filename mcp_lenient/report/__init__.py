"""Reading the log back: what became of the calls, who fails where, and what to do about it.

>>> from mcp_lenient.report import read_report
>>> report = read_report(["examples/no-such-log.jsonl"])
Traceback (most recent call last):
mcp_lenient.report.errors.ReportError: examples/no-such-log.jsonl: there is no such file
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO

from mcp_lenient.report.advice import advice
from mcp_lenient.report.database import DEFAULT_MEMORY, Database, Progress
from mcp_lenient.report.errors import ReportError
from mcp_lenient.report.intake import take_in
from mcp_lenient.report.model import Advice, Report, Selection
from mcp_lenient.report.page import page
from mcp_lenient.report.questions import Questions, prepare
from mcp_lenient.report.sources import STDIN, find_logs

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
    """What the logs say of the calls in them.

    Lines that are no events are counted and left out; so is a last line that is cut, and a file may be
    written to meanwhile. What does not fit into ``memory`` goes to a folder in the system's place for
    temporary files (``TMPDIR``), which is removed at the end.

    Args:
        paths: Files, plain or compressed by gzip or zstd, patterns such as ``logs/**/*.jsonl.gz``,
            addresses such as ``s3://bucket/*.jsonl``, and ``-`` for standard input.
        selection: Which calls the report is about; all by default.
        top: How many entries a list has at most.
        memory: How much the engine keeps in memory, such as ``2GB``.
        progress: Called with what is being done, and how many percent of it are.
        stdin: What ``-`` reads; the process's standard input by default.

    Raises:
        ReportError: When a log is not there or cannot be read, or DuckDB is not installed.
    """
    wanted = selection or Selection()
    stream = stdin if stdin is not None else getattr(sys.stdin, "buffer", None)
    with tempfile.TemporaryDirectory(prefix="mcp-lenient-report-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        logs = find_logs(paths, folder, stream)
        database = Database(
            folder,
            [path for group in logs for path in (*group.paths, *group.names)],
            remote=any(group.remote for group in logs),
            memory=memory,
            progress=progress,
        )
        try:
            log = take_in(database, logs, wanted, folder, stdin=STDIN in map(str, paths))
            prepare(database)
            return Report(
                made=datetime.now(timezone.utc),
                selection=wanted,
                log=log,
                advice=advice(database, top),
                **Questions(database, top).answers(),
            )
        finally:
            database.close()
