"""Test that the report reads the same events as the event model, from any source."""

from __future__ import annotations

import gzip
import io
import json
import os
import threading
from contextlib import closing, contextmanager
from datetime import timezone
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from devtools.report.logs import line, log, repair, wrong
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from strategies import examples

from mcp_lenient.devtools.report import ReportError, Selection, read_report
from mcp_lenient.devtools.report.counting import HOUR, counting, parameters
from mcp_lenient.devtools.report.database import Database
from mcp_lenient.devtools.report.intake import read_lists, take_in
from mcp_lenient.devtools.report.sources import find_logs
from mcp_lenient.telemetry.events import read_event

KEPT = ("event", "tool", "error_code", "fault", "server", "client_name", "client_version", "model", "subject")
LISTS = {
    "violations": "code, place, received",
    "repairs": "rule, place, before, after",
    "hints": "code, place",
}
WHOLE = json.loads(
    line(
        error_code="INVALID_X_TYPE",
        fault="wrong_shape",
        violations=[wrong("type", "/x/y", "string")],
        repairs=[repair("scalar_to_array", "/tags")],
        repair_count=1,
        hints=[{"code": "json_text_kept", "pointer": "/text"}],
        duration_us=12,
        server="s",
        mounted="m",
        subject="user-1",
        session_id="a",
        request_id="1",
        transport="stdio",
        trace_id="00",
        span_id="00",
    )
)
ODD_LINES = {
    "NaN": line()[:-1] + ', "share": NaN}',
    "Infinity": line()[:-1] + ', "share": Infinity}',
    "null for a text": line()[:-1] + ', "server": null}',
    "a text for a count": line(duration_us="12"),
    "a fraction for a count": line(duration_us=12.0),
    "true for a count": line(duration_us=True),
    "schema version 1.0": line(schema_version=1.0),
    "schema version 2": line(schema_version=2),
    "no schema version": line(schema_version=None),
    "no tool": line(tool=None),
    "another event": line(event="call_started"),
    "a text with quotes and a backslash": line(tool='a"b\\c'),
    "a Chinese name": line(tool="搜索"),
    "a Chinese name, unescaped": line(tool="x").replace('"x"', '"搜索"'),
    "a control character": line(tool="a\x1b[31mb"),
    "DEL": line(tool="x").replace('"x"', '"\x7f"'),
    "a direction mark": line(tool="a\u202eb"),
    "a line separator, unescaped": line(tool="x").replace('"x"', '"a\u2028b"'),
    "a lone surrogate": line(tool="x").replace('"x"', '"\\ud800"'),
    "128 characters": line(tool="a" * 128),
    "129 characters": line(tool="a" * 129),
    "128 characters beyond the basic plane": line(tool="\U0001f600" * 128),
    "50 violations": line(violations=[wrong("type", f"/{at}x") for at in range(50)]),
    "an empty list": line(violations=[]),
    "a line within a line": json.dumps({"log": line()}),
    "a list": f"[{line()}]",
    "blanks around": f" \t{line()} ",
    "cut": line()[:60],
    "more after it": f"{line()} {line()}",
    "a naive time": line(timestamp="2026-11-20 12:00:00"),
    "an offset": line(timestamp="2026-11-20T12:00:00.5+05:30"),
    "seconds since 1970": line(timestamp=1_795_000_000.5),
    "seconds since 1970 as text": line(timestamp="1795000000"),
    "a day that does not exist": line(timestamp="2026-02-30T12:00:00Z"),
    "nine digits of a second": line(timestamp="2026-02-20T12:00:00.123456789Z"),
    "year 1": line(timestamp="0001-01-01T00:00:00Z"),
    "no time": line(timestamp=None),
    "a word for a time": line(timestamp="yesterday"),
    "a count that the engine spells longer": line(duration_us=5).replace(": 5", ": 5E0"),
    "an unknown key of the length of two blanks": line()[:-1] + ', "": 1}',
}


@contextmanager
def taken_in(lines):
    """Yield the figures of a log with these lines, and the database that has read them."""
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        file = log(folder, *lines)
        work = folder / "work"
        work.mkdir()
        logs = find_logs([file], work, None)
        with closing(Database(work, [str(file)], remote=False, memory="256MB", progress=None)) as database:
            figures = take_in(database, logs, work)
            database.run(f"CREATE TABLE counted_shapes AS {counting('shapes', Selection(), HOUR)}")
            read_lists(database)
            yield figures, database


