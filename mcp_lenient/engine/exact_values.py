"""Find repairs of values that the caller has to send exactly: the only allowed value, or a scalar at a strict field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from mcp_lenient.schema.node import Node, children
from mcp_lenient.types import Path, Validator
from mcp_lenient.values.json_values import json_type
from mcp_lenient.values.patches import with_value

if TYPE_CHECKING:
    from mcp_lenient.engine.reader import ReadingStep

_MAX_PLACES: Final = 16
"""Places, without their indexes, at which other values are tried; more are not."""
_MAX_LISTED: Final = 64
_DISTANCES: Final = (1, 2, 3, 5, 10, 60, 100)
"""How far the other numbers are from the repaired one, beside its own size and the schema's ``multipleOf``."""
_LITERAL: Final = re.compile(r"\^?(?:\w|[ -]|\\[.-])*\$?")
"""A pattern without any choice."""


_SCALARS: Final = (str, int, float, type(None))


def strict_fields(steps: Iterable[ReadingStep], validator: Validator) -> set[Path]:
    """Return the paths of scalars whose JSON type a repair changes at a field that its author made strict."""
    if validator.by_schema:
        return set()
    changed = (
        step.result_path
        for step in steps
        if isinstance(step.sent, _SCALARS) and isinstance(step.value, _SCALARS) and step.changes_value
        if step.result_path and json_type(step.sent) != json_type(step.value)
    )
    return {path for path in changed if validator.is_strict_at(path)}


def only_values(
    top: Node, steps: Iterable[ReadingStep], arguments: Mapping[str, Any], validator: Validator
) -> set[Path]:
    """Return the paths of repaired scalars in whose place the tool accepts no other value.

    Where the schema says no more than a type, and validation runs no code of the author, any value is accepted.
    """
    scalars: dict[tuple[str | None, ...], tuple[Path, Any]] = {}
    for step in steps:
        is_scalar = step.result_path and step.changes_value and isinstance(step.value, (str, int, float))
        if is_scalar and (validator.runs_code or _says_more_than_types(top, step.result_path)):
            pattern = tuple(part if isinstance(part, str) else None for part in step.result_path)
            scalars.setdefault(pattern, (step.result_path, step.value))
    first = list(scalars.values())[:_MAX_PLACES]
    return {path for path, value in first if _is_only(top, path, value, arguments, validator)}


def _is_only(top: Node, path: Path, value: Any, arguments: Mapping[str, Any], validator: Validator) -> bool:
    parents = [top]
    for part in path[:-1]:
        parents = children(parents, part)
    if any(node.discriminator is not None and node.discriminator.name == path[-1] for node in parents):
        return False  # a tag only says which branch is meant
    branches = [branch for node in children(parents, path[-1]) for branch in node.branches]
    others = list(_other_values(branches, value))
    return bool(others) and not any(validator.accepts(with_value(arguments, path, other)) for other in others)


def _says_more_than_types(top: Node, path: Path) -> bool:
    """Return whether a schema may refuse other values of the right type at a place, itself or in what the place is in."""
    node = top
    for part in path:
        child = None if node.is_union or not node.valid_if_parts_are else node.child(part)
        if child is None:
            return True
        node = child
    return not all(branch.valid_if_parts_are for branch in node.branches)


def _other_values(branches: Sequence[Node], value: Any) -> Iterator[Any]:
    """Yield other values for a place, one of which is accepted unless the value is the only one; none for free text."""
    if isinstance(value, bool):
        yield not value
    listed = [member for branch in branches for member in branch.enum or ()]
    yield from (member for member in listed[:_MAX_LISTED] if member not in (value, None, ""))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        steps = (step for branch in branches for step in branch.values_of("multipleOf"))
        distances = {*_DISTANCES, abs(value), *steps} - {0}
        yield from (other for step in distances for other in (value - step, value + step))
    if isinstance(value, str) and not listed:
        patterns = (pattern for branch in branches for pattern in branch.values_of("pattern"))
        yield from (f"{value}x" for pattern in patterns if _LITERAL.fullmatch(pattern))
