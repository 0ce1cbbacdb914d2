"""Rules for values that say nothing: null, its text, and the empty text."""

from __future__ import annotations

from mcp_lenient.rules.rule import Apply, Place, Site
from mcp_lenient.rules.words import is_null_text, says_nothing
from mcp_lenient.schema import Shape

_NONE = "none"
_NONE_WORDS = frozenset({"none", "null", "unset"})


def null_text_to_null(site: Site) -> Apply | None:
    """``"null"`` to null, where null may come and a string may not."""
    if not site.shape.is_only("null") or Place.TEXT in site.place:
        return None

    def apply(text: str) -> tuple[None, ...]:
        return (None,) if is_null_text(text) or text == _NONE else ()

    return apply


def null_text_to_absent(site: Site) -> Apply | None:
    """``"null"`` for an optional property that takes neither null nor strings: left out."""
    return None if site.takes(None) or _takes_strings(site) or _has_none_member(site) else is_null_text


def null_to_absent(site: Site) -> Apply | None:
    """Null for an optional property that forbids it: left out."""
    if _has_none_member(site) or _is_nullable(site):
        return None

    def apply(value: None) -> bool:
        return value is None

    return apply


def empty_text_to_absent(site: Site) -> Apply | None:
    """``""`` for an optional property that forbids it: left out."""
    if "array" in _kinds(site) or (_members(site) and site.shape.default) or _asks_for_text(site):
        return None

    def apply(text: str) -> bool:
        return not text

    return apply


def _is_nullable(site: Site) -> bool:
    """Return whether null is meant to be taken, though the schema says so in another dialect or by an enum."""
    return site.shape.nullable or None in _members(site)


def _shapes(site: Site) -> list[Shape]:
    """Return what is said at a place and in the branches of its union."""
    return [site.shape, *(site.shape_at(branch) for branch in site.shape.branches)]


def _kinds(site: Site) -> frozenset[str]:
    """Return the JSON types that are taken here."""
    return frozenset().union(*(shape.types or () for shape in _shapes(site)))


def _members(site: Site) -> tuple[object, ...]:
    return tuple(member for shape in _shapes(site) for member in shape.enum or ())


def _asks_for_text(site: Site) -> bool:
    """Return whether the author forbids the empty text itself: to leave it out would widen the call.

    A date, another format or an enum has no empty text; any other string refuses it by a guard of the author's.
    """
    return any(shape.has_min_length or _is_free_text(shape) for shape in _shapes(site))


def _is_free_text(shape: Shape) -> bool:
    return "string" in (shape.types or ()) and shape.enum is None and not shape.format and not shape.branches


def _takes_strings(site: Site) -> bool:
    return "string" in _kinds(site) or not _kinds(site)


def _has_none_member(site: Site) -> bool:
    """Return whether a word for nothing is an allowed value, here or as the item of a list."""
    items = (site.shape_at(shape.items).enum or () for shape in _shapes(site))
    members = (*_members(site), *(member for enum in items for member in enum))
    return any(
        isinstance(member, str) and (says_nothing(member) or member.casefold() in _NONE_WORDS)
        for member in members
    )
