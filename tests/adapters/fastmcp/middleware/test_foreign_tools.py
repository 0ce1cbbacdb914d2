"""Tools without an accessible function: OpenAPI, proxied, transformed and custom tools."""

from __future__ import annotations

from typing import Any

import pytest
from calls import Log, Recorder, call, code, envelope, got, lenient, plain, published, rules
from fastmcp import Client, FastMCP
from fastmcp.server import create_proxy
from fastmcp.server.transforms import Namespace, ToolTransform
from fastmcp.tools import Tool, ToolResult
from fastmcp.tools.tool_transform import ArgTransform, ArgTransformConfig, ToolTransformConfig, forward
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from wire import httpx2

from mcp_lenient import LenientMiddleware, Policy

REFUSE = Policy(unrepairable="refuse")

SPEC: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "notes", "version": "1"},
    "paths": {
        "/notes/{kind}": {
            "post": {
                "operationId": "store",
                "parameters": [
                    {"name": "kind", "in": "path", "required": True, "schema": {"enum": ["note", "task"]}},
                    {"name": "limit", "in": "query", "schema": {"type": "integer"}},
                ],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["tags"],
                                "properties": {"tags": {"type": "array", "items": {"type": "string"}}},
                            }
                        }
                    },
                },
                "responses": {"200": {"description": "what came"}},
            }
        }
    },
}


async def _echo(request: Request) -> JSONResponse:
    return JSONResponse(
        {
            "kind": request.path_params["kind"],
            "query": dict(request.query_params),
            "body": await request.json(),
        }
    )


def _openapi(policy: Policy | None = None) -> FastMCP:
    """Create a server for a small web application."""
    app = Starlette(routes=[Route("/notes/{kind}", _echo, methods=["POST"])])
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://notes")
    server = FastMCP.from_openapi(SPEC, client=client)
    server.add_middleware(LenientMiddleware(policy))
    return server


@pytest.mark.parametrize(
    "sent", [{"body": {"tags": 5}}, {"payload": {"tags": []}}, {"kind": "note", "tag": ["a"]}], ids=str
)
async def test_an_openapi_call_is_not_sent_without_its_required_body(sent):
    """FastMCP drops undeclared names of an OpenAPI tool: a call that lacks its body besides is refused, not forwarded."""
    server = _openapi()
    result = await call(server, "store", {"kind": "note", **sent})
    assert (result.is_error, code(result)) in ((True, "MISSING_TAGS"), (True, "INVALID_ARGUMENTS"))


DRAFTS: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "drafts", "version": "1"},
    "paths": {
        f"/{path}": {
            "post": {
                "operationId": name,
                "parameters": parameters,
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {"type": "object", "properties": {"title": {"type": "string"}}}
                        }
                    }
                },
                "responses": {"200": {"description": "what came"}},
            }
        }
        for name, path, parameters in (
            ("draft", "drafts", []),
            (
                "edit",
                "drafts/{id}",
                [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
            ),
        )
    },
}


async def _body(request: Request) -> JSONResponse:
    return JSONResponse({"body": (await request.body()).decode()})


def _drafts() -> FastMCP:
    """Create a server for a web application whose body has no required field."""
    app = Starlette(routes=[Route(path, _body, methods=["POST"]) for path in ("/drafts", "/drafts/{id}")])
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://drafts")
    server = FastMCP.from_openapi(DRAFTS, client=client)
    server.add_middleware(LenientMiddleware())
    return server


@pytest.mark.parametrize(
    "sent",
    [{"body": {"title": "a"}}, {"body": '{"title": "a"}'}, {"requestBody": {"title": "a"}, "title": "a"}],
    ids=str,
)
async def test_an_openapi_body_arrives_if_none_of_its_fields_is_required(sent):
    """The fields of a body are unwrapped, also where the description allows other names."""
    assert got(await call(_drafts(), "draft", sent))["body"] == '{"title":"a"}'


