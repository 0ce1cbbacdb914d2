"""Names that a tool would overlook: no call is made to run with a part of it unheard.

An open object takes any key, and a tool that does not know ``dryRun`` runs as if nobody had asked for
``dry_run``. Who sends such a call has it from the tool alone; but a call that runs only because it was
repaired must carry all that it was sent with. Whether ``dryRun`` is ``dry_run`` or a name of the caller's
own nobody can tell in an open object (there are tools whose schema misspells what they read), so such a call
is refused, and the declared name is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from mcp_lenient.naming import undeclared
from mcp_lenient.plan import Node
from mcp_lenient.pointers import pointer
from mcp_lenient.reading import fits
from mcp_lenient.types import Judge, Path, Repair
from mcp_lenient.values import same_json

_MOST = 16
"""Names of one call that are looked at: nobody slips that often."""

_ODD: Final = {"\x00": [None]}
"""A value that hardly any type takes: where it makes no difference, nobody reads the name it stands under."""


def overlooked(
    top: Node, arguments: Mapping[str, Any], judge: Judge, repairs: Collection[Repair] = ()
) -> tuple[Path, ...]:
    """The paths of undeclared keys that are a declared name in another spelling, and that nobody reads.

    So is a key whose value was made to fit what any undeclared key must be: it would fit the declared name too.

    Args:
        top: Where the arguments stand.
        arguments: Arguments that the judge accepts.
        judge: What the tool accepts; a name that its validator knows (Pydantic's aliases) is not overlooked.
        repairs: What was changed in the arguments.
    """
    found = []
    changed = {repair.pointer for repair in repairs}
    for path in _lookalikes(top, arguments, ()):
        if pointer(path) in changed or not judge.faults(_with(arguments, path, _ODD)):
            found.append(path)
        if len(found) == _MOST:
            break
    return tuple(found)


def _lookalikes(node: Node, value: Any, path: Path) -> Iterator[Path]:
    if node.is_union:
        taking = node.taking(value)
        found = [
            frozenset(_lookalikes(branch, value, path))
            for branch in taking or [branch for branch in node.branches if fits(branch, value)]
        ]
        if found:
            yield from sorted(frozenset.intersection(*found), key=str)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            if isinstance(entry, (dict, list)):
                yield from _lookalikes(node.item(index, mixed=False), entry, (*path, index))
    elif isinstance(value, Mapping):
        yield from ((*path, key) for key in undeclared(node, value) if _is_spelling(node, value, key))
        for key, entry in value.items():
            child = node.property(key) if isinstance(entry, (dict, list)) else None
            if child is not None:
                yield from _lookalikes(child, entry, (*path, key))


def _is_spelling(node: Node, value: Mapping[str, Any], key: str) -> bool:
    """Whether a key is a declared name in another spelling, and says something that this name does not."""
    for spelling in node.spellings:
        name = spelling(key, node.shape.properties, value[key])
        if name is not None:
            return name not in value or not same_json(value[name], value[key])
    return False


def _with(container: Any, path: Path, value: Any) -> Any:
    """The arguments with another value at a path."""
    if not path:
        return value
    changed: Any = dict(container) if isinstance(container, Mapping) else list(container)
    changed[path[0]] = _with(container[path[0]], path[1:], value)
    return changed
