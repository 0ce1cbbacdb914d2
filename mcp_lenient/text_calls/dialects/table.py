"""The dialects and their tokens, a row for each form, from chat templates and published parsers.

A form with a grammar of its own names its reader here; all others are data.
"""

from __future__ import annotations

import re
from typing import Any, Final

from mcp_lenient.text_calls.call import Calls
from mcp_lenient.text_calls.dialects import cline_xml, gemma, harmony, python
from mcp_lenient.text_calls.dialects.grammar import Dialect, whole
from mcp_lenient.text_calls.known_tools import KnownTools
from mcp_lenient.text_calls.native import CONTAINERS, NAME
from mcp_lenient.text_calls.source import Source

_p: Final = re.compile
_TOOL: Final = rf"(?P<name>{NAME})"
_KEY: Final = r'"(?P<key>[^"\n]{1,256})"'
_SEP: Final = "<｜tool▁sep｜>"
_DSML: Final = r"｜DSML｜\s?"
_QWEN: Final = r"<parameter=[^<>\n]+>"
_GIGACHAT: Final = r"(?:<\|message_sep\|>\s*function call<\|role_sep\|>|<\|function_call\|>)\s*"
_LIST: Final = rf"(?={python.LIST.pattern})"


def _typed(source: Source, tool: str, parameter: re.Match[str], raw: str) -> tuple[str, Any]:
    """Read a value whose type the tool's schema says."""
    return parameter["key"], source.typed(tool, parameter["key"], raw, parameter.start())


def _typed_lines(source: Source, tool: str, parameter: re.Match[str], raw: str) -> tuple[str, Any]:
    """Read such a value between line breaks that belong to the tags."""
    lines = raw[1:-1] if len(raw) > 1 and raw[0] == raw[-1] == "\n" else raw.removeprefix("\n")
    return _typed(source, tool, parameter, lines)


def _marked(source: Source, _tool: str, parameter: re.Match[str], raw: str) -> tuple[str, Any]:
    """Read a value that is JSON unless its parameter is marked as a text; Kimi writes the key as XML."""
    key, is_text = parameter["key"], parameter["type"] in ("string", "true")
    value = raw if is_text else source.scalar(raw, parameter.start())
    return key.replace("&quot;", '"').replace("&amp;", "&"), value


def _list_of_text(row: Dialect, source: Source, opener: re.Match[str]) -> Calls:
    """Read a list that begins the text: as all of it, if its first tool is not known."""
    listed = python.OPENER.match(source.text, opener.end())
    if listed is not None and source.tools.lists(listed["name"]):
        return python.read(row, source, listed)
    return whole(row, source, opener)


def _lists_name(tools: KnownTools, opener: re.Match[str]) -> bool:
    return tools.lists(opener["name"])


_LIST_END: Final = _p(r"\s*<\|python_end\|>\s*|\s*(?:<\|(?:eot|eom)(?:_id)?\|>\s*)?\Z")

