"""Generate valid arguments from a JSON Schema, the same for the same seed."""

from __future__ import annotations

import json
import math
import re
import string
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from rstr.xeger import Xeger

from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.schema.compile import readable
from mcp_lenient.schema.node import Node, Tree

_MORE: Final = 3
"""How often more than its least a part without a most is repeated."""
_MOST_PARTS: Final = 10_000
"""How many parts a text has at most: ``(a{9999}){9999}`` asks for more than anybody sends."""
_MOST_IN_RANGE: Final = 0x80
_LETTERS: Final = string.ascii_letters + string.digits
_VISIBLE: Final = "".join(map(chr, range(0x20, 0x7F)))
_NAMED_GROUP: Final = re.compile(r"\(\?<(?=[A-Za-z_])")


def pattern_text(pattern: str, random: Random) -> str | None:
    r"""Generate text that most likely matches a pattern; None if impossible.

    Lookarounds and anchors (``\b``) are ignored, so the caller must check the text.

    >>> pattern_text("^[A]{2}-(?:7|7)$", Random(0))
    'AA-7'
    """
    in_python = _NAMED_GROUP.sub("(?P<", pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", FutureWarning
            )  # brackets that a later Python may read differently
            return _PatternWriter(random).xeger(in_python)
    except (re.error, ValueError, LookupError, OverflowError, RecursionError):
        return None


class _PatternWriter(Xeger):
    """Generates short, visible text, the same for the same seed, which ``rstr`` alone does not."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self._remaining_parts = _MOST_PARTS
        self._cases = {
            **self._cases,
            "any": lambda _: random.choice(_LETTERS),
            "not_literal": lambda code: random.choice(_VISIBLE.replace(chr(code), "")),
            "range": lambda ends: map(chr, range(ends[0], min(ends[1], ends[0] + _MOST_IN_RANGE) + 1)),
            "assert": lambda _: "",
        }

    def _handle_state(self, state: Any) -> Any:
        self._remaining_parts -= 1
        if self._remaining_parts < 0:
            raise OverflowError
        return super()._handle_state(state)

    def _handle_in(self, value: Any) -> str:
        members = [member for state in value for member in self._handle_state(state)]
        if members[0] is False:
            members = [character for character in _VISIBLE if character not in members]
        chosen: str = self._random.choice([member for member in members if member in _VISIBLE] or members)
        return chosen

    def _handle_repeat(self, start_range: int, end_range: int, value: Any) -> str:
        times = self._random.randint(start_range, min(end_range, start_range + _MORE)) if value else 0
        return "".join(self._handle_state(state) for _ in range(times) for state in value)


WORDS: Final = (
    "alpha",
    "two words",
    "Zürich",
    "任务一",
    "a, b",
    "007",
    "1.50",
    "42",
    "null",
    "true",
    "[1]",
    "x=1;y=2",
    "C:\\new\\table",
    'say "hi"',
    "it's",
)
FORMATS: Final[Mapping[str, tuple[str, ...]]] = {
    "date": ("2026-01-31", "1999-12-01", "2099-12-31"),
    "date-time": (
        "2026-01-31T12:30:00Z",
        "2026-01-31T12:30:00",
        "1999-12-01T12:30:00+01:00",
        "2099-12-31T23:59:59Z",
    ),
    "time": ("12:30:00Z", "12:30:00"),
    "duration": ("P1D", "PT90M"),
    "email": ("ann@example.com",),
    "uri": ("https://example.com/a?b=1,2",),
    "multi-host-uri": ("postgresql://example.com:5432/data",),
    "uuid": ("123e4567-e89b-42d3-a456-426614174000",),
    "uuid4": ("123e4567-e89b-42d3-a456-426614174000",),
    "ipv4": ("192.0.2.1",),
    "ipv4network": ("192.0.2.0/24",),
    "ipv6": ("2001:db8::1",),
    "ipv6network": ("2001:db8::/32",),
    "ipvanyaddress": ("192.0.2.1", "2001:db8::1"),
    "directory-path": (".",),
    "base64": ("aGk=",),
    "base64url": ("aGk=",),
}
SAMPLES: Final = (
    *"a A ab abc ABC Abc a1 A1 a-b a_b a.b a/b /a/b AB12 ab12cd34".split(),
    *"0 1 12 123 1234 12345 1.2 1.2.3 v1.2.3 -1 +491701234567 #aabbcc #ABC".split(),
    *"00:00 12:30 2026 2026-01 2026-01-31 en en-US USD a@example.com https://example.com".split(),
    *"EURUSD AAPL ABC-123 10.0.0.1 deadbeef 0x1f 5m 1h 1d text/plain".split(),
    *dict.fromkeys(text for values in FORMATS.values() for text in values),
)
NAMES: Final = ("key", "1", *FORMATS["date"][:1])
"""Names of a map's entries."""
DECIMALS: Final = ("12.50", "7", "0.125")
NUMBERS: Final = (0, 1, 2, 3, 7, 10, 42, 100, -1)
FRACTIONS: Final = (0.5, 1.25, 2.0, 3.75, 10.5, -0.5)
_BOUNDS: Final = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")

