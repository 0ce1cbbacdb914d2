"""Replay the tool calls of recorded agent runs on MCP servers, by the schemas that the servers published."""

from __future__ import annotations

import ast
import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from benchmarks.environments import NotInstalledError, interpreter
from benchmarks.evidence.recorded.judges import JUDGES
from benchmarks.evidence.recorded.methods import with_first_fixes
from mcp_lenient import normalize
from mcp_lenient.types import Normalized
from mcp_lenient.values.json_values import same_json

Schema = Mapping[str, Any]
Tools = Mapping[tuple[str, str], Schema]
"""The input schemas by the names of server and tool."""

_LIST = ".tools.json"
_TOOLATHLON = "toolathlon/"
_TAU2_PACKAGES = tuple(
    "pydantic==2.14.4 docstring-parser==0.18.0 loguru==0.7.3 addict==2.4.0 toml==0.10.2 pyyaml deepdiff python-dotenv".split()
)
"""What the definitions of the tools import; the benchmark's own package would install the clients of all vendors."""


@dataclass(frozen=True, slots=True)
class Call:
    """A recorded call, and what came back, where that is read."""

    server: str
    tool: str
    arguments: Any
    answer: str = ""


Run = tuple[Sequence[Call], Tools]
"""The calls of a run, and the tools that its servers have."""


_OF_CALLS = ("calls", "with a schema", "accepted", "accepted changed", "repaired", "refused")
COUNTED = ("runs", *_OF_CALLS, "made again after a fix", "as the first fix")
"""What is counted. The last two: refused calls with a fix for all that is wrong that the model made again, and those
of them that the model then made as the first fixes say."""


@dataclass(slots=True)
class Runs:
    """What came out of one collection of runs.

    Attributes:
        name: The name of the collection.
        skipped: Why it is not replayed, if it is not.
        counts: The numbers of what is ``COUNTED``.
        changed: The accepted calls that are changed, with the new arguments.
        not_followed: The calls made again in another way than the first fixes say, with the fixed arguments and those
            that the model then sent.
        not_accepted: The repaired and refused calls whose answer is known, and the next call of the tool.
    """

    name: str
    skipped: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    changed: list[tuple[Call, Any]] = field(default_factory=list)
    not_accepted: list[tuple[Call, Normalized, Call | None]] = field(default_factory=list)
    not_followed: list[tuple[Call, Any, Any]] = field(default_factory=list)


def replay_runs(folders: Sequence[Path]) -> Iterator[Runs]:
    """Yield what comes out of all recorded runs in these folders, and what other numbers come out with closed schemas."""
    listed = _published(folders)
    for name, read in _COLLECTIONS.items():
        try:
            recorded = [run for folder in folders for run in read(folder, listed)]
        except NotInstalledError as reason:
            yield Runs(name, skipped=str(reason))
            continue
        published = _replayed(name, recorded, _as_published)
        closed = _replayed(f"{name}, closed", recorded, _closed)
        yield from [published] * bool(recorded) + [closed] * (closed.counts != published.counts)


def _replayed(name: str, recorded: Sequence[Run], change: Callable[[Schema], Schema]) -> Runs:
    runs = Runs(name)
    for calls, tools in recorded:
        _replay_run(runs, calls, tools, change)
    return runs


def _as_published(schema: Schema) -> Schema:
    return schema


def _closed(schema: Schema) -> Schema:
    return {"additionalProperties": False, **schema}


def _published(folders: Sequence[Path]) -> Tools:
    """Return the schemas in GitHub's own snapshots, in ``tools/list`` results named ``server-kind.tools.json``, and in Toolathlon's code."""
    listed = [
        (file.name.removesuffix(_LIST).replace("-", "/", 1), tool)
        for folder in folders
        for file in sorted(folder.rglob(f"*{_LIST}"))
        for tool in _read(file)["tools"]
    ]
    snaps = [file for folder in folders for file in sorted(folder.rglob("__toolsnaps__/*.snap"))]
    listed += [("github/official", _read(file)) for file in snaps]
    tools = {(server, tool["name"]): tool["inputSchema"] for server, tool in listed}
    aids = [file for folder in folders for file in sorted(folder.rglob("utils/aux_tools/*.py"))]
    return {**tools, **_written_tools(aids, _TOOLATHLON)}


def _read(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def _live_runs(folder: Path, _: Tools) -> Iterator[Run]:
    for output in sorted(folder.rglob("baseline/output/*.json")):
        tools = _live_tools(output.parents[2] / "tools" / "LiveMCPTool" / "tools.json")
        for task in _read(output):
            yield list(_live_calls(task["messages"])), tools


def _live_tools(file: Path) -> Tools:
    return {
        (server, tool["name"]): tool["inputSchema"]
        for entry in _read(file)
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


def _mark_runs(folder: Path, listed: Tools) -> Iterator[Run]:
    for messages in sorted(folder.rglob("mcp_servers/*/*/run-*/*/messages.json")):
        yield list(_mark_calls("/".join(messages.parts[-5:-3]), _read(messages))), listed


def _mark_calls(server: str, messages: Sequence[Mapping[str, Any]]) -> Iterator[Call]:
    for message in messages:
        if message.get("type") == "function_call":
            yield Call(server, message["name"], _decoded(message["arguments"]))


def _audio_runs(folder: Path, _: Tools) -> Iterator[Run]:
    written = _written_tools(sorted(folder.rglob("eval/tools/*_tools.py")))
    for trace in sorted(folder.rglob("data/traces/*/traces/*/**/*.json")) if written else ():
        yield list(_audio_calls(_read(trace))), written


def _written_tools(files: Sequence[Path], server: str = "") -> Tools:
    """Return the schemas that Python code has as literals, without running it."""
    found = {}
    for node in (node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))):
        parts = dict(_parts(node))
        if {"name", "parameters"} <= parts.keys():
            with suppress(ValueError):  # something is calculated
                name, schema = ast.literal_eval(parts["name"]), ast.literal_eval(parts["parameters"])
                found[server, name] = schema
    return found


