"""What authors declare of their parameters: ready-made normalizers, other names, and callables of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_lenient.by_name import loaded_by_name

if TYPE_CHECKING:
    from mcp_lenient.normalizers.annotation import Normalizer, annotated_normalizers
    from mcp_lenient.normalizers.custom import Custom, normalizer
    from mcp_lenient.normalizers.dates import IsoDate, iso_date
    from mcp_lenient.normalizers.json_text import ParseJson, parse_json
    from mcp_lenient.normalizers.lists import Split, split
    from mcp_lenient.normalizers.nulls import DefaultOnNull, NullAs, default_on_null, null_as
    from mcp_lenient.normalizers.numbers import Clamp, clamp
    from mcp_lenient.normalizers.other_names import Aliases, aliases, annotated_aliases
    from mcp_lenient.normalizers.refusals import INVALID_TYPE, INVALID_VALUE
    from mcp_lenient.normalizers.tag_lists import Tags, tags
    from mcp_lenient.normalizers.texts import (
        Lower,
        Strip,
        Synonyms,
        Upper,
        lower,
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
        "mcp_lenient.normalizers.annotation": "Normalizer annotated_normalizers",
        "mcp_lenient.normalizers.custom": "Custom normalizer",
        "mcp_lenient.normalizers.dates": "IsoDate iso_date",
        "mcp_lenient.normalizers.json_text": "ParseJson parse_json",
        "mcp_lenient.normalizers.lists": "Split split",
        "mcp_lenient.normalizers.nulls": "DefaultOnNull NullAs default_on_null null_as",
        "mcp_lenient.normalizers.numbers": "Clamp clamp",
        "mcp_lenient.normalizers.other_names": "Aliases aliases annotated_aliases",
        "mcp_lenient.normalizers.refusals": "INVALID_TYPE INVALID_VALUE",
        "mcp_lenient.normalizers.tag_lists": "Tags tags",
        "mcp_lenient.normalizers.texts": "Lower Strip Synonyms Upper lower strip synonyms upper",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
