"""``python -m fuzz.published [--seed 1] [--calls 100000]``: count the calls that published forms change or lose."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final

from fuzz.calls import Schema
from fuzz.choices import Choices
from mcp_lenient import read_back
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.portable import FORMS, CannotSayError, Published, ReadBack, publish
from mcp_lenient.portable.codecs import JSON_KEY, Unreadable, is_json_object
from mcp_lenient.schema.compile import readable

_FORMS: Final = tuple(name for name in FORMS if name != "unchanged")
_BYTES: Final = 3_000
_VALUES: Final = 12
"""Values for one schema and form."""
_DEEPEST_VALUE: Final = 12

# --- schemas ------------------------------------------------------------------------------------------

_NAMES: Final = ("a", "b", "items", "key", "value", "tags", "json")
_RENAMED: Final = ("a[x]", "b c", "$top", "$ref", "anyOf")
_PUBLISHED: Final = ("a_x", "b_c", "top", "ref", "anyOf_", "x-1")
"""Names that some forms publish for those above, and one that matches a pattern."""
_SCALARS: Final[tuple[Schema, ...]] = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "number", "minimum": 0},
    {"type": "boolean"},
    {"type": "string", "minLength": 2, "maxLength": 9},
    {"type": "string", "enum": ["a", "b", "null"]},
    {"enum": ["a", 1, None, True]},
    {"const": "circle"},
    {"type": "null"},
    {"type": ["string", "null"]},
    {"type": ["integer", "string"]},
    {"type": "string", "pattern": "^[a-z]+$"},
)
_DEFAULTS: Final = (None, None, "a", 1, [], {})
_DEPTHS: Final = (2, 5, 7, 31)
_REFERENCES: Final = ("#/$defs/Node", "#/$defs/Leaf", "#/$defs/Node", "#")


def author_schema(choices: Choices) -> Schema:
    """Return a tool's schema with what forms say in another way: unions, maps, references, free and deep places."""
    schema = _object(choices, 3)
    if choices.below(8) == 1:
        schema[choices.one_of(("anyOf", "oneOf"))] = _members(choices, 2)
    schema["$defs"] = {"Node": _schema(choices, 2), "Leaf": _schema(choices, 1)}
    return schema


def _schema(choices: Choices, depth: int) -> Schema:
    kinds = (
        _scalar,
        _union,
        _map,
        _object,
        _union,
        _array,
        _tuple,
        _nullable,
        _any,
        _free,
        _reference,
        _deep,
    )
    schema = choices.one_of(kinds)(choices, depth) if depth > 0 else _leaf(choices)
    if choices.below(6) == 1:
        schema["default"] = choices.one_of(_DEFAULTS)
    return schema


def _leaf(choices: Choices) -> Schema:
    return choices.one_of((_scalar, _scalar, _any, _free, _reference))(choices, 0)


def _scalar(choices: Choices, _depth: int) -> Schema:
    return dict(choices.one_of(_SCALARS))


def _any(_choices: Choices, _depth: int) -> Schema:
    return {}


def _free(_choices: Choices, _depth: int) -> Schema:
    return {"type": "object"}


def _reference(choices: Choices, _depth: int) -> Schema:
    return {"$ref": choices.one_of(_REFERENCES)}


def _map(choices: Choices, depth: int) -> Schema:
    return {"type": "object", "additionalProperties": _schema(choices, depth - 1)}


def _array(choices: Choices, depth: int) -> Schema:
    return {
        "type": "array",
        "items": _entry(choices, depth) if choices.below(4) == 1 else _schema(choices, depth - 1),
    }


def _entry(choices: Choices, depth: int) -> Schema:
    """Return the schema of an object that looks like an entry of a published map."""
    return {
        "type": "object",
        "properties": {"key": {"type": "string"}, "value": _schema(choices, depth - 1)},
        "required": ["key", "value"],
    }


def _tuple(choices: Choices, depth: int) -> Schema:
    first = [_schema(choices, depth - 1) for _ in range(1 + choices.below(2))]
    schema: Schema = {"type": "array", "prefixItems": first}
    return schema | {"items": False} if choices.flag() else schema


