"""Test which calls written as Python are read: of known tools, with named literal values, alone on their lines."""

from __future__ import annotations

import ast
import asyncio
import time
from typing import Any

import pytest
from fastmcp import FastMCP
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row
from text_calls.test_tool_calls import assert_no_other_call_of_a_beginning

from mcp_lenient import Limits, dispatch
from mcp_lenient.errors import ToolCallError
from mcp_lenient.text_calls import ToolCall, parse_tool_calls

_STRINGS = {"type": "object", "properties": {"city": {"type": "string"}}}
_TOOLS: dict[str, Any] = dict.fromkeys(("weather", "book", "now", "web.open", "print", "find"), _STRINGS)
_OSLO = ToolCall(None, "weather", {"city": "Oslo"})
_ROME = ToolCall(None, "weather", {"city": "Rome"})
_NOW = ToolCall(None, "now", {})
_LIST = "[weather(city='Oslo')]"

_READ = [
    pytest.param(_LIST, [_OSLO], id="list"),
    pytest.param(f"I will look.\n{_LIST}", [_OSLO], id="list-after-prose"),
    pytest.param("[weather(city='Oslo'), now()]", [_OSLO, _NOW], id="two-in-a-list"),
    pytest.param(f"```python\n{_LIST}\n```", [_OSLO], id="fence-python"),
    pytest.param(f"```tool_code\n{_LIST}\n```", [_OSLO], id="fence-tool-code"),
    pytest.param(f"```\n{_LIST}\n```", [_OSLO], id="fence-bare"),
    pytest.param(f"~~~python\n{_LIST}\n~~~", [_OSLO], id="fence-tildes"),
    pytest.param(f"I will look it up.\n\n```python\n{_LIST}\n```\n\nI wait for it.", [_OSLO], id="prose-fence"),
    pytest.param(f"<think>a: b</think>\n```python\n{_LIST}\n```", [_OSLO], id="reasoning-fence"),
    pytest.param(f"<tool_call>\n{_LIST}\n</tool_call>", [_OSLO], id="wrapper"),
    pytest.param(f"<tool_call>\n```python\n{_LIST}\n```\n</tool_call>", [_OSLO], id="wrapper-fence"),
    pytest.param(f"{_LIST}<|im_end|>", [_OSLO], id="end-of-turn"),
    pytest.param("weather(city='Oslo')", [_OSLO], id="call"),
    pytest.param('weather( city = "Oslo" )', [_OSLO], id="spaces"),
    pytest.param("I will look.\nweather(city='Oslo')\nI wait.", [_OSLO], id="call-in-prose"),
    pytest.param("weather(city='Oslo')\nweather(city='Rome')", [_OSLO, _ROME], id="two-lines"),
    pytest.param("weather(city='Oslo'); weather(city='Rome')", [_OSLO, _ROME], id="semicolon"),
    pytest.param("weather(city='Oslo'),\nweather(city='Rome')", [_OSLO, _ROME], id="comma"),
    pytest.param("```python\nweather(city='Oslo')\nweather(city='Rome')\n```", [_OSLO, _ROME], id="fence-calls"),
    pytest.param("I look.\n```tool_code\nweather(city='Oslo')\n```", [_OSLO], id="tool-code-in-prose"),
    pytest.param("now()", [_NOW], id="no-arguments"),
    pytest.param("web.open(city='Oslo')", [ToolCall(None, "web.open", {"city": "Oslo"})], id="dotted"),
    pytest.param(f"{_LIST}\n\n```python\n{_LIST}\n```", [_OSLO], id="bare-and-fenced"),
    pytest.param(f"```python\n{_LIST}\n```\n\n{_LIST}", [_OSLO], id="fenced-and-bare"),
    pytest.param(f"I look.\n```python\n{_LIST}\n```\nSo I send this.\n{_LIST}", [_OSLO], id="fenced-in-prose"),
    pytest.param(f"weather(city='Oslo')\n```python\n{_LIST}\n```", [_OSLO], id="bare-call-and-fenced-list"),
    pytest.param(
        "[weather(city='Oslo'), weather(city='Oslo')]", [_OSLO, _OSLO], id="twice-in-one-list"
    ),
]  # fmt: skip


