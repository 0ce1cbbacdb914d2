"""Rules for values that say nothing: null, its text, and the empty text."""

from __future__ import annotations

from mcp_lenient.rules.rule import Apply, Place, Site
from mcp_lenient.rules.words import is_null_text

_NULL = type(None)
_NONE_WORDS = frozenset({"none", "null", "unset"})


def null_text_to_null(site: Site) -> Apply | None:
    """``"null"`` to null, where null may come and a string may not."""
    if not site.shape.is_only("null") or Place.TEXT in site.place:
        return None

    def apply(text: str) -> tuple[None, ...]:
        return (None,) if is_null_text(text) else ()

    return apply


def null_text_to_absent(site: Site) -> Apply | None:
    """``"null"`` for an optional property that takes neither null nor strings: left out."""
    if site.takes(None) or _takes_strings(site) or _spares(site):
        return None
    return is_null_text


def null_to_absent(site: Site) -> Apply | None:
    """Null for an optional property that forbids it: left out."""
    if _has_none_member(site) or _spares(site) or _is_nullable(site):
        return None

    def apply(value: None) -> bool:
        return value is None

    return apply


def empty_text_to_absent(site: Site) -> Apply | None:
    """``""`` for an optional property that forbids it: left out."""
    shape = site.shape
    if _spares(site) or "array" in _kinds(site) or (_members(site) and shape.default):
        return None

    def apply(text: str) -> bool:
        return not text

    return apply


def _is_nullable(site: Site) -> bool:
    """Whether null is meant to be taken, though the schema says so in words of another dialect or by an enum."""
    return site.shape.nullable or None in _members(site)


def _spares(site: Site) -> bool:
    """A tool that destroys gets a default in place of what was sent only where that default is null."""
    return site.destructive and site.shape.default != (None,)


def _kinds(site: Site) -> frozenset[str]:
    """The JSON types that may come here, through the branches of a union."""
    shapes = [site.shape, *(site.shape_at(branch) for branch in site.shape.branches)]
    return frozenset().union(*(shape.types or () for shape in shapes))


def _members(site: Site) -> tuple[object, ...]:
    shapes = [site.shape, *(site.shape_at(branch) for branch in site.shape.branches)]
    return tuple(member for shape in shapes for member in shape.enum or ())


def _takes_strings(site: Site) -> bool:
    return "string" in _kinds(site) or not _kinds(site)


def _has_none_member(site: Site) -> bool:
    return any(isinstance(member, str) and member.casefold() in _NONE_WORDS for member in _members(site))
