"""The examples can be talked to: what is typed is answered, and a destructive call waits for a yes."""

from __future__ import annotations

import json
import os
import re
import signal
import sys

import pytest
from example_runs import ROOT, answers, run

from agent_platform import browser_use, microsandbox
from chat import YES

# What is typed, and the beginning of the answer to it.
CHATS = {
    "smart_home.py": [
        ("打开客厅的灯", "已成功打开客厅吸顶灯。"),
        ("turn the studio lamp on", "Studio lamp (studio) is on now."),
        ("unlock the front door", ("n", "Not done: 大门锁. You did not allow it.")),
        ("把大门解锁", ("不", "没有完成: 大门锁。你没有同意, 所以没有做。")),
        (
            "turn the studio lamp off, then unlock the front door, then close the blind",
            ("n", "Studio lamp (studio) is off now. Not done: 大门锁. You did not allow it."),
        ),
        ("unlock the front door", ("y", "大门锁 (玄关) is unlocked now.")),
    ],
    "context_store.py": [
        ("hello", "I could not read 'hello', so I did nothing. I am no model; I understand: remember TEXT"),
        ("remember that the release is on Friday #work", "Noted as 1: the release is on Friday #work"),
        ("what do I have for Friday?", "1: the release is on Friday #work"),
        ("delete 1", ("yes, but 2", "You did not allow it.")),
        ("delete 1", ("Yes, please", "Deleted: 1.")),
    ],
    "type_conversion.py": [
        ("born 1990-03-01 at 12:30, a man", "庚午年 戊寅月 乙丑日 壬午时, 属马, 男"),
        ("born 1990-02-31, a woman", "There is no day 31 in month 2 of 1990."),
    ],
    "langchain_agent/agent.py": [
        ("6 times 7", "42"),
        ("keep Tea: green is best", "Tea is kept."),
        ("remove Tea", ("n", "You did not allow it.")),
        ("remove Tea", ("y", "Tea is removed.")),
        ("sing", "I could not read 'sing', so I did nothing. I am no model; I understand: time in PLACE"),
    ],
    "agent_platform/server.py": [
        ("when was the shop founded?", "# when was the shop founded?"),
        ("packages: merging PDF files", "pypdf: "),
        ("run: the tests", "'the tests' is not Python, so nothing was run."),
    ],
}
SANDBOX = [
    ("run: 6 * 7", "42"),
    ("run: x = 41", "The code ran, and printed nothing."),
    ("run: 1 / 0", "The code failed: ZeroDivisionError: division by zero"),
    (f"run: {'-' * 3000}1", "The code is nested too deeply to be read, so nothing was run."),
    ("run: import sys; sys.stderr.write('careful') and None", "careful"),
    ("run: print('first'); 1 / 0", "first"),
    ('run: raise ValueError("\\ud800")', "The code failed: ValueError: \\ud800"),
]
BROWSER = [
    ("open /, scroll down", "Done, steps: 2. The page is http://platform.example/: "),
    ("delete my account", "I could not read 'delete my account', so I did nothing"),
    ("open /, delete it", "These parts of the task cannot be read, so nothing was done (以下部分无法理解"),
    ("go to http://127.0.0.1:9/", "Step 1, open, failed: http://127.0.0.1:9/ cannot be opened: unsafe port."),
    ("打开 / 然后在Name中输入Mei, 点击 Order", "3 步完成。页面是 http://platform.example/order"),
]


@pytest.mark.parametrize(
    ("said", "allows"),
    [
        *(
            (said, True)
            for said in ("y", "YES", "yes please", "Yeah!", "yes, please.", "是的", "好的，请", "可以。")
        ),
        *((said, False) for said in ("", "n", "please", "yes?", "yes, but not 2", "yesterday", "y n")),
        *((said, False) for said in ("好吗", "不是", "不可以")),
    ],
)
def test_a_yes_is_one_word(said, allows):
    """A yes is one word, with nothing but a please after it; whatever else is said allows nothing."""
    assert bool(YES.fullmatch(said)) is allows


