"""Test that the envelope has one format, is bounded and can be sent safely."""

from __future__ import annotations

import json

import pytest
from calls import Published, call, lenient
from calls import envelope as envelope_of
from fastmcp.tools import ToolResult
from fastmcp_versions import NOT_THERE, not_on_3
from mcp.types import CallToolResult, TextContent
from tables import STRING, array, closed, nullable, rows

from mcp_lenient import Decision, Limits, Policy, Repair
from mcp_lenient.adapters.fastmcp.results import as_result, repaired_result
from mcp_lenient.refusal.envelope import error_envelope

SCHEMA = closed("content", content=STRING, tags=nullable(array(STRING)))
REPAIR = Repair("json_text_to_array", "/tags", "string", "array")


async def refused(sent, schema=SCHEMA):
    """Return the envelope for arguments that the schema refuses."""
    server = lenient(Published(name="store_context", parameters=schema), policy=Policy(unrepairable="refuse"))
    return envelope_of(await call(server, "store_context", sent))


async def test_one_fault():
    """A single violation is repeated at the top of the details."""
    message = "'tags' must be an array of strings or null, but got the integer 123."
    assert await refused({"content": "x", "tags": 123}) == {
        "status": "error",
        "error_code": "INVALID_TAGS_TYPE",
        "recovery": "correctable",
        "retryable": False,
        "message": f"Invalid arguments for tool 'store_context': {message} The tool was not run. "
        "Correct the call; do not guess: look up or ask the user.",
        "details": {
            "tool": "store_context",
            "parameter": "tags",
            "received_type": "integer",
            "expected_types": ["array of strings", "null"],
            "received_value": 123,
            "violations": [
                {
                    "pointer": "/tags",
                    "parameter": "tags",
                    "code": "type",
                    "message": message,
                    "received_type": "integer",
                    "received_value": 123,
                    "expected_types": ["array of strings", "null"],
                }
            ],
            "parameters": {"required": ["content"], "optional": ["tags"]},
            "repairs": [],
        },
    }


async def test_several_violations_are_numbered():
    """Several violations are numbered lines, and none is repeated at the top."""
    reported = await refused({"tags": "[{}]", "x": 2})
    assert reported["error_code"] == "INVALID_ARGUMENTS"
    assert reported["message"].splitlines()[0] == "Invalid arguments for tool 'store_context':"
    assert "parameter" not in reported["details"]
    assert reported["details"]["repairs"] == [
        {"rule": "json_text_to_array", "pointer": "/tags", "before": "string", "after": "array"}
    ]


@pytest.mark.parametrize(
    ("name", "schema", "value", "expected"),
    rows(__file__, "error_code"),
)
async def test_error_code(name, schema, value, expected):
    """The error code names the declared top-level parameter and the kind of error."""
    tool = Published(name="t", parameters={"type": "object", "properties": {name: schema}})
    policy = Policy(unrepairable="refuse", limits=Limits(items=9))
    assert envelope_of(await call(lenient(tool, policy=policy), "t", {name: value}))["error_code"] == expected


@pytest.mark.parametrize(
    ("sent", "expected"), [({}, "MISSING_CONTENT"), ({"content": "", "x": 1}, "UNKNOWN_PARAMETER")]
)
async def test_error_code_of_a_name(sent, expected):
    """A missing parameter is named, an unknown one is not."""
    assert (await refused(sent))["error_code"] == expected


LARGE = closed(
    *(f"parameter_{n}" for n in range(500)),
    **{
        f"parameter_{n}": {"enum": [f"é value {n} {k}" for k in range(50)], "description": "é" * 500}
        for n in range(1_000)
    },
)


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        pytest.param(LARGE, {f"parametr_{n}": "x" for n in range(100)}, id="parameters"),
        pytest.param(LARGE, {f"parameter_{n}": "é" * 60 for n in range(500)}, id="values"),
        pytest.param(SCHEMA, {"é" * 60 + str(n): 1 for n in range(10_000)}, id="names"),
        pytest.param({"properties": {"e": {"enum": [f"v{n}" for n in range(5_000)]}}}, {"e": "x"}, id="enum"),
        pytest.param(SCHEMA, {"content": "x", "tags": [{}] * 10_000}, id="items"),
    ],
)
async def test_size(schema, sent):
    """An envelope has at most 16 kB and its message at most 4,000 characters."""
    reported = await refused(sent, schema)
    assert len(reported["message"]) <= 4_000
    assert len(json.dumps(reported, ensure_ascii=False).encode()) <= 16_384


async def test_omitted_names_are_counted_in_the_envelope():
    """The names that do not fit are counted."""
    names = (await refused({}, LARGE))["details"]["parameters"]
    assert len(names["required"]) + len(names["optional"]) + names["omitted"] == 1_000


