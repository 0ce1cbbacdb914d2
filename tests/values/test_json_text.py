"""Test which arrays and objects in text are parsed and which are refused."""

from __future__ import annotations

import ast
import json
import time
import warnings
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tables import ARRAY, OBJECT, REFUSED, STRING, array, closed, each_row, exactly, read_as, rows

from mcp_lenient import DEFAULT_RULES, Limits, Policy, ToolCallError, normalize, parse_tool_call

KINDS = [closed("p", p=ARRAY), closed("p", p=OBJECT)]
DIALECTS = frozenset({"json", "json5", "python"})


@lru_cache(maxsize=64)
def parsing(dialects: frozenset[str], **limits: int) -> Policy:
    """Return a policy that only reads these dialects."""
    rules = [rule for rule in DEFAULT_RULES if rule.name.split("_text_to_")[0] in dialects]
    return Policy(rules=tuple(rules), limits=Limits(**limits))


def parse(text: str, /, *, dialects: frozenset[str] = DIALECTS, **limits: int) -> tuple[Any, str] | None:
    """Return the list or object that a text is read as, and its dialect; None if it is refused."""
    policy = parsing(dialects, **{"relaxed_text": 256 * 2**10, **limits})
    for schema in KINDS:
        result = normalize(schema, {"p": text}, policy)
        if not result.violations:
            (repair,) = result.repairs
            return result.arguments["p"], repair.rule.split("_text_to_")[0]
    return None


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal and of the same JSON types."""
    return json.dumps(one) == json.dumps(other)


@pytest.mark.parametrize(
    ("table", "dialect"),
    [
        ("json_is_parsed", "json"),
        ("json5_is_parsed_where_json_fails", "json5"),
        ("python_literals_are_parsed", "python"),
    ],
)
def test_text_is_parsed_in_the_strictest_dialect(table: str, dialect: str) -> None:
    """One array or object is parsed, despite space, fences or quotes around it: as JSON, else JSON5, else Python."""
    read = {row.id: (parse(row.values[0]), row.values[1]) for row in rows(__file__, table)}
    assert {name: found for name, (found, value) in read.items() if found != (value, dialect)} == {}


_NOT_PARSED = ("text_must_be_one_container", "cut_off_text_is_refused", "ambiguous_syntax_is_refused")


@each_row("text", [row for table in _NOT_PARSED for row in rows(__file__, table)])
def test_other_text_is_refused(text: str) -> None:
    """Text that is not one whole container, is cut off, or would need guessing has no JSON value."""
    assert parse(text) is None


@each_row(
    "text",
    [
        '{"a": 1, "a": 1}',
        '{"a": 1, "\\u0061": 2}',
        '[{"b": {"a": 1, "a": 2}}]',
        "{'a': 1, 'a': 2}",
        "{a: 1, 'a': 2}",
        "{'a': True, \"a\": True}",
        "{'\\ud83d\\ude00': 1, '\U0001f600': 2,}",
    ],
)
def test_duplicate_keys_are_refused(text: str) -> None:
    """Text with a duplicate key is refused in every grammar, even if the values are equal."""
    assert parse(text) is None


_NOT_JSON_NUMBERS = [
    *("NaN", "Infinity", "-Infinity", "nan", "inf", "undefined", "1e999", "1e-999", "0.1234567890123456789"),
    *("9007199254740993.0", "9" * 5000, "+1", "01", "0644", ".5", "5.", "0x1F", "0o7", "0b1", "1_000", "1j"),
    *("1L", "1n", "- 1", "--1", "~1", "1 000", "1+1", "4 // 2", "\uff11", "\u0661", "1a", "1true", "1'a'"),
]


def test_non_json_numbers_are_refused() -> None:
    """Text with a number that is not spelled as in JSON, or would lose a digit, is refused."""
    templates = ("[%s]", "[%s,]", "{'a': %s}", "(None, %s)")
    texts = [template % number for template in templates for number in _NOT_JSON_NUMBERS]
    assert [text for text in texts if parse(text) is not None] == []


@pytest.mark.parametrize("text", ["['a\\/b']", '["a\\/b",]', "[None, 'a\\/b']", "['\\\\\\/']"])
def test_texts_that_grammars_read_differently_are_refused(text: str) -> None:
    r"""An escaped slash means different text in JSON5 and Python, so it is refused if both are possible."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert parse(text) is None
    assert not caught


