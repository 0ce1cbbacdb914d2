"""How a value of the author's schema is said in the published one, and read back."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mcp_lenient.types import Path
from mcp_lenient.values.display import shown
from mcp_lenient.values.json_values import (
    DuplicateKeyError,
    SpelledFloat,
    no_constant,
    parsed_integer,
    plain,
    unique_keys,
)

JSON_KEY: Final = "json"
_NOT_JSON: Final = "is not valid JSON text"
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False)


class CannotSayError(ValueError):
    """Raised for a value of the author's schema that the published one has no words for."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A place of the published form that cannot be read back, and why.

    ``may_be_repaired`` says that the author's schema refuses the value as it is, so that a rule may still read it.
    """

    path: Path
    reason: str
    may_be_repaired: bool = False


@dataclass(frozen=True, slots=True)
class ReadBack:
    """Arguments in the author's form: the same object if nothing had to be read back.

    Attributes:
        arguments: The arguments; a place that cannot be read is as it was sent.
        unreadable: These places.
    """

    arguments: Mapping[str, Any]
    unreadable: tuple[Unreadable, ...] = ()


Faults = list[Unreadable]


class Codec:
    """How values are said at one place; this one says them as they are."""

    __slots__ = ()

    def encode(self, value: Any) -> Any:
        """Return a value of the author's schema in the published form.

        Raises:
            CannotSayError: When the published form cannot say it.
        """
        return value

    def decode(self, value: Any, path: Path, faults: Faults) -> Any:  # noqa: ARG002 - for codecs that may fail
        """Return a published value in the author's form, the same object if they are alike; collect faults."""
        return value

    def published_path(self, path: Path, sent: Any) -> Path:  # noqa: ARG002 - for lists of entries
        """Return where a sent value of the published form has what the author's has at a path, or the place around it."""
        return path


SAME: Final = Codec()


_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_CONTROLS: Final = {"b": "\\u0008", "f": "\\u000c"}
"""How U+0008 and U+000C are said: their short escapes mostly come from the backslash of a path or of a regex."""


def json_text(value: Any) -> str:
    """Return the JSON text of a value, which :func:`json_value` reads."""
    return _ESCAPE.sub(lambda match: _CONTROLS.get(match[1], match[0]), _ENCODER.encode(value))


def json_value(text: str) -> Any:
    r"""Return the value that a text is in strict JSON; its numbers keep their spelling.

    Raises:
        ValueError: When it is not one JSON value, has a key twice, a number that is too large, or ``\b`` or ``\f``;
            its argument says so after "it".
    """
    if any(escape in _CONTROLS for escape in _ESCAPE.findall(text)):
        raise ValueError(_NOT_JSON)
    try:
        return json.loads(
            text,
            object_pairs_hook=unique_keys,
            parse_constant=no_constant,
            parse_float=_finite,
            parse_int=parsed_integer,
        )
    except DuplicateKeyError as error:
        msg = f"has the key '{shown(error.args[0])}' twice"
        raise ValueError(msg) from None
    except (ValueError, RecursionError) as error:
        raise ValueError(_NOT_JSON) from error


def _finite(text: str) -> SpelledFloat:
    value = SpelledFloat(text)
    if math.isinf(value):
        raise ValueError
    return value


@dataclass(frozen=True, slots=True)
class JsonText(Codec):
    """A value as JSON text, where the author's schema takes no text."""

    def encode(self, value: Any) -> Any:
        """Return the text."""
        return json_text(value)

    def decode(self, value: Any, path: Path, faults: Faults) -> Any:
        """Return the value of a JSON text; any other value is returned unchanged."""
        if not isinstance(value, str):
            return value
        return _read(value, value, path, faults, may_be_repaired=True)

    def published_path(self, path: Path, sent: Any) -> Path:  # noqa: ARG002 - all of it is one text
        """Return the text's own place."""
        return ()


def _read(text: str, sent: Any, path: Path, faults: Faults, *, may_be_repaired: bool = False) -> Any:
    """Return the value of a JSON text; what was sent, and a fault, if it is none."""
    try:
        return json_value(text)
    except ValueError as error:
        faults.append(Unreadable(path, f"it {error}", may_be_repaired))
        return sent


