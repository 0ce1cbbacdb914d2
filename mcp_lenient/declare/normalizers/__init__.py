"""Declarations for parameters: ready-made normalizers, aliases, and any callable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_lenient.values.lazy import loaded_by_name

if TYPE_CHECKING:
    from mcp_lenient.declare.normalizers.annotation import (
        INVALID_TYPE,
        INVALID_VALUE,
        Aliases,
        ValueNormalizer,
        aliases,
        annotated_aliases,
        annotated_normalizers,
        normalizer,
    )
    from mcp_lenient.declare.normalizers.lists import parse_json, split, tags
    from mcp_lenient.declare.normalizers.scalars import (
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
    "ValueNormalizer",
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
        "mcp_lenient.declare.normalizers.annotation": "INVALID_TYPE INVALID_VALUE Aliases ValueNormalizer aliases "
        "annotated_aliases annotated_normalizers normalizer",
        "mcp_lenient.declare.normalizers.scalars": "clamp default_on_null iso_date lower null_as strip synonyms upper",
        "mcp_lenient.declare.normalizers.lists": "parse_json split tags",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
