"""An author's own callable as a normalizer."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from mcp_lenient.declared import Normalize
from mcp_lenient.normalizers.annotation import Normalizer
from mcp_lenient.normalizers.refusals import refuse_argument


@dataclass(frozen=True, slots=True)
class Custom(Normalizer):
    """What :func:`normalizer` makes."""

    function: Normalize

    def __post_init__(self) -> None:
        if not callable(self.function) or inspect.iscoroutinefunction(self.function):
            refuse_argument("normalizer(function)", "a callable that is not async", self.function)

    @property
    def __name__(self) -> str:
        name = getattr(self.function, "__name__", None)
        return name if isinstance(name, str) else type(self.function).__name__

    def __call__(self, value: Any) -> Any:
        """What the function gives; whatever it raises is raised."""
        return self.function(value)


def normalizer(function: Normalize) -> Normalizer:
    """Make a normalizer for annotations of any callable that takes a value and gives the one that is meant.

    >>> from typing import Annotated
    >>> from pydantic import TypeAdapter
    >>> def without_hash(value):
    ...     return value.removeprefix("#") if isinstance(value, str) else value
    >>> TypeAdapter(Annotated[str, normalizer(without_hash)]).validate_python("#ffcc00")
    'ffcc00'

    To refuse a value it raises :class:`mcp_lenient.errors.NormalizationError`; its code may hold
    ``{PARAMETER}`` for the name of the parameter, and its message should not hold the value. Any other
    exception goes on as it is: behind an annotation, Pydantic makes a validation error of a ``ValueError``
    or ``AssertionError`` and hands on the rest. It should be pure, give what it gets back when that is
    right, and be idempotent: it may run more than once on a call.

    Args:
        function: The callable; a normalizer is returned as it is.

    Raises:
        ValueError: When it is no callable, or an async one.
    """
    return function if isinstance(function, Normalizer) else Custom(function)
