"""Test numbers in text and text from numbers: no digit is lost or invented."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from decimal import Context, Decimal
from typing import Any

import pytest
from decisions import decide_value
from hypothesis import example, given
from hypothesis import strategies as st
from tables import ARRAY, INTEGER, NUMBER, REFUSED, STRING, each_row, exactly, read_as

LONGEST = 4_000


def number_in(text: str) -> Any:
    """Return the number that a text is read as."""
    return read_as(NUMBER, text, "text_to_number")


def integer_in(text: str) -> Any:
    """Return the integer that a text is read as."""
    return read_as(INTEGER, text, "text_to_integer")


SAFE = 2**53

NOT_A_JSON_NUMBER = [
    *"- +5 5. .5 0644 1_000 1,234 0x1F 1e 1.2.3 --1 NaN Infinity true \uff14\uff12 \ud800".split(),
    *("", "5 apples", "42\x00", "\u00a042", '"42"'),
]


@each_row("text", NOT_A_JSON_NUMBER)
def test_numbers_not_spelled_as_json_are_refused(text: str) -> None:
    """Text that is not spelled as a JSON number is not a number."""
    assert number_in(text) is REFUSED
    assert integer_in(text) is REFUSED or re.fullmatch(r"\+?[0-9]+", text)


@each_row(("text", "number"))
def test_json_numbers_are_read(text: str, number: float) -> None:
    """A JSON number that loses no digit is parsed, an integer as int and any other number as float."""
    assert exactly(number_in(text)) == exactly(number)


@each_row(
    "text",
    [
        pytest.param("0.1234567890123456789", id="too-many-digits"),
        pytest.param("8.291417776317066", id="sixteen-digits"),
        pytest.param("1234567890.12345678", id="too-many-digits-around-the-point"),
        pytest.param("9007199254740993.0", id="integer-part-rounded"),
        pytest.param("1e999", id="overflow"),
        pytest.param("1" * 310 + ".0", id="overflow-without-exponent"),
        pytest.param("1e-999", id="underflow"),
        pytest.param("4e-324", id="rounded-subnormal"),
        pytest.param("9" * (LONGEST + 1), id="too-long"),
        pytest.param("1." + "0" * LONGEST, id="too-long-fraction"),
        pytest.param("9" * 1_000_000, id="megabytes-of-digits"),
    ],
)
def test_numbers_that_lose_digits_are_refused(text: str) -> None:
    """A number that a double cannot represent exactly is refused and not rounded."""
    assert number_in(text) is REFUSED
    assert integer_in(text) is REFUSED or re.fullmatch(r"\+?[0-9]+", text)


def test_negative_zero_keeps_its_sign() -> None:
    """-0 is parsed as a float, which keeps the sign."""
    for text in ("-0", "-0.0"):
        assert exactly(number_in(text)) == exactly(-0.0)


@each_row(("text", "integer"))
def test_whole_numbers_are_read_as_integers(text: str, integer: int | None) -> None:
    """Text is an integer if its number is whole and loses no digit or sign."""
    assert exactly(integer_in(text)) == exactly(REFUSED if integer is None else integer)


@each_row(("value", "integer"))
def test_whole_floats_become_exact_integers(value: float, integer: int | None) -> None:
    """A strict server gets an integer for a float that is whole and at most 2**53."""
    decision = decide_value(int, value, strict=True)
    if integer is None:
        assert decision.status == "refused"
    else:
        assert exactly(decision.arguments) == exactly({"x": integer})


@each_row(
    ("value", "text"),
    [
        pytest.param(42, "42", id="integer"),
        pytest.param(SAFE, str(SAFE), id="largest-safe"),
        pytest.param(SAFE + 1, str(SAFE + 1), id="no-double-represents-it"),
        pytest.param(SAFE + 2, None, id="a-double-represents-it"),
        pytest.param(1917043659912705296, "1917043659912705296", id="identifier-as-issued"),
        pytest.param(1917043659912705300, None, id="identifier-as-JavaScript-writes-it"),
        pytest.param(725653563933458400, None, id="as-written-with-16-digits"),
        pytest.param(10**20 + 1, str(10**20 + 1), id="large-and-exact"),
        pytest.param(10**400, str(10**400), id="beyond-doubles"),
        pytest.param(10**5000, None, id="beyond-the-digit-limit"),
        pytest.param(3.14, "3.14", id="two-fractional-digits"),
        pytest.param(1602167511.0003, None, id="time-stamp-that-lost-zeros"),
        pytest.param(-0.125, None, id="three-fractional-digits"),
        pytest.param(3.1, None, id="one-fractional-digit"),
        pytest.param(3.0, None, id="whole-float"),
        pytest.param(-0.0, None, id="negative-zero"),
        pytest.param(1e-7, None, id="exponent"),
        pytest.param(math.inf, None, id="infinity"),
        pytest.param(math.nan, None, id="nan"),
        pytest.param(True, None, id="true"),
        pytest.param(2**13287 - 1, str(2**13287 - 1), id="longest-that-is-parsed"),
        pytest.param(10**LONGEST + 1, None, id="longer-than-any-that-is-parsed"),
    ],
)
def test_a_number_becomes_text_by_its_only_spelling(value: float, text: str | None) -> None:
    """A number becomes text only if its sender can have spelled it in just one way."""
    assert read_as(STRING, value, "number_to_text") == (REFUSED if text is None else text)


@pytest.fixture
def _few_digits() -> Iterator[None]:
    limits = getattr(sys, "get_int_max_str_digits", None)
    if limits is None:
        pytest.skip("this interpreter has no limit on the digits of an int")
    before = limits()
    sys.set_int_max_str_digits(640)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.usefixtures("_few_digits")
def test_lower_interpreter_digit_limit_refuses() -> None:
    """If the interpreter has a lower digit limit, longer numbers are refused without an error."""
    assert number_in("9" * 700) is REFUSED
    assert integer_in("9" * 700) is REFUSED
    assert read_as(STRING, 10**700 + 1) is REFUSED


def test_longest_number_of_json_text() -> None:
    """A number beyond the maximum length is refused, whatever its digits."""
    assert read_as(ARRAY, f"[{'9' * LONGEST}]") == [10**LONGEST - 1]
    assert read_as(ARRAY, f"[{'9' * (LONGEST + 1)}]") is REFUSED
    assert read_as(ARRAY, f"[{'1.'.ljust(LONGEST, '0')}]") == [1.0]
    assert read_as(ARRAY, f"[{'1.'.ljust(LONGEST + 1, '0')}]") is REFUSED


def test_numbers_of_json_text_are_plain() -> None:
    """The tool gets plain numbers at every depth, and the sign of zero."""
    read = read_as(ARRAY, '[1.50, -0, [{"a": 2.50, "b": 7}], 9007199254740993]')
    assert exactly(read) == exactly([1.5, -0.0, [{"a": 2.5, "b": 7}], 9007199254740993])


json_numbers = st.from_regex(r"\A-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?\Z")


@given(json_numbers)
@example("9007199254740993.0")
@example("1e23")
@example("0.1")
def test_parsed_number_keeps_its_digits(text: str) -> None:
    """A number parsed from JSON has the digits of the text."""
    number = number_in(text)
    if number is REFUSED:
        return
    exact = Decimal(text)
    last = exact.normalize(Context(prec=LONGEST)).as_tuple().exponent
    assert isinstance(last, int)
    assert Context(prec=LONGEST).subtract(Decimal(number), exact).copy_abs() <= Decimal(5).scaleb(last - 1)


@given(st.integers())
def test_integers_are_parsed_exactly(value: int) -> None:
    """Every integer is parsed as itself; for a number, one that a double would round is refused."""
    assert integer_in(f" {value}\n") == value
    assert number_in(str(value)) == (value if int(float(value)) == value else REFUSED)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_parsed_exactly(value: float) -> None:
    """Every printed double is parsed as itself, with the sign of zero."""
    assert repr(number_in(repr(value))) == repr(value)


def _reads_as(text: str, value: float) -> bool:
    """Return whether a number is read as this; an integer that no double holds is refused."""
    found = number_in(text)
    return found == value or (found is REFUSED and abs(value) > 2**53)


@given(st.integers() | st.floats())
@example(2**53 + 1)
def test_the_text_of_a_number_is_read_back(value: float) -> None:
    """The text of a number is parsed back to that number."""
    text = read_as(STRING, value, "number_to_text")
    assert text is REFUSED or _reads_as(text, value)


@given(st.text() | st.text("0123456789.eE+-_, \n\uff11", max_size=12))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    """No text raises, and an integer is a number too."""
    integer = integer_in(text)
    # A parameter's own text may have a plus sign or leading zeros, which no number has.
    is_integer_alone = re.fullmatch(r"\s*\+?[0-9]+\s*", text) is not None
    assert integer is REFUSED or is_integer_alone or _reads_as(text, integer)
