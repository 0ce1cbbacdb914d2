"""Right arguments of tools, given in a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mcp_lenient.cli.errors import CommandError

Given = Mapping[str, list[dict[str, Any]]]
"""Right arguments by tool."""


def given_arguments(file: Path) -> Given:
    """Read a JSON file that has the right arguments of tools: an object, or a list of them, by tool.

    Raises:
        CommandError: When there is no such file, or something else is in it.
    """
    try:
        written = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        msg = f"--arguments: {file}: {error.strerror or error}"
        raise CommandError(msg) from error
    except (ValueError, RecursionError) as error:
        msg = f"--arguments: {file}: this is not JSON: {error}"
        raise CommandError(msg) from error
    if not isinstance(written, dict) or not written:
        msg = f'--arguments: {file}: an object is expected, with arguments by tool, like {{"search": {{"query": "tea"}}}}'
        raise CommandError(msg)
    return {tool: _calls(file, tool, each) for tool, each in written.items()}


def _calls(file: Path, tool: str, written: Any) -> list[dict[str, Any]]:
    calls = written if isinstance(written, list) else [written]
    if not calls or not all(isinstance(call, dict) for call in calls):
        msg = f"--arguments: {file}: what stands at {tool!r} is neither the arguments of a call, as an object, nor a list of such"
        raise CommandError(msg)
    return calls


def check_names(given: Given, tools: Iterable[str]) -> None:
    """See that all arguments are for tools that there are.

    Raises:
        CommandError: When one is not.
    """
    unknown = [tool for tool in given if tool not in set(tools)]
    if unknown:
        msg = f"--arguments: the server has no tool {unknown[0]!r}"
        raise CommandError(msg)
