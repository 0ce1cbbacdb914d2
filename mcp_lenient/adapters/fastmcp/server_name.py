"""Name a server of which only the address is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from fastmcp import FastMCP
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport

NAMELESS: Final = "mcp-lenient"
"""The name of a proxy for a server of which no name is known."""
AT_URL: Final = ("http://", "https://")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_EXECUTABLE: Final = re.compile(r"(.+?)(?:\.(?:exe|cmd|bat))?", re.IGNORECASE)
_PACKAGE: Final = re.compile(r"(?:@[a-z0-9][a-z0-9._-]*/)?([a-z0-9][a-z0-9._-]*)(?:@[a-z0-9.^~-]+)?")
_MODULE: Final = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)", re.ASCII)
_PYTHON: Final = re.compile(r"python[\d.]*")
_RUNNERS: Final = frozenset({"npx", "pnpx", "bunx", "uvx"})
_RUNNER_FLAGS: Final = frozenset({"-y", "--yes", "-q", "--quiet"})
_PYTHON_FLAGS: Final = frozenset({"-u", "-I", "-E", "-s", "-S", "-B", "-O", "-OO"})


def name_of(target: Any) -> str:
    """Return a name for the server that contains no program text, argument, path or query.

    It is used until the server has said its own name. Of a URL it is the host; of a command line the program,
    or the package or module where the command line has one of a few exact forms.
    """
    if isinstance(target, (StreamableHttpTransport, SSETransport)):
        target = str(target.url)
    if isinstance(target, str) and target.startswith(AT_URL):
        return _checked(urlsplit(target).hostname or "")
    if isinstance(target, StdioTransport):
        return _started(target.command, target.args)
    return target.name if isinstance(target, FastMCP) else NAMELESS


def _started(command: str, arguments: Sequence[str]) -> str:
    found = _EXECUTABLE.fullmatch(Path(command).name)
    program = found[1] if found is not None else ""
    if _PYTHON.fullmatch(program):
        flag, *rest = _after(arguments, _PYTHON_FLAGS) or [""]
        return _matched(_MODULE, rest[0] if flag == "-m" and rest else "") or "python"
    if program in _RUNNERS:
        return _matched(_PACKAGE, (_after(arguments, _RUNNER_FLAGS) or [""])[0]) or program
    return _checked(program)


def _after(arguments: Sequence[str], flags: frozenset[str]) -> list[str]:
    """Return what comes after flags that take no value; of other options the next word may be the value."""
    start = next((at for at, word in enumerate(arguments) if word not in flags), len(arguments))
    return list(arguments[start:])


def _matched(form: re.Pattern[str], word: str) -> str | None:
    found = form.fullmatch(word) if len(word) <= 128 else None
    return found[1] if found is not None else None


def _checked(name: str) -> str:
    return name if _NAME.fullmatch(name) else NAMELESS
