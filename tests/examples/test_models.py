"""The examples with a model: they talk to a server on loopback that speaks OpenAI's protocol."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from example_runs import answers, run
from model_provider import KEY, Provider

from agent_platform import browser_use

pytestmark = pytest.mark.slow


def chat(example, folder, *typed, options=(), **variables):
    """Type lines into the chat of an example, whose model is asked at the address in the variables."""
    words = (f"examples/{example}", "--model", "loopback-1", *options)
    return run(*words, typed="\n".join(typed), EXAMPLES_DATA=str(folder), **variables)


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
            [("execute_commands", {"device_id": "uuid-abc123", "commands": "dim"})],
            [("get_status", '{"device_id": "uuid-abc')],  # cut off
            (
                ("get_status", {"device_id": "uuid-abc123"}),
                ("execute_commands", {"device_id": "u", "commands": ON}),
            ),
            [("turn_off", {})],
        ],
        [
            ("search_devices", '"fullId":"uuid-abc123"'),
            ("execute_commands", '{"status":"ACCEPTED"}'),
            ("get_status", '"switch":"on"'),
            ("execute_commands", '"error_code":"INVALID_COMMANDS_TYPE"'),
            ("get_status", '"error_code":"CUT_OFF"'),
            ("get_status", '"switch":"on"'),
            ("execute_commands", "the answer was cut off"),
            ("turn_off", '"error_code":"UNKNOWN_TOOL"'),
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
            ("math_mean", '"error_code":"CUT_OFF"'),
            ("library_keep", "My note is kept."),
            ("library_retrieve", "It is short."),
            ("library_remove", "1"),
        ],
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


@pytest.mark.parametrize("example", CONVERSATIONS)
def test_a_model_reads_results_and_envelopes(example, tmp_path):
    """A model answers what is typed, and reads what came of each of its calls; a destructive one was allowed."""
    script, expected = CONVERSATIONS[example]
    typed = ("one", "two", "three", "four", "five", "y")
    options = ["--unsafe"] if example.startswith("agent") else []
    with Provider(*script) as provider:
        at = {"OPENAI_BASE_URL": provider.url, "OPENAI_API_KEY": KEY}
        shown = chat(example, tmp_path, *typed, options=options, **at)
        read = provider.results()
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert [name for name, _ in read] == [name for name, _ in expected], shown.stdout
    for (name, content), (_, part) in zip(read, expected, strict=True):
        assert part.replace(" ", "") in content.replace(" ", ""), name


def test_a_model_remembers_the_conversation(tmp_path):
    """What was said before is sent with each line, after the system prompt."""
    with Provider("Hello.") as provider:
        chat("smart_home.py", tmp_path, "hi", "bye", OPENAI_BASE_URL=provider.url, OPENAI_API_KEY=KEY)
        last = [(each["role"], each["content"]) for each in provider.requests[-1]["messages"]]
    assert last[0][0] == "system"
    assert last[1:] == [("user", "hi"), ("assistant", "Hello."), ("user", "bye")]


CLAUDE = [
    {"stop_reason": "tool_use", "content": [
        {"type": "text", "text": "I will look."},
        {"type": "tool_use", "id": "toolu_01ABC", "name": "search_devices", "input": {"query": "客厅 灯", "limit": "1"}},
    ]},
    {"stop_reason": "end_turn", "content": [{"type": "text", "text": "客厅吸顶灯。"}]},
]  # fmt: skip


class Messages(BaseHTTPRequestHandler):
    """Answers as Anthropic's API does, from a script, and keeps the requests."""

    def do_POST(self):
        self.server.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200 if (self.path, self.headers["x-api-key"]) == ("/v1/messages", KEY) else 404)
        self.end_headers()
        self.wfile.write(json.dumps(CLAUDE[len(self.server.requests) - 1]).encode())

    def log_message(self, *_):
        """Keep the log out of the tests' output."""


def test_claude_is_asked_in_its_own_form(tmp_path):
    """Claude gets the system prompt beside the messages, tools with ``input_schema``, and results under the same ids."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Messages)
    server.requests = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    at = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}", "ANTHROPIC_API_KEY": KEY}
    words = ("examples/smart_home.py", "--model", "claude-sonnet-4-5")
    shown = run(*words, typed="灯呢?", EXAMPLES_DATA=str(tmp_path), **at)
    server.shutdown()
    server.server_close()
    assert answers(shown) == ["客厅吸顶灯。"], shown.stdout + shown.stderr
    first, second = server.requests
    assert first["system"].startswith("You control a smart home.")
    assert {"name", "description", "input_schema"} == first["tools"][0].keys()
    assert second["messages"][1] == {"role": "assistant", "content": CLAUDE[0]["content"]}
    (result,) = second["messages"][2]["content"]
    assert (result["type"], result["tool_use_id"]) == ("tool_result", "toolu_01ABC")
    assert "uuid-abc123" in result["content"]


@pytest.mark.parametrize("example", ["type_conversion.py", "langchain_agent/agent.py"])
def test_a_wrong_key_is_reported_in_one_line(example, tmp_path):
    """Where the provider refuses the key, the answer is its reason, and the chat goes on."""
    with Provider() as provider:
        shown = chat(example, tmp_path, "hi", "hi", OPENAI_BASE_URL=provider.url, OPENAI_API_KEY="sk-wrong")
    told = answers(shown)
    assert (shown.returncode, len(told)) == (0, 2)
    assert all("loopback-1 gave no answer: 401" in line and "Incorrect API key" in line for line in told)


def test_an_unreachable_provider_is_reported_in_one_line(tmp_path):
    """Where nothing answers, the answer says so."""
    shown = chat("type_conversion.py", tmp_path, "hi", OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert answers(shown)[0].startswith("loopback-1 gave no answer at http://127.0.0.1:9/v1: ")


@pytest.mark.skipif(browser_use.missing() is not None, reason="Playwright or Chromium is not installed")
def test_a_model_plans_the_tasks_of_the_browser(tmp_path):
    """The model of the chat is the one that plans a task for the browser."""
    plan = '{"steps": [{"action": "open", "given": ["/about.html"]}]}'
    call = [("browser_use_execute_task", {"task": "Tell me about the shop", "use_vision": False})]
    with Provider(call, plan, "It was founded in 1987.") as provider:
        at = {"OPENAI_BASE_URL": provider.url, "OPENAI_API_KEY": KEY}
        shown = chat("agent_platform/server.py", tmp_path, "hi", **at)
        ((_, content),) = provider.results()
    assert '"success":true' in content.replace(" ", "")
    assert answers(shown) == ["It was founded in 1987."]
