"""Targets that generate inputs for one law: source spelling, odd schemas, and the log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from time import process_time
from typing import Any, Final

from fuzz.calls import CANARY, Schema, input_schema
from fuzz.choices import Choices
from fuzz.served import FUNCTIONS, KINDS, Tree, logged, parameters, served
from mcp_lenient import normalize

SECONDS: Final = 2.0


class Number(str):
    """A number in its source spelling."""

    __slots__ = ()


# --- source spelling ----------------------------------------------------------------------------------

_WRAPPERS: Final = ("args", "input", "arguments", "params", "kwargs")


def one_spelling(data: bytes) -> None:
    """Check law 4: a number in a parsed text reaches a text parameter in its source spelling."""
    choices = Choices(data)
    function = choices.one_of(FUNCTIONS).__name__
    kind = choices.one_of((*KINDS, "normalize"))
    name = "version" if function == "version" else "values"
    tree = {name: _tree(choices, function)}
    sent = _sent(choices, name, tree)
    received = _received(kind, function, sent)
    assert received is None or _texts(received) == _texts(tree), f"{sent} ran with {received}"


def _received(kind: str, function: str, sent: dict[str, Any]) -> Any:
    if kind == "normalize":
        result = normalize(parameters(function), sent)
        return None if result.violations else result.arguments
    with logged():
        return served().call(f"{kind}_{function}", sent)


def _tree(choices: Choices, function: str) -> Tree:
    made = {
        "version": _number,
        "texts": _numbers,
        "nullable": _numbers,
        "nested": lambda each: [_numbers(each) for _ in range(1 + each.below(3))],
        "mapping": lambda each: {key: _number(each) for key in each.some_of(("a", "b", "x-y"), 3)},
        "model": _release,
        "models": lambda each: [_release(each) for _ in range(1 + each.below(3))],
    }
    return made[function](choices)


def _release(choices: Choices) -> Tree:
    made: dict[str, Tree] = {"version": _number(choices)}
    return made | {"notes": _numbers(choices)} if choices.flag() else made


def _numbers(choices: Choices) -> list[Number]:
    return [_number(choices) for _ in range(1 + choices.below(4))]


def _number(choices: Choices) -> Number:
    whole = _digits(choices).lstrip("0") or "0"
    fraction = f".{_digits(choices)}" if choices.below(4) else ""
    exponent = choices.one_of(("e3", "E-2", "e+05")) if choices.below(8) == 1 else ""
    return Number(f"{'-' if choices.below(8) == 1 else ''}{whole}{fraction}{exponent}")


def _digits(choices: Choices) -> str:
    return "".join(str(choices.below(10)) for _ in range(1 + choices.below(choices.one_of((3, 3, 3, 24)))))


def _sent(choices: Choices, name: str, tree: dict[str, Tree]) -> dict[str, Any]:
    how = choices.below(4)
    wrapper = choices.one_of(_WRAPPERS)
    # A text for a text parameter stays unchanged; only the arguments as a whole are parsed.
    if how == 0 or name == "version":
        return {wrapper: _text(choices, tree)}
    text = _text(choices, tree[name])
    if how == 1:
        return {wrapper: {name: text}}
    if how == 2:
        return {wrapper: json.dumps({name: text})}
    return {name: text}


def _text(choices: Choices, tree: Tree) -> str:
    text = _written(tree)
    return choices.one_of((text, f" {text}\n", f"```json\n{text}\n```", json.dumps(text)))


def _written(tree: Tree) -> str:
    if isinstance(tree, Mapping):
        return f"{{{', '.join(f'{json.dumps(key)}: {_written(each)}' for key, each in tree.items())}}}"
    return tree if isinstance(tree, str) else f"[{', '.join(map(_written, tree))}]"


def _texts(tree: Tree) -> Tree:
    """Return the tree with plain texts; a value that is still a number differs from all of them."""
    if isinstance(tree, Mapping):
        return {key: _texts(each) for key, each in tree.items()}
    if isinstance(tree, list):
        return [_texts(each) for each in tree]
    return str(tree) if isinstance(tree, str) else ("not a text", repr(tree))


# --- odd schemas --------------------------------------------------------------------------------------

_ODD: Final[tuple[tuple[str, tuple[Any, ...]], ...]] = (
    ("exclusiveMinimum", (True, False, "5", None)),
    ("exclusiveMaximum", (True, False, [])),
    ("minimum", ("0", None, True)),
    ("items", ([{"type": "integer"}, {"type": "string"}], [], None, True, "string")),
    ("additionalItems", (False, True, {"type": "string"}, None)),
    ("required", (True, False, "name", None, [1], [None])),
    ("divisibleBy", (2, 0, "2")),
    ("$ref", ("https://example.com/x.json", "#/$defs/absent", "#/nowhere/0", "other.json#/a", "", 5, None)),
    ("$dynamicRef", ("#node", "#")),
    ("$recursiveRef", ("#",)),
    ("pattern", ("(", "[", "*", r"(?<!a)b", r"\p{Nope}", "^(a+)+$", 5)),
    ("patternProperties", ({"(": {}}, None, [])),
    (
        "type",
        ("any", "int", "text", ["string", "any"], [], None, 5, {"type": "string"}, [{"type": "string"}]),
    ),
    ("nullable", (True, "true", False)),
    ("definitions", ({"A": {"type": "integer"}}, None, [])),
    ("$defs", ({"A": None}, [])),
    ("dependencies", ({"a": ["b"]}, {"a": {"required": ["b"]}}, None)),
    ("disallow", ("string", ["null"])),
    ("extends", ({"type": "string"},)),
    ("enum", ([], None, "a", {"a": 1})),
    ("properties", (None, [], {"a": None}, {"a": 5}, True)),
    ("additionalProperties", ("false", None, [])),
    ("anyOf", ([], None, [None], {"type": "string"})),
    ("allOf", ([], [True, False], None)),
    ("not", (None, [], True)),
    ("format", (5, None, "never-heard-of")),
    ("discriminator", ({"propertyName": "kind"}, "kind", None)),
    ("$schema", ("http://json-schema.org/draft-04/schema#", "http://example.com/own", 5)),
    ("$id", ("https://example.com/s", "#a", 5)),
    ("id", ("#a", "https://example.com/s")),
    ("maxLength", (-1, "5", 1.5)),
    ("minItems", (-1, "1", None)),
    ("uniqueItems", ("true", None)),
    ("if", ({"type": "string"}, None)),
    ("contains", (None, [])),
    ("unevaluatedProperties", (False, None)),
    ("const", (None, {})),
)
"""Keywords of other drafts and of OpenAPI, and values that no draft allows."""

_SENTINEL: Final = "sentinel_number"


def one_schema(data: bytes) -> None:
    """Check that any schema compiles, and that the rest of a schema with an odd place is still repaired."""
    choices = Choices(data)
    odd = input_schema(choices)
    places = _places(odd)
    for _ in range(1 + choices.below(3)):
        keyword, values = choices.one_of(_ODD)
        choices.one_of(places)[keyword] = choices.one_of(values)
    if odd.get("required") is True:
        del odd["required"]  # in draft 3 a call without it would be wrong
    schema = {
        "type": "object",
        "properties": {_SENTINEL: {"type": "integer"}, "odd": odd},
        "required": [_SENTINEL],
        "additionalProperties": False,
    }
    started = process_time()
    beside = normalize(schema, {_SENTINEL: "42"})
    right = {_SENTINEL: 42}
    assert beside.arguments == right, f"not repaired beside an odd place: {schema}"
    assert normalize(schema, right).arguments is right, "what is accepted is not the same object"
    within = normalize(schema, {_SENTINEL: "42", "odd": choices.text()})
    assert within.violations or within.arguments[_SENTINEL] == 42, "accepted without the repair"
    assert process_time() - started < SECONDS, "took too long"


def _places(schema: Any) -> list[Schema]:
    """Return all nodes of a schema, the root first; the schema was just generated, so the walk is bounded."""
    found: list[Schema] = []
    waiting = [schema]
    while waiting and len(found) < 200:
        node = waiting.pop(0)
        if not isinstance(node, dict):
            continue
        found.append(node)
        waiting += [node.get("items"), node.get("additionalProperties")]
        for word in ("properties", "patternProperties", "$defs"):
            waiting += node.get(word, {}).values()
        for word in ("anyOf", "oneOf", "allOf", "prefixItems"):
            waiting += node.get(word, [])
    return found


# --- what reaches the log -----------------------------------------------------------------------------

_LONGEST_NAME: Final = 128
_IN_KEYS: Final = (":", "=", "(", '({"password": "', "'", '"', "{", "?token=", "[")
"""Text that no parameter name contains, so a key with it contains more than a name."""
_IN_TOOLS: Final = (*_IN_KEYS, " ", "\n", "\x1b[31m", "&", "~1", "$")


def one_log(data: bytes) -> None:
    """Check that the log has no tool name or key that contains more than a name, and no key of a secret map."""
    if CANARY.encode() in data:
        return  # the fuzzer has learned the word, and writes it where it may be shown
    choices = Choices(data)
    tool = f"{choices.one_of(KINDS)}_{choices.one_of(FUNCTIONS).__name__}"
    how = choices.below(8)
    arguments: dict[str, Any] = {}
    if how == 1:
        tool = _hidden_name(choices, _IN_TOOLS)
    elif how == 2:
        tool = f"{choices.one_of(KINDS)}_vault"
        arguments = {"api_keys": {f"{choices.text()}{CANARY}": _value(choices)}}
    else:
        arguments = _with_key(choices, how, _hidden_name(choices, _IN_KEYS))
    with logged() as events:
        served().call(tool, arguments)
    assert not any(CANARY in event for event in events), f"{tool!r} {arguments!r} reached the log: {events}"


def _hidden_name(choices: Choices, within: tuple[str, ...]) -> str:
    """Return a name that contains the canary and is not a plain short name."""
    before, after = choices.one_of(("", "search", "password", "a.b")), choices.text()
    name = f"{before}{choices.one_of(within)}{CANARY}{after}"
    assert not _plain(name)
    return name


def _plain(name: str) -> bool:
    return len(name) <= _LONGEST_NAME and all(each.isalnum() or each in "_-./" for each in name)


def _value(choices: Choices) -> Any:
    return choices.one_of((1, "x", None, [1], CANARY))


def _with_key(choices: Choices, how: int, name: str) -> dict[str, Any]:
    inner: dict[str, Any] = {name: _value(choices)}
    if how == 3:
        return {"values": inner}
    if how == 4:
        return {"values": [inner]}
    if how == 5:
        return {"values": json.dumps(inner)}
    return inner
