"""Sandboxes for Python code: a process for each session, with limits, its own files and packages."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import anyio
from fastmcp.exceptions import ToolError
from pydantic import BaseModel, ConfigDict, Field

from agent_platform import Group

WORKER = Path(__file__).with_name("worker.py")
PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))  # without the packages of a venv
MEGABYTES_OF_MEMORY, MEGABYTES_OF_A_FILE, OPEN_FILES = 1024, 64, 128
MOST_SESSIONS = 16
MISSING = "bubblewrap is missing or may not be used here (apt install bubblewrap)"
REFUSES = (
    f"Code would run without isolation: {MISSING}. "
    "The sandbox refuses to run code; start the server with --unsafe to run it all the same, with limits only."
)
UNSAFE = f"Code runs without isolation, with limits only, since --unsafe was given: {MISSING}."
LOST = "The session lost its variables, not its files."
SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", sys.base_prefix)

Code = Annotated[str, "Python code to run. 要执行的 Python 代码。"]
Name = Annotated[str, Field(pattern=r"^[\w-]{1,64}$")]
Id = Annotated[Name | None, Field(description="Session that keeps variables and files. 会话标识符。")]
Open = Annotated[str, "Session to close. 要关闭的会话标识符。"]
Timeout = Annotated[int | None, Field(ge=1, le=3600, description="Seconds, 30 by default. 超时时间。")]
Package = Annotated[str, Field(pattern=r"^\w[\w.-]*(\[[\w,.-]+\])?$", description="Its name. 包名称。")]
Exact = Annotated[str, Field(pattern=r"^[\w.!+*-]+$")]
Version = Annotated[Exact | None, Field(description="Its version; by default the newest. 包版本。")]
Age = Annotated[int | None, Field(ge=0, description="Idle seconds allowed, 3600 by default. 最大年龄秒数。")]
Reply = dict[str, Any]


class Answer(BaseModel):
    """What the process inside a sandbox answers; code that runs there may try to write it in its place."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    id: str
    success: bool
    stdout: str
    stderr: str
    result: str | None
    error: str | None
    seconds: float
    memory_mb: int


@dataclass(slots=True)
class Session:
    """A sandbox: its folder, and its process while it has one."""

    folder: Path
    process: Process | None = None
    runs: int = 0
    memory_mb: int = 0
    created: float = field(default_factory=time.time)
    used: float = field(default_factory=time.time)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


def missing(*, unsafe: bool = False) -> str | None:
    """Say in one line that code cannot be isolated on this machine, and what follows; None where it can."""
    return None if isolates(shutil.which("bwrap")) else UNSAFE if unsafe else REFUSES


@functools.cache
def isolates(bwrap: str | None) -> bool:
    """Return whether a program is bubblewrap, and may be used here."""
    if bwrap is None:
        return False
    options = "--unshare-all --die-with-parent --ro-bind / / --proc /proc --dev /dev".split()
    return subprocess.run([bwrap, *options, PYTHON, "-V"], capture_output=True, check=False).returncode == 0  # noqa: S603 - as PATH has it


def sweep(sessions: Path) -> None:
    """Remove the folders of sessions whose server has died."""
    for folder in sessions.glob("*-*-*") if sessions.is_dir() else ():
        with suppress(ValueError, PermissionError):
            try:
                os.kill(int(folder.name.rsplit("-", 2)[1]), 0)
            except ProcessLookupError:
                shutil.rmtree(folder, ignore_errors=True)


