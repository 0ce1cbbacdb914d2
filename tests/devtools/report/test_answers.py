"""Test what a report answers and advises, with calls written for each case."""

from __future__ import annotations

import asyncio
import json
from typing import get_args

import pytest
from devtools.report.logs import line, log, repair, wrong
from fastmcp import Client, FastMCP

import mcp_lenient.normalizers
from mcp_lenient import LenientMiddleware
from mcp_lenient.devtools.report import Report, read_report
from mcp_lenient.devtools.report.advice import WORDS
from mcp_lenient.types import ViolationCode


def test_outcomes_are_grouped_by_tool_client_and_time(tmp_path):
    """Calls are counted by outcome: in total, by tool, by client and by period."""
    lines = [
        line("call_repaired", "a", repairs=[repair("fold_enum", "/x")]),
        line(tool="a", minute=1, error_code="INVALID_X_TYPE", violations=[wrong("type", "/x", "null")]),
        line("call_observed", "b", minute=9, error_code="INVALID_X_TYPE", client_version="2.0"),
        line("call_observed", "b", minute=9, client_version="2.0"),
    ]
    report = read_report([log(tmp_path, *lines)])
    assert report.outcomes == {"call_observed": 2, "call_rejected": 1, "call_repaired": 1}
    assert [(each.tool, each.calls, each.failed) for each in report.tools] == [("a", 2, 1), ("b", 2, 1)]
    assert [(each.version, each.calls, each.failed) for each in report.clients] == [
        ("1.0", 2, 1),
        ("2.0", 2, 1),
    ]
    assert [sum(each.outcomes.values()) for each in report.timeline.periods] == [1, 1, 2]
    assert report.timeline.seconds == 60
    (parameter,) = report.parameters
    assert (parameter.place, parameter.failed, parameter.repaired) == ("/x", 1, 1)
    assert (parameter.codes, parameter.received) == ({"type": 1}, {"null": 1})


def test_a_call_counts_once_however_often_it_is_wrong(tmp_path):
    """Several faults at one place, or in several rows of a list, count as one failed call there."""
    rows = [wrong("type", "/rows/0/id"), wrong("type", "/rows/7/id"), wrong("range", "/rows/8/id")]
    repairs = [
        repair("text_to_integer", "/n/0"),
        repair("text_to_integer", "/n/1"),
        repair("fold_enum", "/n/1"),
    ]
    report = read_report([log(tmp_path, *[line(violations=rows, repairs=repairs)] * 2)])
    by_place = {each.place: each for each in report.parameters}
    assert by_place["/rows/*/id"].failed == 2
    assert by_place["/rows/*/id"].codes == {"range": 2, "type": 2}
    assert by_place["/n/*"].repaired == 2
    assert [(each.rule, each.repairs) for each in report.rules] == [("text_to_integer", 4), ("fold_enum", 2)]


def test_the_reasons_why_calls_came_to_nothing(tmp_path):
    """Each failed call counts for one reason, by tool and client; an exception of a tool's own code is one as well."""
    lines = [
        *[line(tool="a", fault="left_out", client_name="n8n")] * 3,
        line(tool="b", fault="wrong_shape", violations=[wrong("type", "/x", "null")]),
        line("call_observed", "b", fault="too_large", error_code="ARGUMENTS_TOO_LARGE"),
        line("call_refused_upstream", "d", fault="server_refused", error_code="REFUSED_UPSTREAM"),
        line("call_failed", "e", exception="KeyError", fault="tool_failed"),
        line(tool="e", fault="of a later version"),
        line("call_repaired", "e", repairs=[repair("fold_enum", "/x")]),
    ]
    report = read_report([log(tmp_path, *lines)])
    assert {each.fault: each.calls for each in report.faults} == {
        "left_out": 3,
        **dict.fromkeys(("wrong_shape", "too_large", "server_refused", "tool_failed"), 1),
    }
    assert (report.faults[0].tools, report.faults[0].clients) == ({"a": 3}, {"n8n": 3})


