"""Strategies for JSON schemas and for values that they accept."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

THOROUGH = bool(os.environ.get("MCP_LENIENT_THOROUGH"))


def examples(most: int) -> int:
    """Return the number of examples for a law that gets ``most`` in ``make test-all``."""
    return max(3, most * settings.default.max_examples // 100)


EXAMPLES = 3_000 if THOROUGH else examples(60)
LAW = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
CASES = Path(os.environ.get("MCP_LENIENT_CASES") or Path(__file__).parents[3] / "shared" / "cases")

Json = dict[str, Any]

NAMES = """
    tags tag max_results maxResults limit id user_id p item items type value kind name _id input args query page_size
    pageSize data a b x-y options
""".split()
TEXTS = """
    a b fast Fast slow 5 42 042 -7 3.10 3.14 1e3 true False yes on null None none n/a 2024-01-01 a,b 1,2,3 [1] ["a"] {} {"a":1}
    ['a'] 9007199254740993 NaN 1_000
""".split()
ENUMS = (
    ["fast", "slow"],
    ["FAST", "fast", "slow"],
    ["in_progress", "done"],
    ["1m", "1M", "1h"],
    ["none", "all"],
    [1, 2, 3],
    ["1", 1, "two"],
    ["asc", "desc", None],
    ["a b", "A-B", "c"],
    ["only"],
)
LOOSE_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 2000)
    | st.sampled_from([0.5, 3.14, 7.0])
    | st.sampled_from(TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)
WEIRD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([16, 400, 5000]).map(lambda digits: 10**digits)
    | st.sampled_from([2**53, -0.0])
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=5)
    | st.sampled_from(
        [
            "\ud800",
            "[\ud800]",
            '{"\ud800": 1}',
            "[" * 200,
            '"' * 9,
            "\x00",
            "\ufeff",
            "9" * 5000,
            "-",
            "1e999",
        ]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*NAMES, "\ud800", "a/b~c", "", "x" * 200]) | st.text(max_size=3),
            inner,
            max_size=3,
        )
        | st.dictionaries(st.integers(0, 3), inner, max_size=2)
    ),
    max_leaves=8,
)
"""Values that JSON represents badly or not at all."""


# --- schemas ------------------------------------------------------------------------------------------


@st.composite
def schemas(draw: st.DrawFn) -> Json:
    """Draw an input schema: an object with definitions that may refer to each other and to themselves."""
    definitions = {
        name: draw(_objects(1, ["Node", "Leaf"])) for name in draw(st.sampled_from([(), ("Node", "Leaf")]))
    }
    top = draw(_objects(3, list(definitions)))
    return {**top, "$defs": definitions} if definitions else top


@st.composite
def _objects(draw: st.DrawFn, depth: int, refs: list[str]) -> Json:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    properties = {name: draw(_schemas(depth - 1, refs)) for name in names}
    required = [name for name in names if "$ref" not in properties[name] and draw(st.booleans())]
    made: Json = {"type": "object", "properties": properties, "required": required}
    openness = draw(st.sampled_from(["closed", "closed", "open", "typed", "patterned"]))
    if openness in ("closed", "patterned"):
        made["additionalProperties"] = False
    if openness == "typed":
        made["additionalProperties"] = draw(_scalars())
    if openness == "patterned":
        made["patternProperties"] = {draw(st.sampled_from(["^x-", "^_", "s$"])): draw(_scalars())}
    return made


def _schemas(depth: int, refs: list[str]) -> st.SearchStrategy[Json]:
    choices = [_scalars(), _scalars(), st.sampled_from([{}, {"type": "object"}, {"type": "array"}])]
    if refs:
        choices.append(st.sampled_from([{"$ref": f"#/$defs/{name}"} for name in refs]))
    if depth > 0:
        choices += [_objects(depth, refs), _arrays(depth, refs), _unions(depth, refs)]
    return st.one_of(choices)


@st.composite
def _scalars(draw: st.DrawFn) -> Json:
    made: Json = dict(
        draw(
            st.sampled_from(
                [
                    {"type": "string"},
                    {"type": "string", "minLength": 2},
                    {"type": "string", "pattern": "^[a-z]+$"},
                    {"type": "integer"},
                    {"type": "integer", "minimum": 1, "maximum": 50},
                    {"type": "number"},
                    {"type": "number", "exclusiveMinimum": 0},
                    {"type": "boolean"},
                    {"type": ["string", "null"]},
                    {"type": ["integer", "null"]},
                    {"type": ["integer", "string"]},
                    {"type": ["boolean", "number"]},
                    *({"enum": values} for values in ENUMS),
                    {"type": "string", "enum": ["low", "high"]},
                    {"const": "circle"},
                ]
            )
        )
    )
    if draw(st.booleans()) and isinstance(made.get("type"), str) and made["type"] == "integer":
        made["default"] = 10
    return made


@st.composite
def _arrays(draw: st.DrawFn, depth: int, refs: list[str]) -> Json:
    made: Json = {"type": "array", "items": draw(_schemas(depth - 1, refs))}
    bound = draw(
        st.sampled_from([None, None, ("minItems", 1), ("maxItems", 2), ("uniqueItems", True), ("prefix", 1)])
    )
    if bound and bound[0] == "prefix":
        made["prefixItems"] = [draw(_scalars())]
    elif bound:
        made[bound[0]] = bound[1]
    return made


@st.composite
def _unions(draw: st.DrawFn, depth: int, refs: list[str]) -> Json:
    branches = draw(st.lists(_schemas(depth - 1, refs), min_size=2, max_size=3))
    if draw(st.booleans()):
        branches[-1] = {"type": "null"}
    if draw(st.booleans()):
        for index, branch in enumerate(branches):
            if "properties" in branch:
                branch["properties"]["kind"] = {"const": f"kind{index}"}
                branch["required"] = sorted({*branch["required"], "kind"})
    return {draw(st.sampled_from(["anyOf", "anyOf", "oneOf"])): branches}


# --- valid values ----------------------------------------------------------------------------------------


@st.composite
def values(draw: st.DrawFn, root: Json, schema: Any, depth: int = 6) -> Any:
    """Draw a value for a schema. It is nearly always valid, which the caller must check."""
    schema = resolved(root, schema)
    if schema.get("enum"):
        return draw(st.sampled_from(schema["enum"]))
    if "const" in schema:
        return schema["const"]
    for union in ("anyOf", "oneOf"):
        if schema.get(union):
            beside = {name: value for name, value in schema.items() if name != union}
            if "properties" in beside:
                return draw(values(root, beside, depth))
            return draw(values(root, draw(st.sampled_from(schema[union])), depth - 1))
    named = schema.get("type")
    json_type = draw(st.sampled_from(named)) if isinstance(named, list) else named
    if json_type is None and "properties" in schema:
        json_type = "object"
    if json_type == "object":
        return draw(_object_values(root, schema, depth))
    if json_type == "array":
        return draw(_array_values(root, schema, depth))
    return draw(_scalar_values(schema, json_type))


def resolved(root: Json, schema: Any) -> Json:
    """Return a schema with its reference followed."""
    seen = 0
    while isinstance(schema, dict) and seen < 10:
        seen += 1
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/"):
            target: Any = root
            for token in reference[2:].split("/"):
                target = target.get(token, {}) if isinstance(target, dict) else {}
            schema = target
        elif len(schema.get("allOf", ())) == 1:
            schema = {**schema, **schema["allOf"][0], "allOf": ()}
        else:
            return schema
    return {}


@st.composite
def _object_values(draw: st.DrawFn, root: Json, schema: Json, depth: int) -> Json:
    made: Json = {}
    required = schema.get("required", ())
    for name, sub in schema.get("properties", {}).items():
        if name in required or (depth > 0 and draw(st.booleans())):
            made[name] = draw(values(root, sub, depth - 1))
    extra = schema.get("additionalProperties")
    if extra is not False and depth > 0 and draw(st.integers(0, 3)) == 0:
        name = draw(st.sampled_from(NAMES))
        made.setdefault(name, draw(values(root, extra if isinstance(extra, dict) else {}, depth - 1)))
    for pattern, sub in schema.get("patternProperties", {}).items():
        for name in ("x-foo", "_trace", "maxResults", "tgas"):
            if name not in made and re.search(pattern, name) and draw(st.booleans()):
                made[name] = draw(values(root, sub, depth - 1))
    return made


@st.composite
def _array_values(draw: st.DrawFn, root: Json, schema: Json, depth: int) -> list[Any]:
    prefix = schema.get("prefixItems", [])
    made = [draw(values(root, sub, depth - 1)) for sub in prefix if isinstance(sub, dict)]
    least = max(schema.get("minItems", 0) - len(made), 0)
    most = min(max(schema.get("maxItems", 3) - len(made), least), least + 3)
    count = draw(st.integers(least, most)) if depth > 0 else least
    items = schema.get("items", {})
    return made + [
        draw(values(root, items if isinstance(items, dict) else {}, depth - 1)) for _ in range(count)
    ]


def _scalar_values(schema: Json, json_type: str | None) -> st.SearchStrategy[Any]:
    low, high = schema.get("minimum", -20), schema.get("maximum", schema.get("minimum", -20) + 2000)
    if json_type == "string":
        return _texts(schema)
    if json_type == "integer":
        return st.integers(int(low), max(int(high), int(low)))
    if json_type == "number":
        return st.integers(int(low), max(int(high), int(low))) | st.sampled_from([0.5, 3.14, 2.25, 1e-7, 7.0])
    if json_type == "boolean":
        return st.booleans()
    return st.none() if json_type == "null" else LOOSE_JSON


def _texts(schema: Json) -> st.SearchStrategy[str]:
    least = schema.get("minLength", 0)
    texts = st.sampled_from(["", *TEXTS]) | st.text(max_size=8)
    if schema.get("pattern") == "^[a-z]+$":
        texts = st.from_regex("[a-z]{2,6}", fullmatch=True)
    return texts.map(lambda text: (text + "abcdefgh" * least)[: max(len(text), least)])


# --- comparison ---------------------------------------------------------------------------------------


def exactly(value: Any) -> Any:
    """Return a value in a form that compares types too: True, 1 and 1.0 differ."""
    if isinstance(value, Mapping):
        return {key: exactly(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [exactly(entry) for entry in value]
    return (type(value).__name__, repr(value))


def same_json(one: Any, other: Any) -> bool:
    """Return whether two values are equal in JSON, where 1 equals 1.0 but not true."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same_json(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def real_schemas() -> list[Json]:
    """Return the input schemas of real tools, if they are available."""
    file = CASES / "real_tool_schemas.jsonl"
    if not file.exists():
        return []
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [found for row in rows if isinstance(found := _schema_of(row), dict)]


def _schema_of(row: Json) -> Any:
    return row.get("schema") or row.get("inputSchema") or row.get("input_schema") or row.get("parameters")
