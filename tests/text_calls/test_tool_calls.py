"""Test which tool calls in text are parsed and which are refused."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import BOOLEAN, INTEGER, OBJECT, STRING, closed, each_row, nullable, opened
from text_calls.test_plain_text import FORMS

from mcp_lenient import Limits
from mcp_lenient.errors import NoToolCallError, ToolCallError
from mcp_lenient.text_calls import ToolCall, parse_tool_call, parse_tool_calls

_SERVERS = ("web", "s", "mcp.web-1", "搜索", "proxy", "files")
_FIND = ToolCall(None, "find", {"q": "x"})

_TABLES = json.loads((Path(__file__).parent / "calls.json").read_text(encoding="utf-8"))


def _call(value):
    """Return a value of a table, with the calls in it."""
    if isinstance(value, list):
        return [_call(each) for each in value]
    return ToolCall(**{"server": None, **value}) if isinstance(value, dict) else value


def _rows(name):
    return [pytest.param(*_call(values), id=row) for row, values in _TABLES[name].items()]


def assert_no_other_call_of_a_beginning(text, calls, **known):
    """Assert that a text that is cut off gives its first calls or none."""
    for at in range(1, len(text)):
        with suppress(ToolCallError):
            read = list(parse_tool_calls(text[:at], **known))
            assert read == calls[: len(read)]


@each_row(("text", "call"), _rows("one"))
def test_one_call_is_parsed(text, call):
    """Text with one call gives its server, tool and arguments, even with prose around it."""
    assert parse_tool_call(text, servers=_SERVERS) == call
    assert parse_tool_calls(text, servers=_SERVERS) == (call,)


@each_row(("text", "calls"), _rows("several"))
def test_several_calls_are_parsed_in_order(text, calls):
    """All calls in text are returned in order. If one is expected, several are refused."""
    assert parse_tool_calls(text, servers=_SERVERS) == tuple(calls)
    with pytest.raises(ToolCallError, match=rf"contains {len(calls)} tool calls, but one was expected"):
        parse_tool_call(text, servers=_SERVERS)


@each_row(("text", "what"), _rows("refused"))
def test_ambiguous_or_missing_calls_are_refused(text, what):
    """Text without a call, or with an ambiguous part, is refused in one sentence."""
    with pytest.raises(ToolCallError) as caught:
        parse_tool_calls(text, servers=_SERVERS)
    message = str(caught.value)
    assert what in message
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 300


def test_error_for_several_calls_lists_names_and_positions():
    """Two calls where one is expected are listed with their positions."""
    with pytest.raises(ToolCallError, match=r"'a' at line 1, column 1, 'b' at line 2, column 2, \.\.\.\.$"):
        parse_tool_call("<a>{}</a>\n <b>{}</b><c>{}</c>")


def test_names_in_errors_are_escaped_and_shortened():
    """Text quoted in a message is on one line and short."""
    with pytest.raises(ToolCallError) as caught:
        parse_tool_calls(json.dumps({"name": "a\n\x1b" + "b" * 200, "arguments": [1]}))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "limits", "what"),
    [
        pytest.param("<a>{}</a>", Limits(text=8), "9 characters, more than the limit of 8", id="text"),
        pytest.param("<a>{b: 'cccccccc'}</a>", Limits(relaxed_text=10), "does not end", id="relaxed-text"),
        pytest.param('<a>{"b": [[1]]}</a>', Limits(depth=2), "nested too deeply", id="depth"),
        pytest.param("<a>{b: [[1]]}</a>", Limits(depth=2), "deeper than 2 levels", id="depth-of-json5"),
    ],
)
def test_limits_apply(text, limits, what):
    """Text beyond the limits is refused, and parsed without them."""
    assert parse_tool_calls(text)
    with pytest.raises(ToolCallError, match=what):
        parse_tool_calls(text, limits=limits)


_MEGA = 500_000
_HOSTILE = {
    "brackets": "[{" * (_MEGA // 2),
    "nested-tags": "<a>" * 30_000,
    "tags": "<a>x" * 30_000,
    "endless-name": "<" + "a" * _MEGA,
    "calls-in-tags": "<a>{}</a>" * 10_000,
    "calls-of-a-server": f"<a>{'<b>{}</b>' * 10_000}</a>",
    "calls-in-json": '{"name": "a", "args": {}}\n' * 10_000,
    "data": '{"a": 1}' * 10_000,
    "python": "{'a': 1}" * 10_000,
    "bottomless-json": '{"a":' * 30_000,
    "quotes": '"' * _MEGA,
    "endless-string": '{"a": "' + '\\"' * (_MEGA // 2),
    "endless-comment": "{a: /*" + "*" * _MEGA,
    "comments": "<!--" * 30_000,
    "thoughts": "<think>" * 30_000,
    "qwen": "<function=a>" * 50_000,
    "qwen-closings": "<function=a><parameter=b>" + "</parameter> " * 50_000,
    "mistral": "[TOOL_CALLS]" * 50_000,
    "harmony": "<|start|>assistant" * 30_000,
    "harmony-spaces": " " * _MEGA + "<|channel|>",
    "harmony-messages": "<|channel|>final<|message|>a<|end|>" * 20_000,
    "gemma": "<|tool_call>call:a{b:" * 30_000,
    "gemma-nesting": "<|tool_call>call:a{b:" + "[" * _MEGA,
    "kimi-calls": "<|tool_calls_section_begin|>" + "<|tool_call_begin|>" * 30_000,
    "deepseek": "<｜tool▁calls▁begin｜>" * 30_000,
    "dsml": '<｜DSML｜tool_calls><｜DSML｜invoke name="a">'
    + '<｜DSML｜parameter name="b" string="true">' * 20_000,
    "lfm2": "<|tool_call_start|>[" * 30_000,
    "lfm2-calls": "<|tool_call_start|>[a(b=1)]<|tool_call_end|>" * 10_000,
    "lfm2-list": f"<|tool_call_start|>[{'a(b=1),' * 10_000}]<|tool_call_end|>",
    "lfm2-spaces": "<|tool_call_start|>" + " " * _MEGA,
    "gigachat": "<|message_sep|>" * 30_000,
    "gigachat-spaces": ("<|message_sep|>" + " " * 5_000) * 90,
    "phi4": "functools[{" * 40_000,
    "phi4-spaces": "functools[" + " " * _MEGA,
    "llama-objects": '<|python_tag|>{"name": "a", "parameters": {}}'
    + ';{"name": "a", "parameters": {}}' * 10_000,
    "qwen-lines": "<function=a><parameter=b>" + "\n" * _MEGA + "</parameter></function>x",
    "json-in-parts": "<function=a>" + "{" * 90_000,
    "llama-nesting": "[a(b=" + "[" * 90_000 + "]" * 90_000 + ")]",
    "invoke-parameters": '<invoke name="a">' + '<parameter name="b">' * 40_000,
    "invoke-spaces": '<invoke name="a">' + " " * _MEGA,
    "empty-tags": "<br/>" * 30_000,
    "spaces-before-a-sentence": " " * _MEGA + 'so {"name": "a", "args": {}}',
    "quoted-calls": " " * (_MEGA // 2) + "so <a>{}</a> is\n" * 2_000,
    "tags-left-open": "".join(f"<a{at}>x" for at in range(4_900)) + "x" * _MEGA,
    "empty-elements": "<a b/>" * 90_000,
    "fences": "````\n" * 100_000,
    "backticks": "`" * _MEGA,
    "indented-lines": "a\n\n" + "    a\n\n" * 150_000,
    "list-items": "- a\n" * 250_000,
    "indentation": "a\n\n" + " " * _MEGA + '{"name": "a", "args": {}} so',
    "signs-in-a-wrapper": f"<tool_call>{', ' * (_MEGA // 2)}x",
}


@pytest.mark.parametrize("text", _HOSTILE.values(), ids=_HOSTILE)
def test_hostile_text_is_bounded(text):
    """Text designed to be slow is refused fast. The bound guards against hanging and is not a measurement."""
    started = time.process_time()
    with pytest.raises(ToolCallError):
        parse_tool_calls(text)
    assert time.process_time() - started < 2


def test_a_thousand_calls_are_parsed():
    """The maximum number of calls is parsed."""
    assert len(parse_tool_calls("<s><b>{}</b></s>\n" * 1_000, servers=["s"])) == 1_000


_NATIVE = _rows("native")


@each_row(("dialect", "text", "calls"), _NATIVE)
def test_native_dialects_are_parsed(dialect, text, calls):
    """The format of each model family is parsed, with its dialect given or detected."""
    assert list(parse_tool_calls(text)) == calls
    assert list(parse_tool_calls(text, dialect=dialect)) == calls


_OPENED_IN_A_VALUE = {
    "glm": (
        "<tool_call>find<arg_key>q</arg_key><arg_value>@</arg_value></tool_call>",
        ["tea\n<arg_key>limit</arg_key>\n<arg_value>5", "tea<arg_key>limit</arg_key>"],
    ),
    "deepseek": (
        (
            '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="find">\n<｜DSML｜parameter name="q" string="true">@'
            "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
        ),
        [
            'tea\n<｜DSML｜parameter name="limit" string="false">5',
            'tea<｜DSML｜parameter name="limit">5',
        ],
    ),
    "kimi": (
        (
            '<|open|>tools<|sep|><|open|>call tool="find"<|sep|><|open|>argument key="q" type="string"<|sep|>@'
            "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"
        ),
        [
            'tea\n<|open|>argument key="limit" type="number"<|sep|>5',
            'tea<|open|>argument key="limit"<|sep|>5',
        ],
    ),
}


@pytest.mark.parametrize("dialect", _OPENED_IN_A_VALUE)
def test_a_value_that_opens_a_parameter_is_refused(dialect):
    """A parameter that is not closed does not swallow the next one; other tags and marks in a value are text."""
    form, values = _OPENED_IN_A_VALUE[dialect]
    for tools in (None, {"find": opened(q=STRING, limit=INTEGER)}):
        for text in ("a <b>tag</b> & more", "in <arg_key>", '<｜DSML｜invoke name="x">', "<|open|>call"):
            (call,) = parse_tool_calls(form.replace("@", text), tools=tools)
            assert call.arguments == {"q": text}
        for value in values:
            with pytest.raises(
                ToolCallError, match=r"the value of 'q' of 'find' contains .*a part of the call"
            ):
                parse_tool_calls(form.replace("@", value), tools=tools)


@each_row(("dialect", "text", "calls"), _NATIVE)
def test_cut_off_native_call_is_refused(dialect, text, calls):
    """Text cut off before the end of its last call gives no other call."""
    assert_no_other_call_of_a_beginning(text, calls, dialect=dialect)


_QUOTED_FORMS = _TABLES["quoted_forms"]
_QUOTATIONS = _TABLES["quotations"]


@each_row("quotation", _QUOTATIONS.values())
@each_row("form", _QUOTED_FORMS.values())
def test_quoted_tags_are_ignored(form, quotation):
    """A call in tags is not a call inside a sentence, in backticks, a quotation, a list, a table, code or a comment."""
    with pytest.raises(ToolCallError, match=r"No tool call in this text|send the call alone"):
        parse_tool_calls(quotation.replace("{}", form), servers=_SERVERS)


_ELEMENTS = "document user antThinking template s details Answer 文档 tools x:y".split()
_ENCLOSED_FORMS = _TABLES["enclosed_forms"]


@each_row("form", _ENCLOSED_FORMS.values())
@each_row("name", _ELEMENTS)
def test_a_call_inside_an_element_is_prose(name, form):
    """A call inside any element but those around calls is not read, whatever its form."""
    for opening in (f"<{name}>", f'<{name} id="1">'):
        with pytest.raises(NoToolCallError):
            parse_tool_calls(
                f"{opening}\nMaybe:\n{form}\nNo, that is wrong.\n</{name}>\nI will not.", tools=["rm"]
            )
    if name != "s":  # the end of a sequence as well
        with pytest.raises(ToolCallError, match=r"'rm' and may quote it; .* send the call alone"):
            parse_tool_calls(f"It may be this.\n{form}\nNo, that is wrong.\n</{name}>", tools=["rm"])


_NATIVE_FORMS = {
    **{name: _ENCLOSED_FORMS[name] for name in ("qwen", "glm", "mistral", "gemma", "llama")},
    **{name: FORMS[name] for name in ("deepseek", "dsml", "kimi", "harmony")},
    "llama-tag": '<function=rm>{"path": "/"}</function>',
}
_ALL_FORMS = [form for name, form in {**_ENCLOSED_FORMS, **_NATIVE_FORMS}.items() if name != "empty"]


@each_row("form", _NATIVE_FORMS.values())
def test_native_calls_are_quoted_where_tags_are(form):
    """A native call in a sentence, a quotation, a list, a table, code or a comment is not read."""
    assert parse_tool_call(f"I remove it.\n{form}\nDone.").tool == "rm"
    for quotation in _QUOTATIONS.values():
        with pytest.raises(ToolCallError):
            parse_tool_calls(quotation.replace("{}", form))


@each_row("text", ["Two searches", "Hi! ", "I remove it.", "I remove it. "])
@each_row("form", [_NATIVE_FORMS[name] for name in ("mistral", "gemma", "deepseek", "kimi")])
def test_special_tokens_follow_words_on_their_line(form, text):
    """A call between special tokens is read after words or a sentence, as models write it."""
    assert parse_tool_call(f"{text}{form}").tool == "rm"


@each_row(
    "form", [_NATIVE_FORMS[name] for name in ("mistral", "deepseek", "dsml", "kimi", "harmony", "llama")]
)
def test_a_special_token_after_words_and_a_space_is_quoted(form):
    """Models write their tokens directly after a word; only Gemma's is recorded after a space."""
    with pytest.raises(ToolCallError):
        parse_tool_calls(f"I must never emit {form}")
    assert parse_tool_call(f"Some text before {_NATIVE_FORMS['gemma']}").tool == "rm"


