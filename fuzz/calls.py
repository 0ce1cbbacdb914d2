"""Make schemas, and arguments that nearly fit them, from a fuzzer's choices."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from fuzz.choices import Choices
from mcp_lenient.values.display import is_secret_name
from mcp_lenient.values.names import fold_name

Schema = dict[str, Any]

CANARY: Final = "c4n4ry-9f3e"
"""A value used only where it must not be repeated: under secret names, and under undeclared names."""

NAMES: Final = """
    tags tag max_results maxResults id user_id item items type value kind name _id args input query data a b
    password api_key toolCallId action 名
""".split()
_UNDECLARED: Final = "tgas x pasword api_kye maxresults toolCallId sessionId arguments".split()
_TEXTS: Final = """
    a b fast Fast 5 042 -7 3.10 1e3 true False yes null None n/a 2024-01-01 a,b 1,2,3 [1] ["a"] {} {"a":1} ['a']
    {'a':None} [1,] 9007199254740993 NaN 1_000 ASC in-progress
""".split()
_NUMBERS: Final = (
    0,
    1,
    -1,
    5,
    2,
    2**53 + 1,
    10**400,
    0.5,
    3.14,
    7.0,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
)
_ENUMS: Final = (
    ["fast", "slow"],
    ["in_progress", "done"],
    ["1m", "1M", "1h"],
    ["none", "all"],
    [1, 2, 3],
    ["1", 1, "two"],
    ["asc", "desc", None],
    ["only"],
    [True, "yes"],
    [1.5, [1], {"a": 1}],
)
_SCALARS: Final[tuple[Schema, ...]] = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "null"},
    {"type": "string", "minLength": 2, "maxLength": 5},
    {"type": "string", "pattern": "^(a+)+$"},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "password"},
    {"type": "string", "writeOnly": True},
    {"type": "integer", "minimum": 1, "maximum": 50, "multipleOf": 2},
    {"type": "number", "exclusiveMinimum": 0},
    {"type": ["string", "null"]},
    {"type": ["integer", "string", "array"]},
    {"type": ["boolean", "number"]},
    {"const": "circle"},
    {"not": {"type": "string"}},
    {},
)
_REFS: Final = ("#/$defs/Node", "#/$defs/Leaf", "#", "#/$defs/absent", "https://example.com/x.json")


def input_schema(choices: Choices) -> Schema:
    """Return a tool's schema, usually an object, with two definitions that may refer to each other."""
    top = _object(choices, 3) if choices.below(16) else _schema(choices, 3)
    if choices.flag():
        top["$defs"] = {"Node": _schema(choices, 2), "Leaf": _schema(choices, 1)}
    return top


def _schema(choices: Choices, depth: int) -> Schema:
    if depth <= 0:
        return _scalar(choices)
    made = choices.one_of((_scalar, _shallow_scalar, _object, _array, _union, _ref, _enum))
    schema = made(choices, depth)
    if choices.below(8) == 1:
        schema["default"] = _loose(choices, 1)
    return schema


def _scalar(choices: Choices, _depth: int = 0) -> Schema:
    return dict(choices.one_of(_SCALARS))


_shallow_scalar = _scalar


def _enum(choices: Choices, _depth: int) -> Schema:
    return {"enum": list(choices.one_of(_ENUMS))}


def _ref(choices: Choices, _depth: int) -> Schema:
    return {"$ref": choices.one_of(_REFS[:3]) if choices.below(16) else choices.one_of(_REFS)}


def _object(choices: Choices, depth: int) -> Schema:
    names = choices.some_of(NAMES, 4)
    schema: Schema = {"type": "object", "properties": {name: _schema(choices, depth - 1) for name in names}}
    if names and choices.flag():
        schema["required"] = names[: 1 + choices.below(len(names))]
    extra = choices.below(5)
    if extra < 2:
        schema["additionalProperties"] = False
    elif extra == 2:
        schema["additionalProperties"] = _schema(choices, depth - 1)
    if choices.below(8) == 1:
        pattern = choices.one_of(("^x-", "s$", "^(a+)+$", "("))
        schema["patternProperties"] = {pattern: _schema(choices, depth - 1)}
    return schema


def _array(choices: Choices, depth: int) -> Schema:
    schema: Schema = {"type": "array", "items": _schema(choices, depth - 1)}
    how = choices.below(8)
    if how == 1:
        schema["prefixItems"] = [_schema(choices, depth - 1)]
    elif how == 2:
        schema["uniqueItems"] = True
    elif how == 3:
        schema.update(minItems=1, maxItems=2)
    return schema


def _union(choices: Choices, depth: int) -> Schema:
    keyword = choices.one_of(("anyOf", "oneOf", "allOf"))
    return {keyword: [_schema(choices, depth - 1) for _ in range(1 + choices.below(3))]}


