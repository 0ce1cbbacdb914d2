"""The examples with a real model: LangChain's client of OpenAI, in front of a server on loopback that speaks its protocol."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import requires
from pathlib import Path

import pytest
from environments import environment

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
KEY = "sk-loopback"
NEEDS = (
    "langchain-openai>=1",
    "langchain>=1",
    "langgraph>=1",
    "PyYAML>=6",
    *(each for each in requires("mcp-lenient") if "extra" not in each),
)


class Provider(ThreadingHTTPServer):
    """Answers the requests for a chat completion from a script, and refuses those that OpenAI would refuse.

    An answer is a text, or a list of calls: the name of a tool, and its arguments as an object or as text.
    """

    def __init__(self, *answers):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = list(answers)
        self.requests = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *error):
        self.shutdown()
        super().__exit__(*error)

    def answer(self, request, key):
        """The status and the body of an answer."""
        self.requests.append(request)
        if key != f"Bearer {KEY}":
            return 401, {"error": {"message": "Incorrect API key provided.\nSee your account.", "code": 401}}
        fault = _fault(request)
        if fault:
            return 400, {"error": {"message": fault, "type": "invalid_request_error"}}
        answer = self.answers.pop(0) if self.answers else "That is all."
        message = {"role": "assistant", "content": answer if isinstance(answer, str) else None}
        if not isinstance(answer, str):
            message["tool_calls"] = [self._call(*call, at) for at, call in enumerate(answer)]
        reason = "stop" if isinstance(answer, str) else "tool_calls"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        whole = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": request["model"]}
        return 200, {**whole, "choices": [choice], "usage": usage}

    def _call(self, name, sent, at):
        written = sent if isinstance(sent, str) else json.dumps(sent, ensure_ascii=False)
        call_id = f"call_{len(self.requests)}_{at}"
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": written}}

    def results(self):
        """What the model has read of its calls: of each name and call in order, the content of its result."""
        messages = max((request["messages"] for request in self.requests), key=len)
        answered = {each["tool_call_id"]: each["content"] for each in messages if each["role"] == "tool"}
        calls = [call for each in messages for call in each.get("tool_calls", ())]
        return [(call["function"]["name"], answered[call["id"]]) for call in calls]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, body = self.server.answer(request, self.headers["Authorization"])
        data = json.dumps(body).encode()
        self.send_response(status if self.path == "/v1/chat/completions" else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Keep the log out of the tests' output."""