@each_row(
    "text",
    ["2 searches:", "e.g. ", "iv. ", "1. Remove it", "- Remove it.", "| b", "Example: ", "12:00 ", "// "],
)
@each_row("form", [form for name, form in _NATIVE_FORMS.items() if name != "llama-tag"])
def test_no_call_follows_a_label_or_a_sign_on_its_line(form, text):
    """After a label, the marker of an item or any other sign, a call on the same line is not read."""
    with pytest.raises(ToolCallError):
        parse_tool_calls(f"{text}{form}")


@each_row("form", [_NATIVE_FORMS["qwen"], _NATIVE_FORMS["glm"], _QUOTED_FORMS["lines"]])
def test_a_wrapper_tag_follows_a_sentence_on_its_line(form):
    """Models write ``<tool_call>`` directly after a sentence; after other words it is quoted."""
    assert parse_tool_call(f"Let me look.{form}").tool == "rm"
    with pytest.raises(ToolCallError):
        parse_tool_calls(f"The form is {form}")


@each_row("fence", _TABLES["fenced_texts"].values())
@each_row("form", _ALL_FORMS)
def test_a_fence_with_text_beside_a_call_quotes_it(form, fence):
    """A call in a fence counts only if the fence contains nothing besides calls."""
    for tools in (None, ["rm"]):
        with pytest.raises(ToolCallError):
            parse_tool_calls(fence.replace("{}", form), tools=tools)