def test_repeated_calls_are_loops_and_reasons_are_counted_by_model(tmp_path):
    """A refusal counts for its reason, by the models that are known; repairs count whole."""
    mistake = {"violations": [wrong("missing", "/q", "absent")], "error_code": "MISSING_Q"}
    fixed = {"repairs": [repair("fold_enum", "/x")]}
    lines = [line(**mistake, fault="loop", repeated=times) for times in (2, 3, 4)]
    models = ("small:20b", "small:20b", "large", None, None)
    lines += [line(**mistake, fault="left_out", model=model) for model in models]
    lines += [line("call_repaired", **fixed, model=model) for model in ("small:20b", "large", None)]
    report = read_report([log(tmp_path, *lines)])
    assert [(each.fault, each.calls, each.models) for each in report.faults] == [
        ("left_out", 5, {"small:20b": 2, "large": 1}),
        ("loop", 3, {}),
    ]
    assert report.tools[0].failed == 8
    assert [each.repairs for each in report.rules] == [3]


def test_unknown_tools_are_listed_separately(tmp_path):
    """A name that only got UNKNOWN_TOOL is not a tool. A tool that existed for some calls is."""
    unknown = {"error_code": "UNKNOWN_TOOL"}
    lines = [line(tool="serach", client_name=f"c{at}", **unknown) for at in range(2)]
    lines += [line("call_repaired", "gone"), line(tool="gone", **unknown), line(tool="there")]
    report = read_report([log(tmp_path, *lines)])
    assert sorted(each.tool for each in report.tools) == ["gone", "there"]
    assert [(each.tool, each.calls, each.clients) for each in report.unknown_tools] == [("serach", 2, 2)]
    assert (report.found["tools"], report.found["unknown_tools"]) == (2, 1)
    assert {cell.tool for cell in report.cells} == {"gone", "there"}


def test_callers_are_distinguished_by_subject_not_session(tmp_path):
    """The same mistake in new sessions belongs to one caller, unless the subject differs."""
    mistake = {"error_code": "MISSING_X", "violations": [wrong("missing", "/x")]}
    lines = [line(subject="ann", session_id=f"s{at}", minute=at, **mistake) for at in range(5)]
    lines += [line(subject="bob", session_id="s0", **mistake)]
    lines += [line(session_id=f"t{at}", **mistake) for at in range(3)]
    repeated = read_report([log(tmp_path, *lines)]).repeated
    assert [(each.subject, each.client, each.times, each.places) for each in repeated] == [
        ("ann", "agent", 5, ("/x",)),
        (None, "agent", 3, ("/x",)),
    ]
    assert (repeated[0].last - repeated[0].first).total_seconds() == 240


def test_lists_are_cut_to_the_requested_length(tmp_path):
    """A long list is cut, and its full length is reported."""
    report = read_report([log(tmp_path, *[line(tool=f"t{at}") for at in range(9)])], top=4)
    assert len(report.tools) == 4
    assert report.found["tools"] == 9


SWAPPED = [wrong("missing", "/task"), wrong("unknown", "/query")]


def many(count, *violations, tool="search", client="agent"):
    return [line(tool=tool, client_name=client, violations=list(violations))] * count


def from_clients(count, *violations, tool="search"):
    return [line(tool=tool, client_name=f"c{at}", violations=list(violations)) for at in range(count)]