@each_row(("text", "calls"), _READ)
def test_python_calls_of_known_tools_are_read(text, calls):
    """A list of Python calls is read bare and in a fence, a call on its own line bare, beside plain text."""
    assert list(parse_tool_calls(text, tools=_TOOLS)) == calls
    assert list(parse_tool_calls(text, tools=list(_TOOLS))) == calls
    assert list(parse_tool_calls(text, tools=_TOOLS, dialect="python")) == calls


@each_row(("text", "calls"), _READ)
def test_cut_off_python_calls_are_refused(text, calls):
    """Text cut off before the end of its last call gives no other call."""
    assert_no_other_call_of_a_beginning(text, calls, tools=_TOOLS)


@each_row("text", [row.values[0] for row in _READ])
def test_another_dialect_does_not_read_python(text):
    """Where the operator named other dialects, no call in Python is read."""
    for dialect in ("json", ["json", "anthropic_xml", "cline_xml"], "mistral"):
        with pytest.raises(ToolCallError):
            parse_tool_calls(text, tools=_TOOLS, dialect=dialect)


@each_row("text", [f"I look.\n{_LIST}", f"```python\n{_LIST}\n```", "weather(city='Oslo')"])
def test_python_calls_of_unknown_tools_are_not_read(text):
    """Without the names of the tools, or where one is not among them, no call is read."""
    for tools in (None, ["another"], []):
        with pytest.raises(ToolCallError):
            parse_tool_calls(text, tools=tools)


@each_row("text", ["[weather(city='Oslo'), other(a=1)]\nSo.", "```\n[weather(city='Oslo'), other(a=1)]\n```"])
def test_one_unknown_name_in_a_list_is_an_error(text):
    """A list is read only if all of its tools are known."""
    with pytest.raises(ToolCallError, match="'other' is not among the given tools"):
        parse_tool_calls(text, tools=_TOOLS)


_VALUES = [
    *("'a'", '"a"', "'it\\'s'", "'a\\nb'", "'\\\\d'", "'C:\\\\x'", "''", "'# ) ] }'", "'a//b'", "'''a'''"),
    *('"""it\'s\n"so"\n"""', "'''x = [1, (2\n'''", "'é✓😀'", "'\\u00e9'"),
    *("0", "1", "-1", "2.5", "-2.5", "1e3", "50_000_000", "+1", "+2.5", "-1_000", "1_000.5", "(1)"),
    *("True", "False", "None", "[]", "{}", "['a', 'b']", "[1_000, +1, -1]", "{'a': 1_0, 'b': [None]}"),
    *("(1, 2)", "[[1], [2, [3]]]", "['a',]", "{'1_000': '+1'}"),
]


@each_row("text", _VALUES)
def test_literal_values_are_those_of_python(text):
    """A value is what Python makes of it; a tuple is a list."""
    expected = ast.literal_eval(text)
    expected = list(expected) if isinstance(expected, tuple) else expected
    for form in (f"[find(v={text})]", f"find(v={text})", f"```python\n[find(v={text}, w=1)]\n```"):
        (call,) = parse_tool_calls(form, tools=["find"])
        assert repr(call.arguments["v"]) == repr(expected)


@each_row(("text", "value"), [("true", True), ("false", False), ("null", None), (r"'\d+'", r"\d+")])
def test_values_that_models_write_from_json_are_read(text, value):
    """JSON's words, and a backslash that begins no escape in Python, can be read only one way."""
    (call,) = parse_tool_calls(f"find(v={text})", tools=["find"])
    assert call.arguments == {"v": value}


_LITERALS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(-6e4, 6e4, width=16).filter(lambda number: "e" not in repr(number))
    | st.text(
        st.characters(codec="ascii", exclude_characters="\x00\b\f", exclude_categories=["Cc"]), max_size=12
    ),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc _1", max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["v", "w", "from", "x_1"]), _LITERALS, max_size=3))
def test_what_python_writes_is_read_back(arguments):
    """A call written by ``repr`` is read as the same values, in a list, bare and in a fence."""
    call = f"find({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    for text in (f"[{call}]", f"```python\n[{call}]\n```", call):
        (read,) = parse_tool_calls(text, tools=["find"])
        assert repr(read.arguments) == repr(arguments)


@each_row("name", ["from", "class", "in", "import", "lambda"])
def test_a_parameter_may_be_named_like_a_word_of_python(name):
    """A tool may have parameters that Python could not declare."""
    (call,) = parse_tool_calls(f"find({name}='a', to='b')", tools=["find"])
    assert call.arguments == {name: "a", "to": "b"}