ROWS: Final[tuple[Dialect, ...]] = (
    # Qwen3-Coder, Qwen3.5 and later; without <tool_call> around JSON, the custom tools of Llama 3.1.
    Dialect(
        "qwen_xml",
        _p(rf"(?:<tool_call>\s*)?(?=<function=\s*{NAME}\s*>)"),
        "<function=tool><parameter=key>value</parameter></function>",
        call=_p(rf"\s*<function=\s*{_TOOL}\s*>"),
        end=_p(r"\s*</function>"),
        close=_p(r"\s*</tool_call>"),
        parameter=_p(r"\s*<parameter=\s*(?P<key>[^<>\n]{1,256}?)\s*>"),
        value_end=_p(
            rf"</parameter>\s*(?={_QWEN}|</function>\s*(?:</tool_call>|<function=|<\|\w{{1,16}}\|>|\Z))"
        ),
        part=_p(rf"(?m:^[^\S\n]*(?:{_QWEN}|</function>)[^\S\n]*$)|</parameter>\s*</function>"),
        value=_typed_lines,
    ),
    # GLM 4.5 to 5.
    Dialect(
        "glm",
        _p(rf"<tool_call>\s*{_TOOL}\s*(?=<arg_key>|</tool_call>|\Z)"),
        "<tool_call>tool<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>",
        end=_p(r"\s*</tool_call>"),
        parameter=_p(r"\s*<arg_key>\s*(?P<key>[^<>\n]{1,256}?)\s*</arg_key>\s*<arg_value>"),
        value_end=_p(r"</arg_value>\s*(?=<arg_key>|</tool_call>)"),
        part=_p(r"<arg_key>[^<>\n]+</arg_key>"),
        value=_typed,
    ),
    # DeepSeek V3 (in a fence) and V3.1; V3.2 and later.
    Dialect(
        "deepseek",
        _p("<｜tool▁calls▁begin｜>"),
        "<｜tool▁call▁begin｜>tool<｜tool▁sep｜>{...}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        _p(rf"\s*<｜tool▁call▁begin｜>(?P<v3>function{_SEP})?{_TOOL}(?(v3)\s*```json|{_SEP})"),
        end=_p(r"\s*(?:```\s*)?<｜tool▁call▁end｜>"),
        close=_p(r"\s*<｜tool▁calls▁end｜>"),
    ),
    Dialect(
        "deepseek",
        _p(rf"<{_DSML}(?:function_|tool_)?calls>"),
        '<｜DSML｜invoke name="tool">, parameters and </｜DSML｜invoke></｜DSML｜tool_calls>',
        _p(rf'\s*<{_DSML}invoke name="{_TOOL}"\s*(?P<empty>/)?>'),
        end=_p(rf"\s*</{_DSML}invoke>"),
        close=_p(rf"\s*</{_DSML}(?:function_|tool_)?calls>"),
        parameter=_p(rf'\s*<{_DSML}parameter name={_KEY} string="(?P<type>true|false)">'),
        value_end=_p(rf"</{_DSML}parameter>(?=\s*(?:<{_DSML}parameter name=|</{_DSML}invoke>))"),
        part=_p(rf"<{_DSML}parameter name="),
        value=_marked,
    ),
    # Kimi K2; K3.
    Dialect(
        "kimi",
        _p(r"<\|tool_calls_section_begin\|>"),
        "<|tool_call_begin|>functions.tool:0<|tool_call_argument_begin|>{...}<|tool_call_end|>",
        _p(rf"[^<]*<\|tool_call_begin\|>\s*(?:functions\.)?{_TOOL}:\d+\s*<\|tool_call_argument_begin\|>"),
        end=_p(r"\s*<\|tool_call_end\|>"),
        close=_p(r"[^<]*<\|tool_calls_section_end\|>"),
    ),
    Dialect(
        "kimi",
        _p(r"<\|open\|>tools<\|sep\|>"),
        '<|open|>call tool="tool"<|sep|>, arguments and <|close|>call<|sep|><|close|>tools<|sep|>',
        _p(rf'\s*<\|open\|>call tool="{_TOOL}"(?: index="\d+")?<\|sep\|>'),
        end=_p(r"\s*<\|close\|>call<\|sep\|>"),
        close=_p(r"\s*<\|close\|>tools<\|sep\|>"),
        parameter=_p(rf'\s*<\|open\|>argument key={_KEY} type="(?P<type>\w+)"<\|sep\|>'),
        value_end=_p(r"<\|close\|>argument<\|sep\|>(?=\s*<\|(?:open\|>argument key=|close\|>call<\|sep\|>))"),
        part=_p(r"<\|open\|>argument key="),
        value=_marked,
    ),
    # Mistral to v7; as vLLM's tokenizer 0.10 to 0.20 writes it, where an ID would be a part of the name; v11 and later.
    Dialect("mistral", _p(r"\[TOOL_CALLS\]\s*(?=\[)"), "[TOOL_CALLS][{...}]", reader=whole),
    Dialect("mistral", _p(rf"\[TOOL_CALLS\]\s*{_TOOL}(?={{)"), "[TOOL_CALLS]tool{...}", is_call=_lists_name),
    Dialect(
        "mistral",
        _p(r"\[TOOL_CALLS\]\s*"),
        "[TOOL_CALLS]tool[ARGS]{...}",
        _p(rf"{_TOOL}(?:\[CALL_ID\]\w{{1,64}})?\[ARGS\]"),
    ),
    # gpt-oss: a message with a header, addressed to a tool in any channel.
    Dialect("harmony", harmony.OPENER, reader=harmony.read),
    # Llama 3; 4, with its tokens or as the whole text.
    Dialect(
        "llama",
        _p(r"<\|python_tag\|>\s*(?={)"),
        "<|python_tag|>{...}",
        more=_p(r"\s*;\s*(?={)"),
        reader=whole,
    ),
    Dialect(
        "llama", _p(rf"<\|python_start\|>\s*{_LIST}"), "[...]<|python_end|>", end=_LIST_END, reader=whole
    ),
    Dialect("llama", _p(rf"\A\s*{_LIST}"), "[...] alone", end=_LIST_END, reader=_list_of_text),
    # Gemma 4.
    Dialect("gemma", _p(r"<\|tool_call>"), reader=gemma.read),
    # LFM2 and LFM2.5, in Python or, if the prompt asks for it, in JSON.
    Dialect(
        "lfm2",
        _p(r"<\|tool_call_start\|>\s*"),
        "<|tool_call_start|>[...]<|tool_call_end|>",
        end=_p(r"\s*<\|tool_call_end\|>"),
        reader=whole,
    ),
    # GigaChat 3; 3.1.
    Dialect("gigachat", _p(_GIGACHAT), "<|function_call|>{...}", reader=whole),
    # Phi-4-mini.
    Dialect("phi4", _p(r"functools(?=\[\s*\{)"), "functools[{...}]", reader=whole),
    # Claude by prompt, MiniMax-M2. It is not XML: entities stay as they are.
    Dialect(
        "anthropic_xml",
        _p(r"(?=<invoke\s+name\s*=[^<>]*>)"),
        '<invoke name="tool"><parameter name="key">value</parameter></invoke>',
        _p(rf'<invoke\s+name="{_TOOL}"\s*(?P<empty>/)?>'),
        end=_p(r"\s*</invoke>"),
        parameter=_p(rf"\s*<parameter name={_KEY}>"),
        value_end=_p("</parameter>"),
        part=_p(rf"</?(?:invoke|parameter|{'|'.join(sorted(CONTAINERS))})(?:\s[^<>]*)?>"),
        is_markup=True,
    ),
    # Cline and Roo Code; any model by prompt.
    Dialect("cline_xml", cline_xml.OPENER, reader=cline_xml.read, is_markup=True, is_call=cline_xml.is_call),
    Dialect(python.PYTHON, python.OPENER, reader=python.read, is_call=_lists_name),
)
"""Every form of every dialect, in the order in which they are tried."""
DIALECTS: Final = frozenset(row.name for row in ROWS)
"""The dialects besides JSON, which is that of Hermes, Qwen 2.5 and 3, Llama 3, LongCat, OpenAI and Anthropic."""
NATIVE: Final = frozenset(row.name for row in ROWS if not row.is_markup) - {python.PYTHON}
"""The dialects of model families, whose chat templates write the results."""