def _parts(node: ast.AST) -> Iterator[tuple[Any, ast.expr]]:
    """Return what a class returns, a dictionary contains, or a call passes, by name."""
    match node:
        case ast.ClassDef(body=body):
            for method in body:
                match method:
                    case ast.FunctionDef(name=name, body=[*_, ast.Return(value=ast.expr() as value)]):
                        yield name, value
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                yield getattr(key, "value", None), value
        case ast.Call(keywords=keywords):
            for keyword in keywords:
                yield str(keyword.arg).replace("params_json_schema", "parameters"), keyword.value


def _audio_calls(trace: Mapping[str, Any]) -> Iterator[Call]:
    for step in trace.get("steps", ()):
        for call in step.get("tool_executions", ()):
            yield Call("", str(call.get("tool_name")), call.get("arguments"))


def _tau_runs(folder: Path, _: Tools) -> Iterator[Run]:
    for file in sorted(folder.rglob("historical_trajectories/*.json")):
        domain = file.stem.rpartition("-")[2]
        tools = _written_tools(sorted(file.parents[1].glob(f"tau_bench/envs/{domain}/tools/*.py")))
        for run in _read(file):
            yield list(_chat_calls(run["traj"])), tools


def _toolathlon_runs(folder: Path, listed: Tools) -> Iterator[Run]:
    """Return the runs; a call names its server before the tool, and the benchmark's own tools have that name."""
    tools = {
        ("", "-".join(filter(None, (server.removeprefix(_TOOLATHLON), tool)))): schema
        for (server, tool), schema in listed.items()
        if server.startswith(_TOOLATHLON)
    }
    for file in sorted(folder.rglob("trajs/*.json")):
        yield list(_chat_calls(_read(file)["messages"])), tools


def _chat_calls(messages: Sequence[Mapping[str, Any]]) -> Iterator[Call]:
    answers = {
        message.get("tool_call_id"): str(message["content"])
        for message in messages
        if message["role"] == "tool"
    }
    for message in messages:
        for call in message.get("tool_calls") or ():
            function = call["function"]
            yield Call("", function["name"], _decoded(function["arguments"]), answers.get(call["id"], "none"))


def _tau2_runs(folder: Path, _: Tools) -> Iterator[Run]:
    """Return the runs of the agent; a file that several branches have counts once."""
    codes = [file.parents[2] for file in sorted(folder.rglob("src/tau2/domains/airline/tools.py"))]
    files = [file for kind in ("trajectories", "results") for file in folder.rglob(f"{kind}/**/*.json")]
    recorded = {file.parts[-3:]: file for file in sorted(files)} if codes else {}
    tools = _tau2_tools(str(codes[0])) if recorded else {}
    for file in recorded.values():
        content = _read(file)
        if isinstance(content, dict) and "simulations" in content:
            domain = content["info"]["environment_info"]["domain_name"]
            for run in content["simulations"]:
                yield list(_tau2_calls(domain, run["messages"])), tools


def _tau2_tools(code: str) -> Tools:
    """Return the schemas that the environments make of their functions, each domain in a program of its own packages."""
    command = [interpreter(_TAU2_PACKAGES), str(JUDGES / "tau2_tools.py"), code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    if done.returncode:
        raise NotInstalledError(done.stderr.strip().rpartition("\n")[2])
    return {(domain, tool): schema for domain, tool, schema in json.loads(done.stdout)}


def _tau2_calls(domain: str, messages: Sequence[Mapping[str, Any]]) -> Iterator[Call]:
    answers = {message["id"]: str(message["content"]) for message in messages if message["role"] == "tool"}
    for message in messages:
        if message["role"] == "assistant":
            for call in message.get("tool_calls") or ():
                yield Call(domain, call["name"], call["arguments"], answers.get(call["id"], "none"))


def _decoded(text: Any) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _replay_run(runs: Runs, calls: Sequence[Call], tools: Tools, change: Callable[[Schema], Schema]) -> None:
    runs.counts += Counter({"runs": 1, "calls": len(calls)})
    for at, call in enumerate(calls):
        published = tools.get((call.server, call.tool))
        if published is None or not isinstance(call.arguments, (dict, str)):
            continue
        schema = change(published)
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
        later = (each for each in calls[at + 1 :] if (each.server, each.tool) == (call.server, call.tool))
        following = next(later, None)
        _note_fix(runs, call, found, following)
        if call.answer and (found.repairs or found.violations):
            runs.not_accepted.append((call, found, following))
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


_COLLECTIONS: Mapping[str, Callable[[Path, Tools], Iterator[Run]]] = {
    "LiveMCPBench": _live_runs,
    "MCPMark, community experiments": _mark_runs,
    "Audio-Tool-Bench": _audio_runs,
    "tau-bench": _tau_runs,
    "tau2-bench": _tau2_runs,
    "Toolathlon": _toolathlon_runs,
}
"""The collections, and what reads a folder's runs of each."""
