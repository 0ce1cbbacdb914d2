"""Test what a report answers and advises, with calls written for each case."""

from __future__ import annotations

import asyncio
from typing import get_args

import pytest
from devtools.report.logs import line, log, repair, wrong
from fastmcp import Client, FastMCP

import mcp_lenient.normalizers
from mcp_lenient import LenientMiddleware
from mcp_lenient.devtools.report import Report, read_report
from mcp_lenient.types import ViolationCode


def of_kind(report, kind):
    """Return the advice of one kind."""
    return [each for each in report.advice if each.kind == kind]


def test_outcomes_are_grouped_by_tool_client_and_time(tmp_path):
    """Calls are counted by outcome: in total, by tool, by client and by period."""
    report = read_report(
        [
            log(
                tmp_path,
                line("call_repaired", "a", repairs=[repair("fold_enum", "/x")]),
                line(
                    "call_rejected",
                    "a",
                    minute=1,
                    error_code="INVALID_X_TYPE",
                    violations=[wrong("type", "/x", "null")],
                ),
                line("call_observed", "b", minute=9, error_code="INVALID_X_TYPE", client_version="2.0"),
                line("call_observed", "b", minute=9, client_version="2.0"),
            )
        ]
    )
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
    assert [(each.rule, each.repairs, each.calls) for each in report.rules] == [
        ("text_to_integer", 4, 2),
        ("fold_enum", 2, 2),
    ]


def test_the_reasons_why_calls_came_to_nothing(tmp_path):
    """Each failed call counts for one reason, by tool and client; an exception of a tool's own code is one as well."""
    lines = [
        *[line(tool="a", violations=[wrong("missing", "/q", "absent")], client_name="n8n")] * 3,
        line(tool="b", violations=[wrong("missing", "/q", "absent"), wrong("unknown", "/query")]),
        line(tool="b", violations=[wrong("type", "/x", "null"), wrong("enum", "/y", "string")]),
        line(tool="b", violations=[wrong("range", "/x", "integer")]),
        line(tool="b", violations=[wrong("size", "", "object")], error_code="ARGUMENTS_TOO_LARGE"),
        line(tool="b", violations=[wrong("type", "/x", "string")], error_code="CUT_OFF"),
        line(tool="c", error_code="UNKNOWN_TOOL"),
        line("call_refused_upstream", "d", error_code="REFUSED_UPSTREAM"),
        line("call_unanswered", "d", error_code="CONNECTION_LOST"),
        line("call_failed", "e", exception="KeyError", fault="tool_failed"),
        line("call_repaired", "e", repairs=[repair("fold_enum", "/x")]),
    ]
    report = read_report([log(tmp_path, *lines)])
    assert {each.fault: each.calls for each in report.faults} == {
        "left_out": 3,
        **dict.fromkeys(
            "cut_off no_answer server_refused tool_failed too_large unknown_name unknown_tool wrong_shape".split(),
            1,
        ),
        "wrong_value": 1,
    }
    assert (report.faults[0].tools, report.faults[0].clients) == ({"a": 3}, {"n8n": 3})


def test_a_call_that_was_refused_before_counts_as_a_loop(tmp_path):
    """The first refusal of a call counts for what is wrong, and those after it for the loop."""
    mistake = {"violations": [wrong("missing", "/q", "absent")], "error_code": "MISSING_Q"}
    lines = [line(**mistake), line(**mistake, repeated=2), line(**mistake, repeated=3)]
    report = read_report([log(tmp_path, *lines)])
    assert {each.fault: each.calls for each in report.faults} == {"loop": 2, "left_out": 1}
    assert report.tools[0].failed == 3


def test_the_reasons_are_counted_by_model(tmp_path):
    """Where the events name the model, each reason says which models sent most; repairs count whole."""
    mistake = {"violations": [wrong("missing", "/q", "absent")]}
    fixed = {"repairs": [repair("fold_enum", "/x")]}
    lines = [line(**mistake, model="small:20b")] * 2 + [line(**mistake, model="large"), line(**mistake)]
    lines += [line("call_repaired", **fixed, model=model) for model in ("small:20b", "large", None)]
    report = read_report([log(tmp_path, *lines)])
    assert report.faults[0].models == {"small:20b": 2, "large": 1}
    assert [(each.repairs, each.calls) for each in report.rules] == [(3, 3)]


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


def test_a_log_without_a_call_is_a_report(tmp_path):
    """A log without calls is not an error."""
    report = read_report([log(tmp_path, "no event")])
    assert (report.calls, report.log.foreign, report.advice) == (0, 1, ())


def test_the_model_reads_its_own_json(tmp_path):
    """A report can be saved as JSON and loaded again."""
    report = read_report([log(tmp_path, *[line(violations=[wrong("missing", "/x")])] * 4)])
    assert Report.model_validate_json(report.model_dump_json()) == report


