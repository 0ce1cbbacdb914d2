"""What the tool accepts stays as it was sent, beside what is repaired."""

from __future__ import annotations

from typing import Annotated, Any

from calls import Recorder, call, got, lenient, on_both_servers, rules
from pydantic import BeforeValidator


def _store(content: str, tags: list[str] | None = None) -> Any:
    return {"content": content, "tags": tags}


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
