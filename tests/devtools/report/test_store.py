"""Test that a store counts each line once, whatever happens to the files and to the process."""

from __future__ import annotations

import gzip
import json
import shutil
import signal
import subprocess
import sys
from datetime import timedelta

import duckdb
import pytest
from devtools.report.logs import NOON, line, log, repair, wrong
from refused import refused

from mcp_lenient.cli import run
from mcp_lenient.devtools.report import ReportError, Selection, read_report

_RUN = """
import os, signal, sys
from pathlib import Path
from threading import Timer
from mcp_lenient.devtools.report import read_report, store
left = int(sys.argv[3])
run = store.Database.run
def kill():
    os.kill(os.getpid(), signal.SIGKILL)
def killed(self, sql, *rest, **options):
    global left
    if "store" in sql or sql == "COMMIT":
        left -= 1
        if left == 0:
            kill()
        if left == 1:  # within a statement
            Timer(0.001, kill).start()
    return run(self, sql, *rest, **options)
store.Database.run = killed
store._TOGETHER = store._BLOCK = 50_000
read_report(sys.argv[2:3], store=Path(sys.argv[1]))
"""


def lines_of(count, *, start=0):
    """Return events of several days, tools and clients, each of them different."""
    kinds = (
        {"violations": [wrong("type", "/limit", "string")], "error_code": "INVALID_LIMIT_TYPE"},
        {"event": "call_repaired", "repairs": [repair("json_text_to_array", "/tags")]},
        {"event": "call_accepted", "duration_us": 1234},
    )
    return [
        line(
            tool=f"tool-{at % 5}",
            minute=at * 7,
            client_name=("a", "b", None)[at % 3],
            subject=f"user-{at % 4}",
            request_id=f"{at}",
            **{"duration_us": at % 300, **kinds[at % 7 % 3]},
        )
        for at in range(start, start + count)
    ]


def answers(*paths, **options):
    """Return what a report says of the calls; its timeline differs in the length of a step."""
    made = read_report([str(path) for path in paths], **options)
    return made.model_dump(exclude={"made", "log", "timeline", "selection"}), made.log


def check_kept(folder, *paths, lines):
    """Read logs into the store, and check that it answers as one reading of all lines does."""
    kept, figures = answers(*paths, store=folder / "store")
    expected, read = answers(*paths)
    assert kept == expected
    assert (figures.lines, figures.events) == (lines, read.events)


def append(file, text):
    with file.open("a", encoding="utf-8") as opened:
        opened.write(text)


def test_a_second_run_reads_only_what_is_new_and_answers_as_one_run(tmp_path):
    lines = lines_of(400)
    file = log(tmp_path, *lines[:250])
    read_report([file], store=tmp_path / "store")
    append(file, "".join(f"{each}\n" for each in lines[250:]))
    read_report([file], store=tmp_path / "store")
    check_kept(tmp_path, file, lines=400)


def test_logs_of_one_length_may_grow_together(tmp_path):
    """What two files of the same length have gained is read from each."""
    files = [log(tmp_path, line(tool=tool), name=f"{tool}.jsonl") for tool in "ab"]
    read_report(files, store=tmp_path / "store")
    for file, tool in zip(files, "cd", strict=True):
        append(file, f"{line(tool=tool)}\n")
    check_kept(tmp_path, *files, lines=4)


def test_a_store_in_a_folder_of_logs_is_no_log(tmp_path):
    """A report of the folder that its store is in reads the logs alone."""
    log(tmp_path, *lines_of(20))
    for _ in range(2):
        _, figures = answers(tmp_path, store=tmp_path / "store")
        assert (figures.lines, figures.skipped) == (20, ())


def test_nothing_is_reported_of_a_folder_that_keeps_nothing(tmp_path):
    """Without logs, a folder that is not a store is an error, and is not made."""
    with pytest.raises(ReportError, match="nothing is kept there yet"):
        read_report([], store=tmp_path / "stroe")
    assert not (tmp_path / "stroe").exists()


def test_a_cut_line_is_read_once_it_is_whole(tmp_path):
    lines = lines_of(20)
    file = log(tmp_path, *lines[:10], "INFO: another program")
    append(file, lines[10][:60])
    assert answers(file, store=tmp_path / "store")[1].lines == 11
    append(file, lines[10][60:])
    assert answers(file, store=tmp_path / "store")[1].lines == 12
    append(file, "\n" + "".join(f"{each}\n" for each in lines[11:]))
    assert answers(file, store=tmp_path / "store")[1].lines == 21


def rename(file):
    file.rename(file.with_suffix(".1"))


def copy_and_cut(file):
    shutil.copy(file, file.with_suffix(".1"))
    file.write_text("", encoding="utf-8")


