"""Keep the digits of numbers that were parsed from text, where the tool reads a text as the same number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_lenient.schema.node import Node, children
from mcp_lenient.types import Validator
from mcp_lenient.values.json_values import SpelledFloat, plain


def keeping_digits(top: Node, value: Any, validator: Validator) -> Any:
    """Return arguments without source spellings; for a ``Decimal`` the text ``1.10``, since the number would be 1.1.

    A text takes the place of a number only where the tool's own validator makes equal values of both. Returns the same
    object if it has no spellings.
    """
    with_numbers = plain(value)
    if with_numbers is value or validator.by_schema:
        return with_numbers
    with_texts = _with_texts([top], value)
    if with_texts == with_numbers or not validator.accepts(with_texts):
        return with_numbers
    return with_numbers if validator.distinguishes(with_texts, with_numbers) else with_texts


def _with_texts(nodes: Sequence[Node], value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_texts(children(nodes, key), entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_with_texts(children(nodes, index), item) for index, item in enumerate(value)]
    branches = (branch for node in nodes for branch in node.branches)
    is_text = isinstance(value, SpelledFloat) and any(branch.may_be("string") for branch in branches)
    return value.spelling if is_text else plain(value)
