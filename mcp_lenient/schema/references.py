"""Follow local references: the schemas that apply to one value together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from mcp_lenient.schema.drafts import DEFAULT
from mcp_lenient.values.json_values import tokens_of

ROOT_URI: Final = "urn:mcp-lenient:root"

_INDEX: Final = re.compile(r"[0-9]{1,9}")  # `int` refuses thousands of digits
_LEADING: Final = frozenset({"$ref", "allOf", DEFAULT})

Schema = Mapping[str, Any]
Parts = tuple[Schema, ...]


def resolve(root: Schema, reference: str) -> Any:
    """Return the target of a local ``$ref``, or None; nothing is fetched."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    return pointed_at(root, unquote(reference[1:]))


def pointed_at(target: Any, fragment: str) -> Any:
    """Return the target of a JSON Pointer, or None."""
    for name in tokens_of(fragment):
        if isinstance(target, Mapping) and name in target:
            target = target[name]
        elif isinstance(target, (list, tuple)) and _INDEX.fullmatch(name) and int(name) < len(target):
            target = target[int(name)]
        else:
            return None
    return target


def parts_of(root: Schema, schema: Any) -> Parts:
    """Return a schema without its refused default, its ``$ref`` targets and its ``allOf``, each once; () for a boolean."""
    if isinstance(schema, dict) and _LEADING.isdisjoint(schema):
        return (schema,)
    schemas: dict[int, Schema] = {}
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping) and DEFAULT in part:
            part = part["anyOf"][0]
        if not isinstance(part, Mapping) or id(part) in schemas:
            continue
        schemas[id(part)] = part
        waiting.extend(reversed(part.get("allOf", ())))
        if isinstance(part.get("$ref"), str):
            waiting.append(resolve(root, part["$ref"]))
    return tuple(schemas.values())
