"""Compile a host's tool: what its author, its operator and its published form say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_lenient.declare.declarations import Declared, with_types
from mcp_lenient.declare.decorator_metadata import combined
from mcp_lenient.engine.contract import Contract
from mcp_lenient.engine.normalizing_validator import NormalizingValidator
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.engine.tool import HostTool, is_destructive, is_read_only
from mcp_lenient.rules.policy import Face, added_aliases
from mcp_lenient.schema.compile import readable

if TYPE_CHECKING:
    from mcp_lenient.declare.policies import Policies
    from mcp_lenient.engine.normalizing_validator import Normalizers
    from mcp_lenient.rules.policy import Policy

    Warn = Callable[[Any, str, str], None]


def contract_of(tool: HostTool, policies: Policies, warn: Warn, *, publishes: bool = False) -> Contract:
    """Compile a tool.

    Args:
        tool: The tool.
        policies: The operator's policies and definitions.
        warn: Called with an event, its subject and the reason if something declared or published cannot be used.
        publishes: Whether the host lists the schema in the form of the policy.

    Raises:
        DefinitionError: When a definitions file contradicts a function of this process.
    """
    declared, schema = _declared(tool, policies, warn)
    schema_read = readable(with_types(schema, declared))
    if schema_read.unread:
        warn("tool_not_compiled", tool.name, schema_read.summary)
    policy = policies.of(tool.name, tool.policy, declared)
    if policy.dispatches is not None:
        aliases = policy.dispatches.aliases(schema.get("properties", {}).keys())
        policy = policy.changed(aliases=added_aliases(aliases, policy.aliases))
    if declared.normalizers or policy.infer_untyped:
        from mcp_lenient.declare.normalizers.inference import with_inference

        declared = with_inference(declared, schema, untyped=policy.infer_untyped)
    read_only = is_read_only(tool.annotations)
    contract = Contract.of_schema(
        schema_read,
        policy,
        destructive=policy.is_destructive(marked=is_destructive(tool.annotations), read_only=read_only),
        read_only=read_only,
        tool=tool.name,
        validator=tool.validator,
    )
    contract = normalizing(replace(contract, tool=tool, policies=policies), declared.normalizers)
    form = _published_form(policy, tool.form)
    if form is None or not publishes:
        return contract
    listed = schema if policy.publish_statements else tool.schema
    published: Contract = form.contract(contract, listed, warn)
    return published


def normalizing(contract: Contract, normalizers: Normalizers) -> Contract:
    """Return a contract that runs these normalizers first."""
    if not normalizers:
        return contract
    validator = NormalizingValidator(contract.validator, normalizers)
    return replace(contract, validator=validator, normalizing=validator)


def _declared(tool: HostTool, policies: Policies, warn: Warn) -> tuple[Declared, Mapping[str, Any]]:
    """Return what is declared of a tool, and its schema with what a definitions file says of it."""
    declared = combined(tool.declared, policies.declared(tool.name))
    if not declared.stated:
        return declared, tool.schema
    from mcp_lenient.declare.definitions.statements import with_statements

    return with_statements(
        tool.name,
        declared,
        tool.schema,
        tool.validator or PublishedSchemaValidator(readable(tool.schema)),
        certain=tool.validator is not None,
        warn=lambda reason: warn("definition_unused", reason, reason),
    )


def _published_form(policy: Policy, requested: Face | None) -> Face | None:
    """Return the form of a tool's schema: the one that a client asked for, unless the policy keeps it unchanged."""
    tool_form = policy.publish if isinstance(policy.publish, Face) else None
    if policy.mode == "off":
        return None
    keeps = tool_form is not None and tool_form.name == "unchanged"
    return tool_form if requested is None or keeps else requested
