"""``mcp-lenient report``: summarize the calls in a log as text, JSON or an HTML page."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from mcp_lenient.cli.errors import DONE, INTERRUPTED, fail
from mcp_lenient.cli.files import files_or_dash

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcp_lenient.devtools.report.database import Progress

_AGO: Final = re.compile(r"(\d{1,6})([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def report(  # noqa: PLR0913 - each is an option of the command
    *files: Annotated[str, files_or_dash("report")],
    format: Literal["text", "json"] = "text",  # noqa: A002 - the option's name
    html: Path | None = None,
    store: Path | None = None,
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    since: str | None = None,
    until: str | None = None,
    tool: str | None = None,
    client: str | None = None,
    server: str | None = None,
    top: Annotated[int, Parameter(validator=Number(gte=1, lte=1000))] = 10,
    memory: str = "512MB",
) -> int:
    """Summarize the calls in a log: which tools fail for which clients, and what to do about it.

    `mcp-lenient report 'logs/*.jsonl' --since 7d --html report.html`

    The exit code is 0; 2 if a log cannot be read, it is empty or none of its lines is an event, or `--memory` is too
    low; 130 after Ctrl-C.

    Args:
        files: Log files, plain or compressed; Parquet files; folders; patterns in quotes, such as
            `'logs/**/*.gz'`; `s3://` and `https://` addresses; `-` for standard input.
        format: `text` for people, `json` for programs.
        html: Write one self-contained page with charts to this file.
        store: A folder that keeps what was counted, by day: only what is new in the files is read, and the report is
            of all that it keeps; without files, of that alone. Times are then whole days, UTC.
        from_: Ask the table `calls` of a ClickHouse database, such as `clickhouse://user:password@host/database`
            (`clickhouses://` with TLS), instead of files.
        since: Only calls since this time: `2026-11-01`, `2026-11-01T08:00Z`, or an age: `90m`, `24h`, `7d`.
        until: Only calls before this time, in the same form.
        tool: Only calls of this tool; `*` matches any text.
        client: Only calls of clients with this name; `*` matches any text.
        server: Only calls to servers with this name; `*` matches any text.
        top: Maximum number of entries in each list.
        memory: Memory limit, beyond which temporary files are used; at least 64MB.
    """
    from mcp_lenient.devtools.printing import Output, count, put, show
    from mcp_lenient.devtools.report import Selection, page, read_report
    from mcp_lenient.devtools.report.wording import as_text, skipped, sources

    _check_use(files, store, from_, html)
    selection = Selection(
        since=_moment("--since", since),
        until=_moment("--until", until),
        tool=tool,
        client=client,
        server=server,
    )
    try:
        with progress_bar() as progress:
            report = read_report(
                files if store or from_ else files or ("-",),
                selection=selection,
                top=top,
                memory=memory,
                progress=progress,
                store=store,
                server=from_,
            )
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: no report was made\n")
        return INTERRUPTED
    if not report.log.events and not report.calls and from_ is None:
        reason = f"none of {count(report.log.lines, 'line')} is an event of mcp-lenient"
        if not report.log.lines:
            reason = f"{sources(report.log)}: empty"
        fail("; ".join((f"{reason}: name the log that its server writes", *skipped(report.log))))
    if html is not None:
        _write(html, page(report))
    if format == "json":
        put(report.model_dump_json(indent=2))
    else:
        show(Output(highlight=False), as_text(report))
    return DONE


def _check_use(files: Sequence[str], store: Path | None, from_: str | None, html: Path | None) -> None:
    if from_ is not None and (files or store):
        fail("--from asks a database: it takes no files and no --store")
    if not (files or store or from_) and sys.stdin.isatty():
        fail("no log given: give files, patterns or - for standard input")
    if html is not None and not html.resolve().parent.is_dir():
        fail(f"--html {html}: the folder does not exist: {html.resolve().parent}")


def _moment(option: str, written: str | None) -> datetime | None:
    """Parse a time; without a zone it is local time."""
    if written is None:
        return None
    if ago := _AGO.fullmatch(written):
        return datetime.now(timezone.utc) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        return datetime.fromisoformat(re.sub(r"[Zz]$", "+00:00", written)).astimezone(timezone.utc)
    except (ValueError, OverflowError):
        fail(
            f"{option} {written!r}: write a time as 2026-11-01, 2026-11-01T08:00Z, or how long ago: 90m, 24h, 7d"
        )


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(f"--html {file}: it cannot be written: {error.strerror}")


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """Show a progress bar if stderr is a terminal."""
    from rich.progress import Progress as Bar

    from mcp_lenient.devtools.printing import Output

    console = Output(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with Bar(console=console, transient=True) as bar:
        task = bar.add_task("starting", total=100)
        yield lambda doing, percent: bar.update(task, description=doing, completed=percent)
