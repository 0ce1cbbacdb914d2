"""Test which tool calls in text are parsed and which are refused."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from mcp_lenient import Limits
from mcp_lenient.errors import NoToolCallError, ToolCallError
from mcp_lenient.text_calls import ToolCall, parse_tool_call, parse_tool_calls

_OPENAI = {"type": "function", "id": "call_1", "function": {"name": "find", "arguments": '{"q": "x"}'}}
_SERVERS = ("web", "s", "mcp.web-1", "搜索", "proxy", "files")
_FIND = ToolCall(None, "find", {"q": "x"})
_WEB = ToolCall("web", "find", {"q": "x"})

_ONE = [
    pytest.param('<web><find>{"q": "x"}</find></web>', _WEB, id="server-and-tool"),
    pytest.param('\n<web>\n  <find>\n{"q": "x"}\n  </find>\n</web>\n', _WEB, id="indented"),
    pytest.param('<find>{"q": "x"}</find>', _FIND, id="tool"),
    pytest.param("<find>{}</find>", ToolCall(None, "find", {}), id="no-arguments"),
    pytest.param('<web><find>```json\n{"q": "x"}\n```</find></web>', _WEB, id="fence-inside-tags"),
    pytest.param('<web><find>"{\\"q\\": \\"x\\"}"</find></web>', _WEB, id="json-text-inside-tags"),
    pytest.param("<web><find>{'q': 'x',}</find></web>", _WEB, id="python-inside-tags"),
    pytest.param("<web><find>{q: 'x'} </find></web>", _WEB, id="json5-inside-tags"),
    pytest.param(
        '<mcp.web-1><find/all>{"q": "x"}</find/all></mcp.web-1>',
        ToolCall("mcp.web-1", "find/all", {"q": "x"}),
        id="signs-in-names",
    ),
    pytest.param(
        '<搜索><查找>{"q": "任务"}</查找></搜索>', ToolCall("搜索", "查找", {"q": "任务"}), id="chinese"
    ),
    pytest.param('I will look:\n<web><find>{"q": "x"}</find></web>\nAnd I say.', _WEB, id="prose-around"),
    pytest.param(
        'I will look.\n<web><find>{"q": "x"}</find></web> Then I say.', _WEB, id="between-sentences"
    ),
    pytest.param('**First**, I look.\n<find>{"q": "x"}</find>', _FIND, id="after-emphasis"),
    pytest.param('我来查一下:\n<find>{"q": "x"}</find>', _FIND, id="after-chinese-prose"),
    pytest.param('Not `<find>{"q": "y"}</find>`.\n<find>{"q": "x"}</find>', _FIND, id="after-a-quoted-one"),
    pytest.param(
        '<s><b>{"q": "</b></s> <c>{}</c> {"}</b></s>',
        ToolCall("s", "b", {"q": "</b></s> <c>{}</c> {"}),
        id="tags-in-a-value",
    ),
    pytest.param('{"name": "find", "arguments": {"q": "x"}}', _FIND, id="json"),
    pytest.param('{"name": "find", "arguments": "{\\"q\\": \\"x\\"}"}', _FIND, id="arguments-as-text"),
    pytest.param('"{\\"name\\": \\"find\\", \\"arguments\\": {\\"q\\": \\"x\\"}}"', _FIND, id="all-as-text"),
    pytest.param('{"tool": "find", "args": {"q": "x"}}', _FIND, id="tool-and-args"),
    pytest.param('{"tool_name": "find", "input": {"q": "x"}}', _FIND, id="tool-name-and-input"),
    pytest.param('{"function": "find", "parameters": {"q": "x"}}', _FIND, id="function-and-parameters"),
    pytest.param('{"server": "web", "tool": "find", "params": {"q": "x"}}', _WEB, id="server-key"),
    pytest.param('{"thought": "hm", "tool": "find", "args": {"q": "x"}}', _FIND, id="thought-beside"),
    pytest.param('{"name": "find", "arguments": null}', ToolCall(None, "find", {}), id="null-arguments"),
    pytest.param('{"name": "find", "arguments": ""}', ToolCall(None, "find", {}), id="empty-arguments"),
    pytest.param('{"name": "find", "tool": "find", "args": {"q": "x"}}', _FIND, id="one-name-twice"),
    pytest.param(json.dumps(_OPENAI), _FIND, id="openai"),
    pytest.param(
        json.dumps({"role": "assistant", "content": None, "tool_calls": [_OPENAI]}), _FIND, id="message"
    ),
    pytest.param(json.dumps({"server": "web", **_OPENAI}), _WEB, id="server-beside-function"),
    pytest.param(
        '{"type": "tool_use", "id": "t1", "name": "find", "input": {"q": "x"}}', _FIND, id="anthropic"
    ),
    pytest.param(
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "find", "arguments": {"q": "x"}}}',
        _FIND,
        id="json-rpc",
    ),
    pytest.param("{'name': 'find', 'arguments': {'q': 'x'}}", _FIND, id="python"),
    pytest.param("{name: 'find', arguments: {q: 'x',},}", _FIND, id="json5"),
    pytest.param('Sure.\n```json\n{"name": "find", "arguments": {"q": "x"}}\n```\nDone.', _FIND, id="fenced"),
    pytest.param(
        '<tool_call>\n{"name": "find", "arguments": {"q": "x"}}\n</tool_call>', _FIND, id="tool-call-tag"
    ),
    pytest.param('<tool_call>{"name": "find", "arguments": {"q": "x"}}', _FIND, id="tool-call-tag-left-open"),
    pytest.param(
        '<tool_call>\n```json\n{"name": "find", "arguments": {"q": "x"}}\n```\n</tool_call>',
        _FIND,
        id="fence-in-a-tool-call-tag",
    ),
    pytest.param(
        '{"type": "function_call", "id": "fc", "call_id": "c", "name": "find", "arguments": {"q": "x"}, "status": "completed"}',
        _FIND,
        id="responses-item",
    ),
    pytest.param(
        '{"type": null, "status": null, "name": "find", "input": {"q": "x"}}', _FIND, id="null-type"
    ),
    pytest.param(
        '{"role": "assistant", "content": "", "function_call": {"name": "find", "arguments": {"q": "x"}}}',
        _FIND,
        id="function-call-of-a-message",
    ),
    pytest.param('{"type": "tool_call", "name": "find", "args": {"q": "x"}}', _FIND, id="langchain"),
    pytest.param(
        "<tool_call><web><find>{q: 'x'}</find></web></tool_call>", _WEB, id="tags-in-a-tool-call-tag"
    ),
    pytest.param(
        '<think>or <a>{}</a>, {"name": "b", "arguments": {}}?</think><find>{"q": "x"}</find>',
        _FIND,
        id="thoughts",
    ),
    pytest.param("let me think</think><find>{q: 'x'}</find>", _FIND, id="thoughts-opened-by-the-prompt"),
    pytest.param("````\n/* so:\n- think</think><find>{q: 'x'}</find>", _FIND, id="thoughts-in-a-list"),
    pytest.param(
        '/* so:\n- think[/THINK]{"name": "find", "arguments": {"q": "x"}}', _FIND, id="thoughts-in-a-token"
    ),
    pytest.param(
        "<proxy><run>{'name': 'find', 'arguments': {}}</run></proxy>",
        ToolCall("proxy", "run", {"name": "find", "arguments": {}}),
        id="a-call-as-arguments",
    ),
]

_SEVERAL = [
    pytest.param(
        '<web><find>{"q": "x"}</find><open>{"n": 1}</open></web>',
        [_WEB, ToolCall("web", "open", {"n": 1})],
        id="server",
    ),
    pytest.param(
        "First this.\n<web><find>{q: 'x'}</find></web>\nThen that.\n<find>{q: 'x'}</find>",
        [_WEB, _FIND],
        id="with-and-without-server",
    ),
    pytest.param('{"name": "find", "arguments": {"q": "x"}}\n' * 3, [_FIND] * 3, id="json-lines"),
    pytest.param(
        json.dumps([_OPENAI, {"name": "a", "input": {}}]), [_FIND, ToolCall(None, "a", {})], id="list"
    ),
    pytest.param(json.dumps({"tool_calls": [_OPENAI, _OPENAI]}), [_FIND, _FIND], id="openai"),
    pytest.param(
        "<tool_calls><tool_call>{name: 'a', args: {}}</tool_call> <tool_call>{name: 'b', args: {}}</tool_call></tool_calls>",
        [ToolCall(None, "a", {}), ToolCall(None, "b", {})],
        id="tool-call-tags",
    ),
    pytest.param(
        'I call both.\n<find>{"q": "x"}</find><find>{"q": "x"}</find>', [_FIND, _FIND], id="one-line"
    ),
    pytest.param(
        '{"name": "find", "arguments": {"q": "x"}}, {"name": "find", "arguments": {"q": "x"}};',
        [_FIND, _FIND],
        id="signs-between",
    ),
    pytest.param(
        '```json\n{"name": "find", "arguments": {"q": "x"}}\n```\n<find>{"q": "x"}</find>',
        [_FIND, _FIND],
        id="mixed",
    ),
]

_REFUSED = [
    pytest.param("", "empty", id="empty"),
    pytest.param("  \n", "empty", id="blank"),
    pytest.param("I will look at it.", "No tool call was found in the text", id="prose"),
    pytest.param("<b>bold</b> {curly} [1] </b> <p>", "No tool call was found", id="tag-at-the-end"),
    pytest.param('{"q": "x"}', "line 1, column 1 does not have both", id="data"),
    pytest.param('So it is.\n{"name": "Ann"}', "line 2, column 1 does not have both", id="name-alone"),
    pytest.param(
        '<find>{"q": "x', "line 1, column 7: the JSON that begins here does not end", id="cut-in-json"
    ),
    pytest.param('<find>{"q": "x"}', "column 17: expected </find>", id="cut-before-closing"),
    pytest.param('<find>{"q": "x"}</fi', "expected </find>", id="cut-in-closing"),
    pytest.param("<web><find>{}</find>", "expected </web>", id="cut-before-server-closes"),
    pytest.param("<find>{}</find> <ope", "cut off", id="cut-in-opening"),
    pytest.param("<find>{}</find> <open>", "send the call alone", id="cut-after-opening"),
    pytest.param('<find>```json\n{"q": 1}</find>', "fence is not closed", id="cut-fence"),
    pytest.param('[{"name": "a", "arguments": {}}, {"name": "b"', "does not end", id="cut-list"),
    pytest.param(
        '{"name": "a", "arguments": "{\\"q\\": "}', "text that is not a JSON object", id="cut-arguments"
    ),
    pytest.param("<think>hm <find>{}</find>", "<think> is not closed", id="cut-thoughts"),
    pytest.param("<find>{}</find> <!-- x", "send the call alone", id="cut-comment"),
    pytest.param(
        "<find>{}</find> <tool_call>{}",
        "<tool_call> contains no tool call",
        id="nothing-in-open-tool-call",
    ),
    pytest.param(
        "<tool_call>what now?</tool_call>", "<tool_call> contains no tool call", id="nothing-in-tool-call"
    ),
    pytest.param("<web><find>{}</web></find>", "expected </find> to close the tag, but </web>", id="crossed"),
    pytest.param("<find>{} now</find>", "but something else follows", id="text-after-arguments"),
    pytest.param("<web><find>{}</find> and <open>{}</open></web>", "expected </web>", id="text-in-server"),
    pytest.param(
        "<web><find>{}</find><b>x</b></web>", "<b> inside <web> is not a tool call", id="other-in-server"
    ),
    pytest.param(
        "<find>{}</find></web>",
        "column 16: text that is not plain is beside the call of 'find'",
        id="opening-lost",
    ),
    pytest.param("<web> <find></find></web>", "<find> inside <web> is not a tool call", id="empty-tag"),
    pytest.param("<find id='1'>{}</find>", "has attributes", id="attributes"),
    pytest.param("<web><find>[{'a': 1}]</find></web>", "contains an array", id="array"),
    pytest.param('<find>{"q": 1, "q": 2}</find>', "has the key 'q' twice", id="duplicate-key"),
    pytest.param(
        '{"name": "a", "name": "b", "arguments": {}}', "has the key 'name' twice", id="duplicate-name"
    ),
    pytest.param('{"name": "a", "arguments": {"q": 1e999}}', "would lose digits", id="lost-digits"),
    pytest.param(
        r'{"name": "a", "arguments": {"q": "\bx"}}', "a backspace or form feed", id="lost-backslash"
    ),
    pytest.param('{"name": "a" "arguments": {}}', "cannot be parsed", id="broken-json"),
    pytest.param("<s><b><c>{}</c></b></s>", "<b> inside <s> is not a tool call", id="three-tags"),
    pytest.param("<s>see <b>{}</b></s>", "expected </s> to close the tag", id="server-or-text"),
    pytest.param('<a>{"name": "b", "arguments": {}}</a>', "<a> contains a call of 'b'", id="call-in-one-tag"),
    pytest.param(
        '<a>{"type": "tool_result", "name": "b", "input": {}}</a>',
        "<a> contains the record of a call",
        id="record-in-one-tag",
    ),
    pytest.param(
        '<a>{"tool_calls": [{"name": "b", "input": {}}], "results": []}</a>',
        "<a> contains the record of a call",
        id="message-in-one-tag",
    ),
    pytest.param(
        '<s><b>{"name": "b", "args": {}}</b></s>', "<b> contains a call of 'b'", id="call-of-the-same-name"
    ),
    pytest.param(
        '{"name": "a", "tool": "b", "arguments": {}}', "has two tool names, 'a' and 'b'", id="two-names"
    ),
    pytest.param(
        '{"server": "a", "server_name": "b", "tool": "c", "args": {}}', "two server names", id="two-servers"
    ),
    pytest.param(
        '{"name": "a", "arguments": {}, "input": {}}', "both 'arguments' and 'input'", id="two-arguments"
    ),
    pytest.param(
        '{"function": {"name": "a", "args": {}}, "tool_call": {"name": "b", "args": {}}}',
        "two tool calls",
        id="two-inside",
    ),
    pytest.param('{"name": "a", "input": {}, "age": 3}', "also has the key 'age'", id="other-key"),
    pytest.param('{"name": 5, "arguments": {}}', "not a short string", id="number-as-name"),
    pytest.param('{"name": " ", "arguments": {}}', "not a short string", id="blank-name"),
    pytest.param('{"name": null, "arguments": {}}', "has no tool name", id="null-name"),
    pytest.param('{"name": "a", "arguments": [1]}', "of type array", id="array-as-arguments"),
    pytest.param('{"name": "a", "arguments": 5}', "of type integer", id="number-as-arguments"),
    pytest.param(
        '{"name": "a", "parameters": {"type": "object", "properties": {}}}',
        "may be a definition instead of a call",
        id="definition",
    ),
    pytest.param(
        '[{"name": "a", "arguments": {}}, {"rows": []}]',
        "mixes tool calls with other values",
        id="list-with-data",
    ),
    pytest.param("<find>{}</find></think><open>{}</open>", "may be reasoning", id="possible-reasoning"),
    pytest.param(
        '<tool_call>{"name": "a", "args": {}} is wrong</tool_call>',
        "<tool_call> contains text beside the call",
        id="text-after-a-call-in-its-tag",
    ),
    pytest.param(
        '<tool_call>Never: {"name": "a", "args": {}}</tool_call>',
        "<tool_call> contains no tool call",
        id="text-before-a-call-in-its-tag",
    ),
    pytest.param(
        '<tool_call>{"rows": []} {"name": "a", "args": {}}</tool_call>',
        "<tool_call> contains no tool call",
        id="data-beside-a-call-in-its-tag",
    ),
    pytest.param(
        '<tool_call>\nI would never run {"name": "a", "args": {}}.',
        "<tool_call> contains no tool call",
        id="sentence-in-an-open-tag",
    ),
    pytest.param("<now/><a>{}</a>.", "send the call alone", id="half-quoted"),
    pytest.param("<now/>\nso <a>{}</a>", "send the call alone", id="quoted-after-a-call"),
    pytest.param("<div>{/* to do */}</div>", "contains a comment instead of arguments", id="jsx-comment"),
    *(
        pytest.param(text, "is a part of a call, not the name of a tool", id=f"part-of-a-call-{at}")
        for at, text in enumerate(
            [
                '<arguments>{"q": "x"}</arguments>',
                '<parameters>{"q": "x"}</parameters>',
                '<web><find>{"q": "x"}</find><input>{"q": "x"}</input></web>',
                "<input>{}</input>",
            ]
        )
    ),
    *(
        pytest.param(json.dumps({"name": "a", "input": {}, **other}), what, id=f"record-{at}")
        for at, (other, what) in enumerate(
            [
                ({"type": "tool_result"}, "of the type 'tool_result'"),
                ({"type": "server_tool_use"}, "of the type 'server_tool_use'"),
                ({"type": "mcp_call"}, "of the type 'mcp_call'"),
                ({"type": "invalid_tool_call"}, "of the type 'invalid_tool_call'"),
                ({"type": ["function"]}, "is not a call to be run"),
                ({"type": "tool_use", "status": "failed"}, "the status 'failed'"),
                ({"type": "tool_use", "status": "completed"}, "the status 'completed'"),
                ({"type": "function_call", "status": "incomplete"}, "the status 'incomplete'"),
                ({"type": "function_call", "status": "in_progress"}, "the status 'in_progress'"),
                ({"status": "completed"}, "the status 'completed'"),
                ({"status": []}, "so it may be the record of a call"),
            ]
        )
    ),
    *(
        pytest.param(json.dumps(value), what, id=f"message-{at}")
        for at, (value, what) in enumerate(
            [
                ({"tool_call": {"name": "a", "args": {}}, "output": "ok"}, "also has the key 'output'"),
                ({"tool_calls": [{"name": "a", "args": {}}], "results": []}, "also has the key 'results'"),
                ({"function": {"name": "a", "args": {}}, "content": "ok"}, "also has the key 'content'"),
                ({"params": {"name": "a", "args": {}}, "error": {}}, "also has the key 'error'"),
                ({"role": "tool", "tool_calls": [{"name": "a", "args": {}}]}, "has the role 'tool'"),
                ({"role": [], "function_call": {"name": "a", "args": {}}}, "only a model calls tools"),
                ({"type": "tool_result", "function": {"name": "a", "args": {}}}, "the type 'tool_result'"),
                ({"status": "failed", "function": {"name": "a", "args": {}}}, "the status 'failed'"),
                ({"tool_calls": [{"name": "a", "args": {}, "status": "failed"}]}, "the status 'failed'"),
            ]
        )
    ),
]


@each_row(("text", "call"), _ONE)
def test_one_call_is_parsed(text, call):
    """Text with one call gives its server, tool and arguments, even with prose around it."""
    assert parse_tool_call(text, servers=_SERVERS) == call
    assert parse_tool_calls(text, servers=_SERVERS) == (call,)


@each_row(("text", "calls"), _SEVERAL)
def test_several_calls_are_parsed_in_order(text, calls):
    """All calls in text are returned in order. If one is expected, several are refused."""
    assert parse_tool_calls(text, servers=_SERVERS) == tuple(calls)
    with pytest.raises(ToolCallError, match=rf"contains {len(calls)} tool calls, but one was expected"):
        parse_tool_call(text, servers=_SERVERS)


@each_row(("text", "what"), _REFUSED)
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


_MEGA = 1_000_000
_HOSTILE = {
    "less-than": "<" * _MEGA,
    "brackets": "[{" * (_MEGA // 2),
    "nested-tags": "<a>" * 30_000,
    "nested-tags-around-json": "<a>" * 30_000 + "{}",
    "tags": "<a>x" * 30_000,
    "closing-tags": "</a>" * 30_000,
    "endless-name": "<" + "a" * _MEGA,
    "endless-slashes": "<" + "a/" * (_MEGA // 2),
    "endless-attribute": "<a " + "b" * _MEGA,
    "calls-in-tags": "<a>{}</a>" * 10_000,
    "calls-of-a-server": f"<a>{'<b>{}</b>' * 10_000}</a>",
    "calls-in-json": '{"name": "a", "args": {}}\n' * 10_000,
    "calls-in-a-list": json.dumps([{"name": "a", "args": {}}] * 10_000),
    "data": '{"a": 1}' * 10_000,
    "python": "{'a': 1}" * 10_000,
    "bottomless-json": '{"a":' * 30_000,
    "bottomless-python": "{'a':" * 30_000,
    "quotes": '"' * _MEGA,
    "backslashes": "\\" * _MEGA,
    "endless-string": '{"a": "' + '\\"' * (_MEGA // 2),
    "endless-space": "{" + " " * _MEGA,
    "endless-comment": "{a: /*" + "*" * _MEGA,
    "comments": "<!--" * 30_000,
    "thoughts": "<think>" * 30_000,
    "glm": "<tool_call>a<arg_key>b</arg_key><arg_value>" * 20_000,
    "glm-keys": "<tool_call>a" + "<arg_key>b</arg_key><arg_value>" * 20_000,
    "qwen": "<function=a>" * 50_000,
    "qwen-parameters": "<function=a>" + "<parameter=b>c" * 50_000,
    "qwen-closings": "<function=a><parameter=b>" + "</parameter> " * 50_000,
    "mistral": "[TOOL_CALLS]" * 50_000,
    "harmony": "<|start|>assistant" * 30_000,
    "harmony-spaces": " " * _MEGA + "<|channel|>",
    "harmony-messages": "<|channel|>final<|message|>a<|end|>" * 20_000,
    "gemma": "<|tool_call>call:a{b:" * 30_000,
    "gemma-nesting": "<|tool_call>call:a{b:" + "[" * _MEGA,
    "kimi": "<|tool_calls_section_begin|>" * 30_000,
    "kimi-calls": "<|tool_calls_section_begin|>" + "<|tool_call_begin|>" * 30_000,
    "deepseek": "<｜tool▁calls▁begin｜>" * 30_000,
    "dsml": '<｜DSML｜tool_calls><｜DSML｜invoke name="a">'
    + '<｜DSML｜parameter name="b" string="true">' * 20_000,
    "llama": "[a(" * 100_000,
    "llama-nesting": "[a(b=" + "[" * 90_000 + "]" * 90_000 + ")]",
    "invoke": '<invoke name="a">' * 50_000,
    "invoke-parameters": '<invoke name="a">' + '<parameter name="b">' * 40_000,
    "invoke-spaces": '<invoke name="a">' + " " * _MEGA,
    "empty-tags": "<br/>" * 30_000,
    "open-comments": "/*\n" * 30_000,
    "reasoning": "[THINK]" * 30_000,
    "spaces-in-server": f"<a><b>{{}}</b>{' ' * _MEGA}",
    "spaces-before-a-sentence": " " * _MEGA + 'so {"name": "a", "args": {}}',
    "quoted-calls": " " * (_MEGA // 2) + "so <a>{}</a> is\n" * 2_000,
    "tags-left-open": "".join(f"<a{at}>x" for at in range(4_900)) + "x" * _MEGA,
    "empty-elements": "<a b/>" * 90_000,
    "fences": "````\n" * 100_000,
    "indented-lines": "a\n\n" + "    a\n\n" * 150_000,
    "indented-json": "a\n" + '\n    {"name": "a", "args": {}}\n' * 4_000,
    "list-items": "- a\n" * 250_000,
    "indentation": "a\n\n" + " " * _MEGA + '{"name": "a", "args": {}} so',
    "signs-in-a-wrapper": f"<tool_call>{', ' * (_MEGA // 2)}x",
}


@pytest.mark.usual_rows(
    "less-than",
    "endless-name",
    "data",
    "endless-string",
    "harmony-spaces",
    "gemma-nesting",
    "dsml",
    "spaces-in-server",
    "spaces-before-a-sentence",
)
@pytest.mark.slow
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


_EDIT = ToolCall(None, "edit", {"path": "a.py", "text": "  x = 1\n"})
_NATIVE = [
    pytest.param(
        "qwen_xml",
        "I edit.\n<tool_call>\n<function=edit>\n<parameter=path>\na.py\n</parameter>\n<parameter=text>\n  x = 1\n\n"
        "</parameter>\n</function>\n</tool_call>",
        [_EDIT],
        id="qwen-xml",
    ),
    pytest.param(
        "qwen_xml",
        "<tool_call>\n<function=edit>\n<parameter=text>\nuse </parameter> and <parameter=a> here\n</parameter>\n</function>"
        "\n</tool_call>\n<tool_call>\n<function=now>\n</function>\n</tool_call>",
        [
            ToolCall(None, "edit", {"text": "use </parameter> and <parameter=a> here"}),
            ToolCall(None, "now", {}),
        ],
        id="qwen-xml-tags-in-a-value",
    ),
    pytest.param(
        "glm",
        "hm, <tool_call>?</think>Now.<tool_call>edit<arg_key>path</arg_key><arg_value>a.py</arg_value>"
        "<arg_key>text</arg_key><arg_value>  x = 1\n</arg_value></tool_call><tool_call>now</tool_call>\nDone.",
        [_EDIT, ToolCall(None, "now", {})],
        id="glm",
    ),
    pytest.param(
        "deepseek",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find\n```json\n"
        '{"q": "x"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>find<｜tool▁sep｜>{"q": "x"}<｜tool▁call▁end｜>'
        "<｜tool▁calls▁end｜>",
        [_FIND, _FIND],
        id="deepseek",
    ),
    pytest.param(
        "deepseek",
        '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="find">\n<｜DSML｜parameter name="q" string="true">7</｜DSML｜parameter>\n'
        '<｜DSML｜parameter name="n" string="false">7</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name="now"/>\n'
        "</｜DSML｜tool_calls>",
        [ToolCall(None, "find", {"q": "7", "n": 7}), ToolCall(None, "now", {})],
        id="deepseek-dsml",
    ),
    pytest.param(
        "kimi",
        "Look. <|tool_calls_section_begin|><|tool_call_begin|>functions.find:0<|tool_call_argument_begin|>"
        '{"q": "x"}<|tool_call_end|><|tool_calls_section_end|>',
        [_FIND],
        id="kimi",
    ),
    pytest.param(
        "kimi",
        'Fine.<|close|>think<|sep|><|open|>tools<|sep|><|open|>call tool="find" index="1"<|sep|>'
        '<|open|>argument key="q&amp;a" type="string"<|sep|>1<|close|>argument<|sep|>'
        '<|open|>argument key="n" type="number"<|sep|>1<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
        [ToolCall(None, "find", {"q&a": "1", "n": 1})],
        id="kimi-k3",
    ),
    pytest.param(
        "mistral", '[TOOL_CALLS] [{"name": "find", "arguments": {"q": "x"}}]', [_FIND], id="mistral-list"
    ),
    pytest.param(
        "mistral",
        '[THINK]or [TOOL_CALLS]a[ARGS]{}[/THINK]So[TOOL_CALLS]find[CALL_ID]abc123456[ARGS]{"q": "x"}[TOOL_CALLS]now[ARGS]{}',
        [_FIND, ToolCall(None, "now", {})],
        id="mistral",
    ),
    pytest.param(
        "harmony",
        "<|channel|>analysis<|message|>no <|call|> yet<|end|><|start|>assistant<|channel|>commentary to=functions.find "
        '<|constrain|>json<|message|>{"q": "x"}<|call|>',
        [_FIND],
        id="harmony",
    ),
    pytest.param(
        "harmony",
        ' to=functions.find<|channel|>commentary<|message|>{"q": "x"}',
        [_FIND],
        id="harmony-prefilled",
    ),
    pytest.param("qwen_xml", '<function=find>{"q": "x"}</function><|eom_id|>', [_FIND], id="llama-3.1-tag"),
    pytest.param("llama", "[find(q='x')]<|eot|>\n", [_FIND], id="llama-end-of-turn"),
    pytest.param("llama", '<|python_tag|>{"name": "find", "parameters": {"q": "x"}}', [_FIND], id="llama"),
    pytest.param(
        "llama",
        "[find(q='x'), web.open(url=\"u\", deep=True, tags=['a'])]",
        [_FIND, ToolCall(None, "web.open", {"url": "u", "deep": True, "tags": ["a"]})],
        id="llama-python",
    ),
    pytest.param(
        "gemma",
        '<|channel>thought\nhm<channel|><|tool_call>call:find{q:<|"|>x, {y}<|"|>,a b:[1,{c:null}]}<tool_call|>Done.',
        [ToolCall(None, "find", {"q": "x, {y}", "a b": [1, {"c": None}]})],
        id="gemma",
    ),
    pytest.param(
        "anthropic_xml",
        'I look.\n\n<function_calls>\n<invoke name="find">\n<parameter name="q">x</parameter>\n</invoke>\n'
        '<invoke name="now">\n</invoke>\n</function_calls>',
        [_FIND, ToolCall(None, "now", {})],
        id="anthropic-xml",
    ),
    pytest.param(
        "anthropic_xml",
        '<invoke name="find"><parameter name="q"> 5\n&lt;<b>a</b>[TOOL_CALLS]a[ARGS]{}</parameter></invoke>\n<invoke name="now"/>',
        [ToolCall(None, "find", {"q": " 5\n&lt;<b>a</b>[TOOL_CALLS]a[ARGS]{}"}), ToolCall(None, "now", {})],
        id="anthropic-xml-alone",
    ),
    pytest.param(
        "anthropic_xml",
        '<minimax:tool_call>\n<invoke name="find">\n<parameter name="q">x</parameter>\n</invoke>\n</minimax:tool_call>',
        [_FIND],
        id="minimax",
    ),
    pytest.param("json", "<now/>", [ToolCall(None, "now", {})], id="empty-tag"),
    pytest.param("json", "I look.\n<now />\n", [ToolCall(None, "now", {})], id="empty-tag-after-prose"),
]


@each_row(("dialect", "text", "calls"), _NATIVE)
def test_native_dialects_are_parsed(dialect, text, calls):
    """The format of each model family is parsed, with its dialect given or detected."""
    assert list(parse_tool_calls(text)) == calls
    assert list(parse_tool_calls(text, dialect=dialect)) == calls


@each_row(("dialect", "text", "calls"), _NATIVE)
def test_cut_off_native_call_is_refused(dialect, text, calls):
    """Text cut off before the end of its last call gives no other call."""
    for at in range(1, len(text)):
        try:
            read = list(parse_tool_calls(text[:at], dialect=dialect))
        except ToolCallError:
            continue
        assert read == calls[: len(read)]


_NO_CALL = {
    "sentence": 'I would never run {"name": "rm", "arguments": {"path": "/"}}.',
    "sentence-after": '{"name": "rm", "arguments": {}} is what I must not write',
    "think-tokens": '[THINK]\n{"name": "rm", "arguments": {}}\n[/THINK] Done.',
    "think-signs": '◁think▷\n{"name": "rm", "arguments": {}}\n◁/think▷ Done.',
    "analysis": '<|channel|>analysis<|message|>{"name": "rm", "arguments": {}}<|end|>',
    "final": '<|channel|>final<|message|>{"name": "rm", "arguments": {}}',
    "line-comment": '// {"name": "rm", "arguments": {}}',
    "script-comment": '# {"name": "rm", "arguments": {}}',
    "block-comment": '/*\n{"name": "rm", "arguments": {}}\n*/',
    "other-method": '{"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "rm", "arguments": {}}}',
    "line-break-in-html": "a line<br/>\n<br/>\n<hr />",
    "element-in-a-sentence": "Write <rm/> to remove it.",
    "element-with-attributes": '<img src="a.png"/>',
    "sentence-after-a-comma": '{"name": "rm", "arguments": {}}, which I must not write',
    "json-after-a-tag-in-a-quotation": '> <b>so</b> {"name": "rm", "arguments": {}}',
    "json-in-nested-fences": '````md\n```json\n{"name": "rm", "arguments": {}}\n```\n````',
    "json-in-nested-tildes": '~~~~md\n~~~\n{"name": "rm", "arguments": {}}\n~~~\n~~~~',
}
_QUOTED_FORMS = {
    "tool": '<rm>{"path": "/"}</rm>',
    "server": '<files><rm>{"path": "/"}</rm></files>',
    "wrapper": '<tool_call>{"name": "rm", "arguments": {"path": "/"}}</tool_call>',
    "lines": '<tool_call>\n{"name": "rm", "arguments": {"path": "/"}}\n</tool_call>',
    "wrapped-tags": '<tool_call><rm>{"path": "/"}</rm></tool_call>',
    "without-arguments": "<files><rm/></files>",
}
_QUOTATIONS = {
    "would": "I would call {} if you let me.",
    "never": "I would never run {}.",
    "colon": "The form is: {} as you asked.",
    "subject": "{} is what I must not write",
    "new-sentence": "Careful. {} is dangerous.",
    "comma": "{}, which deletes all, is wrong.",
    "chinese": "我不会运行 {}。",
    "japanese": "これは {} です",
    "arabic": "لن أشغل {} أبدا",
    "russian": "Я бы не вызвал {}, честно.",
    "backticks": "You could write `{}`, but I will not.",
    "only-backticks": "`{}`",
    "fence-on-its-line": "```{}```",
    "two-backticks": "``{}``",
    "quotes": 'say "{}"',
    "brackets": "the tool ({})",
    "quotation": "> {}",
    "quotation-after-a-tag": "> <b>so</b> {}",
    "bullet": "- {}",
    "number": "1. {}",
    "letter": "a) {}",
    "heading": "# {}",
    "table": "| {} |",
    "log": "12:00 INFO {}",
    "comment": "// {}",
    "comment-of-a-semicolon": "; {}",
    "block-comment": "/*\n{}\n*/",
    "nested-fences": "````\n```\n{}\n```\n````",
    "html-code": "<pre><code>{}</code></pre>",
    "html-cell": "<table><tr><td>{}</td></tr></table>",
    "html-list": "<ul>\n<li>{}</li>\n</ul>",
    "indented-code": "So:\n\n    {}\n\nI will not.",
    "indented-code-by-tab": "So:\n\n\t{}",
    "indented-code-second-line": "So:\n\n    first\n    {}",
    "list-item-second-line": "- so:\n  {}",
    "list-item-paragraph": "1. So:\n\n   {}",
    "list-item-fence": "- so:\n  ```json\n  {}\n  ```",
    "list-item-fence-on-its-line": "10) ```\n    {}\n    ```",
    "list-in-a-list": "* a\n  * b\n\n    {}",
    "list-item-before-another-one": "- a\n\n  ```\n  {}\n  ```\n- b",
}


@each_row("quotation", _QUOTATIONS.values())
@each_row("form", _QUOTED_FORMS.values())
def test_quoted_tags_are_ignored(form, quotation):
    """A call in tags is not a call inside a sentence, in backticks, a quotation, a list, a table, code or a comment."""
    with pytest.raises(ToolCallError, match=r"No tool call was found|send the call alone"):
        parse_tool_calls(quotation.replace("{}", form), servers=_SERVERS)


_ELEMENTS = (
    "scratchpad document example plan draft history user analysis reflection antThinking template s del details p"
    " Answer 文档 tools x:y"
).split()
_ENCLOSED_FORMS = {
    "tool-call": '<tool_call>{"name": "rm", "arguments": {"path": "/"}}</tool_call>',
    "tool-calls": '<tool_calls><tool_call>{"name": "rm", "arguments": {"path": "/"}}</tool_call></tool_calls>',
    "json": '{"name": "rm", "arguments": {"path": "/"}}',
    "fence": '```json\n{"name": "rm", "arguments": {"path": "/"}}\n```',
    "tag": '<rm>{"path": "/"}</rm>',
    "empty": "<rm/>",
    "qwen": "<tool_call>\n<function=rm>\n<parameter=path>\n/x\n</parameter>\n</function>\n</tool_call>",
    "glm": "<tool_call>rm<arg_key>path</arg_key><arg_value>/x</arg_value></tool_call>",
    "mistral": '[TOOL_CALLS]rm[ARGS]{"path": "/"}',
    "gemma": '<|tool_call>call:rm{path:<|"|>/<|"|>}<tool_call|>',
    "llama": '<|python_tag|>{"name": "rm", "parameters": {"path": "/"}}',
}


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
    "llama-tag": '<function=rm>{"path": "/"}</function>',
    "deepseek": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>rm<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "dsml": '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="rm">\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.rm:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
    "<|tool_calls_section_end|>",
    "harmony": "<|start|>assistant<|channel|>commentary to=functions.rm<|message|>{}<|call|>",
}
_ALL_FORMS = [form for name, form in {**_ENCLOSED_FORMS, **_NATIVE_FORMS}.items() if name != "empty"]


@each_row("form", _NATIVE_FORMS.values())
def test_native_calls_are_quoted_where_tags_are(form):
    """A native call in a sentence, a quotation, a list, a table, code or a comment is not read."""
    assert parse_tool_call(f"I remove it.\n{form}\nDone.").tool == "rm"
    for quotation in _QUOTATIONS.values():
        with pytest.raises(ToolCallError):
            parse_tool_calls(quotation.replace("{}", form))


@each_row("text", ["Two searches", "Hi! ", "I remove it.", "I remove it. ", "Some text before "])
@each_row("form", [_NATIVE_FORMS[name] for name in ("mistral", "gemma", "deepseek", "kimi")])
def test_special_tokens_follow_words_on_their_line(form, text):
    """A call between special tokens is read after words or a sentence, as models write it."""
    assert parse_tool_call(f"{text}{form}").tool == "rm"


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


_FENCED_TEXTS = {
    "heredoc": "```bash\ncat > c.json <<EOF\n{}\nEOF\n```",
    "curl": "```bash\ncurl -d '\n{}\n'\n```",
    "python": "```python\npayload = '''\n{}\n'''\n```",
    "http": "```http\nPOST /mcp HTTP/1.1\nHost: a\n\n{}\n```",
    "readme": "```md\n# Use\n\n{}\n```",
    "text-after": "```\n{}\nis the form\n```",
    "text-after-the-mark": "```\n{}\n```x\n```",
    "comment": "```\n<!-- so -->\n{}\n```",
    "tag": "```html\n<p>\n{}\n```",
    "data": '```json\n{"rows": [1]}\n{}\n```',
    "reasoning": "```\n{}\n[THINK]so[/THINK]\n```",
    "other-fence": "```\n~~~\n{}\n```",
    "mark-in-a-line": "```\necho ```\n{}\n```",
    "after-a-word": "So: ```bash\ncat <<EOF\n{}\nEOF\n```",
    "tildes": "~~~\nso:\n{}\n~~~",
    "left-open": "```\nso:\n{}",
    "token": "```\n<|im_start|>\n{}\n```",
}


@each_row("fence", _FENCED_TEXTS.values())
@each_row("form", _ALL_FORMS)
def test_a_fence_with_text_beside_a_call_quotes_it(form, fence):
    """A call in a fence counts only if the fence contains nothing besides calls."""
    for tools in (None, ["rm"]):
        with pytest.raises(ToolCallError):
            parse_tool_calls(fence.replace("{}", form), tools=tools)


_FENCES = {
    "fence": "```json\n{}\n```",
    "end-of-turn": "```json\n{}\n```<|im_end|>\n",
    "end-of-sequence": "```json\n{}\n```</s>",
    "mark-after-the-call": "```json\n{}```\nDone.",
    "separators": "```\n\n{};\n```",
    "xml": "I remove it.\n\n```xml\n{}\n```\nDone.",
    "tool-call": "```tool_call\n{}\n```",
}


@each_row("fence", _FENCES.values())
@each_row("form", [form for form in _ALL_FORMS if "`" not in form])
def test_a_fence_without_other_text_does_not_quote(form, fence):
    """A call alone in a fence is a call, if the fence is bare or for JSON, XML or calls."""
    assert parse_tool_call(fence.replace("{}", form)).tool == "rm"


_SECTIONS = {
    "mistral-results": "[TOOL_RESULTS]\n{}\n[/TOOL_RESULTS]",
    "mistral-results-closed-twice": "x [TOOL_RESULTS] a\n{}\n[/TOOL_RESULTS]",
    "mistral-instruction": "[INST]\n{}\n[/INST]",
    "mistral-instruction-after-a-sentence": "Sure.[INST] do\n{}",
    "mistral-instruction-at-the-end-of-a-line": "Sure [INST]\n{}",
    "deepseek-results": "<｜tool▁outputs▁begin｜>\n{}",
    "deepseek-user": "<｜User｜>\n{}",
    "gemma-result": "<|tool_response>\n{}\n<tool_response|>",
    "gemma-user": "<start_of_turn>user\n{}<end_of_turn>",
    "chatml-user": "<|im_start|>user\n{}<|im_end|>",
    "chatml-other-role": "<|im_start|>assistants\n{}<|im_end|>",
    "chatml-turns": "<|im_start|>tool\nok<|im_end|>\n<|im_start|>assistant\n{}<|im_end|>",
    "llama-user": "<|start_header_id|>user<|end_header_id|>\n\n{}<|eot_id|>",
    "harmony-result": "<|start|>functions.a to=assistant<|channel|>commentary<|message|>ok<|end|>\n{}",
    "glm-result": "<|observation|>\n{}",
    "kimi-user": '<|open|>message role="user"<|sep|>\n{}',
    "exaone-user": "[|user|]\n{}",
    "minimax-result": "]~b]tool\n{}",
    "unknown": "<|future_results|>\n{}",
}


@each_row("section", _SECTIONS.values())
@each_row("form", _ALL_FORMS)
def test_a_call_in_a_section_of_another_author_is_refused(form, section):
    """After a special token that does not belong to the model's turn, a call is an error; it may be echoed."""
    with pytest.raises(ToolCallError):
        parse_tool_calls(section.replace("{}", form))


