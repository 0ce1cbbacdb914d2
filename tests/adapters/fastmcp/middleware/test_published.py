"""Publish schemas in another form, and read calls back, on a real server with a real client."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal

import jsonpatch
import pytest
from calls import call, envelope, got
from fastmcp import Client, FastMCP
from fastmcp_versions import PROXY, skip_on_3
from pydantic import Field, SecretStr
from wire import serving

from mcp_lenient import Form, LenientMiddleware, Policy, lenient
from mcp_lenient.errors import PolicyError


def server(*, author: Any = ..., **settings: Any) -> FastMCP:
    """Return a server with tools that need a form."""

    def label(
        labels: dict[str, int],
        note: str | None = None,
        size: Annotated[int, Field(ge=1, le=10)] = 3,
        where: Annotated[str, Field(alias="filter[name]")] = "all",
    ) -> dict[str, Any]:
        return {"labels": labels, "note": note, "size": size, "where": where}

    @(lenient if author is ... else lenient(publish=author))
    def keep(anything: dict[str, Any], key: SecretStr | None = None) -> str:
        return f"{anything} {key}"

    return FastMCP("shop", middleware=[LenientMiddleware(**settings)], tools=[label, keep])


def bare() -> FastMCP:
    """Return a server with the same tools and no middleware."""
    made = server()
    made.middleware[:] = [each for each in made.middleware if not isinstance(each, LenientMiddleware)]
    return made


async def listed(made: FastMCP | str) -> dict[str, Any]:
    """Return the schemas as a client of a server or of its URL is listed them."""
    async with Client(made) as client:
        return {
            tool.name: tool.model_dump(by_alias=True)["inputSchema"] for tool in await client.list_tools()
        }


def violations(result: Any) -> Any:
    """Return the violations of a refused call."""
    return envelope(result)["details"]["violations"]


async def test_a_list_stays_as_it_is_unless_a_form_is_asked_for():
    """Without ``publish`` the list equals that of a server without the middleware."""
    assert await listed(server()) == await listed(bare())


async def test_the_list_has_the_form():
    """Each schema is published in the form, with what it cannot say in the descriptions."""
    schemas = await listed(server(publish="portable"))
    assert schemas["label"] == {
        "type": "object",
        "properties": {
            "labels": {
                "type": "array",
                "description": "(a list of names and values)",
                "items": {
                    "type": "object",
                    "properties": {"key": {"type": "string"}, "value": {"type": "integer"}},
                    "required": ["key", "value"],
                },
            },
            "note": {"type": "string"},
            "size": {"type": "integer", "description": "(default: 3) (maximum: 10) (minimum: 1)"},
            "filter_name": {"type": "string", "description": "(default: all) (this is 'filter[name]')"},
        },
        "required": ["labels"],
    }
    assert schemas["keep"]["properties"]["anything"] == {
        "type": "string",
        "description": "(a JSON object as text)",
    }


ITEMS = [{"key": "a", "value": 1}]


@pytest.mark.parametrize(
    ("sent", "repaired"),
    [
        pytest.param({"labels": ITEMS, "filter_name": "x"}, set(), id="published"),
        pytest.param({"labels": {"a": 1}, "filter[name]": "x"}, set(), id="authors"),
        pytest.param({"labels": json.dumps(ITEMS), "filterName": "x"}, {"/labels", "/filterName"}, id="near"),
    ],
)
async def test_a_call_in_either_form_reaches_the_tool(sent: dict[str, Any], repaired: set[str]):
    """The tool gets its own form, also if the mode is to observe; repairs have pointers of the published form."""
    result = await call(server(publish="portable"), "label", sent)
    observed = await call(server(policy=Policy(mode="observe", publish="portable")), "label", sent)
    assert result.structured_content == {"labels": {"a": 1}, "note": None, "size": 3, "where": "x"}
    assert observed.structured_content == (None if repaired else result.structured_content)
    repairs = (result.meta or {}).get("mcp_lenient", {}).get("repairs", [])
    assert {each["pointer"] for each in repairs} == repaired


async def test_the_envelope_speaks_of_the_published_form():
    """Names and pointers in a refusal are those that the model was listed."""
    sent = {"labels": ITEMS, "size": 50, "filter_name": 5.5}
    result = await call(server(publish="portable"), "label", sent)
    assert {each["pointer"] for each in violations(result)} == {"/size", "/filter_name"}
    assert result.meta["mcp_lenient"]["details"]["parameters"] == {
        "required": ["labels"],
        "optional": ["note", "size", "filter_name"],
    }
    assert "filter[name]" not in result.content[0].text


@pytest.mark.parametrize(
    ("tool", "sent", "pointer"),
    [
        pytest.param(
            "label", {"labels": [*ITEMS, {"key": "a", "value": 2}]}, "/labels/1/key", id="key_twice"
        ),
        pytest.param("keep", {"anything": "{broken"}, "/anything", id="no_json"),
    ],
)
async def test_what_cannot_be_read_back_is_refused(tool: str, sent: dict[str, Any], pointer: str):
    """A key that is there twice, and JSON text that does not parse, are answered with the envelope."""
    result = await call(server(publish="portable"), tool, sent)
    assert [each["pointer"] for each in violations(result)] == [pointer]


async def test_a_secret_stays_secret_in_another_form():
    """A parameter whose published schema no longer says that it is secret is never repeated."""
    result = await call(server(publish="portable"), "keep", {"anything": "{}", "key": 12345678})
    assert "12345678" not in str(result)


@pytest.mark.parametrize(
    ("settings", "author", "forms"),
    [
        pytest.param({"policy": Policy(publish="portable")}, ..., {"label", "keep"}, id="policy"),
        pytest.param({"tools": {"label": Policy(publish="portable")}}, ..., {"label"}, id="pattern"),
        pytest.param({"publish": "portable"}, None, {"label"}, id="authors_none"),
        pytest.param({}, "portable", {"keep"}, id="author"),
        pytest.param({"policy": Policy(mode="off", publish="portable")}, ..., set(), id="off"),
    ],
)
async def test_who_may_ask_for_a_form(settings: dict[str, Any], author: Any, forms: set[str]):
    """The operator asks for all tools or some; the author for one, or for none whatever the server has."""
    plain, schemas = await listed(server()), await listed(server(author=author, **settings))
    assert {name for name in schemas if schemas[name] != plain[name]} == forms


async def test_the_environment_may_ask_for_a_form(monkeypatch: pytest.MonkeyPatch):
    """``MCP_LENIENT_PUBLISH`` is the form where no policy says one; an unknown form is an error."""
    monkeypatch.setenv("MCP_LENIENT_PUBLISH", "portable")
    assert "filter_name" in (await listed(server()))["label"]["properties"]
    monkeypatch.setenv("MCP_LENIENT_PUBLISH", "portabel")
    for settings in ({}, {"publish": "portabel"}):
        with pytest.raises(PolicyError, match=r"one of 'unchanged', 'portable', .*got 'portabel'"):
            LenientMiddleware(**settings)


def proxied(**settings: Any) -> FastMCP:
    """Return a proxy for a server without a middleware."""
    skip_on_3(PROXY)
    from mcp_lenient import create_lenient_proxy

    return create_lenient_proxy(bare(), **settings)


@pytest.mark.parametrize("child_publishes", [True, False])
async def test_a_parent_publishes_the_tools_of_mounted_servers(child_publishes):
    """A server that publishes lists and reads the tools of the servers in it, whether they publish or not."""
    parent = FastMCP("parent", middleware=[LenientMiddleware(publish="portable")])
    parent.mount(server(publish="portable" if child_publishes else None), namespace="sub")
    assert (await listed(parent))["sub_label"]["properties"]["labels"]["type"] == "array"
    result = await call(parent, "sub_label", {"labels": ITEMS})
    assert result.structured_content["labels"] == {"a": 1}


def portable(tool: Callable[..., str]) -> FastMCP:
    """Return a server that publishes one tool in the portable form."""
    return FastMCP("one", middleware=[LenientMiddleware(publish="portable")], tools=[tool])


async def test_the_only_allowed_value_is_not_made_by_a_repair():
    """A confirmation that the published schema only describes is still not produced from something else."""

    def wipe(confirm: Annotated[list[str], Field(json_schema_extra={"const": ["DELETE"]})]) -> str:
        return f"wiped: {confirm}"

    assert (await call(portable(wipe), "wipe", {"confirm": "DELETE"})).is_error
    assert not (await call(portable(wipe), "wipe", {"confirm": ["DELETE"]})).is_error


@pytest.mark.parametrize("front", [server, proxied])
async def test_an_http_client_chooses_the_form_by_the_url(front: Callable[..., FastMCP]):
    """Where the operator allows it, each connection has the form that its URL names, in lists and calls."""
    with serving(front(publish_by_query=True)) as url:
        async with Client(f"{url}?publish=portable") as one, Client(url) as other:
            for _ in range(2):
                assert (await schema_of(one, "label"))["properties"]["labels"]["type"] == "array"
                assert (await schema_of(other, "label"))["properties"]["labels"]["type"] == "object"
                said = await one.call_tool("label", {"labels": ITEMS, "filter_name": "x"})
                plain = await other.call_tool("label", {"labels": {"a": 1}, "filter[name]": "x"})
                assert said.structured_content == plain.structured_content
            assert (await other.call_tool_mcp("label", {"labels": ITEMS})).is_error


async def schema_of(client: Client[Any], name: str) -> Any:
    """Return the schema of a tool as a client is listed it."""
    tools = {tool.name: tool for tool in await client.list_tools()}
    return tools[name].model_dump(by_alias=True)["inputSchema"]


async def test_the_form_in_a_url_is_not_read_unless_the_operator_allows_it():
    """By default the URL chooses nothing."""
    with serving(server()) as url:
        schemas = await listed(f"{url}?publish=portable")
    assert schemas["label"]["properties"]["labels"]["type"] == "object"


NO_FORM = "the forms are unchanged, portable"
NOT_PLAIN = r"the URL must name the form once, as in \?publish=portable"


async def test_a_form_in_a_url_is_plain_and_no_more_than_the_author_allows():
    """``publish=None`` of an author holds for any URL; a form that does not exist, or is not named plainly, is an error."""
    with serving(server(author=None, publish_by_query=True)) as url:
        schemas = await listed(f"{url}?publish=portable")
        for query, message in (
            ("publish=gemeni", NO_FORM),
            ("publish=portable&publish=gemini", NOT_PLAIN),
            ("PUBLISH=portable", NOT_PLAIN),
            ("publish[]=portable", NOT_PLAIN),
            ("publish=gemini&Publish=gemini", NOT_PLAIN),
        ):
            with pytest.raises(Exception, match=message):
                await listed(f"{url}?{query}")
    assert schemas["keep"]["properties"]["anything"]["type"] == "object"
    assert schemas["label"]["properties"]["labels"]["type"] == "array"


def find(
    order: Annotated[Literal["newest", "oldest"], Field(alias="sort[order]")],
    weights: dict[str, Literal["low", "high"]],
    level: Literal[1, 2, 3] = 1,
    more: dict[str, Any] | None = None,
) -> str:
    """Find by allowed values in each kind of place."""
    return f"{order} {weights} {level} {more}"


RIGHT = {"sort_order": "newest", "weights": [{"key": "a", "value": "low"}]}
WRONG = [
    pytest.param(
        {"weights": [{"key": "b", "value": "high"}, {"key": "a", "value": "none"}]},
        {"pointer": "/weights/1/value", "allowed_values": ["low", "high"]},
        id="entry",
    ),
    pytest.param(
        {"weights": [{"key": "b", "valu": "high"}]},
        {
            "pointer": "/weights/0/value",
            "fixes": [[{"op": "move", "from": "/weights/0/valu", "path": "/weights/0/value"}]],
        },
        id="patch",
    ),
    pytest.param({"level": 5}, {"pointer": "/level", "allowed_values": [1, 2, 3]}, id="described_values"),
    pytest.param({"more": "[1]"}, {"pointer": "/more"}, id="json_text"),
]


@pytest.mark.parametrize(("changed", "expected"), WRONG)
async def test_pointers_allowed_values_and_patches_are_those_of_the_published_form(
    changed: dict[str, Any], expected: dict[str, Any], events: Any
):
    """What a refusal and its event say of a place can be applied to the call as the model sent it."""
    result = await call(portable(find), "find", {**RIGHT, **changed})
    (violation,) = violations(result)
    assert {name: violation.get(name) for name in expected} == expected
    assert "sort[order]" not in result.content[0].text
    (event,) = [each for each in events if each["event"] == "call_rejected"]
    assert event["form"] == "portable"
    assert [each["pointer"] for each in event["violations"]] == [expected["pointer"]]


async def test_a_patch_repairs_the_call_that_was_sent():
    """A fix is a JSON Patch of the call in the published form, which the tool then accepts."""
    sent = {**RIGHT, "sort_order": "newst"}
    (violation,) = violations(await call(portable(find), "find", sent))
    assert (violation["pointer"], violation["allowed_values"]) == ("/sort_order", ["newest", "oldest"])
    fixed = jsonpatch.apply_patch(sent, violation["fixes"][0])
    assert got(await call(portable(find), "find", fixed)) == "newest {'a': 'low'} 1 None"


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"size": 0}, "'size' must be at least 1, but got the integer 0. Left out, it is 1."),
        ({"pair": [1, 2, 3]}, "'pair' must have at most 2 items, but got an array of 3 items."),
        ({"sizes": [1, 0]}, "'sizes[1]' must be at least 1, but got the integer 0."),
    ],
    ids=["number", "author's form", "item"],
)
async def test_a_limit_that_the_form_only_describes_is_named(sent: dict[str, Any], message: str):
    """The author's limit is said, although the published schema has it in a description, or holds the value as text."""

    def take(
        size: Annotated[int, Field(ge=1)] = 1,
        pair: tuple[int, int] = (1, 2),
        sizes: list[Annotated[int, Field(ge=1)]] | None = None,
    ) -> str:
        return f"{size} {pair} {sizes}"

    (violation,) = violations(await call(portable(take), "take", sent))
    assert violation["message"] == message


