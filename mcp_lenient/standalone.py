"""The engine without a server: repair arguments by a JSON Schema."""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from mcp_lenient.engine.contract import Contract
from mcp_lenient.errors import SchemaError
from mcp_lenient.rules.policy import Policy
from mcp_lenient.types import Normalized

_MARSHAL_VERSION: Final = 2
"""The last version that gives equal bytes for equal values; later ones also encode shared references."""


class Normalizer:
    """A compiled JSON Schema that repairs arguments or returns their violations.

    Threads may share it. Later changes to the schema have no effect.

    >>> schema = {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}}
    >>> normalizer = Normalizer(schema)
    >>> normalizer({"tags": '["a", "b"]'}).arguments
    {'tags': ['a', 'b']}
    >>> [violation.code for violation in normalizer({"tags": 1}).violations]
    ['type']

    Args:
        schema: The input schema of a tool, of any draft. Nothing is fetched; unreadable parts accept any value and are
            not repaired.
        policy: The policy; default :class:`Policy`. In mode ``observe``, repairs and violations are reported and
            nothing is changed; in mode ``off``, nothing is reported.

    Raises:
        SchemaError: When the schema is not a JSON object.
        TypeError: When the policy is not a :class:`Policy`.
    """

    __slots__ = ("_contract",)

    def __init__(self, schema: Mapping[str, Any], policy: Policy | None = None) -> None:
        _check(schema, policy)
        written = _written(schema)
        copied, policy = schema if written is None else _loaded(written), policy or Policy()
        contract = Contract.of_schema(
            copied, policy, destructive=policy.is_destructive(marked=False, read_only=False)
        )
        self._contract = _inferring(contract, copied) if policy.infer_untyped else contract

    def __call__(self, arguments: Mapping[str, Any] | str) -> Normalized:
        """Repair arguments, or return their violations.

        Args:
            arguments: The arguments sent, also as JSON text; never modified, and returned as the same object if
                valid.

        Returns:
            The arguments to use and the repairs made to them; or, if they cannot be repaired, the violations with the
            sent arguments and no repairs.
        """
        sent: Any = arguments
        contract = self._contract
        is_judged = isinstance(arguments, (dict, Mapping)) and not contract.normalizers
        if contract.mode == "off" or (is_judged and contract.accepts(sent)):
            return Normalized(sent, (), ())
        decision = contract.decide(sent, is_rejected=is_judged)
        if decision.status == "refused":
            return Normalized(sent, (), decision.violations)
        arguments = decision.arguments if contract.mode == "repair" else sent
        return Normalized(arguments, decision.repairs, ())


def normalize(
    schema: Mapping[str, Any], arguments: Mapping[str, Any] | str, policy: Policy | None = None
) -> Normalized:
    """Repair arguments by a JSON Schema, or return their violations.

    Compiled schemas are cached; :class:`Normalizer` compiles one without the cache lookup.

    >>> schema = {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}}
    >>> result = normalize(schema, {"tags": '["a", "b"]'})
    >>> result.arguments, [repair.rule for repair in result.repairs]
    ({'tags': ['a', 'b']}, ['json_text_to_array'])

    Args:
        schema: See :class:`Normalizer`.
        arguments: The arguments sent, also as JSON text; never modified, and returned as the same object if valid.
        policy: See :class:`Normalizer`.

    Returns:
        The arguments to use and the repairs made to them; or, if they cannot be repaired, the violations with the sent
        arguments and no repairs.

    Raises:
        SchemaError: When the schema is not a JSON object.
        TypeError: When the policy is not a :class:`Policy`.
    """
    _check(schema, policy)
    written = _written(schema)
    if written is None:
        return Normalizer(schema, policy)(arguments)
    return _cached(written, _BY_DEFAULT if policy is None else _ByIdentity(policy))(arguments)


def _inferring(contract: Contract, schema: Mapping[str, Any]) -> Contract:
    """Return a contract that runs ``infer()`` first."""
    from mcp_lenient.declare.declarations import Declared
    from mcp_lenient.declare.normalizers.inference import with_inference
    from mcp_lenient.engine.tool_contracts import normalizing

    return normalizing(contract, with_inference(Declared(), schema, untyped=True).normalizers)


def _check(schema: object, policy: object) -> None:
    if not isinstance(schema, Mapping):
        msg = f"a schema must be an object, got {schema!r}."
        raise SchemaError(msg)
    if policy is not None and not isinstance(policy, Policy):
        msg = f"policy must be a Policy, got {policy!r}."
        raise TypeError(msg)


def _written(schema: Mapping[str, Any]) -> bytes | None:
    """Return the schema as bytes; None if it has other types than those of JSON."""
    try:
        return marshal.dumps(dict(schema), _MARSHAL_VERSION)
    except ValueError:
        return None


def _loaded(written: bytes) -> dict[str, Any]:
    schema: dict[str, Any] = marshal.loads(written)  # noqa: S302 - our own bytes
    return schema


class _ByIdentity:
    """A cache key for a policy, whose fields may not be hashable."""

    __slots__ = ("policy",)

    def __init__(self, policy: Policy | None) -> None:
        self.policy = policy

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and other.policy is self.policy

    def __hash__(self) -> int:
        return id(self.policy)


_BY_DEFAULT: Final = _ByIdentity(None)


@lru_cache(maxsize=2048)
def _cached(written: bytes, key: _ByIdentity) -> Normalizer:
    return Normalizer(_loaded(written), key.policy)