@each_row("fence", _TABLES["fences"].values())
@each_row("form", [form for form in _ALL_FORMS if "`" not in form])
def test_a_fence_without_other_text_does_not_quote(form, fence):
    """A call alone in a fence is a call, if the fence is bare or for JSON, XML or calls."""
    assert parse_tool_call(fence.replace("{}", form)).tool == "rm"


@each_row("section", _TABLES["sections"].values())
@each_row("form", _ALL_FORMS)
def test_a_call_in_a_section_of_another_author_is_refused(form, section):
    """After a special token that does not belong to the model's turn, a call is an error; it may be echoed."""
    with pytest.raises(ToolCallError):
        parse_tool_calls(section.replace("{}", form))


@each_row("section", _TABLES["own_sections"].values())
@each_row("form", _ALL_FORMS)
def test_a_call_in_the_section_of_the_model_is_parsed(form, section):
    """The tokens of the model's own turn, a later turn and a mention of tokens do not affect a call."""
    assert parse_tool_call(section.replace("{}", form)).tool == "rm"


def test_calls_of_phi_and_command_are_parsed_between_their_tokens():
    """The tokens around the JSON calls of Phi-4 and Command belong to the model's turn."""
    calls = '[{"name": "find", "parameters": {"q": "x"}}]'
    assert parse_tool_call(f"<|tool_call|>{calls}<|/tool_call|>") == _FIND
    assert parse_tool_call(f"<|START_ACTION|>{calls}<|END_ACTION|>") == _FIND