def test_json5_comments_are_not_parsed_as_python() -> None:
    """JSON5 comments are not parsed as Python, which could warn about their content."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert parse("['\\n', //1if\n]") == (["\n"], "json5")
    assert not caught


def test_only_enabled_dialects_are_parsed() -> None:
    """Only the requested grammars are used. Plain JSON does not count as one of the others."""
    json5 = frozenset({"json5"})
    python = frozenset({"python"})
    assert parse("[1]", dialects=json5 | python) is None
    assert parse("{a: 1}", dialects=DIALECTS - json5) is None
    assert parse("[None]", dialects=DIALECTS - python) is None
    assert parse("['a']", dialects=frozenset({"json"})) is None
    assert parse("['a']", dialects=frozenset()) is None
    assert parse("['a']", dialects=python) == (["a"], "python")
    assert parse("['a\\/b']", dialects=json5) == (["a/b"], "json5")
    assert parse("['a\\/b']", dialects=python) is None


def test_floats_keep_their_spelling() -> None:
    """A number parsed from text keeps its spelling, in every dialect: a list of texts gets it."""
    numbers = ["3.10", "-0.0", "1e3", "0.30000000000000004", "7.00"]
    for text in ("[{}]", "[{},]", "({})"):
        assert read_as(array(STRING), text.format(", ".join(numbers))) == numbers
    assert read_as(array(STRING), "[-0]") == ["-0"]
    assert exactly(read_as(ARRAY, "[-0]")) == exactly([-0.0])


def test_length_limits_apply() -> None:
    """Text up to its limit is parsed. Longer text is refused."""
    assert parse("[1, 2]", text=6) is not None
    assert parse("[1, 2]", text=5) is None
    assert parse("[1, 2,]", relaxed_text=7) is not None
    assert parse("[1, 2,]", relaxed_text=6) is None
    assert parse("[1, 2]", relaxed_text=1) is not None


@each_row(
    "nested",
    [
        lambda depth: "[" * depth + "]" * depth,
        lambda depth: '{"a":' * depth + "1" + "}" * depth,
        lambda depth: "[" * depth + "'[{('," + "]" * depth,
        lambda depth: "(" * depth + "1," + ")," * (depth - 1) + ")",
        lambda depth: '["]]\\"]]\\\\",' * depth + '"[{"' + "]" * depth,
        lambda depth: "{a:" * depth + "null" + "}" * depth,
        lambda depth: (
            '[{"a":' * (depth // 2) + "[]" * (depth % 2) + "1" * (1 - depth % 2) + "}]" * (depth // 2)
        ),
        lambda depth: "[" + "(1,), [2], {'a': 3}, " * 50 + "[" * (depth - 1) + "]" * depth,
    ],
)
def test_depth_limit_applies(nested: Any) -> None:
    """Nesting up to the limit is parsed, one more level is refused. Brackets in strings do not count."""
    assert parse(nested(40), depth=40) is not None
    assert parse(nested(41), depth=40) is None


def test_json_at_the_depth_limit_is_json() -> None:
    """JSON at the depth limit is parsed as JSON, not as JSON5."""
    assert parse("[[1], [2]]", depth=2) == ([[1], [2]], "json")
    assert parse("[[[1]], [2]]", depth=3) == ([[[1]], [2]], "json")


def test_many_shallow_containers_are_parsed() -> None:
    """Many brackets without deep nesting are parsed."""
    rows = [{"id": number, "tags": ["a", "]"]} for number in range(1000)]
    assert parse(json.dumps(rows)) == (rows, "json")
    assert parse(repr(rows)) == (rows, "json5")


@pytest.mark.slow
@pytest.mark.parametrize("max_depth", [64, 1_000_000])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 200_000, id="opening-brackets"),
        pytest.param('{"a":' * 10_000 + "1" + "}" * 10_000, id="deep-objects"),
        pytest.param("['" * 130_000, id="brackets-and-quotes-within-the-limit"),
        pytest.param("(" * 200_000, id="parentheses"),
        pytest.param("(" * 10_000 + "1," + ")," * 9_999 + ")", id="deep-tuples"),
        pytest.param("[" * 300 + "'a'," + "]" * 300, id="deeper-than-the-python-parser"),
        pytest.param("[" + "9" * 5_000_000 + "]", id="digits"),
        pytest.param("[" + "9" * 200_000 + ",]", id="digits-relaxed"),
        pytest.param('"' * 1_000_000, id="quotes"),
        pytest.param("[" + "\\" * 1_000_000, id="backslashes"),
        pytest.param("['" + "\\n" * 120_000, id="escapes-cut-off"),
        pytest.param("[/*" + "*" * 250_000, id="open-comment"),
        pytest.param("[" + "/* */" * 50_000, id="comments"),
        pytest.param("[ " + ", // c" * 40_000, id="commas-and-comments"),
        pytest.param("[" + "a" * 250_000, id="long-word"),
        pytest.param("[" + "''" * 120_000, id="empty-strings"),
        pytest.param("\ufeff" * 1_000_000 + "[1]", id="byte-order-marks"),
    ],
)
def test_hostile_text_is_refused_fast(text: str, max_depth: int) -> None:
    """Text designed to stall or overflow a parser is refused fast, without an error, at any limits."""
    started = time.process_time()
    parsed = parse(text, depth=max_depth)
    assert time.process_time() - started < 5
    assert parsed is None or (max_depth > 64 and text[-1] in "]}")


@each_row("text")
def test_looks_like_json_accepts_beginnings_of_json(text: str) -> None:
    """Text that begins like JSON looks like it, valid or not."""
    assert read_as(array(STRING), text, "scalar_to_array") is REFUSED


texts = st.text(
    st.characters(exclude_characters="\b\f") | st.sampled_from("'\"\\/[]{}(),:\n\u2028\ud83d\ude00"),
    max_size=8,
)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
containers = st.lists(values, max_size=4) | st.dictionaries(texts, values, max_size=4)


@given(
    containers,
    st.fixed_dictionaries({"ensure_ascii": st.booleans(), "indent": st.sampled_from([None, 1, "\t"])}),
)
def test_dumped_json_is_read_back(value: Any, form: dict[str, Any]) -> None:
    """The output of json.dumps is parsed as JSON to an equal value with the same types."""
    parsed = parse(json.dumps(value, **form))
    assert parsed is not None
    assert parsed[1] == "json"
    assert same(parsed[0], value)


@given(containers, st.integers(1, 3))
def test_quoted_json_is_read_back(value: Any, layers: int) -> None:
    """JSON encoded several times is parsed like JSON encoded once."""
    text = json.dumps(value)
    for _ in range(layers):
        text = json.dumps(text)
    parsed = parse(text)
    assert parsed is not None
    assert same(parsed[0], value)


@given(containers)
@example(["'", '"'])
@example(["\\"])
@example(["\u2028", "\x7f", "\xa0"])
@example([0.0, -0.0, 1e22, 1e16])
def test_repr_is_read_as_itself_or_refused(value: Any) -> None:
    """The output of Python's repr is never parsed as another value."""
    parsed = parse(repr(value))
    assert parsed is None or same(parsed[0], value)