_OWN_SECTIONS = {
    "chatml": "<|im_start|>assistant\n{}<|im_end|>",
    "llama": "<|begin_of_text|><|start_header_id|>assistant<|end_header_id|>\n\n{}<|eot_id|>",
    "mistral": "{}</s>",
    "phi": "<|assistant|>\n{}<|end|>",
    "gemma": "<start_of_turn>model\n{}\n<end_of_turn>\n",
    "deepseek": "<｜Assistant｜>{}<｜end▁of▁sentence｜>",
    "granite": "<|start_of_role|>assistant<|end_of_role|>\n{}<|end_of_text|>",
    "command": "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_THINKING|>hm<|END_THINKING|>{}<|END_OF_TURN_TOKEN|>",
    "thought": "<|begin_of_thought|>\n<rn>1</rn>\n<|end_of_thought|>\n<|begin_of_solution|>\n{}\n<|end_of_solution|>",
    "kimi": "<|open|>response<|sep|>I look.<|close|>response<|sep|>\n{}",
}


@each_row("section", _OWN_SECTIONS.values())
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


_MARKUP = {
    "jsx": "return (\n  <div>\n    <Header />\n  </div>\n);",
    "jsx-fragment": "<>\n<Header/>\n</>",
    "jsx-spread": "<Header {...props}/>",
    "jsx-call": '<Header\n  call={{"name": "rm", "arguments": {}}}\n/>',
    "soap": '<soap:Envelope xmlns:soap="x"><soap:Body/></soap:Envelope>',
    "html": '<!DOCTYPE html>\n<html><head><meta charset="utf-8"/></head><body>\n<hr/>\n</body></html>',
    "svg": '<svg><path d="M0 0"/>\n<circle r="1"/>\n</svg>',
    "xml": "<note>\n<to>Ann</to>\n<urgent/>\n</note>",
    "xml-attributes": '<config debug="1">\n<verbose/>\n</config>',
    "part": "<input/>\n<arguments/>",
}


