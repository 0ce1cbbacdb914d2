"""Function tools of every kind on a server with the middleware."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from calls import call, code, envelope, got, lenient, on_both_servers, rules
from fastmcp import Context
from fastmcp.dependencies import Depends
from fastmcp.tools import Tool
from fastmcp_versions import NO_JSON, since
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict


class _Color(str, Enum):
    RED = "red"
    DARK_BLUE = "dark_blue"


class _Point(BaseModel):
    x: int
    tags: list[str] = []


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid")
    start: _Point
    ends: list[_Point]


class _Tree(BaseModel):
    value: int
    children: list[_Tree] = []


class _Cat(BaseModel):
    kind: Literal["cat"]
    lives: list[int]


class _Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


class _Options(TypedDict, total=False):
    deep: list[int]


def _sync(tags: list[str]) -> list[str]:
    return tags


async def _async(tags: list[str]) -> list[str]:
    return tags


def _generator(tags: list[str]) -> Iterator[str]:
    yield from tags


async def _async_generator(tags: list[str]) -> AsyncIterator[str]:
    for tag in tags:
        yield tag


def _annotated(limits: Annotated[list[int], Field(description="bounds", min_length=1)]) -> list[int]:
    return limits


def _literal(mode: Literal["read", "write"]) -> str:
    return mode


def _enum(color: _Color) -> str:
    return color.value


def _union(filter: dict[str, int] | list[str]) -> Any:  # noqa: A002 - a common name of parameters
    return filter


def _tagged(pet: Annotated[_Cat | _Dog, Field(discriminator="kind")]) -> Any:
    return pet.model_dump()


def _model(point: _Point) -> Any:
    return point.model_dump()


def _nested(line: _Line) -> Any:
    return line.model_dump()


def _recursive(tree: _Tree) -> Any:
    return tree.model_dump()


def _typed_dict(options: _Options) -> Any:
    return options


def _alias(page: Annotated[list[int], Field(alias="pageNumbers")]) -> Any:
    return page


async def _with_context(tags: list[str], ctx: Context) -> Any:
    assert ctx.fastmcp.name == "server"
    return tags


def _with_dependency(tags: list[str], secret: str = Depends(lambda: "hidden")) -> Any:
    assert secret == "hidden"  # noqa: S105 - not a real secret
    return tags


class _Holder:
    def method(self, tags: list[str]) -> list[str]:
        return tags


TOOLS = [
    pytest.param(_sync, {"tags": ["a"]}, {"tags": '["a"]'}, {"tags": 5}, "TYPE", id="sync"),
    pytest.param(_async, {"tags": ["a"]}, {"tags": '["a"]'}, {"tags": 5}, "TYPE", id="async"),
    pytest.param(_generator, {"tags": ["a"]}, {"tags": '["a"]'}, {"tags": 5}, "TYPE", id="generator"),
    pytest.param(_async_generator, {"tags": ["a"]}, {"tags": '["a"]'}, {"tags": 5}, "TYPE", id="async_gen"),
    pytest.param(_Holder().method, {"tags": ["a"]}, {"tags": '["a"]'}, {"tags": 5}, "TYPE", id="method"),
    pytest.param(_annotated, {"limits": [1]}, {"limits": "[1]"}, {"limits": []}, "VALUE", id="annotated"),
    pytest.param(_literal, {"mode": "read"}, {"mode": " READ"}, {"mode": "erase"}, "VALUE", id="literal"),
    pytest.param(_enum, {"color": "dark_blue"}, {"color": "Dark-Blue"}, {"color": "x"}, "VALUE", id="enum"),
    pytest.param(_union, {"filter": {"a": 1}}, {"filter": '{"a": 1}'}, {"filter": 5}, "TYPE", id="union"),
    pytest.param(
        _tagged,
        {"pet": {"kind": "cat", "lives": [1]}},
        {"pet": {"kind": "cat", "lives": "[1]"}},
        {"pet": {"kind": "cow", "lives": []}},
        "VALUE",
        id="discriminated",
    ),
    pytest.param(
        _model,
        {"point": {"x": 1, "tags": ["a"]}},
        {"point": '{"x": 1, "tags": "[\\"a\\"]"}'},
        {"point": {"x": "one"}},
        "TYPE",
        id="model",
    ),
    pytest.param(
        _nested,
        {"line": {"start": {"x": 1, "tags": []}, "ends": [{"x": 2, "tags": ["a"]}]}},
        {"line": {"start": {"x": 1, "tags": []}, "ends": [{"x": 2, "tags": '["a"]'}]}},
        {"line": {"start": {"x": 1}, "ends": [{"x": 2, "tags": {"a": 1}}]}},
        "TYPE",
        id="nested",
    ),
    pytest.param(
        _recursive,
        {"tree": {"value": 1, "children": [{"value": 2, "children": [{"value": 3, "children": []}]}]}},
        {"tree": {"value": 1, "children": [{"value": 2, "children": '[{"value": 3, "children": []}]'}]}},
        {"tree": {"value": 1, "children": [{"value": 2, "children": [{"value": "x"}]}]}},
        "TYPE",
        id="recursive",
    ),
    pytest.param(
        _typed_dict,
        {"options": {"deep": [1]}},
        {"options": {"deep": "[1]"}},
        {"options": 1},
        "TYPE",
        id="dict",
    ),
    pytest.param(
        _alias, {"pageNumbers": [1]}, {"page_numbers": [1]}, {"pageNumbers": "x"}, "TYPE", id="alias"
    ),
    pytest.param(_with_context, {"tags": ["a"]}, {"tags": '["a"]'}, {"tags": 5}, "TYPE", id="context"),
    pytest.param(_with_dependency, {"tags": ["a"]}, {"tags": '["a"]'}, {"tags": 5}, "TYPE", id="depends"),
]

STRICTNESS = pytest.mark.parametrize(
    "strict", [pytest.param(False, id="lax"), pytest.param(True, id="strict")]
)


@STRICTNESS
@pytest.mark.parametrize(("function", "right", "near", "wrong", "kind"), TOOLS)
async def test_every_function_tool_is_lenient(function, right, near, wrong, kind, strict):
    """Valid calls run unchanged, nearly right calls have the same result, wrong calls get the envelope."""
    server = lenient(function, strict=strict)
    name = function.__name__
    untouched = await call(server, name, right)
    assert rules(untouched) == []
    repaired = await call(server, name, near)
    assert rules(repaired) != []
    assert got(repaired) == got(untouched)
    assert code(await call(server, name, wrong)).endswith(f"_{kind}")


@pytest.mark.parametrize("function", [_with_context, _with_dependency], ids=["context", "depends"])
@pytest.mark.parametrize("injected", ["ctx", "secret"])
async def test_injected_parameters_cannot_be_sent(function, injected):
    """A parameter that FastMCP injects is unknown to callers."""
    server = lenient(function)
    refused = await call(server, function.__name__, {"tags": ["a"], injected: "mine"})
    assert code(refused) == "UNKNOWN_PARAMETER"


async def test_all_violations_are_reported_at_once():
    """A call with several errors is refused once, with a violation for each."""

    def tool(tags: list[str], mode: Literal["a", "b"], n: int) -> None: ...

    refused = await call(lenient(tool), "tool", {"tags": 5, "mode": "c", "extra": 1})
    assert code(refused) == "INVALID_ARGUMENTS"
    found = {
        entry["pointer"]: entry["code"] for entry in refused.meta["mcp_lenient"]["details"]["violations"]
    }
    assert found == {"/tags": "type", "/mode": "enum", "/extra": "unknown", "/n": "missing"}


class _Order(BaseModel):
    item: str
    ship_to: str
    dry_run: bool = False
    tags: list[str] = []


class _ByBothNames(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)
    max_results: int = 3
    tags: list[str] = []


def _order(order: _Order) -> bool:
    return order.dry_run


def _search(options: _ByBothNames) -> int:
    return options.max_results


async def test_optional_fields_of_a_model_are_renamed() -> None:
    """A model's optional field in another case style is renamed, even in a destructive tool."""
    tool = Tool.from_function(_order, annotations={"destructiveHint": True})
    sent = {"order": {"item": "tea", "shipTo": "Oslo", "dryRun": True}}
    assert got(await call(lenient(tool), "_order", sent)) is True