simple = st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), max_size=8)
simple_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | simple,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(simple, inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(simple_values, max_size=4))
def test_repr_of_printable_values_is_read(value: list[Any]) -> None:
    """The repr of printable text is always parsed."""
    parsed = parse(repr(value))
    assert parsed is not None
    assert same(parsed[0], value)


@st.composite
def json5_texts(draw: st.DrawFn, value: Any) -> str:
    """Write a value in JSON5, with other quotes, bare keys, comments and trailing commas."""
    if isinstance(value, str):
        body = json.dumps(value, ensure_ascii=draw(st.booleans()))[1:-1]
        if draw(st.booleans()):
            return f'"{body}"'
        return "'" + body.replace('\\"', '"').replace("'", "\\'") + "'"
    if not isinstance(value, (list, dict)):
        return json.dumps(value)
    gap = draw(st.sampled_from(["", " ", "\n", '/* , ] } " */', "// ' [\n"]))
    comma = draw(st.sampled_from(["", ","])) if value else ""
    if isinstance(value, list):
        return f"[{gap}" + f",{gap}".join(draw(json5_texts(item)) for item in value) + f"{comma}{gap}]"
    bare = draw(st.booleans())
    pairs = [
        (key if bare and key.isascii() and key.isidentifier() else draw(json5_texts(key)))
        + ":"
        + draw(json5_texts(item))
        for key, item in value.items()
    ]
    return f"{{{gap}" + f",{gap}".join(pairs) + f"{comma}{gap}}}"


