"""Make real Python functions from JSON Schemas, to send recorded calls to function tools."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Awaitable, Callable, Mapping
from datetime import date, datetime
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, Union
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic_core import to_jsonable_python

Schema = Mapping[str, Any]

_ABSENT = object()
"""The default of an optional parameter without a default in the schema; no call can send it."""

_FORMATS: Mapping[str, Any] = {"date-time": datetime, "date": date, "uuid": UUID}
_NUMBER_BOUNDS = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
}
_BOUNDS: Mapping[str, Mapping[str, str]] = {
    "integer": _NUMBER_BOUNDS,
    "number": _NUMBER_BOUNDS,
    "string": {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"},
    "array": {"minItems": "min_length", "maxItems": "max_length"},
}


_EXPRESSED = frozenset(
    {"$schema", "title", "description", "examples", "default", "type", "properties", "required", "items"}
    | {"additionalProperties", "enum", "const", "anyOf", "oneOf", "format"}
)
"""The keywords that an annotation can express."""
_BOUND_WORDS = frozenset(word for bounds in _BOUNDS.values() for word in bounds)


def recording_function(
    schema: Schema, received: list[Any], *, annotations: Mapping[str, Any] | None = None
) -> Callable[..., Awaitable[str]]:
    """Return a function that publishes the equivalent of ``schema`` and records its arguments as JSON.

    The record does not contain a model's fields that were not sent, or an omitted parameter without a default.

    Args:
        schema: An object schema; its properties become the parameters.
        received: Gets one object for each run.
        annotations: Annotations for parameters that the schema does not describe fully.

    Raises:
        ValueError: If a property name cannot be a parameter's name.
    """

    async def tool(**arguments: Any) -> str:
        received.append({name: _as_json(value) for name, value in arguments.items() if value is not _ABSENT})
        return "ran"

    known = annotations or {}
    required = schema.get("required", ())
    parameters = [
        _parameter(name, node, name in required, known.get(name))
        for name, node in schema.get("properties", {}).items()
    ]
    tool.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    tool.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return tool


def expressible(schema: Schema) -> bool:
    """Return whether a function can express the schema at every place."""
    names = schema.get("properties", {})
    return (
        schema.get("type") == "object"
        and schema.keys() <= _EXPRESSED
        and schema.get("additionalProperties", False) is False
        and all(map(_parameter_name, names))
        and all(map(_expressible, names.values()))
    )


def _parameter_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")


def _expressible(node: Any) -> bool:
    if not isinstance(node, Mapping) or not node.keys() <= _EXPRESSED | _BOUND_WORDS:
        return False
    kinds = node.get("type", [])
    members = [*node.get("enum", ()), *([node["const"]] if "const" in node else ())]
    extra = node.get("additionalProperties", False)
    below = [
        *node.get("properties", {}).values(),
        *node.get("anyOf", ()),
        *node.get("oneOf", ()),
        *([node["items"]] if "items" in node else ()),
        *([] if isinstance(extra, bool) else [extra]),
    ]
    return (
        set(kinds if isinstance(kinds, list) else [kinds]) <= _TYPES.keys()
        and all(member is None or isinstance(member, (str, int)) for member in members)
        and not ("properties" in node and extra not in (False, None))
        and all(map(_expressible, below))
    )


def _parameter(name: str, node: Schema, required: bool, known: Any) -> inspect.Parameter:  # noqa: FBT001
    if not name.isidentifier() or keyword.iskeyword(name):
        msg = f"{name!r} cannot be a parameter's name"
        raise ValueError(msg)
    default = inspect.Parameter.empty if required else node.get("default", _ABSENT)
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=known or _annotation(node, name))


def _annotation(node: Schema, name: str) -> Any:
    for key, build in _BUILDERS.items():
        if key in node:
            return build(node, name)
    return Any


def _const(node: Schema, _name: str) -> Any:
    return Literal[node["const"]]


def _enum(node: Schema, _name: str) -> Any:
    return Literal[tuple(node["enum"])]


def _any_of(node: Schema, name: str) -> Any:
    return Union[tuple(_annotation(branch, f"{name}_{at}") for at, branch in enumerate(node["anyOf"]))]  # noqa: UP007


def _one_of(node: Schema, name: str) -> Any:
    return _any_of({"anyOf": node["oneOf"]}, name)


def _typed(node: Schema, name: str) -> Any:
    kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
    return reduce(or_, (_bounded(kind, _TYPES[kind](node, name), node) for kind in kinds))


def _bounded(kind: str, plain: Any, node: Schema) -> Any:
    bounds = {theirs: node[ours] for ours, theirs in _BOUNDS.get(kind, {}).items() if ours in node}
    return Annotated[plain, Field(**bounds)] if bounds else plain


def _string(node: Schema, _name: str) -> Any:
    return _FORMATS.get(node.get("format", ""), str)


def _array(node: Schema, name: str) -> Any:
    return list[_annotation(node.get("items", {}), f"{name}_item")]  # type: ignore[misc]


def _object(node: Schema, name: str) -> Any:
    extra = node.get("additionalProperties")
    if "properties" in node:
        return _model(node, name)
    if isinstance(extra, Mapping):
        return dict[str, _annotation(extra, f"{name}_value")]  # type: ignore[misc]
    return _model({"properties": {}, **node}, name) if extra is False else dict[str, Any]


def _model(node: Schema, name: str) -> type[BaseModel]:
    required = node.get("required", ())
    fields: dict[str, Any] = {
        f"field_{at}" if _hidden(key) else key: _field(key, child, key in required)
        for at, (key, child) in enumerate(node["properties"].items())
    }
    closed = node.get("additionalProperties") is False
    config = ConfigDict(extra="forbid" if closed else "ignore", protected_namespaces=())
    return create_model(f"Model_{name}", __config__=config, **fields)


def _field(key: str, child: Schema, required: bool) -> Any:  # noqa: FBT001
    default = ... if required else child.get("default", _ABSENT)
    return (_annotation(child, key), Field(default, alias=key if _hidden(key) else None))


def _hidden(key: str) -> bool:
    """Return whether a model's field of this name needs an alias."""
    return not key.isidentifier() or keyword.iskeyword(key) or key.startswith("_") or hasattr(BaseModel, key)


def _as_json(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    return to_jsonable_python(value)


_BUILDERS: Mapping[str, Callable[[Schema, str], Any]] = {
    "const": _const,
    "enum": _enum,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "type": _typed,
}
_TYPES: Mapping[str, Callable[[Schema, str], Any]] = {
    "string": _string,
    "integer": lambda _node, _name: int,
    "number": lambda _node, _name: float,
    "boolean": lambda _node, _name: bool,
    "null": lambda _node, _name: None,
    "array": _array,
    "object": _object,
}
