"""Rules for the arguments as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_lenient.json_text import parse_container
from mcp_lenient.rules.rule import Apply, Site

if TYPE_CHECKING:
    from mcp_lenient.limits import Limits

_Values = tuple[dict[str, Any], ...]
WRAPPERS = frozenset(
    "args input params arguments parameters kwargs properties raw_arguments tool_input".split()
)
"""Names under which callers put the arguments as a whole."""


def unwrap_arguments(site: Site) -> Apply | None:
    """``{"args": {..}}`` to ``{..}``, also as JSON text, and a required ``arguments`` that came as ``params``."""
    declared = frozenset(site.shape.properties)
    objects = frozenset(name for name in WRAPPERS & site.shape.required if _is_object(site, name))
    limits = site.policy.limits

    def apply(arguments: dict[str, Any]) -> _Values:
        if arguments.keys() <= declared:
            return ()
        readings = (_renamed(arguments, declared, objects), _unwrapped(arguments, declared, limits))
        return tuple(each for each in readings if each)

    return apply


def _is_object(site: Site, name: str) -> bool:
    return site.shape_at(site.shape.properties.get(name)).is_only("object")


def _renamed(
    arguments: dict[str, Any], declared: frozenset[str], objects: frozenset[str]
) -> dict[str, Any] | None:
    """A required object under its own name, where it came under the one undeclared key, a wrapper's."""
    unknown = [key for key in arguments if key not in declared]
    wanted = objects - arguments.keys()
    if len(unknown) != 1 or len(wanted) != 1 or unknown[0] not in WRAPPERS:
        return None
    if not isinstance(arguments[unknown[0]], dict) or not arguments[unknown[0]]:
        return None
    (name,) = wanted
    return {name if key == unknown[0] else key: value for key, value in arguments.items()}


def _unwrapped(arguments: dict[str, Any], declared: frozenset[str], limits: Limits) -> dict[str, Any] | None:
    """What the only key holds, where it is a wrapper's, or what it is, where it is the whole JSON text."""
    keys = list(arguments)
    if len(keys) != 1 or keys[0] in declared:
        return None
    (key,), value = keys, arguments[keys[0]]
    if key in WRAPPERS:
        return value if isinstance(value, dict) else _parsed(value, limits)
    return _parsed(key, limits) if value in ("", None) or value == {} else None


def _parsed(text: Any, limits: Limits) -> dict[str, Any] | None:
    if not isinstance(text, str):
        return None
    parsed = parse_container(
        text,
        max_text=limits.text,
        max_relaxed=limits.relaxed_text,
        max_depth=limits.depth,
        dialects=frozenset({"json"}),
    )
    return parsed.value if parsed is not None and isinstance(parsed.value, dict) else None


def wrap_arguments(site: Site) -> Apply | None:
    """Flat fields for a tool whose one parameter is an object that declares every one of them."""
    if len(site.shape.properties) != 1:
        return None
    (name, schema), *_ = site.shape.properties.items()
    inner = site.shape_at(schema)
    shapes = [inner, *map(site.shape_at, inner.branches)]

    def apply(arguments: dict[str, Any]) -> _Values:
        if not arguments or name in arguments:
            return ()
        return (
            ({name: arguments},)
            if any(arguments.keys() <= shape.properties.keys() for shape in shapes)
            else ()
        )

    return apply
