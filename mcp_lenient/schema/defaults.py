"""Let the checks of a published schema accept the defaults that it states itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcp_lenient.schema.checks import PartChecks, compiled
from mcp_lenient.schema.compile import ReadableSchema
from mcp_lenient.schema.drafts import ASSERTIONS, CONDITIONS, DEFAULT, every_schema, with_subschemas
from mcp_lenient.schema.references import resolve
from mcp_lenient.values.json_values import json_type


def with_defaults(read: ReadableSchema) -> ReadableSchema:
    """Return a schema whose checks accept the ``default`` of each property; the same object if they do.

    Many servers publish ``{"type": "string", "default": null}`` for a text that may be null. None is accepted where a
    reference leads into a schema beside its default.
    """
    widening = _Widening(read.root)
    root = widening.of(read.root)
    references = (part["$ref"] for part in every_schema(root) if "$ref" in part)
    if not widening.found or any(resolve(root, each) is None for each in references):
        return read
    return replace(read, root=root, accepts=compiled(root))


class _Widening:
    """Copies of the parts of a schema that also accept the defaults in them."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._checks = PartChecks(root)
        self.found = False
        """Whether a default was refused so far."""

    def of(self, schema: Any) -> Any:
        if not isinstance(schema, Mapping):
            return schema
        new = with_subschemas(schema, self.of) | {each: schema[each] for each in CONDITIONS & schema.keys()}
        if isinstance(properties := new.get("properties"), Mapping):
            new["properties"] = {name: self._widened(sub) for name, sub in properties.items()}
        return new

    def _widened(self, schema: Any) -> Any:
        has_default = isinstance(schema, Mapping) and "default" in schema
        if not has_default or self._accepts(schema) or self._is_written_as_text(schema):
            return schema
        self.found = True
        return {"anyOf": [schema, {"const": schema["default"]}], DEFAULT: True}

    def _accepts(self, schema: Mapping[str, Any]) -> bool:
        default = schema["default"]
        if schema.get("type") == json_type(default) and not (ASSERTIONS & schema.keys()) - {"type"}:
            return True
        try:
            json.dumps(default, allow_nan=False)  # `Infinity` would be read as null
            return self._checks.of(schema)(default)
        except (ValueError, RecursionError):  # not JSON
            return True

    def _is_written_as_text(self, schema: Mapping[str, Any]) -> bool:
        """Return whether a default is the text of a value that the schema accepts, such as ``"false"``."""
        default = schema["default"]
        try:
            return isinstance(default, str) and self._checks.of(schema)(json.loads(default.lower()))
        except (ValueError, RecursionError):  # no JSON, or JSON too deep to be meant
            return False