_NO_VALUES = [
    *("x", "x.y", "f()", "weather(city='Oslo')", "x[0]", "'a'.upper()", "1 + 1", "1+1", "'a' 'b'", "not True", "print"),
    *("~1", "--1", "- 1", "-True", "f'{x}'", "r'a'", "b'a'", "...", "1j", "0x1F", "1.", ".5", "007", "1_", "1__0", "_1"),
    *("nan", "Infinity", "1e999", "12345678901234567890.5", "{1, 2}", "{**x}", "{1: 2}", "{'a': 1, 'a': 2}", "{a: 1}"),
    *("[x for x in y]", "lambda: 1", "1 if x else 2", "(y := 1)", "await x", "*x", "undefined", "$x", "__import__"),
    *("'\\x41'", "'\\101'", "'\\N{BULLET}'", "'\\/'", "'\\b'", "'C:\\temp'", "'a", "'a\nb'", "'a'\\\n'b'", "1 # so"),
    *("[1", "1)", "[1)]", "1, 2", "", "[1][0]", "{}[0]", "(1)(2)", "[1]()", "1 if", "1, w\\=1", "1, w\0=1", "1, 'w'=1"),
    *("{'a': f()}", "[1, [x]]", "[...]"),
]  # fmt: skip


@each_row("text", _NO_VALUES)
def test_a_value_that_is_no_literal_is_refused(text):
    """A name, an expression, a call or a literal without a JSON form gives no call, and nothing is evaluated."""
    for form in (f"[find(v={text})]", f"find(v={text})", f"```python\n[find(v={text})]\n```"):
        with pytest.raises(ToolCallError):
            parse_tool_calls(form, tools=["find", "print"])


_NO_CALLS = [
    *("[find('a')]", "[find(1, v=2)]", "[find(*v)]", "[find(**v)]", "[find(v=1, v=2)]", "[find(v=1)(w=2)]"),
    *("[find(v=1).x]", "[find(v=1)[0]]", "[find(v=1), 2]", "[find(v=1), 'a']", "[[find(v=1)]]", "[find]", "[]"),
    *("[find(v=1) for v in x]", "[find(v=1)] + [1]", "[find(v=1)][0]", "[find(v=1)](0)", "[*find(v=1)]", "{find(v=1)}"),
    *("(find(v=1))", "find(v=1)(w=2)", "find(v=1).x", "find(v=1)[0]", "find(v=1)[find(v=2)]", "find(v=1) + 1"),
    *("x = find(v=1)", "await find(v=1)", "return find(v=1)", "print(find(v=1))", "find.x(v=1)", "x.find(v=1)"),
    *("find(v=1) if x else y", "find(v=1) and find(v=2)", "not find(v=1)", "-find(v=1)", "lambda: find(v=1)"),
    *("find(v == 1)", "find(v)", "find v=1", "find[v=1]", "find{v: 1}", "find(v: 1)", "find(v=1", "find v"),
    *("[find(v=1)", "find(v=1)]", "find(v=1))", "find(v=1) find(v=2)", "[find(v=1) find(v=2)]", "[find(v=1)] Done."),
    *("find(v=1) Done.", "find(v=1) is a call.", "find(v=1) # so", "[find(v=1)] # so", "[find(v=1), # so\nfind(v=2)]"),
    *("find(v=1)\n    find(v=2)", "find(v=1) -> str", "find(v=1): so", "def find(v=1):\n    pass", "@find(v=1)\nx"),
    *("with find(v=1):\n    pass", "if find(v=1):\n    now()", "\uff46ind(v=1)", "find(v=1)\nfound = 1", "Find(v=1)"),
    *("[find(v=1)]\nx = [find(v=2)]", "import x\nfind(v=1)", "for v in x:\n    find(v=1)", "find (v=1) so", "\\find(v=1)"),
    *("find(v=1);find(v=x)", "find(v=1), (find(v=2))", "find(v=1)\\\n", "find(v=1)`", "$find(v=1)", "!find(v=1)"),
]  # fmt: skip


