"""Tools without an accessible function: OpenAPI, proxied, transformed and custom tools."""

from __future__ import annotations

import json
from typing import Any

import pytest
from calls import Log, Recorder, call, code, envelope, got, lenient, plain, rules
from fastmcp import Client, FastMCP
from fastmcp.server import create_proxy
from fastmcp.tools import Tool, ToolResult
from fastmcp.tools.tool_transform import ArgTransform, forward
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from tables import STRING, array, opened
from wire import httpx2

from mcp_lenient import LenientMiddleware, Policy

REFUSE = Policy(unrepairable="refuse")

OBJECT, TAGGED = opened(title=STRING), opened("tags", tags=array(STRING))
KIND = {"name": "kind", "in": "path", "required": True, "schema": {"enum": ["note", "task"]}}
LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}


def _operation(name: str, body: Any, *parameters: Any, required: bool = False) -> dict[str, Any]:
    return {
        "post": {
            "operationId": name,
            "parameters": parameters,
            "requestBody": {"required": required, "content": {"application/json": {"schema": body}}},
            "responses": {"200": {"description": "what came"}},
        }
    }


SPEC: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "notes", "version": "1"},
    "paths": {
        "/notes/{kind}": _operation("store", TAGGED, KIND, LIMIT, required=True),
        "/drafts": _operation("draft", OBJECT),
        "/drafts/{id}": _operation("edit", OBJECT, ID),
    },
}


async def _echo(request: Request) -> JSONResponse:
    body = json.loads(await request.body() or "null")
    return JSONResponse({"path": request.url.path, "query": dict(request.query_params), "body": body})


def _openapi() -> FastMCP:
    """Create a server for a small web application."""
    app = Starlette(routes=[Route(path, _echo, methods=["POST"]) for path in SPEC["paths"]])
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://notes")
    server = FastMCP.from_openapi(SPEC, client=client)
    server.add_middleware(LenientMiddleware())
    return server


@pytest.mark.parametrize(
    "sent", [{"body": {"tags": 5}}, {"payload": {"tags": []}}, {"kind": "note", "tag": ["a"]}], ids=str
)
async def test_an_openapi_call_is_not_sent_without_its_required_body(sent):
    """FastMCP drops undeclared names of an OpenAPI tool: a call that lacks its body besides is refused, not forwarded."""
    result = await call(_openapi(), "store", {"kind": "note", **sent})
    assert code(result) in ("MISSING_TAGS", "INVALID_ARGUMENTS")


@pytest.mark.parametrize(
    "sent",
    [{"body": {"title": "a"}}, {"body": '{"title": "a"}'}, {"requestBody": {"title": "a"}, "title": "a"}],
    ids=str,
)
async def test_an_openapi_body_arrives_if_none_of_its_fields_is_required(sent):
    """The fields of a body are unwrapped, also where the description allows other names."""
    assert got(await call(_openapi(), "draft", sent))["body"] == {"title": "a"}


async def test_an_openapi_call_is_not_sent_without_the_body_that_it_holds():
    """A body beside other arguments is refused, since FastMCP would drop it, and its fields are named."""
    server = _openapi()
    refused = await call(server, "edit", {"id": "1", "body": {"title": "a"}})
    assert code(refused) == "UNKNOWN_PARAMETER"
    (violation,) = envelope(refused)["details"]["violations"]
    assert violation["fixes"] == [
        [{"op": "move", "from": "/body/title", "path": "/title"}, {"op": "remove", "path": "/body"}]
    ]
    assert got(await call(server, "edit", {"id": "1", "body": {"more": "a"}}))["body"] is None