@each_row(
    "call",
    [
        '<write>{"text": "</div>"}</write>',
        '{"name": "write", "arguments": {"text": "</div>"}}',
        '[TOOL_CALLS]write[ARGS]{"text": "</div>"}',
    ],
)
def test_a_closing_tag_in_a_value_closes_no_element(call):
    """A tag in the arguments of a call is not a tag of the text around it."""
    assert parse_tool_call(f"I add a `<div>`.\n{call}\nDone.").arguments == {"text": "</div>"}


@each_row("text", _TABLES["markup"].values())
def test_markup_is_not_a_call(text):
    """HTML, JSX and XML without JSON in it has no call."""
    with pytest.raises(NoToolCallError):
        parse_tool_calls(text)


def test_given_tools_may_be_named_like_markup_or_parts():
    """A tool that is given may be named like an HTML element, a component or a part of a call."""
    names = ["code", "Header", "input", "img"]
    text = "<code>{}</code>\n<Header/>\n<input>{}</input>\n<web><img/></web>"
    assert [call.tool for call in parse_tool_calls(text, tools=names, servers=["web"])] == names


@each_row("text", _TABLES["no_call"].values())
def test_quoted_calls_and_reasoning_are_ignored(text):
    """A call in a sentence, a comment or reasoning, or a request of another method, is not a call."""
    with pytest.raises(ToolCallError, match="No tool call in this text"):
        parse_tool_calls(text)


