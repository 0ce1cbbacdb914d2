"""Test names that differ only in case style or number, and names that only look similar."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from mcp_lenient.values.names import (
    Added,
    added_words,
    by_singular,
    case_target,
    fold_case,
    fold_name,
    folded_names,
    is_replaced,
    is_respelled,
    likeness,
    near,
    plural_target,
    same_tool_name,
    tool_target,
    words_of,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
NAME = st.text(st.sampled_from("abeginstyEST_- 12é"), max_size=12)
NAMES = st.lists(NAME | ANY_TEXT, max_size=6, unique=True)


@each_row(
    ("one", "other", "same"),
    [
        pytest.param("maxResults", "max_results", True, id="camel-snake"),
        pytest.param("max-results", "max_results", True, id="kebab-snake"),
        pytest.param("MaxResults", "max_results", True, id="pascal-snake"),
        pytest.param("MAX_RESULTS", "maxResults", True, id="constant-camel"),
        pytest.param("max results", "max_results", True, id="words-snake"),
        pytest.param("maxresults", "max_results", True, id="run-together"),
        pytest.param("userID", "user_id", True, id="acronym"),
        pytest.param("HTTPServer", "http_server", True, id="leading-acronym"),
        pytest.param("page_2", "page2", True, id="one-number"),
        pytest.param("x1_y2", "x1Y2", True, id="numbers-apart-by-letters"),
        pytest.param("v1_2", "v12", False, id="two-numbers-or-one"),
        pytest.param("v1__2", "v12", False, id="two-numbers-wide-gap"),
        pytest.param("v1-2", "v1_2", True, id="two-numbers-both"),
        pytest.param("Größe", "größe", True, id="umlaut"),
        pytest.param(
            "\u03bb\u03bf\u03b3\u03bf\u03c2", "\u03bb\u03bf\u03b3\u03bf\u03c3", True, id="final-sigma"
        ),
        pytest.param("maße", "masse", False, id="sharp-s-is-not-ss"),
        pytest.param("user.name", "user_name", False, id="a-dot-is-a-path"),
        pytest.param("page1", "page2", False, id="digits-differ"),
        pytest.param("_", "-", False, id="nothing-but-separators"),
        pytest.param("", "_", False, id="empty"),
    ],
)
def test_fold_name_ignores_case_style_only(one, other, same):
    """Two names fold to the same key if they differ only in case style."""
    assert (fold_name(one) == fold_name(other)) is same


@each_row(
    ("sent", "declared", "target"),
    [
        pytest.param("maxResults", ["max_results", "query"], "max_results", id="plain"),
        pytest.param("max_results", ["max_results"], None, id="declared"),
        pytest.param("maxresults", ["max_results", "maxResults"], None, id="two-fold-alike"),
        pytest.param("maxresults", ["max_results", "maxResults", "MaxResults"], None, id="three-fold-alike"),
        pytest.param("from", ["_from"], "_from", id="underscore-added"),
        pytest.param("class", ["class_"], "class_", id="trailing-underscore"),
        pytest.param("class_", ["class"], "class", id="trailing-underscore-removed"),
        pytest.param("_meta", ["meta"], None, id="private-key-stays-private"),
        pytest.param("_Meta", ["_meta"], "_meta", id="private-on-both-sides"),
        pytest.param("-date", ["date"], None, id="leading-sign"),
        pytest.param("--limit", ["limit"], None, id="flag"),
        pytest.param("_", ["__"], None, id="no-letters"),
        pytest.param("r", ["P", "R"], "R", id="one-letter"),
        pytest.param("x", ["_x"], "_x", id="one-letter-in-its-case"),
        pytest.param("Ph", ["pH"], None, id="two-letters-in-mixed-case"),
        pytest.param("a_B", ["Ab"], None, id="two-letters-in-mixed-case-and-a-separator"),
        pytest.param("ph", ["pH"], "pH", id="two-letters-in-lower-case"),
        pytest.param("ID", ["Id"], "Id", id="two-letters-in-upper-case"),
        pytest.param("X1", ["x1"], "x1", id="one-letter-and-a-digit"),
        pytest.param("limit ", ["limit"], "limit", id="trailing-space"),
        pytest.param("tag", ["tags"], None, id="plural-is-another-rule"),
    ],
)
def test_case_target_finds_the_only_equal_fold(sent, declared, target):
    """A name matches the only declared name with the same fold. A leading underscore is never removed."""
    assert case_target(sent, folded_names(declared)) == target


@each_row(
    ("sent", "declared", "target"),
    [
        pytest.param("tag", ["tags"], "tags", id="s"),
        pytest.param("category", ["categories"], "categories", id="ies"),
        pytest.param("box", ["boxes"], "boxes", id="es"),
        pytest.param("branch", ["branches"], "branches", id="ches"),
        pytest.param("dish", ["dishes"], "dishes", id="shes"),
        pytest.param("waltz", ["waltzes"], "waltzes", id="zes"),
        pytest.param("lens", ["lenses"], "lenses", id="ses"),
        pytest.param("box", ["boxs"], None, id="no-x-s"),
        pytest.param("photo", ["photoes"], "photoes", id="o-es-too"),
        pytest.param("city", ["citys"], None, id="no-y-s"),
        pytest.param("day", ["daies"], None, id="no-vowel-ies"),
        pytest.param("key", ["keys"], "keys", id="vowel-y"),
        pytest.param("photo", ["photos"], "photos", id="o-s"),
        pytest.param("hero", ["heroes"], "heroes", id="o-es"),
        pytest.param("cookie", ["cookies"], "cookies", id="ie-s"),
        pytest.param("id", ["ids"], "ids", id="two-letters"),
        pytest.param("ip", ["ips"], "ips", id="two-letters-ip"),
        pytest.param("api", ["apis"], "apis", id="plural-that-ends-in-is"),
        pytest.param("menu", ["menus"], "menus", id="plural-that-ends-in-us"),
        pytest.param("user_id", ["user_ids"], "user_ids", id="last-word"),
        pytest.param("userId", ["user_ids"], "user_ids", id="across-styles"),
        pytest.param("users_id", ["user_id"], None, id="not-the-last-word"),
        pytest.param("addres", ["address"], None, id="ss"),
        pytest.param("tags", ["tag"], None, id="plural-to-singular"),
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
        pytest.param("_tag", ["_tags"], "_tags", id="private-on-both-sides"),
        pytest.param("b" * 100, ["b" * 100 + "s"], "b" * 100 + "s", id="longest"),
        pytest.param("b" * 101, ["b" * 101 + "s"], None, id="one-longer"),
        pytest.param("tag", ["_tags", "tags"], "tags", id="beside-a-private-one"),
        pytest.param("tag[]", ["tag[]s"], None, id="bracket"),
        pytest.param("area", ["areas"], "areas", id="a-s"),
    ],
)
def test_plural_target_finds_regular_plurals(sent, declared, target):
    """A name matches its regular English plural, but never a singular."""
    assert plural_target(sent, by_singular(declared, declared)) == target


@given(ANY_TEXT | NAME, NAMES)
def test_targets_are_declared_and_never_the_name_itself(sent, declared):
    """A target is always a declared name, and a declared name is never its own target."""
    found = (
        case_target(sent, folded_names(declared)),
        plural_target(sent, by_singular(declared, declared)),
    )
    assert {target for target in found if target is not None} <= set(declared) - {sent}


@given(ANY_TEXT | NAME, NAMES, st.randoms(use_true_random=False))
def test_order_of_declared_names_does_not_matter(sent, declared, random):
    """The target does not depend on the order of the declared names."""
    shuffled = random.sample(declared, len(declared))
    assert case_target(sent, folded_names(declared)) == case_target(sent, folded_names(shuffled))
    assert plural_target(sent, by_singular(declared)) == plural_target(sent, by_singular(shuffled))


@given(NAME, NAME)
def test_names_that_fold_alike_are_not_targets(one, other):
    """If two declared names fold to the same key, neither is a target."""
    if one != other and fold_name(one) == fold_name(other):
        assert case_target(one.upper(), folded_names([one, other])) is None
        assert plural_target(one[:-1], by_singular([one, other])) is None


@given(NAME, NAME)
def test_plural_differs_only_in_its_ending(one, other):
    """A name renamed to a plural keeps its letters, except a y before ies."""
    if plural_target(one, by_singular([other])) is not None:
        assert fold_name(other).startswith(fold_name(one).removesuffix("y"))
        assert 1 <= len(fold_name(other)) - len(fold_name(one)) <= 2


@given(ANY_TEXT)
def test_folding_is_idempotent(text):
    """Folding twice equals folding once."""
    assert fold_case(fold_case(text)) == fold_case(text)
    assert fold_name(fold_name(text)) == fold_name(text)


@each_row(
    ("sent", "name", "value"),
    [
        pytest.param("userName", "name_user", 1.0, id="same-words"),
        pytest.param("categories", "category", 1.0, id="ies"),
        pytest.param("ids", "id", 1.0, id="s"),
        pytest.param("ties", "tie", 1.0, id="short-ies"),
        pytest.param("is", "i", 0.0, id="two-letters-are-not-a-plural"),
        pytest.param("pass_a", "pas_b", 0.0, id="ss-is-not-a-plural"),
        pytest.param("tgas", "tags", 0.95, id="one-slip"),
        pytest.param("a" * 99 + "bc", "a" * 99 + "cb", 0.0, id="slip-beyond-the-limit"),
        pytest.param("a" * 100 + "b", "a" * 100 + "c", 0.0, id="letter-replaced-beyond-the-limit"),
        pytest.param("insure", "ensure", 0.8, id="one-letter-replaced"),
        pytest.param("user_name", "name", 0.88, id="one-word-more"),
        pytest.param("name", "file_name", 0.88, id="one-word-less"),
        pytest.param("user_full_name", "name", 0.86, id="two-words-more"),
        pytest.param("conf", "config", 0.8, id="begins-alike"),
        pytest.param("config", "con", 0.8, id="begins-alike-in-three-letters"),
        pytest.param("co", "config", 0.0, id="begins-alike-in-two-letters"),
        pytest.param("unread", "read", 0.0, id="ends-alike"),
        pytest.param("user_name", "file_name", 0.5 / 3, id="one-word-of-three"),
        pytest.param("user_name", "end_name", 0.5 / 3, id="half-of-an-opposite-declared"),
        pytest.param("start_name", "user_name", 0.5 / 3, id="half-of-an-opposite-sent"),
        pytest.param("filename", "file_name", 0.8, id="run-together"),
        pytest.param("flies_in", "fly_on", 0.5 / 3, id="ies-of-five-letters"),
        pytest.param("a_b_c", "c_d", 0.5 / 4, id="one-word-of-four"),
        pytest.param("user_name", "city", 0.0, id="nothing"),
        pytest.param("_", "name", 0.0, id="no-words-sent"),
        pytest.param("name", "_", 0.0, id="no-words-declared"),
        pytest.param("_", "_", 0.0, id="no-words"),
        pytest.param("gte", "lte", 0.0, id="opposites"),
        pytest.param("startDate", "end_date", 0.5 / 3, id="opposites-beside-one-word"),
        pytest.param("file_nmae", "file_name", 0.95, id="slip-in-one-of-two-words"),
        pytest.param("size_kbit", "size_kibit", 0.5 / 3, id="letter-of-a-unit"),
        pytest.param("async", "sync", 0.0, id="letter-in-front"),
        pytest.param("max_conf", "max_config", 0.8, id="last-word-begins-alike"),
        pytest.param("with_tags", "without_tags", 0.5 / 3, id="first-word-begins-alike"),
        pytest.param("min_max", "max", 0.88, id="an-opposite-that-both-have"),
        pytest.param("start_end", "start_end_end", 1.0, id="both-opposites-in-both"),
    ],
)
def test_likeness_grades_what_two_names_share(sent, name, value):
    """The same words score highest, then one slip, then fewer words, then a common beginning."""
    assert likeness(sent, name) == pytest.approx(value)


@each_row(
    "pair",
    "start/end begin/end start/stop min/max minimum/maximum from/to before/after since/until first/last "
    "source/target source/destination src/dst old/new lat/lon lat/lng latitude/longitude width/height "
    "height/weight x/y lte/gte lt/gt in/out input/output sender/receiver left/right top/bottom "
    "origin/destination departure/arrival open/close next/previous include/exclude "
    "private/public allow/deny eur/usd ms/s km/miles mb/gb kbit/kibit deg/rad with/without sync/async "
    "payer/payee employer/employee micro/macro lock/unlock 开始/结束".split(),
)
def test_names_that_differ_in_one_word_are_not_alike(pair):
    """Two names are not alike if each has a word that is no spelling of the other's."""
    one, other = pair.split("/")
    assert likeness(f"{one}_time", f"{other}_time") <= 0.5
    assert likeness(f"total_{one}_time", f"total_{other}_time") <= 0.5


