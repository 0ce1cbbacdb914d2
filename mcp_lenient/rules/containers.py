"""Rules for arrays and objects that came as text, and for values in a wrapper of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mcp_lenient.json_text import Dialect, Texts, may_be_container
from mcp_lenient.rules.arrays import item_names
from mcp_lenient.rules.rule import Apply, Site

_Values = tuple[Any, ...]

_SCALARS = frozenset({str, int, float, bool})

_TYPE_NAMES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "str": (str,),
    "number": (int, float),
    "float": (int, float),
    "integer": (int,),
    "int": (int,),
    "boolean": (bool,),
    "bool": (bool,),
    "array": (list,),
    "list": (list,),
    "object": (dict,),
    "dict": (dict,),
    "null": (type(None),),
}


def text_to_array(dialect: Dialect) -> Callable[[Site], Apply | None]:
    """``'["a"]'`` to ``["a"]``, in one dialect of JSON."""
    return _text_to("array", list, dialect)


def text_to_object(dialect: Dialect) -> Callable[[Site], Apply | None]:
    """``'{"a": 1}'`` to ``{"a": 1}``, in one dialect of JSON."""
    return _text_to("object", dict, dialect)


def _text_to(json_type: str, python_type: type, dialect: Dialect) -> Callable[[Site], Apply | None]:
    def build(site: Site) -> Apply | None:
        if not site.shape.is_only(json_type):
            return None
        dialects: frozenset[Dialect] = (
            frozenset({"json"}) if dialect == "json" else _in_force(site, json_type)
        )

        def apply(text: str, texts: Texts) -> _Values:
            if not may_be_container(text):
                return ()
            parsed = texts.parse(text, dialects)
            if parsed is None or parsed.dialect != dialect or not isinstance(parsed.value, python_type):
                return ()
            return (parsed.value,)

        return apply

    return build


def _in_force(site: Site, json_type: str) -> frozenset[Dialect]:
    """Every relaxed dialect in force, so that a text which two of them read differently is refused by both."""
    dialects: tuple[Dialect, ...] = ("json5", "python")
    return frozenset(each for each in dialects if site.policy.allows(f"{each}_text_to_{json_type}"))


def wrapped_value(site: Site) -> Apply | None:
    """``{"type": "float", "value": 2}`` and ``{"value": 2}`` to 2, and ``{"p": {"p": X}}`` to ``{"p": X}``."""
    name = site.name
    if site.shape.format == "json":
        return None
    if site.shape.is_only("array") and site.shape.items in (None, True, {}) and not site.shape.prefix:
        return None  # any object is an item
    declared = item_names(site)

    def apply(value: dict[str, Any]) -> _Values:
        if value.keys() & declared:
            return ()
        if len(value) == 1 and (name in value or type(value.get("value")) in _SCALARS):
            return tuple(value.values())
        if len(value) == 2 and "type" in value and "value" in value:
            kinds = _TYPE_NAMES.get(value["type"]) if isinstance(value["type"], str) else None
            if kinds is not None and type(value["value"]) in kinds:
                return (value["value"],)
        return ()

    return apply
