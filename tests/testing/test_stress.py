"""Test ``stress``: the outcomes of damaged calls and how they are reported."""

from __future__ import annotations

import json
from datetime import date, time, timedelta
from decimal import Decimal
from io import StringIO
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from calls import lenient as lenient_server
from calls import plain
from fastmcp import FastMCP
from fastmcp.server.middleware import Middleware
from fastmcp.tools import ToolResult
from fastmcp_versions import RAW, not_on_3
from pydantic import (
    AfterValidator,
    AnyUrl,
    BaseModel,
    Field,
    FutureDate,
    Json,
    NaiveDatetime,
    PastDate,
    model_validator,
)
from rich.console import Console
from testing.under_test import mode, published, store

from mcp_lenient import DEFAULT_RULES, Policy, ValueRule
from mcp_lenient.adapters.fastmcp.decorator import lenient
from mcp_lenient.normalizers import clamp
from mcp_lenient.testing import StressReport, stress


class _Row(BaseModel):
    row_id: int
    share: float = 0.5
    kind: Literal["in_use", "free"] = "free"
    rows: list[_Row] = []


def _many(
    first: list[int],
    second: dict[str, float],
    the_third: Literal["low_level", "high_level"],
    row: _Row,
    fourth: bool = False,  # noqa: FBT002 - callers name it
    fifth: Annotated[int | None, Field(ge=10, le=20)] = None,
    rows: list[_Row] | None = None,
    words: list[str] | None = None,
) -> None:
    raise SystemError(first, second, the_third, row, fourth, fifth, rows, words)


def _doubling(_place: Any, value: str) -> tuple[int, ...]:
    """Double numbers sent as text: a wrong rule."""
    return (int(value) * 2,)


_WRONG = ValueRule("text_to_twice", 1, _doubling, ("string",), ("integer",))
_BROKEN = Policy(rules=tuple(_WRONG if rule.name == "text_to_integer" else rule for rule in DEFAULT_RULES))


def _even(value: int) -> int:
    if value != 314:
        msg = "not that one"
        raise ValueError(msg)
    return value


def _odd(value: Annotated[int, AfterValidator(_even)]) -> None:
    raise SystemError(value)


def one_on_null(value: Any) -> Any:
    """Return 1 for null."""
    return 1 if value is None else value


@lenient(count=(one_on_null, clamp(1, 3)))
def _declared(count: int = 2) -> None:
    raise SystemError(count)


class _Silent(Middleware):
    """A middleware that answers calls with more than one argument itself."""

    async def on_call_tool(self, context: Any, call_next: Any) -> ToolResult:
        if len(context.message.arguments) > 1:
            return ToolResult(content="done")
        return await call_next(context)


def _counts(report: StressReport) -> dict[str, int]:
    counts: dict[str, int] = report.as_dict()["outcomes"]
    return counts


@pytest.mark.parametrize(
    "strict", [pytest.param(False, id="lax", marks=pytest.mark.slow), pytest.param(True, id="strict")]
)
def test_no_call_is_corrupted(strict):
    """With the default policy, no damaged call of a tool with all kinds of parameters is corrupted."""
    report = stress(lenient_server(_many, store, mode, strict=strict), per_tool=3)
    assert report.corrupted == []
    assert report.skipped == {}
    kinds = {call.damage for call in report.calls}
    assert len(kinds) == 27
    counts = _counts(report)
    assert counts["repaired"] > counts["refused"] > 0
    outcomes = {kind: {call.outcome for call in report.calls if call.damage == kind} for kind in kinds}
    assert outcomes["missing_required"] == {"refused"}
    assert outcomes["nested_name_style"] == {"repaired"}


def test_a_wrong_rule_is_found():
    """A corrupted call is in ``corrupted``, with the sent, wanted and received arguments."""
    report = stress(lenient_server(mode, policy=_BROKEN, strict=True))
    found = report.corrupted
    assert {call.damage for call in found} == {"number_as_text", "number_as_spaced_text"}
    for call in found:
        assert isinstance(call.sent, dict)
        assert call.got is not None
        assert call.got["count"] == 2 * call.wanted[0]["count"]
        assert call.repairs == ("text_to_twice",)
    assert f"seed 0: {len(found)} corrupted; 1 tool tried" in str(report)
    assert "corrupted mode, number_as_text" in str(report)
    assert "text_to_twice" in str(report)


def test_the_same_seed_gives_the_same_report():
    """A seed determines all arguments."""
    server = lenient_server(store)
    first, again, other = (stress(server, seed=seed, per_tool=1) for seed in (7, 7, 8))
    assert first == again
    assert first.calls != other.calls


def test_more_per_tool_are_more_calls():
    """``per_tool`` is the number of valid calls that are damaged, at least one."""
    server = lenient_server(mode)
    assert len(stress(server, per_tool=2).calls) > len(stress(server, per_tool=1).calls)
    with pytest.raises(ValueError, match="per_tool must be at least 1, got 0"):
        stress(server, per_tool=0)


def test_supplied_arguments_replace_generated_ones():
    """A caller can supply valid arguments for a tool for which none can be generated."""
    server = lenient_server(_odd, strict=True)
    assert "does not accept" in stress(server).skipped["_odd"]
    report = stress(server, arguments={"_odd": [{"value": 314}]})
    assert report.skipped == {}
    assert {call.sent["value"] for call in report.calls if call.damage == "number_as_text"} == {"314"}
    with pytest.raises(ValueError, match="no tool 'off'"):
        stress(server, arguments={"off": [{}]})


