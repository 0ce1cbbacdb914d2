"""Test ``mcp-lenient tail``, which prints a growing log with one readable line per event."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from call_events import call_event
from hypothesis import given
from hypothesis import strategies as st
from refused import refused

from mcp_lenient.cli import run
from mcp_lenient.devtools.tail import lines_of
from mcp_lenient.types import Repair, Violation

PATIENCE = 30
COMMAND = str(Path(sys.executable).with_name("mcp-lenient"))
REPAIRED = call_event(
    "call_repaired",
    "store_context",
    {"client_name": "claude-ai", "client_version": "1.2.3"},
    repairs=[Repair("json_text_to_array", "/tags", "string", "array")],
).model_dump_json(exclude_defaults=True)
REJECTED = call_event(
    "call_rejected",
    "store_context",
    {"client_name": "cursor-vscode"},
    error_code="INVALID_ARGUMENTS",
    violations=[
        Violation(f"/{name}", name, "type", "must be an array", received_type="integer") for name in "abcdefg"
    ],
).model_dump_json(exclude_defaults=True)
FOREIGN = "INFO:     Uvicorn running \x1b[31mon http://127.0.0.1:8000"


@pytest.fixture
def log(tmp_path):
    """Return a log with two events and one line that is not an event."""
    file = tmp_path / "events.jsonl"
    file.write_text(f"{REPAIRED}\n{FOREIGN}\n{REJECTED}\n", encoding="utf-8")
    return file


def shown(capsys, *arguments):
    """Return the lines that the command prints."""
    assert run(["tail", "--no-follow", *map(str, arguments)]) == 0
    return capsys.readouterr().out.splitlines()


def test_one_line_per_event(log, capsys):
    """Each event is one line with the outcome, the call and the client; another line is shown escaped, or hidden."""
    repaired, foreign, rejected = shown(capsys, log)
    assert repaired[9:] == "repaired  store_context json_text_to_array at /tags by claude-ai 1.2.3"
    assert foreign == "INFO:     Uvicorn running \\u001b[31mon http://127.0.0.1:8000"
    assert rejected[9:] == (
        "rejected  store_context INVALID_ARGUMENTS at /a type (integer), /b type (integer), /c type (integer), "
        "/d type (integer), /e type (integer) and 2 more by cursor-vscode"
    )
    assert shown(capsys, log, "--no-foreign") == [repaired, rejected]


def test_a_fault_of_the_whole_call_is_in_words(tmp_path, capsys):
    """The arguments as a whole have an empty pointer, which is not shown as a path."""
    event = call_event(
        "call_rejected",
        "store_context",
        error_code="INVALID_ARGUMENTS",
        repairs=[Repair("json_text_to_arguments", "", "string", "object")],
        violations=[Violation("", None, "type", "must be an object", received_type="array")],
    )
    file = tmp_path / "events.jsonl"
    file.write_text(event.model_dump_json(exclude_defaults=True), encoding="utf-8")
    assert shown(capsys, file)[0].endswith(
        "INVALID_ARGUMENTS at the arguments (array) after json_text_to_arguments at the arguments"
    )


def test_what_a_caller_was_told_and_how_often_is_shown(tmp_path, capsys):
    """A failure has the exception's type and the id in the answer; a repeated refusal says so; a model and a dispatcher are named."""
    events = (
        call_event("call_failed", "store", error_code="TOOL_FAILED", exception="KeyError", error_id="4f2a"),
        call_event(
            "call_rejected",
            "store",
            {"client_name": "cursor", "model": "gpt-5", "via": "call_tool"},
            error_code="MISSING_TEXT",
            repeated=3,
        ),
    )
    file = tmp_path / "events.jsonl"
    file.write_text("".join(f"{each.model_dump_json(exclude_defaults=True)}\n" for each in events), "utf-8")
    assert [line[9:] for line in shown(capsys, file)] == [
        "failed    store TOOL_FAILED raised KeyError id 4f2a",
        "rejected  store via call_tool MISSING_TEXT (the same call, refused 3 times) by cursor with gpt-5",
    ]


@pytest.mark.parametrize(("lines", "count"), [(1, 1), (3, 2)])
def test_hidden_lines_do_not_count(lines, count, log, capsys):
    """With ``--no-foreign``, ``-n`` is the number of events."""
    append(log, f"{FOREIGN}\n" * 5_000)
    assert len(shown(capsys, log, "-n", lines, "--no-foreign")) == count