def rows_of(lines):
    """Return the rows that the engine reads from lines."""
    lists = ", ".join(
        f"list_sort((SELECT list(row({fields}, times)) FROM {name} WHERE list = calls.{name}))"
        for name, fields in LISTS.items()
    )
    with taken_in(lines) as (figures, database):
        return figures, database.run(f"SELECT micros, {', '.join(KEPT)}, {lists} FROM calls")


def expected(event):
    """Return the row for an event of the model."""
    micros = None
    if event.timestamp is not None:
        moment = event.timestamp.astimezone(timezone.utc).replace(tzinfo=None)
        since = moment - moment.min
        micros = (since.days - 719_162) * 86_400_000_000 + since.seconds * 1_000_000 + since.microseconds
    lists = []
    for name, fields in LISTS.items():
        counted = {}
        for record in getattr(event, name):
            reported = record.model_dump()
            place = "/".join(
                "*" if part.isascii() and part.isdigit() else part for part in reported["pointer"].split("/")
            )
            key = tuple(place if field == "place" else reported[field] for field in fields.split(", "))
            counted[key] = counted.get(key, 0) + 1
        lists.append(sorted(((*key, times) for key, times in counted.items()), key=repr) or None)
    return (micros, *(getattr(event, name) for name in KEPT), *lists)


def alike(rows):
    """Return rows in a form in which their order does not matter."""
    return sorted(
        repr([sorted(map(repr, cell)) if isinstance(cell, list) else cell for cell in row]) for row in rows
    )


def agree(lines):
    """Assert that the engine and the event model read the same."""
    events = [event for event in map(read_event, lines) if event is not None]
    figures, rows = rows_of(lines)
    assert alike(rows) == alike(map(expected, events))
    assert figures.events == len(events)
    assert figures.lines == sum(bool(each.strip(" \t")) for each in lines)
    assert figures.foreign == figures.lines - len(events)


def test_odd_lines_are_read_like_the_model():
    """The engine treats a line as an event exactly when the event model does, and reads the same values."""
    compact = [text.replace('": ', '":').replace(", ", ",") for text in ODD_LINES.values()]
    agree([line(tool="a plain one"), *ODD_LINES.values(), *compact])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, id=name)
        for name, text in {
            "a key twice": line()[:-1] + ', "tool": "other"}',
            "a trailing comma": line()[:-1] + ",}",
            "not a number": line()[:-1] + ', "share": [nan, -inf]}',
            "deeply nested": line()[:-1] + ', "more": ' + "[" * 300 + "]" * 300 + "}",
            "a huge number": line()[:-1] + ', "more": ' + "9" * 5000 + "}",
            "null for a list": line()[:-1] + ', "violations": null}',
            "null for a count": line()[:-1] + ', "duration_us": null}',
            "a number for a text": line(server=5),
            "a negative count": line(duration_us=-1),
            "a count beyond all integers": line(duration_us=10**30),
            "schema version as text": line(schema_version="1"),
            "a year beyond those of Python": line(timestamp="294246-01-01T00:00:00Z"),
        }.items()
    ],
)
def test_an_event_that_no_library_writes_is_an_event(text):
    """The engine also takes what is not quite JSON, or not quite the model's: what it cannot read is missing."""
    with taken_in([text]) as (figures, database):
        assert (figures.lines, figures.events) == (1, 1)
        ((event, tool),) = database.run("SELECT event, tool FROM calls")
    assert (event, tool) == ("call_rejected", "search")


@pytest.mark.parametrize(
    ("listed", "codes"),
    [
        pytest.param([wrong("odd", "/a"), wrong("type", "/b")], ["type"], id="an unknown code"),
        pytest.param([{**wrong("type", "/a"), "value": "x"}], ["type"], id="a field that no record has"),
        pytest.param([wrong("type", "/a", "bignum")], ["type"], id="an unknown type"),
        pytest.param(
            [wrong("type", "/" + "a" * 9_000), wrong("type", "/\u202e")], [], id="no place of an event"
        ),
        pytest.param(
            [wrong("type", f"/{at}x") for at in range(51)], ["type"] * 51, id="more than are listed"
        ),
        pytest.param("[]", [], id="a list that is text"),
        pytest.param({"code": "type", "pointer": ""}, [], id="an object"),
        pytest.param([1, None, [wrong("type", "/a")]], [], id="no records"),
    ],
)
def test_entries_that_no_event_has_are_left_out(listed, codes):
    """The event is still one."""
    with taken_in([line(violations=listed, violation_count=1)]) as (figures, database):
        assert figures.events == 1
        assert [code for (code,) in database.run("SELECT code FROM violations")] == codes
        assert {received for (received,) in database.run("SELECT received FROM violations")} <= {None}


