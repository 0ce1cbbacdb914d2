"""Test which files a report reads: folders, patterns, Parquet, and files that are not logs."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from pathlib import Path

import duckdb
import pytest
from devtools.report.logs import line, log, repair, wrong
from refused import refused

from mcp_lenient.cli import run
from mcp_lenient.devtools.report import ReportError, read_report
from mcp_lenient.devtools.report.sources import find_logs

EVENTS = (
    line(tool="a", violations=[wrong("type", "/x", "string"), wrong("missing", "/y")], request_id="1"),
    line("call_repaired", "b", repairs=[repair("scalar_to_array", "/tags")], duration_us=12),
    line("call_accepted", "c", hints=[{"code": "json_text_kept", "pointer": "/text"}], subject="user-1"),
)


def parquet(file, rows, *, select="*"):
    """Write a Parquet file from JSON lines, with the column types that DuckDB infers."""
    source = log(file.parent, *rows, name=f"{file.name}.source")
    duckdb.connect().execute(
        f"COPY (SELECT {select} FROM read_json('{source}')) TO '{file}' (FORMAT parquet)"
    )
    source.unlink()
    return file


def figures(report):
    """Return all that a report says, except what depends on the files and the time."""
    return json.loads(report.model_dump_json(exclude={"made", "log"}))


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """What a report says of the events as JSON lines."""
    return figures(read_report([log(tmp_path_factory.mktemp("plain"), *EVENTS)]))


@pytest.mark.parametrize(
    "select",
    [
        pytest.param("*", id="nested types"),
        pytest.param(
            "* REPLACE (to_json(violations) AS violations, to_json(repairs) AS repairs, encode(tool) AS tool,"
            " CAST(to_json(hints) AS VARCHAR) AS hints, strftime(timestamp, '%Y-%m-%dT%H:%M:%SZ') AS timestamp)",
            id="lists as JSON text, time as text, binary text",
        ),
        pytest.param(
            "* REPLACE (CAST(schema_version AS DOUBLE) AS schema_version, CAST(duration_us AS DOUBLE) AS duration_us,"
            " CAST(request_id AS BIGINT) AS request_id, CAST(timestamp AS TIMESTAMP_NS) AS timestamp)",
            id="number types of data frames",
        ),
    ],
)
def test_parquet_gives_the_same_report_as_json_lines(select, plain, tmp_path):
    """A Parquet file gives the same report as its events as JSON lines."""
    read = read_report([parquet(tmp_path / "events.parquet", EVENTS, select=select)])
    assert read.log.events == 3
    assert figures(read) == plain


def test_parquet_of_pyarrow_is_read(plain):
    """A file from PyArrow is read: nested lists, dictionary text, nanoseconds with a zone, zstd."""
    # pyarrow 26: `EVENTS` by `Table.from_pylist`, `timestamp("ns", "UTC")`, `dictionary_encode()`, `compression="zstd"`
    read = read_report([Path(__file__).with_name("from_pyarrow.parquet")])
    assert read.log.events == 3
    assert figures(read) == plain


def test_parquet_files_of_different_columns_are_read_together(tmp_path):
    """The files of a folder may have different columns."""
    for number, event in enumerate(EVENTS):
        parquet(tmp_path / f"{number}.parquet", [event])
    assert sorted(each.tool for each in read_report([tmp_path]).tools) == ["a", "b", "c"]


def test_parquet_is_read_from_standard_input(tmp_path):
    """Standard input may be a Parquet file; a compressed one is to be unpacked first."""
    plain = parquet(tmp_path / "events.parquet", EVENTS).read_bytes()
    assert read_report(["-"], stdin=io.BytesIO(plain)).calls == 3
    packed = tmp_path / "events.parquet.gz"
    packed.write_bytes(gzip.compress(plain))
    with pytest.raises(ReportError, match=r"events\.parquet\.gz: a compressed Parquet file"):
        read_report([packed])


def test_a_foreign_parquet_file_is_named(tmp_path):
    """Rows of a Parquet file without the columns of an event are foreign, and the report names the file."""
    parquet(tmp_path / "own.parquet", EVENTS)
    other = parquet(tmp_path / "other.parquet", ['{"id": 1}', '{"id": 2}'])
    report = read_report([tmp_path])
    assert (report.calls, report.log.lines, report.log.foreign) == (3, 5, 2)
    assert [each.file for each in report.log.skipped] == [str(other)]


def test_a_damaged_parquet_file_is_named(tmp_path):
    """A truncated Parquet file is skipped in a folder, and is an error if named itself."""
    whole = parquet(tmp_path / "whole.parquet", EVENTS)
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(whole.read_bytes()[:-20])
    odd = tmp_path / "odd.parquet"
    odd.write_bytes(b"PAR1" + b"\0" * 64 + b"PAR1")
    report = read_report([tmp_path])
    assert report.calls == 3
    assert [each.file for each in report.log.skipped] == [str(cut), str(odd)]
    for file in (cut, odd):
        for names in ([whole, file], [tmp_path, file], [file, tmp_path]):
            with pytest.raises(ReportError, match=file.name):
                read_report(names)
    whole.unlink()
    with pytest.raises(ReportError, match=r"no file can be read: .*cut\.parquet: .*, and 1 more"):
        read_report([tmp_path])


def test_a_folder_is_read_once(tmp_path):
    """All logs in a folder are read once, however often and by whatever path the folder is named."""
    log(tmp_path, line(tool="plain"))
    below = tmp_path / "day=1"
    below.mkdir()
    (below / "rotated.gz").write_bytes(gzip.compress(f"{line(tool='packed')}\n".encode()))
    parquet(below / "events.parquet", [line(tool="columns")])
    log(below, line(tool="hidden"), name=".hidden.jsonl")
    (tmp_path / "again").symlink_to(below, target_is_directory=True)
    report = read_report([tmp_path, tmp_path, below, f"{tmp_path}/**"])
    assert sorted(each.tool for each in report.tools) == ["columns", "packed", "plain"]
    assert (report.calls, report.log.files) == (3, 3)


def found(name, folder):
    """Return the names of the logs and of the skipped files that a name leads to."""
    logs = find_logs([name], folder, None)
    skipped = {Path(each.file).name: each.reason for each in logs.skipped}
    return [Path(file.path).name for file in logs.files], skipped


def test_loops_of_links_end(tmp_path):
    """Links that lead back into the folder do not make a log be read twice."""
    log(tmp_path, line())
    for number in range(20):
        (tmp_path / f"loop{number}").symlink_to(tmp_path, target_is_directory=True)
    for name in (tmp_path, f"{tmp_path}/**/*.jsonl", f"{tmp_path}/**/**/*.jsonl"):
        assert found(name, tmp_path)[0] == ["events.jsonl"]


def beside(folder):
    """Write files that are not logs, and return their names."""
    (folder / "self").symlink_to(folder / "self")
    (folder / "there").symlink_to(folder / "back")
    (folder / "back").symlink_to(folder / "there")
    (folder / "nowhere").symlink_to(folder / "missing")
    (folder / "image").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 5000)
    (folder / "latin").write_bytes(b"caf\xe9\n" * 100)
    (folder / "wide").write_bytes(f"{line()}\n".encode("utf-16"))
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe")
    return sorted(each.name for each in folder.iterdir())


def test_other_files_are_skipped_and_named(tmp_path, capsys):
    """Unreadable files in a folder or matching a pattern are skipped, and the report names them and the reasons."""
    names = beside(tmp_path)
    log(tmp_path, line())
    for name in (f"{tmp_path}/*", f"{tmp_path}/**", tmp_path):
        logs, skipped = found(name, tmp_path)
        assert (logs, list(skipped)) == (["events.jsonl"], names)
        assert all(skipped.values())
    assert run(["report", str(tmp_path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "1 call" in said
    assert "image: it is not text" in said


@pytest.mark.parametrize("name", ["self", "there", "nowhere", "image", "latin", "wide", "a\0b", "x" * 5000])
def test_a_named_file_that_is_not_a_log_is_an_error(name, tmp_path, capsys):
    """An unreadable file that is named gives one line on stderr and exit code 2."""
    beside(tmp_path)
    refused(["report", str(tmp_path / name)], capsys)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_an_unreadable_file_is_named(tmp_path):
    """A file without read permission is skipped in a folder."""
    closed = log(tmp_path, line(), name="closed.jsonl")
    closed.chmod(0)
    log(tmp_path, line())
    assert list(found(tmp_path, tmp_path)[1]) == [closed.name]


@pytest.mark.parametrize(
    ("lines", "says", "options"),
    [
        pytest.param(
            ["INFO: started", '{"event": "other"}'], "none of 2 lines is an event", [], id="other programs"
        ),
        pytest.param([line()[:60]], "none of 1 line is an event", ["--format", "json"], id="cut off"),
    ],
)
def test_a_log_of_only_foreign_lines_is_an_error(lines, says, options, tmp_path, capsys):
    """If no line is an event, one line says so and the exit code is 2."""
    page = tmp_path / "page.html"
    command = ["report", str(log(tmp_path, *lines)), "--html", str(page), *options]
    assert says in refused(command, capsys)
    assert not page.exists()


def test_a_parquet_file_of_only_foreign_rows_is_an_error(tmp_path, capsys):
    """A Parquet file of another program is named, and the exit code is 2."""
    other = parquet(tmp_path / "other.parquet", ['{"id": 1}'])
    assert "other.parquet" in refused(["report", str(other)], capsys)


def test_an_empty_log_is_an_error(tmp_path, capsys, monkeypatch):
    """An empty log exits with 2, as one of other programs: more often than not it is the wrong file or stream."""
    assert refused(["report", str(log(tmp_path))], capsys).startswith("error: 1 file: empty")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert refused(["report"], capsys).startswith("error: standard input: empty")


def test_tail_names_unsupported_sources(tmp_path, capsys):
    """A source that cannot be opened gives one line on stderr and exit code 2."""
    beside(tmp_path)
    (tmp_path / "folder").mkdir()
    for name in ("self", "nowhere", "a\0b", "folder"):
        refused(["tail", str(tmp_path / name), "--no-follow"], capsys)
