"""Fetch what ClickHouse has counted, by the statements that count in DuckDB, in ClickHouse's dialect."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.error import HTTPError
from urllib.parse import unquote, urlencode, urlsplit
from urllib.request import Request, urlopen

from mcp_lenient.devtools.report.counting import (
    HOUR,
    TABLES,
    Counted,
    counting,
    created,
    merging,
    parameters,
    span,
    whole_days,
)
from mcp_lenient.devtools.report.database import Database, ReportError
from mcp_lenient.devtools.report.model import LogFigures, Selection
from mcp_lenient.devtools.report.questions import step
from mcp_lenient.values.display import shown

_PORTS: Final = {"clickhouse": ("http", 8123), "clickhouses": ("https", 8443)}
_ADDRESS: Final = re.compile("clickhouses?://[^/]")
_KEPT: Final = (
    "SELECT count(*) FROM system.tables WHERE database = currentDatabase() AND name IN ({})".format(
        ", ".join(f"'kept_{name}'" for name in TABLES)
    )
)
_OLDEST: Final = (23, 6)
"""The oldest version on which the statements were run."""
_ALL: Final = Selection()
_LONGEST_ANSWER: Final = 500
_BLANK: Final = r"\N"


def fetch(server: str, selection: Selection, database: Database, folder: Path) -> Counted:
    """Fetch the counts of the table ``calls`` into the tables of a database.

    If the materialized views have counted the days, and whole days are asked for, the counts are theirs.

    Raises:
        ReportError: When the address is not one, sqlglot is not installed, or the server does not answer or is too old.
    """
    if _ADDRESS.match(server) is None:
        msg = "--from: write an address as clickhouse://user:password@host:8123/database"
        raise ReportError(msg)
    question = in_clickhouse(_KEPT)  # an error without sqlglot comes before one of the server
    _check_version(server)
    is_stored = _text(server, question) == f"{len(TABLES)}" and whole_days(selection) == selection
    figures = _text(server, in_clickhouse(span(selection, stored=is_stored), selection))
    first, last, times = (None if number == _BLANK else int(number) for number in figures.split("\t"))
    seconds = HOUR if is_stored else step(first, last)
    for name in TABLES:
        query = merging(name, f"kept_{name}", selection) if is_stored else counting(name, selection, seconds)
        sql = f"{in_clickhouse(query, selection)} FORMAT Parquet SETTINGS output_format_parquet_string_as_string = 1"
        file = folder / f"{name}.parquet"
        with _answer(server, sql) as answer, file.open("wb") as copy:
            shutil.copyfileobj(answer, copy)
        database.run(created(f"counted_{name}", name))
        database.run(f"INSERT INTO counted_{name} FROM read_parquet(?, binary_as_string=true)", [str(file)])
    log = LogFigures(files=0, tables=1, lines=times or 0, events=times or 0, foreign=0, undated=0)
    return log, selection, seconds


def in_clickhouse(query: str, selection: Selection = _ALL) -> str:
    """Return one of DuckDB's statements in the dialect of ClickHouse, with its parameters in place.

    Raises:
        ReportError: When sqlglot is not installed.
    """
    try:
        from sqlglot import exp, parse_one
    except ModuleNotFoundError:
        msg = "asking ClickHouse needs sqlglot, which is not installed: install mcp-lenient with its extra 'clickhouse'"
        raise ReportError(msg) from None
    values = parameters(selection)

    def filled(node: Any) -> Any:  # its type has another name in sqlglot 30
        return exp.convert(values[node.name]) if isinstance(node, (exp.Parameter, exp.Placeholder)) else node

    return str(parse_one(query, read="duckdb").transform(filled).sql("clickhouse"))


def _check_version(server: str) -> None:
    version = _text(server, "SELECT version()")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    if numbers < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        msg = f"ClickHouse {shown(version, 20)} is too old for a report: it needs {oldest} or newer"
        raise ReportError(msg)


def _text(server: str, sql: str) -> str:
    with _answer(server, sql) as answer:
        return answer.read().decode().strip()


@contextmanager
def _answer(server: str, sql: str) -> Iterator[BinaryIO]:
    """Ask over HTTP, as every version of ClickHouse can be asked."""
    to = urlsplit(server)
    scheme, port = _PORTS[to.scheme]
    address = f"{scheme}://{to.hostname}:{to.port or port}/?{urlencode({'database': to.path.strip('/') or 'default'})}"
    headers = {}
    if to.username is not None:
        headers["X-ClickHouse-User"] = unquote(to.username)
        headers["X-ClickHouse-Key"] = unquote(to.password or "")
    try:
        with urlopen(Request(address, sql.encode(), headers)) as answer:  # noqa: S310 - the scheme is one of two
            yield answer
    except (OSError, HTTPException) as error:  # an HTTPError is an OSError
        how, text = "does not answer", f"{error}"
        if isinstance(error, HTTPError):
            how = "answers with an error"
            text = error.read(_LONGEST_ANSWER).decode("utf-8", "replace").strip() or text
        where = f"{to.hostname}:{to.port or port}"
        msg = f"ClickHouse at {where} {how}: {shown(text, _LONGEST_ANSWER)}"
        raise ReportError(msg) from None
