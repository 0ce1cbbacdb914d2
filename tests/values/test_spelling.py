"""Test which misspelled names are detected, although no rule renames them."""

from __future__ import annotations

import pytest
from tables import each_row

from mcp_lenient.values.names import by_letters, by_letters_but_one, is_slip, one_slip_away, squashed


def slips(sent, *declared):
    spelt = by_letters(declared)
    return [*one_slip_away(sent, spelt, by_letters_but_one(spelt))]


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        pytest.param("$dry-Run", "dryrun", id="marks"),
        pytest.param("page_2", "page2", id="digit"),
        pytest.param("STRASSE", "strasse", id="capitals"),
        pytest.param("$_", "$_", id="marks-alone"),
    ],
)
def test_squashed_drops_case_and_separators(name, letters):
    """A name loses its case and separators, unless it has nothing else."""
    assert squashed(name) == letters


def test_by_letters_groups_equal_names():
    """Declared names that differ only in case style share one entry."""
    assert by_letters(["dry_run", "tag", "dryRun"]) == {"dryrun": ("dry_run", "dryRun"), "tag": ("tag",)}


def test_by_letters_but_one_drops_each_letter():
    """Each letter but no digit is dropped in turn. If two names become equal, both are kept."""
    shortened = by_letters_but_one(by_letters(["tag2", "tab2", "t_ab2"]))
    assert shortened == {
        "ag2": ("tag2",),
        "tg2": ("tag2",),
        "ta2": ("tag2", "tab2", "t_ab2"),
        "ab2": ("tab2", "t_ab2"),
        "tb2": ("tab2", "t_ab2"),
    }


@each_row(
    ("sent", "declared"),
    [
        pytest.param("tagss", "tags", id="one-too-many"),
        pytest.param("xtags", "tags", id="one-at-the-start"),
        pytest.param("tagg", "tag", id="one-too-many-of-a-short-name"),
        pytest.param("tas", "tags", id="one-missing"),
        pytest.param("tag", "tags", id="the-last-missing"),
        pytest.param("atgs", "tags", id="the-first-two-swapped"),
        pytest.param("tasg", "tags", id="the-last-two-swapped"),
        pytest.param("Tas-", "$tags", id="other-marks"),
        pytest.param("tag1s", "tags1s", id="before-a-digit"),
        pytest.param("a" * 98 + "bc", "a" * 98 + "c", id="the-longest"),
        pytest.param("a" * 99, "a" * 100, id="missing-in-the-longest"),
    ],
)
def test_one_slip_away_finds_one_letter_slips(sent, declared):
    """An extra letter, a missing one, or two swapped ones are found."""
    assert slips(sent, declared, "other") == [(declared,)]
    assert is_slip(sent, declared)
    assert is_slip(declared, sent)


@each_row(
    ("sent", "declared"),
    [
        pytest.param("moon", "moon", id="itself"),
        pytest.param("tams", "tags", id="another-letter"),
        pytest.param("tgsa", "tags", id="two-places"),
        pytest.param("page", "page2", id="a-digit-missing"),
        pytest.param("page2", "page", id="a-digit-too-many"),
        pytest.param("page12", "page21", id="digits-swapped"),
        pytest.param("pag2e", "page2", id="a-digit-and-a-letter-swapped"),
        pytest.param("abcde", "badde", id="swapped-and-the-next-another"),
        pytest.param("tagsa", "atgsb", id="swapped-and-the-last-another"),
        pytest.param("ab", "abc", id="sent-too-short"),
        pytest.param("abc", "ab", id="declared-too-short"),
        pytest.param("ba", "ab", id="both-too-short"),
    ],
)
def test_larger_differences_are_not_slips(sent, declared):
    """Names that differ by more, by a digit, or are too short or too long are not slips."""
    assert slips(sent, declared, "other") == []
    assert not is_slip(sent, declared)
    assert not is_slip(declared, sent)


@pytest.mark.parametrize(
    ("sent", "declared"),
    [
        pytest.param("a" * 99 + "bc", "a" * 99 + "c", id="sent"),
        pytest.param("a" * 100, "a" * 101, id="declared"),
    ],
)
def test_names_beyond_the_limit_have_no_slips(sent, declared):
    """A name beyond the length limit is not compared."""
    assert slips(sent, declared, "other") == []