def pack(file):
    file.with_suffix(".1.gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()


def test_a_file_that_is_rotated_is_known_again(tmp_path):
    """It may be renamed, copied and emptied, or packed; a store in its folder is no log."""
    lines, store = lines_of(360), tmp_path / "store"
    rotations = {log(tmp_path, name=f"{each.__name__}.jsonl"): each for each in (rename, copy_and_cut, pack)}

    def grow(count):
        for file in rotations:
            append(file, "".join(f"{lines.pop()}\n" for _ in range(count)))

    grow(40)
    read_report([tmp_path], store=store)
    grow(20)
    for file, rotate in rotations.items():
        rotate(file)
    grow(20)
    assert read_report([tmp_path], store=store).log.skipped == ()
    grow(40)
    check_kept(tmp_path, tmp_path, lines=360)


def test_a_copy_that_is_still_being_made_is_skipped_and_named(tmp_path):
    file = log(tmp_path, *lines_of(100))
    read_report([file], store=tmp_path / "store")
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(file.read_bytes()[:9_000])
    _, figures = answers(copy, store=tmp_path / "store")
    assert (figures.lines, figures.skipped[0].file) == (100, str(copy))


def test_parquet_files_and_standard_input_are_read_once(tmp_path):
    import io

    file = log(tmp_path, *lines_of(50))
    parquet = tmp_path / "events.parquet"
    duckdb.sql(f"COPY (FROM read_json('{file}')) TO '{parquet}'")
    both = b"".join(f"{each}\n".encode() for each in lines_of(30, start=100))
    for _ in range(2):
        _, figures = answers(parquet, "-", store=tmp_path / "store", stdin=io.BytesIO(both))
        assert figures.events == 80


def test_a_selection_takes_whole_days(tmp_path):
    file = log(tmp_path, *lines_of(1000))
    day = NOON + timedelta(days=2)
    chosen = Selection(since=day, until=day + timedelta(days=1), tool="tool-1*", client="a")
    whole = chosen.model_copy(
        update={"since": day.replace(hour=0), "until": day.replace(hour=0) + timedelta(days=2)}
    )
    kept = read_report([file], store=tmp_path / "store", selection=chosen)
    assert kept.calls
    assert (
        kept.model_dump(exclude={"made", "log", "timeline", "selection"}) == answers(file, selection=whole)[0]
    )
    assert (kept.selection.since, kept.selection.until) == (whole.since, whole.until)


def test_the_days_of_each_table_are_kept_once(tmp_path):
    """A day that gets more calls is written anew, and the folder has one file that others cannot read."""
    file = log(tmp_path, *lines_of(400), line(timestamp="yesterday"))
    store = tmp_path / "store"
    read_report([file], store=store)
    append(file, line(minute=1) + "\n" + line(timestamp="tomorrow") + "\n")
    check_kept(tmp_path, file, lines=403)
    assert [each.name for each in store.iterdir()] == ["counts.duckdb"]
    assert store.stat().st_mode & 0o077 == 0
    with duckdb.connect(str(store / "counts.duckdb"), read_only=True) as kept:
        days = kept.sql("SELECT strftime(make_timestamp(day), '%Y-%m-%d') FROM kept_periods GROUP BY day")
        assert sorted(days.fetchall(), key=str) == [
            ("2026-11-20",),
            ("2026-11-21",),
            ("2026-11-22",),
            (None,),
        ]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.slow
def test_killed_at_any_moment_it_loses_nothing_and_counts_nothing_twice(tmp_path):
    lines = lines_of(1400)
    logs = tmp_path / "logs"
    logs.mkdir()
    file = log(logs, *lines[:400])
    (logs / "more.gz").write_bytes(
        gzip.compress("".join(f"{each}\n" for each in lines_of(300, start=5000)).encode())
    )
    source = log(tmp_path, *lines_of(100, start=9000))
    duckdb.sql(f"COPY (FROM read_json('{source}')) TO '{logs / 'events.parquet'}'")
    command = [sys.executable, "-c", _RUN, str(tmp_path / "store"), str(logs)]
    # How many statements about the store there are before it is killed.
    for at, statements in enumerate((1, 3, 7, 9, 12, 19, 21, 23, 24, 25)):
        ran = subprocess.run([*command, str(statements)], check=False)  # noqa: S603 - our own program
        assert ran.returncode == -signal.SIGKILL
        append(file, "".join(f"{each}\n" for each in lines[400 + 100 * at : 500 + 100 * at]))
    subprocess.run([*command, "0"], check=True)  # noqa: S603 - our own program
    check_kept(tmp_path, logs, lines=1800)


def test_two_processes_cannot_use_it_at_a_time(tmp_path):
    file = log(tmp_path, line())
    held = f"import duckdb; held = duckdb.connect({str(tmp_path / 'store' / 'counts.duckdb')!r}); print(1, flush=True); input()"
    read_report([file], store=tmp_path / "store")
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", held], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        other.stdout.readline()
        with pytest.raises(ReportError, match="another report is using it"):
            read_report([file], store=tmp_path / "store")
        other.communicate(b"\n")


def test_a_store_of_an_earlier_version_is_an_error(tmp_path):
    """Its Parquet files are not left out in silence, as their logs may be gone."""
    (tmp_path / "state.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ReportError, match="an earlier version has kept it"):
        read_report([log(tmp_path, line())], store=tmp_path)


def test_the_command_reports_from_the_store_alone(tmp_path, capsys):
    file = log(tmp_path, *lines_of(10))
    assert run(["report", str(file), "--store", str(tmp_path / "store"), "--format", "json"]) == 0
    first = json.loads(capsys.readouterr().out)
    file.unlink()
    assert run(["report", "--store", str(tmp_path / "store"), "--format", "json"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert first.pop("made") != second.pop("made")
    assert first == second
    (tmp_path / "store" / "counts.duckdb").write_text("{}x" * 5000, encoding="utf-8")
    assert "cannot be read" in refused(["report", "--store", str(tmp_path / "store")], capsys)


@pytest.mark.parametrize("path", ["s3://bucket/events.jsonl", "events.jsonl.zst"])
def test_what_it_cannot_follow_is_an_error(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "events.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    with pytest.raises(ReportError, match=r"does not follow|httpfs"):
        read_report([path], store=tmp_path / "store")