texts = st.sampled_from([None, "", "x", "1", "null", "x\x7f", "ä", "\u200b", '"', "\\", "a" * 129])
pointers = st.sampled_from(["", "/a", "/a/0/b", "/0/1", "/ä~1/00x"])
kinds = st.sampled_from(["string", "null", "absent"])
lists = {
    "violations": st.builds(wrong, st.sampled_from(["type", "missing"]), pointers, st.none() | kinds),
    "repairs": st.builds(repair, st.sampled_from(["scalar_to_array", "x" * 40]), pointers, kinds, kinds),
    "hints": st.builds(lambda pointer: {"code": "json_text_kept", "pointer": pointer}, pointers),
}
others = st.sampled_from([None, True, 1.5, 10**20, "x\x7f", "ä", "\u200b", '"', "\\", "a" * 129, [], {}, [1]])
times = st.sampled_from([None, "2026-11-20T12:00:00Z", "2026-11-20 12:00:00.5", 1_795_000_000, "yesterday"])
changes = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(KEPT, texts),
        "fault": st.sampled_from([None, "loop"]),
        **{name: st.lists(entry, max_size=3) for name, entry in lists.items()},
        "duration_us": st.sampled_from([0, 1, 10**15]),
        "schema_version": st.sampled_from([None, 1, 2, "x"]),
        "timestamp": times,
        "other": others,
    },
)


@st.composite
def odd_lines(draw):
    """Draw a line of a log with some changed fields, sometimes cut off or with a quote too many."""
    known = {**WHOLE, **draw(changes)}
    for name in draw(st.lists(st.sampled_from(sorted(known)), max_size=4)):
        known.pop(name, None)
    separators = draw(st.sampled_from([(", ", ": "), (",", ":")]))
    text = json.dumps(known, ensure_ascii=draw(st.booleans()), separators=separators)
    if draw(st.integers(0, 3)) == 0:
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(["", '"'])) + text[at:] * draw(st.booleans())
    return text


@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(odd_lines(), min_size=30, max_size=60))
@example([json.dumps(WHOLE)])
def test_the_engine_agrees_with_the_model(lines):
    """Of any lines that a program may write, the engine and ``read_event`` read the same events."""
    agree(lines)


def test_a_cut_last_line_is_foreign(tmp_path):
    """A file cut off in a line or a character is read up to that line."""
    file = tmp_path / "cut.jsonl"
    file.write_bytes(f"{line()}\n{line()}\n".encode() + line(tool="ä").encode()[:40] + "ä".encode()[:1])
    report = read_report([file])
    assert (report.calls, report.log.foreign) == (2, 1)


def test_a_growing_file_is_read_to_its_current_end(tmp_path):
    """A log that grows while it is read gives only whole events."""
    file = log(tmp_path, *[line()] * 5_000)
    done = threading.Event()

    def write():
        with file.open("a", encoding="utf-8") as opened:
            while not done.is_set():
                opened.write(line()[:50])
                opened.flush()
                opened.write(f"{line()[50:]}\n")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        report = read_report([file])
    finally:
        done.set()
        writer.join()
    assert report.calls >= 5_000
    assert report.log.foreign <= 1