@each_row(
    ("one", "other", "respelled"),
    [
        pytest.param("insure", "ensure", True, id="vowels"),
        pytest.param("enshre", "enshra", False, id="last-letter"),
        pytest.param("micro", "macro", False, id="vowels-in-five-letters"),
        pytest.param("query", "wuery", True, id="neighbors"),
        pytest.param("quer", "wuer", False, id="neighbors-in-four-letters"),
        pytest.param("height", "weight", False, id="far-apart"),
    ],
)
def test_is_respelled_allows_an_easily_mistaken_letter(one, other, respelled):
    """One letter may differ if both are vowels or neighbors on a keyboard."""
    assert is_respelled(one, other) is respelled


@each_row(
    ("short", "long", "added"),
    [
        pytest.param("timeout", "timeout_ms", Added(frozenset({"ms"}), behind=True), id="behind"),
        pytest.param("tags", "excluded_tag", Added(frozenset({"excluded"}), behind=False), id="in-front"),
        pytest.param("tags", "tag", None, id="none"),
        pytest.param("a_b", "b_c", None, id="each-its-own"),
        pytest.param("_", "b", None, id="no-words"),
    ],
)
def test_added_words(short, long, added):
    """The words that one name has more are found by their singular."""
    assert added_words(short, long) == added