def is_json_object(value: Any) -> bool:
    """Return whether this is ``{"json": "..."}``."""
    return isinstance(value, dict) and value.keys() == {JSON_KEY} and isinstance(value[JSON_KEY], str)


@dataclass(frozen=True, slots=True)
class JsonObject(Codec):
    """A value as ``{"json": text}``, where text stands for itself; a scalar as it is if ``scalars``."""

    scalars: bool = False

    def encode(self, value: Any) -> Any:
        """Return the object, or the scalar."""
        if self.scalars and isinstance(value, (str, int, float)):
            return value
        return {JSON_KEY: json_text(value)}

    def decode(self, value: Any, path: Path, faults: Faults) -> Any:
        """Return the value that the object's text is."""
        if not is_json_object(value):
            return value
        return _read(value[JSON_KEY], value, (*path, JSON_KEY), faults)

    def published_path(self, path: Path, sent: Any) -> Path:  # noqa: ARG002 - all of it is one text
        """Return the place of the text for a place inside the value."""
        return (JSON_KEY,) if path else ()


@dataclass(frozen=True, slots=True)
class Items(Codec):
    """A list whose items have their codecs: the first ones each their own, the others one."""

    rest: Codec
    first: tuple[Codec, ...] = ()

    def _codec_at(self, at: int) -> Codec:
        return self.first[at] if at < len(self.first) else self.rest

    def encode(self, value: Any) -> Any:
        """Return the list with each item said."""
        if not isinstance(value, list):
            return value
        return [self._codec_at(at).encode(item) for at, item in enumerate(value)]

    def decode(self, value: Any, path: Path, faults: Faults) -> Any:
        """Return the list with each item read."""
        if not isinstance(value, list):
            return value
        read = [self._codec_at(at).decode(item, (*path, at), faults) for at, item in enumerate(value)]
        return value if all(one is other for one, other in zip(read, value, strict=True)) else read

    def published_path(self, path: Path, sent: Any) -> Path:
        """Return the path with that of the item."""
        if not path or not isinstance(path[0], int):
            return path
        item = sent[path[0]] if isinstance(sent, list) and path[0] < len(sent) else None
        return (path[0], *self._codec_at(path[0]).published_path(path[1:], item))


@dataclass(frozen=True, slots=True)
class Entries(Codec):
    """An object with any names as a list of ``{"key": name, "value": ...}``."""

    values: Codec

    def encode(self, value: Any) -> Any:
        """Return the list."""
        if not isinstance(value, dict):
            return value
        return [{"key": name, "value": self.values.encode(entry)} for name, entry in value.items()]

    def decode(self, value: Any, path: Path, faults: Faults) -> Any:
        """Return the object; a list with a key twice is a fault, and stays as it was sent."""
        if not _are_entries(value):
            return value
        read: dict[str, Any] = {}
        for at, entry in enumerate(value):
            if entry["key"] in read:
                faults.append(Unreadable((*path, at, "key"), "this key is in the list twice"))
            read[entry["key"]] = self.values.decode(entry["value"], (*path, at, "value"), faults)
        return read if len(read) == len(value) else value

    def published_path(self, path: Path, sent: Any) -> Path:
        """Return the place of the value in the entry that has the name; that of the list if none has it."""
        if not path or not _are_entries(sent):
            return ()
        at = next((at for at, entry in enumerate(sent) if entry["key"] == path[0]), None)
        if at is None:
            return ()
        return (at, "value", *self.values.published_path(path[1:], sent[at]["value"]))


def _are_entries(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(entry, dict) and entry.keys() == {"key", "value"} and isinstance(entry["key"], str)
        for entry in value
    )


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of a union: what the author's and the published schema accept there, and its codec."""

    accepts: Callable[[Any], bool]
    accepts_published: Callable[[Any], bool]
    codec: Codec


