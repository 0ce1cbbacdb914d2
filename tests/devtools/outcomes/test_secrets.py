"""Test that a secret in a declared or secret-named parameter is in no log, record, recording, outcome, store or page."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Annotated

from exported_logs import exported_logs
from fastmcp import Client, FastMCP
from pydantic import BaseModel, Field, SecretStr

from mcp_lenient import LenientMiddleware, Policy, configure_logging, lenient
from mcp_lenient.cli import run
from mcp_lenient.devtools.report import page, read_report
from mcp_lenient.normalizers import aliases
from mcp_lenient.telemetry.setup import reset_logging

POLICY = Policy(secret=["own"])


class Login(BaseModel):
    """A model with secret fields."""

    user: str = ""
    word: SecretStr = SecretStr("")
    code: Annotated[int, Field(json_schema_extra={"writeOnly": True})] = 0


@lenient(key=aliases("kx"), password=aliases("pwx"))
def login(
    limit: int = 1,
    key: SecretStr | None = None,
    password: str = "",
    pins: list[SecretStr] | None = None,
    pin: Annotated[int, Field(json_schema_extra={"writeOnly": True})] = 0,
    level: Annotated[str, Field(pattern="^[ab]$", json_schema_extra={"format": "password"})] = "a",
    own: str = "",
    who: Login | None = None,
    logins: list[Login] | None = None,
    settings: dict[str, str] | None = None,
    headers: list[dict[str, str]] | None = None,
    lines: list[str] | None = None,
    url: str = "",
    note: str = "",
    free: dict | None = None,
) -> None:
    """Log in."""


def fails(password: str, limit: int = 1) -> None:
    """Fail with the password in the text of the error."""
    msg = f"cannot log in with {password}, {limit}"
    raise ValueError(msg)


async def made(calls, folder):
    """Make the calls of a server that logs, records and exports into this folder."""
    server = FastMCP("notes", middleware=[LenientMiddleware(record=folder / "calls.jsonl", policy=POLICY)])
    for tool in (login, fails):
        server.tool(tool)
    configure_logging(file=folder / "events.jsonl", accepted=1.0)
    try:
        with exported_logs() as exporter:
            async with Client(server) as client:
                for call in calls:
                    sent = dict(call)
                    await client.call_tool(sent.pop("tool", "login"), sent, raise_on_error=False)
    finally:
        reset_logging()
    records = [each.to_json() for each in exporter.get_finished_logs()]
    (folder / "records.json").write_text("".join(records), encoding="utf-8")


def forms(s):
    """Return calls, each with another secret; ``s`` returns the next."""
    wrong = {"limit": "many"}
    return [
        {"key": s()},
        {"key": s(), **wrong},
        {"key": [s()]},
        {"key": {"value": s()}},
        {"password": {s(): s()}},
        {"password": [[s()], {"a": s()}]},
        {"kx": s(), "pwx": s()},
        {"kx": {"a": s()}, **wrong},
        {"pins": [s(), s()]},
        {"pins": s()},
        {"pins": json.dumps([s()])},
        {"pins": f"['{s()}'"},
        {"pin": s(int)},
        {"pin": str(s(int))},
        {"pin": s(int) + 0.5},
        {"pin": f"{s(int)}x"},
        {"pin": {str(s(int)): 1}},
        {"level": s()},
        {"level": f" {s()} "},
        {"own": s(), **wrong},
        {"OWN": s()},
        {"who": {"word": s(), "code": s(int)}},
        {"who": {"user": ["x"], "word": s(), "code": str(s(int))}},
        {"who": json.dumps({"word": s()})},
        {"who": json.dumps(json.dumps({"word": s()}))},
        {"who": f"```json\n{json.dumps({'word': s()})}\n```"},
        {"who": f"{{'word': '{s()}'}}"},
        {"who": {"Word": s()}},
        {"who": {"wrod": s()}},
        {"who.word": s()},
        {"who[word]": s()},
        {"who": s()},
        {"logins": [{"word": s()}, {"word": [s()]}]},
        {"logins": {"word": s()}},
        {"logins": s()},
        {"logins": ["x", s()]},
        {"settings": {"api_key": s(), "limit": "3"}},
        {"settings": {"token": {"a": s()}}},
        {"settings": json.dumps({"token": s()})},
        {"settings": {"authToken": base64.b64encode(s().encode()).decode()}},
        {"settings": {"URL": f"postgres://bob:{s()}@host/db"}},
        {"headers": [{"name": "Authorization", "value": s()}]},
        {"headers": [{"key": "x-api-key", "val": s()}, {"Authorization": s()}]},
        {"headers": {"Authorization": f"Bearer {s()}"}},
        {"lines": [f"Authorization: Bearer {s()}"]},
        {"lines": [f"PASSWORD={s()}", "x"]},
        {"lines": ["--password", s()]},
        {"lines": [f"--api-key={s()}", f"curl --token {s()} x"]},
        {"lines": ["DB_PASSWORD", s()]},
        {"url": f"https://bob:{s()}@host/x", **wrong},
        {"url": f"https://host/x?access_token={s()}&limit=3"},
        {"url": f"https://host/x#api_key={s()}"},
        {"note": f"mysql://root:{s()}@db and so on", **wrong},
        {"note": json.dumps({"password": s()})},
        {"note": f'send {{"password": "{s()}"}} there'},
        {"note": f"the password: {s()}"},
        {"free": {"password": {"deep": [{"x": s()}]}}},
        {"free": {"a": [{"client_secret": s()}]}},
        {"free": {"a": json.dumps([{"client_secret": s()}])}},
        {"api_kye": s()},
        {"passwrod": s(), "password": ""},
        {"Password": s()},
        {"PASSWORD ": s()},
        {"pa\uff53sword": s()},
        {"x": {"password": s()}},
        {"toolCallId": "t", "token": s()},
        {"args": {"password": s()}},
        {"input": json.dumps({"password": s(), "limit": "3"})},
        {"arguments": f"{{password: '{s()}'}}"},
        {json.dumps({"password": s()}): ""},
        {"name": "login", "arguments": {"password": s()}},
        {"password": f"{s()}\x00\n{s()}"},
        {"password": s(), "tool": "fails"},
        {"password": s(), "tool": "fails", "limit": "3"},
        {"password": s(), "tool": "fial"},
        {"password": s(), "limit": 1e30},
    ]


def test_no_secret_is_kept_in_whatever_form_it_was_sent(tmp_path, capfd):
    secrets: list[str] = []

    def secret(kind=str):
        secrets.append(f"Zq{len(secrets):03}xKw7vR" if kind is str else f"7{len(secrets):03}4194")
        return kind(secrets[-1])

    calls = forms(secret)
    asyncio.run(made(calls, tmp_path))
    recorded, saved = tmp_path / "calls.jsonl", tmp_path / "a.json"
    assert len(recorded.read_text("utf-8").splitlines()) >= len(calls) - 1
    report = read_report([tmp_path / "events.jsonl"], store=tmp_path / "store")
    assert report.calls >= len(calls)
    policy = tmp_path / "tools.yaml"
    policy.write_text("policy: {secret: [own]}\n", encoding="utf-8")
    # The same calls, not recorded but as a file of one's own.
    schemas = {
        row["tool"]: row["schema"]
        for row in map(json.loads, recorded.read_text("utf-8").splitlines())
        if "schema" in row
    }
    own = [{"tool": "login", "schema": schemas["login"], "sent": {**each}} for each in calls]
    (tmp_path.parent / "own.json").write_text(json.dumps(own))
    for file, to in ((recorded, saved), (tmp_path.parent / "own.json", tmp_path / "b.json")):
        assert run(["outcomes", str(file), "--save", str(to), "--config", str(policy)]) == 0
        assert run(["outcomes", str(file), "--against", str(saved), "--top", "1000"]) in (0, 1)
    kept = {
        str(each.relative_to(tmp_path)): each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()
    }
    kept |= {"page": page(report).encode(), "shown": capfd.readouterr().out.encode()}
    leaks = [(each, name) for each in secrets for name, content in kept.items() if each.encode() in content]
    assert leaks == []
