"""The model of a report, which ``mcp-lenient report --format json`` writes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, NonNegativeInt

from mcp_lenient.telemetry.events import EventName, FailureKind, RecordedType
from mcp_lenient.types import ViolationCode

AdviceKind = Literal[
    "declare_alias",
    "parse_json",
    "json_as_text",
    "describe_format",
    "required_parameter",
    "nullable_parameter",
    "drop_unknown",
    "two_readings",
    "refused_most",
    "unknown_tool",
    "too_large",
    "repeated_mistake",
]
"""What an advice is about; a closed set."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Selection(_Part):
    """Which calls to include; all by default."""

    since: datetime | None = None
    """Calls from this moment on."""
    until: datetime | None = None
    """Calls before this moment."""
    tool: str | None = None
    """Calls of this tool; ``*`` matches any text, ``?`` one character."""
    client: str | None = None
    """Calls from clients of this name, written as for ``tool``."""
    server: str | None = None
    """Calls to servers of this name, written as for ``tool``."""


class SkippedFile(_Part):
    """A file found in a folder or by a pattern that is not a log."""

    file: str
    """Its name."""
    reason: str
    """Why it was skipped."""


class LogFigures(_Part):
    """What was read."""

    files: NonNegativeInt
    """How many files, standard input among them."""
    lines: NonNegativeInt
    """How many lines that are not blank."""
    events: NonNegativeInt
    """How many of them are events."""
    foreign: NonNegativeInt
    """How many are not: they are another program's, or cut off."""
    undated: NonNegativeInt
    """How many events have no readable time; they are left out of the timeline only."""
    tables: NonNegativeInt = 0
    """How many tables of a database."""
    stdin: bool = False
    """Whether standard input is one of the files."""
    cut_files: NonNegativeInt = 0
    """How many compressed files end too early; they were read up to that point."""
    skipped: tuple[SkippedFile, ...] = ()
    """Which files were not read, or are Parquet files of other programs."""


class Period(_Part):
    """One step of time."""

    start: datetime
    """Its first moment, UTC."""
    outcomes: Mapping[EventName, int]
    """The number of calls by outcome."""


class Timeline(_Part):
    """Outcomes over time."""

    seconds: NonNegativeInt = 0
    """The length of a step; 0 if no event has a time."""
    periods: tuple[Period, ...] = ()
    """The steps in order, those without a call left out."""


class ToolFigures(_Part):
    """One tool."""

    tool: str
    """The name by which it was called."""
    calls: NonNegativeInt
    """Logged calls."""
    outcomes: Mapping[EventName, int]
    """The number of calls by outcome."""
    failed: NonNegativeInt
    """Calls that no rule could repair: refused, forwarded as they came, or failed behind a proxy."""
    error_codes: Mapping[str, int]
    """The most frequent codes of those, most frequent first."""


class FaultFigures(_Part):
    """One reason why calls came to nothing."""

    fault: FailureKind
    """The reason; ``loop`` for a call that was refused before, whatever is wrong in it."""
    calls: NonNegativeInt
    """Logged calls."""
    tools: Mapping[str, int]
    """The tools that were called most, most frequent first."""
    clients: Mapping[str, int]
    """The clients that sent most, likewise; those without a name are left out."""
    models: Mapping[str, int] = {}
    """The models that sent most, where the events name them."""


class UnknownTool(_Part):
    """A called name that no tool has."""

    tool: str
    """The name."""
    calls: NonNegativeInt
    """Logged calls."""
    clients: NonNegativeInt
    """From how many clients."""


class ParameterFigures(_Part):
    """One place in a tool's arguments."""

    tool: str
    """The tool."""
    place: str
    """JSON Pointer, with ``*`` for the index of a list."""
    failed: NonNegativeInt
    """Calls that were wrong here and could not be repaired."""
    codes: Mapping[ViolationCode, int]
    """What was wrong, most frequent first."""
    received: Mapping[RecordedType, int]
    """The JSON types that were received, if the log has them."""
    repaired: NonNegativeInt
    """Calls that were repaired here."""
    clients: NonNegativeInt
    """How many clients failed here."""


class RuleFigures(_Part):
    """One rule."""

    rule: str
    """Its name, which says what becomes what."""
    repairs: NonNegativeInt
    """How often it was used."""
    tools: NonNegativeInt
    """Of how many tools."""
    clients: NonNegativeInt
    """From how many clients."""


class ClientFigures(_Part):
    """One client in one version, as it names itself."""

    client: str | None
    """Its name."""
    version: str | None
    """Its version."""
    calls: NonNegativeInt
    """Logged calls."""
    outcomes: Mapping[EventName, int]
    """The number of calls by outcome."""
    failed: NonNegativeInt
    """Calls that no rule could repair."""
    error_codes: Mapping[str, int]
    """The most frequent codes of those."""


class Cell(_Part):
    """One tool as one client calls it."""

    tool: str
    client: str | None
    calls: NonNegativeInt
    """Logged calls."""
    failed: NonNegativeInt
    """Calls that no rule could repair."""


class RepeatedMistake(_Part):
    """One caller that sends the same wrong call again and again."""

    subject: str | None
    """The authenticated subject; null if callers are distinguished by client and version alone."""
    client: str | None
    version: str | None
    tool: str
    error_code: str | None
    places: tuple[str, ...]
    """Where it was wrong."""
    times: NonNegativeInt
    """How often."""
    first: datetime | None
    last: datetime | None


class Unrepaired(_Part):
    """One kind of error that no rule could repair."""

    tool: str
    error_code: str | None
    code: ViolationCode | None
    """What was wrong at the place; null if the call as a whole was wrong."""
    place: str | None
    calls: NonNegativeInt
    clients: NonNegativeInt


class Advice(_Part):
    """One thing to do, with the evidence for it."""

    kind: AdviceKind
    """What it is about."""
    calls: NonNegativeInt
    """The number of calls behind it."""
    text: str
    """The advice, in one or two sentences."""
    tool: str | None = None
    parameter: str | None = None
    client: str | None = None
    python: str | None = None
    """The declaration at the tool, if there is one."""
    definition: str | None = None
    """The same in a YAML definitions file, below ``tools:``."""


class Report(_Part):
    """The summary of a log.

    Every list starts with the most frequent entry and has at most the requested number; ``found`` has the total
    numbers. Names come from clients: they are on one line, printable and bounded, but otherwise untrusted.
    """

    report_version: Literal[1] = 1
    """The version of this model."""
    made: datetime
    """When the report was made."""
    selection: Selection
    log: LogFigures
    calls: NonNegativeInt
    """The number of selected events."""
    first: datetime | None
    """The time of the earliest one."""
    last: datetime | None
    outcomes: Mapping[EventName, int]
    """The number of calls by outcome."""
    timeline: Timeline
    tools: tuple[ToolFigures, ...]
    faults: tuple[FaultFigures, ...] = ()
    """Why calls came to nothing."""
    unknown_tools: tuple[UnknownTool, ...] = ()
    """Called names that no tool has; they are not in ``tools``."""
    parameters: tuple[ParameterFigures, ...]
    rules: tuple[RuleFigures, ...]
    clients: tuple[ClientFigures, ...]
    cells: tuple[Cell, ...]
    """The tools and clients above, by each other."""
    repeated: tuple[RepeatedMistake, ...]
    unrepaired: tuple[Unrepaired, ...]
    found: Mapping[str, int]
    """How many tools, faults, unknown tools, parameters, rules, clients, repeated and unrepaired mistakes there are in all."""
    advice: tuple[Advice, ...]
