"""Dates as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar, Final, Literal, get_args

from mcp_lenient.errors import NormalizationError
from mcp_lenient.normalizers.annotation import Normalizer
from mcp_lenient.normalizers.refusals import INVALID_VALUE, refuse_argument

Order = Literal["dmy", "mdy"]

_LONGEST: Final = 40
_MONTHS: Final = {
    name: at
    for at, names in enumerate(
        "jan january|feb february|mar march|apr april|may|jun june|jul july|aug august|sep sept september|"
        "oct october|nov november|dec december".split("|"),
        start=1,
    )
    for name in names.split()
}
_MONTH: Final = r"(?P<month>[A-Za-z]{3,9})\.?"
_DAY: Final = r"(?P<day>[0-9]{1,2})"
_YEAR: Final = r"(?P<year>[0-9]{4})"
_WRITTEN: Final = tuple(
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


@dataclass(frozen=True, slots=True)
class IsoDate(Normalizer):
    """What :func:`iso_date` makes."""

    __name__: ClassVar[str] = "iso_date"

    order: Order | None = None

    def __post_init__(self) -> None:
        if self.order not in (None, *get_args(Order)):
            refuse_argument("iso_date(order=...)", "'dmy', 'mdy' or None", self.order)

    def __call__(self, value: Any) -> Any:
        """The date as ISO 8601 writes it, or the value as it is.

        Raises:
            NormalizationError: When the text is a date that can be read in more than one way.
        """
        if not isinstance(value, str) or len(value) > _LONGEST:
            return value
        text = value.strip()
        dates = _dates(text, self.order)
        if len(dates) == 1:
            return dates.pop()
        if dates or _TWO_DIGITS.fullmatch(text):
            message = "it can be read as more than one date; write it as YYYY-MM-DD"
            raise NormalizationError(INVALID_VALUE, message)
        return value


def iso_date(order: Order | None = None) -> IsoDate:
    """Write a date that has one reading as ``YYYY-MM-DD``.

    Read are numbers with the year first, English month names, the Chinese, Japanese and Korean form, and
    numbers with the year last where only one order makes a date. Where both do (``01/02/2024``) the text is
    refused, as are two digits for a year. It checks no more than that: any other text (``tomorrow``, a date
    with a time, a day that no calendar has) stays as it is, and what the parameter's own type says of it decides.
    A parameter of type ``date`` refuses it; one of type ``str`` takes it.

    >>> written = iso_date()
    >>> written("31/1/2024"), written("Jan 31, 2024"), written("2024年1月31日"), written("tomorrow")
    ('2024-01-31', '2024-01-31', '2024-01-31', 'tomorrow')
    >>> iso_date("dmy")("01/02/2024")
    '2024-02-01'

    Args:
        order: In which order numbers with the year last stand: ``"dmy"`` or ``"mdy"``.

    Raises:
        ValueError: When the order is anything else.
    """
    return IsoDate(order)


def _dates(text: str, order: Order | None) -> set[str]:
    """All dates that a text can be read as."""
    for pattern in _WRITTEN:
        found = pattern.fullmatch(text)
        if found is not None:
            month = found["month"]
            number = int(month) if month.isdecimal() else _MONTHS.get(month.lower(), 0)
            return set(_date(found["year"], number, found["day"]))
    found = _YEAR_LAST.fullmatch(text)
    if found is None:
        return set()
    first, _, second, year = found.groups()
    day_first = _date(year, int(second), first) if order != "mdy" else ()
    month_first = _date(year, int(first), second) if order != "dmy" else ()
    return {*day_first, *month_first}


def _date(year: str, month: int, day: str) -> tuple[str, ...]:
    """The date in ISO 8601, or none where the calendar has no such day."""
    try:
        return (date(int(year), month, int(day)).isoformat(),)
    except ValueError:
        return ()