async def test_an_openapi_call_is_not_sent_without_the_body_that_it_holds():
    """A body beside other arguments is refused, since FastMCP would drop it, and its fields are named."""
    refused = await call(_drafts(), "edit", {"id": "1", "body": {"title": "a"}})
    assert code(refused) == "UNKNOWN_PARAMETER"
    (violation,) = envelope(refused)["details"]["violations"]
    assert violation["fixes"] == [
        [{"op": "move", "from": "/body/title", "path": "/title"}, {"op": "remove", "path": "/body"}]
    ]
    other = await call(_drafts(), "edit", {"id": "1", "body": {"more": "a"}})
    assert got(other)["body"] == ""


async def test_an_openapi_call_with_a_wrong_value_is_forwarded():
    """The web application decides about a value that only its description forbids."""
    result = await call(_openapi(), "store", {"kind": "note", "tags": 5, "more": 1})
    assert got(result)["body"] == {"tags": 5}


async def test_an_openapi_tool_is_lenient(events: Log):
    """Calls are repaired to match the OpenAPI description before they reach the web application."""
    server = _openapi()
    result = await call(server, "store", {"kind": "Note", "limit": "5", "tags": '["a"]'})
    assert got(result) == {"kind": "note", "query": {"limit": "5"}, "body": {"tags": ["a"]}}
    assert sorted(rules(result)) == ["fold_enum", "json_text_to_array", "text_to_integer"]
    right = await call(server, "store", {"kind": "task", "tags": []})
    assert rules(right) == []
    assert events.names == ["call_repaired", "call_accepted"]


async def test_an_unrepairable_call_of_an_openapi_tool_is_forwarded(events: Log):
    """The web application gets the call unchanged, since it may accept more than it describes."""
    result = await call(_openapi(), "store", {"kind": "draft", "tags": [1, "a"]})
    assert got(result) == {"kind": "draft", "query": {}, "body": {"tags": [1, "a"]}}
    assert events.names == ["call_forwarded"]


async def test_an_unrepairable_call_of_an_openapi_tool_may_be_refused():
    """With ``unrepairable="refuse"``, a call that the description does not allow is refused."""
    refused = await call(_openapi(REFUSE), "store", {"kind": "draft", "tags": []})
    assert code(refused) == "INVALID_KIND_VALUE"
    assert envelope(refused)["details"]["violations"][0]["allowed_values"] == ["note", "task"]


def store(content: str, tags: list[str], limit: int = 3) -> Any:
    """Store a text."""
    return {"content": content, "tags": tags, "limit": limit}


PROXIES = {
    "server": lambda: create_proxy(plain(store, name="backend")),
    "client": lambda: create_proxy(Client(plain(store, name="backend"))),
    "strict_backend": lambda: create_proxy(plain(store, name="backend", strict=True)),
}


@pytest.mark.parametrize("proxy", PROXIES.values(), ids=PROXIES.keys())
async def test_a_proxied_tool_is_lenient(proxy):
    """Calls are repaired to match the backend's published schema."""
    server = proxy()
    server.add_middleware(LenientMiddleware())
    result = await call(server, "store", {"content": "x", "tags": '["a"]', "limit": "4"})
    assert got(result) == {"content": "x", "tags": ["a"], "limit": 4}
    assert sorted(rules(result)) == ["json_text_to_array", "text_to_integer"]
    assert rules(await call(server, "store", {"content": "x", "tags": ["a"]})) == []


async def test_an_unrepairable_call_of_a_proxied_tool_is_forwarded():
    """The backend gets the call unchanged, and its own answer is returned."""
    backend = plain(store, name="backend")
    recorder = Recorder()
    backend.add_middleware(recorder)
    server = create_proxy(backend)
    server.add_middleware(LenientMiddleware())
    result = await call(server, "store", {"content": "x", "tags": 5})
    assert result.is_error
    assert "mcp_lenient" not in (result.meta or {})
    assert recorder.arguments == [{"content": "x", "tags": 5}]


async def test_a_proxy_may_refuse_for_its_backend():
    """With ``unrepairable="refuse"`` the backend is not called, and the caller gets the envelope."""
    backend = plain(store, name="backend")
    recorder = Recorder()
    backend.add_middleware(recorder)
    server = create_proxy(backend)
    server.add_middleware(LenientMiddleware(REFUSE))
    assert code(await call(server, "store", {"content": "x", "tags": 5})) == "INVALID_TAGS_TYPE"
    assert recorder.arguments == []


