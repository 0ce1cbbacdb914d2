"""Normalizers of texts, numbers, dates and null."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import date
from typing import Any, ClassVar, Final, Literal, get_args

from mcp_lenient.declare.normalizers.annotation import (
    INVALID_VALUE,
    ReadyMade,
    require,
)
from mcp_lenient.errors import NormalizationError
from mcp_lenient.values.json_values import number_in_text
from mcp_lenient.values.language import Text

Scalar = str | int | float | bool | None


def strip() -> ReadyMade:
    """Strip white space from both ends of a text.

    >>> strip()("  a note "), strip()(5)
    ('a note', 5)
    """
    return ReadyMade(_strip)


def _strip(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def lower() -> ReadyMade:
    """Convert a text to lower case.

    >>> lower()("Berlin"), lower()(None)
    ('berlin', None)
    """
    return ReadyMade(_lower)


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def upper() -> ReadyMade:
    """Convert a text to upper case.

    >>> upper()("eur"), upper()(["eur"])
    ('EUR', ['eur'])
    """
    return ReadyMade(_upper)


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def synonyms(meanings: Mapping[str, Scalar], *, match_case: bool = False) -> ReadyMade:
    """Replace words by their meanings, ignoring letter case and white space around them.

    Any other text stays unchanged.

    >>> status = synonyms({"open": "Active", "closed": "Done"})
    >>> status("Open"), status("Active"), status("later")
    ('Active', 'Active', 'later')

    Args:
        meanings: The meaning of each word: a string, number, boolean or None.
        match_case: Whether letter case matters.

    Raises:
        ValueError: When the mapping is invalid or empty, gives a word two meanings, or gives a meaning that is itself
            a synonym of something else.
    """
    is_mapping = isinstance(meanings, Mapping) and meanings
    require(is_mapping, "synonyms(meanings)", "a mapping of words to their meanings", meanings)
    for word, value in meanings.items():
        is_word = isinstance(word, str) and word.strip()
        require(is_word, "Each word of synonyms(meanings)", "a non-empty string", word)
        is_scalar = isinstance(value, (str, int, float, type(None)))
        require(is_scalar, f"The meaning of {word!r}", "a string, number, boolean or None", value)
    require(isinstance(match_case, bool), "synonyms(match_case=...)", "true or false", match_case)
    by_word: dict[str, Scalar] = {}
    entries = sorted(meanings.items(), key=lambda entry: entry[0])
    for word, value in entries:
        first_meaning = by_word.setdefault(_word(word, match_case), value)
        ignored = "the outer space" if match_case else "the case"
        allowed = f"unambiguous when {ignored} of {word!r} is ignored"
        is_same = (type(first_meaning), first_meaning) == (type(value), value)
        require(is_same, "synonyms(meanings)", allowed, value)
    for word, value in entries:
        allowed = f"final, but the meaning of {word!r} is a synonym as well"
        is_final = not isinstance(value, str) or by_word.get(_word(value, match_case), value) == value
        require(is_final, "synonyms(meanings)", allowed, value)
    return ReadyMade(_synonyms, (by_word, match_case))


def _word(text: str, match_case: bool) -> str:  # noqa: FBT001 - as synonyms() has it
    return text.strip() if match_case else text.strip().casefold()


def _synonyms(value: Any, by_word: Mapping[str, Scalar], match_case: bool) -> Any:  # noqa: FBT001 - likewise
    return by_word.get(_word(value, match_case), value) if isinstance(value, str) else value


def clamp(minimum: float | None = None, maximum: float | None = None) -> ReadyMade:
    """Replace a number that is out of bounds, also one in a text, by the nearest bound.

    This saves callers an error but is not a check: values that only the type's own validation converts to numbers
    are ignored, so add a bound that must hold to the type as well (``Field(le=100)``).

    >>> steps = clamp(1, 100)
    >>> steps(500), steps(7), steps("0"), steps("many")
    (100, 7, 1, 'many')

    Args:
        minimum: The lowest number; None for no lower bound.
        maximum: The highest number; None for no upper bound.

    Raises:
        ValueError: When a bound is not a finite number, both are None, or the minimum is above the maximum.
    """
    for name, bound in (("minimum", minimum), ("maximum", maximum)):
        is_right = bound is None or (_is_number(bound) and math.isfinite(bound))
        require(is_right, f"clamp({name}=...)", "a finite number or None", bound)
    bounds = [bound for bound in (minimum, maximum) if bound is not None]
    require(bounds, "clamp(minimum, maximum)", "one number at least", None)
    require(bounds[0] <= bounds[-1], "clamp(minimum=...)", f"at most {maximum!r}, its maximum", minimum)
    return ReadyMade(_clamp, (minimum, maximum))


def _clamp(value: Any, minimum: float | None, maximum: float | None) -> Any:
    number = number_in_text(value) if isinstance(value, str) else value
    if number is None or not _is_number(number):
        return value
    if minimum is not None and number < minimum:
        return minimum
    return maximum if maximum is not None and number > maximum else value


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


Order = Literal["dmy", "mdy"]
_MAX_DATE: Final = 40
_MONTHS: Final = {
    name: index
    for index, names in enumerate(
        "jan january|feb february|mar march|apr april|may|jun june|jul july|aug august|sep sept september|"
        "oct october|nov november|dec december".split("|"),
        start=1,
    )
    for name in names.split()
}
_MONTH: Final = r"(?P<month>[A-Za-z]{3,9})\.?"
_DAY: Final = r"(?P<day>[0-9]{1,2})"
_YEAR: Final = r"(?P<year>[0-9]{4})"
_PATTERNS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_YEAR}(?P<mark>[-/.])(?P<month>[0-9]{{1,2}})(?P=mark){_DAY}",
        r"(?P<year>[0-9]{4})(?P<month>[0-9]{2})(?P<day>[0-9]{2})",
        rf"{_YEAR}\s*[年년]\s*(?P<month>[0-9]{{1,2}})\s*[月월]\s*{_DAY}\s*[日일号號]?",
        rf"{_DAY}(?:st|nd|rd|th)?[- ]\s*(?:of )?{_MONTH},?[- ]\s*{_YEAR}",
        rf"{_MONTH}[- ]\s*{_DAY}(?:st|nd|rd|th)?,?[- ]\s*{_YEAR}",
        rf"{_YEAR}[- ]{_MONTH}[- ]{_DAY}",
    )
)
_YEAR_LAST: Final = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})")
_TWO_DIGITS: Final = re.compile(r"[0-9]{1,2}([-/.])[0-9]{1,2}\1[0-9]{2}")


def iso_date(order: Order | None = None) -> ReadyMade:
    """Convert an unambiguous date to ``YYYY-MM-DD``.

    Accepts numbers with the year first, English month names, the Chinese, Japanese and Korean forms, and numbers with
    the year last if only one order gives a date. If both do (``01/02/2024``), the text is refused, and so is a
    two-digit year. Any other text (``tomorrow``, a date with a time, a day that does not exist) stays unchanged for
    the parameter's type to decide: ``date`` refuses it, ``str`` accepts it.

    >>> written = iso_date()
    >>> written("31/1/2024"), written("Jan 31, 2024"), written("2024年1月31日"), written("tomorrow")
    ('2024-01-31', '2024-01-31', '2024-01-31', 'tomorrow')
    >>> iso_date("dmy")("01/02/2024")
    '2024-02-01'

    Args:
        order: The order of numbers with the year last: ``"dmy"`` or ``"mdy"``.

    Raises:
        ValueError: When the order is anything else.
    """
    require(order in (None, *get_args(Order)), "iso_date(order=...)", "'dmy', 'mdy' or None", order)
    return ReadyMade(_iso_date, (order,))


def _iso_date(value: Any, order: Order | None) -> Any:
    if not isinstance(value, str) or len(value) > _MAX_DATE:
        return value
    text = value.strip()
    dates = _dates(text, order)
    if len(dates) == 1:
        return dates.pop()
    if dates or _TWO_DIGITS.fullmatch(text):
        message = Text("it can be read as more than one date; write it as YYYY-MM-DD")
        raise NormalizationError(INVALID_VALUE, message)
    return value


def _dates(text: str, order: Order | None) -> set[str]:
    for pattern in _PATTERNS:
        match = pattern.fullmatch(text)
        if match is not None:
            month = match["month"]
            number = int(month) if month.isdecimal() else _MONTHS.get(month.lower(), 0)
            return set(_date(match["year"], number, match["day"]))
    match = _YEAR_LAST.fullmatch(text)
    if match is None:
        return set()
    first, _, second, year = match.groups()
    day_first = _date(year, int(second), first) if order != "mdy" else ()
    month_first = _date(year, int(first), second) if order != "dmy" else ()
    return {*day_first, *month_first}


def _date(year: str, month: int, day: str) -> tuple[str, ...]:
    """Return the date in ISO 8601; empty if the day does not exist."""
    try:
        return (date(int(year), month, int(day)).isoformat(),)
    except ValueError:
        return ()


def null_as(value: Any) -> ReadyMade:
    """Replace null by a value; each call gets a new copy.

    >>> null_as([])(None), null_as([])(["a"])
    ([], ['a'])

    Args:
        value: Any JSON value except null.

    Raises:
        ValueError: When the value is null or not JSON.
    """
    try:
        written = json.dumps(value, allow_nan=False, sort_keys=True)
        same = json.loads(written) == value
    except (TypeError, ValueError, RecursionError):
        same = False
    require(same and value is not None, "null_as(value)", "a JSON value other than null", value)
    return ReadyMade(_null_as, (written,))


def _null_as(value: Any, written: str) -> Any:
    return json.loads(written) if value is None else value


class DefaultOnNull(ReadyMade):
    """The normalizer of :func:`default_on_null`."""

    __slots__ = ()
    null_is_absent: ClassVar[bool] = True


def default_on_null() -> ReadyMade:
    """Treat null as not sent, so that the default of the parameter or field is used.

    >>> from typing import Annotated
    >>> from pydantic import BaseModel
    >>> class Search(BaseModel):
    ...     limit: Annotated[int, default_on_null()] = 10
    >>> Search(limit=None)
    Search(limit=10)

    The parameter or field must have a default. Called directly, it returns null, since no value means "not sent"; the
    caller checks ``null_is_absent`` and leaves the argument out.
    """
    return DefaultOnNull(_default_on_null)


def _default_on_null(value: Any) -> Any:
    return value
