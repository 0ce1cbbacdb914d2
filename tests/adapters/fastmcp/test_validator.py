"""``FunctionValidator`` accepts exactly what FastMCP accepts, without running the tool."""

from __future__ import annotations

import itertools
from typing import Annotated, Any

import pytest
from calls import on_both_servers
from fastmcp import FastMCP
from fastmcp.dependencies import Depends
from fastmcp.exceptions import ToolError, ValidationError
from fastmcp.tools import Tool
from fastmcp.tools.tool_transform import ArgTransform
from fastmcp_versions import NO_JSON, since
from hypothesis import given
from hypothesis import strategies as st
from judged import CALLS, DEEP, FUNCTIONS, TYPES, VALUES, many, typed
from pydantic import BaseModel, Field
from tables import each_row

from mcp_lenient.adapters.fastmcp.tools import FunctionValidator, TransformedValidator, find_target
from mcp_lenient.types import Fault

FAULTS = [
    ("optional_list", 12, False, "type x"),
    ("optional_list", [1, "a", 2], False, "type x/0; type x/2"),
    ("list_or_text", [1], False, "type x/0; type x"),
    ("union", [], False, "type x"),
    ("int", 7.0, True, "type x"),
    ("range", 11, False, "value x"),
    ("datetime", "soon", False, "value x"),
    ("datetime", [], False, "type x"),
    ("str_enum", "RED", True, "value x"),
    ("int_keys", {"a": 1}, False, "key x/a"),
    ("dict", {1: 2, "a": "z"}, True, "key x/1; type x/a"),
    ("tagged", {"type": "Text"}, False, "value x/type"),
    ("tagged", {"text": "t"}, True, "missing x/type"),
    ("tagged", {"type": "text", "text": "t"}, False, "missing x/more"),
    ("tagged", {"type": "text", "text": {"text": 1}, "more": 1}, True, "type x/text"),
    ("union_of_models", {"z": 1}, False, "missing x/x; missing x/n"),
    ("closed", {"q": 1}, False, "unknown x/q; missing x/fullName"),
    ("recursive", {"value": 1, "children": [{"value": "q"}]}, True, "type x/children/0/value"),
    ("validated", {"n": 3}, False, "value x/n must be even"),
    ("validated", {"n": 200}, True, "value x must be small"),
    ("before", "a,b", False, ""),
    ("any", "\ud800", True, "value x"),
    pytest.param("any", DEEP, True, "size ", id="deep-strict"),
    pytest.param("any", DEEP, False, "", id="deep-lax"),
    pytest.param("int", 10**5000, True, "size ", id="long_integer"),
    pytest.param("int", "9" * 5000, False, "type x", id="long_digits"),
    ("fails", 1, True, ""),
]
"""Types, values, whether the server is strict, and the faults as written by ``_written``."""

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=[]), max_size=5),
    lambda items: (
        st.lists(items, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.sampled_from("xn"), items, max_size=3)
    ),
    max_leaves=10,
)


VALIDATORS = [
    FunctionValidator(typed(annotation), strict=strict)
    for annotation, strict in zip(TYPES.values(), itertools.cycle((False, True)), strict=False)
]


async def _runs(server: FastMCP, name: str, arguments: Any) -> bool:
    """Return whether FastMCP accepts the call; other exceptions of a validator count as accepted."""
    try:
        await server.call_tool(name, arguments)
    except (ValidationError, ValueError):  # FastMCP 3 fails to log a very large number
        return False
    except ToolError as error:
        return not isinstance(error.__cause__, (ValueError, RecursionError))
    return True


async def _disagreements(tool: Tool, calls: list[dict[Any, Any]], *, strict: bool) -> list[Any]:
    server = FastMCP("judged", strict_input_validation=strict)
    server.add_tool(tool)
    target = await find_target(server, tool)
    assert target.validator is not None
    wrong = []
    for arguments in calls:
        runs = await _runs(server, tool.name, arguments)
        faults = target.validator.faults(arguments)
        if target.validator.accepts(arguments) is not runs or (faults == ()) is not runs:
            wrong.append((ascii(arguments)[:200], runs, faults))
    return wrong


