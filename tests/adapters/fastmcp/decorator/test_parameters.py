"""Parameters that are declared in unusual ways."""

from __future__ import annotations

import inspect
from typing import Annotated

import pytest
from calls import call, code, envelope, got
from pydantic import AfterValidator, Field

from mcp_lenient import aliases, lenient, strip, tags


async def test_parameters_without_a_type(serve, published):
    """A normalizer works on a parameter that has no type."""

    @lenient(tags=tags())
    def untyped(tags, more=None):
        return {"tags": tags, "more": more}

    def written(tags, more=None):
        return {"tags": tags, "more": more}

    written.__name__ = written.__qualname__ = "untyped"
    server = serve(untyped)
    assert got(await call(server, "untyped", {"tags": "a", "more": 5})) == {"tags": ["a"], "more": 5}
    assert code(await call(server, "untyped", {"tags": 5})) == "INVALID_TAGS_TYPE"
    assert await published(untyped) == await published(written)


async def test_parameters_by_another_name(serve):
    """Where a ``Field`` publishes a parameter under another name, that is the one that is spoken of."""

    @lenient(limit=(strip(), aliases("count")))
    def search(limit: Annotated[int, Field(alias="maxResults")] = 3) -> int:
        return limit

    server = serve(search)
    assert got(await call(server, "search", {"maxResults": " 7 "})) == 7
    told = envelope(await call(server, "search", {"maxResults": "many"}))
    assert told["error_code"] == "INVALID_MAX_RESULTS_TYPE"
    assert told["details"]["parameter"] == "maxResults"


@pytest.mark.parametrize(
    ("annotation", "default", "wanted"),
    [
        pytest.param(int, 5, 5, id="plain"),
        pytest.param(int, Field(5, ge=1, description="many"), 5, id="field"),
        pytest.param(
            Annotated[int, Field(default_factory=lambda: 5)], inspect.Parameter.empty, 5, id="factory"
        ),
        pytest.param(
            Annotated[int, AfterValidator(lambda value: value * 2), Field(validate_default=True)],
            5,
            10,
            id="validated",
        ),
    ],
)
async def test_null_for_a_default(annotation, default, wanted, serve):
    """A null that the type forbids stands for the default, however the default is given."""

    def search(limit):
        return {"limit": limit}

    search.__annotations__ = {"limit": annotation}
    search.__defaults__ = None if default is inspect.Parameter.empty else (default,)
    assert got(await call(serve(lenient(search)), "search", {"limit": None})) == {"limit": wanted}
