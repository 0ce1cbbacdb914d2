"""Test how translated texts are found, filled in and joined."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from tables import each_row

from mcp_lenient.values.language import Language, Text, languages, load_language, resolved


def test_english_and_chinese_are_known():
    """The known languages are English and those with a catalog."""
    assert languages() == ("en", "zh")


@each_row(
    ("tag", "name"),
    [
        pytest.param("zh", "zh", id="name"),
        pytest.param("zh-CN", "zh", id="region"),
        pytest.param("zh_Hans_CN", "zh", id="script and region"),
        pytest.param("ZH-cn", "zh", id="any case"),
        pytest.param("en-US", "en", id="english"),
        pytest.param("zhuang", None, id="another language that begins alike"),
        pytest.param("fr", None, id="unknown"),
        pytest.param("", None, id="empty"),
        pytest.param("../zh", None, id="a path"),
    ],
)
def test_a_tag_falls_back_to_its_language(tag, name):
    """A tag is resolved from the most to the least specific language."""
    assert resolved(tag) == name


def test_values_are_not_read_as_placeholders():
    """Braces in a value stay unchanged, however often it is inserted into a sentence."""
    say = load_language("zh")
    reported = say.either(["{place}", "{0}", "}{"])
    assert "{place}、{0}或}{" in say("It must be {expected}.", expected=reported)


def test_a_text_of_the_library_is_translated_and_an_authors_is_not():
    """A Text is English by default, and its translation is filled in with the same values."""
    text = Text("the scheme must be {expected_schemes}", expected_schemes="https")
    assert text == "the scheme must be https"
    assert load_language("zh").of(text) == "URL 的协议必须是 https"
    assert load_language("zh").of("the scheme must be https") == "the scheme must be https"


def test_a_text_survives_pickling():
    """A Text keeps its template and values."""
    text = pickle.loads(pickle.dumps(Text("the scheme must be {expected_schemes}", expected_schemes="https")))  # noqa: S301 - our own
    assert load_language("zh").of(text) == "URL 的协议必须是 https"


@pytest.mark.parametrize(("count", "reported"), [(0, "0 items"), (1, "1 item"), (2, "2 items")])
def test_a_number_chooses_the_form(count, reported):
    """English has a singular for one and a plural for any other number."""
    assert Language().plural("{count} item", "{count} items", count) == reported


def test_a_language_is_loaded_once():
    """Threads that need a language for the first time get the same object."""
    load_language.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(load_language, ["zh"] * 64))
    assert all(each("null") == " null" for each in found)
    assert load_language("zh") is load_language("zh")
