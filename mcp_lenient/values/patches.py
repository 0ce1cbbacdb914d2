"""JSON Patches (RFC 6902): the difference of two values, and values with another one at a place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from itertools import chain
from typing import Any, Final

from mcp_lenient.types import Path
from mcp_lenient.values.json_values import pointer, same_json, tokens_of

Operation = Mapping[str, Any]
Patch = tuple[Operation, ...]
REMOVED: Final = object()
"""The value of a place that is to be removed."""


def value_at(value: Any, path: Path) -> Any:
    """Return the value at a path, or ``REMOVED`` if there is none."""
    here: Any = value
    for part in path:
        is_entry = isinstance(here, Mapping) and part in here
        is_item = isinstance(here, list) and isinstance(part, int) and 0 <= part < len(here)
        if not is_entry and not is_item:
            return REMOVED
        here = here[part]
    return here


def with_value(value: Any, path: Path, new: Any) -> Any:
    """Return a copy of a value with another one at a path, or without it (``REMOVED``)."""
    if not path:
        return new
    changed: Any = dict(value) if isinstance(value, Mapping) else list(value)
    first, *rest = path
    below = with_value(changed[first], tuple(rest), new) if rest else new
    if below is REMOVED:
        del changed[first]
    else:
        changed[first] = below
    return changed


def applied(value: Any, patch: Patch) -> Any:
    """Return a copy of a value after a JSON Patch of :func:`difference`; LookupError if it does not fit the value."""
    top = [deepcopy(value)]  # so that the whole value has a place as well
    for operation in patch:
        kind, new = operation["op"], operation.get("value")
        owner, key = _owner_and_key(top, operation.get("from", operation["path"]))
        if kind in ("move", "remove"):
            new = owner.pop(key)
        elif kind == "replace":
            if value_at(owner, (key,)) is REMOVED:
                raise LookupError(operation["path"])
            owner[key] = new
        if kind in ("move", "add"):
            owner, key = _owner_and_key(top, operation["path"])
            if isinstance(owner, list):
                owner.insert(key, new)
            else:
                owner[key] = new
    return top[0]


def path_at(value: Any, text: str) -> Path:
    """Return the path that a JSON Pointer names in a value, where a number in a list is an index."""
    path: Path = ()
    for part in tokens_of(text):
        here = value_at(value, path)
        if isinstance(here, list):
            path = (*path, len(here) if part == "-" else int(part) if part.isdecimal() else -1)
        else:
            path = (*path, part)
    return path


def _owner_and_key(top: list[Any], text: str) -> tuple[Any, Any]:
    """Return the container that a pointer leads into, and the key or index in it."""
    *above, key = (0, *path_at(value_at(top, (0,)), text))
    owner = value_at(top, tuple(above))
    is_index = isinstance(owner, list) and isinstance(key, int) and 0 <= key <= len(owner)
    if not is_index and not isinstance(owner, dict):
        raise LookupError(text)
    return owner, key


def difference(old: Any, new: Any) -> Patch:
    """Return the patch that turns one value into another; a value with only another place or name is moved."""
    return tuple(_Difference(old, new).operations())


class _Difference:
    def __init__(self, old: Any, new: Any) -> None:
        self.removed: dict[Path, Any] = {}
        self.added: dict[Path, Any] = {}
        self.replaced: dict[Path, tuple[Any, Any]] = {}
        self._moved_from: set[Path] = set()
        self._collect(old, new, ())

    def _collect(self, old: Any, new: Any, path: Path) -> None:
        if old is new or same_json(old, new):
            return
        if isinstance(old, dict) and isinstance(new, dict):
            self.removed.update({(*path, key): old[key] for key in old if key not in new})
            self.added.update({(*path, key): new[key] for key in new if key not in old})
            for key in (key for key in old if key in new):
                self._collect(old[key], new[key], (*path, key))
        elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            for index, (old_item, new_item) in enumerate(zip(old, new, strict=True)):
                self._collect(old_item, new_item, (*path, index))
        else:
            self.replaced[path] = old, new

    def operations(self) -> Iterator[Operation]:
        for path, (old, new) in self.replaced.items():
            inside = next((place for place, value in _parts(old, path) if same_json(value, new)), None)
            if inside is None:
                yield {"op": "replace", "path": pointer(path), "value": new}
                continue
            yield {"op": "move", "from": pointer(inside), "path": pointer(path)}
            if path and isinstance(path[-1], int):  # a move inserts, so that what it came from is one further
                yield {"op": "remove", "path": pointer((*path[:-1], path[-1] + 1))}
        for path, value in self.added.items():
            yield from self._add(path, value)
        for path in self.removed:
            if path not in self._moved_from:
                yield {"op": "remove", "path": pointer(path)}

    def _add(self, path: Path, value: Any) -> Iterator[Operation]:
        """Yield the operations that add a value, or move it from where it has gone, whole or in parts."""
        source = self._source(path, value)
        if source is not None:
            self._moved_from.add(source)
            yield {"op": "move", "from": pointer(source), "path": pointer(path)}
        elif any(self._source(place, below) is not None for place, below in _parts(value, path)):
            yield {"op": "add", "path": pointer(path), "value": type(value)()}
            for key, below in entries(value):
                yield from self._add((*path, key), below)
        else:
            yield {"op": "add", "path": pointer(path), "value": value}

    def _source(self, path: Path, value: Any) -> Path | None:
        """Return where a value was: under the same name, else as a whole entry."""
        inside = (part for at, removed in self.removed.items() for part in _parts(removed, at))
        everywhere = chain(self.removed.items(), inside)
        equal = [source for source, removed in everywhere if same_json(removed, value)]
        unused = [source for source in equal if source not in self._moved_from]
        same_named = [source for source in unused if source[-1:] == path[-1:]]
        return next(iter(same_named or [source for source in unused if source in self.removed]), None)


def entries(value: object) -> Iterable[tuple[Any, Any]]:
    """Return the entries of a container by name or index."""
    if isinstance(value, Mapping):
        return value.items()
    return enumerate(value if isinstance(value, list) else ())


def _parts(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    for key, below in entries(value):
        yield (*path, key), below
        yield from _parts(below, (*path, key))
