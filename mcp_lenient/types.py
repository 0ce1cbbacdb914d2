"""The public types: validation faults, repairs, outcomes and violations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

JsonType = Literal["string", "number", "integer", "boolean", "array", "object", "null"]
"""The JSON type names of JSON Schema; ``integer`` is an ``int`` in Python, ``number`` a ``float``."""

Path = tuple[str | int, ...]
"""The path of a value in the arguments: property names and list indices from the top."""

FaultKind = Literal["type", "value", "missing", "unknown", "overlooked", "key", "ambiguous", "size"]
"""The kind of a fault: a wrong JSON type, a wrong value, a missing, unknown or ignored (``overlooked``) name, a wrong
key of a map, a value with several readings, or arguments that are too large."""

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
    """One change made to the arguments.

    ``rule`` is the rule's name, ``pointer`` the JSON Pointer (RFC 6901) of the sent value, ``before`` and ``after`` are
    JSON types; ``after`` is ``"absent"`` for an omitted property. Values are never included.
    """

    rule: str
    pointer: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault that a validator reports.

    ``path`` leads to the value; for ``missing``, ``unknown``, ``overlooked`` and ``key`` its last element is the name.
    ``detail`` is the tool author's own sentence (a validator's ``ValueError``), when there is one, and
    ``error_code`` the code that the author gave it (a :class:`mcp_lenient.NormalizationError`). ``reason``
    says in this library's words what is wrong, without the value. ``expected_types`` are the author's too.
    ``keyword`` is that of the schema which the value breaks, ``node`` its place in the schema, and ``bound`` what the
    keyword says. ``readings`` are those of an ambiguous value. ``alternatives`` are the faults by each branch of a union, if
    no branch is likelier than another, or of a key, by the schema of keys.
    """

    path: Path
    kind: FaultKind
    detail: str | None = None
    error_code: str | None = None
    reason: str | None = field(default=None, compare=False)
    expected_types: tuple[str, ...] = field(default=(), repr=False)
    keyword: str | None = field(default=None, compare=False)
    bound: Any = field(default=None, compare=False, repr=False)
    node: Any = field(default=None, compare=False, repr=False)
    readings: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    alternatives: tuple[Sequence[Fault], ...] = field(default=(), compare=False, repr=False)

    @property
    def of_name(self) -> bool:
        """Whether a name is wrong, and not the value of an existing one."""
        return self.kind in ("missing", "unknown", "key")

    @property
    def place(self) -> Path:
        """The path of the wrong value; for a name, that of its object."""
        return self.path[:-1] if self.of_name else self.path


Status = Literal["accepted", "repaired", "refused"]
"""The status of a decision."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of repairing one call's arguments.

    Attributes:
        status: Whether the arguments are valid unchanged, valid once repaired, or refused.
        arguments: The same object if ``accepted`` and the repaired ones if ``repaired``. If ``refused``, they include
            every certain repair.
        repairs: The changes made.
        faults: What is still wrong with refused arguments.
    """

    status: Status
    arguments: Mapping[str, Any]
    repairs: tuple[Repair, ...] = ()
    faults: tuple[Fault, ...] = ()


class Validator(Protocol):
    """A check of a tool's arguments that does not run the tool."""

    @property
    def exact_integers(self) -> bool:
        """Whether ``7.0`` is refused for an integer (Pydantic's strict mode does, JSON Schema does not)."""

    @property
    def by_schema(self) -> bool:
        """Whether only the published schema is checked, so that each part can be checked on its own."""

    @property
    def runs_code(self) -> bool:
        """Whether it runs code of the tool's author, which may refuse what the schema accepts."""

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the tool accepts these arguments."""

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        """Return all faults; empty if the arguments are accepted."""

    def is_strict_at(self, path: Path) -> bool:
        """Return whether the author said of a scalar's place that its JSON type may not be changed."""

    def distinguishes(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Return whether the tool receives different values from the two, as far as that is known."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A fault, or faults that are alike, with a message that a model can act on.

    Alike are faults of one kind at places that differ in list indices only; ``pointer`` leads to the first.

    ``fixes`` are JSON Patches (RFC 6902), likeliest first, three at most; with each, the validator accepts the call or,
    if the call has other faults, this parameter. ``error_code`` is the author's code, if a normalizer gave one.
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
    """The result of :func:`mcp_lenient.normalize`.

    ``arguments`` are the repaired arguments if ``violations`` is empty, else the sent ones.
    """

    arguments: Mapping[str, Any]
    repairs: tuple[Repair, ...]
    violations: tuple[Violation, ...]
