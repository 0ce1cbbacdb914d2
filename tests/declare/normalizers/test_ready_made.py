"""Test the results and refusals of each ready-made normalizer."""

from __future__ import annotations

import pytest
from tables import each_row, rows

from mcp_lenient.declare.normalizers.annotation import INVALID_TYPE, INVALID_VALUE
from mcp_lenient.errors import NormalizationError
from mcp_lenient.normalizers import (
    clamp,
    default_on_null,
    from_function,
    iso_date,
    lower,
    null_as,
    parse_json,
    split,
    strip,
    synonyms,
    tags,
    upper,
)

LONG = "x" * 100_000


def same(left, right):
    """Return whether values are equal and of the same types: true is not 1."""
    return left == right and repr(left) == repr(right)


def table(*rows):
    """Run a test for each row of given and wanted values."""
    return each_row(("given", "wanted"), rows)


@table(*rows(__file__, "tags_accepts_lists_and_single_texts"))
def test_tags_accepts_lists_and_single_texts(given, wanted):
    """Null, a list of strings, one string and the text of a list of strings are accepted as tags."""
    assert same(tags()(given), wanted)


@each_row("given", rows(__file__, "tags_refuses_other_values"))
def test_tags_refuses_other_values(given):
    """Any other value is refused as a wrong type, even text that may be one tag or several."""
    with pytest.raises(NormalizationError) as refused:
        tags()(given)
    assert refused.value.code == INVALID_TYPE
    assert "array of strings" in refused.value.message


@each_row(("options", "given", "wanted"), rows(__file__, "tags_options_apply"))
def test_tags_options_apply(options, given, wanted):
    """Each option of tags has its effect."""
    assert tags(**options)(given) == wanted


@each_row(("options", "given", "code"), rows(__file__, "tags_out_of_bounds_are_refused"))
def test_tags_out_of_bounds_are_refused(options, given, code):
    """Too many tags, or tags that are too long, are refused as a wrong value."""
    with pytest.raises(NormalizationError) as refused:
        tags(**options)(given)
    assert refused.value.code == code


@table(
    *rows(__file__, "parse_json_parses_whole_containers"), ("[" * 1000 + "]" * 1000, "[" * 1000 + "]" * 1000)
)
def test_parse_json_parses_whole_containers(given, wanted):
    """Text that is a whole JSON container becomes the container. Other text stays."""
    assert same(parse_json()(given), wanted)


def test_parse_json_parses_requested_kinds_only():
    """Only the requested kinds are parsed."""
    assert parse_json("array")('{"a": 1}') == '{"a": 1}'
    assert parse_json("object")('{"a": 1}') == {"a": 1}
    assert parse_json("object")("[1]") == "[1]"
    assert parse_json("object", "array") == parse_json()


@table(*rows(__file__, "split_strips_and_drops_empty_parts"))
def test_split_strips_and_drops_empty_parts(given, wanted):
    """Text is split, trimmed, and its empty parts dropped. Lists stay."""
    assert same(split()(given), wanted)


@pytest.mark.parametrize("given", ['["a", "b', '{"a": 1, "b": 2}', '"a, b", c', "[a], [b]"])
def test_split_refuses_broken_json(given):
    """Text that begins like JSON or a quotation but is not an array is refused."""
    with pytest.raises(NormalizationError) as refused:
        split()(given)
    assert refused.value.code == INVALID_TYPE


def test_split_accepts_any_separator():
    """A separator may be any text."""
    assert split(";")("a, b; c") == ["a, b", "c"]
    assert split(" and ")("salt and pepper") == ["salt", "pepper"]
    assert split("，")("红，绿") == ["红", "绿"]


@table(
    (" a ", "a"), ("\t\n", ""), ("\u3000红", "红"), ("a b", "a b"), (5, 5), (None, None), ([" a "], [" a "])
)
def test_strip_removes_white_space(given, wanted):
    """White space of any script is stripped from text. Other values stay."""
    assert same(strip()(given), wanted)