@each_row(("text", "what"), _rows("native_refused"))
def test_ambiguous_native_call_is_refused(text, what):
    """An ambiguous native call is refused. The error names the fault and its position."""
    with pytest.raises(ToolCallError, match=what) as raised:
        parse_tool_calls(text)
    assert str(raised.value).startswith("At line ")


_KNOWN = {
    "find": opened(q=STRING, n=INTEGER, where=OBJECT),
    "web": closed(find=STRING),
    "now": opened(),
    "open_object": {**opened(a=STRING), "additionalProperties": True},
    "any": {},
}
_CLINE = _rows("cline")


@each_row(("text", "calls"), _CLINE)
def test_tags_of_known_tools_are_parsed(text, calls):
    """A known tool's tag with a tag for each parameter is a call."""
    assert list(parse_tool_calls(text, tools=_KNOWN)) == calls
    assert list(parse_tool_calls(text, tools=_KNOWN, dialect="cline_xml")) == calls


def test_tags_of_unknown_tools_are_prose():
    """A tag with tags in it is only a call if the tool is known by its definition or name."""
    text = "I look.\n<find>\n<q>x</q>\n</find>"
    for tools in (None, ["another"]):
        with pytest.raises(NoToolCallError):
            parse_tool_calls(text, tools=tools)
    assert parse_tool_calls(text, tools=["find"]) == (_FIND,)


@each_row(("text", "calls"), _CLINE)
def test_cut_off_tags_of_known_tools_are_refused(text, calls):
    """Text cut off before the end of its last call gives no other call."""
    assert_no_other_call_of_a_beginning(text, calls, tools=_KNOWN)


@each_row(("text", "what"), _rows("cline_refused"))
def test_ambiguous_tags_of_known_tools_are_refused(text, what):
    """What is not exactly a tag for each parameter is refused. The error names the fault and its position."""
    with pytest.raises(ToolCallError, match=what) as raised:
        parse_tool_calls(text, tools=_KNOWN)
    assert str(raised.value).startswith("At line ")
    assert len(str(raised.value)) < 300


@each_row("quotation", _QUOTATIONS.values())
@each_row("form", ["<find><q>x</q></find>", '<function_calls><invoke name="find"></invoke></function_calls>'])
def test_quoted_tags_of_known_tools_are_ignored(form, quotation):
    """Tags for a tool and its parameters are quoted where JSON in tags is."""
    with pytest.raises(NoToolCallError):
        parse_tool_calls(quotation.replace("{}", form), tools=_KNOWN)


def test_json_in_tags_of_known_tools_stays_json():
    """Tags in the JSON of a call are not its parameters."""
    text = '<find>{"q": "<q>x</q>"}</find><any><find>{"q": "x"}</find></any>'
    assert parse_tool_calls(text, tools=_KNOWN, servers=["any"]) == (
        ToolCall(None, "find", {"q": "<q>x</q>"}),
        ToolCall("any", "find", {"q": "x"}),
    )


