"""Test that no log, span or metric repeats a value from text that a client chooses."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from calls import lenient
from exported_spans import exported_spans
from fastmcp import Client
from mcp.types import Implementation
from opentelemetry.trace import SpanKind
from pydantic import BaseModel, ConfigDict, Field, SecretStr
from wire import http

from mcp_lenient import LenientMiddleware, Policy, configure_logging
from mcp_lenient.telemetry.setup import reset_logging

SECRET = "hunter2-Tr0ub4dor"  # noqa: S105 - not a real secret


class Account(BaseModel):
    """A model with a secret field."""

    model_config = ConfigDict(extra="forbid")

    user: str
    password: SecretStr


def sign_in(account: Account | None = None, rows: list[dict[str, int]] | None = None, count: int = 0) -> str:
    """Return parameters of several kinds."""
    return f"{account}{rows}{count}"


_VALUES = [
    pytest.param('{{"password": "{}"}}', id="JSON"),
    pytest.param("search(password='{}')", id="a call"),
    pytest.param("password:{}", id="colon"),
    pytest.param("password={}", id="equals sign"),
    pytest.param("password {}", id="space"),
    pytest.param("<password>{}</password>", id="markup"),
    pytest.param("password\n{}", id="line"),
    pytest.param("password，{}", id="full-width comma"),
]


async def _recorded(log: list[str], *calls: tuple[str, dict[str, Any]], **client: Any) -> tuple[str, str]:
    """Return everything recorded of these calls, and all answers."""
    answers = ""
    with exported_spans() as spans:
        async with Client(lenient(sign_in), **client) as own:
            for name, arguments in calls:
                answers += (await own.call_tool_mcp(name, arguments)).model_dump_json()
        served = [span for span in spans.get_finished_spans() if span.kind is not SpanKind.CLIENT]
    assert served
    return "".join(log) + "".join(span.to_json() for span in served), answers


@pytest.mark.parametrize("form", _VALUES)
async def test_the_name_of_an_unknown_tool(form, log):
    """A tool name that contains a value is not in a log, a span or the envelope."""
    recorded, reported = await _recorded(log, (form.format(SECRET), {}))
    assert "UNKNOWN_TOOL" in recorded
    assert SECRET not in recorded
    assert SECRET not in reported


@pytest.mark.parametrize("form", _VALUES)
async def test_an_undeclared_key(form, log):
    """A key that contains a value is not in a log or a span, at any depth."""
    key = form.format(SECRET)
    recorded, _ = await _recorded(
        log,
        ("sign_in", {key: 1}),
        ("sign_in", {"rows": [{key: "x"}]}),
        ("sign_in", {"rows": [{key: "5"}]}),
        ("sign_in", {"account": {"user": "a", "password": "b", key: 5}}),
    )
    assert "unknown" in recorded
    assert SECRET not in recorded


@pytest.mark.parametrize("form", _VALUES)
async def test_the_client_information(form, log):
    """A client name or version that contains a value is masked."""
    info = Implementation(name=form.format(SECRET), version=form.format(SECRET))
    recorded, _ = await _recorded(log, ("sign_in", {"count": []}), client_info=info)
    assert "client_name" in recorded
    assert SECRET not in recorded


@pytest.mark.parametrize("kind", ["stateful", "stateless", "modern"])
@pytest.mark.parametrize("form", _VALUES[:4])
def test_ids_and_metadata(kind, form, tmp_path):
    """The request id, progress token, metadata and requested version are masked or not recorded."""
    text = form.format(SECRET)
    file = tmp_path / "events.jsonl"
    configure_logging(file=file)
    try:
        with http(lenient(sign_in), kind) as wire:
            params = {
                "name": "sign_in",
                "arguments": {"count": []},
                "_meta": {"progressToken": text, text: text, "fastmcp": {"version": text}},
            }
            body = wire.prepared("tools/call", params)
            wire._client.send(body)
            for meta in ({"fastmcp": {"version": {text: text}}}, {"fastmcp": text}, {"fastmcp": [text]}):
                wire._client.send(wire.prepared("tools/call", {**params, "_meta": meta}))
            wire._client.send(wire.prepared("resources/read", {"uri": f"note://{SECRET}"}))
    finally:
        reset_logging()
    assert SECRET not in (file.read_text() if file.exists() else "")


async def test_keys_of_a_secret_map(log):
    """Keys of a map with a secret name are not in a log or a span, for repaired and for refused calls."""

    def store(
        credentials: dict[str, list[int]] | None = None,
        clientsecrets: list[dict[str, list[int]]] | None = None,
        vault: dict[str, list[int]] | None = None,
    ) -> str:
        return f"{credentials}{clientsecrets}{vault}"

    server = lenient(store)
    policy = Policy(secret={"vault"})
    server.middleware[:] = [LenientMiddleware(policy)]
    with exported_spans() as spans:
        async with Client(server) as client:
            for value in ("5", "x", {"a": 1}, "[1]"):
                await client.call_tool_mcp("store", {"credentials": {"hunter": value}})
                await client.call_tool_mcp("store", {"clientsecrets": [{"hunter": value}]})
                await client.call_tool_mcp("store", {"vault": {"hunter": value}})
        recorded = "".join(log) + "".join(
            span.to_json() for span in spans.get_finished_spans() if span.kind is not SpanKind.CLIENT
        )
    assert "call_rejected" in recorded
    assert "call_repaired" in recorded
    assert "hunter" not in recorded


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"credentials": {"a": SECRET}}, id="map"),
        pytest.param({"credentials": {"a": {"b": [SECRET]}}}, id="deep in a map"),
        pytest.param({"passkeys": [SECRET]}, id="list"),
        pytest.param({"passkeys": [[{"a": SECRET}]]}, id="deep in a list"),
        pytest.param({"clientsecret": SECRET}, id="run together"),
        pytest.param({"connection_string": SECRET}, id="connection string"),
        pytest.param({"card_number": SECRET}, id="card number"),
        pytest.param({"login": {"dbpassword": SECRET}}, id="in a model"),
        pytest.param({"credentials": {SECRET: "x"}}, id="key of a map"),
        pytest.param({"credentials": {SECRET: {"a": []}}}, id="deep key of a map"),
        pytest.param({"passkeys": [{SECRET: 1}]}, id="key in a list"),
        pytest.param({"credentials": {SECRET: "x", "b": "y"}}, id="one key of several"),
    ],
)
async def test_values_below_a_secret_name_are_never_echoed(arguments, log):
    """Neither values nor keys under a secret name are in a log, a span or the answer."""

    def store(
        credentials: dict[str, int] | None = None,
        passkeys: list[int] | None = None,
        clientsecret: int = 0,
        connection_string: int = 0,
        card_number: Annotated[int, Field(ge=1)] = 1,
        login: dict[str, int] | None = None,
    ) -> str:
        return f"{credentials}{passkeys}{clientsecret}{connection_string}{card_number}{login}"

    async with Client(lenient(store)) as client:
        answer = await client.call_tool_mcp("store", arguments)
    assert answer.is_error
    assert SECRET not in "".join(log)
    assert SECRET not in answer.model_dump_json()
    assert json.loads(answer.content[0].text)["details"]["violations"]
