"""Text that is a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mcp_lenient.errors import NormalizationError
from mcp_lenient.json_text import looks_like_json
from mcp_lenient.normalizers.annotation import Normalizer
from mcp_lenient.normalizers.json_text import container_in_text
from mcp_lenient.normalizers.refusals import INVALID_TYPE, refuse_argument
from mcp_lenient.rules.words import is_null_text


@dataclass(frozen=True, slots=True)
class Split(Normalizer):
    """What :func:`split` makes."""

    __name__: ClassVar[str] = "split"

    separator: str

    def __post_init__(self) -> None:
        check_separator("split(separator)", self.separator)

    def __call__(self, value: Any) -> Any:
        """The parts of a text, or the value as it is.

        Raises:
            NormalizationError: When the text begins like JSON or a quoted text, but is no JSON array.
        """
        if not isinstance(value, str):
            return value
        if is_null_text(value):
            return None
        listed = container_in_text(value)
        if isinstance(listed, list):
            return listed
        if listed is not None or looks_like_json(value):
            message = (
                f"send an array, or plain items with {self.separator!r} between them; the text is neither"
            )
            raise NormalizationError(INVALID_TYPE, message)
        return parts(value, self.separator)


def split(separator: str = ",") -> Split:
    """Split a text into a list, without the space around its parts; a list stays as it is.

    Empty parts are left out, so that ``""`` is an empty list. ``null`` and ``None``, which is how serializers
    print a null, are null. A JSON array in a text is that array.

    >>> listed = split()
    >>> listed("red, green,"), listed('["a, b"]'), listed(["a,b"])
    (['red', 'green'], ['a, b'], ['a,b'])

    Args:
        separator: What stands between the parts.

    Raises:
        ValueError: When the separator is empty, no text, or a character of JSON arrays.
    """
    return Split(separator)


def parts(text: str, separator: str) -> list[str]:
    """The parts of a text that are not blank, without the space around them."""
    return [part.strip() for part in text.split(separator) if part.strip()]


def check_separator(where: str, separator: object) -> None:
    """Raise where a text cannot be split by this.

    Raises:
        ValueError: When it is empty, no text, or quotes and brackets that JSON is made of.
    """
    if not isinstance(separator, str) or not separator or set(separator) & set("[]{}\"'"):
        refuse_argument(where, "a text that is not empty, without brackets and quotes", separator)