_SEVERAL_FORMS = '<invoke name="find"></invoke>\n<find>{}</find>\n{"name": "find", "arguments": {}}'


@each_row("dialect", ["json", "anthropic_xml", ("anthropic_xml", "cline_xml"), ["qwen_xml", "mistral"]])
def test_a_call_in_another_form_than_the_given_dialects_is_not_read(dialect):
    """With a dialect, one or several, other forms are not read; without, those in markup are read beside JSON."""
    assert len(parse_tool_calls(_SEVERAL_FORMS, tools=_KNOWN)) == 3
    assert len(parse_tool_calls(_SEVERAL_FORMS, tools=_KNOWN, dialect=["json", "anthropic_xml"])) == 3
    with pytest.raises(ToolCallError):
        parse_tool_calls(_SEVERAL_FORMS, tools=_KNOWN, dialect=dialect)


@each_row(("name", "form"), _NATIVE_FORMS.items())
def test_each_form_is_read_in_its_own_dialect_alone(name, form):
    """A native form is read if its dialect is among the given ones, and in no other one."""
    own = {"qwen": "qwen_xml", "llama-tag": "qwen_xml", "dsml": "deepseek"}.get(name, name)
    assert parse_tool_calls(form, dialect=own) == parse_tool_calls(form, dialect=["json", own])
    for other in {"kimi", "mistral", "gemma", "cline_xml", "anthropic_xml"} - {own}:
        with pytest.raises(ToolCallError):
            parse_tool_calls(form, dialect=other, tools=["rm"])


_SCHEMA = {
    **opened(n=INTEGER, s=STRING, t=nullable(STRING), b={"$ref": "#/$defs/flag"}, o=OBJECT),
    "$defs": {"flag": BOOLEAN},
}
_DEFINED = [
    pytest.param([{"type": "function", "function": {"name": "f", "parameters": _SCHEMA}}], id="openai"),
    pytest.param([{"name": "f", "inputSchema": _SCHEMA}], id="mcp"),
    pytest.param([{"name": "f", "input_schema": _SCHEMA}], id="anthropic"),
    pytest.param({"f": _SCHEMA}, id="mapping"),
    pytest.param([SimpleNamespace(name="f", inputSchema=_SCHEMA)], id="object"),
]


@each_row("tools", _DEFINED)
def test_schemas_decide_which_values_are_strings(tools):
    """If a dialect does not mark strings, the schema decides whether a value is a string or JSON."""
    sent = {"n": "7", "s": "7", "t": "null", "b": "True", "o": '{"a": 1.50}'}
    pairs = "".join(f"<arg_key>{key}</arg_key><arg_value>{value}</arg_value>" for key, value in sent.items())
    call = parse_tool_call(f"<tool_call>f{pairs}</tool_call>", tools=tools)
    assert call.arguments == {"n": 7, "s": "7", "t": None, "b": True, "o": {"a": 1.5}}


@each_row(
    "text",
    [
        '{"name": "g", "arguments": {}}',
        "<g>{}</g>",
        "[TOOL_CALLS]g[ARGS]{}",
        "<tool_call>g</tool_call>",
        '<invoke name="g"></invoke>',
    ],
)
def test_unknown_tools_are_refused(text):
    """A call of a tool that is not among the given ones is refused by name."""
    assert parse_tool_call(text).tool == "g"
    assert parse_tool_call(text, tools=["f", "g"]).tool == "g"
    with pytest.raises(ToolCallError, match=r"'g' .*is not among the given tools"):
        parse_tool_calls(text, tools=["f"])


def test_an_empty_element_is_a_call_of_a_given_tool_only():
    """It is other markup where the tools are known, so that a call beside it may be quoted."""
    call = '{"name": "f", "arguments": {}}'
    assert [each.tool for each in parse_tool_calls(f"<g/>\n{call}")] == ["g", "f"]
    assert [each.tool for each in parse_tool_calls(f"<g/>\n{call}", tools=["f", "g"])] == ["g", "f"]
    with pytest.raises(NoToolCallError):
        parse_tool_calls("<g/>", tools=["f"])
    for text in (f"<g/>\n{call}", f"{call}\n<g/>"):
        with pytest.raises(ToolCallError, match="not plain is beside the call of 'f'"):
            parse_tool_calls(text, tools=["f"])


