"""Decide about calls as the adapters do: by a published schema, or by a function's own validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastmcp.tools import FunctionTool, Tool
from judged import typed
from strategies import Json

from mcp_lenient import Decision, Policy
from mcp_lenient.adapters.fastmcp.tools import FunctionValidator
from mcp_lenient.engine.contract import Contract


def contract(of: Json | Callable[..., Any] | Tool, *, strict: bool | None = None, **more: Any) -> Contract:
    """Return the contract of a schema, or of a tool or function with its own validator.

    ``destructive`` and ``tool`` describe the tool; other keywords are fields of the policy.
    """
    about = {name: more.pop(name) for name in ("destructive", "tool", "as_texts") if name in more}
    if isinstance(of, dict):
        return Contract.of_schema(of, Policy(**more), **about)
    tool = of if isinstance(of, Tool) else Tool.from_function(of)
    assert isinstance(tool, FunctionTool)
    validator = FunctionValidator(tool, strict=bool(strict))
    return Contract.of_schema(tool.parameters, Policy(**more), validator=validator, **about)


def decide(of: Json | Callable[..., Any] | Tool, sent: Any, **more: Any) -> Decision:
    """Decide about arguments for a schema, tool or function; see :func:`contract`."""
    return contract(of, **more).decide(sent)


def decide_value(annotation: Any, value: Any, **more: Any) -> Decision:
    """Decide about a value for a function with one required parameter ``x`` of this type."""
    return decide(typed(annotation), {"x": value}, **more)


def records(decision: Decision) -> list[str]:
    """Return the repairs of a decision, each as its rule, pointer and types."""
    return [f"{each.rule} {each.pointer} {each.before} {each.after}" for each in decision.repairs]


def refusals(decision: Decision) -> list[str]:
    """Return the violations of a decision, each as its code and pointer."""
    return [f"{each.code} {each.pointer}" for each in decision.violations]
