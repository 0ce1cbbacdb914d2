"""Test that ClickHouse's engine, over HTTP, answers as DuckDB does; with the tables and views of the documentation."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from devtools.report.logs import NOON, log
from devtools.report.test_store import answers, lines_of

from mcp_lenient.cli import run
from mcp_lenient.devtools.report import Selection
from mcp_lenient.devtools.report.counting import HOUR, TABLES, counting

_PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "operate.md"
needs_engine = pytest.mark.slow


def statements():
    """Return the SQL statements of the page."""
    blocks = re.findall(r"```sql\n(.*?)```", _PAGE.read_text("utf-8"), re.DOTALL)
    return [each.strip() for block in blocks for each in block.split(";") if each.strip()]


def test_the_views_count_by_the_statements_of_the_report():
    pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    from mcp_lenient.devtools.report.clickhouse import in_clickhouse

    written = [" ".join(each.split()) for each in statements()]
    for name in TABLES:
        query = in_clickhouse(counting(name, Selection(), HOUR, kept=True))
        assert f"CREATE MATERIALIZED VIEW count_{name} TO kept_{name} AS {query}" in written


class Engine:
    """ClickHouse's engine in this process, behind HTTP as a server has it."""

    def __init__(self, folder):
        chdb = pytest.importorskip("chdb.session", reason="chDB is not installed")
        self.session = chdb.Session(str(folder))
        self.session.query("CREATE DATABASE IF NOT EXISTS logs; USE logs")

    def fill(self, file, *, views):
        """Make the tables of the page, and read a log into them."""
        for each in statements():
            if views or each.startswith("CREATE TABLE calls"):
                self.session.query(each)
        self.session.query(
            f"INSERT INTO calls SELECT * FROM file('{file}', JSONEachRow) "
            "SETTINGS input_format_skip_unknown_fields = 1, date_time_input_format = 'best_effort'"
        )


@contextmanager
def serving(session):
    """Serve an engine at an address of this machine, to a user with a password."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            sql = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if (self.headers["X-ClickHouse-User"], self.headers["X-ClickHouse-Key"]) != ("reader", "p@ss"):
                self.send_error(403)
                return
            assert parse_qs(urlsplit(self.path).query) == {"database": ["logs"]}
            try:
                status, body = 200, session.query(sql, "TabSeparated").bytes()
            except RuntimeError as error:
                status, body = 500, str(error).encode()
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"clickhouse://reader:p%40ss@127.0.0.1:{server.server_port}/logs"
    server.shutdown()
    thread.join()
    server.server_close()


SELECTIONS = (
    {},
    {"tool": "tool-[12]"},
    {"client": "a", "tool": "tool-?"},
    {"server": "none'\\"},
    {"since": NOON + timedelta(hours=30)},
    {"since": NOON.replace(hour=0) + timedelta(days=1), "until": NOON.replace(hour=0) + timedelta(days=3)},
)


@pytest.mark.slow
@pytest.mark.parametrize("views", [False, True], ids=["events", "views"])
def test_it_answers_as_duckdb_does(tmp_path, views):
    pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    file = log(tmp_path, *lines_of(1500))
    engine = Engine(tmp_path / "engine")
    engine.fill(file, views=views)
    with serving(engine.session) as address:
        for selection in map(Selection.model_validate, SELECTIONS):
            expected, _ = answers(file, selection=selection)
            asked, figures = answers(server=address, selection=selection)
            assert asked == expected
            assert (figures.tables, figures.events) == (1, expected["calls"])
        engine.session.query("DROP TABLE calls")
        assert run(["report", "--from", address.replace("p%40ss", "wrong")]) == 2
    engine.session.close()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--from", "http://host/db"], "write an address as"),
        (["--from", "clickhouse://host/db", "events.jsonl"], "takes no files"),
        (["--from", "clickhouse://127.0.0.1:9/db"], "does not answer|sqlglot"),
    ],
)
def test_what_it_cannot_ask_is_an_error(arguments, reason, capsys):
    assert run(["report", *arguments]) == 2
    assert re.search(reason, capsys.readouterr().err)