def _fault(request):
    """What OpenAI refuses a request for."""
    tools = [tool["function"] for tool in request.get("tools", ())]
    if "tools" in request and not tools:
        return "[] is too short - 'tools'"
    for tool in tools:
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool["name"]) or tool["parameters"]["type"] != "object":
            return f"Invalid function {tool['name']!r}"
    waiting = set()
    for message in request["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return "A tool message must follow the call that it answers."
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return f"No tool message answers {waiting}."
        calls = message.get("tool_calls", [])
        if not calls and not isinstance(message["content"], str):
            return "Invalid content: null"
        waiting |= {call["id"] for call in calls}
    return f"No tool message answers {waiting}." if waiting else None


@pytest.fixture(scope="module")
def python():
    """An interpreter with LangChain's client of OpenAI."""
    return environment(*NEEDS)


def run(python, example, folder, **variables):
    """Run an example with a model."""
    keyless = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    paths = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "EXAMPLES_DATA": str(folder)}
    return subprocess.run(  # noqa: S603 - our own examples
        [python, f"examples/{example}", "--model", "openai:gpt-4o-mini"],
        cwd=ROOT,
        env={**keyless, **paths, **variables},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def url(provider):
    """Where a client of OpenAI finds the server."""
    return f"http://127.0.0.1:{provider.server_port}/v1"


ON = '[{"component": "main", "capability": "switch", "command": "on"}]'
# What the model answers, and for each call in order: the tool, and a part of what the model must read of it.
CONVERSATIONS = {
    "smart_home.py": (
        [
            [("search_devices", {"query": "客厅 灯", "limit": None})],
            [
                ("execute_commands", {"deviceId": "uuid-abc123", "commands": ON}),
                ("get_status", {"device_id": ["uuid-abc123"]}),
            ],
            "灯开了。",
            [("interpret_command", {"user_input": "柔和一些", "device_capabilities": "switchLevel"})],
            [("execute_commands", {"device_id": "uuid-abc123", "commands": "dim"})],
            [("get_status", '{"device_id": "uuid-abc')],  # cut off
            [("turn_off", {})],
        ],
        [
            ("search_devices", '"fullId":"uuid-abc123"'),
            ("execute_commands", '{"status":"ACCEPTED"}'),
            ("get_status", '"switch":"on"'),
            ("interpret_command", '"command":"setLevel"'),
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
            [("research", {"query": "What becomes of null?", "model": "openai:gpt-4o-mini"})],
            "Null is left out [1].",  # the model that writes the answer; it gets no tools
            [("microsandbox_execute", {"args": {"code": "6 * 7"}}), ("browser_wait", {"duration": "soon"})],
        ],
        [
            ("research", "Null is left out [1]."),
            ("microsandbox_execute", '"result":"42"'),
            ("browser_wait", '"error_code":"INVALID_SECONDS_TYPE"'),
        ],
    ),
}


@pytest.mark.parametrize("example", CONVERSATIONS)
def test_a_model_reads_results_and_envelopes(python, example, tmp_path):
    """An example runs to its end with a model of OpenAI, which reads what came of each of its calls."""
    answers, expected = CONVERSATIONS[example]
    with Provider(*answers) as provider:
        shown = run(python, example, tmp_path, OPENAI_BASE_URL=url(provider), OPENAI_API_KEY=KEY)
        read = provider.results()
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert shown.stdout.splitlines()[-1].startswith(f"{len(expected)} calls: ")
    assert [name for name, _ in read] == [name for name, _ in expected]
    for (name, content), (_, part) in zip(read, expected, strict=True):
        assert part in content, name


def test_a_model_remembers_the_conversation(python, tmp_path):
    """What was said before is sent with each message of the user."""
    with Provider("Hello.") as provider:
        run(python, "smart_home.py", tmp_path, OPENAI_BASE_URL=url(provider), OPENAI_API_KEY=KEY)
        last = [(each["role"], each["content"]) for each in provider.requests[-1]["messages"]]
    assert last[1:4] == [("user", "打开客厅的灯"), ("assistant", "Hello."), ("user", "让灯光柔和一些")]
    assert last[-1] == ("user", "把卧室的灯关掉")


def failed(shown, said):
    """The run ended with one line."""
    lines = shown.stderr.splitlines()
    assert (shown.returncode, len(lines)) == (1, 1), shown.stderr
    assert said in lines[0]


@pytest.mark.parametrize("example", ["type_conversion.py", "langchain_agent/agent.py"])
def test_a_wrong_key_is_reported_in_one_line(python, example, tmp_path):
    """Where the provider refuses the key, its reason is the whole error."""
    with Provider() as provider:
        shown = run(python, example, tmp_path, OPENAI_BASE_URL=url(provider), OPENAI_API_KEY="sk-wrong")
    failed(shown, "The model gave no answer: ")


def test_an_unreachable_provider_is_reported_in_one_line(python, tmp_path):
    """Where nothing answers, one line says so."""
    with Provider() as gone:
        address = url(gone)
    shown = run(python, "type_conversion.py", tmp_path, OPENAI_BASE_URL=address, OPENAI_API_KEY=KEY)
    failed(shown, "The model gave no answer: Connection error.")


def test_a_missing_key_is_reported_in_one_line(python, tmp_path):
    """Without a key, one line says what is needed."""
    failed(run(python, "smart_home.py", tmp_path), "openai:gpt-4o-mini cannot be used (")


def test_a_missing_package_is_reported_in_one_line(tmp_path):
    """Without LangChain, one line says what to install."""
    failed(run(sys.executable, "smart_home.py", tmp_path), "pip install langchain")
