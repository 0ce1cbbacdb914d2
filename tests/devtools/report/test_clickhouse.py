"""Test that ClickHouse's engine, over HTTP, answers as DuckDB does; with the tables and views of the documentation."""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from devtools.report.logs import NOON, line, log, wrong
from devtools.report.test_store import answers, lines_of
from refused import refused

from mcp_lenient.cli import run
from mcp_lenient.devtools.report import Selection
from mcp_lenient.devtools.report.counting import HOUR, TABLES, counting

_FOLDER = Path(__file__).parents[3] / "docs" / "clickhouse"
needs_engine = pytest.mark.slow


def statements():
    """Return the published SQL statements."""
    files = ((_FOLDER / name).read_text("utf-8") for name in ("calls.sql", "views.sql"))
    bare = (re.sub(r"^--.*\n", "", text, flags=re.MULTILINE) for text in files)
    return [statement.strip() for text in bare for statement in text.split(";") if statement.strip()]


def test_the_views_count_by_the_statements_of_the_report():
    pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    from mcp_lenient.devtools.report.clickhouse import in_clickhouse

    written = [" ".join(each.split()) for each in statements()]
    for name in TABLES:
        query = in_clickhouse(counting(name, Selection(), HOUR, stored=True))
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
    {"tool": "t*-?"},
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


class Answer(bytes):
    """An answer as chDB gives it."""

    __slots__ = ()

    def bytes(self):
        return self


class OldServer:
    """What Debian's server of 2018 answers."""

    def query(self, sql, _):
        assert sql == "SELECT version()"
        return Answer(b"18.16.1\n")


def test_a_version_that_is_too_old_is_named(capsys):
    pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    with serving(OldServer()) as address:
        told = refused(["report", "--from", address], capsys)
    assert "ClickHouse 18.16.1 is too old for a report: it needs 23.6 or newer" in told


@pytest.mark.slow
def test_a_missing_table_is_named(tmp_path, capsys):
    pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    engine = Engine(tmp_path / "engine")
    with serving(engine.session) as address:
        assert run(["report", "--from", address]) == 2
    assert re.search("answers with an error: .*calls", capsys.readouterr().err)
    engine.session.close()


def test_the_program_of_vector_takes_events_alone():
    """Vector's own language runs it, in this process."""
    vrl = pytest.importorskip("vrl_python", reason="VRL is not installed").VRLRuntime()
    vector = yaml.safe_load((_FOLDER / "vector.yaml").read_text("utf-8"))
    source = vector["transforms"]["events"]["source"]
    event = json.loads(line(violations=[wrong("type", "/limit", "string")], hints=[]))
    taken = vrl.execute(source, {"message": json.dumps(event), "file": "events.jsonl"}).processed_event
    lists = {name: event[name] for name in ("violations", "repairs", "hints") if name in event}
    assert {name: json.loads(taken.pop(name)) for name in lists} == lists
    assert taken == {name: value for name, value in event.items() if name not in lists}
    for other in ("INFO: started", "[1]", '{"a": 1}', json.dumps(event | {"schema_version": 2})):
        with pytest.raises(RuntimeError):
            vrl.execute(source, {"message": other})


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--from", "http://host/db"], "write an address as"),
        (["--from", "clickhouse://host/db", "events.jsonl"], "takes no files"),
        (["--from", "clickhouse://127.0.0.1:9/db"], "does not answer|sqlglot"),
    ],
)
def test_what_it_cannot_ask_is_an_error(arguments, reason, capsys):
    assert re.search(reason, refused(["report", *arguments], capsys))
