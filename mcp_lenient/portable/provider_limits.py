"""Find what providers and clients reject or ignore in tools, by the table in ``provider_limits.yaml``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, Final, Literal

from mcp_lenient.schema.drafts import SCHEMA_LISTS, SCHEMA_MAPS, SINGLE_SCHEMAS
from mcp_lenient.schema.references import resolve
from mcp_lenient.types import Path
from mcp_lenient.values.json_values import pointer

Effect = Literal["request_fails", "tool_dropped", "call_fails", "ignored"]
"""What happens: the whole request fails, the tool is missing, its calls fail, or a keyword is ignored."""
Schema = Mapping[str, Any]


@dataclass(frozen=True)
class ListedTool:
    """A tool as a client is listed it.

    Attributes:
        name: Its name.
        schema: Its input schema.
        description: Its description.
        output_schema: The schema of its result, if it has one.
        server: The name under which a client knows the server; empty if unknown.
    """

    name: str
    schema: Schema
    description: str = ""
    output_schema: Schema | None = None
    server: str = ""

    @cached_property
    def places(self) -> tuple[tuple[Path, Schema], ...]:
        """Return each schema in its input schema, with its path."""
        return tuple(_places(self.schema))


@dataclass(frozen=True, slots=True)
class Limit:
    """One fact about a provider or client.

    Attributes:
        of: Who has the limit.
        rule: What it asks for.
        effect: What happens otherwise.
        change: What to change in a tool that breaks it.
        sources: Where this is said: threads, files, packages and pages.
        seen: When it was last seen: a year, month or day.
        test: The name of the test that finds it.
        value: What the test is given.
    """

    of: str
    rule: str
    effect: Effect
    change: str
    sources: tuple[str, ...]
    seen: str
    test: str
    value: Any = field(hash=False)


@dataclass(frozen=True, slots=True)
class Rejection:
    """What breaks a limit: a place of a tool as a JSON Pointer into its input schema, or the tool itself.

    ``tool`` is empty where the whole list breaks it.
    """

    limit: Limit
    tool: str
    pointer: str = ""

    @property
    def fails(self) -> bool:
        """Return whether more than an ignored keyword is lost."""
        return self.limit.effect != "ignored"


def rejections(tools: Sequence[ListedTool], of: str) -> list[Rejection]:
    """Return what one provider or client rejects or ignores in a list of tools.

    >>> [rejection.pointer for rejection in rejections([ListedTool("find", {"type": "object", "anyOf": [{}]})], "anthropic")]
    ['/anyOf']
    """
    broken: list[Rejection] = []
    for limit in limits_of(of):
        if limit.test in _OF_LISTS:
            broken += [Rejection(limit, "")] * _OF_LISTS[limit.test](tools, limit.value)
            continue
        find = _OF_TOOLS[limit.test]
        broken += [
            Rejection(limit, tool.name, pointer(path)) for tool in tools for path in find(tool, limit.value)
        ]
    return broken


# The table


@cache
def _table() -> Mapping[str, Any]:
    from ruamel.yaml import YAML

    text = files("mcp_lenient.portable").joinpath("provider_limits.yaml").read_text(encoding="utf-8")
    table: Mapping[str, Any] = YAML(typ="safe", pure=True).load(text)
    return table


@cache
def limits_of(of: str) -> tuple[Limit, ...]:
    """Return the limits of a provider or client; a name limit of its own replaces that of the one it is like."""
    row = _table()["limits"][of]
    limits = tuple(_limit(of, entry) for entry in row.get("limits", ()))
    tests = {limit.test for limit in limits} & {"tool_name"}
    like = limits_of(row["like"]) if "like" in row else ()
    effect = row.get("effect")
    taken = [replace(item, of=of, effect=effect or item.effect) for item in like if item.test not in tests]
    return (*taken, *limits)


def like(of: str) -> str | None:
    """Return whose limits a provider or client has besides those of its own, or None."""
    other: str | None = _table()["limits"][of].get("like")
    return other


def _limit(of: str, row: Mapping[str, Any]) -> Limit:
    ((test, value),) = row["test"].items()
    row = {**row, "sources": tuple(row["sources"]), "test": test, "value": value}
    return Limit(of=of, change=_table()["changes"][test], **row)


def providers(*, strict: bool = True) -> list[str]:
    """Return who has limits, in the order of the table; ``strict`` with the modes that a client asks for."""
    return [of for of, row in _table()["limits"].items() if strict or not row.get("strict")]


def address(source: str) -> str | None:
    """Return the URL of a source that is a thread or a file on GitHub; None for others.

    >>> address("cursor/cursor#3778")
    'https://github.com/cursor/cursor/issues/3778'
    """
    thread = re.fullmatch(r"([\w.-]+/[\w.-]+)#(\d+)", source)
    if thread is not None:
        return f"https://github.com/{thread[1]}/issues/{thread[2]}"
    repository = re.match(r"([\w.-]+/[\w.-]+):", source)
    return None if repository is None else f"https://github.com/{repository[1]}"


# Finding places


def _places(schema: Any) -> Iterator[tuple[Path, Schema]]:
    waiting: list[tuple[Path, Any]] = [((), schema)]
    while waiting:
        path, inner = waiting.pop()
        if not isinstance(inner, Mapping):
            continue
        yield path, inner
        for keyword, value in inner.items():
            if keyword in SCHEMA_MAPS and isinstance(value, Mapping):
                waiting += [((*path, keyword, name), sub) for name, sub in value.items()]
            elif isinstance(value, list) and (keyword in SCHEMA_LISTS or keyword == "items"):
                waiting += [((*path, keyword, index), sub) for index, sub in enumerate(value)]
            elif keyword in SINGLE_SCHEMAS:
                waiting.append(((*path, keyword), value))


Find = Callable[[ListedTool, Any], Iterable[Path]]
Test = Callable[[Schema, Any], bool]


def _schemas(test: Test) -> Find:
    """Return a function that finds the schemas of a tool that pass a test."""
    return lambda tool, parameter: (path for path, schema in tool.places if test(schema, parameter))


def _keywords(test: Callable[[str, Any], bool]) -> Find:
    """Return a function that finds the keywords of a tool's schemas that pass a test."""
    return lambda tool, parameter: (
        (*path, word) for path, schema in tool.places for word in schema if test(word, parameter)
    )


