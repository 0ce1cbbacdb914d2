"""What the agent platform reads of tasks and documents, in Chinese and English."""

from __future__ import annotations

import pytest

from agent_platform.browser_use import plan
from shared.documents import Library, best_sentences, terms


@pytest.mark.parametrize(
    ("task", "steps"),
    [
        pytest.param("天气", [("search", ("天气",))], id="words"),
        pytest.param(
            "搜索Python教程并打开第一个结果", [("search", ("Python教程",)), ("open_first", ())], id="chinese"
        ),
        pytest.param("search for bread and butter.", [("search", ("bread and butter",))], id="and"),
        pytest.param(
            "Open /, type 'Li' into Name and then click \"Order\".\nPress Enter",
            [("open", ("/",)), ("type", ("Li", "Name")), ("click", ("Order",)), ("press", ("Enter",))],
            id="form",
        ),
    ],
)
def test_a_task_is_read_as_steps(task, steps):
    """A task in words becomes steps; what names none is searched for."""
    assert plan(task) == steps


def test_documents_are_found_in_both_languages(tmp_path):
    """Chinese text is found by any part of it, English text by its words in any form."""
    (tmp_path / "tea.md").write_text(
        "# 乌龙茶\n\n产于福建。\n\n```\n# no heading\n```\n\n# Brewing\n\nUse hot water.\n", "utf-8"
    )
    (tmp_path / "pot.py").write_text("import this\n\n\ndef pour(pot):\n    return pot\n", "utf-8")
    library = Library(tmp_path, (".",))
    found = {
        query: [(hit.source, hit.line) for hit in library.search(query, 3)]
        for query in ("乌龙", "茶", "brew", "pour", "?")
    }
    assert found == {
        "乌龙": [("tea.md", 1)],
        "茶": [("tea.md", 1)],
        "brew": [("tea.md", 9)],
        "pour": [("pot.py", 4)],
        "?": [],
    }
    library.close()
    assert terms("What is 乌龙茶?") == ["乌龙", "龙茶"]
    assert best_sentences("Tea is hot. Pots are round. 茶。", "round pots", 1) == ["Pots are round."]
