"""Normalizers of null."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from mcp_lenient.normalizers.annotation import Normalizer
from mcp_lenient.normalizers.refusals import refuse_argument


@dataclass(frozen=True, slots=True)
class NullAs(Normalizer):
    """What :func:`null_as` makes.

    Attributes:
        json: The value in place of null, as JSON: nobody can change it.
    """

    __name__: ClassVar[str] = "null_as"

    json: str

    def __call__(self, value: Any) -> Any:
        """The value, or a new one in place of null."""
        return json.loads(self.json) if value is None else value


def null_as(value: Any) -> NullAs:
    """Take null for a value; each call gets a new one.

    >>> null_as([])(None), null_as([])(["a"])
    ([], ['a'])

    Args:
        value: Any JSON value but null.

    Raises:
        ValueError: When it is null or no JSON value.
    """
    try:
        written = json.dumps(value, allow_nan=False, sort_keys=True)
        same = json.loads(written) == value
    except (TypeError, ValueError, RecursionError):
        same = False
    if value is None or not same:
        refuse_argument("null_as(value)", "a JSON value other than null", value)
    return NullAs(written)


@dataclass(frozen=True, slots=True)
class DefaultOnNull(Normalizer):
    """What :func:`default_on_null` makes."""

    __name__: ClassVar[str] = "default_on_null"
    null_is_absent: ClassVar[bool] = True

    def __call__(self, value: Any) -> Any:
        """The value as it is: a default cannot be told by a value."""
        return value


def default_on_null() -> DefaultOnNull:
    """Take null for not sent, so that the parameter's or field's own default is used.

    >>> from typing import Annotated
    >>> from pydantic import BaseModel
    >>> class Search(BaseModel):
    ...     limit: Annotated[int, default_on_null()] = 10
    >>> Search(limit=None)
    Search(limit=10)

    It is for parameters and fields that have a default. Called by itself it gives null back, since no value
    says "not sent"; ``null_is_absent`` tells who runs it to leave the argument out.
    """
    return DefaultOnNull()