@each_row("text", _MARKUP.values())
def test_markup_is_not_a_call(text):
    """HTML, JSX and XML without JSON in it has no call."""
    with pytest.raises(NoToolCallError):
        parse_tool_calls(text)


def test_given_tools_may_be_named_like_markup_or_parts():
    """A tool that is given may be named like an HTML element, a component or a part of a call."""
    names = ["code", "Header", "input", "img"]
    text = "<code>{}</code>\n<Header/>\n<input>{}</input>\n<web><img/></web>"
    assert [call.tool for call in parse_tool_calls(text, tools=names, servers=["web"])] == names


@each_row("text", _NO_CALL.values())
def test_quoted_calls_and_reasoning_are_ignored(text):
    """A call in a sentence, a comment or reasoning, or a request of another method, is not a call."""
    with pytest.raises(ToolCallError, match="No tool call was found"):
        parse_tool_calls(text)


_NATIVE_REFUSED = [
    pytest.param(
        "<tool_call>find<arg_key>n</arg_key><arg_value>7</arg_value></tool_call>",
        "pass the tools'",
        id="type",
    ),
    pytest.param(
        "<tool_call>\n<function=f>\n<parameter=a>\n1x\n<parameter=b>\n2x\n</parameter>\n</function>\n</tool_call>",
        "is not closed",
        id="parameter-left-open",
    ),
    pytest.param(
        "<tool_call>f<arg_key>a</arg_key><arg_value>x</arg_value><arg_key>a</arg_key><arg_value>y</arg_value></tool_call>",
        "has the argument 'a' twice",
        id="twice",
    ),
    pytest.param("[TOOL_CALLS]find[ARGS][1]", "are an array", id="array"),
    pytest.param('[TOOL_CALLS]find{"q": 1}', "expected \\[ARGS\\] after the name", id="no-args-mark"),
    pytest.param("[f(1)]", "named arguments", id="positional"),
    pytest.param("[f(a=b)]", "not a plain value", id="expression"),
    pytest.param("<|tool_call>call:f{a:1e999}<tool_call|>", "would lose digits", id="lost-digits"),
    pytest.param(
        '[TOOL_CALLS]find[ARGS]{"q": "x"}<function=find>{"q": "x"}</function>',
        "in the form of qwen_xml",
        id="two-dialects",
    ),
    pytest.param('<invoke name="f" id="1"></invoke>', "without other attributes", id="invoke-attributes"),
    pytest.param("<invoke name='f'></invoke>", 'expected <invoke name="..."> ', id="invoke-quotes"),
    pytest.param('<invoke name="f">so</invoke>', "or </invoke> and no other text", id="invoke-text"),
    pytest.param(
        '<invoke name="f"><parameter name="a">1</parameter>, <parameter name="b">2</parameter></invoke>',
        "or </invoke> and no other text",
        id="invoke-text-between",
    ),
    pytest.param('<invoke name="f"><a>1</a></invoke>', 'expected <parameter name="...">', id="invoke-child"),
    pytest.param(
        '<invoke name="f"><parameter name="a">1</parameter><parameter name="a">2</parameter></invoke>',
        "has the argument 'a' twice",
        id="invoke-twice",
    ),
    pytest.param(
        '<invoke name="f"><parameter name="a">1<parameter name="b">2</parameter></invoke>',
        "'a' of 'f' contains <parameter name=\"b\">, .* write the call as <f>{\"a\": ",
        id="invoke-nested",
    ),
    pytest.param(
        '<invoke name="f"><parameter name="a">1', "</parameter> is missing; .* cut off", id="invoke-cut"
    ),
    pytest.param(
        '<function_calls>No: <invoke name="f"></invoke></function_calls>',
        "<function_calls> contains no tool call",
        id="invoke-beside-text",
    ),
    pytest.param("<|channel|>final no message", "has no <|message|>".replace("|", "\\|"), id="header"),
]