@pytest.mark.parametrize("mounted", [False, True])
async def test_a_tool_that_cannot_have_the_form_is_listed_as_it_is_and_named(events: Any, *, mounted: bool):
    """Where null and leaving out differ, a strict form would lose calls: one log line gives tool and reason."""

    def count(most: int | None = 5) -> str:
        return str(most)

    made = front = FastMCP("counts", tools=[count])
    if mounted:
        front = FastMCP("front")
        front.mount(made)
    front.add_middleware(LenientMiddleware(publish="openai-strict"))
    assert (await listed(front))["count"]["properties"]["most"]["default"] == 5
    assert got(await call(front, "count", {"most": None})) == "None"
    (warning,) = [each for each in events if each["event"] == "form_unavailable"]
    assert warning["subject"] == "count"
    assert warning["reason"] == "at /properties/most, null and leaving it out mean different things"


@pytest.mark.parametrize("form", ["tolerant", Form(name="mine", maps=False, tolerant=True)])
async def test_calls_of_a_tolerant_form_are_judged_by_the_stricter_one(form: Any, events: Any):
    """What the form lets pass is repaired or refused as without it, and what was right stays as sent."""
    shop = server(publish=form)
    labels = {"a": 1} if form == "tolerant" else ITEMS
    schema = (await listed(shop))["label"]
    assert schema["properties"]["size"] == {
        "description": "(maximum: 10) (minimum: 1)",
        "type": ["integer", "string", "null"],
        "default": 3,
    }
    repaired = await call(shop, "label", {"labels": json.dumps(labels), "size": None, "note": None})
    assert repaired.structured_content == {"labels": {"a": 1}, "note": None, "size": 3, "where": "all"}
    repairs = repaired.meta["mcp_lenient"]["repairs"]
    assert {each["pointer"] for each in repairs} == {"/labels", "/size"}
    assert violations(await call(shop, "label", {"labels": labels, "size": "11"}))[0]["code"] == "range"
    assert [each["form"] for each in events] == ["tolerant" if form == "tolerant" else "mine"] * 2