class Microsandbox(Group):
    """Sandboxes, isolated by bubblewrap.

    Args:
        data: The folder for sessions and packages.
        unsafe: Whether code runs without isolation where there is no bubblewrap.
    """

    def __init__(self, data: Path, *, unsafe: bool = False) -> None:
        self._data, self._unsafe = data.resolve(), unsafe
        self._sessions: dict[str, Session] = {}
        self._seconds: list[float] = []
        self._counts = {"runs": 0, "errors": 0, "timeouts": 0}
        self._isolation, self._swept = "", False

    async def close(self) -> None:
        """Stop all sandboxes; a session's files go with it."""
        for name in [*self._sessions]:
            await self._stop(name)

    async def microsandbox_execute(self, code: Code, session_id: Id = None, timeout: Timeout = None) -> Reply:  # noqa: ASYNC109 - a parameter of the tool
        """Run Python code in a sandbox; return its output and the value of its last expression (执行 Python 代码)."""
        await self._require_isolation()
        name = session_id or f"once-{uuid4().hex[:8]}"
        session = self._session(name)
        try:
            async with session.lock:
                answer = await self._answer(session, code, timeout or 30)
        finally:
            if session_id is None:
                await self._stop(name)
        return {"session_id": session_id, "isolation": self._isolation, **answer}

    async def microsandbox_install_package(
        self, package_name: Package, version: Version = None, session_id: Id = None
    ) -> Reply:
        """Install a Python package for one session or for all (安装 Python 包)."""
        folder = self._data if session_id is None else self._session(session_id).folder
        requirement = package_name if version is None else f"{package_name}=={version}"
        return {"installed": await install(requirement, folder / "packages"), "session_id": session_id}

    async def microsandbox_list_sessions(self) -> list[Reply]:
        """List the sessions with their age, files and whether their process runs (列出活跃会话)."""
        now = time.time()
        return [
            {
                "session_id": name,
                "age_seconds": round(now - session.created, 1),
                "idle_seconds": round(now - session.used, 1),
                "runs": session.runs,
                "running": session.process is not None,
                "files": sorted(path.name for path in session.folder.iterdir() if path.name != "packages"),
            }
            for name, session in self._sessions.items()
        ]

    async def microsandbox_close_session(self, session_id: Open) -> Reply:
        """Close a session and remove its files (关闭会话)."""
        if session_id not in self._sessions:
            known = ", ".join(self._sessions) or "none"
            raise ToolError(f"There is no session {session_id!r}. Open are: {known}.")
        await self._stop(session_id)
        return {"closed": session_id}

    async def microsandbox_cleanup_expired(self, max_age: Age = None) -> Reply:
        """Close the sessions that have been idle for too long (清理过期会话)."""
        oldest = time.time() - (3600 if max_age is None else max_age)
        idle = [name for name, one in self._sessions.items() if one.used < oldest and not one.lock.locked()]
        for name in idle:
            await self._stop(name)
        return {"closed": idle, "left": list(self._sessions)}

    async def microsandbox_get_performance_stats(self) -> Reply:
        """Count runs, errors and timeouts; give times and memory (获取性能统计)."""
        times = self._seconds
        return {
            **self._counts,
            "mean_seconds": round(sum(times) / len(times), 4) if times else 0.0,
            "longest_seconds": max(times, default=0.0),
            "memory_mb": {name: session.memory_mb for name, session in self._sessions.items()},
        }

    async def microsandbox_get_health_status(self) -> Reply:
        """Start a sandbox and say whether it answers, how it is isolated and what its limits are (获取健康状态)."""
        try:
            answer = await self.microsandbox_execute("6 * 7", timeout=20)
        except ToolError as error:
            answer = {"result": str(error)}
        return {
            "healthy": answer["result"] == "42",
            "error": None if answer["result"] == "42" else answer["result"],
            "isolation": self._isolation,
            "sessions": len(self._sessions),
            "most_sessions": MOST_SESSIONS,
            "memory_limit_mb": MEGABYTES_OF_MEMORY,
            "file_limit_mb": MEGABYTES_OF_A_FILE,
            "disk_free_mb": shutil.disk_usage(self._data).free >> 20,
        }

    async def _require_isolation(self) -> None:
        if await asyncio.to_thread(missing) is None:
            self._isolation = "bubblewrap"
        elif self._unsafe:
            self._isolation = "none"
        else:
            raise ToolError(REFUSES)

    def _session(self, name: str) -> Session:
        if name not in self._sessions:
            if len(self._sessions) >= MOST_SESSIONS:
                raise ToolError(f"{MOST_SESSIONS} sessions are open. Close one first.")
            if not self._swept:
                sweep(self._data / "sessions")
                self._swept = True
            own = f"{name}-{os.getpid()}-{uuid4().hex[:8]}"
            self._sessions[name] = Session(self._data / "sessions" / own)
            self._sessions[name].folder.mkdir(parents=True)
        self._sessions[name].used = time.time()
        return self._sessions[name]

    async def _answer(self, session: Session, code: str, seconds: int) -> Reply:
        session.process = process = session.process or await self._start(session)
        session.runs += 1
        self._counts["runs"] += 1
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - they are pipes
        answer, asked = Reply(), uuid4().hex
        try:
            process.stdin.write(json.dumps({"id": asked, "code": code}).encode() + b"\n")
            answer = _read(await asyncio.wait_for(process.stdout.readline(), seconds), asked)
        except asyncio.TimeoutError:
            self._counts["timeouts"] += 1
            raise ToolError(f"The code was stopped after {seconds} s. {LOST}") from None
        except (ValueError, ConnectionError):
            forged = "" if process.stdout.at_eof() else " wrote something else where its answer belongs, and"
            error = f"The sandbox's process{forged} ended. {LOST}"
            return {"success": False, "stdout": "", "stderr": "", "result": None, "error": error}
        finally:
            self._counts["errors"] += not answer.get("success")
            if not answer:
                await _end(session)
        self._seconds.append(answer["seconds"])
        session.used, session.memory_mb = time.time(), answer.pop("memory_mb")
        return answer

    async def _start(self, session: Session) -> Process:
        shared, own = self._data / "packages", session.folder / "packages"
        shared.mkdir(parents=True, exist_ok=True)
        isolated = self._isolation == "bubblewrap"
        sandbox = [str(shutil.which("bwrap")), *_bubblewrap(session.folder, shared)] if isolated else []
        limits = map(str, (MEGABYTES_OF_MEMORY << 20, MEGABYTES_OF_A_FILE << 20, OPEN_FILES))
        return await asyncio.create_subprocess_exec(
            *sandbox,
            *(PYTHON, "-I", str(WORKER), *limits, str(own), str(shared)),
            cwd=session.folder,
            env={"PATH": os.defpath, "LANG": "C.UTF-8", "HOME": str(session.folder)},
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            start_new_session=True,
            limit=1 << 22,
        )

    async def _stop(self, name: str) -> None:
        session = self._sessions.pop(name)
        _kill(session.process)  # also while it runs a call, which then ends
        async with session.lock:
            await _end(session)
        await asyncio.to_thread(shutil.rmtree, session.folder, ignore_errors=True)