def test_near_omits_names_with_few_common_words():
    """A name that shares only one of many words is not near."""
    assert near("user_name", ["file_name", "city", "users_name"]) == ["users_name"]


def test_near_omits_a_name_with_twenty_more_words():
    """A name that shares one word is near only if it has fewer than twenty others."""
    words = ["name", *"abcdefghijklmnopqrst"]
    assert near("name", ["_".join(words)]) == []
    assert near("name", ["_".join(words[:-1])]) == ["_".join(words[:-1])]


@each_row(
    ("sent", "name", "replaced"),
    [
        pytest.param("insure", "ensure", True, id="first"),
        pytest.param("abcd", "abce", True, id="four-letters"),
        pytest.param("abc", "abd", False, id="three-letters"),
        pytest.param("abcde", "abcfg", False, id="two-letters-replaced"),
        pytest.param("abcd", "abcd", False, id="none"),
        pytest.param("abcd", "abced", False, id="longer"),
        pytest.param("page1", "page2", False, id="digits"),
        pytest.param("pagea", "page2", False, id="digit-declared"),
        pytest.param("page2", "pagea", False, id="digit-sent"),
    ],
)
def test_is_replaced_allows_one_other_letter(sent, name, replaced):
    """Two names of at least four letters may differ in exactly one letter, but in no digit."""
    assert is_replaced(sent, name) is replaced


