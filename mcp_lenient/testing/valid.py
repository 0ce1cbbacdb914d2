"""Valid arguments, made up from a JSON Schema: the same ones for the same seed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from mcp_lenient.readable import readable
from mcp_lenient.schema import Shape, resolve, shape_of, validator_for
from mcp_lenient.schema_judge import SchemaJudge
from mcp_lenient.testing.pattern_text import pattern_text
from mcp_lenient.testing.samples import (
    DECIMALS,
    FORMATS,
    FRACTIONS,
    NAMES,
    NUMBERS,
    SAMPLES,
    WIDE_FORMATS,
    WORDS,
)

_TRIES: Final = 40
_DEEPEST: Final = 4
"""Levels below which only what is required is made up."""


class NoValueError(Exception):
    """No value could be made up for a schema; says for which part."""


def valid_arguments(
    schema: Mapping[str, Any], random: Random, *, optional: float, wide: bool = False
) -> dict[str, Any]:
    """Arguments that the schema takes.

    Args:
        schema: The input schema of a tool.
        random: Where all choices come from.
        optional: How likely a parameter that may be left out is there.
        wide: Whether texts and names of maps are chosen from more, for a tool that takes less than its schema.

    Raises:
        NoValueError: When none could be made up.
    """
    read = readable(schema)
    if read.unread:
        raise NoValueError(read.told)
    schema = read.root
    maker = _Maker(schema, random, wide)
    judge = SchemaJudge(read)
    for _ in range(_TRIES):
        made = maker.object(shape_of(schema, schema), 0, optional)
        if judge.accepts(made):
            return made
    fault = judge.faults(made)[0]
    msg = f"nothing that was made up is valid at {'/'.join(map(str, fault.path)) or 'the top'}"
    raise NoValueError(msg)


@dataclass(frozen=True, slots=True)
class _Maker:
    root: Mapping[str, Any]
    random: Random
    wide: bool

    def value(self, schema: Any, depth: int) -> Any:
        """A value for a schema, most likely a valid one."""
        shape = shape_of(self.root, schema)
        keywords = _keywords(self.root, schema)
        if isinstance(keywords.get("examples"), list) and keywords["examples"]:
            return self.random.choice(keywords["examples"])
        if shape.enum:
            return self.random.choice(shape.enum)
        if shape.branches:
            return self._branch(shape, depth)
        makers: Mapping[str, Callable[[], Any]] = {
            "string": lambda: self._text(schema, keywords, depth),
            "integer": lambda: self._number(keywords, whole=True),
            "number": lambda: self._number(keywords, whole=False),
            "boolean": lambda: self.random.random() < 0.5,
            "null": lambda: None,
            "array": lambda: self._array(shape, keywords, depth),
            "object": lambda: {
                **self.object(shape, depth, 0.5 if depth < _DEEPEST else 0.0),
                **self._entries(shape, keywords, depth),
            },
        }
        return makers[_kind(shape)]()

    def object(self, shape: Shape, depth: int, optional: float) -> dict[str, Any]:
        """An object with what is required, and with some of what is not."""
        made = {
            name: self.value(schema, depth + 1)
            for name, schema in shape.properties.items()
            if name in shape.required or self.random.random() < optional
        }
        for name in sorted(shape.required - shape.properties.keys()):
            made[name] = self.value(shape.extra, depth + 1)
        return made

    def _entries(self, shape: Shape, keywords: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """Entries of a map: names that nobody declared, where only such are taken."""
        least = int(keywords.get("minProperties", 0))
        if shape.properties or shape.required or (shape.closed and not shape.patterns):
            return {}
        made: dict[str, Any] = {}
        for at in range(_TRIES):
            if len(made) >= least and (
                made or depth >= _DEEPEST or (self.wide and self.random.random() < 0.2)
            ):
                break
            name, schema = self._name(shape, keywords, depth, at)
            made[name] = self.value(schema, depth + 1)
        return made

    def _name(self, shape: Shape, keywords: Mapping[str, Any], depth: int, at: int) -> tuple[str, Any]:
        """A name of a map's entry, and the schema of its value."""
        if shape.patterns:
            pattern, schema = self.random.choice(sorted(shape.patterns.items(), key=lambda each: each[0]))
            return self._text({"type": "string", "pattern": pattern}, {"pattern": pattern}, depth), schema
        schema = shape.extra if isinstance(shape.extra, Mapping) else True
        names = keywords.get("propertyNames")
        if isinstance(names, Mapping):
            return str(self.value({"type": "string", "allOf": [names]}, depth + 1)), schema
        name = self.random.choice(NAMES) if self.wide else NAMES[0]
        return f"{name}{at}" if at else name, schema

    def _branch(self, shape: Shape, depth: int) -> Any:
        branches = [each for each in shape.branches if not shape_of(self.root, each).is_only("null")]
        if depth >= _DEEPEST or not branches:
            # What ends a recursion soonest: null, else a branch that is no container.
            branches = sorted(shape.branches, key=lambda each: _weight(shape_of(self.root, each)))[:1]
        chosen = self.random.choice(branches)
        # Decimals are published as a number or a text; a text of digits is right for what takes any text, too.
        kinds = {_kind(shape_of(self.root, each)) for each in branches}
        if kinds == {"number", "string"} and shape_of(self.root, chosen) == Shape(
            types=frozenset({"string"}), plain=True
        ):
            return self.random.choice(DECIMALS)
        return self.value(chosen, depth + 1)

    def _array(self, shape: Shape, keywords: Mapping[str, Any], depth: int) -> list[Any]:
        least = int(keywords.get("minItems", 0))
        most = min(int(keywords.get("maxItems", least + 3)), least + 3)
        size = least if depth >= _DEEPEST else self.random.randint(min(max(least, 1), most), most)
        schemas = [*shape.prefix, *[shape.items] * max(0, size - len(shape.prefix))]
        if keywords.get("uniqueItems") and not shape.prefix:
            return self._distinct(shape.items, size, depth)
        return [self.value(schema, depth + 1) for schema in schemas[: max(size, len(shape.prefix))]]

    def _distinct(self, schema: Any, size: int, depth: int) -> list[Any]:
        """Items that differ, as many as are wanted or are soon found."""
        made: list[Any] = []
        for _ in range(_TRIES):
            if len(made) == size:
                break
            value = self.value(schema, depth + 1)
            made += [value] if value not in made else []
        return made

    def _text(self, schema: Any, keywords: Mapping[str, Any], depth: int) -> str:
        least, most = int(keywords.get("minLength", 0)), int(keywords.get("maxLength", 200))
        if "pattern" in keywords:
            judge = validator_for(self.root, schema)
            fitting = [text for text in (*SAMPLES, *WORDS) if judge.is_valid(text)]
            if not fitting:
                written = (pattern_text(keywords["pattern"], self.random) for _ in range(_TRIES))
                fitting = [text for text in written if text is not None and judge.is_valid(text)]
            return self.random.choice(fitting or ["none fits"])
        form = str(keywords.get("format"))
        if form in FORMATS:
            return self.random.choice((*FORMATS[form], *(WIDE_FORMATS.get(form, ()) if self.wide else ())))
        if keywords.get("contentMediaType") == "application/json":
            return json.dumps(self.value(keywords.get("contentSchema", True), depth + 1))
        word = self.random.choice((*WORDS, *SAMPLES) if self.wide else WORDS)
        if len(word) < least:
            word = (word + " more") * (least // len(word) + 1)
        return word[: max(least, min(most, len(word)))][:most]

    def _number(self, keywords: Mapping[str, Any], *, whole: bool) -> int | float:
        low, high = _bounds(keywords)
        step = keywords.get("multipleOf")
        choices: tuple[int | float, ...] = NUMBERS if whole else (*FRACTIONS, *NUMBERS)
        if step:
            lowest = low if low > -math.inf else min(0, high - 3 * step)
            first = math.ceil(lowest / step) * step
            choices = tuple(first + step * count for count in range(4))
        fitting = [number for number in choices if low <= number <= high]
        if fitting:
            return self.random.choice(fitting)
        if low > -math.inf:
            return math.ceil(low) if whole or math.ceil(low) <= high else (low + high) / 2
        return math.floor(high)


def _keywords(root: Mapping[str, Any], schema: Any) -> dict[str, Any]:
    """The keywords of a schema, of what it refers to and of all it must also be; the narrower bounds win."""
    merged: dict[str, Any] = {}
    for part in _parts(root, schema, set()):
        for keyword, value in part.items():
            known = merged.get(keyword)
            if keyword.lower().removeprefix("exclusive").startswith("min") and known is not None:
                merged[keyword] = max(known, value)
            elif keyword.lower().removeprefix("exclusive").startswith("max") and known is not None:
                merged[keyword] = min(known, value)
            else:
                merged.setdefault(keyword, value)
    return merged


def _parts(root: Mapping[str, Any], schema: Any, seen: set[int]) -> Iterator[Mapping[str, Any]]:
    if not isinstance(schema, Mapping) or id(schema) in seen:
        return
    seen.add(id(schema))
    yield schema
    if isinstance(schema.get("$ref"), str):
        yield from _parts(root, resolve(root, schema["$ref"]), seen)
    for sub in schema.get("allOf", ()):
        yield from _parts(root, sub, seen)


def _kind(shape: Shape) -> str:
    """The JSON type to make; a text where any may come."""
    if shape.types:
        return min(shape.types - {"null"} or shape.types)
    if shape.properties or shape.required:
        return "object"
    return "array" if shape.items or shape.prefix else "string"


def _weight(shape: Shape) -> int:
    if shape.is_only("null"):
        return 0
    return 2 if shape.properties or shape.items or shape.branches else 1


def _bounds(keywords: Mapping[str, Any]) -> tuple[float, float]:
    """The lowest and the highest number; what is excluded is kept at a distance."""
    low = keywords.get("minimum", -math.inf)
    high = keywords.get("maximum", math.inf)
    above, below = keywords.get("exclusiveMinimum"), keywords.get("exclusiveMaximum")
    gap = 1.0
    if None not in (above, below):
        gap = min(1.0, (below - above) / 4)  # type: ignore[operator]  # neither is None
    return (
        low if above is None else max(low, above + gap),
        high if below is None else min(high, below - gap),
    )