def _whole(test: Callable[[ListedTool, Any], bool]) -> Find:
    """Return a function that finds the tool itself if it passes a test."""
    return lambda tool, parameter: [()] if test(tool, parameter) else []


def _invalid(tool: ListedTool, _: Any) -> Iterator[Path]:
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    return (tuple(fault.absolute_path) for fault in validator.iter_errors(tool.schema))


def _dangling(tool: ListedTool, _: Any) -> Iterator[Path]:
    for path, schema in tool.places:
        if isinstance(schema.get("$ref"), str) and resolve(tool.schema, schema["$ref"]) is None:
            yield (*path, "$ref")


def _types(schema: Schema) -> list[Any]:
    named = schema.get("type")
    return named if isinstance(named, list) else [named]


def _untyped_items(schema: Schema, _: Any) -> bool:
    items = schema.get("items")
    is_typed = isinstance(items, Mapping) and not {"type", "anyOf", "$ref"}.isdisjoint(items)
    return "array" in _types(schema) and not is_typed


def _enum_of_others(schema: Schema, _: Any) -> bool:
    values = schema.get("enum")
    are_texts = isinstance(values, list) and all(isinstance(member, str) and member for member in values)
    return "enum" in schema and not (are_texts and schema.get("type") == "string")


def _mixed_enum(schema: Schema, _: Any) -> bool:
    kinds = {type(member) for member in schema.get("enum") or () if member is not None}
    return "enum" in schema and ("type" not in schema or len(kinds) != 1)


def _loose_pattern(schema: Schema, _: Any) -> bool:
    pattern = schema.get("pattern", "^$")
    is_anchored = isinstance(pattern, str) and pattern.startswith("^") and pattern.endswith("$")
    return not is_anchored or re.search(r"\(\?[=!<]", pattern) is not None


def _is_open(schema: Schema, _: Any) -> bool:
    is_object = "object" in _types(schema) or "properties" in schema
    return is_object and schema.get("additionalProperties") is not False


def _other_reference(schema: Schema, _: Any) -> bool:
    reference = str(schema.get("$ref", "#"))
    return reference != "#" and re.fullmatch(r"#/\$defs/[^/]+", reference) is None


def _beside(schema: Schema, parameter: Any) -> bool:
    keyword = parameter["keyword"]
    return keyword in schema and bool(schema.keys() - {keyword, *parameter.get("but", ())})


_TYPED: Final = frozenset({"type", "anyOf", "oneOf", "allOf", "$ref"})


def _untyped(tool: ListedTool, _: Any) -> Iterator[Path]:
    untyped = (path for path, schema in tool.places if _TYPED.isdisjoint(schema))
    return (path for path in untyped if path and path[-2:-1] != ("$defs",))


def _reserved(tool: ListedTool, names: Any) -> Iterator[Path]:
    for path, schema in tool.places:
        yield from ((*path, "properties", name) for name in schema.get("properties") or () if name in names)


def _misnamed(tool: ListedTool, pattern: str) -> Iterator[Path]:
    names = tool.schema.get("properties") or ()
    return (("properties", name) for name in names if re.fullmatch(pattern, name) is None)


_LEVELS: Final = frozenset("properties items anyOf oneOf additionalProperties".split())


def _too_deep(tool: ListedTool, most: int) -> Iterator[Path]:
    return (path for path, _ in tool.places if sum(part in _LEVELS for part in path) > most)


_CONDITIONS: Final = frozenset({"if", "then", "else", "not"})