def test_equally_similar_names_are_sorted_alphabetically():
    """The order of equally similar names does not depend on the declared order."""
    assert near("name", ["name_b", "name_a"]) == ["name_a", "name_b"]


def test_near_reads_only_the_beginning_of_a_long_name():
    """Only the first 128 characters of a sent name are compared."""
    assert near("a" * 128 + "_bc", ["a" * 128]) == ["a" * 128]
    assert likeness("a" * 128 + "_bc", "a" * 128) < 1
    assert near("a" * 127 + "_b", ["a" * 127]) == ["a" * 127]


@each_row(
    ("name", "words"),
    [
        pytest.param("maxHTTPDepth", ["max", "http", "depth"], id="acronym"),
        pytest.param("MAX_http-Depth of", ["max", "http", "depth", "of"], id="separators"),
        pytest.param("page2a", ["page", "2", "a"], id="digits"),
        pytest.param("$x", ["$", "x"], id="marks"),
        pytest.param("_", [], id="none"),
    ],
)
def test_words_of_splits_at_separators_case_and_digits(name, words):
    """The words of a name are folded and in order."""
    assert words_of(name) == words


@each_row(
    ("sent", "listed", "servers", "target"),
    [
        pytest.param("Store-Context", ["store_context", "search"], [], ("store_context", None), id="case"),
        pytest.param("store.context", ["store_context"], [], ("store_context", None), id="dot"),
        pytest.param("store context", ["store_context"], [], None, id="space"),
        pytest.param("search", ["Search", "SEARCH"], [], None, id="two-fold-alike"),
        pytest.param("search", ["_search"], [], None, id="private"),
        pytest.param("other", ["search"], [], None, id="none"),
        pytest.param("mcp__notes__search", ["search"], ["Notes"], ("search", None), id="prefix"),
        pytest.param("mcp__mail__search", ["search"], ["notes"], None, id="prefix-of-another"),
        pytest.param("notes__search", ["search"], ["notes"], None, id="no-prefix"),
        pytest.param("mcp__f__read", ["f_read", "read"], ["all"], ("f_read", "f"), id="upstream"),
        pytest.param("mcp__f__read", ["f_read", "read"], ["f"], None, id="own-or-upstream"),
        pytest.param("mcp__search", ["search"], ["mcp"], None, id="no-server"),
        pytest.param("s" * 199 + "-", ["s" * 199], [], ("s" * 199, None), id="longest"),
        pytest.param("s" * 200 + "-", ["s" * 200], [], None, id="too-long"),
        pytest.param("mcp____search", ["search", "_search"], [""], None, id="server-without-name"),
        pytest.param("mcp__a____b", ["b", "_b"], ["a"], ("b", None), id="gap-before-the-tool"),
    ],
)
def test_tool_target_is_the_only_listed_tool_of_that_name(sent, listed, servers, target):
    """A tool's name may differ in case, separators and server prefix. An ambiguous name has no target."""
    assert tool_target(sent, listed, servers) == target


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("my-notes", "My.Notes", True), ("_notes", "notes", False), ("notes", "note", False)],
)
def test_same_tool_name_ignores_case_and_separators(one, other, same):
    """Tool names are the same if only case, hyphens, underscores and dots differ, except at the start."""
    assert same_tool_name(one, other) is same


