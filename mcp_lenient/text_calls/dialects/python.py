"""Python: ``tool(key='value')``, alone or in a list, a call only if every tool is known; Llama writes the list as well.

Python's own grammar says where a call and its arguments begin and end, and nothing is evaluated. A value is a literal that
JSON can hold. A parameter may be named like a keyword, ``from='a'``.
"""

from __future__ import annotations

import ast
import json
import keyword
import re
from typing import Any, Final

from mcp_lenient.text_calls.call import Calls, ToolCall
from mcp_lenient.text_calls.known_tools import PYTHON_NAMES
from mcp_lenient.text_calls.source import Source
from mcp_lenient.values.display import shown
from mcp_lenient.values.json_values import container

PYTHON: Final = "python"
_NAME: Final = r"[^\W\d]\w{0,127}(?:\.\w{1,128}){0,4}"
OPENER: Final = re.compile(
    rf"(?P<list>\[\s*)?(?P<name>{_NAME})\((?(list)|(?=\s*(?:\)|[^\W\d]\w{{0,127}}\s*=(?!=))))"
)
"""The beginning of a list of calls, or of a call with a named argument or none."""
LIST: Final = re.compile(rf"\[\s*{_NAME}\(")
"""The beginning of a list of calls, known or not."""
_FULL_NAME: Final = re.compile(_NAME)
_GAP: Final = re.compile(r"[\s,;]*")
_BETWEEN: Final = re.compile(r"[ \t]*(?:[,;]?[ \t\r\n]*\n|[,;][ \t]*)")
"""What may be between calls: a line break before one that is not indented, a comma or a semicolon."""
_LONG: Final = r"'''(?P<single>[^\\]*?)'''" + r'|"""(?P<double>[^\\]*?)"""'
_STRING: Final = re.compile(rf"""{_LONG}|"[^"\r\n]*"|'[^'\r\n]*'""")
_CODE: Final = re.compile(
    rf"[ \t\f\r\n,:=()\[\]{{}}]|(?<![\w.])(?:{_NAME}(?=\s*[(=])|(?:True|False|None|true|false|null)\b)"
    r"|(?:(?<=[=,:(\[])[+-]|(?<=[=,:(\[]\s)[+-])?(?<![\w.])[0-9][0-9_]*(?:\.[0-9_]+)?(?:[eE][+-]?[0-9]+)?"
)
"""What may be outside of strings: names of tools and parameters, literals, and what is between them."""
_CHAIN: Final = re.compile(r"[])}]\s*[\[({]")
"""What only a subscript or the call of a result has."""
_NOT_ASCII: Final = re.compile(r"[^\x01-\x7f]|\\")
_KEYWORD: Final = re.compile(rf"\b(?:{'|'.join(keyword.kwlist)})\b(?=\s*=)")
_LITERAL: Final = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.UAdd, ast.USub, ast.Load)
_JSON_WORDS: Final = frozenset({"true", "false", "null"})
_TOKEN: Final = re.compile(
    rf"""{_LONG}|"(?:[^"\\]|\\.)*"|'(?P<text>(?:[^'\\]|\\.)*)'"""
    r"|(?<![\w.])(?:(?P<number>\+?\d[\d_]*)|(?P<word>True|False|None)\b)",
    re.DOTALL,
)
_QUOTE: Final = re.compile(r'\\.|"', re.DOTALL)
_OTHER_ESCAPE: Final = re.compile(r"\\(?:\\|(?P<other>[/xavNU0-7]))")
"""A backslash that JSON and Python read in two ways."""


def read(_row: object, source: Source, opener: re.Match[str]) -> Calls:
    """Read calls that follow each other; return them and their end."""
    calls: list[ToolCall] = []
    begun: re.Match[str] | None = opener
    while begun is not None:
        start = begun.start()
        end = source.end(start if begun["list"] else begun.end() - 1)[0]
        calls += calls_between(source, start, end)
        begun = OPENER.match(source.text, source.past_all(_GAP, end))
        if begun is not None and not _BETWEEN.fullmatch(source.text, end, begun.start()):
            raise source.error(begun.start(), "expected a line that begins with the next call")
    unknown = next((call.tool for call in calls if not source.tools.lists(call.tool)), None)
    if unknown is not None:
        raise source.unknown(opener.start(), unknown)
    return calls, end


def calls_between(source: Source, start: int, end: int) -> list[ToolCall]:
    """Parse a call or list of calls that is the whole text between two positions."""
    text = source.text[start:end]
    masked = source.masked[start:end]
    # In one line of ASCII, Python's positions are those of the text.
    one_line = _NOT_ASCII.sub("_", masked.translate({10: " ", 13: " "}))
    code = _KEYWORD.sub(lambda word: "_" * len(word[0]), one_line)
    bare = _STRING.sub("0", masked)
    is_plain = "\0" not in text and _CHAIN.search(bare) is None and not _CODE.sub("", bare)
    try:
        tree = ast.parse(code if is_plain else "", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        what = "the call that begins here cannot be parsed as Python; it may be cut off"
        raise source.error(start, what) from None
    nodes = tree.elts if isinstance(tree, ast.List) else [tree]
    return [_call(source, text, node, start) for node in nodes]


def _part(text: str, node: Any) -> str:
    return text[node.col_offset : node.end_col_offset]


def _call(source: Source, text: str, node: ast.expr, at: int) -> ToolCall:
    if not isinstance(node, ast.Call) or node.args or any(word.arg is None for word in node.keywords):
        raise source.error(at, "this contains something other than calls with named arguments")
    name = _part(text, node.func)
    if not _FULL_NAME.fullmatch(name):
        raise source.error(at, "what is called is not a tool's name")
    values = []
    for word in node.keywords:
        key = _part(text, word).partition("=")[0].strip()
        value = _as_json(_part(text, word.value)) if _is_literal(word.value) else None
        if value is None:
            raise source.error(at, f"the value of '{shown(key)}' of '{shown(name)}' is not a literal")
        values.append(f"{json.dumps(key)}: {value}")
    arguments = container("{" + ", ".join(values) + "}", source.limits)
    if not isinstance(arguments, dict):
        what = f"an argument of '{shown(name)}' is not a plain value, or is there twice"
        raise source.error(at, what)
    return ToolCall(None, name, arguments)


def _is_literal(value: ast.expr) -> bool:
    return all(
        isinstance(part, _LITERAL) or (isinstance(part, ast.Name) and part.id in _JSON_WORDS)
        for part in ast.walk(value)
    )


def _as_json(text: str) -> str | None:
    """Write Python's strings, numbers and words as JSON does; None if an escape has another meaning there."""
    if any(escape["other"] for escape in _OTHER_ESCAPE.finditer(text)):
        return None
    return _TOKEN.sub(_plain_token, text)


def _plain_token(token: re.Match[str]) -> str:
    if token["number"]:
        return token["number"].lstrip("+").replace("_", "")
    if token["text"] is not None:
        return (
            '"' + _QUOTE.sub(lambda part: {"\\'": "'", '"': '\\"'}.get(part[0], part[0]), token["text"]) + '"'
        )
    long = token["single"] if token["single"] is not None else token["double"]
    return PYTHON_NAMES.get(token[0], token[0]) if long is None else json.dumps(long)
