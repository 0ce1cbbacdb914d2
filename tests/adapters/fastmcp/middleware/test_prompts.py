"""Arguments of prompts are repaired and refused like those of tools."""

import json
from datetime import date
from typing import Annotated, Any

import pytest
from calls import Log
from fastmcp import Client, Context, FastMCP
from fastmcp.exceptions import FastMCPError, PromptError
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator

from mcp_lenient import LenientMiddleware, Policy
from mcp_lenient.adapters.fastmcp.compat import host


def review(text: str, numbers: list[int], max_results: int = 5, on: date | None = None) -> str:
    """Return the arguments, of several types."""
    return json.dumps([text, numbers, max_results, None if on is None else on.isoformat()])


def served(*middleware: Any, prompt: Any = review) -> FastMCP:
    """Return a server with one prompt."""
    server: FastMCP = FastMCP("prompts", middleware=middleware)
    server.prompt(prompt, name="review")
    return server


async def rendered(server: FastMCP, arguments: dict[str, Any]) -> Any:
    """Return the arguments that the prompt's function got."""
    async with Client(server) as client:
        result = await client.get_prompt("review", arguments)
    return json.loads(result.messages[0].content.text)


async def refused(server: FastMCP, arguments: dict[str, Any]) -> Any:
    """Return the protocol error of a refused request."""
    with pytest.raises(host.MCPError) as caught:
        await rendered(server, arguments)
    return caught.value.error


RIGHT = {"text": "5", "numbers": "[1, 2]"}


async def test_events_of_prompts_have_the_shapes_of_what_was_sent(events: Log):
    """With ``log_values="shapes"`` a repaired prompt is logged with the types and lengths of its texts as they came."""
    server = served(LenientMiddleware(Policy(log_values="shapes")))
    assert await rendered(server, {"text": "a", "numbers": "(1, 2)"}) == ["a", [1, 2], 5, None]
    shapes = [(each["pointer"], each["type"], each["length"]) for each in events[0]["shapes"]]
    assert shapes == [("/text", "string", 1), ("/numbers", "string", 6)]


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        pytest.param({**RIGHT, "max_results": "7"}, ["5", [1, 2], 7, None], id="number"),
        pytest.param({**RIGHT, "text": "[1]"}, ["[1]", [1, 2], 5, None], id="JSON for a text"),
        pytest.param({**RIGHT, "more": "x"}, ["5", [1, 2], 5, None], id="dropped by FastMCP"),
    ],
)
async def test_prompts_fastmcp_renders_are_unchanged(events: Log, sent, got):
    """The function gets what it gets without the middleware, and nothing is logged."""
    assert await rendered(served(LenientMiddleware()), sent) == await rendered(served(), sent) == got
    assert events.names == []


@pytest.mark.parametrize(
    ("sent", "got", "rules"),
    [
        pytest.param(
            {"Text": "a", "numbers": "[1]", "maxResults": "7"},
            ["a", [1], 7, None],
            {"rename_case", "text_to_integer"},
            id="names",
        ),
        pytest.param(
            {"text": "a", "numbers": "[1, 2,]", "on": "null"},
            ["a", [1, 2], 5, None],
            {"json5_text_to_array"},
            id="relaxed JSON",
        ),
    ],
)
async def test_a_nearly_right_prompt_is_rendered(events: Log, sent, got, rules):
    """Arguments that can be read only one way are repaired, and the repair is logged."""
    assert await rendered(served(LenientMiddleware()), sent) == got
    (event,) = events
    assert (event["event"], event["tool"]) == ("call_repaired", "review")
    assert {repair["rule"] for repair in event["repairs"]} >= rules


