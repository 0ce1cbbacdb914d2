"""Normalizers of JSON text, lists and tags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Literal, NoReturn, get_args

from mcp_lenient.declare.normalizers.annotation import (
    INVALID_TYPE,
    ReadyMade,
    WrongItemsError,
    require,
)
from mcp_lenient.errors import NormalizationError
from mcp_lenient.rules.words import has_delimiter, is_null_text, says_nothing
from mcp_lenient.values.json_values import container, json_type, looks_like_json
from mcp_lenient.values.language import Text
from mcp_lenient.values.limits import Limits

Container = Literal["array", "object"]
_LIMITS: Final = Limits()


def parse_json(*kinds: Container) -> ReadyMade:
    """Parse a text that is a JSON array or object; any other text stays unchanged.

    For types such as ``str | list[str]``, where the text is valid, so that no rule may parse it. A text may also be
    fenced, quoted once more, JSON5 or a Python literal; it is not parsed if a digit or a key would be lost.

    >>> read = parse_json("array")
    >>> read('["a", "b"]'), read('{"a": 1}'), read("[a note]")
    (['a', 'b'], '{"a": 1}', '[a note]')

    Args:
        kinds: ``"array"``, ``"object"`` or both; both when left out.

    Raises:
        ValueError: When a kind is anything else.
    """
    for kind in kinds:
        is_kind = kind in get_args(Container)
        require(is_kind, "Each kind of parse_json(*kinds)", "'array' or 'object'", kind)
    return ReadyMade(_parse_json, tuple(sorted(set(kinds or get_args(Container)))))


def _parse_json(value: Any, *kinds: Container) -> Any:
    items = container(value, _LIMITS) if isinstance(value, str) else None
    return value if items is None or json_type(items) not in kinds else items


def split(separator: str = ",") -> ReadyMade:
    """Split a text into a list and strip its parts; a list stays unchanged.

    Empty parts are left out, so ``""`` becomes an empty list. The texts ``null`` and ``None``, printed by serializers,
    become null. The text of a JSON array becomes that array.

    >>> listed = split()
    >>> listed("red, green,"), listed('["a, b"]'), listed(["a,b"])
    (['red', 'green'], ['a, b'], ['a,b'])

    Args:
        separator: The text between the parts.

    Raises:
        ValueError: When the separator is not a string, is empty, or contains brackets or quotes.
    """
    check_separator("split(separator)", separator)
    return ReadyMade(_split, (separator,))


def _split(value: Any, separator: str) -> Any:
    """Return the parts of a text, or the value unchanged; refuse what begins like JSON but is no array."""
    if not isinstance(value, str):
        return value
    if is_null_text(value):
        return None
    listed = container(value, _LIMITS)
    if isinstance(listed, list):
        return listed
    if listed is not None or looks_like_json(value):
        message = Text(
            "send an array, or plain items separated by {separator}; the text is neither",
            separator=repr(separator),
        )
        raise NormalizationError(INVALID_TYPE, message)
    return parts(value, separator)


def parts(text: str, separator: str) -> list[str]:
    """Return the stripped parts of a text that are not blank."""
    return [part.strip() for part in text.split(separator) if part.strip()]


def check_separator(where: str, separator: object) -> None:
    """Raise a ValueError if a separator cannot split a text."""
    is_right = isinstance(separator, str) and separator and not set(separator) & set("[]{}\"'")
    require(is_right, where, "a non-empty string without brackets and quotes", separator)


_EXPECTED: Final = ("array of strings", "null")


class Tags(ReadyMade):
    """The normalizer of :func:`tags`."""

    __slots__ = ()
    schema: ClassVar[Mapping[str, Any]] = {
        "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]
    }
    """What is accepted; for a parameter whose own type says nothing."""


def tags(
    *,
    separator: str | None = None,
    trim: bool = False,
    lower: bool = False,
    unique: bool = False,
) -> Tags:
    """Accept a list of strings in the forms that callers send.

    Null and lists of strings pass; the texts ``null`` and ``None`` become null. A single text becomes a list of one.
    The text of a JSON, JSON5 or Python list of strings becomes that list. Anything else is refused, unless a rule makes
    one of these forms of it, as of ``[2024]``, or leaves ``""`` out, as in a tool with ``readOnlyHint``: with
    ``INVALID_TAGS_TYPE`` (``TAGS`` is the parameter's name) also a text that is empty, a word for an absent value, or
    possibly several tags. How many there may be, and how long, is for the type: ``Annotated[list[str], Field(max_length=9), tags()]``.

    >>> tags()("urgent"), tags()('["a", "b"]'), tags()(None)
    (['urgent'], ['a', 'b'], None)
    >>> tags(separator=",", lower=True, unique=True)("Red, green, red")
    ['red', 'green']

    Args:
        separator: The text between tags. Without it, a text that contains a separator is refused.
        trim: Whether to strip white space around each tag.
        lower: Whether to lowercase tags.
        unique: Whether to drop duplicates.

    Raises:
        ValueError: When an argument is invalid; names it and the allowed values.
    """
    if separator is not None:
        check_separator("tags(separator=...)", separator)
    for name, flag in (("trim", trim), ("lower", lower), ("unique", unique)):
        require(isinstance(flag, bool), f"tags({name}=...)", "true or false", flag)
    changes = {str.strip: trim, str.lower: lower}
    wanted = tuple(change for change, is_wanted in changes.items() if is_wanted)
    return Tags(_tags, (separator, wanted, unique))


def _tags(
    value: Any,
    separator: str | None,
    changes: tuple[Callable[[str], str], ...],
    unique: bool,  # noqa: FBT001 - as tags() has it
) -> Any:
    """Return the list of tags, or None; refuse any other value."""
    listed = _parsed(value, separator) if isinstance(value, str) else value
    if isinstance(listed, (str, int, float, dict)):
        _refuse(Text("send an array of strings or null"))
    if not isinstance(listed, list):
        return listed
    wrong = [index for index, tag in enumerate(listed) if not isinstance(tag, str)]
    if wrong:
        message = Text("send an array of strings or null; each item must be a string")
        if listed is value:
            raise WrongItemsError(INVALID_TYPE, message, _EXPECTED, items=wrong)
        _refuse(message)
    for change in changes:
        listed = list(map(change, listed))
    return list(dict.fromkeys(listed)) if unique else listed


def _parsed(text: str, separator: str | None) -> Any:
    items = container(text, _LIMITS)
    if items is not None or is_null_text(text):
        return items
    if looks_like_json(text):
        _refuse(Text("send an array of strings or null; the text begins like JSON, but is not a JSON array"))
    if says_nothing(text):
        _refuse(Text("send an array of strings or null; the text is empty or says that there is nothing"))
    tags = [text] if separator is None else parts(text, separator)
    if not tags or has_delimiter(" ".join(tags)):
        message = Text(
            "send an array of strings or null; a text that contains a separator may be one tag or several"
        )
        _refuse(message)
    return tags


def _refuse(message: Text) -> NoReturn:
    raise NormalizationError(INVALID_TYPE, message, _EXPECTED)
