"""Test the memory limit: what fits into it, and the error for what does not."""

from __future__ import annotations

import pytest
from devtools.report.logs import line, log
from refused import refused

from mcp_lenient.devtools.report import ReportError, read_report
from mcp_lenient.devtools.report.database import Database


def lines_of(folder, count, length):
    """Write a log of events to which the application adds a text of this length."""
    return log(folder, *[line(request_id=str(at), stack="x" * length) for at in range(count)])


@pytest.mark.parametrize(
    ("processors", "memory", "threads"),
    [
        pytest.param(1, "4GB", 1, id="one processor"),
        pytest.param(8, "64MB", 1, id="little memory"),
        pytest.param(8, "512MB", 4, id="the default"),
        pytest.param(8, "4GB", 8, id="much memory"),
        pytest.param(64, "64GB", 16, id="more than it takes"),
    ],
)
def test_thread_count_depends_on_memory(processors, memory, threads, tmp_path, monkeypatch):
    """The number of threads depends on the memory and the number of processors."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(processors)), raising=False)
    database = Database(tmp_path, [], remote=False, memory=memory, progress=None)
    try:
        assert database.threads == threads
        assert database.run("SELECT current_setting('threads')") == [(threads,)]
    finally:
        database.close()


@pytest.mark.parametrize("memory", ["1MB", "32MB", "63MB"])
def test_a_limit_below_the_lowest_is_named(memory, tmp_path, capsys):
    """If a limit is too low for any log, the error names the option, the limit and the lowest one."""
    said = refused(["report", str(log(tmp_path, line())), "--memory", memory], capsys)
    assert f"--memory {memory} is too little for these logs: give four times as much, 64MB at least" in said


def test_the_lowest_limit_works(tmp_path):
    """At the lowest limit, usual logs of many files are read with any number of processors."""
    for at in range(64):
        log(tmp_path, *[line(request_id=str(number)) for number in range(500)], name=f"{at}.jsonl")
    assert read_report([tmp_path], memory="64MB").calls == 32_000


@pytest.mark.slow
@pytest.mark.parametrize(("count", "length", "enough"), [(60, 1_000_000, "1GB"), (2_000, 32_000, "512MB")])
def test_lines_too_long_for_the_limit_are_an_error(count, length, enough, tmp_path):
    """If lines are too long for the limit, the error says to give more, which is enough in the end."""
    file = lines_of(tmp_path, count, length)
    with pytest.raises(ReportError, match="--memory 64MB is too little for these logs: give four times"):
        read_report([file], memory="64MB")
    assert read_report([file], memory=enough).calls == count
