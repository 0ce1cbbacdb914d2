"""Test the table of what providers and clients reject, and the tests that find it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tables import STRING, closed, each_row

from mcp_lenient.portable.provider_limits import ListedTool, address, limits_of, providers, rejections


def test_each_limit_is_complete():
    """Each limit has a rule, an effect, a test that finds it, sources and a date, and says what to change."""
    found = [limit for of in providers() for limit in limits_of(of)]
    for limit in found:
        assert limit.rule
        assert limit.change
        assert limit.effect in ("request_fails", "tool_dropped", "call_fails", "ignored")
        assert all(limit.sources)
        assert len(set(limit.sources)) == len(limit.sources) > 0
        assert re.fullmatch(r"20\d\d(-\d\d){0,2}", limit.seen), limit
    of_a_list = {"most_tools", "most_optional", "most_unions", "deepest"}
    assert {limit.test for limit in found} <= BROKEN.keys() | of_a_list


def test_a_strict_mode_is_chosen_by_name_only():
    """Strict modes are left out of those that a list without them is for."""
    assert set(providers()) - set(providers(strict=False)) == {
        "anthropic-strict",
        "deepseek-strict",
        "openai-strict",
    }


def test_one_that_is_like_another_has_its_limits():
    """``vertex`` has the limits of ``gemini`` and its own; Claude Code drops what Anthropic answers with an error."""
    rules = [each.rule for each in limits_of("vertex")]
    assert rules == [*(each.rule for each in limits_of("gemini")), "anyOf stands alone at its place"]
    assert {each.effect for each in limits_of("claude-code")[:6]} == {"tool_dropped"}


SOURCES = [
    pytest.param("cursor/cursor#3778", "https://github.com/cursor/cursor/issues/3778", id="thread"),
    pytest.param("MoonshotAI/walle:docs/walle.md", "https://github.com/MoonshotAI/walle", id="file"),
    pytest.param("PyPI litellm 1.109.1", None, id="package"),
]


@each_row("source, url", SOURCES)
def test_the_address_of_a_source(source: str, url: str | None):
    """Threads and repositories have a URL; what is found otherwise is named."""
    assert address(source) == url


def parameters(**properties: Any) -> dict[str, Any]:
    """Return the schema of a tool with these optional parameters."""
    return {"type": "object", "properties": properties}


def one(**properties: Any) -> ListedTool:
    """Return a tool with these optional parameters."""
    return ListedTool("a", parameters(**properties))


SELF = {"$ref": "#/$defs/A"}
URI = {**STRING, "format": "uri"}
BROKEN: dict[str, tuple[ListedTool, str, list[str]]] = {
    "tool_name": (ListedTool("a.b", parameters()), "openai", [""]),
    "prefixed_name": (ListedTool("b" * 55, parameters(), server="shop"), "claude-code", [""]),
    "both_names": (ListedTool("b" * 57, parameters(), server="shop"), "cursor", [""]),
    "description_below": (ListedTool("a", parameters(), "d" * 2049), "claude-code", [""]),
    "root_is_object": (ListedTool("a", {}), "anthropic", [""]),
    "root_properties": (ListedTool("a", {"type": "object"}), "librechat", [""]),
    "output_is_object": (ListedTool("a", parameters(), output_schema={}), "typescript-sdk", [""]),
    "sizes": (one(a={"type": "string", "enum": ["a"] * 1001}), "moonshot", [""]),
    "not_at_root": (ListedTool("a", {"type": "object", "oneOf": [{}]}), "anthropic", ["/oneOf"]),
    "without": (one(a={"maxLength": 3}), "xai", ["/properties/a/maxLength"]),
    "only": (one(a={"const": 3}), "codex", ["/properties/a/const"]),
    "property_names": (one(**{"$top": {}}), "anthropic", ["/properties/$top"]),
    "reserved_names": (one(anyOf={"type": "string"}), "moonshot", ["/properties/anyOf"]),
    "property_types": (one(a={}), "gemini-cli", ["/properties/a"]),
    "types": (one(a={}), "moonshot", ["/properties/a"]),
    "valid": (one(a={"type": "any"}), "mistral", ["/properties/a/type"]),
    "targets": (one(a=SELF), "llama.cpp", ["/properties/a/$ref"]),
    "local_references": (one(a={"$ref": "#/properties/a"}), "moonshot", ["/properties/a"]),
    "alone": (
        ListedTool("a", {**parameters(a={**SELF, "title": "A"}), "$defs": {"A": STRING}}),
        "gemini-jsonschema",
        ["/properties/a"],
    ),
    "type_beside_any_of": (one(a={**STRING, "anyOf": [STRING]}), "moonshot", ["/properties/a"]),
    "one_type": (one(a={"type": ["string"]}), "cursor", ["/properties/a"]),
    "type_list_alone": (one(a={"type": ["string"], "minLength": 1}), "moonshot", ["/properties/a"]),
    "enum_texts": (one(a={"type": "string", "enum": [""]}), "copilot-cli", ["/properties/a"]),
    "enum_types": (one(a={"type": "string", "enum": ["", 1]}), "moonshot", ["/properties/a"]),
    "array_items": (one(a={"type": "array"}), "openai", ["/properties/a"]),
    "typed_items": (one(a={"type": "array", "items": {}}), "gemini", ["/properties/a"]),
    "objects_only": (one(a={"type": "string", "required": []}), "gemini", ["/properties/a"]),
    "required_declared": (ListedTool("a", {**parameters(), "required": ["a"]}), "gemini", [""]),
    "all_required": (ListedTool("a", closed(a=STRING)), "openai-strict", [""]),
    "closed": (one(), "anthropic-strict", [""]),
    "no_boolean_additional": (ListedTool("a", closed()), "google-genai", [""]),
    "anchored_patterns": (one(a={"pattern": "a"}), "llama.cpp", ["/properties/a"]),
    "bounds_below": (one(a={"maxLength": 2000}), "llama.cpp", ["/properties/a"]),
    "formats": (ListedTool("a", closed("a", a=URI)), "openai-strict", ["/properties/a"]),
    "optional_null": (one(a={"type": "string"}, any={}), "groq", ["/properties/a"]),
}


@each_row("tool, of, pointers", [pytest.param(*row, id=name) for name, row in BROKEN.items()])
def test_what_breaks_a_limit_is_found(tool: ListedTool, of: str, pointers: list[str]):
    """Each test of the table finds the place that breaks it, and only that."""
    found = rejections([tool], of)
    assert {each.pointer for each in found} == set(pointers)
    assert {each.tool for each in found} == {tool.name}


def test_what_is_too_deep_is_found():
    """A schema with more levels than the limit is found at its deepest part."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(31):
        schema = {"type": "array", "items": schema}
    found = rejections([ListedTool("a", parameters(a=schema))], "moonshot")
    assert [each.pointer.count("/items") for each in found] == [30, 31]


NULLABLE = {"type": ["string", "null"]}


@pytest.mark.parametrize(
    ("tools", "of", "rule"),
    [
        pytest.param(129, "openai", "at most 128 tools in a request", id="tools"),
        pytest.param(
            13,
            "anthropic-strict",
            "at most 24 parameters that may be left out, in a request",
            id="optional",
        ),
        pytest.param(9, "anthropic-strict", "at most 16 unions in a request", id="unions"),
    ],
)
def test_a_list_that_is_too_long_is_found(tools: int, of: str, rule: str):
    """A limit of a whole request names no tool, and is found from the first one too many."""
    schema = {**parameters(a=NULLABLE, b=NULLABLE), "additionalProperties": False}
    listed = [ListedTool(f"t{number}", schema) for number in range(tools)]
    assert (rule, "") in [(each.limit.rule, each.tool) for each in rejections(listed, of)]
    assert rule not in [each.limit.rule for each in rejections(listed[1:], of)]