@pytest.mark.parametrize(
    ("sent", "code", "pointer"),
    [
        pytest.param({"text": "a", "numbers": "one, two"}, "INVALID_NUMBERS_TYPE", "/numbers", id="words"),
        pytest.param({"text": "a"}, "MISSING_NUMBERS", "/numbers", id="missing"),
    ],
)
async def test_unrepairable_requests_get_an_envelope(events: Log, sent, code, pointer):
    """The protocol error has the envelope as text and as data, and names the prompt."""
    error = await refused(served(LenientMiddleware()), sent)
    assert error.code == -32602
    assert json.loads(error.message)["error_code"] == error.data["error_code"] == code
    assert error.data["details"]["prompt"] == "review"
    assert error.data["message"].startswith("Invalid arguments for prompt 'review': ")
    assert [violation["pointer"] for violation in error.data["details"]["violations"]] == [pointer]
    assert events.names == ["call_rejected"]


@pytest.mark.parametrize(
    ("policy", "results", "logged"),
    [
        (Policy(), 5, []),
        (Policy(closed=True), 7, ["call_repaired"]),
        (Policy(closed=True, mode="observe"), 5, ["call_observed"]),
        (Policy(closed=True, mode="off"), 5, []),
    ],
    ids=["default", "closed", "observe", "off"],
)
async def test_a_closed_policy_repairs_a_name_that_fastmcp_drops(policy, results, logged, events: Log):
    """An optional name in another case, sent alone, is renamed; by default FastMCP drops it."""
    sent = {**RIGHT, "maxResults": "7"}
    assert await rendered(served(LenientMiddleware(policy)), sent) == ["5", [1, 2], results, None]
    assert events.names == logged


async def test_a_closed_policy_refuses_an_unknown_name(events: Log):
    """A name that nothing resembles is refused, as for a tool; what FastMCP renders whole is left alone."""
    server = served(LenientMiddleware(Policy(closed=True)))
    assert await rendered(server, RIGHT) == ["5", [1, 2], 5, None]
    assert (await refused(server, {**RIGHT, "more": "x"})).data["error_code"] == "UNKNOWN_PARAMETER"
    assert events.names == ["call_rejected"]


class Person(BaseModel):
    """The type of an object parameter."""

    name: str


def asked(one: list[int], who: Person, *, really: bool, each: dict[str, list[int]] | None = None) -> str:
    """Return the arguments, none of which is a string."""
    return f"{one}{who}{really}{each}"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"one": "1 and 2"}, """'one' must be an array of integers, sent as a string that holds JSON such as "[1, 2]"."""),
        ({"one": None}, """'one' is required but was not sent. It must be an array of integers, sent as a string that holds JSON such as "[1, 2]"."""),
        ({"who": "ann"}, """'who' must be an object, sent as a string that holds JSON such as "{\\"name\\": \\"...\\"}"."""),
        ({"really": "perhaps"}, """'really' must be a boolean, but got the string "perhaps"."""),
        ({"one": '["x"]'}, """'one[0]' must be an integer, but got the string "x"."""),
    ],
    ids=["array", "missing", "object", "boolean", "in JSON"],
)  # fmt: skip
async def test_messages_only_ask_for_strings(wrong, message):
    """Messages ask for strings, since a client can send nothing else to a prompt."""
    sent = {"one": "[1]", "who": '{"name": "ann"}', "really": "true", **wrong}
    sent = {name: text for name, text in sent.items() if text is not None}
    (violation,) = (await refused(served(LenientMiddleware(), prompt=asked), sent)).data["details"][
        "violations"
    ]
    assert violation["message"] == message


@pytest.mark.parametrize(("mode", "logged"), [("observe", ["call_observed"]), ("off", [])])
async def test_other_modes_change_nothing(events: Log, mode, logged):
    """In observe and off mode, FastMCP answers as without the middleware."""
    error = await refused(served(LenientMiddleware(Policy(mode=mode))), {"text": "a", "numbers": "[1,]"})
    assert "prompt" not in str(error.data)
    assert events.names == logged


async def test_fixes_contain_strings():
    """A fix for a prompt's argument is a string, and applying it gives a valid request."""

    def tagged(tags: list[str]) -> str:
        return json.dumps(tags)

    server = served(LenientMiddleware(), prompt=tagged)
    ((step,), *_) = (await refused(server, {"tags": "a, b"})).data["details"]["violations"][0]["fixes"]
    assert (step["path"], step["value"]) == ("/tags", '["a", "b"]')
    assert await rendered(server, {"tags": step["value"]}) == ["a", "b"]