_TRIES: Final = 40
_DEEPEST: Final = 4
"""Levels below which only required properties are made."""


class NoValueError(Exception):
    """No value could be generated for a schema; the message names the part."""


def valid_arguments(
    schema: Mapping[str, Any], random: Random, *, optional: float, wide: bool = False
) -> dict[str, Any]:
    """Generate arguments that the schema accepts; ``optional`` is the probability of each optional parameter.

    ``wide`` chooses strings and map keys from a larger set, for a tool that accepts less than its schema.

    Raises:
        NoValueError: When none could be generated.
    """
    read = readable(schema)
    if read.unread:
        raise NoValueError(read.summary)
    tree = Tree(read)
    maker = _Maker(tree, random, wide)
    validator = PublishedSchemaValidator(read)
    for _ in range(_TRIES):
        example = maker.object(tree.top, 0, optional)
        if validator.accepts(example):
            return example
    fault = validator.faults(example)[0]
    msg = f"no generated value is valid at {'/'.join(map(str, fault.path)) or 'the top'}"
    raise NoValueError(msg)


@dataclass(frozen=True, slots=True)
class _Maker:
    tree: Tree
    random: Random
    wide: bool

    def value(self, schema: Any, depth: int) -> Any:
        """Generate a value for a schema, most likely a valid one."""
        return self._of(self.tree.node(schema), depth)

    def _of(self, node: Node, depth: int) -> Any:
        keywords = {name: value for part in reversed(node.parts) for name, value in part.items()}
        if isinstance(keywords.get("examples"), list) and keywords["examples"]:
            return self.random.choice(keywords["examples"])
        if node.enum:
            return self.random.choice(node.enum)
        if node.is_union:
            return self._branch(node, depth)
        makers: Mapping[str, Callable[[], Any]] = {
            "string": lambda: self._text(node, keywords, depth),
            "integer": lambda: self._number(node, keywords, whole=True),
            "number": lambda: self._number(node, keywords, whole=False),
            "boolean": lambda: self.random.random() < 0.5,
            "null": lambda: None,
            "array": lambda: self._array(node, keywords, depth),
            "object": lambda: {
                **self.object(node, depth, 0.5 if depth < _DEEPEST else 0.0),
                **self._entries(node, keywords, depth),
            },
        }
        return makers[_kind(node)]()

    def object(self, node: Node, depth: int, optional: float) -> dict[str, Any]:
        """Generate an object with every required property and some optional ones."""
        return {
            name: self._of(child, depth + 1)
            for name, child in node.property_nodes.items()
            if name in node.required or self.random.random() < optional
        }

    def _entries(self, node: Node, keywords: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """Generate entries of a map: undeclared names, if only those are accepted."""
        if node.properties or node.required or node.closed:
            return {}
        may_be_empty = depth >= _DEEPEST or (self.wide and self.random.random() < 0.2)
        size = max(int(keywords.get("minProperties", 0)), 0 if may_be_empty else 1)
        child = self.tree.node(node.additional if isinstance(node.additional, Mapping) else True)
        example: dict[str, Any] = {}
        for index in range(_TRIES):
            if len(example) == size:
                break
            example[self._name(keywords.get("propertyNames"), depth, index)] = self._of(child, depth + 1)
        return example

    def _name(self, names: Any, depth: int, at: int) -> str:
        """Generate the key of a map's entry."""
        if isinstance(names, Mapping):
            return str(self.value({"type": "string", "allOf": [names]}, depth + 1))
        name = self.random.choice(NAMES) if self.wide else NAMES[0]
        return f"{name}{at}" if at else name

    def _branch(self, node: Node, depth: int) -> Any:
        branches = [branch for branch in node.branches if not branch.is_only("null")]
        if depth >= _DEEPEST or not branches:
            # The branch that ends a recursion soonest: null, else one that is not a container.
            branches = sorted(node.branches, key=_weight)[:1]
        chosen = self.random.choice(branches)
        # Decimals are published as a number or a string; a string of digits is also valid where any string is.
        if {_kind(branch) for branch in branches} == {"number", "string"} and chosen.accepts("any text"):
            return self.random.choice(DECIMALS)
        return self._of(chosen, depth + 1)

    def _array(self, node: Node, keywords: Mapping[str, Any], depth: int) -> list[Any]:
        """Generate a list; of distinct items as many as are wanted or quickly found."""
        least = int(keywords.get("minItems", 0))
        most = min(int(keywords.get("maxItems", least + 3)), least + 3)
        size = least if depth >= _DEEPEST else self.random.randint(min(max(least, 1), most), most)
        size = max(size, len(node.prefix_items))
        examples: list[Any] = []
        for _ in range(size + _TRIES):
            if len(examples) == size:
                break
            item = node.prefix_items[len(examples)] if len(examples) < len(node.prefix_items) else node.items
            value = self._of(item, depth + 1)
            examples += [] if keywords.get("uniqueItems") and value in examples else [value]
        return examples

    def _text(self, node: Node, keywords: Mapping[str, Any], depth: int) -> str:
        least, most = int(keywords.get("minLength", 0)), int(keywords.get("maxLength", 200))
        if "pattern" in keywords:
            fitting = [text for text in (*SAMPLES, *WORDS) if node.accepts(text)]
            if not fitting:
                written = (pattern_text(keywords["pattern"], self.random) for _ in range(_TRIES))
                fitting = [text for text in written if text is not None and node.accepts(text)]
            return self.random.choice(fitting or ["none fits"])
        form = str(keywords.get("format"))
        if form in FORMATS:
            return self.random.choice(FORMATS[form])
        if keywords.get("contentMediaType") == "application/json":
            return json.dumps(self.value(keywords.get("contentSchema", True), depth + 1))
        word = self.random.choice((*WORDS, *SAMPLES) if self.wide else WORDS)
        if len(word) < least:
            word = (word + " more") * (least // len(word) + 1)
        return word[: max(least, min(most, len(word)))][:most]

    def _number(self, node: Node, keywords: Mapping[str, Any], *, whole: bool) -> int | float:
        """Choose a usual number that fits, else one at or between the bounds."""
        step = keywords.get("multipleOf", 1)
        bounds: list[float] = [keywords[name] for name in _BOUNDS if name in keywords]
        near = [(math.floor(bound / step) + count) * step for bound in bounds for count in range(-2, 3)]
        usual: Sequence[int | float] = NUMBERS if whole else (*FRACTIONS, *NUMBERS)
        other = map(math.floor, near) if whole else (*bounds, *near, sum(bounds) / max(len(bounds), 1))
        fitting = list(filter(node.accepts, usual)) or list(filter(node.accepts, other))
        return self.random.choice(fitting or [0])


def _kind(node: Node) -> str:
    """Return the JSON type to generate; a string if any type is allowed."""
    if node.declared_types:
        return min(set(node.declared_types) - {"null"} or node.declared_types)
    if node.properties or node.required:
        return "object"
    return "array" if node.items.schema or node.prefix_items else "string"


def _weight(node: Node) -> int:
    if node.is_only("null"):
        return 0
    return 2 if node.properties or node.items.schema or node.is_union else 1
