"""Test how others' suites are compared, without running them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from benchmarks.suites.comparison import ACCEPTED, accepted, compared

_PROXY = Path(__file__).parents[2] / "docs" / "how-to" / "proxy.md"
_BARE = {"same": "passed", "listed": "passed", "broken": "failed"}


def test_what_is_listed_may_differ():
    """A difference that is listed is accepted, and a test that fails both times is none."""
    lenient = {**_BARE, "listed": "failed"}
    assert compared(_BARE, lenient, frozenset({"listed"})).is_as_accepted


def test_what_fails_without_us_says_nothing():
    """A test that fails alone, as one that waits for a clock may under load, is no difference, whatever it does with us."""
    assert compared(_BARE, {**_BARE, "broken": "passed"}, frozenset()).is_as_accepted


@pytest.mark.parametrize(
    ("lenient", "new", "gone"),
    [
        pytest.param({"same": "failed", "listed": "failed"}, {"same": "passed -> failed"}, set(), id="new"),
        pytest.param({"listed": "passed"}, {}, {"listed"}, id="gone"),
        pytest.param(
            {"listed": "failed", "more": "passed"}, {"more": "absent -> passed"}, set(), id="absent"
        ),
    ],
)
def test_what_is_not_as_listed_fails(lenient, new, gone):
    """A difference that is not listed is new, and a listed one that there is not is gone."""
    found = compared(_BARE, {**_BARE, **lenient}, frozenset({"listed"}))
    assert (found.new, found.gone) == (new, gone)
    assert not found.is_as_accepted


def test_what_differs_each_time_is_new():
    """What is not as listed runs again, alone, three times at most."""
    asked: list[frozenset[str]] = []

    def again(tests):
        asked.append(tests)
        return {"same": "passed"}, {"same": "failed"}

    found = compared(_BARE, {**_BARE, "same": "failed"}, frozenset(), again)
    assert asked == [{"same"}] * 3
    assert found.new == {"same": "passed -> failed"}


def test_a_test_alone_has_the_last_word():
    """What is as listed when it runs alone is so."""
    asked: list[frozenset[str]] = []

    def again(tests):
        asked.append(tests)
        return {"same": "passed", "listed": "passed"}, {"same": "passed", "listed": "failed"}

    found = compared(_BARE, {**_BARE, "same": "failed"}, frozenset({"listed"}), again)
    assert asked == [{"same", "listed"}]
    assert found.is_as_accepted
    assert found.flaky == {"same", "listed"}


@pytest.mark.parametrize(
    "file", ["one: {a reason: [a, a]}", "one: {a reason: [a], another: [a]}", "one: {'': [a]}"]
)
def test_a_difference_has_one_reason(tmp_path, file):
    """A difference that is listed twice, or without a reason, is an error."""
    path = tmp_path / "accepted.yaml"
    path.write_text(file)
    with pytest.raises(ValueError, match="twice, or without a reason"):
        accepted("one", path)


def test_each_suite_has_its_differences():
    """The file of accepted differences is valid for each suite."""
    suites = yaml.safe_load(ACCEPTED.read_text("utf-8"))
    assert {suite for suite in suites if accepted(suite)} == suites.keys() - {
        "conformance, with the middleware"
    }


def test_the_proxys_page_counts_the_checks():
    """The page of the proxy has as many failing checks for each reason as the file of accepted differences."""
    reasons = yaml.safe_load(ACCEPTED.read_text("utf-8"))["conformance, behind our proxy"]
    section = _PROXY.read_text("utf-8").partition("## What does not come through\n")[2].partition("\n## ")[0]
    counts = [int(count) for count in re.findall(r"\| ([1-9]\d*) \|$", section, re.MULTILINE)]
    assert sorted(counts) == sorted(map(len, reasons.values()))
