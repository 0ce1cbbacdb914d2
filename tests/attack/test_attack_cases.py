"""Send attack calls to ``normalize``, to a server with published schemas and to one with functions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import jsonschema_rs
import pytest
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool, ToolResult
from fastmcp_versions import RAW, not_on_3
from mcp.types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, create_model
from tables import each_row
from typing_extensions import TypedDict
from wire import call, http

from mcp_lenient import LenientMiddleware, Policy, normalize

FOLDER = Path(__file__).parent.parent / "cases" / "attack"
REFUSED = "REFUSED"
ODD = "schemas"
"""The file whose schemas other validators cannot read."""
PUBLISHED = "published"
"""The file of calls about which we differ from the schema's own words."""


@dataclass(frozen=True, slots=True)
class Row:
    """A call and the arguments that must reach the tool."""

    id: str
    schema: dict[str, Any]
    sent: Any
    expected: Any
    why: str
    destructive: bool = False

    @property
    def file(self) -> str:
        return self.id.partition("/")[0]


def _rows(file: Path) -> list[Row]:
    return [Row(**case) for case in json.loads(file.read_text(encoding="utf-8"))["cases"]]


FILES = {file.stem: _rows(file) for file in sorted(FOLDER.glob("*.json"))}
ROWS = [row for rows in FILES.values() for row in rows]
TEXTS = [row for row in ROWS if isinstance(row.sent, str)]
"""The rows that send text instead of an arguments object."""
each_file = pytest.mark.parametrize("name", FILES)


def same(left: Any, right: Any) -> bool:
    """Compare JSON values and their types: 1 equals neither true nor 1.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def verdict(expected: Any, outcome: Any) -> str:
    """Return "right", or say whether a value was corrupted or a repair is missing."""
    if same(expected, outcome):
        return "right"
    if outcome == REFUSED:
        return f"REFUSED THOUGH WANTED: it should run with {expected!r}"
    if expected == REFUSED:
        return f"CORRUPTED: it ran with {outcome!r}, and must be refused"
    return f"CORRUPTED: it ran with {outcome!r}, and must run with {expected!r}"


def check_rows(found: dict[str, str]) -> None:
    """Fail with the verdict and reason of each wrong row. ``found`` maps a row's id to its verdict."""
    reasons = {row.id: row.why for row in ROWS}
    assert {id_: (word, reasons[id_]) for id_, word in found.items() if word != "right"} == {}


@each_file
def test_rows_are_named_after_their_file(name):
    """A row's id starts with the name of its file."""
    assert {row.file for row in FILES[name]} == {name}


def test_the_corpus_is_large_and_has_valid_and_invalid_calls():
    """Every id is unique, and at least a quarter of the rows must run."""
    assert len(ROWS) >= 260
    assert [name for name, count in Counter(row.id for row in ROWS).items() if count > 1] == []
    assert sum(row.expected != REFUSED for row in ROWS) * 4 >= len(ROWS)


def _readable(row: Row) -> bool:
    return row.file != ODD and isinstance(row.sent, dict)


@each_row("name", [name for name in FILES if name != ODD])
def test_another_validator_agrees_with_the_rows(name):
    """Another validator accepts the expected arguments, and the sent ones only if they equal those."""
    for row in FILES[name] if name != PUBLISHED else ():
        accepted = jsonschema_rs.Draft202012Validator(row.schema).is_valid
        assert row.expected == REFUSED or accepted(row.expected), row
        if isinstance(row.sent, dict):
            assert accepted(row.sent) == same(row.sent, row.expected), row


@pytest.mark.quick_rows("destructive", "spelling")
@each_file
def test_normalize(name):
    """``normalize`` returns what each row expects, or refuses."""
    found = {}
    for row in FILES[name]:
        result = normalize(row.schema, row.sent, Policy(destructive=row.destructive))
        found[row.id] = verdict(row.expected, REFUSED if result.violations else result.arguments)
    check_rows(found)


