"""What the linter says: a finding, and the rule that it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from mcp_lenient.check.surface import Surface

Level = Literal["note", "warning", "error"]
"""How much a finding matters.

``note``: right as it is, and some callers will still get it wrong. ``warning``: callers will be
misunderstood. ``error``: no call can be right, or nothing can be judged.
"""
LEVELS: Final[tuple[Level, ...]] = get_args(Level)


@dataclass(frozen=True, slots=True)
class Hit:
    """What a rule has found in one tool.

    Attributes:
        place: The parameter, such as ``rows[].age``; empty for the tool as a whole.
        reason: What will go wrong, in one sentence.
        mend: What to change, in one sentence.
        level: How much it matters, where that differs from the rule's own level.
    """

    place: str
    reason: str
    mend: str
    level: Level | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One rule of the linter.

    Attributes:
        code: Its stable name, by which it is selected and ignored.
        level: How much its findings matter, unless a finding says otherwise.
        summary: What it looks for, in one sentence.
        why: What goes wrong when nothing is changed.
        find: The function that looks at one tool.
    """

    code: str
    level: Level
    summary: str
    why: str
    find: Callable[[Surface], Iterable[Hit]]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that callers of a tool will misunderstand.

    Attributes:
        code: The rule that found it.
        level: How much it matters.
        tool: The tool.
        place: The parameter, such as ``rows[].age``; empty for the tool as a whole.
        reason: What will go wrong.
        mend: What to change.
        file: The file of the tool's function, where it is known.
        line: The line at which that function begins.
    """

    code: str
    level: Level
    tool: str
    place: str
    reason: str
    mend: str
    file: str | None = None
    line: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON."""
        return {
            "code": self.code,
            "level": self.level,
            "tool": self.tool,
            "place": self.place,
            "reason": self.reason,
            "mend": self.mend,
            "file": self.file,
            "line": self.line,
        }