async def test_an_openapi_tool_is_lenient(events: Log):
    """Calls are repaired to match the description; the web application decides about what cannot be repaired."""
    server = _openapi()
    result = await call(server, "store", {"kind": "Note", "limit": "5", "tags": '["a"]'})
    assert got(result) == {"path": "/notes/note", "query": {"limit": "5"}, "body": {"tags": ["a"]}}
    assert sorted(rules(result)) == ["fold_enum", "json_text_to_array", "text_to_integer"]
    assert rules(await call(server, "store", {"kind": "task", "tags": []})) == []
    forwarded = await call(server, "store", {"kind": "draft", "tags": [1, "a"], "more": 1})
    assert got(forwarded) == {"path": "/notes/draft", "query": {}, "body": {"tags": [1, "a"]}}
    assert events.names == ["call_repaired", "call_accepted", "call_forwarded"]


def store(content: str, tags: list[str], limit: int = 3) -> Any:
    """Store a text."""
    return {"content": content, "tags": tags, "limit": limit}


async def test_a_proxied_tool_is_lenient():
    """Calls are repaired to match the backend's published schema; by default it answers all others."""
    backend = plain(store, name="backend")
    recorder = Recorder()
    backend.add_middleware(recorder)
    server, careful = create_proxy(backend), create_proxy(Client(backend))
    server.add_middleware(LenientMiddleware())
    careful.add_middleware(LenientMiddleware(REFUSE))
    repaired = {"content": "x", "tags": ["a"], "limit": 4}
    result = await call(server, "store", {"content": "x", "tags": '["a"]', "limit": "4"})
    assert (got(result), sorted(rules(result))) == (repaired, ["json_text_to_array", "text_to_integer"])
    assert rules(await call(server, "store", repaired)) == []
    wrong = {"content": "x", "tags": 5}
    refused = await call(server, "store", wrong)
    assert (refused.is_error, "mcp_lenient" in (refused.meta or {})) == (True, False)
    assert code(await call(careful, "store", wrong)) == "INVALID_TAGS_TYPE"
    assert recorder.arguments == [repaired, repaired, wrong]


async def _custom(**kwargs: Any) -> ToolResult:
    return await forward(**kwargs)


async def _reversed(tags: list[str]) -> ToolResult:
    return await forward(tags=tags[::-1])


def _transformed(*, name: str = "changed", transform_fn: Any = None, **changes: ArgTransform) -> Tool:
    parent = Tool.from_function(store)
    return Tool.from_tool(parent, name=name, transform_args=changes, transform_fn=transform_fn)


TRANSFORMS = [
    pytest.param(
        _transformed(content=ArgTransform(name="tags"), tags=ArgTransform(name="content")),
        {"content": '["a"]', "tags": '["b"]'},
        {"content": '["b"]', "tags": ["a"], "limit": 3},
        id="swapped",
    ),
    pytest.param(
        _transformed(transform_fn=_custom, tags=ArgTransform(name="labels")),
        {"content": "x", "labels": '["a"]'},
        {"content": "x", "tags": ["a"], "limit": 3},
        id="custom_kwargs",
    ),
    pytest.param(
        _transformed(
            transform_fn=_reversed,
            content=ArgTransform(hide=True, default="x"),
            limit=ArgTransform(hide=True, default=2),
        ),
        {"tags": '["a", "b"]'},
        {"content": "x", "tags": ["b", "a"], "limit": 2},
        id="custom_parameters",
    ),
]


@pytest.mark.parametrize(("tool", "sent", "expected"), TRANSFORMS)
async def test_a_transformed_tool_is_lenient(tool, sent, expected):
    """Calls of a transformed tool are repaired under its published names and defaults."""
    result = await call(lenient(tool), "changed", sent)
    assert (got(result), rules(result)) == (expected, ["json_text_to_array"])


async def test_envelopes_use_a_transformed_tools_published_names():
    """The envelope names the parameters that the caller sees."""
    server = lenient(_transformed(tags=ArgTransform(name="labels")))
    for sent, error in (
        ({"content": "x", "labels": 5}, "INVALID_LABELS_TYPE"),
        ({"content": "x"}, "MISSING_LABELS"),
        ({"content": "x", "labels": [], "height": []}, "UNKNOWN_PARAMETER"),
    ):
        refused = await call(server, "changed", sent)
        assert code(refused) == error
        assert "tags" not in envelope(refused)["message"]
