"""Texts that hold the markup of their own call: a client missed where a parameter ends."""

from time import process_time

import pytest
from fastmcp import Client, FastMCP

from mcp_lenient import LenientMiddleware, Policy, lenient, normalize

REFUSE = Policy(leaked_markup="refuse")


def opening(name, prefix=""):
    """Return the tag before a parameter."""
    return f'<{prefix}parameter name="{name}">'


def closing(name, prefix=""):
    """Return a closing tag."""
    return f"</{prefix}{name}>"


SWALLOWED = f'tea{closing("text")}\n{opening("tags")}["a"]'
ENDED = f"tea{closing('text')}\n{closing('invoke')}\n"
QUOTED = f'<invoke name="t">{opening("a")}1{closing("parameter")}\n{opening("tags")}2{closing("parameter")}{closing("invoke")}'


@pytest.mark.parametrize(
    ("text", "leaks"),
    [
        (SWALLOWED, True),
        (f"tea{closing('text')}\n{opening('other')}1", True),  # also if that one arrived
        (f"tea{closing('text')}{opening('tags', 'ns:')}1", True),
        (f"tea{closing('text')}\n<parameter=tags>1", True),
        (f"tea{closing('text')}\n<parameter  name = 'tags' string='false'>1", True),
        (f"tea{closing('text')}\n{closing('parameter')}\n{opening('tags')}1", True),
        (f"tea{closing('text')}\n{closing('parameter')}", True),
        (ENDED, True),
        (f"tea{closing('text')}\n{closing('invoke')}\n{closing('function_calls')}", True),
        (f"<text>tea{closing('text')}\n{closing('parameter')}", False),
        (f"tea{closing('text')} and more", False),
        (f"tea{closing('description')}\n{opening('ServiceClass')}demo{closing('parameter')}", False),
        (f"tea {opening('tags')}1", False),
        (QUOTED, False),
        ("tea", False),
        (7, False),
    ],
)
def test_markup_of_a_call_is_told_from_a_quotation(text, leaks):
    """A tag of the parameter's own name, which nothing has opened, stands before more markup of the call."""
    found = normalize({}, {"text": text, "other": 1}, REFUSE).violations
    assert [each.pointer for each in found] == ["/text"] * leaks


def test_no_markup_is_searched_where_a_form_takes_a_text_alone():
    """Such a form has no parameter whose text could go on."""
    (violation,) = normalize({"oneOf": [{"type": "string"}]}, {"value": "a"}, REFUSE).violations
    assert violation.code == "type"


def test_hostile_texts_are_searched_in_linear_time():
    """Neither open tags nor white space makes the search slow."""
    parts = ("</text>", "</text>\n", "</text" + " " * 50, "<parameter name=", "</" + "a" * 99, "<" + "p" * 31)
    for part in parts:
        text = part * 40_000 + "parameter"
        started = process_time()
        assert not normalize({}, {"text": text}, REFUSE).violations
        (missing,) = normalize({"required": ["tags"]}, {"text": text}, REFUSE).violations
        assert "markup" not in missing.message
        assert process_time() - started < 2


def served(policy=None):
    """Return a server whose tool has a required and an optional parameter beside its text."""
    mcp = FastMCP("notes", middleware=[LenientMiddleware(policy)])

    @mcp.tool
    def store(text: str, title: str = "", tags: list[str] | None = None) -> str:
        return f"{title}: {text}, {tags}"

    @mcp.tool
    def need(text: str, tags: list[str]) -> str:
        return f"{text}, {tags}"

    return mcp


@pytest.mark.parametrize("name", ["tags", "Tags"])
async def test_missing_parameter_is_found_in_the_markup(name):
    """The answer about a required parameter says in which text it came, also behind another and in another case."""
    text = f"tea{closing('text')}\n{opening('title')}a{closing('parameter')}\n{opening(name)}1"
    async with Client(served()) as client:
        answer = (await client.call_tool_mcp("need", {"text": text})).content[0].text
    assert "It came as markup inside 'text': send each as a parameter of its own." in answer


async def test_valid_call_with_markup_runs_and_is_logged(events):
    """A call that the tool accepts runs as it was sent; the log has both names, and no value."""
    async with Client(served()) as client:
        told = [(await client.call_tool_mcp("store", {"text": text})).is_error for text in (SWALLOWED, ENDED)]
    assert told == [False, False]
    leaked = [each for each in events if each["event"] == "markup_leaked"]
    assert [(each["subject"], each["reason"]) for each in leaked] == [
        ("store", "the text of 'text' goes on with the markup of the call"),
    ] * 2


async def test_repaired_call_with_markup_is_logged(events):
    """So is a call that is repaired elsewhere."""
    async with Client(served()) as client:
        await client.call_tool_mcp("store", {"text": SWALLOWED.replace("tags", "title"), "tags": '["a"]'})
    assert [each["event"] for each in events] == ["markup_leaked", "call_repaired"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SWALLOWED, "it goes on with the markup of 'tags'; send each as a parameter of its own"),
        (ENDED, "it goes on with the markup of the call; send the text without it"),
        (SWALLOWED.replace("tags", "hunter2"), "it goes on with the markup of the call; send the text"),
    ],
)
async def test_policy_refuses_markup(text, reason):
    """With ``leaked_markup="refuse"`` the call is answered, whoever is asked."""
    async with Client(served(REFUSE)) as client:
        result = await client.call_tool_mcp("store", {"text": text})
    assert (result.is_error, reason in result.content[0].text) == (True, True)


async def test_decorated_tool_refuses_markup():
    """So does a decorated tool without the middleware."""
    mcp = FastMCP("notes")

    @mcp.tool
    @lenient(policy=REFUSE)
    def store(text: str, tags: list[str] | None = None) -> str:
        return f"{text}, {tags}"

    async with Client(mcp) as client:
        results = [await client.call_tool_mcp("store", {"text": text}) for text in (SWALLOWED, QUOTED)]
    assert [each.is_error for each in results] == [True, False]
