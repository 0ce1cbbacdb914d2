"""Test findings in the formats of code hosts and programs."""

from __future__ import annotations

import json

import pytest
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif
from rich.console import Console

from mcp_lenient.devtools.check import CHECKS, Finding
from mcp_lenient.devtools.check.output import as_github, as_json, as_sarif, as_text

PLAIN = Finding("untyped_parameter", "warning", "store", "a", "Why.", "How.", "my server.py", 7)
ODD = Finding(
    "json_in_text", "note", "a,b:c\n::error::x", "50%\r\x1b[31m", "It's 100%: so,\nyes.", "Mend, it."
)


def test_sarif_is_valid():
    """The output is valid SARIF 2.1.0, by a strict model generated from its schema."""
    written = json.loads(as_sarif([PLAIN, ODD], "server.py"))
    log = Sarif.model_validate(written)
    (run,) = log.runs
    assert [run.tool.driver.rules[each.ruleIndex].id for each in run.results] == [PLAIN.code, ODD.code]
    assert [rule.id for rule in run.tool.driver.rules] == [each.code for each in CHECKS]


def test_sarif_has_locations_only_where_known():
    """A finding of a remote server has only a logical location."""
    first, second = json.loads(as_sarif([PLAIN, ODD], "server.py"))["runs"][0]["results"]
    place = first["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "my%20server.py"}, "region": {"startLine": 7}}
    assert "physicalLocation" not in second["locations"][0]


def test_github_gets_one_command_per_finding():
    """A command has the file, line and title as properties. A note becomes a notice."""
    first, second = map(as_github, [PLAIN, ODD])
    assert first == (
        "::warning file=my server.py,line=7,title=untyped_parameter%3A store.a::store.a: Why. How."
    )
    assert second.startswith(
        "::notice title=json_in_text%3A a%2Cb%3Ac\\n%3A%3Aerror%3A%3Ax.50%25\\r\\u001b[31m::"
    )


@pytest.mark.parametrize(
    "write",
    [
        lambda found: as_github(*found),
        lambda found: as_sarif(found, "s"),
        lambda found: as_json(found, "s", 1),
    ],
)
def test_control_characters_are_escaped(write):
    """Names from a server cannot control the terminal or workflow that shows them."""
    assert all(character.isprintable() for line in write([ODD]).splitlines() for character in line)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_text_keeps_within_the_width(width):
    """Sentences are wrapped with their indent, and each is printed once."""
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(as_text([PLAIN, PLAIN, ODD], 2))
    text = capture.get()
    assert max(map(len, text.splitlines())) <= width
    assert text.count("Fix: How.") == 1
    assert text.splitlines()[-1] == "2 warnings, 1 note in 2 tools"


def test_a_sentence_that_differs_by_its_place_is_printed_once():
    """Later findings of one kind have their first line alone; what they say besides is printed."""
    said = ("'a' takes any value.", "'b' takes any value.", "'c' takes any value, and 3 is none.")
    found = [Finding("untyped_parameter", "note", "store", text[1], text, "Type it.") for text in said]
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(as_text(found, 1))
    lines = capture.get().splitlines()
    assert [line.strip() for line in lines if "takes any" in line] == [said[0], said[2]]
    assert sum("untyped_parameter" in line for line in lines) == 3
    assert sum("Fix: Type it." in line for line in lines) == 1
