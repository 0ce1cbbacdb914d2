"""Normalizers that an author declares with ``@lenient``, with ``Annotated`` or in a definitions file."""

from mcp_lenient.declare.normalizers.annotation import aliases, from_function
from mcp_lenient.declare.normalizers.inference import infer
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
    "aliases",
    "clamp",
    "default_on_null",
    "from_function",
    "infer",
    "iso_date",
    "lower",
    "null_as",
    "parse_json",
    "split",
    "strip",
    "synonyms",
    "tags",
    "upper",
]
