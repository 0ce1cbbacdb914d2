"""Python types for JSON Schemas, as an author would annotate the tool by hand.

Uses only the standard library, and Pydantic or msgspec through functions that the caller passes.
"""

from __future__ import annotations

import functools
import inspect
import keyword
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

from loop import UnsupportedError

Schema = Mapping[str, Any]
MakeObject = Callable[[str, Mapping[str, Any], frozenset[str], Mapping[str, Any], bool], Any]
"""A name, annotations by property, the required ones, the declared defaults, and whether other keys are refused."""
Bounded = Callable[[Any, Mapping[str, Any]], Any]
"""An annotation and the bounds that its schema sets."""


class Absent:
    """The value of an omitted parameter; copies of it are the same object."""

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        del memo
        return self


ABSENT = Absent()
"""The default of an optional parameter without a default in the schema; no call can send it."""

BOUNDS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern")
_FORMATS: Mapping[str, Any] = {"date-time": datetime, "date": date}
_SCALARS: Mapping[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "null": None}


class Annotator:
    """Makes annotations for the parts of one schema.

    Args:
        root: The schema that references point into.
        make_object: A function that builds a type with fields.
        bounded: A function that adds bounds to an annotation.
    """

    def __init__(self, root: Schema, make_object: MakeObject, bounded: Bounded) -> None:
        self._root = root
        self._make_object = make_object
        self._bounded = bounded
        self._open: list[str] = []

    def annotation(self, node: Schema, name: str) -> Any:
        """Return the annotation for a part.

        Raises:
            UnsupportedError: If no type expresses the part; gives the reason.
        """
        if "$ref" in node:
            return self._referred(node["$ref"], name)
        if "allOf" in node:
            return self.annotation(self._merged(node["allOf"]), name)
        if "const" in node:
            return Literal[node["const"]]
        if "enum" in node:
            return Literal[tuple(node["enum"])]
        branches = node.get("anyOf") or node.get("oneOf")
        if branches:
            return _union(self.annotation(each, f"{name}_{at}") for at, each in enumerate(branches))
        kinds = node.get("type")
        if kinds is None:
            return Any
        kinds = kinds if isinstance(kinds, list) else [kinds]
        return _union(self._bound(self._typed(kind, node, name), node) for kind in kinds)

    def fields(self, node: Schema, name: str) -> dict[str, Any]:
        """Return the annotation of each declared property."""
        return {
            key: self.annotation(child, f"{name}_{at}")
            for at, (key, child) in enumerate(node["properties"].items())
        }

    def _bound(self, annotation: Any, node: Schema) -> Any:
        bounds = {key: node[key] for key in BOUNDS if key in node}
        return self._bounded(annotation, bounds) if bounds else annotation

    def _referred(self, reference: str, name: str) -> Any:
        if not reference.startswith("#/"):
            msg = "a reference to elsewhere"
            raise UnsupportedError(msg)
        if reference in self._open:
            msg = "a recursive schema"
            raise UnsupportedError(msg)
        self._open.append(reference)
        node = functools.reduce(operator.getitem, reference[2:].split("/"), self._root)
        annotation = self.annotation(node, name)
        self._open.pop()
        return annotation

    @staticmethod
    def _merged(parts: list[Schema]) -> Schema:
        merged: dict[str, Any] = {}
        for part in parts:
            if merged.keys() & part.keys() or "properties" in part:
                msg = "allOf"
                raise UnsupportedError(msg)
            merged |= part
        return merged

    def _typed(self, kind: str, node: Schema, name: str) -> Any:
        if kind == "array":
            if "prefixItems" in node:
                return tuple[
                    tuple(
                        self.annotation(each, f"{name}_{at}") for at, each in enumerate(node["prefixItems"])
                    )
                ]
            return list[self.annotation(node.get("items", {}), f"{name}_item")]
        if kind == "object":
            return self._object(node, name)
        return _FORMATS.get(node.get("format", ""), str) if kind == "string" else _SCALARS[kind]

    def _object(self, node: Schema, name: str) -> Any:
        if "patternProperties" in node:
            msg = "patternProperties"
            raise UnsupportedError(msg)
        more = node.get("additionalProperties", True)
        if not node.get("properties") and more is not False:
            return dict[str, self.annotation(more, f"{name}_value") if isinstance(more, Mapping) else Any]
        required = frozenset(node.get("required", ()))
        defaults = {key: child["default"] for key, child in node["properties"].items() if "default" in child}
        return self._make_object(f"Model_{name}", self.fields(node, name), required, defaults, more is False)


def _union(annotations: Any) -> Any:
    return functools.reduce(
        lambda left, right: left | right if left is not None else None | right, _unlike(annotations)
    )


def _unlike(annotations: Any) -> list[Any]:
    from typing import Union

    found = list(annotations)
    return [found[0]] if len(found) == 1 else [Union[tuple(None if each is None else each for each in found)]]  # noqa: UP007


@dataclass
class Recorder:
    """A function made from a schema, and the arguments that it received."""

    function: Callable[..., Any]
    plain: Callable[[Any], Any]
    received: list[Any] = field(default_factory=list)


def recording_function(schema: Schema, *, sync: bool = False) -> Recorder:
    """Return a function whose keyword parameters are the schema's properties; needs Pydantic.

    Raises:
        UnsupportedError: If no Python function has this schema.
    """
    from pydantic_types import bounded, make_model, plain

    if schema.get("additionalProperties", True) is not False:
        msg = "a function takes only its declared parameters"
        raise UnsupportedError(msg)
    annotations = Annotator(schema, make_model, bounded).fields(schema, "value")
    required = schema.get("required", ())
    parameters = []
    for name, node in schema["properties"].items():
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            msg = f"{name!r} is no parameter's name"
            raise UnsupportedError(msg)
        default = inspect.Parameter.empty if name in required else node.get("default", ABSENT)
        parameters.append(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotations[name]
            )
        )
    received: list[Any] = []

    async def tool(**arguments: Any) -> str:
        received.append(arguments)
        return "ran"

    def sync_tool(**arguments: Any) -> str:
        received.append(arguments)
        return "ran"

    function: Any = sync_tool if sync else tool
    function.__annotations__ = {name: annotations[name] for name in annotations} | {"return": str}
    function.__signature__ = inspect.Signature(parameters, return_annotation=str)
    return Recorder(function, plain, received)