@pytest.mark.slow
@pytest.mark.parametrize("example", CHATS)
def test_what_is_typed_is_answered(example, tmp_path):
    """Without a model each line is answered by calls, or by what is understood; the events go to a file."""
    chat = [*CHATS[example]]
    if example.startswith("agent"):
        chat += SANDBOX if microsandbox.missing() is None else []
        chat += BROWSER if browser_use.missing() is None else []
    said = [told if isinstance(told, tuple) else (None, told) for _, told in chat]
    typed = [line for (first, _), (then, _) in zip(chat, said, strict=True) for line in (first, then) if line]
    done = run(f"examples/{example}", "--chat", typed="\n".join(typed), EXAMPLES_DATA=str(tmp_path))
    assert done.returncode == 0, done.stderr
    told = answers(done)
    assert len(told) == len(chat), done.stdout
    for (line, _), (_, expected), answer in zip(chat, said, told, strict=True):
        assert answer.startswith(expected), line
    assert "Traceback" not in done.stderr
    assert "Error calling tool" not in done.stdout + done.stderr
    events = [json.loads(line) for line in (tmp_path / "chat.jsonl").read_text(encoding="utf-8").splitlines()]
    failed = [event for event in events if event["event"] == "call_failed" and "error_code" not in event]
    assert failed == []  # a denial is no failure of a tool


@pytest.mark.slow
def test_a_folder_that_cannot_be_used_is_one_line(tmp_path):
    """Where the folder of the data cannot be made, the chat ends with one line."""
    (tmp_path / "taken").write_text("")
    done = run("examples/smart_home.py", typed="hello", EXAMPLES_DATA=str(tmp_path / "taken/data"))
    assert done.returncode == 1
    assert re.fullmatch(
        r"The folder \S+ cannot be used: .*\. Set EXAMPLES_DATA to another one\.\n", done.stderr
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "line", "store"),
    [("smart_home.py", "打开客厅的灯", "home"), ("context_store.py", "list", "notes")],
)
def test_a_file_that_is_no_database_is_one_line(tmp_path, example, line, store):
    """A store that cannot be used is said in one line, and the chat goes on."""
    tmp_path.joinpath(example).with_suffix(".db").write_bytes(b"no database" * 100)
    done = run(f"examples/{example}", typed=line, EXAMPLES_DATA=str(tmp_path))
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    (answer,) = answers(done)
    assert f"The {store} cannot be used: file is not a database. Nothing was changed." in answer


def typed_ctrl_c(*words):
    """Run an example in a terminal, type Ctrl-C at the prompt, and return its exit code with what it printed."""
    pid, terminal = pytest.importorskip("pty").fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, *words], {**os.environ, "PYTHONPATH": str(ROOT)})  # noqa: S606
    printed = b""
    while b"you " not in printed:
        printed += os.read(terminal, 4096)
    os.write(terminal, b"\x03")
    try:
        while some := os.read(terminal, 4096):
            printed += some
    except OSError:  # Linux says so at the end
        pass
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), printed.decode()


@pytest.mark.slow
@pytest.mark.parametrize("example", ["smart_home.py", "langchain_agent/agent.py", "agent_platform/server.py"])
def test_an_interrupt_ends_a_chat_without_a_traceback(tmp_path, monkeypatch, example):
    """Ctrl-C at the prompt exits with 130 and prints nothing."""
    monkeypatch.setenv("EXAMPLES_DATA", str(tmp_path))
    code, printed = typed_ctrl_c(str(ROOT / "examples" / example))
    assert (code, "Traceback" in printed) == (128 + signal.SIGINT, False), printed


@pytest.mark.slow
@pytest.mark.parametrize("port", ["99999", "0"])
def test_a_port_that_is_none_is_said_in_a_line(tmp_path, port):
    """A page on a port that cannot be is an error of one line."""
    done = run("examples/smart_home.py", "--page", port, EXAMPLES_DATA=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == f"There is no port {port}: a port is a number from 1 to 65535.\n"