@each_row("text", _NO_CALLS)
def test_what_is_no_call_in_python_is_not_read(text):
    """Positional values, expressions around a call and other statements give no call, bare or in a fence."""
    for form in (text, f"```python\n{text}\n```", f"```\n{text}\n```", f"<tool_call>\n{text}\n</tool_call>"):
        with pytest.raises(ToolCallError):
            parse_tool_calls(form, tools=["find", "print"])


_JSON = '{"name": "find", "arguments": {"v": 1}}'
_HOSTILE = [
    # JSON and markup in source code
    *(
        f"```python\n{each}\n```"
        for each in (_JSON, f"[{_JSON}]", f"x = {_JSON}", "<find>{}</find>", "<find/>")
    ),
    *(
        f"```py\n{each}\n```"
        for each in (f"find({_JSON})", f"'''\n{_JSON}\n'''", f"#\n{_JSON}", f"[{_JSON}]")
    ),
    f"```python\nfind(v=x)\n{_JSON}\n```",
    f"```python\n{_JSON}\nfind(v=1)\n```",
    f"```python\n[find(v=1)]\n{_JSON}\n```",
    f"```python\n```json\n{_JSON}\n```\n```",
    f"```tool_code\n{_JSON}\n```",
    '```python\n<invoke name="find"></invoke>\n```',
    # calls in source code
    "```python\nfrom x import find\n\nfind(v=1)\n```",
    "```python\n# Find it.\nfind(v=1)\n```",
    "```python\nfind(v=1)\nprint('so')\n```",
    '```python\n"""\n[find(v=1)]\n"""\n```',
    "```python\n    [find(v=1)]\nx\n```",
    "```python title=x\n[find(v=1)]\n```",
    "```js\nfind(v=1)\n```",
    "````python\n[find(v=1)]\n````",
    "````\n```python\n[find(v=1)]\n```\n````",
    "```python\n[find(v=1)]",
    "```python\n[find(v=1)]\n```x\n```",
    "```python\n[find(v=1)]\nis the form\n```",
    "```python [find(v=1)]```",
    # code of a fence beside text
    "You can run this to find it:\n```python\nfind(v=1)\n```",
    "```python\nfind(v=1)\n```\nThis finds it.",
    "You can run this to find it:\n```\nfind(v=1)\n```",
    "The function is this.\nnow()",
    "now()\n\nReturns the time.",
    # two groups
    "[find(v=1)]\nOr rather this.\n[find(v=2)]",
    "[find(v=1)]\n```python\n[find(v=2)]\n```",
    "[find(v=1)]\n```python\n[find(v=True)]\n```",
    "[find(v=1)]\n```python\n[find(v=1), find(v=1)]\n```",
    "```python\n[find(v=1)]\n```\nOr you take this.\n```python\n[find(v=2)]\n```",
    "find(v=1)\nThen I look again.\nfind(v=1)",
    f"[find(v=1)]\n{_JSON}",
    f"{_JSON}\n[find(v=1)]",
    "[find(v=1)]\n<find>{}</find>",
    f"```json\n{_JSON}\n```\n[find(v=1)]",
    f"```json\n{_JSON}\n```\n```python\n[find(v=1)]\n```",
    # text of another author
    "User: so\n[find(v=1)]",
    "The page says: [find(v=1)]",
    "> [find(v=1)]",
    "- [find(v=1)]",
    "- so\n[find(v=1)]",
    "So:\n\n    [find(v=1)]",
    "So it goes.\n  find(v=1)",
    "<p>\n[find(v=1)]",
    "<!--\n[find(v=1)]\n-->",
    "<tool_response>\n[find(v=1)]\n</tool_response>",
    "<tool_call>\nNever: [find(v=1)]\n</tool_call>",
    "<tool_call>\n[find(v=1)] is wrong\n</tool_call>",
    "output = [\nfind(v=1)\n]",
    "[find(v=1)](https://example.org)",
    "[find(v=1)]: https://example.org",
    "[find(v=1)] was what the page told me to run.",
    "find(v=1), which the page told me to run.",
    "find(v=1)\nThe page: run it",
    "\u200bfind(v=1)",
    "It\u200d says so.\nfind(v=1)",
    "fi\u200bnd(v=1)",
    "ﬁnd(v=1)",
    "So it goes.\u2028find(v=1)",
    "find(v='\0')",
    "find(v=1);\u2028find(v=2)",
    "find(v=1),\u00a0find(v=2)",
]


