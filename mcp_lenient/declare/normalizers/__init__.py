"""Declarations for parameters: ready-made normalizers, other names, and any callable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_lenient.values.lazy import loaded_by_name

if TYPE_CHECKING:
    from mcp_lenient.declare.normalizers.annotation import (
        INVALID_TYPE,
        INVALID_VALUE,
        Aliases,
        Custom,
        Normalizer,
        aliases,
        annotated_aliases,
        annotated_normalizers,
        normalizer,
    )
    from mcp_lenient.declare.normalizers.lists import ParseJson, Split, Tags, parse_json, split, tags
    from mcp_lenient.declare.normalizers.scalars import (
        Clamp,
        DefaultOnNull,
        IsoDate,
        Lower,
        NullAs,
        Strip,
        Synonyms,
        Upper,
        clamp,
        default_on_null,
        iso_date,
        lower,
        null_as,
        strip,
        synonyms,
        upper,
    )

__all__ = [
    "INVALID_TYPE",
    "INVALID_VALUE",
    "Aliases",
    "Clamp",
    "Custom",
    "DefaultOnNull",
    "IsoDate",
    "Lower",
    "Normalizer",
    "NullAs",
    "ParseJson",
    "Split",
    "Strip",
    "Synonyms",
    "Tags",
    "Upper",
    "aliases",
    "annotated_aliases",
    "annotated_normalizers",
    "clamp",
    "default_on_null",
    "iso_date",
    "lower",
    "normalizer",
    "null_as",
    "parse_json",
    "split",
    "strip",
    "synonyms",
    "tags",
    "upper",
]

__getattr__ = loaded_by_name(
    __name__,
    {
        "mcp_lenient.declare.normalizers.annotation": "Aliases aliases annotated_aliases annotated_normalizers Custom Normalizer normalizer INVALID_TYPE INVALID_VALUE",
        "mcp_lenient.declare.normalizers.scalars": "Clamp clamp default_on_null DefaultOnNull iso_date IsoDate Lower lower null_as NullAs Strip strip Synonyms synonyms Upper upper",
        "mcp_lenient.declare.normalizers.lists": "parse_json ParseJson Split split Tags tags",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
