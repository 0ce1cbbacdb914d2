"""Find the code of an author, and strict fields, in a Pydantic core schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mcp_lenient.declare.normalizers.annotation import Chain, Custom
from mcp_lenient.types import Path

_NOT_SCHEMAS: Final = frozenset({"metadata", "serialization", "default", "expected", "members"})
_WRAPPED: Final = ("schema", "lax_schema", "strict_schema", "python_schema")
_WITH_CONFIG: Final = frozenset({"model", "dataclass", "typed-dict"})
_MAX_WRAPPERS: Final = 16
_NOT_THE_AUTHORS: Final = frozenset({"pydantic", "pydantic_core", "builtins", "mcp_lenient"})


def schemas_in(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Return a Pydantic core schema and all schemas inside it."""
    pending: list[Any] = [schema]
    while pending:
        part = pending.pop()
        if isinstance(part, (list, tuple)):
            pending.extend(part)
        elif isinstance(part, dict):
            is_schema = isinstance(part.get("type"), str)
            if is_schema:
                yield part
            pending.extend(value for name, value in part.items() if not (is_schema and name in _NOT_SCHEMAS))


def runs_authors_code(schema: Mapping[str, Any]) -> bool:
    """Return whether validation by this core schema, not by those inside it, runs Python code of the author."""
    if schema["type"].startswith("function-"):
        return _is_authors(schema["function"]["function"])
    if schema.get("custom_init") or schema.get("post_init"):
        return True
    return any(_is_authors(schema.get(name)) for name in ("discriminator", "missing", "default_factory"))


def _is_authors(function: object) -> bool:
    """Return whether this is Python code from outside Pydantic and the standard library.

    A closure of Pydantic's counts as the author's, since it may contain the author's predicate.
    """
    if isinstance(function, Chain):
        return any(isinstance(normalizer, Custom) for normalizer in function.normalizers)
    module = getattr(function, "__module__", None)
    if not callable(function) or module is None:
        return False
    is_closure = "<locals>" in getattr(function, "__qualname__", "")
    return is_closure or module.partition(".")[0] not in _NOT_THE_AUTHORS


def is_strict_at(schema: Mapping[str, Any], path: Path) -> bool:
    """Return whether the author made a field strict: by its type (``StrictInt``), ``Field(strict=True)`` or its model.

    Args:
        schema: The core schema of the arguments.
        path: Where the field's value is in them.
    """
    definitions = {part["ref"]: part for part in schemas_in(schema) if "ref" in part}
    reached = [*_value_schemas(schema, definitions)]
    for key in path:
        below = [(child, strict) for part, strict in reached for child in _children(part, key)]
        reached = [
            pair for child, strict in below for pair in _value_schemas(child, definitions, strict=strict)
        ]
    return any(strict for _, strict in reached)


_Strict = tuple[Mapping[str, Any], bool]


def _value_schemas(
    schema: Mapping[str, Any],
    definitions: Mapping[str, Mapping[str, Any]],
    *,
    strict: bool = False,
    depth: int = 0,
) -> Iterator[_Strict]:
    """Yield the schemas of a value below wrappers, unions and references, each with whether it is strict."""
    if schema["type"] == "definition-ref":
        schema = definitions[schema["schema_ref"]]
    if schema["type"] in _WITH_CONFIG:
        strict = (schema.get("config") or {}).get("strict") is True
    strict = schema.get("strict", strict)
    choices = schema.get("choices", ())
    wrapped = [
        *(schema[name] for name in _WRAPPED if name in schema),
        *schema.get("steps", ()),
        *(choices.values() if isinstance(choices, dict) else choices),
    ]
    if not wrapped or depth >= _MAX_WRAPPERS:
        yield schema, strict
        return
    for part in wrapped:
        inner = part[0] if isinstance(part, tuple) else part
        yield from _value_schemas(inner, definitions, strict=strict, depth=depth + 1)


def _children(schema: Mapping[str, Any], key: str | int) -> Iterator[Mapping[str, Any]]:
    """Yield the schemas of an entry or item of a value of this schema."""
    if isinstance(key, int):
        items = schema.get("items_schema")
        listed = items if isinstance(items, list) else [items] * (key + 1)
        yield from [item for item in listed[key : key + 1] if item is not None]
        return
    fields = schema.get("fields") or (schema["arguments_schema"] if schema["type"] == "arguments" else ())
    named = fields.items() if isinstance(fields, dict) else ((field["name"], field) for field in fields)
    for name, field in named:
        if key in (name, field.get("alias"), field.get("validation_alias")):
            yield field["schema"]
    if "values_schema" in schema:
        yield schema["values_schema"]
