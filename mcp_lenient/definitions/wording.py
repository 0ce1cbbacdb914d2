"""What Pydantic holds against a definitions file, in words for whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from mcp_lenient.definitions.entries import (
    FileEntry,
    LimitsEntry,
    ParameterEntry,
    PolicyEntry,
    ServerPolicyEntry,
    TagsEntry,
    ToolEntry,
)
from mcp_lenient.definitions.fault import Fault
from mcp_lenient.definitions.names import did_you_mean
from mcp_lenient.redaction import cut, in_json, short_scalar
from mcp_lenient.types import Path
from mcp_lenient.values import json_type

MAX_WORDS = 300

_ANY = "*"
_FIELDS: Mapping[Path, type[BaseModel]] = {
    (): FileEntry,
    ("policy",): ServerPolicyEntry,
    ("policy", "limits"): LimitsEntry,
    ("tools", _ANY): ToolEntry,
    ("tools", _ANY, "policy"): PolicyEntry,
    ("tools", _ANY, "policy", "limits"): LimitsEntry,
    ("tools", _ANY, "parameters", _ANY): ParameterEntry,
    ("tools", _ANY, "parameters", _ANY, "tags"): TagsEntry,
}
_WANTED: Mapping[str, str] = {
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "dict_type": "must be a mapping of names",
    "model_type": "must be a mapping of names",
}
_QUOTABLE = (bool, int, float)


def place_of(details: ErrorDetails) -> Path:
    """The place in the file that an error is about."""
    return tuple(part for part in details["loc"] if part != "[key]")


def errors_beside(error: ValidationError, known: Sequence[Fault]) -> list[ErrorDetails]:
    """The single errors, but for those about a value that could not be read to begin with."""
    unread = {fault.path for fault in known if not fault.read}
    around = {path[:end] for path in unread for end in range(len(path))}
    return [
        details
        for details in error.errors(include_url=False)
        if (path := place_of(details)) not in around
        and unread.isdisjoint(path[:end] for end in range(len(path) + 1))
    ]


def fault_of(details: ErrorDetails) -> Fault:
    """An error in words."""
    path = place_of(details)
    return Fault(path, _words(details, path))


def _words(details: ErrorDetails, path: Path) -> str:
    if details["type"] == "extra_forbidden":
        return _unknown_field(path)
    if details["type"] == "string_too_short":
        return "must not be empty."
    if details["type"] == "value_error":
        return cut(details["msg"].removeprefix("Value error, "), MAX_WORDS)
    wanted = _WANTED.get(details["type"]) or details["msg"].replace("Input should be", "must be")
    sent = details["input"]
    got = in_json(sent) if short_scalar(sent) else f"of type {json_type(sent)}"
    quote = " Put it in quotes." if details["type"] == "string_type" and isinstance(sent, _QUOTABLE) else ""
    return f"{wanted}, not {got}.{quote}"


def _unknown_field(path: Path) -> str:
    names = _fields_at(path[:-1])
    meant = did_you_mean(str(path[-1]), names)
    return f"there is no such field{meant} Allowed are {_listed(names)}."


def _fields_at(path: Path) -> list[str]:
    return next(
        (list(model.model_fields) for pattern, model in _FIELDS.items() if _matches(path, pattern)), []
    )


def _matches(path: Path, pattern: Path) -> bool:
    return len(path) == len(pattern) and all(
        want in (_ANY, part) for part, want in zip(path, pattern, strict=True)
    )


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(f"'{name}'" for name in names)
