"""``@lenient`` on parameters declared in unusual ways."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import pytest
from calls import call, code, envelope, got
from fastmcp.tools import Tool
from pydantic import AfterValidator, BaseModel, Field

from mcp_lenient import LenientMiddleware, lenient
from mcp_lenient.normalizers import aliases, strip, tags


class Note(BaseModel):
    """A model with a field of any type."""

    labels: Annotated[Any, tags()] = None


async def test_parameters_without_a_type(serve):
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
    tools = [Tool.from_function(function).model_dump(exclude={"fn"}) for function in (untyped, written)]
    assert tools[0] == tools[1]


async def test_the_type_of_a_field_in_a_model_is_reported(serve):
    """The envelope reports the types of a normalizer in a model's field."""

    def keep(note: Note) -> str:
        return repr(note)

    server = serve(keep)
    server.add_middleware(LenientMiddleware())
    (violation,) = envelope(await call(server, "keep", {"note": {"labels": 5}}))["details"]["violations"]
    assert (violation["pointer"], violation["expected_types"]) == (
        "/note/labels",
        ["array of strings", "null"],
    )


async def test_published_names_are_used(serve):
    """If a ``Field`` publishes a parameter under another name, calls and envelopes use that name."""

    @lenient(limit=(strip(), aliases("count")))
    def search(limit: Annotated[int, Field(alias="maxResults")] = 3) -> int:
        return limit

    server = serve(search)
    assert got(await call(server, "search", {"maxResults": " 7 "})) == 7
    reported = envelope(await call(server, "search", {"maxResults": "many"}))
    assert reported["error_code"] == "INVALID_MAX_RESULTS_TYPE"
    assert reported["details"]["parameter"] == "maxResults"


@pytest.mark.parametrize(
    ("annotation", "default", "wanted"),
    [
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
async def test_null_becomes_a_default(annotation, default, wanted, serve):
    """A null that the type does not allow becomes the default, however the default is declared."""

    def search(limit):
        return {"limit": limit}

    search.__annotations__ = {"limit": annotation}
    search.__defaults__ = None if default is inspect.Parameter.empty else (default,)
    assert got(await call(serve(lenient(search)), "search", {"limit": None})) == {"limit": wanted}
