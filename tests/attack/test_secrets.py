"""Plant a secret in every position of a call, and check where it may appear."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from attack.recording import records_of
from calls import lenient, published
from fastmcp import Client, FastMCP
from pydantic import AfterValidator, BaseModel, Field, SecretStr, model_validator
from tables import INTEGER, STRING, closed, each_row, opened

from mcp_lenient import LenientMiddleware, NormalizationError, Policy, normalize
from mcp_lenient.normalizers import from_function

SECRET = "hunter2-Tr0ub4dor"  # noqa: S105 - not a real secret
LONG = f"{SECRET} {'x' * 200}"


def _told_by_author(value: str) -> str:
    msg = f"I do not like {value}"
    raise ValueError(msg)


class Account(BaseModel):
    """A model with a secret field."""

    user: str
    password: SecretStr
    pin: Annotated[int, Field(json_schema_extra={"writeOnly": True})] = 0


def sign_in(
    account: Account | None = None,
    password: Annotated[int, Field(ge=1)] = 1,
    api_key: Annotated[str, AfterValidator(_told_by_author)] = "",
    tags: list[int] | None = None,
    rows: list[dict[str, int]] | None = None,
    count: int = 0,
    mode: Annotated[str, Field(json_schema_extra={"format": "password"})] = "a",
) -> str:
    """Return parameters of every kind."""
    return "done" if (account, password, api_key, tags, rows, count, mode) else ""


# Neither a log nor the caller may see these again.
NOWHERE = [
    pytest.param({"password": SECRET}, id="secret name"),
    pytest.param({"password": [SECRET]}, id="in a list under a secret name"),
    pytest.param({"password": {"a": {"b": SECRET}}}, id="deep under a secret name"),
    pytest.param({"passwrod": SECRET}, id="misspelt secret name"),
    pytest.param({"apiKey": SECRET}, id="secret name in another case"),
    pytest.param({"api_key": SECRET}, id="an author's sentence about a secret"),
    pytest.param({"api_kye": SECRET}, id="undeclared name"),
    pytest.param({"other": {"a": SECRET}}, id="under an undeclared name"),
    pytest.param({"toolCallId": SECRET, "count": "x"}, id="injected key"),
    pytest.param({"account": {"user": "a", "password": [SECRET]}}, id="SecretStr in a model"),
    pytest.param({"account": {"user": 5, "password": SECRET}}, id="beside what is wrong in a model"),
    pytest.param({"account": {"user": "a", "password": "a", "pin": SECRET}}, id="writeOnly"),
    pytest.param({"account": f'{{"user": 5, "password": "{SECRET}"}}'}, id="in text for a model"),
    pytest.param({"account": f'{{"user": "a", "password": "{SECRET}'}, id="in cut-off text for a model"),
    pytest.param({"account": f"user=a password={SECRET}"}, id="in text that is no JSON for a model"),
    pytest.param({"tags": f'["{SECRET}"'}, id="in cut-off text for a list"),
    pytest.param({"rows": [{"a": {"b": SECRET}}]}, id="deep in rows"),
    pytest.param({"rows": f'[{{"a": "{LONG}"}}]'}, id="in text for rows"),
    pytest.param({"count": LONG}, id="long text"),
    pytest.param({"mode": [SECRET]}, id="format password"),
    pytest.param({"args": {"password": SECRET, "count": "x"}}, id="in wrapped arguments"),
    pytest.param({"input": f'{{"password": "{SECRET}"}}'}, id="in wrapped text"),
    pytest.param({f'{{"password": "{SECRET}"}}': ""}, id="arguments as a key"),
    pytest.param({"arguments": f"[{SECRET}"}, id="in text that is no JSON for the arguments"),
]
# The envelope may repeat these to the caller who sent them, but no log or span may.
CALLER_ONLY = [
    pytest.param({"tags": f'["{SECRET}", 1]'}, id="item of a list that came as text"),
    pytest.param({"count": SECRET}, id="short text"),
    pytest.param({"tags": [SECRET]}, id="item"),
    pytest.param({"rows": [{"a": SECRET}]}, id="value of a map"),
]


@pytest.mark.parametrize("arguments", NOWHERE)
async def test_the_secret_appears_nowhere(arguments, log):
    """A secret, undeclared or long value, or text for a container, is not in a log, a span or the answer."""
    recorded, reported = await records_of(log, lenient(sign_in), ("sign_in", arguments))
    assert "sign_in" in recorded
    assert SECRET not in recorded
    assert SECRET not in reported


@pytest.mark.parametrize("arguments", CALLER_ONLY)
async def test_the_value_appears_only_in_the_answer(arguments, log):
    """A short scalar of a declared parameter may be in the answer, but not in a log or a span."""
    recorded, _ = await records_of(log, lenient(sign_in), ("sign_in", arguments))
    assert log
    assert SECRET not in recorded


@pytest.mark.parametrize("arguments", [*NOWHERE, *CALLER_ONLY])
async def test_the_published_schema_leaks_no_more(arguments, log):
    """If only a schema is known, the log and the spans do not show the secret either."""
    schema = {"password": {"type": "integer"}, "count": {"type": "integer"}, "tags": {"type": "array"}}
    recorded, _ = await records_of(log, lenient(published(**schema)), ("own", arguments))
    assert log
    assert SECRET not in recorded


def _refuse(value: Any) -> Any:
    code = "NO_GOOD"
    raise NormalizationError(code, f"{value} is no good")


def tool(count: Annotated[int, from_function(_refuse)]) -> int:
    """Return the count. The author's normalizer repeats what it refuses."""
    return count


