"""A tool as ``tools/list`` has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastmcp.tools import FunctionTool

from mcp_lenient.declare.decorator_metadata import marks_of
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.schema.compile import readable

if TYPE_CHECKING:
    from fastmcp.tools import Tool

    from mcp_lenient.declare.policies import Policies
    from mcp_lenient.engine.contract import Contract
    from mcp_lenient.rules.policy import Policy


def may_publish(tool: Tool, policy: Policy) -> bool:
    """Return whether a listed tool may have another form, by the operator's policy or its author's."""
    if policy.publish is not None:
        return True
    marks = marks_of(tool.fn) if isinstance(tool, FunctionTool) else None
    return marks is not None and ("publish" in marks.declared.policy or marks.policy is not None)


def in_form(tool: Tool, contract: Contract | None) -> Tool:
    """Return a tool with its schema in the form that it is published in."""
    listed = None if contract is None else contract.listed
    return tool if listed is None else tool.model_copy(update={"parameters": dict(listed)})


def as_stated(tool: Tool, policies: Policies) -> Tool:
    """Return a tool with what a definitions file says of it, if the policy publishes that."""
    declared = policies.declared(tool.name)
    if not (declared.stated or declared.description) or not policies.named(tool.name).publish_statements:
        return tool
    from mcp_lenient.declare.definitions.statements import published

    validator = PublishedSchemaValidator(readable(tool.parameters))
    parameters = dict(published(tool.name, tool.parameters, declared, validator))
    description = declared.description or tool.description
    return tool.model_copy(update={"parameters": parameters, "description": description})