async def test_a_lenient_backend_answers_through_its_proxy():
    """A plain proxy passes on the repairs and envelopes of a lenient backend."""
    server = create_proxy(lenient(store, name="backend"))
    assert rules(await call(server, "store", {"content": "x", "tags": '["a"]'})) == ["json_text_to_array"]
    assert code(await call(server, "store", {"content": "x", "tags": 5})) == "INVALID_TAGS_TYPE"


async def _custom(**kwargs: Any) -> ToolResult:
    return await forward(**kwargs)


async def _reversed(tags: list[str]) -> ToolResult:
    return await forward(tags=tags[::-1])


def _transformed(*, name: str = "changed", transform_fn: Any = None, **changes: ArgTransform) -> Tool:
    parent = Tool.from_function(store)
    return Tool.from_tool(parent, name=name, transform_args=changes, transform_fn=transform_fn)


TRANSFORMS = [
    pytest.param(
        _transformed(tags=ArgTransform(name="labels")),
        {"content": "x", "labels": '["a"]'},
        {"content": "x", "tags": ["a"], "limit": 3},
        id="renamed",
    ),
    pytest.param(
        _transformed(content=ArgTransform(name="tags"), tags=ArgTransform(name="content")),
        {"content": '["a"]', "tags": '["b"]'},
        {"content": '["b"]', "tags": ["a"], "limit": 3},
        id="swapped",
    ),
    pytest.param(
        _transformed(content=ArgTransform(hide=True, default="hidden")),
        {"tags": '["a"]'},
        {"content": "hidden", "tags": ["a"], "limit": 3},
        id="hidden",
    ),
    pytest.param(
        _transformed(content=ArgTransform(default="filled")),
        {"tags": '["a"]'},
        {"content": "filled", "tags": ["a"], "limit": 3},
        id="default",
    ),
    pytest.param(
        _transformed(limit=ArgTransform(required=True)),
        {"content": "x", "tags": '["a"]', "limit": 1},
        {"content": "x", "tags": ["a"], "limit": 1},
        id="required",
    ),
    pytest.param(
        _transformed(transform_fn=_custom),
        {"content": "x", "tags": '["a"]'},
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
    server = lenient(tool)
    result = await call(server, "changed", sent)
    assert got(result) == expected
    assert rules(result) == ["json_text_to_array"]


@pytest.mark.parametrize("tool", [_transformed(tags=ArgTransform(name="labels"))], ids=["renamed"])
@pytest.mark.parametrize(
    ("sent", "error"),
    [
        pytest.param({"content": "x", "labels": 5}, "INVALID_LABELS_TYPE", id="wrong"),
        pytest.param({"content": "x"}, "MISSING_LABELS", id="missing"),
        pytest.param({"content": "x", "labels": [], "height": []}, "UNKNOWN_PARAMETER", id="unknown"),
    ],
)
async def test_envelopes_use_a_transformed_tools_published_names(tool, sent, error):
    """The envelope names the parameters that the caller sees."""
    refused = await call(lenient(tool), "changed", sent)
    assert code(refused) == error
    assert "tags" not in envelope(refused)["message"]


async def test_transforms_of_a_whole_server_are_lenient():
    """Calls are repaired if a server's transforms rename the tool and add a namespace."""
    server = lenient(store)
    change = ToolTransformConfig(name="keep", arguments={"tags": ArgTransformConfig(name="labels")})
    server.add_transform(ToolTransform({"store": change}))
    server.add_transform(Namespace("n"))
    result = await call(server, "n_keep", {"content": "x", "labels": "a"})
    assert got(result) == {"content": "x", "tags": ["a"], "limit": 3}
    assert code(await call(server, "n_keep", {"content": "x", "labels": 5})) == "INVALID_LABELS_TYPE"


async def test_a_custom_tool_is_lenient():
    """Calls of a custom tool class are repaired to match its schema."""
    server = lenient(published(tags={"type": "array", "items": {"type": "string"}}, n={"type": "integer"}))
    result = await call(server, "own", {"tags": "a", "n": "5"})
    assert got(result) == {"got": {"tags": ["a"], "n": 5}}
    assert sorted(rules(result)) == ["scalar_to_array", "text_to_integer"]