@on_both_servers
@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("annotation", TYPES.values(), ids=TYPES)
async def test_the_validator_agrees_with_fastmcp_on_values(annotation, half, strict):
    """For a parameter of this type, the validator accepts exactly the values that FastMCP accepts."""
    calls = [{"x": value} for value in VALUES[half != strict :: 2]]
    assert await _disagreements(typed(annotation), calls, strict=strict) == []


@on_both_servers
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
async def test_the_validator_agrees_with_fastmcp_on_functions(function, strict):
    """For a function of this kind, the validator accepts exactly the calls that FastMCP runs."""
    assert await _disagreements(Tool.from_function(function, name="f"), CALLS, strict=strict) == []


def _written(faults: tuple[Fault, ...]) -> str:
    """Return faults as their kinds and paths, and the messages of an author's validators."""
    return "; ".join(
        " ".join([each.kind, "/".join(map(str, each.path)), *([each.detail] if each.detail else [])])
        for each in faults
    )


@since(4, 1, NO_JSON)
@each_row(("name", "value", "strict", "faults"), FAULTS)
def test_faults_have_a_kind_and_a_path(name, value, strict, faults):
    """The path leads to the sent value, and skips union branches and validators."""
    assert _written(FunctionValidator(typed(TYPES[name]), strict=strict).faults({"x": value})) == faults


def test_faults_have_the_order_of_the_arguments():
    """Faults have the order of the arguments and the published aliases; missing names come last."""
    validator = FunctionValidator(Tool.from_function(many), strict=False)
    found = [(fault.path, fault.kind) for fault in validator.faults({"V": 1, "W": "q", "y": "green", 1: 2})]
    assert found == [
        *((("V",), "unknown"), (("W",), "type"), (("y",), "value"), ((1,), "unknown")),
        *((("x",), "missing"), (("z",), "missing")),
    ]


def test_validation_runs_no_body_and_no_dependency():
    """Validation calls neither the function nor its dependencies."""
    ran: list[str] = []

    def body(x: int, y: str = Depends(lambda: ran.append("dependency"))) -> None:  # type: ignore[assignment]
        ran.append(f"body {x} {y}")

    assert FunctionValidator(Tool.from_function(body), strict=False).accepts({"x": 1})
    assert ran == []


@each_row(
    ("name", "expected"),
    [
        *((name, True) for name in ("before", "after", "fails", "validated", "union_of_models")),
        *(
            (name, False)
            for name in ("int", "model", "recursive", "tagged", "decimal", "secret", "described")
        ),
    ],
)
def test_custom_validators_are_detected(name, expected):
    """Only an author's validators, anywhere in the signature, need FastMCP's worker thread."""

    def sync(x: Any) -> None: ...

    sync.__annotations__ = {"x": TYPES[name]}
    assert FunctionValidator(Tool.from_function(sync), strict=False).has_validators is expected
    assert not FunctionValidator(Tool.from_function(sync, run_in_thread=False), strict=False).has_validators
    assert not FunctionValidator(typed(TYPES[name]), strict=False).has_validators


@pytest.mark.parametrize(
    ("name", "strict", "expected"), [("int", False, False), ("int", True, True), ("strict_int", False, True)]
)
def test_whole_floats_for_integers(name, strict, expected):
    """Whole floats for integers are refused by strict servers and by strict parameters."""
    validator = FunctionValidator(typed(TYPES[name]), strict=strict)
    assert (validator.exact_integers, validator.accepts({"x": 7.0})) == (expected, not expected)


@on_both_servers
def test_many_valid_values_have_no_faults(strict):
    """A long valid list has no faults, on lax and strict servers."""
    validator = FunctionValidator(typed(TYPES["list"]), strict=strict)
    assert validator.faults({"x": list(range(500))}) == ()
    assert validator.faults({"x": [*range(500), "a"]}) == (Fault(("x", 500), "type"),)


