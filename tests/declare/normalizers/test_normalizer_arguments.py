"""Test the arguments of declarations, and declarations as values."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Annotated, Optional

import pytest
from declare.normalizers.marked import EACH
from tables import each_row

from mcp_lenient.declare.normalizers.annotation import (
    annotated_aliases,
    annotated_normalizers,
)
from mcp_lenient.normalizers import (
    aliases,
    clamp,
    from_function,
    iso_date,
    lower,
    null_as,
    parse_json,
    split,
    strip,
    synonyms,
    tags,
)

ALL = [
    *EACH,
    aliases("query", "q"),
    split(";"),
    synonyms({"open": "Active", "a": 1, "b": None}, match_case=True),
    null_as(1),
    null_as(True),
    from_function(len),
    from_function(repr),
]


@each_row("declared", ALL)
def test_declarations_are_values(declared):
    """A declaration equals only its copies, is hashable and cannot be changed."""
    assert [other for other in ALL if other == declared] == [declared]
    assert len(set(ALL)) == len(ALL)
    for twin in (copy.deepcopy(declared), pickle.loads(pickle.dumps(declared))):  # noqa: S301 - our own
        assert twin == declared
        assert hash(twin) == hash(declared)
    assert not hasattr(declared, "__dict__")
    for field in dataclasses.fields(declared):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(declared, field.name, None)


def test_order_of_synonyms_does_not_matter():
    """Equal mappings give equal declarations."""
    assert synonyms({"a": "x", "b": "y"}) == synonyms({"b": "y", "a": "x"})


def test_later_changes_of_a_mapping_have_no_effect():
    """A declaration keeps a copy of its arguments."""
    meanings = {"a": "x"}
    declared = synonyms(meanings)
    meanings["a"] = "y"
    assert declared("a") == "x"


@each_row(
    ("factory", "arguments", "options", "reported"),
    [
        pytest.param(tags, (), {"separator": ""}, "separator", id="tags-separator-empty"),
        pytest.param(tags, (), {"separator": "["}, "separator", id="tags-separator-bracket"),
        pytest.param(tags, (), {"trim": 1}, "trim", id="tags-trim"),
        pytest.param(tags, (), {"lower": "yes"}, "lower", id="tags-lower"),
        pytest.param(tags, (), {"unique": None}, "unique", id="tags-unique"),
        pytest.param(aliases, (), {}, "one or more names", id="aliases-none"),
        pytest.param(aliases, ("",), {}, "non-empty", id="aliases-empty"),
        pytest.param(aliases, ("q", "q"), {}, "different", id="aliases-twice"),
        pytest.param(parse_json, ("list",), {}, "'array' or 'object'", id="parse-json-kind"),
        pytest.param(split, ("",), {}, "non-empty", id="split-empty"),
        pytest.param(split, ('"',), {}, "quotes", id="split-quote"),
        pytest.param(synonyms, ({},), {}, "mapping", id="synonyms-none"),
        pytest.param(synonyms, ({1: "a"},), {}, "string", id="synonyms-number"),
        pytest.param(synonyms, ({" ": "a"},), {}, "non-empty", id="synonyms-blank"),
        pytest.param(synonyms, ({"a": []},), {}, "'a'", id="synonyms-of-a-list"),
        pytest.param(synonyms, ({"a": 1, "A": 2},), {}, "unambiguous", id="synonyms-case"),
        pytest.param(synonyms, ({"a": 1, "A": True},), {}, "unambiguous", id="synonyms-types"),
        pytest.param(synonyms, ({"a": "b", "b": "c"},), {}, "final", id="synonyms-chain"),
        pytest.param(synonyms, ({"a": "b"},), {"match_case": 1}, "match_case", id="synonyms-match-case"),
        pytest.param(clamp, (), {}, "at least", id="clamp-none"),
        pytest.param(clamp, (True,), {}, "minimum", id="clamp-bool"),
        pytest.param(clamp, (1, float("nan")), {}, "maximum", id="clamp-nan"),
        pytest.param(clamp, (2, 1), {}, "minimum", id="clamp-order"),
        pytest.param(null_as, (None,), {}, "other than null", id="null-as-null"),
        pytest.param(null_as, (object(),), {}, "JSON value", id="null-as-object"),
        pytest.param(null_as, ({1: 2},), {}, "JSON value", id="null-as-key"),
        pytest.param(null_as, (float("nan"),), {}, "JSON value", id="null-as-nan"),
        pytest.param(iso_date, ("ymd",), {}, "'dmy', 'mdy'", id="iso-date-order"),
        pytest.param(from_function, (5,), {}, "callable", id="function-number"),
    ],
)
def test_invalid_arguments_are_refused(factory, arguments, options, reported):
    """An invalid argument is refused at the declaration, with the allowed values."""
    with pytest.raises(ValueError, match="must be") as refused:
        factory(*arguments, **options)
    assert reported in str(refused.value)


def test_async_callables_are_refused():
    """An async callable cannot be a normalizer."""

    async def later(value):
        return value

    with pytest.raises(ValueError, match="async"):
        from_function(later)


def test_synonyms_may_repeat_a_meaning():
    """A word may be listed in several spellings, and a meaning may be a synonym of itself."""
    declared = synonyms({"open": "Active", "Open": "Active", "active": "Active", "Active": "Active"})
    assert declared("ACTIVE") == "Active"


STRIP = Annotated[str, strip()]


@each_row(
    ("annotation", "found"),
    [
        pytest.param(Annotated[str, strip(), lower()], (strip(), lower()), id="in-order"),
        pytest.param(Annotated[STRIP, lower()], (strip(), lower()), id="nested"),
        pytest.param(Annotated[str, "a note", strip(), 5], (strip(),), id="beside-others"),
        pytest.param(Annotated[list[str] | None, tags()], (tags(),), id="nullable"),
        pytest.param(Optional[Annotated[list[str] | None, tags()]], (tags(),), id="optional-of-nullable"),  # noqa: UP045 - as Python 3.10 builds it
        pytest.param(STRIP | None, (), id="arm-of-optional"),
        pytest.param(STRIP | int, (), id="arm-of-union"),
        pytest.param(list[STRIP], (), id="items"),
        pytest.param(str, (), id="none"),
        pytest.param("str", (), id="text"),
        pytest.param(Annotated[str, aliases("q")], (), id="aliases"),
        pytest.param(None, (), id="null"),
    ],
)
def test_annotated_normalizers_finds_those_of_the_whole_parameter(annotation, found):
    """Normalizers of the whole parameter are found in order."""
    assert annotated_normalizers(annotation) == found


def test_annotated_aliases_finds_each_name_once():
    """Aliases are found in the same places, each once."""
    assert annotated_aliases(Annotated[str, aliases("query", "q"), strip(), aliases("q")]) == ("query", "q")
    assert annotated_aliases(list[Annotated[str, aliases("q")]]) == ()


def test_type_aliases_are_resolved():
    """A type alias (`type Tags = ...`) is resolved to its type."""
    typing = pytest.importorskip("typing")
    if not hasattr(typing, "TypeAliasType"):
        pytest.skip("type aliases came with Python 3.12")
    alias = typing.TypeAliasType("Tags", Annotated[list[str], tags()])
    assert annotated_normalizers(Annotated[alias, strip()]) == (tags(), strip())