@table(("ABC", "abc"), ("ÄΣ", "äς"), ("", ""), (True, True), (["A"], ["A"]), ({"A": "B"}, {"A": "B"}))
def test_lower_lowercases_text(given, wanted):
    """Text is lowercased."""
    assert same(lower()(given), wanted)


@table(("abc", "ABC"), ("straße", "STRASSE"), (None, None), (1.0, 1.0), (["a"], ["a"]))
def test_upper_uppercases_text(given, wanted):
    """Text is uppercased."""
    assert same(upper()(given), wanted)


@table(*rows(__file__, "synonyms_ignore_case"))
def test_synonyms_ignore_case(given, wanted):
    """A synonym in any letter case becomes its meaning. Other values stay."""
    meanings = {"open": "Active", "开": "Active", "high": 1, "any": None, "yes": True}
    assert same(synonyms(meanings)(given), wanted)


def test_synonyms_may_match_case():
    """With ``match_case``, two words may differ only in letter case."""
    minutes = synonyms({"m": "minutes", "M": "months"}, match_case=True)
    assert [minutes(text) for text in ("m", " M ", "mm")] == ["minutes", "months", "mm"]


@table(
    *rows(__file__, "clamp_limits_numbers_and_their_text"),
    (10**400, 100),
    (float("inf"), 100),
    (float("-inf"), 1),
)
def test_clamp_limits_numbers_and_their_text(given, wanted):
    """A number out of bounds, even as text, becomes the bound."""
    assert same(clamp(1, 100)(given), wanted)


def test_clamp_accepts_one_bound():
    """A bound may be omitted. NaN is never out of bounds."""
    assert [clamp(minimum=0)(number) for number in (-1, 10**9)] == [0, 10**9]
    assert [clamp(maximum=0.5)(number) for number in (-1, 1)] == [-1, 0.5]
    assert repr(clamp(1, 2)(float("nan"))) == "nan"


@each_row("value", [[], {}, {"a": [1, None]}, "", "none", 0, 1.5, True, False, "\ud800"])
def test_null_as_replaces_null_only(value):
    """Null becomes the value. Any other value stays."""
    assert same(null_as(value)(None), value)
    assert same(null_as(value)("null"), "null")
    assert same(null_as(value)(False), False)


def test_null_as_returns_a_new_copy():
    """A call that changes its value does not affect the next one."""
    empty = null_as([])
    empty(None).append(1)
    assert empty(None) == []


def test_default_on_null_returns_null_when_called():
    """No value means "use the default", so null stays and ``null_is_absent`` is set."""
    assert default_on_null()(None) is None
    assert default_on_null()("null") == "null"
    assert default_on_null().null_is_absent
    assert not null_as(1).null_is_absent


@table(*rows(__file__, "iso_date_converts_unambiguous_dates"), (LONG, LONG))
def test_iso_date_converts_unambiguous_dates(given, wanted):
    """An unambiguous date is converted to ISO 8601. Other text stays."""
    assert same(iso_date()(given), wanted)


@each_row("given", ["01/02/2024", "1.2.2024", "3-4-2024", "31/01/24", "1.2.24"])
def test_iso_date_refuses_ambiguous_dates(given):
    """A date that is valid in two orders or has no century is refused."""
    with pytest.raises(NormalizationError) as refused:
        iso_date()(given)
    assert refused.value.code == INVALID_VALUE
    assert "YYYY-MM-DD" in refused.value.message


def test_iso_date_uses_the_declared_order():
    """With a declared order a date is unambiguous. It stays unchanged if the day does not exist."""
    assert iso_date("dmy")("01/02/2024") == "2024-02-01"
    assert iso_date("mdy")("01/02/2024") == "2024-01-02"
    assert iso_date("mdy")("31/01/2024") == "31/01/2024"


def test_any_callable_is_a_normalizer():
    """Any callable can be a normalizer. Its exceptions propagate."""
    shout = from_function(str.upper)
    assert shout("a") == "A"
    assert shout.__name__ == "upper"
    with pytest.raises(TypeError):
        shout(5)
    assert from_function(strip()) == strip()