def optional_properties(tool: ListedTool) -> Iterator[tuple[Path, Any]]:
    """Yield each property that may be left out."""
    for path, schema in tool.places:
        required = schema.get("required") or ()
        for name, sub in (schema.get("properties") or {}).items():
            if name not in required and _CONDITIONS.isdisjoint(path):
                yield (*path, "properties", name), sub


def _optional_without_null(tool: ListedTool, _: Any) -> Iterator[Path]:
    return (
        path for path, sub in optional_properties(tool) if isinstance(sub, Mapping) and not _takes_null(sub)
    )


def _takes_null(schema: Schema) -> bool:
    branches = schema.get("anyOf", schema.get("oneOf", ()))
    return (
        not schema.keys() & {*_TYPED, "enum", "const"}
        or "null" in _types(schema)
        or any(isinstance(branch, Mapping) and _takes_null(branch) for branch in branches)
    )


def _is_too_large(tool: ListedTool, limits: Mapping[str, int]) -> bool:
    sizes = {
        "properties": sum(len(schema.get("properties") or ()) for _, schema in tool.places),
        "enum_values": sum(len(schema.get("enum") or ()) for _, schema in tool.places),
        "characters": len(json.dumps(tool.schema, ensure_ascii=False)),
    }
    return any(sizes[name] > most for name, most in limits.items())


def _is_long_with_prefix(tool: ListedTool, limit: Mapping[str, Any]) -> bool:
    server = re.sub(r"[^a-zA-Z0-9_-]", "_", tool.server)
    return bool(server) and len(limit["form"].format(server=server, tool=tool.name)) > limit["most"]


def unions(tool: ListedTool) -> int:
    """Return the number of places that take several types."""
    return sum("anyOf" in schema or isinstance(schema.get("type"), list) for _, schema in tool.places)


_OF_TOOLS: Final[Mapping[str, Find]] = {
    "tool_name": _whole(lambda tool, pattern: re.fullmatch(pattern, tool.name) is None),
    "prefixed_name": _whole(_is_long_with_prefix),
    "description_below": _whole(lambda tool, length: len(tool.description) > length),
    "root_is_object": _whole(lambda tool, _: tool.schema.get("type") != "object"),
    "root_properties": _whole(lambda tool, _: "properties" not in tool.schema),
    "output_is_object": _whole(
        lambda tool, _: tool.output_schema is not None and tool.output_schema.get("type") != "object"
    ),
    "sizes": _whole(_is_too_large),
    "not_at_root": lambda tool, words: ((word,) for word in words if word in tool.schema),
    "without": _keywords(lambda word, words: word in words),
    "only": _keywords(lambda word, words: word not in words),
    "property_names": _misnamed,
    "reserved_names": _reserved,
    "property_types": lambda tool, _: (path for path in _untyped(tool, _) if path[-2:-1] == ("properties",)),
    "types": _untyped,
    "valid": _invalid,
    "targets": _dangling,
    "local_references": _schemas(_other_reference),
    "alone": _schemas(_beside),
    "type_beside_any_of": _schemas(lambda schema, _: {"anyOf", "type"} <= schema.keys()),
    "one_type": _schemas(lambda schema, _: isinstance(schema.get("type"), list)),
    "type_list_alone": _schemas(
        lambda schema, _: (
            isinstance(schema.get("type"), list) and bool(schema.keys() - {"type", "description", "title"})
        )
    ),
    "enum_texts": _schemas(_enum_of_others),
    "enum_types": _schemas(_mixed_enum),
    "array_items": _schemas(
        lambda schema, _: "array" in _types(schema) and {"items", "prefixItems"}.isdisjoint(schema)
    ),
    "typed_items": _schemas(_untyped_items),
    "objects_only": _schemas(
        lambda schema, _: not {"properties", "required"}.isdisjoint(schema) and schema.get("type") != "object"
    ),
    "required_declared": _schemas(
        lambda schema, _: not set(schema.get("required") or ()) <= set(schema.get("properties") or ())
    ),
    "all_required": _schemas(
        lambda schema, _: set(schema.get("properties") or ()) != set(schema.get("required") or ())
    ),
    "closed": _schemas(_is_open),
    "no_boolean_additional": _schemas(lambda schema, _: isinstance(schema.get("additionalProperties"), bool)),
    "anchored_patterns": _schemas(_loose_pattern),
    "bounds_below": _schemas(
        lambda schema, bound_below: any(
            isinstance(bound := schema.get(word), int) and bound >= bound_below
            for word in ("maxLength", "maxItems")
        )
    ),
    "formats": _schemas(lambda schema, formats: "format" in schema and schema["format"] not in formats),
    "deepest": _too_deep,
    "optional_null": _optional_without_null,
}
"""The tests of a tool, by their names in the table."""
_OF_LISTS: Final[Mapping[str, Callable[[Sequence[ListedTool], int], bool]]] = {
    "most_tools": lambda tools, most: len(tools) > most,
    "most_optional": lambda tools, most: sum(1 for tool in tools for _ in optional_properties(tool)) > most,
    "most_unions": lambda tools, most: sum(map(unions, tools)) > most,
}
"""The tests of a whole list."""