@each_row(("text", "what"), _NATIVE_REFUSED)
def test_ambiguous_native_call_is_refused(text, what):
    """An ambiguous native call is refused. The error names the fault and its position."""
    with pytest.raises(ToolCallError, match=what) as raised:
        parse_tool_calls(text)
    assert str(raised.value).startswith("At line ")


_KNOWN = {
    "find": {
        "type": "object",
        "properties": {"q": {"type": "string"}, "n": {"type": "integer"}, "where": {"type": "object"}},
    },
    "web": {"type": "object", "properties": {"find": {"type": "string"}}, "additionalProperties": False},
    "now": {"type": "object", "properties": {}},
    "open_object": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
    "any": {},
}
_CLINE = [
    pytest.param("<find><q>x</q></find>", [_FIND], id="line"),
    pytest.param("I look.\n\n<find>\n<q>\nx\n</q>\n</find>\n\nDone.", [_FIND], id="lines"),
    pytest.param("<find>\r\n<q>\r\nx\r\n</q>\r\n</find>", [_FIND], id="crlf"),
    pytest.param("```xml\n<find>\n<q>x</q>\n</find>\n```", [_FIND], id="fence"),
    pytest.param("<find><q>x</q></find><find><q>x</q></find>", [_FIND, _FIND], id="several"),
    pytest.param("<tool_use><find><q>x</q></find></tool_use>", [_FIND], id="container"),
    pytest.param(
        "<find><n>5</n><where>{}</where></find>",
        [ToolCall(None, "find", {"n": "5", "where": "{}"})],
        id="text",
    ),
    pytest.param("<find><q></q></find>", [ToolCall(None, "find", {"q": ""})], id="empty-value"),
    pytest.param("<find><q>\n\n x \n\n</q></find>", [ToolCall(None, "find", {"q": "\n x \n"})], id="spaces"),
    pytest.param(
        "<find><q>a &lt; b, a < b, List<T>, <b>c</b>, [TOOL_CALLS]a[ARGS]{}</q></find>",
        [ToolCall(None, "find", {"q": "a &lt; b, a < b, List<T>, <b>c</b>, [TOOL_CALLS]a[ARGS]{}"})],
        id="characters",
    ),
    pytest.param("<web><find>x</find></web>", [ToolCall(None, "web", {"find": "x"})], id="named-like-a-tool"),
    pytest.param(
        "<any><a>x < y</a><b>z</b></any>", [ToolCall(None, "any", {"a": "x < y", "b": "z"})], id="no-schema"
    ),
    pytest.param(
        "<open_object><b>z</b></open_object>", [ToolCall(None, "open_object", {"b": "z"})], id="open"
    ),
    pytest.param(
        "<find>\n<q>x</q>\n</find>\n<now></now>", [_FIND, ToolCall(None, "now", {})], id="no-arguments"
    ),
]


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
    for at in range(1, len(text)):
        try:
            read = list(parse_tool_calls(text[:at], tools=_KNOWN))
        except ToolCallError:
            continue
        assert read == calls[: len(read)]


