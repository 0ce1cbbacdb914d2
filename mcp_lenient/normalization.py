"""The engine without a server: a schema, arguments, and what becomes of them."""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from mcp_lenient.engine.contract import ToolContract
from mcp_lenient.engine.plan import Plan
from mcp_lenient.engine.raw_arguments import arguments_in_text, not_an_object
from mcp_lenient.engine.schema_validator import PublishedSchemaValidator
from mcp_lenient.errors import SchemaError
from mcp_lenient.rules.policy import Policy
from mcp_lenient.schema.compile import readable
from mcp_lenient.types import Normalized

_DEFAULT = Policy()
_MARSHAL_VERSION = 2
"""The last one that writes equal values as equal bytes; later ones also write how often a value is shared."""


def normalize(
    schema: Mapping[str, Any], arguments: Mapping[str, Any] | str, policy: Policy | None = None
) -> Normalized:
    """Repair arguments by a JSON Schema, or say what is wrong with them.

    >>> schema = {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}}
    >>> result = normalize(schema, {"tags": '["a", "b"]'})
    >>> result.arguments, [repair.rule for repair in result.repairs]
    ({'tags': ['a', 'b']}, ['json_text_to_array'])
    >>> [violation.code for violation in normalize(schema, {"tags": 1}).violations]
    ['type']

    Args:
        schema: The input schema of a tool, of any draft; nothing is fetched, and a place that cannot be read
            takes anything and is not repaired.
        arguments: What was sent, also whole as JSON text; never changed, and returned as the same object
            when it is right.
        policy: What may be repaired; the defaults of :class:`Policy` when left out. Its mode counts: ``observe``
            tells of repairs and violations and changes nothing, ``off`` says nothing.

    Returns:
        The arguments to use, the repairs made to them, and the violations where they cannot be repaired;
        then ``arguments`` are those that were sent and ``repairs`` is empty.

    Raises:
        SchemaError: When the schema is not a JSON object.
    """
    _check(schema, policy)
    contract = _compiled(schema, policy or _DEFAULT)
    sent: Any = arguments
    mode = contract.plan.policy.mode
    if mode == "off":
        return Normalized(sent, (), ())
    normalized = _normalized(contract, sent)
    return normalized if mode == "repair" else replace(normalized, arguments=sent)


def _normalized(contract: ToolContract, arguments: Any) -> Normalized:
    if not isinstance(arguments, Mapping):
        return _whole(contract, arguments)
    decision = contract.decide(arguments)
    if decision.status == "refused":
        return Normalized(arguments, (), decision.violations)
    return Normalized(decision.arguments, decision.repairs, ())


def _check(schema: object, policy: object) -> None:
    if not isinstance(schema, Mapping):
        msg = f"a schema must be an object, got {schema!r}."
        raise SchemaError(msg)
    if policy is not None and not isinstance(policy, Policy):
        msg = f"policy must be a Policy, got {policy!r}."
        raise TypeError(msg)


def _whole(contract: ToolContract, sent: Any) -> Normalized:
    """Arguments that came as a text, as some clients send them whole."""
    plan = contract.plan
    read = arguments_in_text(sent, plan.policy, destructive=plan.destructive)
    if read is None:
        return Normalized(sent, (), (not_an_object(sent),))
    arguments, record = read
    decision = contract.decide_parsed(arguments)
    if decision.status == "refused":
        return Normalized(sent, (), decision.violations)
    return Normalized(decision.arguments, (record, *decision.repairs), ())


def _compiled(schema: Mapping[str, Any], policy: Policy) -> ToolContract:
    try:
        written = marshal.dumps(dict(schema), _MARSHAL_VERSION)
    except ValueError:
        # Not made of plain JSON types: nothing to recognize it by.
        return _made(schema, policy)
    return _by_default(written) if policy is _DEFAULT else _remembered(written, _Same(policy))


@lru_cache(maxsize=1024)
def _by_default(written: bytes) -> ToolContract:
    return _built(written, _DEFAULT)


class _Same:
    """A policy by identity: what it holds need not be hashable."""

    __slots__ = ("policy",)

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.policy is self.policy

    def __hash__(self) -> int:
        return id(self.policy)


@lru_cache(maxsize=1024)
def _remembered(written: bytes, policy: _Same) -> ToolContract:
    return _built(written, policy.policy)


def _built(written: bytes, policy: Policy) -> ToolContract:
    schema = marshal.loads(written)  # noqa: S302 - written by us a moment ago
    return _made(schema, policy)


def _made(schema: Mapping[str, Any], policy: Policy) -> ToolContract:
    read = readable(schema)
    return ToolContract(
        Plan(read, policy, destructive=policy.destructive is True), PublishedSchemaValidator(read)
    )
