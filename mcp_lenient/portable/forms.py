"""What a published schema may contain, for each provider and client: data, no code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from mcp_lenient.engine.contract import Contract

ROOT_COMBINATORS: Final = frozenset(
    "anyOf oneOf allOf not if then else dependentSchemas dependentRequired enum const".split()
)
CONDITIONS: Final = frozenset("not if then else dependentSchemas dependentRequired".split())
BOUNDS: Final = frozenset("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split())
LENGTHS: Final = frozenset(
    "minLength maxLength minItems maxItems uniqueItems contains minContains maxContains".split()
)
OF_OBJECTS: Final = frozenset(
    "minProperties maxProperties propertyNames patternProperties unevaluatedProperties unevaluatedItems".split()
)
_OTHER_WORDS: Final = frozenset({"oneOf", "allOf", "prefixItems"})
_FORMATS: Final = frozenset("date-time time date duration email hostname ipv4 ipv6 uuid".split())
_ANTHROPIC_NAME: Final = r"[a-zA-Z0-9_.-]{1,64}"
_MOONSHOT_RESERVED: Final = frozenset({"$defs", "$ref", "anyOf", "required", "additionalProperties"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What may be in a published schema. Each default leaves a schema as the author wrote it.

    Attributes:
        name: Its name, as events have it.
        only: The only keywords that may stay; None for any.
        without: Keywords that may not stay. The schema says ``oneOf`` by ``anyOf`` instead, ``const`` by ``enum``, ``allOf`` by
            its properties, ``$ref`` by what it leads to and ``prefixItems`` as JSON text, the description says others.
        root_combinators: Whether the root may have ``anyOf``, ``oneOf``, ``allOf``, ``not``, ``if`` or ``enum``.
        property_names: The regular expression of the parameters' names; None for any.
        nested_names: Whether the names of nested properties match it as well.
        reserved_names: Names that no property may have.
        any_of_alone: Whether ``anyOf`` stands alone at its place, without even a description.
        type_lists: Whether ``type`` may be a list.
        optional_null: Whether a parameter that may be left out may also be null where both mean the same.
        beside_reference: Whether other keywords may stand beside ``$ref``.
        enums: What ``enum`` may hold: anything, or texts that are not empty.
        types_required: Whether each place has a ``type`` or ``anyOf``.
        items_required: Whether each array has ``items``.
        properties_required: Whether each object has ``properties``.
        maps: Whether ``additionalProperties`` may describe values.
        free_objects: Whether an object may declare no properties.
        any_value: Whether a schema may accept any value.
        closed: Whether each object forbids other names.
        all_required: Whether each property is required, and null stands for leaving it out.
        null_for_absent: Whether each parameter that may be left out may be null instead.
        formats: The values of ``format`` that may stay; None for any.
        anchored_patterns: Whether a pattern must be anchored at both ends, without lookaround.
        longest: The bound from which ``maxLength`` and ``maxItems`` may not stay; None for any.
        undeclared_required: Whether ``required`` may have names that are not declared.
        deepest: The number of nested schemas, below which a value is JSON text.
        most_optional: The number of properties that may be left out; a tool with more is published as it is. None for any.
        most_unions: The number of unions, likewise.
        tolerant: Whether each parameter may also be a text, or null where it may be left out, its values and limits are only
            described, and other names are allowed. The others of these attributes say how calls are judged.
    """

    name: str
    only: frozenset[str] | None = None
    without: frozenset[str] = frozenset()
    root_combinators: bool = True
    property_names: str | None = None
    nested_names: bool = False
    reserved_names: frozenset[str] = frozenset()
    any_of_alone: bool = False
    type_lists: bool = True
    optional_null: bool = True
    beside_reference: bool = True
    enums: Literal["any", "texts"] = "any"
    types_required: bool = False
    items_required: bool = False
    properties_required: bool = False
    maps: bool = True
    free_objects: bool = True
    any_value: bool = True
    closed: bool = False
    all_required: bool = False
    null_for_absent: bool = False
    formats: frozenset[str] | None = None
    anchored_patterns: bool = False
    longest: int | None = None
    undeclared_required: bool = True
    deepest: int = 60
    most_optional: int | None = None
    most_unions: int | None = None
    tolerant: bool = False

    def allows(self, keyword: str) -> bool:
        """Return whether a keyword may stay."""
        return keyword not in self.without and (self.only is None or keyword in self.only)

    def contract(self, inner: Contract, listed: Mapping[str, Any], warn: Callable[..., None]) -> Contract:
        """Return the contract of a tool whose schema is published in this form, as :class:`mcp_lenient.rules.policy.Face` has it."""
        # By its name, since it imports this module.
        contract: Contract = import_module("mcp_lenient.portable.published_contract").published_as(
            self, inner, listed, warn
        )
        return contract


