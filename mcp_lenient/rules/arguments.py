"""Rules for the arguments as a whole."""

from __future__ import annotations

from typing import Any

from mcp_lenient.rules.rule import Apply, Site
from mcp_lenient.rules.text import parse_container

_Values = tuple[dict[str, Any], ...]
_WRAPPERS = frozenset({"args", "input", "params", "arguments", "parameters", "kwargs", "properties"})


def unwrap_arguments(site: Site) -> Apply | None:
    """``{"args": {..}}`` to ``{..}``, also as JSON text, and a required ``arguments`` that came as ``params``."""
    declared = frozenset(site.shape.properties)
    limits = site.policy.limits
    missing_wrappers = _WRAPPERS & site.shape.required

    def apply(arguments: dict[str, Any]) -> _Values:
        renamed = _renamed(arguments)
        if renamed is not None:
            return (renamed,)
        keys = list(arguments)
        if len(keys) != 1 or keys[0] in declared:
            return ()
        content = _content(keys[0], arguments[keys[0]])
        return (content,) if content else ()

    def _renamed(arguments: dict[str, Any]) -> dict[str, Any] | None:
        """The required wrapper name in place of another one, when each is the only one of its kind."""
        sent = [key for key in arguments if key in _WRAPPERS and key not in declared]
        wanted = [name for name in missing_wrappers if name not in arguments]
        if len(sent) != 1 or len(wanted) != 1:
            return None
        return {wanted[0] if key == sent[0] else key: value for key, value in arguments.items()}

    def _content(key: str, value: Any) -> dict[str, Any] | None:
        if key in _WRAPPERS:
            return value if isinstance(value, dict) else _parsed(value)
        return _parsed(key) if value in ("", None) or value == {} else None

    def _parsed(text: Any) -> dict[str, Any] | None:
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

    return apply


def wrap_arguments(site: Site) -> Apply | None:
    """Flat fields for a tool whose one parameter is an object that declares every one of them."""
    if len(site.shape.properties) != 1:
        return None
    (name, schema), *_ = site.shape.properties.items()
    inner = site.shape_at(schema)
    shapes = [shape for shape in (inner, *map(site.shape_at, inner.branches)) if shape.properties]
    if not shapes:
        return None

    def apply(arguments: dict[str, Any]) -> _Values:
        if not arguments or name in arguments:
            return ()
        return (
            ({name: arguments},)
            if any(arguments.keys() <= shape.properties.keys() for shape in shapes)
            else ()
        )

    return apply