class _Held(BaseModel):
    anything: Any


@pytest.mark.parametrize("count", [1, 500], ids=["few", "many"])
@since(4, 1, NO_JSON)
def test_lone_surrogates_are_refused_by_strict_validators_only(count):
    """Only a strict server, which writes JSON, refuses a lone surrogate."""
    sent = {"x": [{"anything": "\ud800"}] * count}
    assert FunctionValidator(typed(list[_Held]), strict=False).accepts(sent)
    assert not FunctionValidator(typed(list[_Held]), strict=True).accepts(sent)


def test_validators_of_the_same_tool_and_strictness_are_equal():
    """A validator differs from those of another tool or strictness, and from other objects."""
    tool, other = typed(int), typed(int)
    lax, strict = (FunctionValidator(tool, strict=strict) for strict in (False, True))
    assert lax == FunctionValidator(tool, strict=False)
    assert lax not in (strict, FunctionValidator(other, strict=False), None)


class _Counted(BaseModel):
    number: int = Field(default_factory=itertools.count().__next__)
    name: str = ""


@pytest.mark.parametrize(
    ("annotation", "one", "other", "reported"),
    [
        pytest.param(TYPES["model"], {"x": 1}, {"x": 1, "other": 2}, False, id="a name that is not read"),
        pytest.param(TYPES["model"], {"x": 1}, {"x": 1, "y": 2}, True, id="a name that is read"),
        pytest.param(TYPES["model"], {"x": 1}, {"x": "q"}, True, id="refused"),
        pytest.param(_Counted, {}, {"name": "a"}, False, id="a new object each time"),
    ],
)
async def test_values_that_the_tool_receives_are_distinguished(annotation, one, other, reported):
    """Two values differ if the tool receives different values, also under another published name."""
    tool = typed(annotation)
    assert FunctionValidator(tool, strict=False).distinguishes({"x": one}, {"x": other}) is reported
    renamed = await _transformed(tool)
    assert renamed.distinguishes({"z": one}, {"z": other}) is reported
    assert not renamed.distinguishes({"z": one, "x": 1}, {"z": one, "x": 2})


async def _transformed(tool: Tool, *, strict: bool = False) -> TransformedValidator:
    """Return the validator of a tool that renames this tool's parameter to ``z``."""
    server = FastMCP("judged", strict_input_validation=strict)
    changed = Tool.from_tool(tool, name="changed", transform_args={"x": ArgTransform(name="z")})
    server.add_tool(changed)
    validator = (await find_target(server, changed)).validator
    assert isinstance(validator, TransformedValidator)
    return validator


async def test_a_published_default_is_filled_in():
    """FastMCP fills in a transformed tool's published default, even for a required parameter."""
    tool = typed(Annotated[int, Field(json_schema_extra={"default": 3})])
    assert not FunctionValidator(tool, strict=False).accepts({})
    assert (await _transformed(tool)).accepts({})
    changed = Tool.from_tool(tool, transform_args={"x": ArgTransform(name="z")})
    assert await _disagreements(changed, [{}, {"z": 1}, {"z": "q"}], strict=False) == []


@on_both_servers
async def test_a_transformed_tool_is_validated_like_its_parent(strict):
    """The parent's validator decides with its strictness, and faults have the published names."""
    validator = await _transformed(typed(TYPES["list"]), strict=strict)
    assert (validator.exact_integers, validator.by_schema) == (strict, False)
    assert validator.faults({"z": [1, "a"]}) == (Fault(("z", 1), "type"),)


@given(
    arguments=st.dictionaries(st.sampled_from(["x", "y", 1, None]) | st.text(max_size=2), JSON, max_size=3),
    first=st.integers(0, 4),
)
def test_validation_never_raises(arguments, first):
    """For any arguments a validator answers, and ``accepts`` agrees with ``faults``."""
    for validator in VALIDATORS[first::5]:
        assert validator.accepts(arguments) is (validator.faults(arguments) == ())