@pytest.mark.quick_rows("destructive", "spelling")
@each_file
def test_normalizing_twice_changes_nothing(name):
    """The arguments that a row expects are accepted unchanged (laws 1 and 8)."""
    for row in FILES[name]:
        if row.expected != REFUSED:
            result = normalize(row.schema, row.expected, Policy(destructive=row.destructive))
            assert not result.repairs, row
            assert result.arguments is row.expected, row


class Recording(Tool):
    """A custom tool that records its arguments."""

    _received: list[Any] = PrivateAttr(default_factory=list)

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        self._received.append(arguments)
        return ToolResult(content="ran")


async def _outcome(client: Client[Any], tool: str, sent: dict[str, Any], received: list[Any]) -> Any:
    """Call the tool. Return the arguments that reached it, or REFUSED."""
    received.clear()
    result = await client.call_tool_mcp(tool, sent)
    if not received:
        assert result.is_error, "the tool did not run, but its caller got no error"
        assert "mcp_lenient" in (result.meta or {}), f"refused without an envelope: {result.content!r:.300}"
        return REFUSED
    return received[-1]


@pytest.mark.usual_rows("destructive", "text", "units")
@pytest.mark.slow
@each_file
async def test_a_server_that_publishes_the_schemas(name):
    """Over a client and a server, each tool gets what its row expects, or its caller gets the envelope."""
    server = FastMCP(name, middleware=[LenientMiddleware(Policy(unrepairable="refuse"))])
    tools = {}
    for at, row in enumerate(FILES[name]):
        hints = ToolAnnotations(destructiveHint=row.destructive)
        tools[row.id] = Recording(name=f"tool_{at}", parameters=row.schema, annotations=hints)
        server.add_tool(tools[row.id])
    found = {}
    async with Client(server) as client:
        for row in FILES[name]:
            if isinstance(row.sent, dict):
                tool = tools[row.id]
                outcome = await _outcome(client, tool.name, row.sent, tool._received)
                found[row.id] = verdict(row.expected, outcome)
    check_rows(found)


class _Release(BaseModel):
    model_config = ConfigDict(extra="forbid")
    version: str
    rank: int = 0


class _Train(BaseModel):
    model_config = ConfigDict(extra="forbid")
    releases: list[_Release] = []
    pins: dict[str, str] = {}


class _Loose(BaseModel):
    version: str


class _Typed(TypedDict):
    version: str


class _Renamed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    min_version: str


_Word = Annotated[str, Field(max_length=12)]
_Call = dict[str, Any]
_Function = tuple[dict[str, Any], Any, Any]
_LIST: _Call = {"versions": list[str]}
_TEXT: _Call = {"version": str}
_OPTIONAL: _Call = {"versions": list[str] | None}
_RELEASE: _Call = {"release": _Release}
_TRAIN: _Call = {"train": _Train}
_PINS: _Call = {"pins": dict[str, str]}

