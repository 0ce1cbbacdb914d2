"""Test the report of what providers and clients reject."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from mcp.types import Tool
from tables import each_row

from mcp_lenient.devtools.check.providers import as_json, as_text, chosen_providers, is_aged, report
from mcp_lenient.devtools.check.surface import Surface
from mcp_lenient.portable.provider_limits import limits_of, providers

TODAY = date(2026, 12, 1)
FREE = {"type": "object", "properties": {"by": {"type": "object"}}, "additionalProperties": False}


def surfaces(*names: str, server: str = "shop", **schema: Any) -> list[Surface]:
    """Return tools of one schema."""
    return [
        Surface(Tool(name=name, description="Does something.", inputSchema=schema), server=server)
        for name in names
    ]


def test_the_report_groups_by_provider_and_ends_in_a_verdict():
    """Each provider has a verdict, and under it each broken rule with places, change, date and sources."""
    told = report(surfaces("a", "b", **FREE), ["anthropic", "google-genai"])
    assert as_text(told, TODAY).splitlines() == [
        "2 tools, 168 bytes of schemas, names up to 1 and descriptions up to 15 characters",
        "",
        "anthropic: rejects none of 2 tools",
        "google-genai: rejects 2 of 2 tools",
        "  additionalProperties is no boolean; else the whole request fails",
        "    a",
        "    b",
        "    Change: Leave additionalProperties out; the tool's own validation still refuses other names.",
        "    Seen 2026-11-23: googleapis/python-genai#2393, googleapis/python-genai#2476, PyPI google-genai 3.4.0",
        "",
        "Verdict: 1 of 2 reject something: google-genai.",
        'With publish="portable", none of them still would.',
    ]


def test_what_the_portable_form_cannot_change_is_said():
    """A name that is too long stays too long in every form."""
    told = report(surfaces("a" * 60, **FREE), ["claude-code"])
    assert as_text(told, TODAY).endswith('publish="portable" changes nothing of it.\n')


NAMES = [
    pytest.param("a" * 49, "shop", None, (), id="just right"),
    pytest.param("a" * 57, "shop", None, ("claude-code", "cursor"), id="with the server's own name"),
    pytest.param("a" * 49, "shop", "a_shop_in_town", ("claude-code", "cursor"), id="with a configured name"),
    pytest.param("a" * 57, "shop", "", (), id="without a name"),
]


@each_row("tool, server, configured, failing", NAMES)
def test_names_count_with_the_clients_prefix(
    tool: str, server: str, configured: str | None, failing: tuple[str, ...]
):
    """The server's name is the configured one, or else the one that it gives itself."""
    told = report(
        surfaces(tool, server=server, type="object", properties={}), ["claude-code", "cursor"], configured
    )
    assert told.failing == failing


def test_a_list_that_is_too_long_is_rejected_as_a_whole():
    """A finding about the whole list names no tool."""
    tools = surfaces(*(f"t{number}" for number in range(129)), type="object", properties={})
    told = report(tools, ["openai"])
    assert "openai: rejects the list as a whole\n" in as_text(told, TODAY)
    assert [each.tool for each in told.broken["openai"]] == [""]


def test_more_places_are_counted():
    """Of many places of one rule, five are listed."""
    text = as_text(report(surfaces(*"abcdefg", **FREE), ["google-genai"]), TODAY)
    assert "    e\n    and 2 more places\n" in text


@each_row("seen, aged", [("2025-11-30", True), ("2025-12", False), ("2025", True), ("2026", False)])
def test_a_limit_over_a_year_old_is_aged(seen: str, *, aged: bool):
    """Of a month or a year, the first day counts."""
    (limit,) = [each for each in limits_of("ollama") if each.test == "only"]
    assert is_aged(replace(limit, seen=seen), TODAY) is aged


def test_an_aged_limit_is_told_as_such():
    """The text and the JSON say that it was last seen over a year ago."""
    told = report(surfaces("a", **FREE), ["ollama"])
    assert "Seen 2025-07-16, over a year ago: it may be gone: ollama/ollama#11444" in as_text(told, TODAY)
    (found,) = json.loads(as_json(told, TODAY))["rejections"]
    assert found["over_a_year_ago"] is True


def test_all_are_those_of_no_strict_mode():
    """``all`` leaves out strict modes, which are chosen by name; a name counts once."""
    assert chosen_providers(["all", "gemini"]) == providers(strict=False)
    assert chosen_providers(["openai-strict, gemini", "gemini"]) == ["openai-strict", "gemini"]


def test_the_json_has_sizes_and_verdicts():
    """Programs read how large the list is, who fails, and who still would in the portable form."""
    told = json.loads(as_json(report(surfaces("ab", **FREE), ["groq", "google-genai"]), TODAY))
    found = next(each for each in told.pop("rejections") if each["for"] == "google-genai")
    assert (found["tool"], found["pointer"], found["effect"]) == ("ab", "", "request_fails")
    assert found["sources"][0] == "https://github.com/googleapis/python-genai/issues/2393"
    assert (found["seen"], found["over_a_year_ago"]) == ("2026-11-23", False)
    assert told == {
        "for": ["groq", "google-genai"],
        "tools": 1,
        "schema_bytes": 84,
        "longest_name": 2,
        "longest_description": 15,
        "failing": ["groq", "google-genai"],
        "failing_portable": ["groq"],
        "verdicts": {"groq": "rejects 1 of 1 tool", "google-genai": "rejects 1 of 1 tool"},
    }
