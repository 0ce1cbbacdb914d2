"""Replay the tool calls of recorded agent runs on MCP servers, by the schemas that the servers published."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from benchmarks.evidence.recorded.methods import with_first_fixes
from mcp_lenient import normalize
from mcp_lenient.types import Normalized
from mcp_lenient.values.json_values import same_json

Tools = Mapping[tuple[str, str], Mapping[str, Any]]
"""The input schemas by the names of server and tool."""

_LIST = ".tools.json"
LIVE_MCP_BENCH, MCP_MARK = "LiveMCPBench", "MCPMark, community experiments"
AUDIO_BENCH = "Audio-Tool-Bench"


@dataclass(frozen=True, slots=True)
class Call:
    """A recorded call."""

    server: str
    tool: str
    arguments: Any


_OF_CALLS = ("calls", "with a schema", "accepted", "accepted changed", "repaired", "refused")
COUNTED = ("runs", *_OF_CALLS, "made again after a fix", "as the first fix")
"""What is counted. The last two: refused calls with a fix for all that is wrong that the model made again, and those
of them that the model then made as the first fixes say."""


@dataclass(slots=True)
class Runs:
    """What came out of one collection of runs.

    Attributes:
        name: The name of the collection.
        counts: The numbers of what is ``COUNTED``.
        changed: The accepted calls that are changed, with the new arguments.
        not_followed: The calls made again in another way than the first fixes say, with the fixed arguments and those
            that the model then sent.
    """

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    changed: list[tuple[Call, Any]] = field(default_factory=list)
    not_followed: list[tuple[Call, Any, Any]] = field(default_factory=list)


def replay_runs(folders: Sequence[Path]) -> list[Runs]:
    """Return what comes out of all recorded runs in these folders."""
    tools = _published(folders)
    live = Runs(LIVE_MCP_BENCH)
    mark = Runs(MCP_MARK)
    audio = Runs(AUDIO_BENCH)
    for folder in folders:
        for output in sorted(folder.rglob("baseline/output/*.json")):
            published = _live_tools(output.parents[2] / "tools" / "LiveMCPTool" / "tools.json")
            for task in json.loads(output.read_text("utf-8")):
                _replay_run(live, list(_live_calls(task["messages"])), published)
        for messages in sorted(folder.rglob("mcp_servers/*/*/run-*/*/messages.json")):
            server = "/".join(messages.parts[-5:-3])
            _replay_run(mark, list(_mark_calls(server, json.loads(messages.read_text("utf-8")))), tools)
        written = _written_tools(sorted(folder.rglob("eval/tools/*_tools.py")))
        for trace in sorted(folder.rglob("data/traces/*/traces/*/**/*.json")) if written else ():
            _replay_run(audio, list(_audio_calls(json.loads(trace.read_text("utf-8")))), written)
    return [runs for runs in (live, mark, audio) if runs.counts]


def _published(folders: Sequence[Path]) -> Tools:
    """Return the schemas in GitHub's own snapshots, and in ``tools/list`` results named ``server-kind.tools.json``."""
    listed = [
        (file.name.removesuffix(_LIST).replace("-", "/", 1), tool)
        for folder in folders
        for file in sorted(folder.rglob(f"*{_LIST}"))
        for tool in json.loads(file.read_text("utf-8"))["tools"]
    ]
    snaps = [file for folder in folders for file in sorted(folder.rglob("__toolsnaps__/*.snap"))]
    listed += [("github/official", json.loads(file.read_text("utf-8"))) for file in snaps]
    return {(server, tool["name"]): tool["inputSchema"] for server, tool in listed}


def _live_tools(file: Path) -> Tools:
    return {
        (server, tool["name"]): tool["inputSchema"]
        for entry in json.loads(file.read_text("utf-8"))
        for server, listed in entry["tools"].items()
        for tool in listed["tools"]
    }


def _live_calls(messages: Sequence[Mapping[str, Any]]) -> Iterator[Call]:
    """Return the calls of the benchmark's one tool that calls the servers' tools."""
    for message in messages:
        for call in message.get("tool_calls") or ():
            sent = _decoded(call["function"]["arguments"])
            if call["function"]["name"] == "execute-tool" and isinstance(sent, dict):
                yield Call(str(sent.get("server_name")), str(sent.get("tool_name")), sent.get("params"))


def _mark_calls(server: str, messages: Sequence[Mapping[str, Any]]) -> Iterator[Call]:
    for message in messages:
        if message.get("type") == "function_call":
            yield Call(server, message["name"], _decoded(message["arguments"]))


def _written_tools(files: Sequence[Path]) -> Tools:
    """Return the schemas that Python classes return as literals, without running them."""
    classes = (node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8"))))
    found = {}
    for node in classes:
        if isinstance(node, ast.ClassDef):
            literals = dict(_returned_literals(node))
            if {"name", "parameters"} <= literals.keys():
                found["", literals["name"]] = literals["parameters"]
    return found


def _returned_literals(node: ast.ClassDef) -> Iterator[tuple[str, Any]]:
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name in ("name", "parameters"):
            for step in method.body:
                if isinstance(step, ast.Return) and step.value is not None:
                    yield method.name, ast.literal_eval(step.value)


def _audio_calls(trace: Mapping[str, Any]) -> Iterator[Call]:
    for step in trace.get("steps", ()):
        for call in step.get("tool_executions", ()):
            yield Call("", str(call.get("tool_name")), call.get("arguments"))


def _decoded(text: Any) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _replay_run(runs: Runs, calls: Sequence[Call], tools: Tools) -> None:
    runs.counts += Counter({"runs": 1, "calls": len(calls)})
    for at, call in enumerate(calls):
        schema = tools.get((call.server, call.tool))
        if schema is None or not isinstance(call.arguments, (dict, str)):
            continue
        found = normalize(schema, call.arguments)
        accepted = Draft202012Validator(schema).is_valid(call.arguments)
        if accepted and not same_json(found.arguments, call.arguments):
            runs.changed.append((call, found.arguments))
        seen = {
            "with a schema": True,
            "accepted": accepted,
            "repaired": found.repairs,
            "refused": found.violations,
        }
        runs.counts.update(name for name, is_so in seen.items() if is_so)
        following = (each for each in calls[at + 1 :] if (each.server, each.tool) == (call.server, call.tool))
        _note_fix(runs, call, found, next(following, None))
    runs.counts["accepted changed"] = len(runs.changed)


def _note_fix(runs: Runs, call: Call, found: Normalized, following: Call | None) -> None:
    if not found.violations or following is None or not all(each.fixes for each in found.violations):
        return
    fixed = with_first_fixes(call.arguments, found)
    runs.counts["made again after a fix"] += 1
    if same_json(fixed, following.arguments):
        runs.counts["as the first fix"] += 1
    else:
        runs.not_followed.append((call, fixed, following.arguments))