SWAPPED = [wrong("missing", "/task"), wrong("unknown", "/query")]
ADVICE = [
    pytest.param(
        [line(violations=SWAPPED)] * 3,
        "declare_alias",
        3,
        '@lenient(task=aliases("query"))',
        '"search": {parameters: {"task": {aliases: ["query"]}}}',
        id="alias",
    ),
    pytest.param(
        [line(violations=[wrong("missing", "/max-results"), wrong("unknown", "/数量")])] * 3,
        "declare_alias",
        3,
        '@lenient(**{"max-results": aliases("数量")})',
        '"search": {parameters: {"max-results": {aliases: ["数量"]}}}',
        id="alias of a name that Python cannot write",
    ),
    pytest.param(
        [line("call_accepted", hints=[{"code": "json_text_kept", "pointer": "/text"}])] * 4,
        "parse_json",
        4,
        "@lenient(text=parse_json())",
        '"search": {parameters: {"text": {parse_json: true}}}',
        id="parse_json",
    ),
    pytest.param(
        [line("call_repaired", repairs=[repair("json_text_to_object", "", "string", "object")])] * 3,
        "json_as_text",
        3,
        None,
        None,
        id="whole arguments as text",
    ),
    pytest.param(
        [line(client_name=f"c{at}", violations=[wrong("format", "/since", "string")]) for at in range(3)],
        "describe_format",
        3,
        None,
        None,
        id="format",
    ),
    pytest.param(
        [line(client_name=f"c{at}", violations=[wrong("missing", "/x")]) for at in range(3)],
        "required_parameter",
        3,
        None,
        None,
        id="missing",
    ),
    pytest.param(
        [line(violations=[wrong("type", "/x", "null")])] * 3, "nullable_parameter", 3, None, None, id="null"
    ),
    pytest.param(
        [line(violations=[wrong("ambiguous", "/x")])] * 3, "two_readings", 3, None, None, id="ambiguous"
    ),
    pytest.param(
        [line(tool=f"t{at}", violations=[wrong("unknown", "/metadata")]) for at in range(3)],
        "drop_unknown",
        3,
        None,
        None,
        id="injected",
    ),
    pytest.param(
        [line(tool="old", error_code="UNKNOWN_TOOL")] * 3, "unknown_tool", 3, None, None, id="unknown tool"
    ),
    pytest.param([line(error_code="ARGUMENTS_TOO_LARGE")] * 3, "too_large", 3, None, None, id="too large"),
    pytest.param(
        [line(violations=[wrong("type", "/x", "string")])] * 5, "refused_most", 5, None, None, id="frequent"
    ),
]


@pytest.mark.parametrize(("lines", "kind", "calls", "python", "definition"), ADVICE)
def test_advice_names_what_to_do(lines, kind, calls, python, definition, tmp_path):
    """Each kind of mistake gives one piece of advice, with its calls and the line that fixes it."""
    report = read_report([log(tmp_path, *lines)])
    (advice,) = report.advice
    assert (advice.kind, advice.calls, advice.python, advice.definition) == (kind, calls, python, definition)


def test_a_repeated_mistake_gives_two_pieces_of_advice(tmp_path):
    """A call refused six times for one subject gives advice about the client and about the place."""
    mistake = line(subject="ann", error_code="INVALID_X_TYPE", violations=[wrong("type", "/x", "string")])
    report = read_report([log(tmp_path, *[mistake] * 6)])
    assert [(each.kind, each.calls) for each in report.advice] == [
        ("repeated_mistake", 6),
        ("refused_most", 6),
    ]


def from_clients(count, *violations, tool="search"):
    return [line(tool=tool, client_name=f"c{at}", violations=list(violations)) for at in range(count)]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        pytest.param(
            [line(violations=[wrong("type", "/x", came)]) for came in ("string", "array", "string") * 2],
            "6 calls of search by agent 1.0 failed at /x, with the wrong JSON type (came: array, string), one of",
            id="the received types",
        ),
        pytest.param(
            from_clients(5, wrong("value", "/rows/0/a"), wrong("value", "/rows/1/a")),
            "5 calls of search by c0 1.0, c1 1.0, c2 1.0 and 2 other clients failed at /rows/*/a, with a value that "
            "the tool's own check refuses, one of",
            id="items of a list count once, many clients",
        ),
        pytest.param(
            [*from_clients(2, wrong("value", "/x")), *from_clients(3, wrong("value", "/x"))],
            "5 calls of search by c0 1.0, c1 1.0 and c2 1.0 failed at /x",
            id="a few clients",
        ),
        pytest.param(
            [line(client_name=None, client_version=None, violations=[wrong("enum", "")])] * 5,
            "by an unnamed client failed at the arguments as a whole, with none of the allowed values",
            id="whole arguments, unnamed client",
        ),
        pytest.param(
            [line("call_forwarded", violations=[wrong("unknown", "/x/y")])] * 5,
            "/x/y, with a name that is not known there, one of the most frequent mistakes in this log. See which",
            id="a nested name",
        ),
    ],
)
def test_the_most_refused_is_described(lines, says, tmp_path):
    """The advice names the calls, tool, clients, place and error, and the command that explains them."""
    (advice,) = read_report([log(tmp_path, *lines)]).advice
    assert advice.kind == "refused_most"
    assert says in advice.text
    assert "mcp-lenient explain SERVER --event LINE" in advice.text


