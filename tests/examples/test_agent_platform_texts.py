"""What the agent platform reads of tasks and documents, in Chinese and English."""

from __future__ import annotations

import pytest

from agent_platform.browser_use import plan
from agent_platform.documents import Library, best_sentences, page_text, terms
from agent_platform.research import _needs, _packages_for


@pytest.mark.parametrize(
    ("task", "steps"),
    [
        pytest.param(
            "搜索Python教程并打开第一个结果", [("search", ["Python教程"]), ("open_first", [])], id="chinese"
        ),
        pytest.param('search for "bread and butter".', [("search", ["bread and butter"])], id="and"),
        pytest.param("search for tea's price", [("search", ["tea's price"])], id="apostrophe"),
        pytest.param(
            "打开 / 然后在Name中输入李", [("open", ["/"]), ("type", ["李", "Name"])], id="field-first"
        ),
        pytest.param(
            "Open /, type 'Li' into Name and then click \"Order\".\nPress Enter",
            [("open", ["/"]), ("type", ["Li", "Name"]), ("click", ["Order"]), ("press", ["Enter"])],
            id="form",
        ),
    ],
)
def test_a_task_is_read_as_steps(task, steps):
    """A task in words becomes steps."""
    read, unread = plan(task)
    assert ([(step.action, step.given) for step in read], unread) == (steps, [])


@pytest.mark.parametrize(
    ("task", "unread"),
    [
        (task, [task] if unread is None else unread)
        for task, unread in {
            "delete my account": None,
            "open /about.html, then delete my account": ["delete my account"],
            "search for bread and butter": ["butter"],
            "search for tea or coffee": None,
            'search for "tea" and "milk"': ['"milk"'],
            "click Order, but only once": ["but only once"],
            "scroll down and delete everything": ["delete everything"],
            "type Li into Name and Tea": ["Tea"],
            "wait 1,000 seconds": ["wait 1", "000 seconds"],
            "点击 Order 吗": None,
            "在Name中输入李和王": None,
        }.items()
    ],
)
def test_what_cannot_be_read_is_named(task, unread):
    """A part that is not a step is not searched for: it is returned as it was written."""
    assert plan(task)[1] == unread


@pytest.mark.parametrize(
    ("task", "package"),
    [
        ("需要处理PDF文件", "pypdf"),
        ("a virus on my computer", None),  # a part of a word
        ("read my mind", None),  # one word of two
        ("pypdf", "pypdf"),
        ("请安装 numpy", "numpy"),
        ("I need numpy for this", "numpy"),
    ],
)
def test_packages_are_found_in_the_index(task, package):
    """The index has a package for what a task names, and none for what it does not know."""
    found = [one["package"] for one in _packages_for(task)]
    assert found[:1] == ([] if package is None else [package])


@pytest.mark.parametrize(
    ("task", "went_by", "denied"),
    [
        ("把数据画成图表", ["数据", "图表"], []),
        ("不需要浏览器, 只要计算", ["计算"], ["浏览器"]),
        ("I need no browser. Plot the data", ["Plot", "data"], ["browser"]),
        ("Do it without a web page", [], ["web", "page"]),
    ],
)
def test_a_need_goes_by_words_that_are_not_denied(task, went_by, denied):
    """The words that call for tools are named, and so are those that the task says not to need."""
    found, left_out = _needs(task)
    assert (sorted(found), sorted(left_out)) == (sorted(went_by), sorted(denied))


def test_a_page_is_read_as_text():
    """Headings start a part, scripts are left out, and links are listed."""
    html = "<title>T</title><script>x()</script><h1>Tea</h1><p>Green <b>tea</b>.</p><a href='/a'>A</a>"
    assert page_text(html) == ("T\n\n\n\n# Tea\n\n\n\nGreen tea.A", ["/a"])


def test_documents_are_found_in_both_languages(tmp_path):
    """Chinese text is found by any part of it, English text by its words in any form; code is not."""
    (tmp_path / "tea.md").write_text(
        "# 乌龙茶\n\n产于福建。\n\n```\n# no heading\n```\n\n# Brewing\n\nUse hot water.\n", "utf-8"
    )
    (tmp_path / "pot.py").write_text("import this\n\n\ndef pour(pot):\n    return pot\n", "utf-8")
    library = Library(tmp_path, (".",))
    found = {
        query: [(hit.source, hit.line) for hit in library.search(query, 3)]
        for query in ("乌龙", "茶", "brew", "pour", "?")
    }
    assert library.search("the price of coffee beans", 3) == []
    assert found == {
        "乌龙": [("tea.md", 1)],
        "茶": [("tea.md", 1)],
        "brew": [("tea.md", 9)],
        "pour": [],
        "?": [],
    }
    library.close()
    assert terms("What is 乌龙茶?") == ["乌龙", "龙茶"]
    assert best_sentences("Tea is hot. Pots are round. 茶。", "round pots", 1) == ["Pots are round."]
