"""Write the tools of a server as a definitions file, or as text for a model's prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from mcp.types import Tool

from mcp_lenient.adapters.sdk_caller import field
from mcp_lenient.declare.declarations import Declared
from mcp_lenient.declare.definitions import Definitions
from mcp_lenient.declare.definitions.statements import described, refuses
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.refusal.sentences import SAMPLES, describe, likely_types, requirement
from mcp_lenient.schema.compile import readable
from mcp_lenient.schema.node import Node, Tree
from mcp_lenient.values.display import fits_json, shown
from mcp_lenient.values.language import Language

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{1,100}", re.ASCII)
_READ_OTHERWISE: Final = frozenset("true false yes no on off null".split())
_LONGEST_DEFAULT: Final = 200
_LONGEST_NAME: Final = 1_000
_DEEPEST: Final = 4
_INDENT: Final = "  "

CALL_FORMAT: Final = """\
To call a tool, write its name as a tag around one JSON object with the arguments, on lines of its own:

<tool_name>
{"parameter": "value"}
</tool_name>

- Use the names of tools and parameters exactly as below.
- Write numbers, true, false, lists and objects as JSON, not as text in quotes.
- Leave out an optional parameter that is not needed; do not send null or an empty text for it.
- A tool without parameters is called with {}.
- Write nothing after a call but other calls, and no colon at the end of a sentence before it.
- Several calls may follow each other. Each answer comes back within <tool_result>; wait for it before you go on."""
"""How a model calls a tool by text, as :func:`mcp_lenient.parse_tool_calls` reads it."""


def as_definitions(tools: Iterable[Tool]) -> str:
    """Write tools as a definitions file in YAML: description, type, requirement and default of each parameter."""
    lines = ["tools:"]
    for tool in tools:
        lines.append(f"{_INDENT}{_name(tool.name)}:")
        lines += (_INDENT * 2 + line for line in _tool(tool))
    return "\n".join(lines) if len(lines) > 1 else "tools: {}"


def _tool(tool: Tool) -> Iterator[str]:
    if tool.description:
        yield f"description: {_quoted(tool.description.strip())}"
    read = readable(field(tool, "input_schema"))
    branches = Tree(read).top.branches
    validator = PublishedSchemaValidator(read)
    properties = {name: node for branch in branches for name, node in branch.property_nodes.items()}
    yield "parameters:" if properties else "parameters: {}"
    for name, node in properties.items():
        yield f"{_INDENT}{_name(name)}:"
        required = any(name in branch.required for branch in branches)
        for key, text in _parameter(node, required=required):
            if key != "default" or not refuses(validator, name, json.loads(text)):
                yield f"{_INDENT * 2}{key}: {text}"


def _parameter(node: Node, *, required: bool) -> Iterator[tuple[str, str]]:
    types = _types(node)
    if types:
        yield "type", _name(types[0]) if len(types) == 1 else f"[{', '.join(map(_name, types))}]"
    yield "required", "true" if required else "false"
    default = _first(node, "default")
    if not required and default is not None:
        yield "default", json.dumps(default)
    description = _first(node, "description")
    if isinstance(description, str) and description.strip():
        yield "description", _quoted(description.strip())


def _types(node: Node) -> list[str]:
    """Return the accepted JSON types; empty if any is."""
    kinds = [likely_types(branch) for branch in node.branches]
    return list(dict.fromkeys(kind for way_kinds in kinds for kind in way_kinds)) if all(kinds) else []


def _first(node: Node, keyword: str) -> Any:
    return next((value for part in (node, *node.branches) for value in part.values_of(keyword)), None)


def _name(text: str) -> str:
    """Write a name as YAML, quoted if any reader could take it for something other than text."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in _READ_OTHERWISE else _quoted(text)


def _quoted(text: str) -> str:
    """Write a text as YAML on one line: as JSON, with what is not printable escaped."""
    written = json.dumps(text, ensure_ascii=False)
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in written)


def as_prompt(
    tools: Iterable[Tool], definitions: Definitions | None = None, server: str | None = None
) -> str:
    """Write tools for a model's prompt: how to call one, and every parameter of each.

    The descriptions and defaults of a definitions file replace the published ones. With a server, a call is to be written
    inside the tag of this name.
    """
    declared = {} if definitions is None else definitions.tools
    parts = [_section(tool, declared.get(tool.name, Declared())) for tool in tools]
    return "\n\n".join([CALL_FORMAT if server is None else _in_tag(server), *parts])


def _in_tag(server: str) -> str:
    """Return how a call is written inside the tag of its server."""
    before, call, after = re.split(r"(<tool_name>.*</tool_name>)", CALL_FORMAT, flags=re.DOTALL)
    opening = before.replace(", on lines of its own:", f", all of it in the tag of its server, {server}:")
    return f"{opening}<{server}>\n{call}\n</{server}>{after}"