def test_all_kinds_of_sources_are_read_once(tmp_path):
    """Files, patterns, compressed files with any name, and standard input are read as one log."""
    plain = log(tmp_path, line(tool="plain"), name="a[1]'*.jsonl")
    (tmp_path / "day=1").mkdir()
    packed = tmp_path / "day=1" / "rotated.log.1"
    packed.write_bytes(gzip.compress(f"{line(tool='packed')}\n".encode()))
    stream = io.BytesIO(gzip.compress(f"{line(tool='piped')}\n".encode()))
    report = read_report([plain, plain, str(tmp_path / "**" / "*.log.*"), "-"], stdin=stream)
    assert sorted(each.tool for each in report.tools) == ["packed", "piped", "plain"]
    assert (report.calls, report.log.files) == (3, 3)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_read(tmp_path):
    """A named pipe, such as a shell passes for ``<(...)``, is read like a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(f"{line()}\n"))
    writer.start()
    assert read_report([pipe]).calls == 1
    writer.join()


def test_a_cut_gzip_file_is_read_up_to_its_end(tmp_path):
    """A gzip file that is still being written is read up to its end, and the report says so."""
    whole = log(tmp_path, *[line(request_id=str(at)) for at in range(4_000)])
    packed = tmp_path / "cut.gz"
    packed.write_bytes(gzip.compress(whole.read_bytes())[:-2000])
    beside = tmp_path / "whole.gz"
    beside.write_bytes(gzip.compress(f"{line()}\n".encode()) + gzip.compress(f"{line()}\n".encode()))
    report = read_report([beside, packed])
    assert 1_000 < report.calls < 4_000
    assert (report.log.cut_files, report.log.foreign) == (1, 1)


LONG = (1_999_000, 3_999_999, 5_000_000)
STARTS = (b"x", b"\xff", b'{"event": "call_', b" \t")


@pytest.mark.parametrize("packed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_odd_and_long_lines_hide_no_event(packed, tmp_path):
    """Lines that are not text are foreign, as are those of over two megabytes, not all of which are counted."""
    event, long_event = line().encode(), line(stack="x" * 2_100_000).encode()
    long = [
        each for start in STARTS for length in LONG for each in (event, start * (length // len(start)), b"")
    ]
    content = b"\r\n".join([b"\xef\xbb\xbf" + event, b"\xff\xfe\x00", long_event, *long, b"y" * LONG[-1]])
    file = tmp_path / "long"
    file.write_bytes(gzip.compress(content, 1) if packed else content)
    report = read_report([file])
    assert report.calls == 13
    assert 1 <= report.log.foreign <= 12


def test_only_selected_calls_are_counted():
    """A selection has the calls from a moment on, before another, and whose names match."""
    lines = [
        line(tool="a"),
        line(tool="b", minute=1, client_name="cursor"),
        line(tool="c", minute=2, server="x"),
    ]
    selections = [
        ({}, "abc"),
        ({"since": "2026-11-20T12:01:00Z"}, "bc"),
        ({"until": "2026-11-20T12:01:00Z"}, "a"),
        ({"tool": "?"}, "abc"),
        ({"tool": "[ab]"}, ""),
        ({"client": "cu*"}, "b"),
        ({"server": "x"}, "c"),
        ({"tool": "a' OR 1=1 --"}, ""),
    ]
    with taken_in(lines) as (_, database):
        for given_selection, tools in selections:
            selection = Selection.model_validate(given_selection)
            counted = database.records(counting("shapes", selection, HOUR), parameters(selection))
            assert "".join(sorted(each["tool"] for each in counted)) == tools


@pytest.mark.parametrize(
    ("names", "says"),
    [
        pytest.param([], "no log is named", id="none"),
        pytest.param(["missing.jsonl"], "missing.jsonl: no such file$", id="missing"),
        pytest.param(["*.nothing"], "and no file matches the pattern", id="empty pattern"),
        pytest.param(["."], "the folder has no files", id="empty folder"),
        pytest.param(["s3://bucket/*.jsonl"], "^reading addresses needs DuckDB's httpfs", id="address"),
    ],
)
def test_unreadable_sources_are_named(names, says, tmp_path, monkeypatch):
    """A missing log is named in one line."""
    monkeypatch.chdir(tmp_path)
    if names == ["s3://bucket/*.jsonl"]:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with pytest.raises(ReportError, match=says):
        read_report(names)


def test_duckdb_has_no_other_file_access(tmp_path):
    """The database can open only the given logs, and its settings cannot be changed."""
    other = log(tmp_path, "secret", name="other.txt")
    given_file = log(tmp_path, line())
    folder = tmp_path / "work"
    folder.mkdir()
    with closing(
        Database(folder, [str(given_file)], remote=False, memory="256MB", progress=None)
    ) as database:
        assert database.run("SELECT count(*) FROM read_text(?)", [str(given_file)]) == [(1,)]
        for sql in (
            f"SELECT * FROM read_text('{other}')",
            f"COPY (SELECT 1) TO '{tmp_path / 'written'}'",
            "SET enable_external_access=true",
            "SELECT * FROM read_text('https://example.com/')",
        ):
            with pytest.raises(ReportError):
                database.run(sql)
    assert not (tmp_path / "written").exists()
