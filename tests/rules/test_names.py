"""Names that are one name, names that are near, and names that only look so."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_lenient.rules.names import (
    _REAL_WORDS,
    _is_word_slip,
    _lacks_one,
    _swapped,
    case_target,
    fold_case,
    fold_name,
    folded_names,
    near_target,
    plural_target,
    singular_words,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
NAME = st.text(st.sampled_from("abeginstyEST_- 12é"), max_size=12)
NAMES = st.lists(NAME | ANY_TEXT, max_size=6, unique=True)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("maxResults", "max_results", True, id="camel-snake"),
        pytest.param("max-results", "max_results", True, id="kebab-snake"),
        pytest.param("MaxResults", "max_results", True, id="pascal-snake"),
        pytest.param("MAX_RESULTS", "maxResults", True, id="constant-camel"),
        pytest.param("max results", "max_results", True, id="words-snake"),
        pytest.param("maxresults", "max_results", True, id="run-together"),
        pytest.param("userID", "user_id", True, id="acronym"),
        pytest.param("HTTPServer", "http_server", True, id="acronym-in-front"),
        pytest.param("page_2", "page2", True, id="one-number"),
        pytest.param("x1_y2", "x1Y2", True, id="numbers-apart-by-letters"),
        pytest.param("v1_2", "v12", False, id="two-numbers-or-one"),
        pytest.param("v1__2", "v12", False, id="two-numbers-wide-gap"),
        pytest.param("v1-2", "v1_2", True, id="two-numbers-both"),
        pytest.param("Größe", "größe", True, id="umlaut"),
        pytest.param(
            "\u03bb\u03bf\u03b3\u03bf\u03c2", "\u03bb\u03bf\u03b3\u03bf\u03c3", True, id="final-sigma"
        ),
        pytest.param("maße", "masse", False, id="sharp-s-is-no-ss"),
        pytest.param("user.name", "user_name", False, id="a-dot-is-a-path"),
        pytest.param("page1", "page2", False, id="digits-differ"),
        pytest.param("_", "-", False, id="nothing-but-separators"),
        pytest.param("", "_", False, id="empty"),
    ],
)
def test_fold_name(one, other, same):
    """Two names fold alike when they differ by case style and nothing else."""
    assert (fold_name(one) == fold_name(other)) is same


@pytest.mark.parametrize(
    ("sent", "declared", "target"),
    [
        pytest.param("maxResults", ["max_results", "query"], "max_results", id="plain"),
        pytest.param("max_results", ["max_results"], None, id="declared"),
        pytest.param("maxresults", ["max_results", "maxResults"], None, id="two-fold-alike"),
        pytest.param("maxresults", ["max_results", "maxResults", "MaxResults"], None, id="three-fold-alike"),
        pytest.param("from", ["_from"], "_from", id="underscore-added"),
        pytest.param("class", ["class_"], "class_", id="underscore-behind"),
        pytest.param("class_", ["class"], "class", id="underscore-behind-away"),
        pytest.param("_meta", ["meta"], None, id="private-key-stays-private"),
        pytest.param("_Meta", ["_meta"], "_meta", id="private-on-both-sides"),
        pytest.param("-date", ["date"], None, id="sign-in-front"),
        pytest.param("--limit", ["limit"], None, id="flag"),
        pytest.param("_", ["__"], None, id="no-letters"),
        pytest.param("limit ", ["limit"], "limit", id="space-behind"),
        pytest.param("tag", ["tags"], None, id="plural-is-another-rule"),
    ],
)
def test_case_target(sent, declared, target):
    """A name is led to the one declared name of the same fold, and an underscore in front is not taken away."""
    assert case_target(sent, folded_names(declared)) == target


@pytest.mark.parametrize(
    ("sent", "declared", "target"),
    [
        pytest.param("tgas", ["tags", "query"], "tags", id="swap"),
        pytest.param("tagS", ["tags"], None, id="case-is-another-rule"),
        pytest.param("tasg", ["tags"], "tags", id="swap-at-the-end"),
        pytest.param("atgs", ["tags"], None, id="swap-of-the-first"),
        pytest.param("tsag", ["tags"], None, id="letters-not-adjacent"),
        pytest.param("qurey", ["query"], "query", id="swap-five"),
        pytest.param("max_resluts", ["max_results"], "max_results", id="swap-in-a-word"),
        pytest.param("maxResluts", ["max_results"], "max_results", id="swap-across-styles"),
        pytest.param("max_erslts", ["max_results"], None, id="two-edits"),
        pytest.param("mxa_resluts", ["max_results"], None, id="two-words-changed"),
        pytest.param("resluts_qurey", ["results_query"], None, id="two-words-with-a-slip-each"),
        pytest.param("lnagugae", ["language"], None, id="two-swaps"),
        pytest.param("page1324", ["page1234"], None, id="digits-of-four-swapped"),
        pytest.param("abcde", ["ab\u00b2cde"], None, id="superscript-missing"),
        pytest.param("ab\u00b2cde", ["abcde"], None, id="superscript-extra"),
        pytest.param("lawyers", ["layers"], None, id="plural-of-a-real-word"),
        pytest.param("langauge", ["language"], "language", id="common-typo"),
        pytest.param("lanuage", ["language"], "language", id="letter-missing"),
        pytest.param("langguage", ["language"], "language", id="letter-twice"),
        pytest.param("adress", ["address"], "address", id="one-of-a-pair-missing"),
        pytest.param("colour", ["color"], "color", id="british"),
        pytest.param("longtitude", ["longitude"], "longitude", id="letter-extra"),
        pytest.param("anguage", ["language"], None, id="first-letter-missing"),
        pytest.param("llanguage", ["language"], None, id="first-letter-twice"),
        pytest.param("languag", ["language"], None, id="last-letter-missing"),
        pytest.param("addres", ["address"], None, id="last-of-a-pair-missing"),
        pytest.param("languages", ["language"], None, id="plural-is-no-slip"),
        pytest.param("tas", ["tags"], None, id="too-short-a-word"),
        pytest.param("nme", ["name"], None, id="four-letters-missing-one"),
        pytest.param("usser", ["user"], None, id="four-letters-one-extra"),
        pytest.param("width", ["height"], None, id="other-word"),
        pytest.param("weight", ["height"], None, id="substitution"),
        pytest.param("lte", ["gte"], None, id="substitution-first"),
        pytest.param("get", ["gte"], None, id="three-letters"),
        pytest.param("dsn", ["dns"], None, id="acronyms-1"),
        pytest.param("ios_version", ["iso_version"], None, id="acronyms-2"),
        pytest.param("page1", ["page2"], None, id="digit-replaced"),
        pytest.param("page12", ["page21"], None, id="digits-swapped"),
        pytest.param("pages1", ["pages"], None, id="digit-extra"),
        pytest.param("s1ide", ["slide"], None, id="digit-for-letter"),
        pytest.param("sieds1", ["sides1"], "sides1", id="digit-elsewhere"),
        pytest.param("form", ["from"], None, id="real-form"),
        pytest.param("from", ["form"], None, id="real-from"),
        pytest.param("trail_id", ["trial_id"], None, id="real-trail"),
        pytest.param("path", ["patch"], None, id="real-path"),
        pytest.param("county", ["country"], None, id="real-county"),
        pytest.param("country", ["county"], None, id="real-country"),
        pytest.param("contact_id", ["contract_id"], None, id="real-contact"),
        pytest.param("stats", ["status"], None, id="real-stats"),
        pytest.param("chat", ["chart"], None, id="real-chat"),
        pytest.param("sort", ["short"], None, id="real-sort"),
        pytest.param("filed", ["field"], None, id="real-filed"),
        pytest.param("does", ["dose"], None, id="real-does"),
        pytest.param("langauges", ["languages"], "languages", id="swap-in-a-word-on-es"),
        pytest.param("lang", ["language"], None, id="beginning-of-a-word"),
        pytest.param("statrs", ["starts", "stats"], None, id="two-readings"),
        pytest.param("usernmae", ["user_name"], None, id="words-run-together"),
        pytest.param("user_nmae", ["user_name", "userName"], None, id="two-declared"),
        pytest.param("user.nmae", ["user_name"], None, id="dot-is-no-separator"),
        pytest.param("start_date", ["end_date"], None, id="other-first-word"),
        pytest.param("ids", ["pmids"], None, id="suffix"),
        pytest.param("user_id", ["id"], None, id="shared-word"),
        pytest.param("größne", ["größen"], "größen", id="umlaut"),
        pytest.param("tags", ["tags", "tgas"], None, id="declared-name"),
        pytest.param("_tgas", ["tags"], None, id="private-key"),
        pytest.param("_tgas", ["_tags"], "_tags", id="private-on-both-sides"),
        pytest.param("-tgas", ["-tags"], "-tags", id="sign-on-both-sides"),
        pytest.param("tgas", [" tags"], " tags", id="space-in-front"),
        pytest.param("tgas", ["Tags"], "Tags", id="declared-in-upper-case"),
        pytest.param("handles", ["handlers"], None, id="two-words-of-one-stem"),
        pytest.param("handlers", ["handles"], None, id="two-words-of-one-stem-back"),
        pytest.param("", ["", "a"], None, id="empty"),
        pytest.param("l" * 200, ["l" * 201], None, id="too-long"),
        pytest.param(f"tgas_{'a' * 95}", [f"tags_{'a' * 95}"], f"tags_{'a' * 95}", id="longest"),
        pytest.param(f"tgas_{'a' * 96}", [f"tags_{'a' * 96}"], None, id="one-longer"),
    ],
)
def test_near_target(sent, declared, target):
    """Only a slip inside one word, toward one declared name, from what is no word itself, is near."""
    assert near_target(sent, declared) == target


def test_real_words_have_a_neighbor():
    """Each listed word is one slip away from another listed word: the list holds nothing to no purpose."""

    def slip(one: str, other: str) -> bool:
        if len(one) == len(other):
            return _swapped(one, other)
        return max(len(one), len(other)) >= 5 and (_lacks_one(one, other) or _lacks_one(other, one))

    assert [word for word in sorted(_REAL_WORDS) if not any(slip(word, other) for other in _REAL_WORDS)] == []


@pytest.mark.parametrize(
    ("sent", "declared", "target"),
    [
        pytest.param("tag", ["tags"], ("tags", True), id="s"),
        pytest.param("tags", ["tag"], ("tag", False), id="s-back"),
        pytest.param("category", ["categories"], ("categories", True), id="ies"),
        pytest.param("categories", ["category"], ("category", False), id="ies-back"),
        pytest.param("box", ["boxes"], ("boxes", True), id="es"),
        pytest.param("boxes", ["box"], ("box", False), id="es-back"),
        pytest.param("branch", ["branches"], ("branches", True), id="ches"),
        pytest.param("dish", ["dishes"], ("dishes", True), id="shes"),
        pytest.param("waltz", ["waltzes"], ("waltzes", True), id="zes"),
        pytest.param("lens", ["lenses"], ("lenses", True), id="ses"),
        pytest.param("box", ["boxs"], None, id="no-x-s"),
        pytest.param("photo", ["photoes"], ("photoes", True), id="o-es-too"),
        pytest.param("city", ["citys"], None, id="no-y-s"),
        pytest.param("day", ["daies"], None, id="no-vowel-ies"),
        pytest.param("key", ["keys"], ("keys", True), id="vowel-y"),
        pytest.param("photo", ["photos"], ("photos", True), id="o-s"),
        pytest.param("hero", ["heroes"], ("heroes", True), id="o-es"),
        pytest.param("cookie", ["cookies"], ("cookies", True), id="ie-s"),
        pytest.param("id", ["ids"], ("ids", True), id="two-letters"),
        pytest.param("ip", ["ips"], ("ips", True), id="two-letters-ip"),
        pytest.param("api", ["apis"], ("apis", True), id="is-after-all-a-plural"),
        pytest.param("menu", ["menus"], ("menus", True), id="us-after-all-a-plural"),
        pytest.param("user_id", ["user_ids"], ("user_ids", True), id="last-word"),
        pytest.param("userId", ["user_ids"], ("user_ids", True), id="across-styles"),
        pytest.param("users_id", ["user_id"], None, id="not-the-last-word"),
        pytest.param("addres", ["address"], None, id="ss"),
        pytest.param("statu", ["status"], None, id="us"),
        pytest.param("new", ["news"], None, id="news"),
        pytest.param("breaking_new", ["breaking_news"], None, id="news-last"),
        pytest.param("mean", ["means"], None, id="means"),
        pytest.param("len", ["lens"], None, id="lens"),
        pytest.param("dn", ["dns"], None, id="acronym"),
        pytest.param("page2", ["page2s"], None, id="digit"),
        pytest.param("x", ["xs"], None, id="single-letter"),
        pytest.param("b", ["bs"], None, id="another-single-letter"),
        pytest.param("tag", ["tags", "Tags"], None, id="two-declared"),
        pytest.param("tag", ["Tag", "tags"], None, id="case-alone-is-closer"),
        pytest.param("tags", ["tag", "tags"], None, id="declared"),
        pytest.param("ids", ["pmids"], None, id="suffix"),
        pytest.param("categorys", ["categories"], None, id="misspelt"),
        pytest.param("datum", ["data"], None, id="latin"),
        pytest.param("_tag", ["tags"], None, id="private-key"),
        pytest.param("_tag", ["_tags"], ("_tags", True), id="private-on-both-sides"),
        pytest.param("b" * 100, ["b" * 100 + "s"], ("b" * 100 + "s", True), id="longest"),
        pytest.param("b" * 101, ["b" * 101 + "s"], None, id="one-longer"),
        pytest.param("tag", ["_tags", "tags"], ("tags", True), id="beside-a-private-one"),
        pytest.param("tag[]", ["tag[]s"], None, id="bracket"),
        pytest.param("area", ["areas"], ("areas", True), id="a-s"),
        pytest.param("areas", ["area"], ("area", False), id="a-s-back"),
    ],
)
def test_plural_target(sent, declared, target):
    """A name and its regular English plural are one; words that only end like a plural are not."""
    assert plural_target(sent, declared) == target


@pytest.mark.parametrize(
    ("word", "singular"),
    [
        *(("tags", "tag"), ("ids", "id"), ("os", "os"), ("s", "s")),
        *(("flies", "fly"), ("ties", "tie"), ("ies", "ie")),
        *(("classes", "class"), ("boxes", "box"), ("waltzes", "waltz"), ("branches", "branch")),
        *(("dishes", "dish"), ("houses", "house")),
        *(("class", "class"), ("status", "status"), ("analysis", "analysis"), ("tag", "tag")),
    ],
)
def test_singular_words(word, singular):
    """Each word of a name stands in the singular, as far as its spelling tells."""
    assert singular_words(word) == [singular]
    assert singular_words(f"x_{word.upper()}") == ["x", singular]


@given(ANY_TEXT | NAME, NAMES)
def test_targets_are_declared_and_never_the_name_itself(sent, declared):
    """Whatever is sent, a target is a declared name, and a declared name never has itself as a target."""
    plural = plural_target(sent, declared)
    single = (case_target(sent, folded_names(declared)), near_target(sent, declared), plural and plural[0])
    targets = {target for target in single if target is not None}
    assert targets <= set(declared) - {sent}


@given(ANY_TEXT | NAME, NAMES, st.randoms(use_true_random=False))
def test_the_order_of_declared_names_says_nothing(sent, declared, random):
    """The one target is the same in whatever order the names are declared."""
    shuffled = random.sample(declared, len(declared))
    assert case_target(sent, folded_names(declared)) == case_target(sent, folded_names(shuffled))
    assert near_target(sent, declared) == near_target(sent, shuffled)
    assert plural_target(sent, declared) == plural_target(sent, shuffled)


@given(NAME, NAME)
def test_uniqueness_is_symmetric(one, other):
    """Where two declared names fold alike, neither is a target of anything."""
    if one != other and fold_name(one) == fold_name(other):
        assert case_target(one.upper(), folded_names([one, other])) is None
        assert near_target(one + "s", [one, other]) is None
        assert plural_target(one + "s", [one, other]) is None


@given(NAME, NAME)
def test_plural_and_singular_are_inverse(one, other):
    """If one name is the plural of another, that one is its singular."""
    there, back = plural_target(one, [other]), plural_target(other, [one])
    assert (there is None) == (back is None)
    assert there is None or back is None or there[1] is not back[1]


@given(st.from_regex(r"[a-z]{2,10}", fullmatch=True), st.from_regex(r"[a-z]{2,10}", fullmatch=True))
def test_a_slip_keeps_the_first_letter_and_all_but_one_letter(sent, declared):
    """What counts as a slip never replaces a letter, and never touches the first."""
    if _is_word_slip(sent, declared):
        assert sent[0] == declared[0]
        assert len(set(sent) ^ set(declared)) <= 1
        assert len(sent) != len(declared) or sorted(sent) == sorted(declared)


def test_the_first_letter_is_never_swapped():
    """Of two words, too, one is no slip of the other where they begin otherwise."""
    assert _is_word_slip("tgas", "tags")
    assert not _is_word_slip("atgs", "tags")


@given(ANY_TEXT)
def test_fold_case_keeps_the_length_of_what_changes_none(text):
    """Folding twice is folding once."""
    assert fold_case(fold_case(text)) == fold_case(text)
    assert fold_name(fold_name(text)) == fold_name(text)


def test_long_names_are_not_compared():
    """A name of a megabyte costs no more than reading it."""
    started = time.monotonic()
    for sent in ("a_" * 500_000, "1_" * 500_000, "A" * 1_000_000, "\ud800" * 1_000_000):
        assert near_target(sent, ["a_b"]) is None
        assert plural_target(sent, ["a_b"]) is None
        assert case_target(sent, folded_names(["a_b"])) is None
    assert time.monotonic() - started < 10