def _section(tool: Tool, declared: Declared) -> str:
    top = Tree(described(field(tool, "input_schema"), declared.stated)).top
    lines = [
        f"## {shown(tool.name, _LONGEST_NAME)}",
        declared.description or (tool.description or "").strip(),
    ]
    lines += _below(top, 0) or ["It has no parameters."]
    return "\n".join(filter(None, lines))


def _below(node: Node, depth: int) -> list[str]:
    """Return what is within an object or a list: its items, its values, and its properties by union branch."""
    if depth >= _DEEPEST:
        return []
    lines = list(_contents("each item", map(_item, node.branches), depth))
    for branch in node.branches:
        for number, item in enumerate(branch.prefix_items, 1):
            lines += _contents(f"item {number}", [item], depth)
    other = "any other name" if node.names else "any name"
    return [*lines, *_properties(node, depth), *_contents(other, map(_other, node.branches), depth)]


def _contents(what: str, inner: Iterable[Node | None], depth: int) -> Iterator[str]:
    """Return lines about the items of lists, or the values of objects; equal ones only once."""
    nodes = {json.dumps(node.schema, sort_keys=True): node for node in inner if node is not None}
    for node in nodes.values():
        yield f"- {what} ({', '.join(_facts(node))})"
        yield from _indented(_below(node, depth + 1))


def _item(branch: Node) -> Node | None:
    """Return the items of a list, unless its type says all of them, or they are listed by their properties."""
    if not branch.may_be("array") or not branch.values_of("items"):
        return None
    says_more = any(
        inner.enum is not None or inner.may_be("array") or _limits(inner) or _other(inner) is not None
        for inner in branch.items.branches
    )
    return branch.items if says_more and not branch.items.names else None


def _other(branch: Node) -> Node | None:
    """Return the values of an object under names that it does not declare, if it says what they are."""
    is_object = "object" in likely_types(branch)
    describes = is_object and isinstance(branch.additional, Mapping) and branch.additional
    return branch.tree.node(branch.additional) if describes else None


_LIMITS: Final = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "integer": ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"),
    "number": ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"),
    "array": ("minItems", "maxItems", "uniqueItems"),
    "object": ("minProperties", "maxProperties"),
}
"""The keywords that limit the values of a type."""


def _limits(branch: Node) -> str:
    """Return what the values of a branch must satisfy besides their type, to follow "must"."""
    say = Language()
    keywords = dict.fromkeys(keyword for kind in likely_types(branch) for keyword in _LIMITS.get(kind, ()))
    bounds = [
        requirement(keyword, bound, say)
        for keyword in (() if branch.enum is not None else keywords)
        for bound in branch.values_of(keyword)
        if bound is not False and not (keyword == "format" and bound in SAMPLES)
    ]
    return say.all_of(list(filter(None, bounds)))


def _facts(node: Node) -> Iterator[str]:
    """Return what is accepted: types and all allowed values, then the limits."""
    say = Language()
    yield describe(node, say, all_values=True) or "any JSON value"
    branches = (branch for branch in node.branches if branch.declared_types != ("null",))
    limits = {describe(branch, say): _limits(branch) for branch in branches}
    for kind, limit in limits.items():
        if limit:
            yield f"must {limit}" if len(limits) == 1 else f"{kind} must {limit}"


def _properties(node: Node, depth: int) -> list[str]:
    """Return a line for each property of an object or of a list's items, with nested properties, by union branch."""
    parts = (part for branch in node.branches for part in (branch, *branch.items.branches))
    objects = (part for part in parts if part.properties)
    branches = dict.fromkeys(
        tuple(line for name in branch.properties for line in _line(branch, name, depth)) for branch in objects
    )
    if len(branches) == 1:
        return [line for lines in branches for line in lines]
    return [
        line
        for index, lines in enumerate(branches)
        for line in (f"- {'or' if index else 'either'} an object with:", *_indented(lines))
    ]


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"{_INDENT}{line}" for line in lines)


def _line(branch: Node, name: str, depth: int) -> Iterator[str]:
    node = branch.property_nodes[name]
    accepted, *limits = _facts(node)
    facts = [accepted, "required" if name in branch.required else "optional", *limits]
    default = _first(node, "default")
    if default is not None and fits_json(default, _LONGEST_DEFAULT):
        facts.append(f"default {json.dumps(default, ensure_ascii=False)}")
    description = _first(node, "description")
    words = (
        f": {' '.join(description.split())}" if isinstance(description, str) and description.strip() else ""
    )
    yield f"- {shown(name, _LONGEST_NAME)} ({', '.join(facts)}){words}"
    yield from _indented(_below(node, depth + 1))