def test_mistral_without_args_mark_is_parsed_if_the_tool_is_known():
    """A name before JSON is a call of a known tool only, since the name may have an ID at its end."""
    text = '[TOOL_CALLS]find{"q": "x"}[TOOL_CALLS]find{}'
    assert parse_tool_calls(text, tools=["find"]) == (_FIND, ToolCall(None, "find", {}))
    for tools in (None, ["other"]):
        with pytest.raises(ToolCallError, match=r"expected the form \[TOOL_CALLS\]tool\[ARGS\]"):
            parse_tool_calls(text, tools=tools)


def test_unknown_dialect_is_refused():
    """An unknown dialect is an error that lists the known ones."""
    with pytest.raises(
        ValueError,
        match=r"dialect must be one or several of anthropic_xml, cline_xml, deepseek, .*, but is 'klingon'",
    ):
        parse_tool_calls("<a>{}</a>", dialect="klingon")
    for none in ([], ["json", "klingon"]):
        with pytest.raises(ValueError, match="dialect must be one or several of"):
            parse_tool_calls("<a>{}</a>", dialect=none)


def test_tools_must_be_names_or_definitions():
    """Any other type is a TypeError."""
    with pytest.raises(TypeError, match="one is of type int"):
        parse_tool_calls("<a>{}</a>", tools=[5])


_TEXT = st.text(st.characters(exclude_characters="\b\f"), max_size=12)
_KEY = st.text(st.characters(exclude_characters="\b\f"), max_size=5)
_NAMES = st.text(st.sampled_from("abzXY019_-."), min_size=1, max_size=12).map("t".__add__)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, width=32) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEY, inner, max_size=3),
    max_leaves=8,
).filter(lambda value: "Infinity" not in json.dumps(value))
_CALL_KEYS = {"name", "tool", "tool_name", "function", "function_call", "tool_call", "tool_calls", "params"}
_ARGUMENTS = st.dictionaries(_KEY, _JSON, max_size=3).filter(_CALL_KEYS.isdisjoint)
_CALLS = st.builds(ToolCall, st.none() | st.sampled_from(_SERVERS), _NAMES, _ARGUMENTS)
_PROSE = st.sampled_from(["", "\n", "\nNow I look it up:\n", "\nAnd then this.\n\n", "\nIt's 5% & more.\n"])


def _in_tags(call: ToolCall) -> str:
    inner = f"<{call.tool}>{json.dumps(call.arguments)}</{call.tool}>"
    return inner if call.server is None else f"<{call.server}>{inner}</{call.server}>"


def _in_json(call: ToolCall, *, as_text: bool = False, key: str = "arguments") -> str:
    arguments: Any = json.dumps(call.arguments) if as_text else call.arguments
    server = {} if call.server is None else {"server": call.server}
    return json.dumps({**server, "name": call.tool, key: arguments}, ensure_ascii=False)


_FORMS = st.sampled_from(
    [
        _in_tags,
        _in_json,
        lambda call: _in_json(call, as_text=True),
        lambda call: _in_json(call, key="input"),
        lambda call: f"```json\n{_in_json(call)}\n```\n",
        lambda call: f"<tool_call>{_in_json(call)}</tool_call>",
    ]
)


@given(st.lists(st.tuples(_CALLS, _FORMS, _PROSE), min_size=1, max_size=4))
def test_rendered_calls_are_parsed_back(calls):
    """Calls written in any format, with prose between them, are parsed to the same calls."""
    text = "".join(prose + form(call) for call, form, prose in calls)
    read = parse_tool_calls(text, servers=_SERVERS, tools={call.tool for call, _, _ in calls})
    assert json.dumps([call.arguments for call in read]) == json.dumps(
        [call.arguments for call, _, _ in calls]
    )
    assert [(call.server, call.tool) for call in read] == [(call.server, call.tool) for call, _, _ in calls]


@given(
    _CALLS.flatmap(
        lambda call: st.tuples(st.sampled_from([_in_tags(call), _in_json(call)]), st.integers(1, 400))
    )
)
def test_cut_off_text_gives_no_other_call(cut):
    """Cut-off text gives an error and never a call."""
    text, at = cut
    with pytest.raises(ToolCallError):
        parse_tool_calls(text[: min(at, len(text) - 1)])


