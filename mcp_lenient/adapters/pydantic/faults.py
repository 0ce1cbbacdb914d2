"""Convert Pydantic's errors to validation faults, with paths in the arguments and reasons without values."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from pydantic_core import ErrorDetails, PydanticSerializationError, ValidationError

from mcp_lenient.declare.normalizers.annotation import ERROR_TYPE
from mcp_lenient.types import Fault, FaultKind, Path
from mcp_lenient.values.display import in_json
from mcp_lenient.values.json_values import json_type
from mcp_lenient.values.language import ONE_OF_A_TYPE, Text, marked
from mcp_lenient.values.limits import MOST_FAULTS
from mcp_lenient.values.patches import REMOVED, entries, value_at

_WORDS: Mapping[str, str] = {
    "decimal_parsing": marked('write a number in digits, like 12.5 or "12.50"'),
    **dict.fromkeys(("date_past", "datetime_past"), marked("it must be in the past")),
    **dict.fromkeys(("date_future", "datetime_future"), marked("it must be in the future")),
    "date_from_datetime_inexact": marked("write the date only, without a time"),
    "timezone_naive": marked("write it without a time zone"),
    "timezone_aware": marked("write it with a time zone, such as a final Z"),
    "url_scheme": marked("the scheme must be {expected_schemes}"),
    **dict.fromkeys(("json_invalid", "json_type"), marked('it must be JSON text, such as "[1, 2]"')),
}
"""Reasons that no keyword of JSON Schema expresses, by Pydantic's error type."""
_TYPES: Mapping[str, str] = {
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "string": "string",
    **dict.fromkeys(("list", "set", "frozen_set", "tuple"), "array"),
    **dict.fromkeys(("dict", "model", "dataclass"), "object"),
    "none": "null",
}
"""JSON types of Pydantic's types, by the prefix of its error types."""
_LIMITS_OF_KEYS: Mapping[str, tuple[str, str]] = {
    "greater_than_equal": ("be at least {bound}", "ge"),
    "greater_than": ("be greater than {bound}", "gt"),
    "less_than_equal": ("be at most {bound}", "le"),
    "less_than": ("be less than {bound}", "lt"),
    "multiple_of": ("be a multiple of {bound}", "multiple_of"),
    "string_pattern_mismatch": ("match the pattern {bound}", "pattern"),
}
"""What a map's keys must be, by Pydantic's error type; published schemas seldom include it."""
_TYPE = re.compile(r"([a-z_]+)_(?:type|parsing)")
_OUTSIDE = re.compile(r"\w+ value is outside expected range.*")
_TIMES = (
    "date_parsing date_from_datetime_parsing datetime_parsing datetime_from_date_parsing time_parsing".split()
)


def reason_of(code: str, context: Mapping[str, Any], sent: object = None) -> Text | None:
    """Return the reason why a value is refused; None if the error type alone does not help a caller.

    Only known texts of Pydantic's context are used, as others quote the value; ``given`` is the value, whose type is
    left out of the reason if it is right already.
    """
    if code in _WORDS:
        return _with_context(_WORDS[code], context)
    error = str(context.get("error", ""))
    if code in _TIMES:
        return Text("it is no date or time that exists") if _OUTSIDE.fullmatch(error) else None
    if code == "url_parsing":
        return Text("write a URL with its scheme") if error == "relative URL without a base" else None
    named = _expected_type(code)
    if named is None or named == json_type(sent):
        return None
    return Text("it must be {thing}", thing=Text(ONE_OF_A_TYPE[named]))


def _expected_type(code: str) -> str | None:
    """Return the JSON type that a value lacks, by Pydantic's error type."""
    kind = _TYPE.fullmatch(code)
    return None if kind is None else _TYPES.get(kind[1])


def key_reason(code: str, context: Mapping[str, Any]) -> Text | None:
    """Return the expected key of a map; None if the error type does not determine it."""
    named = _expected_type(code)
    if code in _LIMITS_OF_KEYS:
        words, bound = _LIMITS_OF_KEYS[code]
        demand = Text(words, bound=in_json(context[bound]))
    elif named is not None:
        demand = Text("be {thing}", thing=Text(ONE_OF_A_TYPE[named]))
    elif code in ("literal_error", "enum"):
        demand = Text("be {thing}", thing=context["expected"])
    else:
        return reason_of(code, context)
    return Text("a key must {requirement}", requirement=demand)


def _with_context(words: str, context: Mapping[str, Any]) -> Text:
    """Return a reason with the entries of Pydantic's context that it names, and no others."""
    return Text(words, **{name: context[name] for name in _PLACEHOLDER.findall(words)})


_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


_CODES: Mapping[FaultKind, str] = {
    "missing": "missing missing_argument missing_keyword_only_argument missing_positional_only_argument",
    "unknown": "unexpected_keyword_argument extra_forbidden invalid_key",
    "size": "recursion_loop",
    "type": "int_parsing_size int_from_float is_instance_of is_subclass_of needs_python_object none_required",
}
_KINDS: Final = {code: kind for kind, codes in _CODES.items() for code in codes.split()}
"""Kinds of Pydantic's error types that are not evident from the name; all others are values."""
_AUTHORS_PREFIX = {"value_error": "Value error, ", "assertion_error": "Assertion failed, "}
_PROPERTY = re.compile(r"'([^']+)'")
_MAX_WALKS = 64
_KEY_MARK = "[key]"
_ANY = object()


