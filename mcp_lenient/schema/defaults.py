"""Let the checks of a published schema accept the defaults that it states itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from mcp_lenient.errors import SchemaError
from mcp_lenient.schema.checks import ANNOTATED, PartChecks, compiled
from mcp_lenient.schema.compile import ReadableSchema
from mcp_lenient.schema.drafts import ASSERTIONS, CONDITIONS, DEFAULT, every_schema, with_subschemas
from mcp_lenient.schema.references import resolve
from mcp_lenient.values.json_values import json_type


def with_defaults(read: ReadableSchema) -> ReadableSchema:
    """Return a schema whose checks accept the ``default`` of each property, except null; the same object if they do.

    A null default that the type refuses is left out by ``null_to_absent``: many servers publish ``{"type": "string",
    "default": null}``, and refuse null. No default is accepted where a reference leads into a schema beside its default,
    or where they nest too deep.
    """
    try:
        root = _widened(read.root, PartChecks(read.root, ANNOTATED))
        parts = list(every_schema(root))
        is_widened = any(DEFAULT in part for part in parts)
        if not is_widened or any(_leads_into_widened(root, part.get("$ref", "#")) for part in parts):
            return read
        return replace(read, root=root, accepts=compiled(root))
    except (SchemaError, RecursionError):  # too deep with them
        return read


def _leads_into_widened(root: Mapping[str, Any], reference: str) -> bool:
    tokens = reference.split("/")
    above = (resolve(root, "/".join(tokens[:length])) for length in range(1, len(tokens)))
    return any(isinstance(part, Mapping) and DEFAULT in part for part in above)


def _widened(schema: Any, checks: PartChecks) -> Any:
    """Return a copy of a schema that accepts the defaults in it."""
    if not isinstance(schema, Mapping):
        return schema
    new = with_subschemas(schema, partial(_widened, checks=checks))
    new |= {keyword: schema[keyword] for keyword in CONDITIONS & schema.keys()}
    properties = new.get("properties")
    if isinstance(properties, dict):
        for name, sub in properties.items():
            if not _accepts_default(sub, checks):
                properties[name] = {"anyOf": [sub, {"const": sub["default"]}], DEFAULT: True}
    return new


def _accepts_default(schema: Any, checks: PartChecks) -> bool:
    """Return whether a schema accepts its default, if any but null, or what it is the text of, such as ``"false"``."""
    if not isinstance(schema, Mapping) or schema.get("default") is None:
        return True
    default = schema["default"]
    if schema.get("type") == json_type(default) and not (ASSERTIONS & schema.keys()) - {"type"}:
        return True
    try:
        json.dumps(default, allow_nan=False)  # `Infinity` would be read as null
        check = checks.of(schema)
        if check(default):
            return True
    except (ValueError, RecursionError):  # not JSON
        return True
    try:
        return isinstance(default, str) and check(json.loads(default.lower()))
    except (ValueError, RecursionError):  # no JSON, or JSON too deep to be meant
        return False
