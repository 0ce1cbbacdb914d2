"""Test names that differ only in case style, and names that only look similar."""

from __future__ import annotations

import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tables import BOOLEAN, STRING, array, closed, each_row, only

from mcp_lenient import Policy, normalize

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
NAME = st.text(st.sampled_from("abeginstyEST_- 12\u00e9"), max_size=12)
NAMES = st.lists(NAME | ANY_TEXT, max_size=6, unique=True)


def renamed(sent: str, declared: list[str]) -> str | None:
    """Return the declared name that a sent one is renamed to by case style; None if none or refused."""
    result = normalize(closed(**dict.fromkeys(declared, STRING)), {sent: "x"}, only("rename_case"))
    (name,) = result.arguments
    return name if result.repairs else None


@each_row(("one", "other", "same"))
def test_names_of_two_case_styles_are_the_same(one, other, same):
    """A name is renamed to one that differs only in case style."""
    assert (renamed(one, [other]) == other) is same


@each_row(("sent", "declared", "target"))
def test_a_name_is_renamed_to_the_only_one_of_its_words(sent, declared, target):
    """A name matches the only declared name of the same words. A leading underscore is never removed."""
    assert renamed(sent, declared) == target


@given(ANY_TEXT | NAME, NAMES)
def test_a_declared_name_stays(sent, declared):
    """A name is renamed to a declared one or refused, and a declared name is never renamed."""
    found = renamed(sent, declared)
    assert found is None or (found in declared and sent not in declared)


@given(ANY_TEXT | NAME, NAMES, st.randoms(use_true_random=False))
def test_order_of_declared_names_does_not_matter(sent, declared, random):
    """The name does not depend on the order of the declared ones."""
    assert renamed(sent, declared) == renamed(sent, random.sample(declared, len(declared)))


@given(NAME, NAME)
def test_two_names_of_the_same_words_are_not_told_apart(one, other):
    """No name is renamed to either of two that differ in case style alone."""
    if one != other and renamed(one, [other]) is not None:
        assert renamed(one.upper(), [one, other]) is None


def suggested(sent: str, *declared: str, required: bool = False) -> tuple[str, ...]:
    """Return the names suggested for an undeclared one, likeliest first; ``rename_case`` is off."""
    names: Any = {**dict.fromkeys(declared, array(STRING)), "zzz": BOOLEAN}
    schema = closed(*(declared if required else ()), **names)
    found = normalize(schema, {sent: [5]}, Policy(disable={"rename_case"})).violations
    (unknown,) = (each for each in found if each.code == "unknown")
    moved = [patch[0]["path"][1:] for patch in unknown.fixes if patch[0]["op"] == "move"]
    assert len(declared) > 1 or moved == list(unknown.did_you_mean)
    return unknown.did_you_mean


@each_row(("sent", "name"))
def test_a_near_name_is_suggested_and_offered(sent, name):
    """A slip, an ending and a unit behind it make a near name."""
    assert suggested(sent, name) == (name,)
    assert suggested(sent, name, required=True) == (name,)


@each_row(("sent", "name"))
def test_a_name_that_shares_a_word_is_suggested_if_it_is_missing(sent, name):
    """A word less or another ending may be another parameter, unless the tool requires the name."""
    assert suggested(sent, name) == ()
    assert suggested(sent, name, required=True) == (name,)


@each_row(("sent", "name"))
def test_another_name_is_not_suggested(sent, name):
    """A name with a word of its own, another digit or begin, or too many letters is another one."""
    assert suggested(sent, name) == ()
    assert suggested(sent, name, required=True) == ()


@each_row(
    "pair",
    "start/end begin/end start/stop min/max minimum/maximum from/to before/after since/until first/last "
    "source/target source/destination src/dst old/new lat/lon lat/lng latitude/longitude width/height "
    "height/weight x/y lte/gte lt/gt in/out input/output sender/receiver left/right top/bottom "
    "origin/destination departure/arrival open/close next/previous include/exclude "
    "private/public allow/deny eur/usd ms/s km/miles mb/gb kbit/kibit deg/rad with/without sync/async "
    "payer/payee employer/employee micro/macro lock/unlock 开始/结束".split(),
)
def test_names_that_differ_in_one_word_are_not_suggested(pair):
    """Two names are not alike if each has a word that does not spell one of the other's."""
    one, other = pair.split("/")
    for sent, name in ((f"{one}_time", f"{other}_time"), (f"total_{one}_time", f"total_{other}_time")):
        assert suggested(sent, name) == ()


@each_row(
    ("sent", "declared", "first"),
    [
        ("tgas", ("name_tags", "tags"), "tags"),
        ("user_nmae", ("name", "user_name"), "user_name"),
        ("max_resluts", ("max_rows", "max_results"), "max_results"),
    ],
)
def test_the_nearest_name_comes_first(sent, declared, first):
    """Of several near names, the one with the fewest differences is suggested first, in any order."""
    assert suggested(sent, *declared)[0] == suggested(sent, *reversed(declared))[0] == first


def test_long_names_are_not_compared():
    """Even a name of 200,000 characters is handled fast."""
    started = time.process_time()
    for sent in ("a_" * 100_000, "1_" * 100_000, "A" * 200_000, "\ud800" * 200_000):
        assert renamed(sent, ["a_bs", "a_b"]) is None
        assert suggested(sent, "a_bs", "a_b") == ()
    assert time.process_time() - started < 10


def test_a_slip_in_a_long_name_is_not_looked_for():
    """A name beyond the length limit is refused without a search."""
    started = time.process_time()
    assert suggested("a" * 2**20 + "bc", "a" * 2**20 + "c") == ()
    assert time.process_time() - started < 10