# --- arguments ----------------------------------------------------------------------------------------


def _folded(schema: Schema) -> set[str]:
    return set(map(fold_name, _followed(schema, schema).get("properties", {})))


def arguments(choices: Choices, schema: Schema) -> Any:
    """Return arguments that mostly fit the schema, and sometimes any value."""
    if not choices.below(16):
        return _loose(choices, 3)
    made = _value(choices, schema, schema, 6)
    if isinstance(made, dict):
        for _ in range(choices.below(3)):
            name, value = choices.one_of(_UNDECLARED), choices.one_of((CANARY, {"a": [CANARY]}, None))
            # A name that the schema declares anywhere, in any spelling, may be shown.
            if f'"{name.lower()}"' not in json.dumps(schema).lower() and fold_name(name) not in _folded(
                schema
            ):
                made[name] = value
    return made


def _value(choices: Choices, schema: Mapping[str, Any], root: Schema, depth: int) -> Any:
    damage = _DAMAGE.get(choices.below(24))
    value = _fitting(choices, _followed(schema, root), root, depth)
    return damage(choices, value) if damage else value


def _followed(schema: Mapping[str, Any], root: Schema) -> Mapping[str, Any]:
    for _ in range(4):
        ref = schema.get("$ref")
        if ref == "#":
            return root
        if not isinstance(ref, str) or not ref.startswith("#/$defs/"):
            break
        schema = root.get("$defs", {}).get(ref.removeprefix("#/$defs/"), {})
    return schema


def _fitting(choices: Choices, schema: Mapping[str, Any], root: Schema, depth: int) -> Any:
    branches = [each for word in ("anyOf", "oneOf", "allOf") for each in schema.get(word, ())]
    if depth <= 0:
        return choices.one_of(_TEXTS)
    if branches:
        return _value(choices, choices.one_of(branches), root, depth - 1)
    if "enum" in schema:
        return choices.one_of(schema["enum"])
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = choices.one_of(kind)
    if kind == "object":
        return _filled(choices, schema, root, depth)
    if kind == "array":
        item = schema.get("items", {})
        return [_value(choices, item, root, depth - 1) for _ in range(choices.below(4))]
    return _plain(choices, schema.get("const") or kind)


def _plain(choices: Choices, kind: object) -> Any:
    scalars: Mapping[object, tuple[Any, ...]] = {
        "integer": (3, 1, 60),
        "number": (1.5, 2, 3.14),
        "boolean": (True, False),
        "null": (None,),
        "circle": ("circle",),
    }
    return choices.one_of(scalars.get(kind) or _TEXTS)


def _filled(choices: Choices, schema: Mapping[str, Any], root: Schema, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, below in schema.get("properties", {}).items():
        how = choices.below(8)
        if how == 1:
            continue
        key = _misspelt(choices, name) if how == 2 else name
        made[key] = (
            choices.one_of((CANARY, [CANARY], 5, None))
            if is_secret_name(name)
            else _value(choices, below, root, depth - 1)
        )
    return made


def _misspelt(choices: Choices, name: str) -> str:
    words = name.split("_")
    camel = words[0] + "".join(map(str.title, words[1:]))
    return choices.one_of((camel, name.upper(), name[:-1], f"{name}s", name[::-1], f" {name}", f"_{name}"))


def _loose(choices: Choices, depth: int) -> Any:
    kind = choices.below(9)
    if kind < 3 or depth <= 0:
        return choices.one_of((*_TEXTS, None, True, False, *_NUMBERS))
    if kind < 6:
        return choices.text()
    if kind < 8:
        return [_loose(choices, depth - 1) for _ in range(choices.below(4))]
    return {choices.one_of(NAMES): _loose(choices, depth - 1) for _ in range(choices.below(4))}


def _as_json(choices: Choices, value: Any) -> str:
    text = json.dumps(value, ensure_ascii=choices.flag())
    return choices.one_of(
        (text, f" {text} ", f"```json\n{text}\n```", json.dumps(text), text[:-1], f"{text} x")
    )


_DAMAGE: Final[Mapping[int, Callable[[Choices, Any], Any]]] = {
    1: _as_json,
    2: _as_json,
    3: lambda _, value: repr(value) if not isinstance(value, int) else str(value),
    4: lambda _, value: [value],
    5: lambda _, value: {"item": value},
    6: lambda _, value: value[0] if isinstance(value, list) and value else value,
    7: lambda choices, _: choices.one_of((None, "", "null", "None", [], {})),
    8: lambda choices, _: choices.text(),
    9: lambda choices, _: _loose(choices, 2),
    10: lambda choices, value: {choices.one_of(("value", "args", "a")): value},
    11: lambda choices, value: f"{choices.text()}{value}" if isinstance(value, str) else value,
}