@dataclass(frozen=True, slots=True)
class Union(Codec):
    """A value of one of several branches: the first that says it so that the same value is read back."""

    branches: tuple[Branch, ...]

    def encode(self, value: Any) -> Any:
        """Return the value as its branch says it."""
        for branch in self.branches:
            if not branch.accepts(value):
                continue
            try:
                encoded = branch.codec.encode(value)
            except CannotSayError:
                continue
            if branch.accepts_published(encoded) and same_values(self.decode(encoded, (), []), value):
                return encoded
        msg = "no branch says this value"
        raise CannotSayError(msg)

    def decode(self, value: Any, path: Path, faults: Faults) -> Any:
        """Return the value as the first branch reads it whose result the author's schema accepts."""
        unread: Faults = []
        for branch in self.branches:
            branch_faults: Faults = []
            if not branch.accepts_published(value):
                continue
            read = branch.codec.decode(value, path, branch_faults)
            if not branch_faults and branch.accepts(plain(read)):
                return read
            unread += branch_faults
        if is_json_object(value) or not any(branch.accepts(value) for branch in self.branches):
            faults += unread
        return value


def same_values(one: Any, other: Any) -> bool:
    """Return whether two values are the same but for names whose value is null."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = {**one, **other}
        return all(same_values(one.get(name), other.get(name)) for name in names)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_values, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


@dataclass(frozen=True, slots=True)
class Property:
    """How one property is said.

    Attributes:
        name: Its published name.
        codec: How its value is said.
        drops_null: Whether null is not said, since leaving the name out means the same to the author.
        null_is_absent: Whether null is published for leaving the name out.
        is_required: Whether the published form requires the name.
    """

    name: str
    codec: Codec = SAME
    drops_null: bool = False
    null_is_absent: bool = False
    is_required: bool = False


@dataclass(slots=True)
class Fields(Codec):
    """An object with declared properties, by their names in the author's schema.

    Attributes:
        properties: How they are said.
        others: How the value of a name that is not declared is said; None if the published form forbids such names.
    """

    properties: Mapping[str, Property]
    others: Codec | None = SAME
    _authors: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self._authors = {entry.name: name for name, entry in self.properties.items()}

    def encode(self, value: Any) -> Any:
        """Return the object with the published names."""
        if not isinstance(value, dict):
            return value
        named: dict[str, Any] = {}
        more: dict[str, Any] = {}
        for name, entry in value.items():
            prop, is_null = self.properties.get(name), entry is None
            if prop is None:
                more[name] = entry
            elif not (is_null and prop.drops_null):
                named[prop.name] = None if is_null and prop.null_is_absent else prop.codec.encode(entry)
        for prop in self.properties.values():
            if prop.is_required:
                named.setdefault(prop.name, None)
        return {**named, **self._encode_others(more)}

    def _encode_others(self, more: Mapping[str, Any]) -> dict[str, Any]:
        if more and self.others is None:
            msg = "the published form has no name for what the author's schema does not declare"
            raise CannotSayError(msg)
        if not self._authors.keys().isdisjoint(more):
            msg = "a name that the author does not declare is the published one of another"
            raise CannotSayError(msg)
        return {name: (self.others or SAME).encode(entry) for name, entry in more.items()}

    def decode(self, value: Any, path: Path, faults: Faults) -> Any:
        """Return the object with the author's names."""
        if not isinstance(value, dict):
            return value
        read: dict[str, Any] = {}
        for name, entry in value.items():
            at, author_name = (*path, name), self._authors.get(name)
            if author_name is None or (author_name != name and author_name in value):
                codec = self.properties[name].codec if name in self.properties else self.others or SAME
                read[name] = codec.decode(entry, at, faults)
            elif entry is not None or not self.properties[author_name].null_is_absent:
                read[author_name] = self.properties[author_name].codec.decode(entry, at, faults)
        is_same = read.keys() == value.keys() and all(read[name] is value[name] for name in read)
        return value if is_same else read

    def published_path(self, path: Path, sent: Any) -> Path:
        """Return the path with the published name."""
        fields = sent if isinstance(sent, dict) else {}
        prop = self.properties.get(path[0]) if path and isinstance(path[0], str) else None
        if prop is not None:
            return (prop.name, *prop.codec.published_path(path[1:], fields.get(prop.name)))
        return path


@dataclass(slots=True)
class Later(Codec):
    """The codec of a definition, which may contain itself."""

    codec: Codec = SAME

    def encode(self, value: Any) -> Any:
        """Return the value said."""
        return self.codec.encode(value)

    def decode(self, value: Any, path: Path, faults: Faults) -> Any:
        """Return the value read."""
        return self.codec.decode(value, path, faults)

    def published_path(self, path: Path, sent: Any) -> Path:
        """Return the path in the definition."""
        return self.codec.published_path(path, sent)
