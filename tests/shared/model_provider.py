"""A server on loopback that speaks OpenAI's protocol, and answers from a script."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-loopback"


class Provider(ThreadingHTTPServer):
    """Answers the requests for a chat completion from a script, and refuses those that OpenAI would refuse.

    An answer is a text, or a list of calls: the name of a tool, and its arguments as an object or as text. A tuple of calls
    is cut off by the output limit.
    """

    def __init__(self, *answers):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = list(answers)
        self.requests = []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *error):
        self.shutdown()
        super().__exit__(*error)

    def answer(self, request, key):
        """Return the status and body of an answer."""
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
        reason = {str: "stop", list: "tool_calls", tuple: "length"}[type(answer)]
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        whole = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": request["model"]}
        return 200, {**whole, "choices": [choice], "usage": usage}

    def _call(self, name, sent, at):
        written = sent if isinstance(sent, str) else json.dumps(sent, ensure_ascii=False)
        call_id = f"call_{len(self.requests)}_{at}"
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": written}}

    def results(self):
        """Return the name of each call and the result that the model read, in order."""
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
    """Return why OpenAI would refuse a request; None if it would not."""
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
