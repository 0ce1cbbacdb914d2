"""The examples with a model: they talk to a server on loopback that speaks OpenAI's protocol."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from model_provider import KEY, Provider

from agent_platform import browser_use

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def run(example, folder, typed, *options, **variables):
    """Type lines into the chat of an example, whose model is asked at the address in the variables."""
    keyless = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    paths = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "EXAMPLES_DATA": str(folder)}
    return subprocess.run(  # noqa: S603 - our own examples
        [sys.executable, f"examples/{example}", "--model", "loopback-1", *options],
        cwd=ROOT,
        env={**keyless, **paths, **variables},
        input="\n".join(typed),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


ON = '[{"component": "main", "capability": "switch", "command": "on"}]'
# What the model answers, and for each call in order: the tool, and a part of what the model must read of it.
CONVERSATIONS = {
    "smart_home.py": (
        [
            [("search_devices", {"query": "客厅 灯", "limit": None})],
            [
                ("execute_commands", {"deviceId": "uuid-abc123", "commands": ON}),
                ("get_status", {"deviceId": "uuid-abc123"}),
            ],
            "灯开了。",
            [
                (
                    "interpret_command",
                    {
                        "user_input": "柔和一些",
                        "device_capabilities": "switchLevel",
                        "current_state": '{"level": 80}',
                    },
                )
            ],
            [("execute_commands", {"device_id": "uuid-abc123", "commands": "dim"})],
            [("get_status", '{"device_id": "uuid-abc')],  # cut off
            [("turn_off", {})],
        ],
        [
            ("search_devices", '"fullId":"uuid-abc123"'),
            ("execute_commands", '{"status":"ACCEPTED"}'),
            ("get_status", '"switch":"on"'),
            ("interpret_command", '"command":"setLevel","arguments":[50]'),
            ("execute_commands", '"error_code":"INVALID_COMMANDS_TYPE"'),
            ("get_status", '"error_code":"INVALID_ARGUMENTS"'),
            ("turn_off", '"error_code":"UNKNOWN_TOOL"'),
        ],
    ),
    "context_store.py": (
        [
            [("store_context", {"content": "The release is on Friday", "tags": "work"})],
            [("update_context", {"contextId": "1", "tags": 5})],
            "I will remember it.",
            [("delete_context", {"context_ids": "[1]", "confirm": "false"})],
        ],
        [
            ("store_context", '"tags":["work"]'),
            ("update_context", '"error_code":"INVALID_TAGS_TYPE"'),
            ("delete_context", '"error_code":"NOT_CONFIRMED"'),
        ],
    ),
    "langchain_agent/agent.py": (
        [
            [
                ("time_get_current_time", {"args": {"timezone": "Europe/Lisbon"}}),
                ("time_get_current_time", {"timezone": None}),
            ],
            "It is late.",
            [("math_multiply", {"a": "6", "b": [7]}), ("math_mean", {"numbers": "a few"})],
            [("math_mean", '{"numbers": [1')],  # cut off
            "42.",
            [("library_keep", {"Title": "My note", "text": "It is short."})],
            "Kept.",
            [("library_retrieve", {"query": "my note", "limit": "1"})],
            "It is there.",
            [("library_remove", {"titles": '["My note"]'})],
        ],
        [
            ("time_get_current_time", "in Europe/Lisbon"),
            ("time_get_current_time", "in Asia/Seoul"),
            ("math_multiply", "42"),
            ("math_mean", '"error_code":"INVALID_NUMBERS_TYPE"'),
            ("math_mean", '"error_code":"INVALID_ARGUMENTS"'),
            ("library_keep", "My note is kept."),
            ("library_retrieve", "It is short."),
            ("library_remove", "1"),
        ],
    ),
    "type_conversion.py": (
        [
            [("pillars", {"year": "1990", "month": "3", "day": "1", "gender": "1"})],
            [("animals", {"years": "the nineties"})],
        ],
        [("pillars", "庚午"), ("animals", '"error_code":"INVALID_YEARS_TYPE"')],
    ),
    "agent_platform/server.py": (
        [
            [("research", {"query": "When was the shop founded?", "model": "loopback-1"})],
            "In 1987 [1].",  # the model that writes the answer; it gets no tools
            [("microsandbox_execute", {"args": {"code": "6 * 7"}}), ("browser_wait", {"duration": "soon"})],
        ],
        [
            ("research", "In 1987 [1]."),
            ("microsandbox_execute", '"result":"42"'),
            ("browser_wait", '"error_code":"INVALID_SECONDS_TYPE"'),
        ],
    ),
}


TYPED = {"context_store.py": ["one", "two", "y"]}
OPTIONS = {"agent_platform/server.py": ["--unsafe"]}


@pytest.mark.parametrize("example", CONVERSATIONS)
def test_a_model_reads_results_and_envelopes(example, tmp_path):
    """A model answers what is typed, and reads what came of each of its calls; a destructive one was allowed."""
    answers, expected = CONVERSATIONS[example]
    typed = TYPED.get(example, ["one", "two", "three", "four", "five", "y"])
    with Provider(*answers) as provider:
        shown = run(
            example,
            tmp_path,
            typed,
            *OPTIONS.get(example, ()),
            OPENAI_BASE_URL=provider.url,
            OPENAI_API_KEY=KEY,
        )
        read = provider.results()
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert [name for name, _ in read] == [name for name, _ in expected], shown.stdout
    for (name, content), (_, part) in zip(read, expected, strict=True):
        assert part.replace(" ", "") in content.replace(" ", ""), name


def test_a_model_remembers_the_conversation(tmp_path):
    """What was said before is sent with each line, after the system prompt."""
    with Provider("Hello.") as provider:
        run("smart_home.py", tmp_path, ["hi", "bye"], OPENAI_BASE_URL=provider.url, OPENAI_API_KEY=KEY)
        last = [(each["role"], each["content"]) for each in provider.requests[-1]["messages"]]
    assert last[0][0] == "system"
    assert last[1:] == [("user", "hi"), ("assistant", "Hello."), ("user", "bye")]


@pytest.mark.parametrize("example", ["type_conversion.py", "langchain_agent/agent.py"])
def test_a_wrong_key_is_reported_in_one_line(example, tmp_path):
    """Where the provider refuses the key, the answer is its reason, and the chat goes on."""
    with Provider() as provider:
        shown = run(example, tmp_path, ["hi", "hi"], OPENAI_BASE_URL=provider.url, OPENAI_API_KEY="sk-wrong")
    answers = [line for line in shown.stdout.splitlines() if line.startswith("answer")]
    assert (shown.returncode, len(answers)) == (0, 2)
    assert all("loopback-1 gave no answer: 401" in line and "Incorrect API key" in line for line in answers)


def test_an_unreachable_provider_is_reported_in_one_line(tmp_path):
    """Where nothing answers, the answer says so."""
    shown = run("type_conversion.py", tmp_path, ["hi"], OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert "answer  loopback-1 gave no answer at http://127.0.0.1:9/v1: " in shown.stdout


@pytest.mark.skipif(browser_use.missing() is not None, reason="Playwright or Chromium is not installed")
def test_a_model_plans_the_tasks_of_the_browser(tmp_path):
    """The model of the chat is the one that plans a task for the browser."""
    plan = '{"steps": [{"action": "open", "given": ["/about.html"]}]}'
    call = [("browser_use_execute_task", {"task": "Tell me about the shop", "use_vision": False})]
    with Provider(call, plan, "It was founded in 1987.") as provider:
        shown = run(
            "agent_platform/server.py", tmp_path, ["hi"], OPENAI_BASE_URL=provider.url, OPENAI_API_KEY=KEY
        )
        ((_, content),) = provider.results()
    assert '"success":true' in content.replace(" ", "")
    assert shown.stdout.rstrip().endswith("you") or "It was founded in 1987." in shown.stdout