ADVISED = {
    ("declare_alias", "search", "task"): (
        many(4, *SWAPPED),
        '@lenient(task=aliases("query"))',
        '"search": {parameters: {"task": {aliases: ["query"]}}}',
    ),
    ("declare_alias", "list", "max-results"): (
        many(3, wrong("missing", "/max-results"), wrong("unknown", "/数量"), tool="list"),
        '@lenient(**{"max-results": aliases("数量")})',
        '"list": {parameters: {"max-results": {aliases: ["数量"]}}}',
    ),
    ("parse_json", "note", "/text"): (
        [line("call_accepted", "note", hints=[{"code": "json_text_kept", "pointer": "/text"}])] * 4,
        "@lenient(text=parse_json())",
        '"note": {parameters: {"text": {parse_json: true}}}',
    ),
    ("json_as_text", None, None): (
        [line("call_repaired", repairs=[repair("json_text_to_object", "", "string", "object")])] * 3,
    ),
    ("describe_format", "plan", "/since"): (
        from_clients(3, wrong("format", "/since", "string"), tool="plan"),
    ),
    ("required_parameter", "plan", "/x"): (from_clients(3, wrong("missing", "/x"), tool="plan"),),
    ("nullable_parameter", "note", "/x"): (many(3, wrong("type", "/x", "null"), tool="note"),),
    ("two_readings", "note", "/y"): (many(3, wrong("ambiguous", "/y"), tool="note"),),
    ("drop_unknown", None, "metadata"): (
        [
            line(tool=f"t{at}", client_name="n8n", violations=[wrong("unknown", "/metadata")])
            for at in range(3)
        ],
    ),
    ("unknown_tool", "old", None): ([line(tool="old", error_code="UNKNOWN_TOOL")] * 3,),
    ("too_large", "keep", ""): (many(3, wrong("size", ""), tool="keep"),),
    ("refused_most", "add", "/x"): (many(5, wrong("type", "/x", "string"), tool="add"),),
}
UNCERTAIN = {
    "too few": many(2, *SWAPPED),
    "two candidate names": many(4, *SWAPPED, wrong("unknown", "/other")),
    **{
        f"arguments sent under {name}": many(4, wrong("missing", "/task"), wrong("unknown", f"/{name}"))
        for name in ("args", "arguments", "input", "kwargs", "parameters", "params", "properties")
    },
    "a hidden name": many(4, wrong("missing", "/task"), wrong("unknown", "/{…}")),
    "names in different objects": many(4, wrong("missing", "/a/x"), wrong("unknown", "/b/y")),
    "a format that only one client gets wrong": many(4, wrong("format", "/x")),
    "text for a number": [
        line("call_repaired", repairs=[repair("text_to_integer", "/x", "string", "integer")])
    ]
    * 4,
}


@pytest.fixture(scope="module")
def advised(tmp_path_factory):
    """Report on all calls that give advice."""
    return read_report(
        [log(tmp_path_factory.mktemp("advised"), *(each for row in ADVISED.values() for each in row[0]))]
    )


def test_advice_names_what_to_do(advised):
    """Each kind of mistake gives one piece of advice, with its calls and the line that fixes it."""
    assert {
        (each.kind, each.tool, each.parameter): (each.calls, each.python, each.definition)
        for each in advised.advice
    } == {about: (len(lines), *(fixes or (None, None))) for about, (lines, *fixes) in ADVISED.items()}
    assert len(advised.advice) == len(ADVISED)


def test_uncertain_mistakes_give_no_advice(tmp_path):
    """If the calls do not show what was meant, there is no advice."""
    lines = [
        json.dumps({**json.loads(each), "tool": name, "client_name": name})
        for name, lines in UNCERTAIN.items()
        for each in lines
    ]
    assert read_report([log(tmp_path, *lines)]).advice == ()


def test_the_model_reads_its_own_json(advised):
    """A report can be saved as JSON and loaded again."""
    assert Report.model_validate_json(advised.model_dump_json()) == advised


def test_a_repeated_mistake_gives_two_pieces_of_advice(tmp_path):
    """A call refused six times for one subject gives advice about the client and about the place."""
    mistake = line(subject="ann", error_code="INVALID_X_TYPE", violations=[wrong("type", "/x", "string")])
    report = read_report([log(tmp_path, *[mistake] * 6)])
    assert [(each.kind, each.calls) for each in report.advice] == [
        ("repeated_mistake", 6),
        ("refused_most", 6),
    ]