async def test_a_field_that_the_model_would_ignore_is_refused() -> None:
    """A repaired call is refused if the model would ignore a field in another case style."""
    sent = {"order": {"item": "tea", "ship_to": "Oslo", "dryRun": True, "tags": '["a"]'}}
    result = await call(lenient(_order), "_order", sent)
    assert [each["did_you_mean"] for each in envelope(result)["details"]["violations"]] == [["dry_run"]]


async def test_unpublished_names_that_the_model_accepts_are_kept() -> None:
    """A name that the model's validator accepts is not refused, even if the schema publishes another."""
    sent = {"options": {"max_results": 5, "tags": '["a"]'}}
    assert got(await call(lenient(_search), "_search", sent)) == 5


class _Email(BaseModel):
    address: str
    send_at: str | None = None


class _Message(BaseModel):
    address: str
    dry_run: bool = False


class _Kept(BaseModel):
    model_config = ConfigDict(extra="allow")
    max_results: int = 3


class _ByAlias(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    meta_data: dict[str, Any] = Field({}, alias="metaData")


class _AlsoByAlias(_ByAlias):
    dry_run: bool = False


def _named_twice(count: int) -> type[BaseModel]:
    """Create a model with this number of fields, each of which has a published alias."""
    fields: Any = {
        f"key_{letter}": (bool, Field(False, alias=f"key{letter.upper()}"))
        for letter in "abcdefghijklmnopqrst"[:count]
    }
    return create_model("NamedTwice", __config__=ConfigDict(populate_by_name=True), **fields)


class _SaidToBeClosed(BaseModel):
    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})
    dry_run: bool = False


