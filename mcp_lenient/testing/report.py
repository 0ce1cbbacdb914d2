"""What a stress run found: by tool, by kind of damage, and each call that came out wrong."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Any, Final, Literal, get_args

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mcp_lenient.redaction import cut, shown
from mcp_lenient.testing.trial import Sent

Outcome = Literal[
    "unchanged", "repaired", "normalized", "refused", "forwarded", "answered", "failed", "corrupted"
]
"""What became of a damaged call.

``unchanged``: the tool takes it as it was sent. ``repaired``: the tool gets what it was meant to get.
``normalized``: only what the author declared has changed it. ``refused``: it was not run. ``forwarded``: it
went on as it came, against the published schema. ``answered``: another middleware answered in the tool's
place. ``failed``: the tool ran and failed, though it does not fail on the right call (only where tools are run). ``corrupted``: it was repaired to
something else than was meant, or repaired where no repair could be right.
"""
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)

_LONGEST: Final = 300
_EXAMPLES: Final = 2
_WIDTH: Final = 120


@dataclass(frozen=True, slots=True)
class StressCall:
    """One damaged call, and what became of it.

    Attributes:
        tool: The tool that was called.
        damage: The kind of damage.
        outcome: What became of it.
        sent: What was sent.
        wanted: The right calls that it may be repaired to; none where every repair is wrong.
        got: What reached the tool; None where nothing did.
        repairs: The rules that repaired it.
        error_code: The code of the envelope, where it was refused with one.
    """

    tool: str
    damage: str
    outcome: Outcome
    sent: Sent
    wanted: tuple[Mapping[str, Any], ...]
    got: Mapping[str, Any] | None = None
    repairs: tuple[str, ...] = ()
    error_code: str | None = None


@dataclass(frozen=True, slots=True)
class StressReport:
    """What :func:`mcp_lenient.testing.stress` found; prints as tables.

    Attributes:
        server: The server's name.
        seed: What all arguments were made up from.
        calls: Every damaged call.
        skipped: Tools that could not be tried, each with the reason.
        unprotected: Tools that no middleware of this package stands before.
    """

    server: str
    seed: int
    calls: tuple[StressCall, ...]
    skipped: Mapping[str, str]
    unprotected: tuple[str, ...] = ()

    @property
    def corrupted(self) -> list[StressCall]:
        """The calls that were repaired to something else than was meant: each is a finding."""
        return [call for call in self.calls if call.outcome == "corrupted"]

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON: counts by tool, damage and outcome, and the findings in full."""
        tools: dict[str, dict[str, dict[str, int]]] = {}
        for call in self.calls:
            outcomes = tools.setdefault(call.tool, {}).setdefault(call.damage, {})
            outcomes[call.outcome] = outcomes.get(call.outcome, 0) + 1
        return {
            "server": self.server,
            "seed": self.seed,
            "calls": len(self.calls),
            "outcomes": dict(Counter(call.outcome for call in self.calls)),
            "tools": tools,
            "corrupted": [
                {
                    "tool": call.tool,
                    "damage": call.damage,
                    "sent": call.sent,
                    "wanted": list(call.wanted),
                    "got": call.got,
                    "repairs": list(call.repairs),
                }
                for call in self.corrupted
            ],
            "skipped": dict(self.skipped),
            "unprotected": list(self.unprotected),
        }

    @property
    def tried(self) -> list[str]:
        """The tools of which damaged calls were sent."""
        return list(dict.fromkeys(call.tool for call in self.calls))

    @property
    def headline(self) -> str:
        """How much was tried, in one line."""
        tried, skipped = len(self.tried), len(self.skipped)
        if not tried and not skipped:
            return f"Nothing was tested: {self.server} has no tools"
        if not tried and skipped == 1:
            return f"Nothing was tested: the tool {_name(next(iter(self.skipped)))} could not be tried"
        if not tried:
            return f"Nothing was tested: none of {skipped} tools of {self.server} could be tried"
        number = (
            f"{tried} of {tried + skipped} tools" if skipped else "1 tool" if tried == 1 else f"{tried} tools"
        )
        rest = f", {skipped} not (see below)" if skipped else ""
        return f"{len(self.calls)} damaged calls of {self.server}, seed {self.seed}: {number} tried{rest}"

    def in_detail(self) -> RenderableType:
        """The report with a table for each tool."""
        return Group(Text(self.headline), self.by_tool(), *self._sums())

    def by_tool(self) -> RenderableType:
        """A table for each tool: what became of each kind of damage."""
        return Group(*map(self._of_tool, self.tried))

    def _of_tool(self, tool: str) -> RenderableType:
        own = [call for call in self.calls if call.tool == tool]
        counts = Counter((call.damage, call.outcome) for call in own)
        outcomes = [each for each in OUTCOMES if any(call.outcome == each for call in own)]
        return Group(Text(_name(tool), "bold"), _table("damage", counts, outcomes))

    def __rich__(self) -> RenderableType:
        return Group(Text(self.headline), *self._sums())

    def _sums(self) -> Iterator[RenderableType]:
        outcomes = [each for each in OUTCOMES if any(call.outcome == each for call in self.calls)]
        if self.calls:
            yield _table("tool", Counter((call.tool, call.outcome) for call in self.calls), outcomes)
            yield _table("damage", Counter((call.damage, call.outcome) for call in self.calls), outcomes)
        yield from (Text(_finding(call)) for call in self.corrupted)
        for tool, reason in self.skipped.items():
            yield Text(f"not tried: {_name(tool)}")
            yield Padding(Text(reason), (0, 0, 0, 2), expand=False)
        if self.skipped:
            entries = ", ".join(f"{json.dumps(tool)}: [{{...}}]" for tool in list(self.skipped)[:_EXAMPLES])
            yield Text(
                f"To have such tools tried, give arguments that they take, as {{{entries}}}: in a JSON file by "
                "--arguments on the command line, or as arguments= of stress()."
            )
        if self.unprotected:
            yield Text(f"no LenientMiddleware stands before {', '.join(map(_name, self.unprotected))}")

    def __str__(self) -> str:
        console = Console(file=StringIO(), width=_WIDTH, color_system=None, legacy_windows=False)
        with console.capture() as capture:
            console.print(self)
        return capture.get()


def _table(title: str, counts: Counter[tuple[str, Outcome]], outcomes: list[Outcome]) -> Table:
    table = Table(title)
    for outcome in outcomes:
        table.add_column(outcome, justify="right", style="red" if outcome == "corrupted" else None)
    for name in dict.fromkeys(name for name, _ in counts):
        table.add_row(Text(_name(name)), *(str(counts[name, outcome] or "") for outcome in outcomes))
    return table


def _name(tool: str) -> str:
    return shown(tool, _LONGEST)


def _finding(call: StressCall) -> str:
    wanted = " or ".join(map(_short, call.wanted)) or "a refusal"
    rules = ", ".join(call.repairs)
    return (
        f"corrupted {_name(call.tool)}, {call.damage}\n"
        f"  sent   {_short(call.sent)}\n  wanted {wanted}\n  got    {_short(call.got)}\n  by     {rules}"
    )


def _short(value: Any) -> str:
    return cut(json.dumps(value, ensure_ascii=False, default=repr), _LONGEST)