def _nullable(choices: Choices, depth: int) -> Schema:
    return {"anyOf": [_schema(choices, depth - 1), {"type": "null"}]}


def _union(choices: Choices, depth: int) -> Schema:
    how = choices.below(8)
    if how == 1:
        kinds = choices.some_of(("object", "array", "string", "null"), 3)
        return _map(choices, depth) | {
            "type": kinds or ["array", "object"],
            "items": _schema(choices, depth - 1),
        }
    if how == 2:
        return _object(choices, depth) | {"anyOf": _members(choices, depth)}
    if how == 3:
        return {"allOf": _members(choices, depth)[:2]}
    return {choices.one_of(("anyOf", "anyOf", "oneOf")): _members(choices, depth)}


def _members(choices: Choices, depth: int) -> list[Schema]:
    return [_schema(choices, depth - 1) for _ in range(2 + choices.below(3))]


def _object(choices: Choices, depth: int) -> Schema:
    pool = _NAMES + _RENAMED if choices.below(3) == 1 else _NAMES
    names = choices.some_of(pool, 4)
    schema: Schema = {"type": "object", "properties": {name: _schema(choices, depth - 1) for name in names}}
    if choices.flag():
        schema["required"] = choices.some_of(
            [*names, *names, "a_x"] if choices.below(8) == 1 else names or ["a"], 2
        )
    others = choices.below(5)
    if others < 3:
        schema["additionalProperties"] = (False, True, _schema(choices, depth - 1))[others]
    if choices.below(8) == 1:
        schema["patternProperties"] = {"^x-": _schema(choices, depth - 1)}
    return schema


def _deep(choices: Choices, depth: int) -> Schema:
    """Return a schema some levels down."""
    schema = _schema(choices, depth - 1)
    for _ in range(choices.one_of(_DEPTHS)):
        schema = choices.one_of(
            (
                {"type": "array", "items": schema},
                {"type": "object", "properties": {"a": schema}, "required": ["a"]},
            )
        )
    return schema


# --- values -------------------------------------------------------------------------------------------

_TEXTS: Final = (
    "a",
    "b",
    "",
    "circle",
    "abc",
    "null",
    "1",
    '{"a": 1}',
    "[1]",
    '[{"key": "a", "value": "b"}]',
)
_ODD: Final[tuple[Any, ...]] = (
    None,
    [],
    {},
    [{"key": "a", "value": "b"}],
    [{"key": "a", "value": "b"}, {"key": "a", "value": None}],
    [{"key": "a", "value": {"key": "b", "value": 1}}],
    {"key": "a", "value": "b"},
    {"a": None},
    {"a": {"json": "[1]"}},
    {"json": "{}"},
    {"json": "a"},
    {"json": 1},
    '{"json": "[]"}',
    {"a_x": 1, "top": "a"},
    {"a": [{"key": "b", "value": None}]},
)
"""Values that look as if they were said in a published form."""
_LOOSE: Final[tuple[Any, ...]] = (*_TEXTS, 1, 0, 2.5, True, *_ODD, [1, "a"], {"a": 1, "b": [None]})


