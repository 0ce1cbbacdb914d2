"""The arguments that ``@lenient`` accepts, and its errors for the others."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from calls import call, got, rules
from calls import lenient as lenient_server
from tables import each_row

from mcp_lenient import lenient
from mcp_lenient.normalizers import aliases, lower, strip, tags


def store(content: str, tags: list[str] | None = None) -> list[str]:
    """Store a text."""
    return [content, *(tags or [])]


async def later(value: Any) -> Any:
    """Return the value from a coroutine."""
    return value


@each_row(
    ("declare", "reported"),
    [
        pytest.param(
            lambda: lenient(tgas=tags())(store),
            "lenient: store has no parameter 'tgas'. Did you mean 'tags'?",
            id="misspelt",
        ),
        pytest.param(
            lambda: lenient(zzz=tags())(store),
            "lenient: store has no parameter 'zzz'. Its parameters are content, tags.",
            id="far-off",
        ),
        pytest.param(
            lambda: lenient(policy=strip())(store),
            "lenient: store has no parameter 'policy'.",
            id="no-parameter-policy",
        ),
        pytest.param(lambda: lenient(tags="a")(store), "lenient: tags takes a normalizer", id="text"),
        pytest.param(lambda: lenient(tags=(tags(), 5))(store), "aliases(...), got 5.", id="one-of-several"),
        pytest.param(lambda: lenient(tags=tags)(store), "lenient: tags takes a normalizer", id="not-called"),
        pytest.param(lambda: lenient(tags=later)(store), "lenient: tags takes a normalizer", id="async"),
        pytest.param(
            lambda: lenient(tags=lambda: None)(store), "lenient: tags takes a normalizer", id="takes-nothing"
        ),
        pytest.param(lambda: lenient(lenient(store)), "lenient: store is decorated already", id="twice"),
        pytest.param(lambda: lenient(5), "lenient takes a function or method, got 5.", id="number"),
        pytest.param(
            lambda: lenient(functools.partial(store, tags=[])), "lenient takes a function", id="partial"
        ),
        pytest.param(lambda: lenient(classmethod(store)), "write @classmethod above it", id="classmethod"),
        pytest.param(lambda: lenient(staticmethod(store)), "write @staticmethod above it", id="staticmethod"),
    ],
)
def test_wrong_declarations(declare, reported):
    """A declaration that cannot work raises at once, and the error says how to correct it."""
    with pytest.raises(TypeError) as caught:
        declare()
    assert reported in str(caught.value)


@pytest.mark.parametrize(
    ("normalizers", "sent", "stored"),
    [
        pytest.param({"tags": tags()}, {"content": "a", "tags": "b"}, ["a", "b"], id="ready-made"),
        pytest.param({"tags": lambda value: [value]}, {"content": "a", "tags": "b"}, ["a", "b"], id="lambda"),
        pytest.param(
            {"tags": functools.partial(lambda kind, value: kind([value]), list)},
            {"content": "a", "tags": "b"},
            ["a", "b"],
            id="partial",
        ),
        pytest.param({"content": str}, {"content": 5}, ["5"], id="builtin"),
        pytest.param(
            {"content": (strip(), lambda value: value.ljust(2, "1"))},
            {"content": " a "},
            ["a1"],
            id="in order",
        ),
    ],
)
async def test_any_callable_is_a_normalizer(normalizers, sent, stored, serve):
    """Any function from value to value is a normalizer; several run from left to right."""
    assert got(await call(serve(lenient(**normalizers)(store)), "store", sent)) == stored


@pytest.mark.parametrize("name", ["policy", "function", "parameters"])
async def test_any_name_can_be_declared(name, serve):
    """A parameter may be named like an argument of the decorator itself."""
    written: dict[str, Any] = {}
    exec(f"def tool({name}: str) -> str:\n    return {name}", written)  # noqa: S102 - a name from the table above
    server = serve(lenient(**{name: lower()})(written["tool"]))
    assert got(await call(server, "tool", {name: "A"})) == "a"


@pytest.mark.parametrize(
    ("sent", "wanted"),
    [
        pytest.param({"content": "a", "labels": "B"}, ["rename_alias", "tags"], id="alias"),
        pytest.param({"args": {"content": "a", "tags": "B"}}, ["unwrap_arguments", "tags"], id="wrapped"),
        pytest.param(
            {"args": {"content": "a", "labels": "B"}}, ["unwrap_arguments", "rename_alias", "tags"], id="both"
        ),
    ],
)
async def test_normalizers_come_before_rules(sent, wanted):
    """Normalizers run before rules on renamed and unwrapped values as well."""
    server = lenient_server(lenient(tags=(aliases("labels"), tags(lower=True)))(store))
    result = await call(server, "store", sent)
    assert got(result) == ["a", "b"]
    assert rules(result) == wanted
