"""Call every tool of a server with damaged arguments, and report what happened."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import StringIO
from random import Random
from typing import Any, Final, Literal, get_args

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mcp_lenient.rules.policy import Policy
from mcp_lenient.testing.damage import Damaged, damaged
from mcp_lenient.testing.example_arguments import NoValueError, valid_arguments
from mcp_lenient.testing.trial import Attempt, Connection, Sent, ServerOrTool, Trial, identical, in_new_loop
from mcp_lenient.values.display import shown
from mcp_lenient.values.json_values import tokens_of

StressOutcome = Literal[
    "unchanged", "repaired", "normalized", "refused", "forwarded", "answered", "failed", "corrupted"
]
"""What became of a damaged call.

``unchanged``: the tool takes it as it was sent. ``repaired``: the tool gets what it was meant to get.
``normalized``: only what the author declared has changed it. ``refused``: it was not run. ``forwarded``: it
went on as it came, against the published schema. ``answered``: another middleware answered in the tool's
place. ``failed``: the tool ran and failed, though it does not fail on the right call (only where tools are run). ``corrupted``: it was repaired to
something else than was meant, or repaired where no repair could be right.
"""
OUTCOMES: Final[tuple[StressOutcome, ...]] = get_args(StressOutcome)
_LONGEST_LINE: Final = 300
_EXAMPLES: Final = 2
_WIDTH: Final = 120


@dataclass(frozen=True, slots=True)
class StressCall:
    """One damaged call and its outcome.

    Attributes:
        tool: The tool that was called.
        damage: The kind of damage.
        outcome: What happened to it.
        sent: What was sent.
        wanted: The valid calls it may be repaired to; none if every repair is wrong.
        got: What reached the tool; None if nothing did.
        repairs: The rules that repaired it.
        error_code: The envelope's code, if it was refused with one.
    """

    tool: str
    damage: str
    outcome: StressOutcome
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
        seed: The seed of all arguments.
        calls: Every damaged call.
        skipped: Tools that could not be tried, with the reason.
        unprotected: Tools without a LenientMiddleware.
    """

    server: str
    seed: int
    calls: tuple[StressCall, ...]
    skipped: Mapping[str, str]
    unprotected: tuple[str, ...] = ()

    @property
    def corrupted(self) -> list[StressCall]:
        """Return the calls that were repaired to the wrong meaning."""
        return [call for call in self.calls if call.outcome == "corrupted"]

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON: counts by tool, damage and outcome, and each corrupted call in full."""
        tools: dict[str, dict[str, Counter[str]]] = {}
        for call in self.calls:
            tools.setdefault(call.tool, {}).setdefault(call.damage, Counter())[call.outcome] += 1
        return {
            "server": self.server,
            "seed": self.seed,
            "calls": len(self.calls),
            "outcomes": dict(Counter(call.outcome for call in self.calls)),
            "tools": tools,
            "corrupted": [asdict(call) for call in self.corrupted],
            "skipped": dict(self.skipped),
            "unprotected": list(self.unprotected),
        }

    @property
    def tried(self) -> list[str]:
        """Return the tools that got damaged calls."""
        return list(dict.fromkeys(call.tool for call in self.calls))

    @property
    def headline(self) -> str:
        """Summarize in one line what was tried, and how many calls were corrupted."""
        tried, skipped = len(self.tried), len(self.skipped)
        if not tried and not skipped:
            return f"Nothing was tested: {_name(self.server)} has no tools"
        if not tried:
            return f"Nothing was tested: no tool of {_name(self.server)} could be tried"
        number = (
            f"{tried} of {tried + skipped} tools" if skipped else "1 tool" if tried == 1 else f"{tried} tools"
        )
        where = f"{len(self.calls)} damaged calls of {_name(self.server)}, seed {self.seed}"
        return f"{where}: {len(self.corrupted)} corrupted; {number} tried{' (see below)' if skipped else ''}"

    def in_detail(self) -> RenderableType:
        """Return the report with a table for each tool."""
        return Group(Text(self.headline), *map(self._of_tool, self.tried), *self._sums())

    def _of_tool(self, tool: str) -> RenderableType:
        counts = Counter((call.damage, call.outcome) for call in self.calls if call.tool == tool)
        return Group(Text(_name(tool), "bold"), _table("damage", counts))

    def __rich__(self) -> RenderableType:
        return Group(Text(self.headline), *self._sums())

    def _sums(self) -> Iterator[RenderableType]:
        if self.calls:
            yield Text("All tools", "bold")
            yield _table("tool", Counter((call.tool, call.outcome) for call in self.calls))
            yield _table("damage", Counter((call.damage, call.outcome) for call in self.calls))
        yield from (Text(_corruption(call)) for call in self.corrupted)
        for tool, reason in self.skipped.items():
            yield Text(f"not tried: {_name(tool)}")
            yield Padding(Text(shown(reason, 4 * _LONGEST_LINE)), (0, 0, 0, 2), expand=False)
        if self.skipped:
            entries = ", ".join(f"{json.dumps(tool)}: [{{...}}]" for tool in list(self.skipped)[:_EXAMPLES])
            yield Text(
                f"To try these tools, give arguments that they accept, as {{{entries}}}: in a JSON file with "
                "--arguments on the command line, or as arguments= of stress()."
            )
        if self.unprotected:
            names = ", ".join(map(_name, self.unprotected))
            yield Text(f"no LenientMiddleware for {names}: nothing is repaired there")

    def __str__(self) -> str:
        console = Console(file=StringIO(), width=_WIDTH, color_system=None, legacy_windows=False)
        with console.capture() as capture:
            console.print(self)
        return capture.get()


def _table(title: str, counts: Counter[tuple[str, StressOutcome]]) -> Table:
    occurring = {outcome for _, outcome in counts}
    outcomes = [outcome for outcome in OUTCOMES if outcome in occurring]
    table = Table(title)
    for outcome in outcomes:
        table.add_column(outcome, justify="right", style="red" if outcome == "corrupted" else None)
    for name in dict.fromkeys(name for name, _ in counts):
        table.add_row(Text(_name(name)), *(str(counts[name, outcome] or "") for outcome in outcomes))
    return table


def _name(tool: str) -> str:
    return shown(tool, _LONGEST_LINE)


def _corruption(call: StressCall) -> str:
    wanted = " or ".join(map(_short_value, call.wanted)) or "a refusal"
    rules = ", ".join(call.repairs)
    return (
        f"corrupted {_name(call.tool)}, {call.damage}\n"
        f"  sent   {_short_value(call.sent)}\n  wanted {wanted}\n  got    {_short_value(call.got)}\n  by     {rules}"
    )


def _short_value(value: Any, limit: int = _LONGEST_LINE) -> str:
    return shown(json.dumps(value, ensure_ascii=False, default=repr), limit)


_OPTIONAL: Final = (1.0, 0.0, 0.5)
"""The probability of optional parameters, in the first arguments generated for a tool, the second, and so on."""
_AGAIN: Final = 60
"""Number of further arguments to generate for a tool that refuses the first."""
_LONGEST: Final = 200


def stress(
    tool_or_server: ServerOrTool,
    *,
    policy: Policy | None = None,
    seed: int = 0,
    per_tool: int = 3,
    arguments: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    run: bool = False,
    only: Collection[str] = (),
    progress: Callable[[str, float], None] | None = None,
) -> StressReport:
    """Call every tool with arguments damaged as callers damage them, and report what happened to each call.

    Valid arguments are generated from each tool's schema, the same for the same seed. If a tool refuses what its
    schema allows, others are generated; a tool that accepts none of them is not tried but listed in ``skipped``,
    so that you can give ``arguments`` for it. The calls go through the server with all its middleware, and are
    stopped before the tools' bodies. Look at ``corrupted``: calls whose meaning was changed by a repair.

    >>> def store(content: str, tags: list[str] | None = None) -> None: ...
    >>> stress(store).corrupted
    []

    Args:
        tool_or_server: A server, which is tested as it is; or a tool or function, which is tested on a
            server of its own with :class:`mcp_lenient.LenientMiddleware`.
        policy: The policy of a middleware to add in front of the server.
        seed: The seed of the arguments.
        per_tool: Number of valid calls to damage for each tool.
        arguments: Valid arguments by tool, used instead of generated ones.
        run: Whether to run the tools' bodies.
        only: The tools to call; all if empty.
        progress: Called with the current step and the percentage that is done.

    Raises:
        ValueError: When ``per_tool`` is not positive, or ``arguments`` or ``only`` names no tool of the server.
        StressInterrupt: After Ctrl-C, a KeyboardInterrupt with the ``report`` of the calls until then.
    """
    if per_tool < 1:
        msg = f"per_tool must be at least 1, got {per_tool}."
        raise ValueError(msg)
    examples = dict(arguments or {})
    results = _Results(seed)

    async def work() -> None:
        async with Connection(tool_or_server, policy, run=run) as connection:
            results.server = connection.server_name
            names = list(dict.fromkeys(only or (*await connection.tool_names(), *examples)))
            for at, name in enumerate(names):
                async with connection.trial(name) as trial:
                    async for share in results.add(trial, examples.get(name), per_tool):
                        if progress is not None:
                            progress("calling tools", 100 * (at + share) / len(names))

    try:
        in_new_loop(work)
    except KeyboardInterrupt:
        raise StressInterrupt(results.report) from None
    return results.report


class StressInterrupt(KeyboardInterrupt):
    """Ctrl-C has ended a stress run.

    Attributes:
        report: What was found until then.
    """

    def __init__(self, report: StressReport) -> None:
        super().__init__()
        self.report = report


@dataclass(slots=True)
class _Results:
    """What a stress run has found so far."""

    seed: int
    server: str = ""
    calls: list[StressCall] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    unprotected: list[str] = field(default_factory=list)

    @property
    def report(self) -> StressReport:
        return StressReport(self.server, self.seed, tuple(self.calls), self.skipped, tuple(self.unprotected))

    async def add(
        self, trial: Trial, rights: Sequence[Mapping[str, Any]] | None, per_tool: int
    ) -> AsyncIterator[float]:
        """Try one tool with given arguments, or with generated ones; yield the share that is done."""
        name = trial.target.record.name
        if not trial.is_lenient:
            self.unprotected.append(name)
        try:
            examples = await (
                _attempts_of(trial, rights) if rights else _accepted_examples(trial, self.seed, per_tool)
            )
        except NoValueError as error:
            self.skipped[name] = str(error)
            return
        for done, right in enumerate(examples):
            async for call in _stress(trial, right):
                self.calls.append(call)
                yield done / len(examples)


def example_calls(tool: str, schema: Mapping[str, Any], seed: int, count: int) -> list[dict[str, Any]]:
    """Generate distinct valid arguments for a tool, as many as wanted or possible.

    Raises:
        NoValueError: When no valid arguments can be generated from its schema.
    """
    random = Random(f"{seed}:{tool}")  # noqa: S311 - the same calls each time is what is wanted
    calls: list[dict[str, Any]] = []
    for at in range(count):
        optional = _OPTIONAL[min(at, len(_OPTIONAL) - 1)]
        right = valid_arguments(schema, random, optional=optional)
        if right not in calls:
            calls.append(right)
    return calls


async def _attempts_of(trial: Trial, rights: Sequence[Mapping[str, Any]]) -> list[Attempt]:
    """Try example arguments; raise NoValueError if the tool does not accept one of them."""
    attempts = [await trial.attempt(call) for call in rights]
    for attempt in attempts:
        if not _is_accepted(trial, attempt):
            raise NoValueError(_refusal(attempt, "was given"))
    return attempts


async def _accepted_examples(trial: Trial, seed: int, per_tool: int) -> list[Attempt]:
    """Generate arguments that the tool accepts, trying others if it refuses what its schema allows."""
    tool = trial.target.record
    examples = example_calls(tool.name, tool.parameters, seed, per_tool)
    attempts = [await trial.attempt(call) for call in examples]
    accepted = [attempt for attempt in attempts if _is_accepted(trial, attempt)]
    refused = [attempt for attempt in attempts if attempt not in accepted]
    random = Random(f"{seed}:{tool.name}:again")  # noqa: S311 - the same calls each time is what is wanted
    last = refused[0] if refused else None
    for at in range(_AGAIN if refused else 0):
        if len(accepted) >= per_tool:
            break
        other = valid_arguments(tool.parameters, random, optional=_OPTIONAL[at % len(_OPTIONAL)], wide=True)
        attempt = await trial.attempt(other if last is None else _corrected(last, other))
        last = None if _is_accepted(trial, attempt) else attempt
        if last is None and all(attempt.sent != other.sent for other in accepted):
            accepted.append(attempt)
    if refused and not accepted:
        raise NoValueError(_refusal(refused[0], "was made up"))
    return accepted


def _is_accepted(trial: Trial, attempt: Attempt) -> bool:
    """Return whether a call reached the tool as sent, apart from declared normalizers."""
    return attempt.reached is not None and not trial.rules.intersection(step.rule for step in attempt.repairs)


def _corrected(refused: Attempt, other: dict[str, Any]) -> dict[str, Any]:
    """Replace the wrong part of refused arguments by that of others, or everything if no part is named."""
    violations = _details(refused).get("violations", ())
    pointers = [entry["pointer"] for entry in violations] + [repair.pointer for repair in refused.repairs]
    wrong = {tokens_of(place)[0] for place in pointers if place}
    if not wrong or "" in pointers or not isinstance(refused.sent, Mapping):
        return other
    remaining = {name: value for name, value in refused.sent.items() if name not in wrong}
    return remaining | {name: value for name, value in other.items() if name in wrong}


def _refusal(attempt: Attempt, origin: str) -> str:
    sent = _short_value(attempt.sent, _LONGEST)
    return f"the tool does not accept what {origin}, {sent}: {_reason(attempt)}"


def _details(attempt: Attempt) -> Mapping[str, Any]:
    details: Mapping[str, Any] = (attempt.envelope or {}).get("details", {})
    return details


def _reason(attempt: Attempt) -> str:
    """Say on one line why a call was not accepted unchanged."""
    violations = _details(attempt).get("violations", ())
    reason = "; ".join(violation["message"].removesuffix(".") for violation in violations) or attempt.answer
    if attempt.reached is not None:
        reason = f"it is repaired by {', '.join(dict.fromkeys(repair.rule for repair in attempt.repairs))}"
    return shown(reason, _LONGEST)


async def _stress(trial: Trial, right: Attempt) -> AsyncIterator[StressCall]:
    arguments = right.sent if isinstance(right.sent, Mapping) else {}
    for kind, damage in damaged(trial.target.record.parameters, arguments):
        got = await trial.attempt(damage.sent)
        yield StressCall(
            tool=trial.target.record.name,
            damage=kind,
            outcome=await _outcome(trial, right, damage, got),
            sent=damage.sent,
            wanted=damage.wanted,
            got=None if got.reached is None else got.reached.arguments,
            repairs=tuple(repair.rule for repair in got.repairs),
            error_code=None if got.envelope is None else got.envelope["error_code"],
        )


async def _outcome(trial: Trial, right: Attempt, damage: Damaged, got: Attempt) -> StressOutcome:
    reached = got.reached
    if reached is None:
        return "refused" if got.is_error else "answered"
    # If a tool fails on valid arguments, its failure on damaged ones proves nothing.
    if got.ran and got.is_error and not (right.ran and right.is_error):
        return "failed"
    if identical(got.sent, reached.arguments):
        return "unchanged" if trial.validator.accepts(reached.arguments) else "forwarded"
    if any(identical(reached.arguments, wanted) for wanted in damage.wanted):
        return "repaired"
    for wanted in damage.wanted:
        reached_call = await trial.attempt(wanted)
        if reached_call.reached is not None and reached.is_same(reached_call.reached):
            return "repaired"
    only_declared = got.repairs and trial.rules.isdisjoint(repair.rule for repair in got.repairs)
    return "normalized" if only_declared else "corrupted"
