"""Normalizers of JSON text, lists and tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, NoReturn, get_args

from mcp_lenient.declare.normalizers.annotation import (
    INVALID_TYPE,
    INVALID_VALUE,
    ValueNormalizer,
    check_flag,
    refuse_argument,
)
from mcp_lenient.errors import NormalizationError
from mcp_lenient.rules.words import has_delimiter, is_null_text, says_nothing
from mcp_lenient.text_calls.source import container
from mcp_lenient.values.json_values import json_type, looks_like_json
from mcp_lenient.values.limits import Limits

Container = Literal["array", "object"]
_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class ParseJson(ValueNormalizer):
    """The normalizer that :func:`parse_json` makes."""

    __name__: ClassVar[str] = "parse_json"

    kinds: tuple[Container, ...]

    def __call__(self, value: Any) -> Any:
        """Return the container that a text spells, or the value unchanged."""
        if not isinstance(value, str):
            return value
        found = container(value, _LIMITS)
        return value if found is None or json_type(found) not in self.kinds else found


def parse_json(*kinds: Container) -> ParseJson:
    """Read a text that is a JSON array or object; any other text stays text.

    It is for types like ``str | list[str]``: the text is right as it is, so that nothing else may read it.
    Text is also read where it is fenced, quoted once more, or written as JSON5 or Python would; never where
    a digit or a key would be lost.

    >>> read = parse_json("array")
    >>> read('["a", "b"]'), read('{"a": 1}'), read("[a note]")
    (['a', 'b'], '{"a": 1}', '[a note]')

    Args:
        kinds: ``"array"``, ``"object"`` or both; both when left out.

    Raises:
        ValueError: When a kind is anything else.
    """
    for kind in kinds:
        if kind not in get_args(Container):
            refuse_argument("Each kind of parse_json(*kinds)", "'array' or 'object'", kind)
    return ParseJson(tuple(sorted(set(kinds or get_args(Container)))))


@dataclass(frozen=True, slots=True)
class Split(ValueNormalizer):
    """The normalizer that :func:`split` makes."""

    __name__: ClassVar[str] = "split"

    separator: str

    def __post_init__(self) -> None:
        check_separator("split(separator)", self.separator)

    def __call__(self, value: Any) -> Any:
        """Return the parts of a text, or the value unchanged.

        Raises:
            NormalizationError: When the text begins like JSON or a quoted text, but is no JSON array.
        """
        if not isinstance(value, str):
            return value
        if is_null_text(value):
            return None
        listed = container(value, _LIMITS)
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
        separator: The text between the parts.

    Raises:
        ValueError: When the separator is empty, no text, or a character of JSON arrays.
    """
    return Split(separator)


def parts(text: str, separator: str) -> list[str]:
    """Return the parts of a text that are not blank, without outer space."""
    return [part.strip() for part in text.split(separator) if part.strip()]


def check_separator(where: str, separator: object) -> None:
    """Raise where a separator cannot split a text.

    Raises:
        ValueError: When it is empty, no text, or quotes and brackets that JSON is made of.
    """
    if not isinstance(separator, str) or not separator or set(separator) & set("[]{}\"'"):
        refuse_argument(where, "a text that is not empty, without brackets and quotes", separator)


_JSON_SCALARS = (str, int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tags(ValueNormalizer):
    """The normalizer that :func:`tags` makes."""

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
        """Return the list of tags, or None.

        Raises:
            NormalizationError: When :func:`tags` cannot read the value, or it is out of bounds.
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
        found = container(text, _LIMITS)
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
    text = f"{message}; {reason}" if reason else message
    raise NormalizationError(INVALID_TYPE, text, ("array of strings", "null"))
