"""Test that no log, span or metric repeats a value from text that a client chooses."""

from __future__ import annotations

import pytest
from attack.recording import records_of
from calls import lenient
from exported_spans import exported_spans
from fastmcp import Client
from mcp.types import Implementation
from opentelemetry.trace import SpanKind
from pydantic import BaseModel, ConfigDict, SecretStr
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
    pytest.param("password:{}", id="colon"),
    pytest.param("password {}", id="space"),
    pytest.param("password，{}", id="full-width comma"),
    pytest.param("t\n{0}\x1b[31m" + "{0}" * 40, id="long"),
]


@pytest.mark.parametrize("form", _VALUES)
async def test_the_name_of_an_unknown_tool_or_key(form, log):
    """A name that contains a value is not in a log or a span, at any depth, and that of a tool not in the answer."""
    name = form.format(SECRET)
    keys = ({name: 1}, {"rows": [{name: "x"}]}, {"rows": [{name: "5"}]})
    inside = {"account": {"user": "a", "password": "b", name: 5}}
    known = [("sign_in", sent) for sent in (*keys, inside)]
    recorded, _ = await records_of(log, lenient(sign_in), *known)
    assert "unknown" in recorded
    unknown, reported = await records_of(log, lenient(sign_in), (name, {}))
    assert "UNKNOWN_TOOL" in unknown
    assert SECRET not in recorded + unknown + reported


@pytest.mark.parametrize("form", _VALUES)
async def test_the_client_information(form, log):
    """A client name or version that contains a value is masked."""
    info = Implementation(name=form.format(SECRET), version=form.format(SECRET))
    recorded, _ = await records_of(log, lenient(sign_in), ("sign_in", {"count": []}), client_info=info)
    assert "client_name" in recorded
    assert SECRET not in recorded


@pytest.mark.parametrize("kind", ["stateful", "stateless", "modern"])
@pytest.mark.parametrize("form", _VALUES[:2])
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
