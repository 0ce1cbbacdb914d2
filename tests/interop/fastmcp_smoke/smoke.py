"""Make smoke calls with FastMCP's own client over stdio. Print the version and the wrong outcomes as JSON."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import fastmcp
from fastmcp import Client, FastMCP
from fastmcp.client.transports import PythonStdioTransport
from server import store

from mcp_lenient import dispatch, lenient_session

HERE = Path(__file__).parent
SERVER = HERE / "server.py"

_IS_3 = fastmcp.__version__.startswith("3.")
_STRICT = "the SDK's own error" if _IS_3 else "runs json_text_to_array"
CALLS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "right": ("middleware", "store", {"content": "a", "tags": ["b"]}, "runs"),
    "list in a text": ("middleware", "store", {"content": "a", "tags": '["b"]'}, "runs json_text_to_array"),
    "one item": ("middleware", "store", {"content": "a", "tags": "b"}, "runs scalar_to_array"),
    "another case": ("middleware", "store", {"content": "a", "maxSize": 3}, "runs rename_case"),
    "null": ("middleware", "store", {"content": "a", "max_size": None}, "runs null_to_absent"),
    "injected": ("middleware", "store", {"content": "a", "toolCallId": "call_1"}, "runs drop_injected"),
    "defined alias": ("middleware", "store", {"body": "a"}, "runs rename_alias"),
    "wrong type": ("middleware", "store", {"content": "a", "tags": 5}, "refused INVALID_TAGS_TYPE"),
    "missing": ("middleware", "store", {"tags": []}, "refused MISSING_CONTENT"),
    "unknown name": ("middleware", "store", {"content": "a", "colour": 1}, "refused UNKNOWN_PARAMETER"),
    "destructive": (
        "middleware",
        "purge",
        {"content": "a", "max_size": None},
        "refused INVALID_MAX_SIZE_TYPE",
    ),
    "unknown tool": ("middleware", "stor", {"content": "a"}, "refused UNKNOWN_TOOL"),
    "decorator, repaired": (
        "decorator",
        "store",
        {"content": "a", "tags": '["b"]'},
        "runs json_text_to_array",
    ),
    "decorator, refused": ("decorator", "store", {"content": "a", "tags": 5}, "refused INVALID_TAGS_TYPE"),
    "strict": ("strict", "store", {"content": "a", "tags": '["b"]'}, _STRICT),
}
CLIENT = {
    "repaired by the client": "runs rename_case json5_text_to_array",
    "refused by the client": "refused INVALID_TAGS_TYPE",
    "dispatched": "runs text_to_integer",
}
COMMANDS = {
    "check": ("check", str(SERVER)),
    "explain": ("explain", str(SERVER), "store", '{"content": "a", "tags": "b"}'),
    "stress": ("stress", str(SERVER), "--per-tool", "1", "--summary"),
    "stress over stdio": (
        "stress",
        *"--yes --all --per-tool 1 --summary --".split(),
        sys.executable,
        str(SERVER),
    ),
}


def _outcome(result: Any) -> str:
    reported = result.model_dump(by_alias=True)
    lenient = (reported["_meta"] or {}).get("mcp_lenient", {})
    if not reported["isError"]:
        return " ".join(["runs", *(repair["rule"] for repair in lenient.get("repairs", []))])
    text = reported["content"][0]["text"]
    if not text.startswith("{"):
        return "the SDK's own error"
    return f"refused {json.loads(text)['error_code']}"


async def _calls(kind: str, log: Path) -> dict[str, str]:
    transport = PythonStdioTransport(SERVER, args=[kind], keep_alive=False, log_file=log)
    async with Client(transport) as client:
        return {
            name: _outcome(await client.call_tool_mcp(tool, arguments))
            for name, (wanted, tool, arguments, _) in CALLS.items()
            if wanted == kind
        }


async def _client() -> dict[str, str]:
    """Call a server without the middleware from a lenient client."""
    server: FastMCP = FastMCP("bare")
    server.tool(store)
    async with lenient_session(Client(server)) as session:
        repaired = await session.call_tool_mcp("store", {"Content": "a", "tags": "['b']"})
        refused = await session.call_tool_mcp("store", {"content": "a", "tags": 5})
        dispatched = await dispatch(session, '<store>{"content": "a", "max_size": "3"}</store>')
    results = (repaired, refused, dispatched.calls[0].result)
    return dict(zip(CLIENT, map(_outcome, results), strict=True))


def _events(log: Path) -> list[str]:
    lines = [line for line in log.read_text(encoding="utf-8").splitlines() if line.startswith('{"timestamp"')]
    return [json.loads(line)["event"] for line in lines]


def _command(words: tuple[str, ...]) -> int:
    program = [sys.executable, "-c", "from mcp_lenient.cli import main; main()", *words]
    return subprocess.run(program, check=False, capture_output=True, timeout=120).returncode  # noqa: S603


async def main() -> None:
    """Make all calls, run the commands, and print the outcomes."""
    with tempfile.TemporaryDirectory() as folder:
        logs = {kind: Path(folder) / kind for kind in ("middleware", "decorator", "strict")}
        calls = {
            name: reported
            for kind, log in logs.items()
            for name, reported in (await _calls(kind, log)).items()
        }
        events = {kind: _events(log) for kind, log in logs.items()}
    expected = {**{name: call[-1] for name, call in CALLS.items()}, **CLIENT}
    commands = {name: _command(words) for name, words in COMMANDS.items()}
    reported = {
        "version": fastmcp.__version__,
        "wrong": {name: was for name, was in {**calls, **await _client()}.items() if was != expected[name]},
        "events": events,
        "commands": commands,
    }
    sys.stdout.write(json.dumps(reported, indent=1))


if __name__ == "__main__":
    asyncio.run(main())