@pytest.mark.parametrize("code", get_args(ViolationCode))
def test_every_code_has_a_description(code, tmp_path):
    """Every code, as the most frequent mistake, gives advice about its place."""
    report = read_report([log(tmp_path, *[line(violations=[wrong(code, "/x")])] * 5)])
    assert [each.parameter for each in report.advice] == ["/x"]


def test_only_the_most_frequent_mistake_per_tool_is_listed(tmp_path):
    """Of the three most frequent mistakes, each tool gets advice about one. Others get none."""
    many = [line(tool="a", violations=[wrong("type", "/x"), wrong("range", "/y")])] * 9
    fewer = [line(tool="b", violations=[wrong("length", "/x")])] * 8
    rest = [line(tool="c", violations=[wrong("length", "/x")])] * 7
    advice = read_report([log(tmp_path, *many, *fewer, *rest)]).advice
    assert [(each.tool, each.parameter, each.calls) for each in advice] == [("a", "/y", 9), ("b", "/x", 8)]


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        pytest.param([line(violations=SWAPPED)] * 9, "declare_alias", id="alias"),
        pytest.param(from_clients(9, wrong("format", "/x")), "describe_format", id="format"),
        pytest.param(from_clients(9, wrong("missing", "/x")), "required_parameter", id="missing"),
        pytest.param([line(violations=[wrong("type", "/x", "null")])] * 9, "nullable_parameter", id="null"),
        pytest.param(
            [line(error_code="ARGUMENTS_TOO_LARGE", violations=[wrong("size", "")])] * 9,
            "too_large",
            id="size",
        ),
        pytest.param(
            [line(tool=f"t{at % 3}", violations=[wrong("unknown", "/metadata")]) for at in range(18)],
            "drop_unknown",
            id="injected",
        ),
    ],
)
def test_mistakes_covered_by_other_advice_are_not_repeated(lines, kind, tmp_path):
    """A place with other advice gets no second one for its frequency."""
    (advice,) = read_report([log(tmp_path, *lines)]).advice
    assert advice.kind == kind


NO_ADVICE = [
    pytest.param([line(violations=SWAPPED)] * 2, id="too few"),
    pytest.param([line(violations=[*SWAPPED, wrong("unknown", "/other")])] * 4, id="two candidate names"),
    *(
        pytest.param(
            [line(violations=[wrong("missing", "/task"), wrong("unknown", f"/{name}")])] * 4,
            id=f"arguments sent under {name}",
        )
        for name in ("args", "arguments", "input", "kwargs", "parameters", "params", "properties")
    ),
    pytest.param(
        [line(violations=[wrong("missing", "/task"), wrong("unknown", "/{…}")])] * 4,
        id="a hidden name",
    ),
    pytest.param(
        [line(violations=[wrong("missing", "/a/x"), wrong("unknown", "/b/y")])] * 4,
        id="names in different objects",
    ),
    pytest.param(
        [line(violations=[wrong("format", "/x")])] * 4, id="a format that only one client gets wrong"
    ),
    pytest.param(
        [line("call_repaired", repairs=[repair("text_to_integer", "/x", "string", "integer")])] * 4,
        id="text for a number",
    ),
]


@pytest.mark.parametrize("lines", NO_ADVICE)
def test_uncertain_mistakes_give_no_advice(lines, tmp_path):
    """If the calls do not show what was meant, there is no advice."""
    assert read_report([log(tmp_path, *lines)]).advice == ()


def test_an_advised_definition_fixes_the_calls(tmp_path):
    """After the advised line is added to the definitions file, the call works."""
    (advice,) = read_report([log(tmp_path, *[line(violations=SWAPPED)] * 3)]).advice
    file = tmp_path / "tools.yaml"
    file.write_text(f"tools:\n  {advice.definition}\n", encoding="utf-8")
    server = FastMCP("advised")
    server.add_middleware(LenientMiddleware(definitions=file))

    @server.tool
    def search(task: str) -> str:
        return task

    async def call():
        async with Client(server) as client:
            return await client.call_tool("search", {"query": "tea"})

    assert asyncio.run(call()).data == "tea"


def test_an_advised_declaration_fixes_the_calls(tmp_path):
    """After the advised line is added to the function, the call works."""
    (advice,) = read_report([log(tmp_path, *[line(violations=SWAPPED)] * 3)]).advice
    server = FastMCP("advised")
    server.add_middleware(LenientMiddleware())
    names = {"lenient": mcp_lenient.lenient, "aliases": mcp_lenient.normalizers.aliases, "server": server}
    source = f"@server.tool\n{advice.python}\ndef search(task: str) -> str:\n    return task\n"
    exec(source, names)  # noqa: S102 - the advice is code to run

    async def call():
        async with Client(server) as client:
            return await client.call_tool("search", {"query": "tea"})

    assert asyncio.run(call()).data == "tea"