async def test_normalizer_errors_are_not_logged(log):
    """A normalizer's own error, which repeats the value, is not in a log or a span."""
    recorded, _ = await records_of(log, lenient(tool), ("tool", {"count": SECRET}))
    assert SECRET not in recorded


_SEARCH = closed("query", query=STRING)


@each_row("name", ["password", "api_key", "token", "authorization", "x-api-key"])
def test_no_fix_moves_a_secret_to_an_ordinary_name(name):
    """No fix moves the value of a secret name to another parameter."""
    found = normalize(_SEARCH, {name: "hunter2"}).violations
    assert all(operation["op"] != "move" for each in found for patch in each.fixes for operation in patch)


def test_no_fix_moves_an_ambiguous_identifier():
    """A bare id may belong to several parameters, so no fix moves it."""
    schema = closed("query", query=STRING, session_id=STRING, user_id=STRING)
    found = normalize(schema, {"query": "x", "id": "7"}).violations
    assert all(operation["op"] != "move" for each in found for patch in each.fixes for operation in patch)


@each_row(
    "key",
    [
        '{"query": "x", "password": "hunter2"',
        '{"password": "hunter2"}',
        "password: hunter2",
        "query=x&password=hunter2",
        "Authorization Bearer hunter2",
    ],
)
@each_row("policy", [Policy(), Policy.strict(), Policy(echo_values=False)])
def test_arguments_sent_as_a_key_are_not_repeated(key, policy):
    """Arguments sent as a key are reported without their text, and no fix treats them as a name."""
    found = normalize(_SEARCH, {key: ""}, policy).violations
    assert found
    assert "hunter2" not in repr(found)
    assert not any(operation["op"] == "move" for each in found for patch in each.fixes for operation in patch)


@each_row("code", ["BAD_hunter2", "", "A" * 101, "BAD CODE", 5])
def test_a_code_has_the_form_of_a_code(code):
    """An error code, which is logged, cannot contain an arbitrary value."""
    with pytest.raises(ValueError, match="NormalizationError: code"):
        NormalizationError(code, "no")


class Login(BaseModel):
    """A login whose validator repeats part of the password."""

    password: str

    @model_validator(mode="after")
    def fail(self):
        msg = f"bad {self.password[:5]}"
        raise ValueError(msg)


async def test_a_validators_message_about_an_object_with_a_secret_is_not_repeated():
    """Part of a secret in an author's message is not text of the call, but must not be repeated either."""
    server = FastMCP("logins")
    server.add_middleware(LenientMiddleware())

    def sign_in(login: Login) -> str:
        return str(login)

    server.tool(sign_in)
    async with Client(server) as client:
        answer = await client.call_tool("sign_in", {"login": {"password": "hunter2"}}, raise_on_error=False)
    assert answer.is_error
    assert "hunte" not in answer.content[0].text


def test_a_map_key_that_contains_a_value_is_not_repeated():
    """A map key that contains a name and a value is not repeated."""
    schema = opened(m={"type": "object", "additionalProperties": INTEGER})
    assert "hunter2" not in repr(normalize(schema, {"m": {"password:hunter2": "x"}}).violations)
