"""Rules for the names of properties."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mcp_lenient.names import (
    by_singular,
    case_target,
    fold_case,
    folded_names,
    plural_target,
    words_of,
)
from mcp_lenient.rules.injected import injected_keys
from mcp_lenient.rules.rule import Apply, Place, Site
from mcp_lenient.rules.units import units_differ


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
    if Place.TOP not in site.place:
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
    if Place.TOP not in site.place or not site.shape.closed:
        return None
    declared = folded_names(site.shape.properties)
    also = site.policy.drop

    def apply(unknown: Collection[str]) -> frozenset[str]:
        return injected_keys(unknown, declared, also, destructive=site.destructive)

    return apply
