"""``@lenient(policy=...)``: the policy of one tool."""

from __future__ import annotations

import pytest
from calls import call, code, envelope, got, plain
from calls import lenient as lenient_server

from mcp_lenient import DEFAULT_RULES, LenientMiddleware, Policy, lenient
from mcp_lenient.normalizers import tags


def store(content: str, tags: list[str] | None = None, limit: int = 5) -> list[str]:
    """Store a text."""
    return [content, *(tags or []), str(limit)]


@pytest.mark.parametrize(
    ("policy", "tags_sent"),
    [(Policy(disable={"json_text_to_array"}), '["a"]'), (Policy(destructive=True), "a")],
    ids=["disabled", "destructive"],
)
async def test_the_tools_own_policy(policy, tags_sent, serve):
    """A tool's own policy decides which repairs are allowed, with the middleware and without it."""
    result = await call(serve(lenient(policy=policy)(store)), "store", {"content": "a", "tags": tags_sent})
    assert code(result) == "INVALID_TAGS_TYPE"


async def test_secrets_are_not_echoed(serve):
    """The envelope does not contain the value of a secret parameter."""
    server = serve(lenient(policy=Policy(secret={"limit"}))(store))
    reported = envelope(await call(server, "store", {"content": "a", "limit": "swordfish"}))
    assert "swordfish" not in str(reported)


async def test_normalizers_under_a_strict_policy(serve):
    """Declared normalizers run even if the policy disables all rules."""
    server = serve(lenient(policy=Policy.strict(), tags=tags())(store))
    assert got(await call(server, "store", {"content": "a", "tags": "b"})) == ["a", "b", "5"]
    assert code(await call(server, "store", {"content": "a", "limit": "[5]"})) == "INVALID_LIMIT_TYPE"


async def test_declarations_in_a_file_are_observed_too(events, tmp_path):
    """In observe mode a normalizer from a file is logged, not applied."""
    file = tmp_path / "tools.yaml"
    file.write_text("policy: {mode: observe}\ntools: {store: {parameters: {content: {strip: true}}}}")
    server = plain(store)
    server.add_middleware(LenientMiddleware(definitions=file))
    assert got(await call(server, "store", {"content": " a "})) == [" a ", "5"]
    assert got(await call(server, "store", {"content": "a"})) == ["a", "5"]
    assert events.names == ["call_observed", "call_accepted"]
    assert [repair["rule"] for repair in events[0]["repairs"]] == ["strip"]


async def test_the_operators_pattern_comes_first():
    """A pattern given to the middleware overrides the author's policy."""
    server = lenient_server(lenient(policy=Policy())(store), patterns={"sto*": Policy.strict()})
    assert code(await call(server, "store", {"content": "a", "tags": '["b"]'})) == "INVALID_TAGS_TYPE"


async def test_the_authors_policy_comes_before_the_servers():
    """What the author's policy states overrides the server-wide policy."""
    own = Policy(rules=DEFAULT_RULES)
    server = lenient_server(lenient(policy=own)(store), policy=Policy.strict())
    assert got(await call(server, "store", {"content": "a", "tags": '["b"]'})) == ["a", "b", "5"]
    server = lenient_server(lenient(store), policy=Policy.strict())
    assert code(await call(server, "store", {"content": "a", "tags": '["b"]'})) == "INVALID_TAGS_TYPE"