async def install(requirement: str, folder: Path) -> list[str]:
    """Install a package and what it needs from wheels, which run no code when they are installed."""
    pip = "-m pip install --disable-pip-version-check --no-input --only-binary=:all: --upgrade --target"
    command = [sys.executable, *pip.split(), str(folder), "--", requirement]
    done = await anyio.run_process(command, check=False)
    if done.returncode:
        reasons = re.findall(r"^ERROR: (.*)", done.stderr.decode("utf-8", "replace"), re.MULTILINE)
        raise ToolError(f"{requirement} was not installed. {(reasons or ['pip failed.'])[-1]}")
    installed = re.findall(r"^Successfully installed (.*)", done.stdout.decode(), re.MULTILINE)
    return " ".join(installed).split()


def _bubblewrap(folder: Path, shared: Path) -> list[str]:
    """Build the options of bubblewrap: no network, no other processes, and of the disk Python and its own folder."""
    seen = [part for path in SYSTEM for part in ("--ro-bind-try", path, path)]
    seen += [part for path in (WORKER, shared) for part in ("--ro-bind", str(path), str(path))]
    # Without --new-session: one that is killed as it starts would leave the group, and run on without its parent.
    options = "--unshare-all --die-with-parent --proc /proc --dev /dev --tmpfs /tmp".split()
    return [*options, *seen, "--bind", str(folder), str(folder), "--chdir", str(folder)]


async def _end(session: Session) -> None:
    process, session.process = session.process, None
    if process is not None:
        _kill(process)
        with suppress(asyncio.TimeoutError):  # a process that has left the group may hold the pipes open
            await asyncio.wait_for(process.communicate(), 5)  # which also closes its pipes


def _kill(process: Process | None) -> None:
    """Kill a sandbox with all processes of its group."""
    if process is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _read(line: bytes, asked: str) -> Reply:
    """Read the answer to a request; raise ValueError where it is none, or that of another request."""
    answer = Answer.model_validate_json(line)
    if answer.id != asked or answer.success != (answer.error is None):
        raise ValueError(asked)
    return answer.model_dump(exclude={"id"})
