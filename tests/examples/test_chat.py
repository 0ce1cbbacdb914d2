"""The examples can be talked to: what is typed is answered, and a destructive call waits for a yes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent_platform import browser_use, microsandbox
from agent_platform.talk import YES

ROOT = Path(__file__).parents[2]

# What is typed, and the beginning of the answer to it.
CHATS = {
    "smart_home.py": [
        ("打开客厅的灯", "已成功打开客厅吸顶灯"),
        ("太暗了", "已将客厅吸顶灯的亮度调到90%"),
        ("turn the studio lamp on", "Studio lamp (studio) is on now."),
        ("it is too bright", "Studio lamp (studio) is at 20% now."),
        ("I'm cold", "客厅空调 (客厅) is set to 21 °C now. But it is off: say 'turn it on', too."),
        (
            "make it a little darker",
            "客厅空调 (客厅) cannot do this. Which one do you mean: 客厅吸顶灯 (客厅), ",
        ),
        ("the studio lamp", "Studio lamp (studio) is at 10% now."),
        ("关掉所有的灯", "Only one device at a time is turned on or off or changed, so name one."),
        ("卧室台灯", "已成功关闭卧室台灯"),
        ("is the front door locked?", "大门锁 (玄关): locked."),
        ("unlock the front door", ("n", "You did not allow it.")),
        (
            "turn the studio lamp off, then unlock the front door, then close the blind",
            (
                "n",
                "Studio lamp (studio) is off now. Not done: 'unlock the front door'. You did not allow it.",
            ),
        ),
        ("unlock the front door", ("y", "大门锁 (玄关) is unlocked now.")),
        ("turn it off in 10 minutes", "I am not sure what to do. I could not read 'minutes'."),
        ("唱首歌", "I am not sure what to do. I could not read '唱首歌'."),
    ],
    "context_store.py": [
        ("hello", "I could not read 'hello'. I understand: remember TEXT"),
        ("remember that the release is on Friday #work", "Noted as 1: the release is on Friday #work"),
        ("记住 牛奶 #家", "Noted as 2: 牛奶 #家"),
        ("what do I have for Friday?", "1: the release is on Friday #work"),
        ("tag 1 as work, later", "The tags of 1: later, work. Before: work."),
        ("change 9 to nothing", "There is no context 9."),
        ("delete 1", ("yes, but 2", "You did not allow it.")),
        ("delete 1", ("Yes, please", "Deleted: 1.")),
        ("find Friday", "No note has 'Friday'."),
        ("list", "2: 牛奶 #家"),
    ],
    "type_conversion.py": [
        ("hello", "I understand: born"),
        ("born 1990-03-01 at 12:30, a man", "庚午年 戊寅月 乙丑日 壬午时, 属马, 男"),
        ("1990年3月1日出生, 女", "庚午年 戊寅月 乙丑日, 属马, 女"),
        ("born 1990-02-31, a woman", "There is no day 31 in month 2 of 1990."),
        ("born 1990-03-01", "Was it a man or a woman?"),
        ("1987年属什么", "1987: 兔"),
        ("animals 1987, two thousand", "I could not read 'two thousand', so I asked nothing."),
    ],
    "langchain_agent/agent.py": [
        ("6 times 7", "42"),
        ("add 3 and 4", "7"),
        ("mean of 1, 4, 9, 16", "7.5"),
        ("mean of 1, 4, nine", "I could not read 'nine', so I did nothing: I read numbers in digits"),
        ("what is (3 + 5) x 12?", "96"),
        ("what time is it in Nowhere/Land", "There is no time zone"),
        ("keep Tea: green is best", "Tea is kept."),
        ("remove Tea", ("n", "You did not allow it.")),
        ("remove Tea", ("y", "1 removed.")),
        ("remove everything", "No document has the title 'everything', so nothing was removed."),
        ("sing", "I could not read 'sing', so I did nothing. I understand: time in"),
    ],
    "agent_platform/server.py": [
        ("when was the shop founded?", "# when was the shop founded?"),
        ("who wrote Hamlet?", "Nothing in the folder agent_platform holds most of the words that were asked"),
        ("research: blockchain trends", "Nothing in the folder agent_platform holds most of the words that"),
        ("packages: merging PDF files", "pypdf: "),
        ("packages for: singing", "The index has no package for this."),
        ("find: two sisters", "1 line holds 'two sisters' as it is written."),
        ("run the tests", "I could not read 'run the tests', so I did nothing"),
        ("run: the tests", "'the tests' is not Python, so nothing was run."),
        ("唱首歌", "I could not read '唱首歌', so I did nothing (我没有理解"),
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
    ("open /, scroll down", "Done in 2 steps. The page is http://platform.example/: "),
    ("open /about.html", "Done in 1 step. The page is http://platform.example/about.html: "),
    ("delete my account", "I could not read 'delete my account', so I did nothing"),
    (
        "open /, delete it",
        "These parts of the task cannot be read, so nothing was done (以下部分无法理解, 什么都没有做): 'delete it'.",
    ),
    (
        "go to http://127.0.0.1:9/",
        "Step 1, open, failed: http://127.0.0.1:9/ cannot be opened: unsafe port.",
    ),
    (
        "打开 / 然后在Name中输入Mei, 点击 Order",
        "Done in 3 steps. The page is http://platform.example/order.html",
    ),
]


@pytest.mark.parametrize(
    "said", ["y", "YES", "yes please", "Yeah!", "ok.", "yes, please.", "是", "是的", "好的，请", "可以。"]
)
def test_a_yes_allows(said):
    """A yes is one word, with nothing but a please after it."""
    assert YES.fullmatch(said)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "n",
        "please",
        "yes?",
        "yes no",
        "yes, but not 2",
        "yesterday",
        "y n",
        "好吗",
        "不是",
        "是吗",
        "不可以",
    ],
)
def test_what_is_not_a_yes_denies(said):
    """Whatever else is said allows nothing."""
    assert not YES.fullmatch(said)


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
    done = subprocess.run(  # noqa: S603 - our own examples
        [sys.executable, str(ROOT / "examples" / example), "--chat"],
        env={
            **os.environ,
            "EXAMPLES_DATA": str(tmp_path),
            "PYTHONPATH": str(ROOT),
            "PYTHONIOENCODING": "utf-8",
        },
        input="\n".join(typed),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = re.findall(r"^answer +(.*)$", done.stdout, re.MULTILINE)
    assert len(answers) == len(chat), done.stdout
    for (line, _), (_, told), answer in zip(chat, said, answers, strict=True):
        assert answer.startswith(told), line
    assert "Traceback" not in done.stderr
    assert "Error calling tool" not in done.stdout + done.stderr
    events = [json.loads(line) for line in (tmp_path / "chat.jsonl").read_text(encoding="utf-8").splitlines()]
    failed = [event for event in events if event["event"] == "call_failed" and "error_code" not in event]
    assert failed == []  # a denial is no failure of a tool


@pytest.mark.slow
@pytest.mark.parametrize("example", ["smart_home.py", "context_store.py", "type_conversion.py"])
def test_a_folder_that_cannot_be_used_is_one_line(tmp_path, example):
    """Where the folder of the data cannot be made, the chat ends with one line."""
    (tmp_path / "taken").write_text("")
    done = typed(example, tmp_path / "taken/data", "hello")
    assert done.returncode == 1
    assert re.fullmatch(
        r"The folder \S+ cannot be used: .*\. Set EXAMPLES_DATA to another one\.\n", done.stderr
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "line", "told"),
    [
        (
            "smart_home.py",
            "打开客厅的灯",
            "The home cannot be used: file is not a database. Nothing was changed.",
        ),
        (
            "context_store.py",
            "list",
            "The notes cannot be used: file is not a database. Nothing was changed.",
        ),
    ],
)
def test_a_file_that_is_no_database_is_one_line(tmp_path, example, line, told):
    """A store that cannot be used is said in one line, and the chat goes on."""
    tmp_path.joinpath(example).with_suffix(".db").write_bytes(b"no database" * 100)
    done = typed(example, tmp_path, line)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert re.findall(r"^answer +(.*)$", done.stdout, re.MULTILINE) == [told]


def typed(example, folder, line):
    """Run a chat with one line that is typed."""
    return subprocess.run(  # noqa: S603 - our own examples
        [sys.executable, str(ROOT / "examples" / example)],
        env={
            **os.environ,
            "EXAMPLES_DATA": str(folder),
            "PYTHONPATH": str(ROOT),
            "PYTHONIOENCODING": "utf-8",
        },
        input=line,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