def faults_of(error: ValidationError, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
    """Return the faults of a call; with very many errors, one fault per parameter.

    Pydantic returns either all its errors or none, and hundreds of thousands of them would be slow.
    """
    if error.error_count() <= MOST_FAULTS:
        details = error.errors(include_url=False)
        return ordered([_fault(detail, arguments) for detail in details], arguments)
    faults: dict[Fault, None] = {}
    for detail in error.errors(include_url=False, include_input=False, include_context=False):
        loc = detail["loc"]
        kind = _kind(detail["type"], loc) if len(loc) == 1 else "type"
        faults[Fault(loc[:1], kind)] = None
    return ordered(faults, arguments)


def _fault(error: ErrorDetails, arguments: Mapping[str, Any]) -> Fault:
    """Return the fault of one error; without a reason in a union branch, since other branches have other reasons."""
    code, loc, sent = error["type"], error["loc"], error["input"]
    kind = _kind(code, loc)
    if kind == "missing":
        return Fault((*_path(arguments, loc[:-1], sent), *loc[-1:]), kind)
    if code == "invalid_key":
        return Fault(loc, kind)
    if loc and loc[0] not in arguments:
        return Fault(loc[:1], "missing")  # a default that is invalid: a value has to be sent
    if code == ERROR_TYPE:
        details = error["ctx"]
        kind = "type" if details["code"].endswith("_TYPE") else "value"
        fault = Fault(_path(arguments, loc, sent), kind, details["message"], details["code"])
        return replace(fault, expected_types=tuple(details["expected_types"]))
    prefix, context = _AUTHORS_PREFIX.get(code), error.get("ctx", {})
    detail = error["msg"].removeprefix(prefix) if prefix else None
    keyed = _key_path(arguments, loc, sent) if _KEY_MARK in loc else None
    if keyed is not None:
        return Fault(keyed, "key", detail, reason=key_reason(code, context) if loc[-1] == _KEY_MARK else None)
    if code.startswith("union_tag_"):
        return _tag_fault(_path(arguments, loc, sent), sent, context["discriminator"])
    path = _path(arguments, loc, sent)
    of_branch = not path or loc[-1] != path[-1]
    return Fault(path, kind, detail, reason=None if of_branch else reason_of(code, context, sent))


def _key_path(arguments: Mapping[str, Any], loc: Path, sent: object) -> Path | None:
    """Return the path of a map entry whose key has an error; union branches follow the mark in ``loc``."""
    for index in (index for index in range(len(loc) - 1, 0, -1) if loc[index] == _KEY_MARK):
        path = _path(arguments, loc[:index], _ANY)
        if path and (index == len(loc) - 1 or path[-1] == sent):
            return path
    return None


def _kind(code: str, loc: Path) -> FaultKind:
    if code == "json_invalid" and not loc:
        return "size"  # strict servers validate JSON text, whose parser has its own limits
    is_type = code.endswith("_type") or _expected_type(code) is not None
    return _KINDS.get(code) or ("type" if is_type else "value")


def _tag_fault(path: Path, sent: object, discriminator: str) -> Fault:
    """Return the fault of a discriminated union, at the discriminator if that is a property."""
    name = _PROPERTY.fullmatch(discriminator)
    if name is None or not isinstance(sent, dict):
        return Fault(path, "value")
    return Fault((*path, name[1]), "value" if name[1] in sent else "missing")


def _path(arguments: Mapping[str, Any], loc: Path, sent: object) -> Path:
    """Return the path in the arguments for a ``loc``.

    A ``loc`` also contains union branches and validators, whose names may be those of properties; the right path is the
    one that ends at the value of the error.
    """
    walks = islice(_walks(arguments, loc), _MAX_WALKS)
    straight, end = next(walks)
    if _same(end, sent):
        return straight
    return next((path for path, end in walks if _same(end, sent)), straight)


def _same(here: object, sent: object) -> bool:
    try:
        return here is sent or (type(here) is type(sent) and here == sent)
    except RecursionError:
        return False


def _walks(arguments: Mapping[str, Any], loc: Path) -> Iterator[tuple[Path, Any]]:
    pending: list[tuple[Any, int, Path]] = [(arguments, 0, ())]
    while pending:
        here, at, path = pending.pop()
        if at == len(loc):
            yield path, here
            continue
        pending.append((here, at + 1, path))
        below = value_at(here, loc[at : at + 1])
        if below is not REMOVED:
            pending.append((below, at + 1, (*path, loc[at])))


def ordered(faults: Collection[Fault], arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
    """Return the faults, each once, in the order of the arguments, missing names last."""
    unique = dict.fromkeys(faults)
    positions = {step(name): index for index, name in enumerate(arguments)}

    def place(fault: Fault) -> tuple[bool, int]:
        return fault.kind == "missing", positions.get(fault.path[0], -1) if fault.path else -1

    return tuple(sorted(unique, key=place))


def step(name: object) -> str | int:
    """Return a name as a step of a path."""
    return name if isinstance(name, (str, int)) else str(name)


_SURROGATE: Final = re.compile("[\\ud800-\\udfff]")
_NO_CHARACTER: Final = Text("it contains half of a surrogate pair, which is not a character")


def unwritable(error: ValueError | RecursionError, arguments: Mapping[str, Any]) -> Fault:
    """Return the fault of arguments that a strict server cannot write as JSON: depth or a lone surrogate."""
    if not isinstance(error, PydanticSerializationError) or "surrogate" not in str(error):
        return Fault((), "size")
    waiting: list[tuple[Path, Any]] = [((), arguments)]
    for path, value in waiting:
        if isinstance(value, str) and _SURROGATE.search(value):
            return Fault(path, "value", reason=_NO_CHARACTER)
        waiting += [((*path, step(key)), entry) for key, entry in entries(value)]
    return Fault((), "value", reason=_NO_CHARACTER)