class _Values:
    """Makes values that nearly always fit a schema."""

    def __init__(self, choices: Choices, root: Schema) -> None:
        self._choices = choices
        self._root = root

    def fitting(self, schema: Any, depth: int = _DEEPEST_VALUE) -> Any:
        """Return a value for a schema, sometimes one that looks published."""
        choices, schema = self._choices, self._followed(schema)
        if choices.below(16) == 1:
            return choices.one_of(_ODD)
        if depth <= 0:
            return choices.one_of(_LOOSE)
        if "enum" in schema or "const" in schema:
            return choices.one_of(schema.get("enum") or [schema.get("const")])
        for word in ("anyOf", "oneOf", "allOf"):
            if word in schema:
                return self._of_branch(schema, choices.one_of(schema[word]), depth)
        kind = schema.get("type")
        return self._of_kind(choices.one_of(kind) if isinstance(kind, list) else kind, schema, depth)

    def _followed(self, schema: Any) -> Mapping[str, Any]:
        for _ in range(4):
            name = schema.get("$ref") if isinstance(schema, Mapping) else None
            if name is None:
                break
            schema = self._root if name == "#" else self._root["$defs"][name.rpartition("/")[2]]
        return schema if isinstance(schema, Mapping) else {}

    def _of_branch(self, schema: Mapping[str, Any], branch: Any, depth: int) -> Any:
        """Return a value for a branch, with the properties beside it."""
        value = self.fitting(branch, depth - 1)
        if not isinstance(value, dict) or "properties" not in schema:
            return value
        return self._fields(schema, depth) | value

    def _of_kind(self, kind: str | None, schema: Mapping[str, Any], depth: int) -> Any:
        choices = self._choices
        if kind == "object":
            return self._fields(schema, depth)
        if kind == "array":
            first = [self.fitting(sub, depth - 1) for sub in schema.get("prefixItems", ())]
            if schema.get("items") is False:
                return first
            return first + [self.fitting(schema.get("items", {}), depth - 1) for _ in range(choices.below(3))]
        scalars: Mapping[str | None, Sequence[Any]] = {
            "string": _TEXTS,
            "integer": (0, 1, 7),
            "number": (0, 1, 2.5),
            "boolean": (True, False),
            "null": (None,),
        }
        return choices.one_of(scalars.get(kind, _LOOSE))

    def _fields(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        choices, required = self._choices, schema.get("required", ())
        value: dict[str, Any] = {}
        for name, sub in schema.get("properties", {}).items():
            if name in required or choices.below(3):
                value[name] = self.fitting(sub, depth - 1)
        others = schema.get("additionalProperties", {})
        undeclared = (
            choices.some_of(_NAMES + _PUBLISHED, 3) if "properties" not in schema or choices.flag() else []
        )
        for name in undeclared if others is not False else ():
            value.setdefault(name, self.fitting(others, depth - 1))
        for name in required:
            value.setdefault(name, self.fitting(others, depth - 1))
        if "patternProperties" in schema and choices.flag():
            value["x-1"] = self.fitting(schema["patternProperties"]["^x-"], depth - 1)
        return value


# --- what becomes of them ----------------------------------------------------------------------------

UNCHANGED: Final = "unchanged"
CHANGED: Final = "changed"
LOST: Final = "lost"
UNSAYABLE: Final = "cannot be said"
MARK: Final = 'a value that is {"json": text}'
NULL_DEFAULT: Final = "a null that is the default"
PUBLISHED_NAME: Final = "the published name of another property"
SENT: Final = "as the author's schema has it"
SAID: Final = "said in the form"

Row = tuple[str, str, str, Published, Any]
"""How a call was written, what became of it, the form, how it is published, and the call."""


def outcomes(choices: Choices) -> Iterator[Row]:
    """Yield what a published form makes of calls that the author's schema accepts."""
    schema = author_schema(choices)
    form = choices.one_of(_FORMS)
    published = publish(schema, form)
    if published.codec is None:
        return
    accepts = PublishedSchemaValidator(readable(schema)).accepts
    values = _Values(choices, schema)
    for _ in range(_VALUES):
        call = values.fitting(schema)
        if not isinstance(call, dict) or not accepts(call):
            continue
        yield SENT, _as_sent(published, schema, call), form, published, call
        try:
            message = published.say(call)
        except CannotSayError:
            yield SAID, UNSAYABLE, form, published, call
            continue
        yield SAID, _as_said(published, schema, call, message), form, published, call
        if message != call and accepts(message):
            yield SENT, _as_sent(published, schema, message), form, published, message


def _as_sent(published: Published, schema: Schema, call: Any) -> str:
    allowed = {MARK, PUBLISHED_NAME} | ({NULL_DEFAULT} if published.form.all_required else set())
    return _outcome(published, schema, call, read_back(published, call), allowed) or CHANGED


def _as_said(published: Published, schema: Schema, call: Any, message: Any) -> str:
    return _outcome(published, schema, call, read_back(published, message), {NULL_DEFAULT}) or LOST


def _outcome(
    published: Published, schema: Schema, call: Any, read: ReadBack, allowed: set[str]
) -> str | None:
    """Return whether a call is read as it is, or the listed exception it is; None for any other difference."""
    differences = _Differences(published, schema)
    kinds = {*differences.kinds(call, read.arguments), *map(differences.kind_of_fault, read.unreadable)}
    if not kinds:
        return UNCHANGED
    return min(kinds) if kinds <= allowed else None


class _Differences:
    """Names how a call and its reading differ."""

    def __init__(self, published: Published, schema: Schema) -> None:
        properties = list(_properties(schema))
        declared = {name for name, _ in properties}
        self._renamed = {name for name, _ in _properties(published.schema)} - declared
        self._null_by_default = {
            name for name, sub in properties if isinstance(sub, dict) and sub.get("default", ...) is None
        }

    def kinds(self, call: Any, read: Any) -> Iterator[str]:
        """Yield the listed exception that each difference is, or ``changed``."""
        if _text(call) == _text(read):
            return
        if is_json_object(call):
            yield MARK
        elif isinstance(call, dict) and isinstance(read, dict):
            yield from self._of_fields(call, read)
        elif isinstance(call, list) and isinstance(read, list) and len(call) == len(read):
            for pair in zip(call, read, strict=True):
                yield from self.kinds(*pair)
        else:
            yield CHANGED

    def kind_of_fault(self, fault: Unreadable) -> str:
        """Return the listed exception that an unreadable place is, or ``changed``."""
        if not self._renamed.isdisjoint(fault.path):
            return PUBLISHED_NAME
        return MARK if fault.path[-1:] == (JSON_KEY,) else CHANGED

    def _of_fields(self, call: dict[str, Any], read: dict[str, Any]) -> Iterator[str]:
        for name in call.keys() & read.keys():
            yield from self.kinds(call[name], read[name])
        gone, new = call.keys() - read.keys(), read.keys() - call.keys()
        if self._renamed & gone:
            yield PUBLISHED_NAME
            return
        for name in gone | new:
            is_null = call.get(name) is None and read.get(name) is None
            yield NULL_DEFAULT if is_null and name in self._null_by_default else CHANGED


def _properties(schema: Any) -> Iterator[tuple[str, Any]]:
    """Yield the properties of a schema, at all levels."""
    if isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping):
        yield from schema["properties"].items()
    inside = schema.values() if isinstance(schema, Mapping) else schema if isinstance(schema, list) else ()
    for part in inside:
        yield from _properties(part)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def one_published(data: bytes) -> None:
    """Check that no call is changed, and none that is said is lost, but for the listed exceptions."""
    check(Choices(data))