@pytest.mark.parametrize(("lines", "count"), [(0, 0), (2, 2), (50, 3)])
def test_lines_option_limits_the_output(lines, count, log, capsys):
    """``-n`` sets how many of the last lines are shown."""
    assert len(shown(capsys, log, "-n", lines)) == count


def test_events_of_another_day_carry_their_date(log, capsys):
    """An event of another day is shown with its date."""
    log.write_text(REPAIRED.replace(REPAIRED.split('"')[3], "2020-02-03T12:00:00Z"), encoding="utf-8")
    (line,) = shown(capsys, log)
    assert line.startswith("2020-02-03 ")


def test_standard_input(log, capsys, monkeypatch):
    """``-`` reads standard input."""
    text = io.BytesIO(log.read_bytes() + b"\xff\xfe\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(text))
    assert len(shown(capsys, "-")) == 4


def test_a_missing_file_is_named(capsys, tmp_path):
    """A missing file is named in one line, with the exit code for wrong use."""
    assert "missing.jsonl: no such file" in refused(["tail", str(tmp_path / "missing.jsonl")], capsys)


def test_a_wrong_number_of_lines(log, capsys):
    """A negative number of lines is refused in one line."""
    assert "Must be >= 0" in refused(["tail", str(log), "-n", "-1"], capsys)


class Reader:
    """Collect the lines of a follower in a thread."""

    def __init__(self, lines: Iterator[str]) -> None:
        self.lines: list[str] = []
        threading.Thread(target=self._gather, args=(lines,), daemon=True).start()

    def _gather(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.lines.append(line)

    def wait_for(self, *expected: str) -> None:
        """Wait until exactly these lines have been collected."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and len(self.lines) < len(expected):
            time.sleep(0.01)
        assert self.lines == list(expected)


def append(file, text):
    """Append text to a log."""
    with file.open("a", encoding="utf-8") as stream:
        stream.write(text)


@pytest.fixture
def followed(tmp_path):
    """Return a log of one line and a reader that follows it."""
    file = tmp_path / "log"
    file.write_text("one\n")
    reader = Reader(lines_of(file, history=10, follow=True))
    reader.wait_for("one")
    return file, reader


def test_appended_lines_are_shown_when_complete(followed):
    """A line that is still being written is shown once it is complete."""
    file, reader = followed
    append(file, "two\nthr")
    reader.wait_for("one", "two")
    time.sleep(0.5)
    append(file, "ee\n")
    reader.wait_for("one", "two", "three")


def test_a_rotated_file_is_followed(followed):
    """The rest of the old file is shown, then the new file from its start."""
    file, reader = followed
    append(file, "two\n")
    file.rename(file.with_suffix(".1"))
    append(file.with_suffix(".1"), "late\n")
    time.sleep(0.5)
    file.write_text("three\n")
    reader.wait_for("one", "two", "late", "three")


def test_a_truncated_file_is_followed(followed):
    """A truncated file is read from its start."""
    file, reader = followed
    append(file, "two, which is longer\n")
    reader.wait_for("one", "two, which is longer")
    file.write_text("three\n")
    reader.wait_for("one", "two, which is longer", "three")


def test_the_command_follows(log):
    """Without ``--no-follow`` the command waits for more, and Ctrl-C ends it without an error."""
    # A process started in the background, as by a script, ignores Ctrl-C, and this one would inherit that.
    reset = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", reset, COMMAND, "tail", "-n", "0", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout is not None
        lines: list[str] = []
        reader = threading.Thread(target=lambda: lines.append(process.stdout.readline()))
        reader.start()
        deadline = time.monotonic() + PATIENCE
        while reader.is_alive() and time.monotonic() < deadline:
            append(log, f"{REPAIRED}\n")
            reader.join(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert "repaired  store_context" in lines[0]


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=30)),
    st.integers(0, 20),
)
def test_the_last_lines_are_the_last_lines(tmp_path_factory, lines, history):
    """The last lines are shown in order, however long they are."""
    file = tmp_path_factory.mktemp("log") / "log"
    with file.open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(f"{line}\n" for line in lines)
    assert list(lines_of(file, history=history, follow=False)) == (lines[-history:] if history else [])


@pytest.mark.parametrize("last", ["", "cut off"])
def test_long_lines_and_long_files(last, tmp_path):
    """Lines longer than a block are read whole, and a last line without an end counts."""
    file = tmp_path / "log"
    lines = [str(number) * 30_000 for number in range(9)]
    file.write_text("".join(f"{line}\n" for line in lines) + last)
    expected = [*lines, last] if last else lines
    assert list(lines_of(file, history=4, follow=False)) == expected[-4:]