def parts(text: Any) -> Any:
    """Split a text, and raise for one of them as a buggy validator would."""
    if text == "fault":
        raise KeyError(text)
    return text.split("/") if isinstance(text, str) else text


def lax(
    number: int,
    whole: bool = False,  # noqa: FBT002
    folder: Annotated[list[str], BeforeValidator(parts)] = [],  # noqa: B006 - as FastMCP's authors write
    seen: set[int] = set(),  # noqa: B006
) -> str:
    """Return the arguments, whose types accept more than their schema says."""
    return json.dumps([number, whole, folder, sorted(seen)])


@pytest.mark.parametrize(
    ("accepted", "got"),
    [
        pytest.param({"whole": "t"}, [1, True, [], []], id="boolean"),
        pytest.param({"folder": "a/b"}, [1, False, ["a", "b"], []], id="validator"),
        pytest.param({"seen": "[1, 1]"}, [1, False, [], [1]], id="set"),
    ],
)
async def test_arguments_fastmcp_converts_stay_when_another_is_wrong(accepted, got):
    """An argument that FastMCP converts is not validated against the schema."""
    server = served(LenientMiddleware(), prompt=lax)
    assert await rendered(server, {"Number": "1", **accepted}) == got


async def test_fastmcp_reports_a_buggy_validator():
    """An exception in a buggy validator is answered as without the middleware."""
    sent = {"number": "1", "folder": "fault"}
    alone, lenient = served(prompt=lax), served(LenientMiddleware(), prompt=lax)
    assert (await refused(lenient, sent)).message == (await refused(alone, sent)).message


async def test_a_body_receives_fastmcps_exception():
    """A tool's body that gets a prompt catches the same exception as without the middleware."""
    server = served(LenientMiddleware())

    @server.tool
    async def ask(ctx: Context) -> str:
        try:
            return str(await ctx.get_prompt("review", {"text": "a", "numbers": "one"}))
        except PromptError:
            return "caught"

    async with Client(server) as client:
        assert (await client.call_tool("ask")).data == "caught"


@pytest.mark.parametrize("inner", [(), (LenientMiddleware(),)], ids=["outer alone", "both"])
async def test_a_mounted_prompt_is_repaired_once(events: Log, inner):
    """The function of a mounted server's prompt decides, one event says so, and a wrong request gets the envelope."""
    outer: FastMCP = FastMCP("outer", middleware=[LenientMiddleware()])
    outer.mount(served(*inner))
    assert await rendered(outer, {"Text": "a", "numbers": "[1, 2,]"}) == ["a", [1, 2], 5, None]
    assert events.names == ["call_repaired"]
    error = await refused(outer, {"text": "a", "numbers": "one"})
    assert json.loads(error.message)["error_code"] == "INVALID_NUMBERS_TYPE"


async def test_an_unknown_prompt_is_answered_by_fastmcp():
    """The middleware leaves unknown prompts to FastMCP."""
    async with Client(served(LenientMiddleware())) as client:
        with pytest.raises(host.MCPError, match="nknown prompt"):
            await client.get_prompt("other", {})


ALONE, LENIENT = served(), served(LenientMiddleware())
TEXT = st.text(max_size=8) | st.sampled_from(["5", "[1]", "null", "2026-01-02", "[1,]", "true"])


@given(
    st.dictionaries(st.sampled_from(["text", "numbers", "max_results", "on", "Numbers"]), TEXT, max_size=4)
)
async def test_any_prompt_fastmcp_renders_is_unchanged(arguments):
    """Every request that FastMCP renders gives the same result with the middleware."""
    try:
        alone = await ALONE.render_prompt("review", arguments)
    except FastMCPError:
        return
    assert (await LENIENT.render_prompt("review", arguments)).messages == alone.messages