class _Lax(BaseModel):
    kind: Literal["lax"]
    n: int = 0
    dry_run: bool = False


class _Other(BaseModel):
    kind: Literal["other"]
    n: int = 0


def _notify(via: _Email | _Message) -> dict[str, Any]:
    return via.model_dump()


def _with_model(model: type[BaseModel] | Any) -> Any:
    def take(it: model, tags: list[str]) -> str:  # type: ignore[valid-type]
        return repr((it, tags))

    take.__annotations__ = {"it": model, "tags": list[str], "return": str}
    return take


@pytest.mark.parametrize(
    ("sent", "heard"),
    [
        pytest.param({"Address": "a", "DryRun": True}, {"address": "a", "dry_run": True}, id="second"),
        pytest.param({"Address": "a", "SendAt": "x"}, {"address": "a", "send_at": "x"}, id="first"),
    ],
)
async def test_the_union_branch_with_all_names_is_chosen(sent: Any, heard: Any) -> None:
    """If a call fits two models after repair, the model that would ignore a name is not chosen."""
    assert got(await call(lenient(_notify), "_notify", {"via": sent})) == heard


class _Removal(BaseModel):
    path: str


class _CarefulRemoval(BaseModel):
    path: str
    dry_run: bool


class _Title(BaseModel):
    title: str
    dry_run: bool


def _retitle(
    jobs: list[_Removal] | list[_CarefulRemoval], job: _CarefulRemoval | _Title | None = None
) -> Any:
    return [each.model_dump() for each in jobs], job and job.model_dump()


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({"jobs": [{"path": "a", "dry_run": "maybe"}], "limit": 1}, id="items"),
        pytest.param(
            {"jobs": [], "job": {"path": "a", "title": "t", "dry_run": [True]}}, id="of both models"
        ),
    ],
)
async def test_a_name_that_no_model_takes_with_the_others_is_not_lost(sent: Any) -> None:
    """A call is not repaired if each model that accepts it ignores one of its names."""
    assert (await call(lenient(_retitle), "_retitle", sent)).is_error


def _remove(job: _Removal | _CarefulRemoval) -> dict[str, Any]:
    return job.model_dump()


@pytest.mark.parametrize(
    ("sent", "heard"),
    [
        pytest.param({"Path": "a", "dry_run": "true"}, {"path": "a", "dry_run": True}, id="repaired"),
        pytest.param({"Path": "a", "dry_run": "maybe"}, None, id="no reading"),
        pytest.param({"Path": "a", "dry_run": [True, False]}, None, id="another type"),
        pytest.param({"Path": "a"}, {"path": "a"}, id="not sent"),
        pytest.param('{"path": "a", "dry_run": "maybe"}', None, id="object in text"),
    ],
)
@on_both_servers
async def test_a_name_of_another_union_branch_is_not_lost(strict: bool, sent: Any, heard: Any) -> None:
    """A call is not repaired for the model that ignores a name of another one, whose value is wrong."""
    result = await call(lenient(_remove, strict=strict), "_remove", {"job": sent})
    if heard is None:
        assert envelope(result)["details"]["violations"][0]["pointer"] == "/job/dry_run"
    else:
        assert got(result) == heard