@each_row("text", _HOSTILE)
def test_hostile_texts_give_no_call(text):
    """Source code, quotations and alternatives give no call, whatever the line breaks and whatever is known."""
    for form in (text, text.replace("\n", "\r\n"), f"I see.\n{text}", f"{text}\nDone."):
        for tools in (["find", "now"], {"find": {}, "now": {}}):
            with pytest.raises(ToolCallError):
                parse_tool_calls(form, tools=tools)


def test_a_name_is_taken_as_it_is_spelled():
    """Python's own reading of compatibility characters is not applied to the names of parameters."""
    (call,) = parse_tool_calls("find(ﬁle=1)", tools=["find"])
    assert call.arguments == {"ﬁle": 1}


@pytest.mark.parametrize(
    ("text", "limits", "what"),
    [
        pytest.param("find(v='cccccccc')", Limits(relaxed_text=10), "does not end", id="relaxed-text"),
        pytest.param("find(v=[[1]])", Limits(depth=2), "deeper than 2 levels", id="depth"),
    ],
)
def test_limits_apply_to_python(text, limits, what):
    """A call beyond the limits is refused, and read without them."""
    assert parse_tool_calls(text, tools=["find"])
    with pytest.raises(ToolCallError, match=what):
        parse_tool_calls(text, tools=["find"], limits=limits)


_SLOW = {
    "arguments": "find(" + ", ".join(f"a{at}=1" for at in range(7_000)) + ", a=x)",
    "lines": "[" + ",\n".join(f"find(a={at})" for at in range(990)) + ", x]",
    "groups": "find(v=1)\n" * 90_000,
    "cut-off": "find(v=1\n" * 90_000,
    "brackets": "find(v=" + "[" * 90_000,
    "sums": "find(v=1" + "+1" * 30_000 + ")",
    "quotes": "find(v=" + "'" * 500_001 + ")",
    "names": "find(v=" + "a" * 1_000_000 + ")",
    "spaces": "find(" + " " * 1_000_000 + "v=1",
    "fenced-groups": "```python\n[find(v=1)]\n```\n" * 30_000,
    "nulls": "find(v='" + "\0" * 60_000 + "', w=x)",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", _SLOW.values(), ids=_SLOW)
def test_hostile_python_is_bounded(text):
    """Text designed to be slow is refused fast. The bound guards against hanging and is not a measurement."""
    started = time.process_time()
    with pytest.raises(ToolCallError):
        parse_tool_calls(text, tools=["find"])
    assert time.process_time() - started < 2


_ANSWER = '<tool_result>\n{"tool": "look", "result": "/a 2"}\n</tool_result>'


def _server() -> tuple[FastMCP[Any], list[str]]:
    mcp: FastMCP[Any] = FastMCP("files")
    done: list[str] = []

    @mcp.tool
    def look(path: str, limit: int = 1) -> str:
        """Look at a file."""
        done.append(path)
        return f"{path} {limit}"

    @mcp.tool(annotations={"destructiveHint": True})
    def delete(path: str) -> str:
        """Delete a file."""
        done.append(path)
        return path

    return mcp, done


@each_row(
    ("text", "message"),
    [
        ("I look.\n```python\n[look(path='/a', limit=+2)]\n```", {"role": "user", "content": _ANSWER}),
        ("[look(path='/a')]", {"role": "tool", "name": "look", "content": "/a 1"}),
    ],
)
def test_dispatch_answers_python_calls(text, message):
    """A call in Python is answered in tags, since no chat template wrote it, and a whole list as Llama's writes results."""
    mcp, done = _server()
    assert asyncio.run(dispatch(mcp, text)).messages == [message]
    assert done == ["/a"]


@each_row(
    "text",
    [
        "I look.\n[delete(path='/')]",
        "```python\n[delete(path='/')]\n```\nI wait for it.",
        "It says this.\ndelete(path='/')",
        "[look(path='/a'), rm(path='/')]\nI wait.",
        "[look(path='/a')]\nOr this one.\n[look(path='/b')]",
    ],
)
def test_dispatch_does_not_run_doubtful_python(text):
    """A destructive call beside text, an unknown tool in the list and a second list run nothing."""
    mcp, done = _server()
    ran = asyncio.run(dispatch(mcp, text))
    assert "error" in ran.messages[0]["content"]
    assert done == []
