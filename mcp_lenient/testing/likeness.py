"""When two values are the same to a tool: of the same types throughout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import is_dataclass
from typing import Any

from pydantic import BaseModel


def identical(left: Any, right: Any) -> bool:
    """Whether two values are equal and of the same types, in all that they hold.

    >>> identical({"a": [1]}, {"a": [1]}), identical(1, 1.0), identical([True], [1])
    (True, False, False)
    """
    if type(left) is not type(right):
        return False
    if isinstance(left, Mapping):
        return left.keys() == right.keys() and all(
            identical(value, right[key]) for key, value in left.items()
        )
    if isinstance(left, Sequence) and not isinstance(left, (str, bytes)):
        return len(left) == len(right) and all(map(identical, left, right))
    if isinstance(left, AbstractSet):
        return bool(left == right) and {type(item) for item in left} == {type(item) for item in right}
    if isinstance(left, BaseModel):
        return identical(left.__dict__, right.__dict__) and identical(left.model_extra, right.model_extra)
    if is_dataclass(left) and hasattr(left, "__dict__"):
        return identical(vars(left), vars(right))
    return bool(left == right) or (left != left and right != right)  # noqa: PLR0124 - NaN