@pytest.mark.parametrize(
    ("model", "it"),
    [
        pytest.param(_ByAlias, {"meta_data": {"a": 1}}, id="by its own name"),
        pytest.param(_ByAlias, {"meta_data": {}}, id="by its own name, equal to the default"),
        pytest.param(_Message, {"address": "a", "other": 1}, id="like no declared name"),
        pytest.param(list[_ByAlias], [{"meta_data": {"a": 1}}] * 20, id="by its own name, in many items"),
        pytest.param(_named_twice(16), {f"key_{at}": True for at in "abcdefghijklmnop"}, id="of many names"),
    ],
)
async def test_read_or_dissimilar_names_are_not_flagged(model: Any, it: Any) -> None:
    """In a repaired call, a name stays unchanged if the model reads it or if no declared name is similar."""
    result = await call(lenient(_with_model(model)), "take", {"it": it, "tags": '["a"]'})
    assert rules(result) == ["json_text_to_array"]


@on_both_servers
@pytest.mark.parametrize(
    ("model", "it"),
    [
        pytest.param(_Message, {"address": "a", "dry_rnu": True}, id="letters swapped"),
        pytest.param(_Message, {"address": "a", "$dry-run": True}, id="signs"),
        pytest.param(_Email | _Message, {"address": "a", "dryRun": True}, id="union"),
        pytest.param(dict[str, _Message], {"k": {"address": "a", "dryRun": True}}, id="map"),
        pytest.param(tuple[_Message, int], [{"address": "a", "dryRun": True}, 1], id="tuple"),
        pytest.param(_SaidToBeClosed, {"dryRun": True}, id="published as closed"),
        pytest.param(_Kept, {"maxResults": 5}, id="kept beside the declared one"),
        pytest.param(
            Annotated[_Lax | _Other, Field(discriminator="kind")],
            {"kind": "lax", "n": 5, "dryRun": True},
            id="chosen by its discriminator",
        ),
        pytest.param(_Message | dict[str, Any], {"address": "a", "dryRun": True}, id="a map as well"),
        pytest.param(_AlsoByAlias, {"meta_data": {"a": 1}, "dryRun": True}, id="beside a name that is read"),
    ],
)
@since(4, 1, NO_JSON)
async def test_ignored_names_beside_a_repair(model: Any, it: Any, strict: bool) -> None:
    """A repaired call is refused if the model would ignore a name, and the envelope names it."""
    server = lenient(_with_model(model), strict=strict)
    result = await call(server, "take", {"it": it, "tags": '["a"]'})
    assert [each["code"] for each in envelope(result)["details"]["violations"]] == ["unknown"]


def _moded(mode: Literal["fast", "slow"], n: int) -> str:
    return f"{mode} {n}"


async def test_repairable_parts_of_a_refused_call_are_not_violations() -> None:
    """The envelope lists only the violations that repairs cannot fix."""
    result = await call(lenient(_moded), "_moded", {"mode": "FAST", "n": "many"})
    assert [each["pointer"] for each in envelope(result)["details"]["violations"]] == ["/n"]


async def test_too_many_names_in_another_spelling() -> None:
    """With more than 16 unpublished names, the model is not asked which it reads, and the call is refused."""
    sent = {"it": {f"key_{letter}": True for letter in "abcdefghijklmnopq"}, "tags": '["a"]'}
    result = await call(lenient(_with_model(_named_twice(17))), "take", sent)
    assert code(result) == "INVALID_ARGUMENTS"


async def test_fields_that_only_the_validator_accepts_do_not_hide_ignored_names() -> None:
    """Ignored names in a union are found even if the schema refuses a field that a lax validator accepts."""
    model = Annotated[_Lax | _Other, Field(discriminator="kind")]
    sent = {"it": {"kind": "lax", "n": "5", "dryRun": True}, "tags": '["a"]'}
    result = await call(lenient(_with_model(model)), "take", sent)
    assert "'it.dryRun'" in envelope(result)["message"]
    assert "'dry_run'" in envelope(result)["message"]