FUNCTIONS: dict[str, _Function] = {
    "list": (_LIST, {"versions": "[2.50, 7]"}, {"versions": ["2.50", "7"]}),
    "list-one": (_LIST, {"versions": "[4.10]"}, {"versions": ["4.10"]}),
    "list-integers": (_LIST, {"versions": "[4, 5]"}, {"versions": ["4", "5"]}),
    "list-large-integer": (
        _LIST,
        {"versions": "[12345678901234567890]"},
        {"versions": ["12345678901234567890"]},
    ),
    "list-large-even-integer": (
        _LIST,
        {"versions": "[1152921504606846976]"},
        {"versions": ["1152921504606846976"]},
    ),
    "list-many-digits": (
        _LIST,
        {"versions": "[3.14159265358979323846]"},
        REFUSED,
    ),
    "list-trailing-comma": (_LIST, {"versions": "[2.50, 7.00,]"}, {"versions": ["2.50", "7.00"]}),
    "list-tuple": (_LIST, {"versions": "(2.50, 7.00)"}, {"versions": ["2.50", "7.00"]}),
    "list-fenced": (_LIST, {"versions": "```json\n[2.50]\n```"}, {"versions": ["2.50"]}),
    "list-encoded-twice": (_LIST, {"versions": '"[2.50]"'}, {"versions": ["2.50"]}),
    "list-mixed": (_LIST, {"versions": '["a", 2.50]'}, REFUSED),
    "list-null": (_LIST, {"versions": "[2.50, null]"}, REFUSED),
    "list-boolean": (_LIST, {"versions": "[2.50, true]"}, REFUSED),
    "list-leading-zero": (_LIST, {"versions": "[007]"}, REFUSED),
    "list-hex": (_LIST, {"versions": "[0x10]"}, REFUSED),
    "list-not-finite": (_LIST, {"versions": "[NaN]"}, REFUSED),
    "list-cut-off": (_LIST, {"versions": "[2.50"}, REFUSED),
    "list-texts": (_LIST, {"versions": '["2.50", "7"]'}, {"versions": ["2.50", "7"]}),
    "list-right": (_LIST, {"versions": ["2.50", "[7.10]"]}, {"versions": ["2.50", "[7.10]"]}),
    "list-sent-integers": (_LIST, {"versions": [4, 5]}, {"versions": ["4", "5"]}),
    "list-sent-one-digit": (_LIST, {"versions": [4.5]}, REFUSED),
    "list-sent-mixed": (_LIST, {"versions": ["a", 5]}, REFUSED),
    "list-optional": (_OPTIONAL, {"versions": "[2.50, 7]"}, {"versions": ["2.50", "7"]}),
    "list-bounded-items": ({"versions": list[_Word]}, {"versions": "[2.50]"}, {"versions": ["2.50"]}),
    "list-literal": (
        {"versions": list[Literal["3.1", "3.10"]]},
        {"versions": "[3.10]"},
        {"versions": ["3.10"]},
    ),
    "lists": (
        {"grid": list[list[str]]},
        {"grid": "[[1.10], [2.20, 3]]"},
        {"grid": [["1.10"], ["2.20", "3"]]},
    ),
    "map": (_PINS, {"pins": '{"lib": 1.10, "app": 2.00}'}, {"pins": {"lib": "1.10", "app": "2.00"}}),
    "map-bare-keys": (_PINS, {"pins": "{lib: 1.10}"}, {"pins": {"lib": "1.10"}}),
    "map-python": (_PINS, {"pins": "{'lib': 1.10}"}, {"pins": {"lib": "1.10"}}),
    "map-null": (_PINS, {"pins": '{"lib": null}'}, REFUSED),
    "map-of-lists": (
        {"pins": dict[str, list[str]]},
        {"pins": '{"lib": [1.10]}'},
        {"pins": {"lib": ["1.10"]}},
    ),
    "model": (_RELEASE, {"release": '{"version": 4.10}'}, {"release": {"version": "4.10"}}),
    "model-and-integer": (
        _RELEASE,
        {"release": '{"version": 4.10, "rank": 2}'},
        {"release": {"version": "4.10", "rank": 2}},
    ),
    "model-encoded-twice": (
        _RELEASE,
        {"release": json.dumps('{"version": 4.10}')},
        {"release": {"version": "4.10"}},
    ),
    "model-open": ({"release": _Loose}, {"release": '{"version": 4.10}'}, {"release": {"version": "4.10"}}),
    "model-optional": (
        {"release": _Release | None},
        {"release": '{"version": 4.10}'},
        {"release": {"version": "4.10"}},
    ),
    "model-renamed": (
        {"release": _Renamed},
        {"release": '{"minVersion": 4.10}'},
        {"release": {"min_version": "4.10"}},
    ),
    "model-slip": ({"release": _Renamed}, {"release": '{"min_versoin": 4.10}'}, REFUSED),
    "typed-dict": ({"release": _Typed}, {"release": '{"version": 4.10}'}, {"release": {"version": "4.10"}}),
    "models": (
        {"releases": list[_Release]},
        {"releases": '[{"version": 4.10}, {"version": 5.00}]'},
        {"releases": [{"version": "4.10"}, {"version": "5.00"}]},
    ),
    "models-texts": (
        {"releases": list[_Release]},
        {"releases": ['{"version": 4.10}']},
        {"releases": [{"version": "4.10"}]},
    ),
    "nested": (
        _TRAIN,
        {"train": '{"releases": [{"version": 4.10}], "pins": {"lib": 1.00}}'},
        {"train": {"releases": [{"version": "4.10"}], "pins": {"lib": "1.00"}}},
    ),
    "nested-text": (
        _TRAIN,
        {"train": '{"releases": "[{\\"version\\": 4.10}]"}'},
        {"train": {"releases": [{"version": "4.10"}]}},
    ),
    "nested-part": (
        _TRAIN,
        {"train": {"pins": '{"lib": 1.00}'}},
        {"train": {"pins": {"lib": "1.00"}}},
    ),
    "renamed": ({"all_versions": list[str]}, {"allVersions": "[4.10]"}, {"all_versions": ["4.10"]}),
    "renamed-model": (
        {"new_release": _Release},
        {"newRelease": '{"version": 4.10}'},
        {"new_release": {"version": "4.10"}},
    ),
    "beside-injected": (_LIST, {"versions": "[4.10]", "toolCallId": "c"}, {"versions": ["4.10"]}),
    "beside-a-right-one": (
        {"name": str, "versions": list[str]},
        {"name": "[2.50]", "versions": "[2.50]"},
        {"name": "[2.50]", "versions": ["2.50"]},
    ),
    "beside-a-number": (
        {"score": float, "versions": list[str]},
        {"score": "2.50", "versions": "[2.50]"},
        {"score": 2.5, "versions": ["2.50"]},
    ),
    "unwrapped-inner-text": (_LIST, {"args": {"versions": "[4.10, 5]"}}, {"versions": ["4.10", "5"]}),
    "unwrapped-text-in-text": (_LIST, {"input": '{"versions": "[4.10, 5]"}'}, {"versions": ["4.10", "5"]}),
    "unwrapped-list": (_LIST, {"input": '{"versions": [4.10, 5]}'}, {"versions": ["4.10", "5"]}),
    "unwrapped-mixed": (_LIST, {"input": '{"versions": ["a", 4.10]}'}, REFUSED),
    "unwrapped-map": (_PINS, {"input": '{"pins": {"lib": 1.10}}'}, {"pins": {"lib": "1.10"}}),
    "unwrapped-model": (
        _RELEASE,
        {"args": '{"release": {"version": 4.10}}'},
        {"release": {"version": "4.10"}},
    ),
    "unwrapped-renamed": ({"min_version": str}, {"input": '{"minVersion": 4.10}'}, {"min_version": "4.10"}),
    "unwrapped-beside-injected": (
        _TEXT,
        {"input": '{"version": 4.10}', "toolCallId": "c"},
        {"version": "4.10"},
    ),
    "unwrapped-key": (_TEXT, {'{"version": 4.10}': ""}, {"version": "4.10"}),
    "unwrapped-two": (
        {"version": str, "rank": int},
        {"input": '{"version": 4.10, "rank": "3"}'},
        {"version": "4.10", "rank": 3},
    ),
    **{
        f"unwrapped-{name}": (_TEXT, {name: '{"version": 4.10}'}, {"version": "4.10"})
        for name in (
            "args",
            "input",
            "params",
            "arguments",
            "parameters",
            "kwargs",
            "raw_arguments",
            "tool_input",
        )
    },
    "flat-fields": (_RELEASE, {"version": "4.10", "rank": 2}, {"release": {"version": "4.10", "rank": 2}}),
    "text-or-list": ({"v": str | list[str]}, {"v": "[4.250]"}, {"v": "[4.250]"}),
    "integer-or-list": ({"v": int | list[str]}, {"v": "[4.250]"}, {"v": ["4.250"]}),
    "optional-models": (
        {"releases": list[_Release] | None},
        {"releases": '[{"version": 4.250}]'},
        {"releases": [{"version": "4.250"}]},
    ),
    "any": ({"v": Any}, {"v": "[4.250]"}, {"v": "[4.250]"}),
    "numbers": ({"v": list[float]}, {"v": "[4.250, 2]"}, {"v": [4.25, 2.0]}),
    "text": (_TEXT, {"version": "[4.10]"}, {"version": "[4.10]"}),
    "text-sent-two-digits": (_TEXT, {"version": 4.25}, {"version": "4.25"}),
    "text-sent-one-digit": (_TEXT, {"version": 4.5}, REFUSED),
    "text-sent-list": (_TEXT, {"version": [4]}, REFUSED),
    "text-sent-rounded": (_TEXT, {"version": 1152921504606846976}, REFUSED),
    "text-sent-exact": (_TEXT, {"version": 9007199254740993}, {"version": "9007199254740993"}),
}