_PIECES = st.sampled_from(
    [
        *"< > </ <a> <b> </a> </b> <think> </think> <tool_call> <!-- -->".split(),
        *r"""{ } [ ] " ' \ : , ``` // /* {} 1 "name" "arguments" name args""".split(),
        *" \n\ud800",
        *"[TOOL_CALLS] [ARGS] [THINK] [/THINK] a[ARGS] <function=a> <parameter=b> </parameter> </function>".split(),
        *"<arg_key> </arg_key> <arg_value> </arg_value> <tool_call>a <|python_tag|> [a(b=1)]".split(),
        *"<|channel|>final to=functions.a <|message|> <|start|>assistant <|call|> <|end|>".split(),
        *'<|tool_call>call:a{ b:1} <|"|> <tool_call|> <|tool_calls_section_begin|> <|open|>tools<|sep|>'.split(),
        *"<|tool_call_begin|>a:0<|tool_call_argument_begin|> <|tool_call_end|> <|tool_calls_section_end|>".split(),
        *"<｜tool▁calls▁begin｜> <｜tool▁call▁begin｜> a<｜tool▁sep｜> <｜tool▁call▁end｜> <｜tool▁calls▁end｜> <a/>".split(),
        *'<a b/>|<a b="1"/>|<a b>|<tool_call a/>|<think a/>|<a/b>|<A/>|<br/>|<code>|</code>|<arguments>|`|````'.split(
            "|"
        ),
        *'<invoke name="a">|</invoke>|<parameter name="b">|</parameter>|<function_calls>|</function_calls>'.split(
            "|"
        ),
        '{"name": "a", "args": {}}',
        '{"tool_calls": [',
        '"type": {},',
        '"status": "completed",',
    ]
)


@given(st.text(max_size=60) | st.lists(_PIECES, max_size=30).map("".join))
def test_any_text_gives_calls_or_a_tool_call_error(text):
    """Any text gives calls or a ToolCallError."""
    for tools in (None, ["a"], {"a": opened(b=STRING)}):
        try:
            calls = parse_tool_calls(text, tools=tools)
        except ToolCallError:
            continue
        assert calls
        assert all(isinstance(call.arguments, dict) and call.tool for call in calls)


@each_row(
    ("text", "server"),
    [
        ("<go_back></go_back>", None),
        ("I go.\n<go_back>\n</go_back>\nDone.", None),
        ("<web>\n<go_back></go_back>\n</web>", "web"),
    ],
)
def test_an_empty_tag_of_a_known_tool_is_a_call(text, server):
    """A known tool's name in an empty tag is a call without arguments; an unknown one's, or in a sentence, is none."""
    assert parse_tool_calls(text, tools=["go_back"], servers=["web"]) == (ToolCall(server, "go_back", {}),)
    for tools in (None, ["search"]):
        with pytest.raises(ToolCallError):
            parse_tool_calls(text, tools=tools)
    with pytest.raises(ToolCallError):
        parse_tool_calls("Use <go_back></go_back> to return.", tools=["go_back"])


_TWO_TAGS = """<browser_use>
<browser_use_execute_task>
{"task": "搜索李文倩目前工作地点", "max_steps": 10, "use_vision": true}
</browser_use_execute_task>
</browser_use>"""


def test_a_tag_that_a_tools_name_begins_with_is_its_server():
    """Around a known tool, the tag with which its name begins is that of its server, without being named."""
    arguments = {"task": "搜索李文倩目前工作地点", "max_steps": 10, "use_vision": True}
    call = ToolCall("browser_use", "browser_use_execute_task", arguments)
    assert parse_tool_call(_TWO_TAGS, tools=["browser_use_execute_task"]) == call


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        pytest.param(_TWO_TAGS, None, id="no-tools"),
        pytest.param(_TWO_TAGS, ["browser_use_other"], id="another-tool"),
        pytest.param("<example><web_search>{}</web_search></example>", ["web_search"], id="another-tag"),
        pytest.param("<we><web_search>{}</web_search></we>", ["web_search"], id="a-part-of-a-word"),
    ],
)
def test_any_other_tag_around_a_tool_may_quote_it(text, tools):
    """No call is read in it, and the error says how to name a server."""
    tag = text[1 : text.index(">")]
    with pytest.raises(
        NoToolCallError, match=f"^No tool call in this text: .* If <{tag}> is a server, name it in"
    ):
        parse_tool_call(text, tools=tools)
