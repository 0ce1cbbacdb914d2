"""Normalizers of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from mcp_lenient.normalizers.annotation import Normalizer
from mcp_lenient.normalizers.refusals import refuse_argument
from mcp_lenient.numbers import number_in_text


@dataclass(frozen=True, slots=True)
class Clamp(Normalizer):
    """What :func:`clamp` makes."""

    __name__: ClassVar[str] = "clamp"

    minimum: float | None
    maximum: float | None

    def __post_init__(self) -> None:
        for name, bound in (("minimum", self.minimum), ("maximum", self.maximum)):
            if bound is not None and (not _is_number(bound) or not math.isfinite(bound)):
                refuse_argument(f"clamp({name}=...)", "a finite number or None", bound)
        if self.minimum is None and self.maximum is None:
            refuse_argument("clamp(minimum, maximum)", "a number for one of the two at least", None)
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            refuse_argument("clamp(minimum=...)", f"{self.maximum!r} at most, its maximum", self.minimum)

    def __call__(self, value: Any) -> Any:
        """The number, or the bound that it is beyond."""
        number = number_in_text(value) if isinstance(value, str) else value
        if number is None or not _is_number(number):
            return value
        if self.minimum is not None and number < self.minimum:
            return self.minimum
        if self.maximum is not None and number > self.maximum:
            return self.maximum
        return value


def clamp(minimum: float | None = None, maximum: float | None = None) -> Clamp:
    """Bring a number that is out of bounds, also one in a text, to the nearest bound.

    It spares callers an error and is no check: what the type's own validation makes a number of in other
    ways is not looked at, so a bound that must hold stands in the type (``Field(le=100)``) as well.

    >>> steps = clamp(1, 100)
    >>> steps(500), steps(7), steps("0"), steps("many")
    (100, 7, 1, 'many')

    Args:
        minimum: The lowest number; None for no such bound.
        maximum: The highest number; None for no such bound.

    Raises:
        ValueError: When a bound is no finite number, both are None, or the lowest is above the highest.
    """
    return Clamp(minimum, maximum)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
