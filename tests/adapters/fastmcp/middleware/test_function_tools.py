"""Function tools of every kind on a server with the middleware, and the names that their models would ignore."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from calls import call, code, envelope, got, lenient, on_both_servers, on_servers_that_read_json, rules
from decisions import decide
from fastmcp import Client, Context
from fastmcp.dependencies import Depends
from fastmcp.tools import Tool
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.alias_generators import to_camel
from tables import each_row


class _Tree(BaseModel):
    value: int
    children: list[_Tree] = []


def _sync(tags: list[str]) -> list[str]:
    return tags


def _recursive(tree: _Tree) -> Any:
    return tree.model_dump()


def _alias(page: Annotated[list[int], Field(alias="pageNumbers")]) -> Any:
    return page


async def _with_context(tags: list[str], ctx: Context) -> Any:
    assert ctx.fastmcp.name == "server"
    return tags


def _with_dependency(tags: list[str], secret: str = Depends(lambda: "hidden")) -> Any:
    assert secret == "hidden"  # noqa: S105 - not a real secret
    return tags


TAGS: tuple[Any, ...] = ({"tags": ["a"]}, {"tags": '["a"]'}, {"tags": 5}, "INVALID_TAGS_TYPE")
CHILD = {"value": 2, "children": [{"value": 3, "children": []}]}
TOOLS = [
    pytest.param(_sync, *TAGS, id="sync"),
    pytest.param(_with_context, *TAGS, id="context"),
    pytest.param(_with_dependency, *TAGS, id="depends"),
    pytest.param(
        _recursive,
        {"tree": {"value": 1, "children": [CHILD]}},
        {"tree": {"value": 1, "children": [CHILD | {"children": '[{"value": 3, "children": []}]'}]}},
        {"tree": {"value": 1, "children": [CHILD | {"value": "x"}]}},
        "INVALID_TREE_TYPE",
        id="model",
    ),
    pytest.param(
        _alias,
        {"pageNumbers": [1]},
        {"page_numbers": [1]},
        {"pageNumbers": "x"},
        "INVALID_PAGE_NUMBERS_TYPE",
        id="alias",
    ),
]


@on_both_servers
@pytest.mark.parametrize(("function", "right", "near", "wrong", "error"), TOOLS)
async def test_every_function_tool_is_lenient(function, right, near, wrong, error, strict):
    """Valid calls run unchanged, nearly right calls have the same result, wrong calls get the envelope."""
    async with Client(lenient(function, strict=strict)) as client:
        untouched, repaired, refused = [
            await client.call_tool_mcp(function.__name__, sent) for sent in (right, near, wrong)
        ]
    assert (rules(untouched), rules(repaired) != []) == ([], True)
    assert got(repaired) == got(untouched)
    assert code(refused) == error


@pytest.mark.parametrize(
    ("function", "injected"),
    [(_with_context, "ctx"), (_with_dependency, "secret")],
    ids=["context", "depends"],
)
async def test_injected_parameters_cannot_be_sent(function, injected):
    """A parameter that FastMCP injects is unknown to callers."""
    refused = await call(lenient(function), function.__name__, {"tags": ["a"], injected: "mine"})
    assert code(refused) == "UNKNOWN_PARAMETER"


async def test_all_remaining_violations_are_reported_at_once():
    """A call with several errors is refused once, with a violation for each that no repair corrects."""

    def tool(tags: list[str], mode: Literal["a", "b"], level: Literal["high", "low"], n: int) -> None: ...

    refused = await call(lenient(tool), "tool", {"tags": 5, "mode": "c", "level": "HIGH", "extra": 1})
    reported = envelope(refused)
    found = {each["pointer"]: each["code"] for each in reported["details"]["violations"]}
    assert reported["error_code"] == "INVALID_ARGUMENTS"
    assert found == {"/tags": "type", "/mode": "enum", "/extra": "unknown", "/n": "missing"}


class _Order(BaseModel):
    ship_to: str
    dry_run: bool = False


class _ByBothNames(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)
    max_results: int = 3
    meta_data: dict[str, Any] = {}
    dry_run: bool = False


class _Email(BaseModel):
    address: str
    send_at: str | None = None


class _Message(BaseModel):
    address: str
    dry_run: bool = False


class _Kept(BaseModel):
    model_config = ConfigDict(extra="allow")
    max_results: int = 3


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


class _Removal(BaseModel):
    path: str


class _CarefulRemoval(BaseModel):
    path: str
    dry_run: bool


class _Title(BaseModel):
    title: str
    dry_run: bool


MAIL, REMOVAL = _Email | _Message, _Removal | _CarefulRemoval
REMOVALS, CAREFUL = list[_Removal] | list[_CarefulRemoval], _CarefulRemoval | _Title
TAGGED = Annotated[_Lax | _Other, Field(discriminator="kind")]


def _taking(annotation: Any) -> Any:
    """Return a function with a parameter of this type, and one that is often sent as text."""

    def take(it: Any, tags: list[str] | None = None) -> None: ...

    take.__annotations__ = {"it": annotation, "tags": list[str] | None, "return": None}
    return take


async def test_a_models_ignored_name_is_refused_beside_a_repair() -> None:
    """Optional fields in another case style are renamed; a repaired call is refused if one would be ignored."""

    def order(order: _Order, tags: list[str] | None = None) -> Any:
        return order.dry_run, tags

    server = lenient(Tool.from_function(order, annotations={"destructiveHint": True}))
    renamed = await call(server, "order", {"order": {"shipTo": "Oslo", "dryRun": True}})
    assert got(renamed) == [True, None]
    result = await call(server, "order", {"order": {"ship_to": "Oslo", "dryRun": True}, "tags": '["a"]'})
    assert code(result) == "INVALID_ORDER_TYPE"
    assert "'order.dryRun'" in envelope(result)["message"]


@each_row(
    ("annotation", "it", "heard"),
    [
        pytest.param(MAIL, {"Address": "a", "DryRun": True}, {"address": "a", "dry_run": True}, id="second"),
        pytest.param(MAIL, {"Address": "a", "SendAt": "x"}, {"address": "a", "send_at": "x"}, id="first"),
        pytest.param(
            REMOVAL,
            {"Path": "a", "dry_run": "true"},
            {"path": "a", "dry_run": "true"},
            id="beside a right value",
        ),
        pytest.param(REMOVAL, {"Path": "a"}, {"path": "a"}, id="not sent"),
    ],
)
def test_the_union_branch_with_all_names_is_chosen(annotation: Any, it: Any, heard: Any) -> None:
    """If a call fits two models after repair, the model that would ignore a name is not chosen."""
    assert decide(_taking(annotation), {"it": it}).arguments == {"it": heard}


@pytest.mark.parametrize("strict", [False, True])
@each_row(
    ("annotation", "it", "pointer"),
    [
        pytest.param(REMOVAL, {"Path": "a", "dry_run": "maybe"}, "/it/dry_run", id="no reading"),
        pytest.param(REMOVAL, {"Path": "a", "dry_run": [True, False]}, "/it/dry_run", id="another type"),
        pytest.param(REMOVAL, '{"path": "a", "dry_run": "maybe"}', "/it/dry_run", id="in text"),
        pytest.param(REMOVALS, [{"Path": "a", "dry_run": "maybe"}], "/it/0/dry_run", id="items"),
        pytest.param(CAREFUL, {"path": "a", "title": "t", "dry_run": [True]}, "/it/title", id="of both"),
    ],
)
def test_a_name_of_another_union_branch_is_not_lost(
    annotation: Any, it: Any, pointer: str, strict: bool
) -> None:
    """A call is not repaired for a model that ignores a name of another one, whose value is wrong."""
    refused = decide(_taking(annotation), {"it": it}, strict=strict)
    assert [each.pointer for each in refused.violations][:1] == [pointer]


@each_row(
    ("annotation", "it"),
    [
        pytest.param(_ByBothNames, {"meta_data": {"a": 1}, "max_results": 5}, id="by its own name"),
        pytest.param(_ByBothNames, {"meta_data": {}}, id="by its own name, equal to the default"),
        pytest.param(_Message, {"address": "a", "other": 1}, id="like no declared name"),
        pytest.param(list[_ByBothNames], [{"meta_data": {"a": 1}}] * 20, id="by its own name, in many items"),
        pytest.param(_named_twice(16), {f"key_{at}": True for at in "abcdefghijklmnop"}, id="of many names"),
    ],
)
def test_read_or_dissimilar_names_are_not_flagged(annotation: Any, it: Any) -> None:
    """In a repaired call, a name stays unchanged if the model reads it or if no declared name is similar."""
    repaired = decide(_taking(annotation), {"it": it, "tags": '["a"]'})
    assert repaired.arguments == {"it": it, "tags": ["a"]}


@on_servers_that_read_json
@each_row(
    ("annotation", "it", "pointer"),
    [
        pytest.param(_Message, {"address": "a", "dry_rnu": True}, "dry_rnu", id="letters swapped"),
        pytest.param(_Kept, {"maxResults": 5}, "maxResults", id="kept beside the declared one"),
        pytest.param(MAIL, {"address": "a", "dryRun": True}, "dryRun", id="union"),
        pytest.param(dict[str, _Message], {"k": {"address": "a", "dryRun": True}}, "k/dryRun", id="map"),
        pytest.param(tuple[_Message, int], [{"address": "a", "dryRun": True}, 1], "0/dryRun", id="tuple"),
        pytest.param(_SaidToBeClosed, {"dryRun": True}, "dryRun", id="published as closed"),
        pytest.param(TAGGED, {"kind": "lax", "n": 5, "dryRun": True}, "dryRun", id="by discriminator"),
        pytest.param(
            _Message | dict[str, Any], {"address": "a", "dryRun": True}, "dryRun", id="a map as well"
        ),
        pytest.param(
            _ByBothNames, {"meta_data": {"a": 1}, "dryrun": True}, "dryrun", id="beside one that is read"
        ),
    ],
)
def test_ignored_names_beside_a_repair(annotation: Any, it: Any, pointer: str, strict: bool) -> None:
    """A repaired call is refused if the model would ignore a name, and the violation names it."""
    refused = decide(_taking(annotation), {"it": it, "tags": '["a"]'}, strict=strict)
    assert [(each.code, each.pointer) for each in refused.violations] == [("unknown", f"/it/{pointer}")]


def test_fields_that_only_the_validator_accepts_do_not_hide_ignored_names() -> None:
    """Ignored names in a union are found even if the schema refuses a field that a lax validator accepts."""
    refused = decide(_taking(TAGGED), {"it": {"kind": "lax", "n": "5", "dryRun": True}, "tags": '["a"]'})
    assert [(each.pointer, each.did_you_mean) for each in refused.violations] == [
        ("/it/dryRun", ("dry_run",))
    ]


def test_too_many_names_in_another_spelling() -> None:
    """With more than 16 unpublished names, the model is not asked which it reads, and the call is refused."""
    sent = {"it": {f"key_{letter}": True for letter in "abcdefghijklmnopq"}, "tags": '["a"]'}
    assert decide(_taking(_named_twice(17)), sent).violations