_CLINE_REFUSED = [
    pytest.param(
        "<find><query>x</query></find>",
        "<query> is not a parameter of 'find', .* are: n, q, where",
        id="child",
    ),
    pytest.param("<now><q>x</q></now>", "<q> is not a parameter of 'now', .* are: none", id="no-parameters"),
    pytest.param("<find><q>x</q><q>y</q></find>", "has the argument 'q' twice", id="twice"),
    pytest.param("<find><q>x</q> and <n>1</n></find>", "or </find> and no other text", id="text-between"),
    pytest.param("<find>so <q>x</q></find>", "or </find> and no other text", id="text-before"),
    pytest.param("<find><q>x</q>.</find>", "or </find> and no other text", id="text-after"),
    pytest.param('<find id="1"><q>x</q></find>', "<find> has attributes", id="attributes"),
    pytest.param(
        '<find><q id="1">x</q></find>',
        "expected a parameter such as <key>value</key>",
        id="attributes-of-a-child",
    ),
    pytest.param("<find><q/></find>", "expected a parameter such as <key>value</key>", id="empty-child"),
    pytest.param("<find><q>x", "</q> is missing; the text may be cut off", id="cut"),
    pytest.param("<find><q>x</Q></find>", "</q> is missing", id="case"),
    pytest.param(
        "<find><q>x <n>1</n></q></find>", "contains <n>, .* write the call as <find>{", id="nested-parameter"
    ),
    pytest.param("<find><q><q>x</q></q></find>", "contains <q>", id="nested-itself"),
    pytest.param("<find><q>x</find></q></find>", "contains </find>", id="crossed"),
    pytest.param("<find><where><a>1</a></where></find>", "contains <a>", id="structure"),
    pytest.param("<any><a>x<b>y</b></a></any>", "contains <b>", id="markup-without-schema"),
    pytest.param(
        '<web><find>{"q": "x"}</find></web>', "a call of 'web', or of 'find' of the server 'web'", id="server"
    ),
]