@given(containers, st.data())
def test_json5_is_read_as_itself_or_refused(value: Any, data: st.DataObject) -> None:
    """A value written in JSON5 is never parsed as another value."""
    text = data.draw(json5_texts(value))
    parsed = parse(text)
    assert parsed is None or same(parsed[0], value)


FRAGMENTS = [
    *"""[ ] { } ( ) , : " ' \\ // /* */ # ``` json 'a' "b" 'x': a: a b' 1 -0 3.10 1e3 _0 + = true True None null NaN""".split(),
    *("...", "\\n", "\\/", "\\'", '\\"', "\\x41", "\\u0041", "\\ud83d", "\\ude00", "\u2028", "\n", " "),
    *("\x00", "\ud800", "\ufeff", "\xa0", "lambda", "if", "\u00e9"),
]
soups = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)
wrapped_soups = st.tuples(st.sampled_from("[{("), soups, st.sampled_from("]})")).map("".join)


def python_value(text: str) -> str | None:
    """Return Python's value of a literal, as JSON."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return json.dumps(ast.literal_eval(text))
        except (SyntaxError, ValueError, TypeError, MemoryError):
            return None


@given(st.text() | soups | wrapped_soups)
def test_any_text_is_parsed_or_refused(text: str) -> None:
    """No text makes the parser raise or warn, and JSON of a parsed value can be parsed again."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parsed = parse(text)
    assert not caught
    if parsed is not None:
        again = parse(json.dumps(parsed[0]))
        assert again is not None
        assert same(again[0], parsed[0])


@given(wrapped_soups | containers.map(repr))
@example("['a\\/b',]")
@example("[(1)]")
def test_python_literals_are_read_as_python_or_refused(text: str) -> None:
    """Relaxed text that is a Python literal is parsed as Python would, or refused."""
    parsed = parse(text)
    if parsed is not None and parsed[1] != "json":
        assert python_value(text.strip()) in {None, json.dumps(parsed[0])}


@given(containers, st.data())
def test_prefixes_are_refused(value: Any, data: st.DataObject) -> None:
    """Text without its end is refused."""
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    assert parse(cut) is None
    cut = repr(value)[: data.draw(st.integers(0, len(repr(value)) - 1))]
    assert parse(cut) is None


@each_row(("text", "value"))
def test_an_invalid_escape_in_a_call_is_a_backslash(text, value):
    """It is, if the text has no valid escape of one letter; elsewhere than in the text of a call it is refused."""
    called = f'<tool_call>{{"name": "t", "arguments": {text}}}</tool_call>'
    try:
        assert parse_tool_call(called).arguments == value
    except ToolCallError:
        assert value is None
    assert parse(text) is None
