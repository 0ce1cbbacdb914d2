"""The original matrix of ``tags`` values, and conversions of strings to each declared type."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from calls import Recorder, call, code, envelope, got, lenient, on_both_servers, rules
from pydantic import BeforeValidator


def _store(content: str, tags: list[str] | None = None) -> Any:
    return {"content": content, "tags": tags}


@on_both_servers
@pytest.mark.parametrize(
    ("sent", "tags", "rule"),
    [
        pytest.param("single_tag", ["single_tag"], "scalar_to_array", id="single"),
        pytest.param('["a","b"]', ["a", "b"], "json_text_to_array", id="json_text"),
        pytest.param("['a', 'b']", ["a", "b"], "json5_text_to_array", id="python_text"),
    ],
)
async def test_unambiguous_tags_become_a_list(sent, tags, rule, strict):
    """A single tag becomes a list of one, and a list sent as text is parsed."""
    result = await call(lenient(_store, strict=strict), "_store", {"content": "x", "tags": sent})
    assert got(result) == {"content": "x", "tags": tags}
    assert rules(result) == [rule]


@on_both_servers
@pytest.mark.parametrize(
    "sent",
    [123, 12.34, True, {"key": "value"}, ["tag1", 123, "tag2"], [None, "tag1"]],
    ids=["integer", "number", "boolean", "object", "mixed", "null_inside"],
)
async def test_other_tags_are_refused(sent, strict):
    """All other values are refused with the same code."""
    result = await call(lenient(_store, strict=strict), "_store", {"content": "x", "tags": sent})
    assert code(result) == "INVALID_TAGS_TYPE"
    assert envelope(result)["details"]["parameter"] == "tags"


TYPES: dict[str, Any] = {
    "string": str,
    "number": float,
    "integer": int,
    "boolean": bool,
    "array": list[Any],
    "object": dict[str, Any],
}


def _function(type_name: str) -> Any:
    def tool(value: Any) -> Any:
        return {"value": value}

    tool.__annotations__["value"] = TYPES[type_name]
    return tool


CONVERSIONS = [
    pytest.param("number", "3.14", 3.14, id="number"),
    pytest.param("number", " 3.14\n", 3.14, id="number_in_space"),
    pytest.param("integer", "42", 42, id="integer"),
    pytest.param("integer", "5.0", 5, id="integer_as_float"),
    pytest.param("boolean", "true", True, id="true"),
    pytest.param("boolean", "1", True, id="1"),
    pytest.param("boolean", "0", False, id="0"),
    pytest.param("array", "[1,2,3]", [1, 2, 3], id="array"),
    pytest.param("object", '{"key":"value"}', {"key": "value"}, id="object"),
]


@on_both_servers
@pytest.mark.parametrize(("type_name", "sent", "value"), CONVERSIONS)
async def test_text_becomes_the_declared_type(type_name, sent, value, strict):
    """The body receives the value that the string spells in the declared type."""
    result = await call(lenient(_function(type_name), strict=strict), "tool", {"value": sent})
    received = got(result)["value"]
    assert (type(received), received) == (type(value), value)


TEXTS = ["42", "3.14", "true", "null", "[1,2,3]", '{"key": "value"}', "", " a "]


@on_both_servers
@pytest.mark.parametrize(
    ("type_name", "sent"),
    [
        pytest.param("integer", "3.9", id="fraction"),
        pytest.param("integer", "1,234", id="grouped"),
        pytest.param("integer", "abc", id="letters"),
        pytest.param("number", "1.2.3", id="version"),
        pytest.param("boolean", "maybe", id="maybe"),
        pytest.param("array", "[1, 2", id="cut_off"),
        pytest.param("object", '{"a": 1, "a": 2}', id="duplicate_key"),
        pytest.param("string", ["a", "b"], id="list_for_string"),
        pytest.param("string", {"a": 1}, id="object_for_string"),
    ],
)
async def test_unreadable_values_are_refused(type_name, sent, strict):
    """No value is rounded, completed or guessed."""
    result = await call(lenient(_function(type_name), strict=strict), "tool", {"value": sent})
    assert code(result) == ("CUT_OFF" if sent == "[1, 2" else "INVALID_VALUE_TYPE")


async def test_an_accepted_parameter_stays_as_sent():
    """An accepted parameter stays unchanged beside a repaired one, even if a rule could change it."""

    def tool(count: int, tags: list[str], flag: bool = False) -> Any:  # noqa: FBT002 - a tool's parameter
        return {"count": count, "tags": tags, "flag": flag}

    recorder = Recorder()
    server = lenient(tool)
    server.add_middleware(recorder)
    result = await call(server, "tool", {"count": "5", "tags": '["a"]', "flag": "yes"})
    assert recorder.arguments == [{"count": "5", "tags": ["a"], "flag": "yes"}]
    assert got(result) == {"count": 5, "tags": ["a"], "flag": True}


async def test_an_accepted_part_stays_as_sent():
    """Inside a list, only the item that the tool refuses is changed."""

    def tool(rows: list[dict[str, int]]) -> Any:
        return rows

    recorder = Recorder()
    server = lenient(tool)
    server.add_middleware(recorder)
    await call(server, "tool", {"rows": [{"a": "1"}, '{"b": 2}']})
    assert recorder.arguments == [{"rows": [{"a": "1"}, {"b": 2}]}]


async def test_accepted_values_are_passed_as_the_same_object():
    """The next middleware receives the sent object itself, not an equal copy."""
    recorder = Recorder()
    server = lenient(_store)
    server.add_middleware(recorder)
    tags = ["a"]
    await server.call_tool("_store", {"content": "x", "tags": tags})
    assert recorder.arguments[0]["tags"] is tags


@on_both_servers
async def test_an_authors_validator_gets_the_original_text(strict):
    """A validator that splits ``"a,b"`` still gets the string, even if another parameter is repaired."""
    given: list[Any] = []

    def split(value: Any) -> Any:
        given.append(value)
        return value.split(",") if isinstance(value, str) else value

    def tool(tags: Any, limits: list[int] | None = None) -> Any:
        return {"tags": tags, "limits": limits}

    tool.__annotations__["tags"] = Annotated[list[str], BeforeValidator(split)]
    server = lenient(tool, strict=strict)
    plain_call = await call(server, "tool", {"tags": "a,b"})
    assert got(plain_call) == {"tags": ["a", "b"], "limits": None}
    assert rules(plain_call) == []
    repaired = await call(server, "tool", {"tags": "a,b", "limits": "[1]"})
    assert got(repaired) == {"tags": ["a", "b"], "limits": [1]}
    assert set(given) == {"a,b"}