@each_row(("text", "what"), _CLINE_REFUSED)
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
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "s": {"type": "string"},
        "t": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "b": {"$ref": "#/$defs/flag"},
        "o": {"type": "object"},
    },
    "$defs": {"flag": {"type": "boolean"}},
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
        "<g/>",
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


def test_mistral_without_args_mark_is_parsed_if_the_tool_is_known():
    """A name before JSON is a call of a known tool only, since the name may have an ID at its end."""
    text = '[TOOL_CALLS]find{"q": "x"}[TOOL_CALLS]find{}'
    assert parse_tool_calls(text, tools=["find"]) == (_FIND, ToolCall(None, "find", {}))
    for tools in (None, ["other"]):
        with pytest.raises(ToolCallError, match="expected \\[ARGS\\] after the name of the tool"):
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
    read = parse_tool_calls(text, servers=_SERVERS)
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
    for tools in (None, ["a"], {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}):
        try:
            calls = parse_tool_calls(text, tools=tools)
        except ToolCallError:
            continue
        assert calls
        assert all(isinstance(call.arguments, dict) and call.tool for call in calls)


@pytest.mark.parametrize(
    ("text", "server"),
    [
        pytest.param("<go_back></go_back>", None, id="pair"),
        pytest.param("I go.\n<go_back>\n</go_back>\nDone.", None, id="lines"),
        pytest.param("<web>\n<go_back></go_back>\n</web>", "web", id="server"),
        pytest.param("<go_back/>", None, id="one-tag"),
    ],
)
def test_an_empty_tag_of_a_known_tool_is_a_call(text, server):
    """A known tool's name in an empty tag is a call without arguments."""
    assert parse_tool_calls(text, tools=["go_back"], servers=["web"]) == (ToolCall(server, "go_back", {}),)


@pytest.mark.parametrize("text", ["<go_back></go_back>", "<web><go_back></go_back></web>"])
def test_an_empty_tag_of_an_unknown_tool_is_not_a_call(text):
    """If the tools are not known, or the name is not among them, an empty tag is not a call."""
    for tools in (None, ["search"]):
        with pytest.raises(ToolCallError):
            parse_tool_calls(text, tools=tools)


def test_an_empty_tag_in_a_sentence_is_not_a_call():
    """A tool's name in tags inside a sentence is not a call."""
    with pytest.raises(ToolCallError):
        parse_tool_calls("Use <go_back></go_back> to return.", tools=["go_back"])