_GEMINI: Final = Form(
    name="gemini",
    only=frozenset(
        "type format title description enum maxItems minItems properties required minProperties maxProperties "
        "minLength maxLength pattern example anyOf items minimum maximum".split()
    ),
    root_combinators=False,
    type_lists=False,
    enums="texts",
    types_required=True,
    items_required=True,
    maps=False,
    free_objects=False,
    any_value=False,
    undeclared_required=False,
    deepest=30,
)
_VERTEX: Final = replace(_GEMINI, name="vertex", any_of_alone=True)
_STRICT: Final = Form(
    name="strict",
    without=CONDITIONS | OF_OBJECTS | _OTHER_WORDS | {"$ref", "examples", "example"},
    root_combinators=False,
    types_required=True,
    items_required=True,
    properties_required=True,
    maps=False,
    free_objects=False,
    any_value=False,
    closed=True,
    undeclared_required=False,
    beside_reference=False,
)
_ALL: Final = (
    Form(name="unchanged"),
    replace(
        _VERTEX,
        name="portable",
        only=frozenset("type description enum items properties required anyOf".split()),
        property_names=_ANTHROPIC_NAME,
        nested_names=True,
        reserved_names=_MOONSHOT_RESERVED,
        optional_null=False,
        properties_required=True,
    ),
    Form(name="anthropic", root_combinators=False, property_names=_ANTHROPIC_NAME),
    replace(
        _STRICT,
        name="anthropic-strict",
        property_names=_ANTHROPIC_NAME,
        type_lists=False,
        without=_STRICT.without | BOUNDS | LENGTHS | {"pattern"},
        formats=_FORMATS | {"uri"},
        most_optional=24,
        most_unions=16,
    ),
    Form(
        name="openai",
        without=frozenset({"allOf"}),
        root_combinators=False,
        items_required=True,
        properties_required=True,
    ),
    replace(
        _STRICT,
        name="openai-strict",
        all_required=True,
        without=(_STRICT.without | LENGTHS | {"default", "title"}) - {"minItems", "maxItems"},
        formats=_FORMATS,
        deepest=5,
    ),
    _GEMINI,
    _VERTEX,
    Form(name="bedrock", root_combinators=False, property_names=_ANTHROPIC_NAME, longest=2**31),
    Form(
        name="moonshot",
        root_combinators=False,
        any_of_alone=True,
        without=CONDITIONS
        | OF_OBJECTS
        | _OTHER_WORDS
        | (BOUNDS - {"minimum", "maximum"})
        | {"const", "$schema", "format", "uniqueItems", "examples", "example"},
        beside_reference=False,
        type_lists=False,
        types_required=True,
        enums="texts",
        undeclared_required=False,
        reserved_names=_MOONSHOT_RESERVED,
        deepest=28,
    ),
    Form(name="groq", without=frozenset({"allOf"}), null_for_absent=True),
    Form(name="xai", without=LENGTHS - {"uniqueItems", "contains"} | {"allOf"}),
    Form(name="llama.cpp", without=frozenset({"allOf"}), anchored_patterns=True, longest=2000),
    Form(name="tolerant", tolerant=True),
    Form(name="cursor", without=frozenset({"allOf"}), type_lists=False, optional_null=False),
)
FORMS: Final[Mapping[str, Form]] = {form.name: form for form in _ALL}
"""The forms by name. ``unchanged`` publishes a schema as the author wrote it."""