MOST_REFUSED = [
    {
        "6 calls of search by agent 1.0 failed at /x, with the wrong JSON type (came: array, string), one of": [
            line(violations=[wrong("type", "/x", came)]) for came in ("string", "array", "string") * 2
        ],
        "5 calls of rows by c0 1.0, c1 1.0, c2 1.0 and 2 other clients failed at /rows/*/a, with a value that "
        "the tool's own check refuses, one of": from_clients(
            5, wrong("value", "/rows/0/a"), wrong("value", "/rows/1/a"), tool="rows"
        ),
        "5 calls of few by c0 1.0, c1 1.0 and c2 1.0 failed at /x": [
            *from_clients(2, wrong("value", "/x"), tool="few"),
            *from_clients(3, wrong("value", "/x"), tool="few"),
        ],
    },
    {
        "by an unnamed client failed at the arguments as a whole, with none of the allowed values": [
            line(client_name=None, client_version=None, violations=[wrong("enum", "")])
        ]
        * 6,
        "/x/y, with a name that is not known there, one of the most frequent mistakes in this log. See which": [
            line("call_forwarded", "nested", violations=[wrong("unknown", "/x/y")])
        ]
        * 5,
    },
]


@pytest.mark.parametrize("described", MOST_REFUSED)
def test_the_most_refused_is_described(described, tmp_path):
    """The advice names the calls, tool, clients, place and error, and the command that explains them."""
    calls = [each for lines in described.values() for each in lines]
    advice = read_report([log(tmp_path, *calls)]).advice
    assert [each.kind for each in advice] == ["refused_most"] * len(described)
    for says in described:
        assert [each.tool for each in advice if says in each.text]
    assert all("mcp-lenient explain SERVER --event LINE" in each.text for each in advice)


def test_every_code_has_a_description():
    """Every code may be that of the most frequent mistake."""
    assert set(WORDS) == set(get_args(ViolationCode))


def test_only_the_most_frequent_mistake_per_tool_is_listed(tmp_path):
    """Of the three most frequent mistakes, each tool gets advice about one. Others get none."""
    many = [line(tool="a", violations=[wrong("type", "/x"), wrong("range", "/y")])] * 9
    fewer = [line(tool="b", violations=[wrong("length", "/x")])] * 8
    rest = [line(tool="c", violations=[wrong("length", "/x")])] * 7
    advice = read_report([log(tmp_path, *many, *fewer, *rest)]).advice
    assert [(each.tool, each.parameter, each.calls) for each in advice] == [("a", "/y", 9), ("b", "/x", 8)]


@pytest.mark.parametrize(
    ("lines", "kinds"),
    [
        pytest.param(
            many(9, *SWAPPED) + many(8, wrong("type", "/x", "null"), tool="note"),
            ["declare_alias", "nullable_parameter"],
            id="alias and null",
        ),
        pytest.param(
            [line(tool="keep", error_code="ARGUMENTS_TOO_LARGE", violations=[wrong("size", "")])] * 9
            + [line(tool=f"t{at % 3}", violations=[wrong("unknown", "/metadata")]) for at in range(18)],
            ["drop_unknown", "too_large"],
            id="injected and size",
        ),
    ],
)
def test_mistakes_covered_by_other_advice_are_not_repeated(lines, kinds, tmp_path):
    """A place with other advice gets no second one for its frequency."""
    assert [each.kind for each in read_report([log(tmp_path, *lines)]).advice] == kinds


def answered(server):
    """Return what the tool answers to a call under the name that the advice declares."""

    async def call():
        async with Client(server) as client:
            return await client.call_tool("search", {"query": "tea"})

    return asyncio.run(call()).data


def alias_of(report):
    return next(each for each in report.advice if each.parameter == "task")


def test_an_advised_definition_fixes_the_calls(advised, tmp_path):
    """After the advised line is added to the definitions file, the call works."""
    file = tmp_path / "tools.yaml"
    file.write_text(f"tools:\n  {alias_of(advised).definition}\n", encoding="utf-8")
    server = FastMCP("advised", middleware=[LenientMiddleware(definitions=file)])

    @server.tool
    def search(task: str) -> str:
        return task

    assert answered(server) == "tea"


def test_an_advised_declaration_fixes_the_calls(advised):
    """After the advised line is added to the function, the call works."""
    server = FastMCP("advised", middleware=[LenientMiddleware()])
    names = {"lenient": mcp_lenient.lenient, "aliases": mcp_lenient.normalizers.aliases, "server": server}
    source = f"@server.tool\n{alias_of(advised).python}\ndef search(task: str) -> str:\n    return task\n"
    exec(source, names)  # noqa: S102 - the advice is code to run
    assert answered(server) == "tea"