def _longer(value: Any) -> Any:
    """Lengthen the numbers to three decimals, so that a float's text has two decimals and would run."""
    text = json.dumps(value)
    for short, long in (("2.50", "2.750"), ("4.10", "4.250"), ("1.10", "1.120"), ("1.00", "1.250")):
        text = text.replace(short, long)
    return json.loads(text)


FUNCTIONS |= {
    f"{name}-longer": (annotations, _longer(sent), _longer(expected))
    for name, (annotations, sent, expected) in FUNCTIONS.items()
    # A number that stays a number has no spelling to compare.
    if expected not in (REFUSED, sent) and _longer(sent) != sent and name != "beside-a-number"
}

WHOLE: dict[str, tuple[_Call, str, Any]] = {
    "text": (_TEXT, '{"version": 4.250}', {"version": "4.250"}),
    "text-one-digit": (_TEXT, '{"version": 4.10}', {"version": "4.10"}),
    "fenced": (_TEXT, '```json\n{"version": 4.250}\n```', {"version": "4.250"}),
    "encoded-twice": (_TEXT, json.dumps('{"version": 4.250}'), {"version": "4.250"}),
    "bare-key": (_TEXT, "{version: 4.250}", {"version": "4.250"}),
    "renamed": ({"min_version": str}, '{"minVersion": 4.250}', {"min_version": "4.250"}),
    "list": (_LIST, '{"versions": [4.250, 5]}', {"versions": ["4.250", "5"]}),
    "list-in-text": (_LIST, '{"versions": "[4.250, 5]"}', {"versions": ["4.250", "5"]}),
    "map": (_PINS, '{"pins": {"lib": 1.120}}', {"pins": {"lib": "1.120"}}),
    "model": (_RELEASE, '{"release": {"version": 4.250}}', {"release": {"version": "4.250"}}),
    "nested": (
        _TRAIN,
        '{"train": {"releases": [{"version": 4.250}]}}',
        {"train": {"releases": [{"version": "4.250"}]}},
    ),
    "wrapped": (_TEXT, '{"args": {"version": 4.250}}', {"version": "4.250"}),
    "mixed": (_LIST, '{"versions": ["a", 4.250]}', REFUSED),
    "two-keys-alike": (_TEXT, '{"version": 4.250, "version": 5}', REFUSED),
}


