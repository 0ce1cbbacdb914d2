"""Rules for names of properties, and for the arguments as a whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from mcp_lenient.rules.rule import Apply, Site
from mcp_lenient.rules.units import units_differ
from mcp_lenient.schema.node import Position
from mcp_lenient.values.json_text import parse_container
from mcp_lenient.values.names import (
    by_singular,
    case_target,
    fold_case,
    fold_name,
    folded_names,
    plural_target,
    words_of,
)

if TYPE_CHECKING:
    from mcp_lenient.values.limits import Limits


_CALL_ID: Final = "toolCallId"
SOURCES: Final[Mapping[str, str]] = {
    _CALL_ID: "n8n, MCP Client Tool node: github.com/n8n-io/n8n/issues/21500",
    "wait_for_previous": "Gemini CLI, tool scheduling: github.com/google-gemini/gemini-cli",
    "waitForPreviousTools": "Windsurf and Antigravity, tool scheduling: their published tool schemas",
    "task_progress": "Cline, focus chain: github.com/cline/cline",
    "_meta": "MCP, reserved for request metadata: modelcontextprotocol.io/specification/2025-11-25/basic#_meta",
}
"""Every key that is dropped on its own, with the client that adds it."""
BESIDE_CALL_ID: Final = frozenset({"action", "sessionId", "chatInput"})
"""Keys of n8n's chat trigger, which its MCP Client Tool sends beside ``toolCallId``."""


def injected_keys(
    unknown: Collection[Any],
    declared: Collection[str],
    also: Collection[str] = (),
    *,
    destructive: bool = False,
) -> frozenset[str]:
    """Return the undeclared keys that a known client adds to the arguments of a call.

    Args:
        unknown: All keys that were sent and are not declared.
        declared: The folds of the declared names (:func:`~mcp_lenient.values.names.fold_name`); a key that is one
            of them in another spelling may be meant for it.
        also: Further keys that the operator lists.
        destructive: Whether the tool destroys; then only ``toolCallId`` and the keys sent with it.
    """
    known = {_CALL_ID, *(BESIDE_CALL_ID if _CALL_ID in unknown else ())}
    if not destructive:
        known |= {key for key in SOURCES if fold_name(key.lstrip("_")) not in declared}
        known.update(also)
    return frozenset(key for key in unknown if key in known)


def rename_case(site: Site) -> Apply:
    """``maxResults`` to ``max_results``: the one declared name that differs by nothing but case style."""
    folded = folded_names(site.shape.properties)

    def apply(sent: str, absent: Collection[str], value: Any) -> str | None:
        del value
        name = case_target(sent, folded)
        if (
            name is None
            or name not in absent
            or (fold_case(sent) == fold_case(name) and units_differ(sent, name))
        ):
            return None
        return None if site.destructive and words_of(sent) != words_of(name) else name

    return apply


def rename_alias(site: Site) -> Apply | None:
    """Another name that the author or operator declared."""
    if Position.TOP not in site.place:
        return None
    owners = {other: name for name, others in site.policy.aliases.items() for other in others}

    def apply(sent: str, absent: Collection[str], value: Any) -> str | None:
        del value
        name = owners.get(sent)
        return name if name in absent else None

    return apply


def rename_plural(site: Site) -> Apply:
    """``tag`` to ``tags``: the plural of the sent name, an absent list."""
    shape = site.shape
    kinds = {name: site.shape_at(sub) for name, sub in shape.properties.items()}
    lists = (
        name
        for name, kind in kinds.items()
        if kind.is_only("array") or any(site.shape_at(branch).is_only("array") for branch in kind.branches)
    )
    plurals = by_singular(lists, shape.properties)

    def apply(sent: str, absent: Collection[str], value: Any) -> str | None:
        del value
        name = plural_target(sent, plurals)
        return name if name in absent else None

    return apply


def drop_injected(site: Site) -> Apply | None:
    """Keys that known clients add, at the top of a closed schema."""
    if Position.TOP not in site.place or not site.shape.closed:
        return None
    declared = folded_names(site.shape.properties)
    also = site.policy.drop

    def apply(unknown: Collection[str]) -> frozenset[str]:
        return injected_keys(unknown, declared, also, destructive=site.destructive)

    return apply


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