class _Span(BaseModel):
    low: int
    high: int

    @model_validator(mode="after")
    def _in_order(self) -> _Span:
        if self.low > self.high:
            msg = "low must not be above high"
            raise ValueError(msg)
        return self


class _Exact(BaseModel, strict=True):
    count: int
    day: date | None = None


def _pay(
    amount: Decimal,
    parts: list[Decimal],
    span: _Span,
    exact: _Exact,
    due: FutureDate,
    names: dict[int, str],
    sides: dict[Literal["x", "y"], int],
    pair: tuple[int, str],
    some: set[int],
    ident: UUID,
    at: time,
    seen: PastDate,
    local: NaiveDatetime,
    lasting: timedelta,
    where: AnyUrl,
    code: Annotated[str, Field(pattern=r"^[A-Z]{2}-\d{4}$")],
    price: Annotated[float, Field(multiple_of=0.5)],
    numbers: Json[list[int]],
) -> None:
    raise SystemError(
        (amount, parts, span, exact, due, names, sides, pair),
        (some, ident, at, seen, local, lasting, where, code, price, numbers),
    )


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_arguments_are_generated_until_the_tool_accepts_them(seed):
    """If a tool is stricter than its schema, other arguments are generated until it accepts some."""
    report = stress(lenient_server(_pay), seed=seed, per_tool=1)
    assert report.skipped == {}
    assert report.tried == ["_pay"]
    assert report.corrupted == []


def test_a_server_without_tools_is_reported():
    """For a server without tools the report says that nothing was tested."""
    assert str(stress(FastMCP("empty"))) == "Nothing was tested: empty has no tools\n"


def test_a_tool_without_generated_arguments_is_skipped():
    """A tool for which no arguments can be generated is reported with the reason."""
    tool = published(code={"type": "string", "pattern": "^(?=a)b$"})
    assert stress(tool).skipped == {"published": "no generated value is valid at code"}


def test_bodies_run_only_on_request():
    """``run=True`` runs the tools and reports the failed ones."""
    ran = []

    def note(text: str) -> str:
        ran.append(text)
        if text == "42":
            raise RuntimeError
        return text

    server = lenient_server(note)
    stress(server)
    assert ran == []
    counts = _counts(stress(server, run=True))
    assert len(ran) > 10
    assert counts["failed"] > 0


def test_a_server_without_middleware_is_reported():
    """A server is tested unchanged. A policy tests it as if it had the middleware."""
    server = plain(mode, store)
    alone = stress(server, per_tool=1)
    assert alone.unprotected == ("mode", "store")
    assert "repaired" not in _counts(alone)
    assert "no LenientMiddleware for mode, store" in str(alone)
    protected = stress(server, policy=Policy(), per_tool=1)
    assert protected.unprotected == ()
    assert _counts(protected)["repaired"] > 0


def test_a_mounted_server_is_stressed_through_its_parent():
    """Tools of mounted servers are called by the names that the parent publishes."""
    parent: FastMCP = FastMCP("parent")
    parent.mount(lenient_server(mode), namespace="child")
    report = stress(parent, per_tool=1)
    assert {call.tool for call in report.calls} == {"child_mode"}
    assert report.corrupted == []
    assert report.unprotected == ()


def test_forwarded_invalid_calls_are_reported():
    """Calls that a tool with only a schema gets unrepaired are reported as forwarded."""
    report = stress(published(rows={"type": "array", "items": {"type": "integer"}}))
    outcomes = {(call.damage, call.outcome) for call in report.calls}
    assert ("unknown_key", "forwarded") in outcomes
    assert ("container_as_json_text", "repaired") in outcomes
    assert report.corrupted == []


def test_declared_normalizers_are_not_reported_as_corruption():
    """A value changed only by the author's normalizer is reported as normalized."""
    report = stress(lenient_server(_declared), arguments={"_declared": [{"count": 3}, {"count": 99}]})
    assert report.skipped == {}
    assert report.corrupted == []
    nulls = {(call.outcome, call.repairs) for call in report.calls if call.damage == "null_for_optional"}
    assert nulls == {("normalized", ("one_on_null",))}


@not_on_3(RAW)
def test_an_answer_of_another_middleware_is_reported():
    """A call that succeeds without reaching the tool is reported as answered."""
    server = lenient_server(mode)
    server.middleware.insert(0, _Silent())
    assert "does not accept" in stress(server).skipped["mode"]
    only = lenient_server(store)
    only.middleware.insert(0, _Silent())
    report = stress(only, arguments={"store": [{"content": "a"}]})
    assert "answered" in _counts(report)


def test_the_report_is_json_and_prints_as_tables():
    """``as_dict`` counts by tool, damage and outcome; Rich and ``str`` print the same tables."""
    report = stress(lenient_server(mode, store), per_tool=1)
    reported = report.as_dict()
    assert json.loads(json.dumps(reported)) == reported
    assert reported["calls"] == sum(reported["outcomes"].values()) == len(report.calls)
    assert reported["tools"]["mode"]["missing_required"] == {"refused": 2}
    assert {name: reported[name] for name in ("server", "seed", "corrupted", "skipped")} == {
        "server": "server",
        "seed": 0,
        "corrupted": [],
        "skipped": {},
    }
    file = StringIO()
    Console(file=file, width=120, color_system=None).print(report)
    text = str(report)
    assert file.getvalue() == text
    words = ("damaged calls of server, seed 0", "store", "missing_required", "unchanged")
    assert [word for word in words if word not in text] == []