def _plain(value: Any) -> Any:
    """Convert models to dicts of the fields that were set, without defaults."""
    if isinstance(value, BaseModel):
        return {name: _plain(getattr(value, name)) for name in value.model_fields_set}
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list) else value


def _recording(annotations: dict[str, Any], received: list[Any]) -> Callable[..., str]:
    """Return a function with these parameters that records its arguments."""

    def tool(**arguments: Any) -> str:
        received.append({name: _plain(value) for name, value in arguments.items()})
        return "ran"

    signature = create_model("Arguments", **{name: (kind, ...) for name, kind in annotations.items()})
    tool.__signature__ = signature.__signature__  # type: ignore[attr-defined]
    tool.__annotations__ = {**annotations, "return": str}
    return tool


def _functions(server: FastMCP, tools: list[Tool]) -> FastMCP:
    for tool in tools:
        server.add_tool(tool)
    return server


def _transformed(server: FastMCP, tools: list[Tool]) -> FastMCP:
    return _functions(server, [Tool.from_tool(tool, description="Once more.") for tool in tools])


def _mounted(server: FastMCP, tools: list[Tool]) -> FastMCP:
    server.mount(_functions(FastMCP("child"), tools))
    return server


@pytest.mark.usual_rows("lax", "mounted")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "strict"),
    [
        pytest.param(_functions, False, id="lax"),
        pytest.param(_functions, True, id="strict"),
        pytest.param(_transformed, False, id="transformed"),
        pytest.param(_mounted, False, id="mounted"),
    ],
)
async def test_functions_get_numbers_as_spelled(build, strict):
    """Functions validated by Pydantic also get numbers as they were spelled in the source."""
    received: list[Any] = []
    server = FastMCP("functions", strict_input_validation=strict, middleware=[LenientMiddleware()])
    build(
        server,
        [
            Tool.from_function(_recording(annotations, received), name=name)
            for name, (annotations, _, _) in FUNCTIONS.items()
        ],
    )
    found = {}
    async with Client(server) as client:
        for name, (_, sent, expected) in FUNCTIONS.items():
            found[name] = verdict(expected, await _outcome(client, name, sent, received))
    assert {name: word for name, word in found.items() if word != "right"} == {}


