"""Test that the envelope has one format, is bounded and can be sent safely."""

from __future__ import annotations

import json

import pytest
from fastmcp.tools import ToolResult
from fastmcp_versions import NOT_THERE, not_on_3
from mcp.types import CallToolResult, TextContent
from tables import each_row

from mcp_lenient.adapters.fastmcp.tools import as_result, repaired_result
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.refusal.envelope import envelope, error_code, unknown_tool
from mcp_lenient.refusal.violations import violations
from mcp_lenient.rules.policy import Policy
from mcp_lenient.schema.node import SchemaTree
from mcp_lenient.types import Outcome, Repair, Violation

SCHEMA = {
    "type": "object",
    "properties": {
        "content": {"type": "string"},
        "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
    },
    "required": ["content"],
    "additionalProperties": False,
}
REPAIR = Repair("json_text_to_array", "/tags", "string", "array")


def refused(sent, schema=SCHEMA, repairs=()):
    """Return the envelope for arguments that the schema refuses."""
    validator = PublishedSchemaValidator(schema)
    outcome = Outcome("refused", sent, repairs, validator.issues(sent))
    reader = SchemaTree(schema).reader
    return envelope("store_context", reader, violations(reader, outcome, validator, Policy()), repairs)


def test_one_fault():
    """A single violation is repeated at the top of the details."""
    message = "'tags' must be an array of strings or null, but got the integer 123."
    assert refused({"content": "x", "tags": 123}) == {
        "status": "error",
        "error_code": "INVALID_TAGS_TYPE",
        "message": f"Invalid arguments for tool 'store_context': {message} The tool was not run. "
        "Correct the call and send it again.",
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


@each_row(
    "tags",
    [
        pytest.param(123, id="integer"),
        pytest.param(12.34, id="number"),
        pytest.param(True, id="boolean"),
        pytest.param({"key": "value"}, id="object"),
        pytest.param(["tag1", 123, "tag2"], id="mixed list"),
        pytest.param([None, "tag1"], id="null in a list"),
        pytest.param([1, None, {}], id="several items"),
    ],
)
def test_tags(tags):
    """Any wrong type of a list or its items gives the parameter's own error code."""
    assert refused({"content": "x", "tags": tags})["error_code"] == "INVALID_TAGS_TYPE"


def test_several_faults():
    """Several violations are numbered lines, and none is repeated at the top."""
    reported = refused({"tags": 1, "x": 2}, repairs=(REPAIR,))
    assert reported["error_code"] == "INVALID_ARGUMENTS"
    assert reported["message"].splitlines()[0] == "Invalid arguments for tool 'store_context', 3 faults:"
    assert "parameter" not in reported["details"]
    assert reported["details"]["repairs"] == [
        {"rule": "json_text_to_array", "pointer": "/tags", "before": "string", "after": "array"}
    ]


@each_row(
    ("pointer", "parameter", "code", "expected"),
    [
        pytest.param("/maxResults", "maxResults", "type", "INVALID_MAX_RESULTS_TYPE", id="camel case"),
        pytest.param("/tags/1", "tags", "type", "INVALID_TAGS_TYPE", id="inside"),
        pytest.param("/filter/field", "filter", "missing", "INVALID_FILTER_TYPE", id="missing inside"),
        pytest.param("/filter/x", "filter", "unknown", "INVALID_FILTER_TYPE", id="unknown inside"),
        pytest.param("/tags/1", "tags", "enum", "INVALID_TAGS_VALUE", id="value inside"),
        pytest.param("/limit", "limit", "range", "INVALID_LIMIT_VALUE", id="range"),
        pytest.param("/content", "content", "missing", "MISSING_CONTENT", id="missing"),
        pytest.param("/x", "x", "unknown", "UNKNOWN_PARAMETER", id="unknown"),
        pytest.param("/tags", "tags", "ambiguous", "AMBIGUOUS_TAGS", id="ambiguous"),
        pytest.param("", None, "size", "ARGUMENTS_TOO_LARGE", id="size"),
        pytest.param("", None, "value", "INVALID_ARGUMENTS", id="the call as a whole"),
        pytest.param("/größe", "größe", "type", "INVALID_GR_E_TYPE", id="not ASCII"),
        pytest.param("/名", "名", "type", "INVALID_PARAMETER_TYPE", id="no ASCII"),
    ],
)
def test_error_code(pointer, parameter, code, expected):
    """The error code names the declared top-level parameter and the kind of error."""
    assert error_code([Violation(pointer, parameter, code, "")]) == expected


LARGE = {
    "type": "object",
    "properties": {
        f"parameter_{n}": {"enum": [f"é value {n} {k}" for k in range(50)], "description": "é" * 500}
        for n in range(1_000)
    },
    "required": [f"parameter_{n}" for n in range(500)],
    "additionalProperties": False,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        pytest.param(LARGE, {f"parametr_{n}": "x" for n in range(100)}, id="parameters"),
        pytest.param(LARGE, {f"parameter_{n}": "é" * 60 for n in range(500)}, id="values"),
        pytest.param(SCHEMA, {"\ud800" * 60 + str(n): 1 for n in range(10_000)}, id="names"),
        pytest.param({"properties": {"e": {"enum": [f"v{n}" for n in range(5_000)]}}}, {"e": "x"}, id="enum"),
        pytest.param(SCHEMA, {"content": "x", "tags": list(range(10_000))}, id="items"),
    ],
)
def test_size(schema, sent):
    """An envelope has at most 16 kB and its message at most 4,000 characters."""
    repairs = [Repair("r", "/" + "é\ud800" * 5_000, "a", "b")] * 500
    reported = refused(sent, schema, repairs)
    assert len(reported["message"]) <= 4_000
    assert len(json.dumps(reported, ensure_ascii=False).encode()) <= 16_384


def test_omitted_violations_are_counted_in_the_envelope():
    """The names and repairs that do not fit are counted."""
    details = refused({}, LARGE, [REPAIR] * 500)["details"]
    names = details["parameters"]
    assert len(names["required"]) + len(names["optional"]) + names["omitted"] == 1_000
    assert len(details["repairs"]) + details["repairs_omitted"] == 500


def test_unknown_tool():
    """An unknown tool gets an envelope of the same format."""
    reported = unknown_tool("stor:x", ["store", "a b"])
    assert (reported["error_code"], reported["message"]) == (
        "UNKNOWN_TOOL",
        "Unknown tool '{…}'. Nothing was run. Did you mean 'store'?",
    )
    assert "List the tools" in unknown_tool("x")["message"]


@pytest.mark.parametrize("has_output_schema", [True, False])
def test_on_the_wire(has_output_schema):
    """A result has the envelope as text and in ``meta``, and as structured content if allowed."""
    reported = refused({"content": "x", "\ud800é": 1})
    result = as_result({**reported, "more": "\ud800"}, has_output_schema=has_output_schema)
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
    reported = repaired_result(shared, [REPAIR] * 60)
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
    assert repaired_result(result, [REPAIR]) is result
