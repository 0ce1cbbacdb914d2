"""Make real Python types and functions from JSON Schemas, as an author would write them by hand."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from functools import reduce
from operator import getitem
from typing import Annotated, Any, Literal, Union
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic_core import to_jsonable_python

Schema = Mapping[str, Any]


class UnsupportedError(Exception):
    """No type or function expresses the schema; gives the reason."""


class Absent:
    """The value of an omitted parameter; copies of it are the same object."""

    def __copy__(self) -> Absent:
        return self

    def __deepcopy__(self, memo: object) -> Absent:
        return self


ABSENT = Absent()
"""The default of an optional parameter without a default in the schema; no call can send it."""

_FORMATS: Mapping[str, Any] = {"date-time": datetime, "date": date, "uuid": UUID}
_SCALARS: Mapping[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "null": None}
_OF_NUMBERS = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
}
_BOUNDS: Mapping[str, Mapping[str, str]] = {
    "integer": _OF_NUMBERS,
    "number": _OF_NUMBERS,
    "string": {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"},
    "array": {"minItems": "min_length", "maxItems": "max_length"},
}
_EXPRESSED = frozenset(
    "$schema title description examples default type properties required items additionalProperties enum const anyOf"
    " oneOf format".split()
)
"""The keywords that an annotation can express."""
_BOUND_WORDS = frozenset(word for bounds in _BOUNDS.values() for word in bounds)


class Annotator:
    """Makes annotations for the parts of one schema.

    Args:
        root: The schema that references point into.
        extra: What models of open objects do with further keys, in Pydantic's words.
    """

    def __init__(self, root: Schema, extra: Literal["allow", "ignore"] = "allow") -> None:
        self._root = root
        self._extra = extra
        self._open: list[str] = []

    def annotation(self, node: Schema, name: str) -> Any:
        """Return the annotation for a part.

        Raises:
            UnsupportedError: If no type expresses the part; gives the reason.
        """
        if "$ref" in node:
            return self._referred(node["$ref"], name)
        if "allOf" in node:
            return self.annotation(_merged(node["allOf"]), name)
        if "const" in node or "enum" in node:
            return Literal[(node["const"],) if "const" in node else tuple(node["enum"])]
        branches = node.get("anyOf") or node.get("oneOf")
        if branches:
            return _union(self.annotation(each, f"{name}_{at}") for at, each in enumerate(branches))
        kinds = node.get("type")
        if kinds is None:
            return Any
        return _union(
            self._typed(kind, node, name) for kind in (kinds if isinstance(kinds, list) else [kinds])
        )

    def fields(self, node: Schema, name: str) -> dict[str, Any]:
        """Return the annotation of each declared property."""
        properties = node.get("properties", {}).items()
        return {key: self.annotation(child, f"{name}_{at}") for at, (key, child) in enumerate(properties)}

    def _referred(self, reference: str, name: str) -> Any:
        if not reference.startswith("#/"):
            raise UnsupportedError("a reference to elsewhere")
        if reference in self._open:
            raise UnsupportedError("a recursive schema")
        self._open.append(reference)
        annotation = self.annotation(reduce(getitem, reference[2:].split("/"), self._root), name)
        self._open.pop()
        return annotation

    def _typed(self, kind: str, node: Schema, name: str) -> Any:
        plain = self._plain(kind, node, name)
        bounds = {theirs: node[ours] for ours, theirs in _BOUNDS.get(kind, {}).items() if ours in node}
        return Annotated[plain, Field(**bounds)] if bounds else plain

    def _plain(self, kind: str, node: Schema, name: str) -> Any:
        if kind == "array" and "prefixItems" in node:
            return tuple[
                tuple(self.annotation(each, f"{name}_{at}") for at, each in enumerate(node["prefixItems"]))
            ]
        if kind == "array":
            return list[self.annotation(node.get("items", {}), f"{name}_item")]  # type: ignore[misc]
        if kind == "object":
            return self._object(node, name)
        return _FORMATS.get(node.get("format", ""), str) if kind == "string" else _SCALARS[kind]

    def _object(self, node: Schema, name: str) -> Any:
        if "patternProperties" in node:
            raise UnsupportedError("patternProperties")
        more = node.get("additionalProperties", True)
        declared = node.get("properties") or {}
        if not declared and more is not False:
            return dict[str, self.annotation(more, f"{name}_value") if isinstance(more, Mapping) else Any]
        return self._model(node, name, "forbid" if more is False else self._extra)

    def _model(self, node: Schema, name: str, extra: Literal["allow", "forbid", "ignore"]) -> Any:
        made: dict[str, Any] = {}
        for at, (key, annotation) in enumerate(self.fields(node, name).items()):
            alias = key if hidden(key) or hasattr(BaseModel, key) else None
            default = (
                ... if key in node.get("required", ()) else node["properties"][key].get("default", ABSENT)
            )
            made[f"field_{at}" if alias else key] = (annotation, Field(default, alias=alias))
        try:
            config = ConfigDict(extra=extra, protected_namespaces=())
            return create_model(f"Model_{name}", __config__=config, **made)
        except Exception as error:
            raise UnsupportedError(f"no model: {error}") from error


def _merged(parts: list[Schema]) -> Schema:
    merged: dict[str, Any] = {}
    for part in parts:
        if merged.keys() & part.keys() or "properties" in part:
            raise UnsupportedError("allOf")
        merged |= part
    return merged


def _union(annotations: Iterable[Any]) -> Any:
    return Union[tuple(annotations)]  # noqa: UP007 - their number is not known


def hidden(key: str) -> bool:
    """Return whether a field of this name needs an alias."""
    return not key.isidentifier() or keyword.iskeyword(key) or key.startswith("_")


# --- functions ----------------------------------------------------------------------------------------


def recording_function(
    schema: Schema,
    note: Callable[[dict[str, Any]], object],
    *,
    lax: bool = False,
    annotations: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """Return a function whose keyword parameters are the schema's properties.

    Args:
        schema: An object schema.
        note: Gets the arguments of each run; :func:`plain` makes them JSON again.
        lax: Whether a schema that allows further keys becomes a function or model that ignores them.
        annotations: Annotations for parameters that the schema does not describe fully.

    Raises:
        UnsupportedError: If no Python function has this schema.
    """

    async def tool(**arguments: Any) -> str:
        note(arguments)
        return "ran"

    if not lax and schema.get("additionalProperties", True) is not False:
        raise UnsupportedError("a function takes only its declared parameters")
    own = Annotator(schema, "ignore" if lax else "allow").fields(schema, "value")
    types = {**own, **(annotations or {})}
    function: Any = tool
    function.__annotations__ = {**types, "return": str}
    parameters = [_parameter(schema, name, types[name]) for name in schema.get("properties", {})]
    function.__signature__ = inspect.Signature(parameters, return_annotation=str)
    return function


def _parameter(schema: Schema, name: str, annotation: Any) -> inspect.Parameter:
    if hidden(name):
        raise UnsupportedError(f"{name!r} is no parameter's name")
    required = name in schema.get("required", ())
    default = inspect.Parameter.empty if required else schema["properties"][name].get("default", ABSENT)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def expressible(schema: Schema) -> bool:
    """Return whether a function can express the schema at every place."""
    names = schema.get("properties", {})
    return (
        schema.get("type") == "object"
        and schema.keys() <= _EXPRESSED - {"anyOf", "oneOf"}
        and schema.get("additionalProperties", False) is False
        and not any(hidden(name) for name in names)
        and all(map(_expressible, names.values()))
    )


def _expressible(node: Any) -> bool:
    if not isinstance(node, Mapping) or not node.keys() <= _EXPRESSED | _BOUND_WORDS:
        return False
    kinds = node.get("type", [])
    members = [*node.get("enum", ()), *([node["const"]] if "const" in node else ())]
    extra = node.get("additionalProperties", False)
    below = [*node.get("properties", {}).values(), *node.get("anyOf", ()), *node.get("oneOf", ())]
    below += [node["items"]] if "items" in node else []
    below += [] if isinstance(extra, bool) else [extra]
    return (
        set(kinds if isinstance(kinds, list) else [kinds]) <= {*_SCALARS, "array", "object"}
        and all(member is None or isinstance(member, (str, int)) for member in members)
        and not ("properties" in node and extra not in (False, None))
        and all(map(_expressible, below))
    )


def plain(value: Any) -> Any:
    """Return what a tool received as JSON, without omitted parameters and fields."""
    if isinstance(value, BaseModel):
        names = {name: info.alias or name for name, info in type(value).model_fields.items()}
        sent = {names[name]: getattr(value, name) for name in names if name in value.model_fields_set}
        return {key: plain(each) for key, each in {**sent, **(value.model_extra or {})}.items()}
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if each is not ABSENT}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return to_jsonable_python(value)