@pytest.fixture(scope="module")
def whole() -> Iterator[Callable[[str, str], Any]]:
    """Return a function that sends text as a tool's whole arguments and returns what reached the tool."""
    middleware = LenientMiddleware(Policy(unrepairable="refuse"))
    server = FastMCP("whole", middleware=[middleware], strict_input_validation=True)
    received: list[Any] = []
    for name, (kinds, _, _) in WHOLE.items():
        server.add_tool(Tool.from_function(_recording(kinds, received), name=f"function-{name}"))
    tools = {f"row-{at}": Recording(name=f"row-{at}", parameters=row.schema) for at, row in enumerate(TEXTS)}
    for tool in tools.values():
        server.add_tool(tool)
    with http(server, "modern") as wire:

        def send(tool: str, text: str) -> Any:
            received.clear()
            result = call(wire, tool, text)["result"]
            reached = tools[tool]._received if tool in tools else received
            assert result["isError"] is (not reached)
            return reached[-1] if reached else REFUSED

        yield send


@pytest.mark.quick_rows("text", "two-keys-alike")
@pytest.mark.parametrize("name", WHOLE)
@not_on_3(RAW)
def test_json_text_arguments_of_a_function_keep_the_spelling(whole, name):
    """Numbers keep their spelling if the whole arguments are JSON text."""
    _, sent, expected = WHOLE[name]
    assert verdict(expected, whole(f"function-{name}", sent)) == "right"


@not_on_3(RAW)
def test_json_text_arguments_of_tools_with_schemas(whole):
    """Tools with published schemas get the expected arguments from text sent as the whole arguments."""
    check_rows({row.id: verdict(row.expected, whole(f"row-{at}", row.sent)) for at, row in enumerate(TEXTS)})


@each_row(
    ("expected", "outcome", "word"),
    [
        ({"a": 1}, {"a": True}, "CORRUPTED"),
        ({"a": 1}, {"a": 1.0}, "CORRUPTED"),
        (REFUSED, {"a": 1}, "CORRUPTED"),
        ({"a": 1}, REFUSED, "REFUSED THOUGH WANTED"),
        ({"a": [1, "2"]}, {"a": [1, "2"]}, "right"),
    ],
)
def test_corruption_is_reported_differently_from_refusal(expected, outcome, word):
    """The verdict distinguishes corruption from refusal."""
    assert verdict(expected, outcome).startswith(word)
