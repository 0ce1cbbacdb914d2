"""Lists of short texts, as callers send them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from mcp_lenient.errors import NormalizationError
from mcp_lenient.json_text import looks_like_json
from mcp_lenient.normalizers.annotation import Normalizer
from mcp_lenient.normalizers.json_text import container_in_text
from mcp_lenient.normalizers.lists import check_separator, parts
from mcp_lenient.normalizers.refusals import INVALID_TYPE, INVALID_VALUE, check_flag, refuse_argument
from mcp_lenient.rules.words import has_delimiter, is_null_text, says_nothing

_JSON_SCALARS = (str, int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags(Normalizer):
    """What :func:`tags` makes."""

    __name__: ClassVar[str] = "tags"

    separator: str | None = None
    trim: bool = False
    lower: bool = False
    unique: bool = False
    max_count: int | None = None
    max_length: int | None = None

    def __post_init__(self) -> None:
        if self.separator is not None:
            check_separator("tags(separator=...)", self.separator)
        for name in ("trim", "lower", "unique"):
            check_flag(f"tags({name}=...)", getattr(self, name))
        for name in ("max_count", "max_length"):
            bound = getattr(self, name)
            if bound is not None and (not isinstance(bound, int) or isinstance(bound, bool) or bound < 1):
                refuse_argument(f"tags({name}=...)", "a positive integer or None", bound)

    def __call__(self, value: Any) -> Any:
        """The list of tags, or None.

        Raises:
            NormalizationError: When the value is none of what :func:`tags` reads, or out of bounds.
        """
        listed = self._in_text(value) if isinstance(value, str) else value
        if isinstance(listed, list):
            for tag in listed:
                if not isinstance(tag, str):
                    _refuse("each item must be a string")
            return self._tidied(listed)
        if isinstance(listed, (*_JSON_SCALARS, dict)):
            _refuse()
        return listed

    def _in_text(self, text: str) -> Any:
        found = container_in_text(text)
        if found is not None:
            return found
        if is_null_text(text):
            return None
        if looks_like_json(text):
            _refuse("the text begins like JSON, but is no JSON array")
        if says_nothing(text):
            _refuse("for none, send null or leave it out")
        tags = [text] if self.separator is None else parts(text, self.separator)
        if not tags or has_delimiter(" ".join(tags)):
            _refuse("a text with a separator in it may be one tag or several")
        return tags

    def _tidied(self, tags: list[str]) -> list[str]:
        if self.trim:
            tags = [tag.strip() for tag in tags]
        if self.lower:
            tags = [tag.lower() for tag in tags]
        if self.unique:
            tags = list(dict.fromkeys(tags))
        if self.max_count is not None and len(tags) > self.max_count:
            message = f"send {self.max_count} items at most"
            raise NormalizationError(INVALID_VALUE, message)
        if self.max_length is not None and any(len(tag) > self.max_length for tag in tags):
            message = f"each item may have {self.max_length} characters at most"
            raise NormalizationError(INVALID_VALUE, message)
        return tags


def tags(
    *,
    separator: str | None = None,
    trim: bool = False,
    lower: bool = False,
    unique: bool = False,
    max_count: int | None = None,
    max_length: int | None = None,
) -> Tags:
    """Understand a list of texts in the ways that callers write one.

    Null and lists of strings pass; ``null`` and ``None`` as text are null. A single text is a list of it. The
    text of a JSON, JSON5 or Python list of strings is that list. Anything else is refused: with
    ``INVALID_TAGS_TYPE`` (its ``TAGS`` is the parameter's own name), also a text that is empty, a word for
    nothing, or that may be one tag as well as several; with ``INVALID_TAGS_VALUE`` where there are too many
    or one is too long.

    >>> tags()("urgent"), tags()('["a", "b"]'), tags()(None)
    (['urgent'], ['a', 'b'], None)
    >>> tags(separator=",", lower=True, unique=True)("Red, green, red")
    ['red', 'green']

    Args:
        separator: What a text is split by. Without it, a text with a separator in it is refused.
        trim: Whether white space around each tag is taken off.
        lower: Whether tags are put into lower case.
        unique: Whether a tag that is there already is dropped.
        max_count: How many tags there may be, once duplicates are dropped.
        max_length: How many characters each may have, once trimmed.

    Raises:
        ValueError: When an argument is not allowed; says which and what is.
    """
    return Tags(
        separator=separator,
        trim=trim,
        lower=lower,
        unique=unique,
        max_count=max_count,
        max_length=max_length,
    )


def _refuse(reason: str = "") -> NoReturn:
    message = "send an array of strings or null"
    raise NormalizationError(INVALID_TYPE, f"{message}; {reason}" if reason else message)
