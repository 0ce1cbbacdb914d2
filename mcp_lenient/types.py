"""The public vocabulary: what a validator says, what a repair records, what a caller is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

JsonType = Literal["string", "number", "integer", "boolean", "array", "object", "null"]
"""The JSON type names of JSON Schema; ``integer`` is an ``int`` in Python, ``number`` a ``float``."""

Path = tuple[str | int, ...]
"""Where a value stands in the arguments: property names and list indices from the top."""

FaultKind = Literal["type", "value", "missing", "unknown", "overlooked", "key", "size"]
"""What is held against a place: its JSON type, its value, a name that lacks, is too many or would not be read, a
map's key."""

ViolationCode = Literal[
    "type",
    "enum",
    "value",
    "range",
    "length",
    "pattern",
    "format",
    "missing",
    "unknown",
    "ambiguous",
    "size",
]
"""The closed set of codes a violation carries."""


class Repair(NamedTuple):
    """One change that was made to the arguments.

    ``rule`` says what became what, ``pointer`` is the JSON Pointer (RFC 6901) of the value as it was
    sent, ``before`` and ``after`` are JSON types; ``after`` is ``"absent"`` where a property was left
    out. Values are never part of it.
    """

    rule: str
    pointer: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ValidationIssue:
    """One thing a validator does not accept.

    ``path`` leads to the value; for ``missing``, ``unknown``, ``overlooked`` and ``key`` its last element is the name.
    ``detail`` is the tool author's own sentence (a validator's ``ValueError``), when there is one, and
    ``error_code`` the code that the author gave it (a :class:`mcp_lenient.NormalizationError`). ``reason``
    says in our words what is wrong, and holds nothing of the value. ``expected_types`` are the author's too.
    """

    path: Path
    kind: FaultKind
    detail: str | None = None
    error_code: str | None = None
    reason: str | None = field(default=None, compare=False)
    expected_types: tuple[str, ...] = field(default=(), repr=False)


class Validator(Protocol):
    """What a tool accepts, asked without running it."""

    @property
    def exact_integers(self) -> bool:
        """Whether ``7.0`` is refused for an integer (Pydantic's strict mode does, JSON Schema does not)."""
        ...

    @property
    def by_schema(self) -> bool:
        """Whether it judges by the published schema alone, so that each place can be judged by its part."""
        ...

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the tool would take these arguments."""
        ...

    def issues(self, arguments: Mapping[str, Any]) -> tuple[ValidationIssue, ...]:
        """All that is wrong; empty when the arguments are accepted."""
        ...

    def tells_apart(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Whether the tool would get something else from the one than from the other, as far as can be told."""
        ...


class Candidate(NamedTuple):
    """One way to read a value: the value, what it cost, and what was changed to get there."""

    value: Any
    cost: int
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True, slots=True)
class Tie:
    """A place whose best readings cost the same, so that none may be chosen."""

    path: Path
    readings: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one call's arguments.

    ``arguments`` are the same object when ``accepted``; the repaired ones when ``repaired``; when
    ``refused`` they carry the repairs of all parameters that could be mended, and ``issues`` and
    ``ties`` speak of what is still wrong in them.
    """

    status: Literal["accepted", "repaired", "refused"]
    arguments: Mapping[str, Any]
    repairs: tuple[Repair, ...] = ()
    issues: tuple[ValidationIssue, ...] = ()
    ties: tuple[Tie, ...] = ()


@dataclass(frozen=True, slots=True)
class Violation:
    """One issue, put into words a model can act on.

    ``fixes`` are JSON Patches (RFC 6902), likeliest first, three at most, each of which the validator
    accepts for the whole call or, where the call has other issues, for this parameter. ``error_code``
    is the author's own, where a normalizer gave one.
    """

    pointer: str
    parameter: str | None
    code: ViolationCode
    message: str
    received_type: str | None = None
    expected_types: tuple[str, ...] = ()
    received_value: Any = None
    has_received_value: bool = False
    did_you_mean: tuple[str, ...] = ()
    allowed_values: tuple[Any, ...] = ()
    fixes: tuple[tuple[Mapping[str, Any], ...], ...] = field(default=())
    error_code: str | None = None


@dataclass(frozen=True, slots=True)
class Normalized:
    """What :func:`mcp_lenient.normalize` returns.

    ``arguments`` are the repaired arguments when ``violations`` is empty, else the arguments as sent.
    """

    arguments: Mapping[str, Any]
    repairs: tuple[Repair, ...]
    violations: tuple[Violation, ...]