@pytest.mark.parametrize(
    ("sent", "asks"),
    [
        pytest.param({"tags": []}, True, id="nothing was sent"),
        pytest.param({"contnt": "x"}, False, id="a fix is offered"),
        pytest.param({"content": "x", "tags": 123}, True, id="another form may need more than was sent"),
        pytest.param({"content": "x", "color": "red"}, True, id="a name is unknown"),
        pytest.param({"content": "x", "tags": '["a'}, False, id="what was sent is known, and was cut off"),
    ],
)
async def test_the_user_is_to_be_asked_where_the_caller_may_not_know(sent, *, asks):
    """Unless a fix has all that is needed, the user may be asked, so that no value is made up."""
    assert ("ask the user" in (await refused(sent))["message"]) is asks


async def test_a_misspelt_name_is_said_once():
    """A missing name that was likely sent under another one is no sentence of its own; both are in the details."""
    server = lenient(Published(name="store", parameters=SCHEMA), policy=Policy(unrepairable="refuse"))
    result = await call(server, "store", {"contnt": "x"})
    reported = envelope_of(result)
    assert "'content' is required" not in reported["message"]
    assert "Did you mean 'content'?" in reported["message"]
    assert [each["code"] for each in reported["details"]["violations"]] == ["missing", "unknown"]
    assert "is required" not in result.content[0].text


async def test_unknown_tool():
    """An unknown tool gets an envelope of the same format, which repeats no text that is not a name."""
    server = lenient(Published(name="store", parameters=SCHEMA))
    for sent, said in (("stor:x", "Unknown tool '{…}'."), ("stoer", "Unknown tool 'stoer'.")):
        reported = envelope_of(await call(server, sent, {}))
        assert reported["error_code"] == "UNKNOWN_TOOL"
        assert reported["message"].startswith(said)


def _tools(*names):
    return lenient(*(Published(name=name, parameters=SCHEMA) for name in names))


@pytest.mark.parametrize(
    ("listed", "sent", "said"),
    [
        (["search"], "serch", "Did you mean 'search'?"),
        (["search", "edit"], "serch", "Did you mean 'search'? Other tools: 'edit'."),
        (["edit"], "lookup", "Tools: 'edit'."),
        (
            ["edit", "send_mail", "get_weather"],
            "weather_now",
            "Tools: 'get_weather', 'send_mail' and 'edit'.",
        ),
    ],
)
async def test_unknown_tool_names_what_there_is(listed, sent, said):
    """The answer names the tools of the list, the nearest first, since a model cannot ask for the list."""
    reported = envelope_of(await call(_tools(*listed), sent, {}))
    assert reported["message"] == f"Unknown tool '{sent}'. Nothing was run. {said}"


async def test_of_many_tools_the_nearest_ten_are_named():
    """Of a long list, the ten nearest names and the number of all are said; the text says them once."""
    names = [f"tool_{number}" for number in range(39)]
    result = await call(_tools(*names, "read_invoice"), "invoice_of", {})
    reported = envelope_of(result)
    assert " Tools: 'read_invoice', " in reported["message"]
    assert reported["message"].endswith(" and 30 more.")
    assert reported["details"]["tools"][0] == "read_invoice"
    assert len(reported["details"]["tools"]) == 10
    assert json.loads(result.content[0].text)["details"] == {"tool": "invoice_of"}


@pytest.mark.parametrize("has_output_schema", [True, False])
def test_on_the_wire(has_output_schema):
    """A result has the envelope as text and in ``meta``, and as structured content if allowed."""
    reported = error_envelope("OUT", "é is out.", {"more": "\ud800"})
    result = as_result(reported, has_output_schema=has_output_schema)
    sent = result.to_mcp_result()
    assert isinstance(sent, CallToolResult)
    assert sent.is_error
    text = sent.content[0].text
    assert "é" in text.encode().decode()
    assert json.loads(text)["message"] == result.meta["mcp_lenient"]["message"]
    assert (sent.structured_content is None) is has_output_schema
    sent.model_dump_json()


def test_repairs_on_success():
    """Repairs are reported in a copy of the result, which keeps its content and meta."""
    shared = ToolResult(content="ok", structured_content={"result": 1}, meta={"own": 1})
    reported = repaired_result(shared, Decision("repaired", {}, (REPAIR,) * 60))
    assert shared.meta == {"own": 1}
    assert reported is not shared
    assert reported.content == shared.content
    assert reported.structured_content == {"result": 1}
    assert reported.meta["own"] == 1
    assert len(reported.meta["mcp_lenient"]["repairs"]) == 50
    assert reported.meta["mcp_lenient"]["repairs_omitted"] == 10


def _protocol_result():
    return ToolResult.from_mcp_result(CallToolResult(content=[TextContent(type="text", text="x")]))


def _input_required():
    from fastmcp.tools.base import InputRequiredToolResult
    from mcp.types import InputRequiredResult

    return InputRequiredToolResult(InputRequiredResult(request_state="s"))


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(_protocol_result, id="protocol result", marks=not_on_3(NOT_THERE)),
        pytest.param(_input_required, id="input required", marks=not_on_3(NOT_THERE)),
        pytest.param(object, id="task"),
    ],
)
def test_other_results_stay(make):
    """Results of other classes are returned as the same object."""
    result = make()
    assert repaired_result(result, Decision("repaired", {}, (REPAIR,))) is result