def check(choices: Choices) -> None:
    """Raise where a call is changed or lost."""
    for _, outcome, form, published, call in outcomes(choices):
        assert outcome not in (CHANGED, LOST), f"{outcome} by {form}: {_text(call)} of {published.schema}"


# --- the figures --------------------------------------------------------------------------------------


def main() -> None:
    """Print what becomes of calls through published forms, and the first that are changed or lost."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.published", description=main.__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--calls",
        type=int,
        default=100_000,
        help="calls that the author's schema accepts; 100,000 when left out",
    )
    chosen = parser.parse_args()
    counts = _counted(chosen.seed, chosen.calls, print)
    print(f"seed {chosen.seed}")
    for (written, outcome), number in sorted(counts.items()):
        print(f"{number:9,} {written}: {outcome}")
    sys.exit(any(outcome in (CHANGED, LOST) for _, outcome in counts))


def _counted(seed: int, calls: int, show: Callable[[str], None]) -> Counter[tuple[str, str]]:
    random = Random(seed)
    counts: Counter[tuple[str, str]] = Counter()
    number = 0
    while number < calls:
        for written, outcome, form, _, call in outcomes(Choices(random.randbytes(_BYTES))):
            counts[written, outcome] += 1
            number += written == SENT
            if outcome in (CHANGED, LOST) and counts[written, outcome] <= 3:
                show(f"{outcome} by {form}: {_text(call)}")
    return counts


if __name__ == "__main__":
    main()
