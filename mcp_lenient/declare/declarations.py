"""The declarations of one tool: normalizers, other names, a policy, and what a file says of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mcp_lenient.values.names import fold_name

Normalize = Callable[[Any], Any]
"""Takes the sent value and returns the normalized one; raises NormalizationError to refuse."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What a file says of a parameter itself.

    Attributes:
        types: The JSON types that it takes; empty where the file does not say.
        required: Whether it must be sent; None where the file does not say.
        default: The one value to use where it is left out; empty where there is none.
        description: What it means.
        where: The place in the file of each of these, by the name of the field.
    """

    types: tuple[str, ...] = ()
    required: bool | None = None
    default: tuple[Any, ...] = ()
    description: str | None = None
    where: Mapping[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Default:
    """A value for a parameter that was left out; as a normalizer it changes nothing.

    Attributes:
        value: The value.
        names: The parameter's names in one case: where one of them was sent, the parameter was not left out.
    """

    value: Any
    names: frozenset[str]

    def __call__(self, value: Any) -> Any:
        """Return the value as it came."""
        return value

    def applies(self, sent: Iterable[str]) -> bool:
        """Return whether the parameter was left out under all of its names."""
        return self.names.isdisjoint(map(fold_name, sent))


@dataclass(frozen=True, slots=True)
class Declared:
    """The declarations of one tool, by the names of its parameters.

    Attributes:
        normalizers: What runs on a parameter's value before anything judges it, in this order.
        aliases: Other names that a parameter is known by.
        policy: Fields of :class:`mcp_lenient.Policy` that are other for this tool.
        stated: What a file says of the parameters themselves.
        description: What a file says of the tool.
    """

    normalizers: Mapping[str, tuple[Normalize, ...]] = field(default_factory=dict)
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    stated: Mapping[str, Stated] = field(default_factory=dict)
    description: str | None = None


def with_types(schema: Mapping[str, Any], declared: Declared) -> Mapping[str, Any]:
    """Return a schema in which a parameter without a type has the one that its normalizer accepts."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return schema
    accepted = {
        name: normalizer.schema
        for name, normalizers in declared.normalizers.items()
        for normalizer in normalizers
        if hasattr(normalizer, "schema") and name in properties and not _TYPED & {*properties[name]}
    }
    if not accepted:
        return schema
    typed = {name: {**schema, **accepted.get(name, {})} for name, schema in properties.items()}
    return {**schema, "properties": typed}


_TYPED: Final = frozenset({"type", "anyOf", "oneOf", "allOf", "enum", "const", "$ref"})
