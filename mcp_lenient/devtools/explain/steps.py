"""The steps of an explanation, in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from mcp_lenient.rules import ABSENT
from mcp_lenient.types import Repair
from mcp_lenient.values.display import cut, shown

Fate = Literal["accepted", "repaired", "refused", "forwarded", "observed", "off", "logged"]
"""What would become of a call.

``accepted``: it runs as it was sent. ``repaired``: it runs, changed. ``refused``: it is answered by the
envelope. ``forwarded``: it goes on as it was sent, against the published schema. ``observed`` and ``off``:
it goes on as it was sent, whatever is wrong. ``logged``: it is past, and known only from the log.
"""
RUNS: Final[frozenset[Fate]] = frozenset({"accepted", "repaired", "forwarded", "observed", "off"})
"""What becomes of calls that reach the tool."""
_LONGEST: Final = 240
_LONGEST_LINE: Final = 10_000


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a title, and what was found, line by line."""

    title: str
    lines: tuple[str, ...]


def step(title: str, *lines: str) -> Step:
    """Make a step that can be printed anywhere."""
    return Step(shown(title, _LONGEST_LINE), tuple(shown(line, _LONGEST_LINE) for line in lines))


def tool_name(name: str) -> str:
    """Return a tool's name for use in a sentence."""
    return shown(name, _LONGEST)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one call.

    Attributes:
        tool: The tool that is called.
        fate: What becomes of the call.
        steps: How that comes about.
        arguments: What the tool would get; None where it gets nothing.
        repairs: What is changed.
        envelope: What the caller would get in place of the tool's answer; None where the tool runs.
    """

    tool: str
    fate: Fate
    steps: tuple[Step, ...]
    arguments: Any = None
    repairs: tuple[Repair, ...] = ()
    envelope: Mapping[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON."""
        return {
            "tool": self.tool,
            "fate": self.fate,
            "steps": [{"title": step.title, "lines": list(step.lines)} for step in self.steps],
            "arguments": self.arguments,
            "repairs": [each._asdict() for each in self.repairs],
            "envelope": self.envelope,
        }

    def __str__(self) -> str:
        lines: list[str] = []
        for number, step in enumerate(self.steps, 1):
            lines += [f"{number}. {step.title}", *(f"   {line}" for line in step.lines)]
        return "\n".join(lines)


def in_words(value: Any) -> str:
    """Return a value as JSON, on one line and cut; "left out" for an absent one."""
    if value is ABSENT:
        return "left out"
    try:
        return cut(shown(json.dumps(value, ensure_ascii=False, default=repr), 4 * _LONGEST), _LONGEST)
    except (ValueError, RecursionError):
        return "a value that cannot be shown"


def where(pointer: str) -> str:
    """Return a JSON Pointer for use in a sentence."""
    return shown(pointer, _LONGEST) or "the arguments as a whole"
