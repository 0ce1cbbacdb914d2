"""Test the command on a real terminal: the progress bar, its width, and Ctrl-C."""

from __future__ import annotations

import os
import re
import select
import signal
import struct
import subprocess
import sys
import time

import pytest
from devtools.report.logs import line, log

termios = pytest.importorskip("termios", reason="this system has no such terminals")
fcntl = pytest.importorskip("fcntl", reason="this system has no such terminals")

COMMAND = "from mcp_lenient.cli import main; main()"
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def _take_terminal():
    """Let Ctrl-C end this process like a foreground job. A background job would ignore it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def on_a_terminal(arguments, *, columns, temporary, until=None):
    """Return a command's terminal output and exit code. Send Ctrl-C once ``until`` is shown."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    known = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")
    }
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", COMMAND, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**known, "TMPDIR": str(temporary), "TERM": "xterm-256color"},
        start_new_session=True,
        preexec_fn=_take_terminal,  # noqa: PLW1509
    )
    os.close(theirs)
    shown, deadline = "", time.monotonic() + 120
    while time.monotonic() < deadline:
        if not select.select([ours], [], [], 0.1)[0]:
            continue
        try:
            shown += os.read(ours, 65536).decode(errors="replace")
        except OSError:  # the other end is closed
            break
        if until is not None and until in shown and list(temporary.iterdir()):
            os.write(ours, b"\x03")
            until = None
    os.close(ours)
    return shown, process.wait(timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, pytest.param(120, marks=pytest.mark.slow)])
def test_the_bar_fits_and_goes_away(columns, tmp_path):
    """The progress bar fits on one line and is gone when the report is printed."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    file = log(tmp_path, *[line(request_id=str(at)) for at in range(100_000)])
    shown, code = on_a_terminal(["report", str(file)], columns=columns, temporary=temporary)
    assert code == 0
    bar, _, report = shown.rpartition("\x1b[2K")
    assert "reading" in bar
    assert max(len(each.rstrip()) for each in re.split(r"[\r\n]+", CODES.sub("", shown))) <= columns
    assert "reading" not in report
    assert "100,000 calls" in report
    assert list(temporary.iterdir()) == []


# On a busy machine the report may be complete before Ctrl-C is sent.
@pytest.mark.slow
def test_ctrl_c_ends_it_in_one_line(tmp_path):
    """An interrupted report says so in one line, exits with 130 and leaves no file behind."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    text = f"{line(client_name='x' * 100)}\n" * 1000
    file = tmp_path / "long.jsonl"
    with file.open("w", encoding="utf-8") as opened:
        opened.writelines(text for _ in range(1000))
    for _ in range(5):
        shown, code = on_a_terminal(["report", str(file)], columns=80, temporary=temporary, until="reading")
        if code != 0:
            break
    assert code == 130
    assert CODES.sub("", shown.rpartition("\x1b[2K")[2]).strip() == "interrupted: no report was made"
    assert "Traceback" not in shown
    assert list(temporary.iterdir()) == []
