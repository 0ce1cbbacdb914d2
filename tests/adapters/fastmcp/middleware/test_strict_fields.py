"""A field that its author made strict: no repair changes the JSON type of its scalars."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from calls import call, code, envelope, got, lenient, rules
from fastmcp_versions import from_version
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    count: int = 0
    tags: list[str] = []
    inner: _Strict | None = None


class _Lax(BaseModel):
    count: StrictInt = 0
    other: int = 0


_STRICT = [
    (Annotated[int, Field(strict=True)], "5"),
    (StrictInt, 5.0),
    (StrictInt | None, "5"),
    (StrictStr, 5),
    (list[StrictBool], ["true"]),
    (list[StrictInt], '["5"]'),
    (dict[str, StrictInt], {"a": "5"}),
    (tuple[StrictInt, str], ["5", "a"]),
    (_Strict, {"count": "5"}),
    (_Strict, {"inner": {"count": "5"}}),
    (_Lax, {"count": "5"}),
    (_Lax, '{"count": "5"}'),
]
_REPAIRED = [
    (list[StrictInt], "[5]", [5], ["json_text_to_array"]),
    (_Strict, {"Count": 5}, {"count": 5}, ["rename_case"]),
    (_Strict, {"tags": '["a"]'}, {"tags": ["a"]}, ["json_text_to_array"]),
    (_Lax, '{"count": 5, "other": "6"}', {"count": 5, "other": 6}, ["json_text_to_object"]),
]


def _tool(kind: Any) -> Any:
    def tool(x: Any) -> Any:
        return x.model_dump(exclude_defaults=True) if isinstance(x, BaseModel) else x

    tool.__annotations__ = {"x": kind, "return": Any}
    return tool


@pytest.mark.parametrize(("kind", "sent"), _STRICT)
async def test_the_type_of_a_scalar_is_the_authors_word(kind, sent):
    """A scalar of another JSON type is refused, in text too."""
    assert code(await call(lenient(_tool(kind)), "tool", {"x": sent}))


@pytest.mark.parametrize(("kind", "sent", "read", "repairs"), _REPAIRED)
async def test_names_and_containers_are_repaired(kind, sent, read, repairs):
    """Names, and text that holds a list or object, are repaired as elsewhere."""
    result = await call(lenient(_tool(kind)), "tool", {"x": sent})
    assert (got(result), rules(result)) == (read, repairs)


@pytest.mark.parametrize(
    ("sent", "repairs", "faults"),
    [
        ({"maxResults": "5", "q": 3}, ["rename_case"], {"/max_results"}),
        ({"maxResults": "5", "queue": 3}, ["rename_case"], {"/max_results", "/queue", "/q"}),
    ],
    ids=["alone", "beside another fault"],
)
async def test_a_refusal_names_the_field_as_renamed_and_no_repair_of_its_value(sent, repairs, faults):
    """The name is repaired and said to be; the value is what is wrong, also beside another fault."""

    def tool(max_results: StrictInt, q: int) -> int:
        return max_results + q

    details = envelope(await call(lenient(tool), "tool", sent))["details"]
    assert [repair["rule"] for repair in details["repairs"]] == repairs
    assert {violation["pointer"] for violation in details["violations"]} == faults


@from_version("4.0.0", "the SDK checks the published schema of a strict server before the middleware")
async def test_a_server_that_is_strict_as_a_whole_is_repaired():
    """``strict_input_validation`` says nothing of single fields."""
    result = await call(lenient(_tool(int), strict=True), "tool", {"x": "5"})
    assert (got(result), rules(result)) == (5, ["text_to_integer"])