def test_the_name_with_the_most_words_in_common_is_nearest():
    """Of names whose words are all in the sent one, the one with more words comes first."""
    assert near("user_full_name", ["name", "user_name"]) == ["user_name", "name"]


@pytest.mark.parametrize(
    ("sent", "server", "target"),
    [
        pytest.param("mcp__my__notes__search", "my__notes", "search", id="server"),
        pytest.param("mcp__notes__find__all", "notes", "find__all", id="tool"),
    ],
)
def test_tool_target_reads_separators_within_a_name(sent, server, target):
    """The names of a server and of a tool may contain two underscores."""
    found = tool_target(sent, [target, "other"], [server])
    assert found is not None
    assert found.name == target


@pytest.mark.parametrize("sent", ["mcp__notes__", "mcp____notes"])
def test_tool_target_reads_no_name_into_an_empty_one(sent):
    """A prefix without a server or without a tool has no target."""
    assert tool_target(sent, ["notes", "_notes"], ["other"]) is None


def test_long_names_are_not_compared():
    """Even a name of a megabyte is handled fast."""
    started = time.process_time()
    for sent in ("a_" * 500_000, "1_" * 500_000, "A" * 1_000_000, "\ud800" * 1_000_000):
        assert plural_target(sent, by_singular(["a_bs"])) is None
        assert case_target(sent, folded_names(["a_b"])) is None
    assert time.process_time() - started < 10
