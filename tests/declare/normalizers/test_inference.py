"""``infer()`` reads texts where the schema says no type, and nowhere else."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from fastmcp import Client, FastMCP
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from mcp_lenient import LenientMiddleware, Policy, lenient, lenient_session, normalize
from mcp_lenient.normalizers import infer, tags

SCHEMA = {
    "type": "object",
    "properties": {
        "free": {"description": "Anything."},
        "text": {"type": "string"},
        "either": {"anyOf": [{}]},
    },
}
EVERYWHERE = Policy(infer_untyped=True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("-1", -1),
        ("0", 0),
        ("3.14", 3.14),
        ("1.0", 1.0),
        ("999999999999999", 999_999_999_999_999),
        ("true", True),
        ("False", False),
        ('["a", 1]', ["a", 1]),
        ('{"a": [0.1, -1, null]}', {"a": [0.1, -1, None]}),
    ],
)
def test_a_text_that_can_be_spelled_in_one_way_is_inferred(text, value):
    """Numbers, booleans and JSON text become what they spell."""
    assert (infer()(text), type(infer()(text))) == (value, type(value))


@pytest.mark.parametrize(
    "text",
    [
        *"007 +1 1e5 3.10 -0 .5 5. 1_000 1,000 1000000000000000 0.1234567890123456 null None NaN yes TRUE [a {x".split(),
        *(
            "0x10",
            "\uff14\uff12",
            "",
            " 42",
            "42 ",
            "[1] and more",
            "[1] ",
            "{'a': None}",
            "[1,]",
            "[1] // one",
        ),
        *("[1.10]", '{"a": [1E2]}', "[-0]", '{"a": 1, "a": 2}', "[1e400]", "[NaN]", "[1.123456789012345678]"),
    ],
)
def test_any_other_text_stays_text(text):
    """What may be an identifier, a version, or would lose a digit, is not read."""
    assert infer()(text) == text


@given(st.text() | st.integers() | st.floats(allow_nan=False) | st.booleans() | st.none())
def test_what_is_inferred_is_written_as_it_was_sent(value):
    """A number is spelled as its text was, and what is inferred once stays as it is."""
    inferred = infer()(value)
    assert infer()(inferred) == inferred
    if isinstance(value, str) and isinstance(inferred, (int, float)):
        assert str(inferred) in {value, value.title()}


def test_the_policy_infers_where_the_schema_says_no_type():
    """With the setting untyped parameters are read, others and all without the setting are not."""
    sent = {"free": "42", "text": "42", "either": "42"}
    result = normalize(SCHEMA, sent, EVERYWHERE)
    assert result.arguments == {**sent, "free": 42}
    assert [(repair.rule, repair.pointer) for repair in result.repairs] == [("infer", "/free")]
    assert normalize(SCHEMA, sent).arguments is sent
    assert normalize(SCHEMA, '{"free": "true"}', EVERYWHERE).arguments == {"free": True}
    assert normalize(SCHEMA, {"free": "1", "text": 5}, EVERYWHERE).arguments == {"free": 1, "text": "5"}


def served(policy=None, **settings):
    """A server whose tool returns what arrived."""
    mcp = FastMCP("untyped", middleware=[LenientMiddleware(policy, **settings)])

    @mcp.tool
    @lenient(declared=infer(), typed=infer(), labels=tags())
    def echo(
        free: Any = None,
        declared: Any = None,
        typed: str | int = "",
        labels: Any = None,
        marked: Annotated[Any, infer()] = None,
        both: Annotated[str | int, infer()] = "",
    ) -> dict[str, Any]:
        """Return the arguments."""
        return {
            "free": free,
            "declared": declared,
            "typed": typed,
            "labels": labels,
            "marked": marked,
            "both": both,
        }

    return mcp


SENT = dict.fromkeys(("free", "declared", "typed", "marked", "both"), "42") | {"labels": "true"}
DECLARED = SENT | {"declared": 42, "marked": 42, "labels": ["true"]}


@pytest.mark.parametrize(("policy", "got"), [(None, DECLARED), (EVERYWHERE, DECLARED | {"free": 42})])
async def test_a_server_infers_where_it_is_declared_or_the_policy_says_so(policy, got):
    """A parameter with a type, or with another normalizer, is left alone."""
    async with Client(served(policy)) as client:
        assert (await client.call_tool("echo", SENT)).data == got


async def test_a_definitions_file_infers(tmp_path):
    """``infer`` is a field of a parameter, and ``infer_untyped`` one of the policy; a typed parameter is left alone."""
    file = tmp_path / "tools.yaml"
    file.write_text(
        "tools: {echo: {parameters: {free: {infer: true}, both: {infer: true}}}}", encoding="utf-8"
    )
    async with Client(served(definitions=file)) as client:
        assert (await client.call_tool("echo", SENT)).data == DECLARED | {"free": 42}
    file.write_text("policy: {infer_untyped: true}", encoding="utf-8")
    async with Client(served(definitions=file)) as client:
        assert (await client.call_tool("echo", SENT)).data == DECLARED | {"free": 42}


async def test_a_client_infers_for_a_server_without_types():
    """A session with the policy reads what it sends to a server that knows nothing of it."""
    bare = FastMCP("bare")

    @bare.tool
    def double(n: Any) -> Any:
        """Double."""
        return n * 2

    async with Client(bare) as client:
        assert (await lenient_session(client, EVERYWHERE).call_tool("double", {"n": "21"})).content[
            0
        ].text == "42"
        assert (await lenient_session(client).call_tool("double", {"n": "21"})).content[0].text == "2121"


def test_as_an_annotation_it_leaves_a_type_alone():
    """Without a middleware, too, it reads texts only where the type says nothing."""
    assert TypeAdapter(Annotated[Any, infer()]).validate_python("42") == 42
    assert TypeAdapter(Annotated[str | int, infer()]).validate_python("42") == "42"
