"""Hide in an explanation what the envelope would not repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_lenient.engine.contract import Contract
from mcp_lenient.refusal.locations import RefusedCall
from mcp_lenient.schema.node import Node, below
from mcp_lenient.types import Fault
from mcp_lenient.values.display import HIDDEN, has_credential, is_name, is_secret_name, keys_naming_secret
from mcp_lenient.values.json_values import pointer, tokens_of

_LONGEST = 300
_LONGEST_INDEX = 9


class Mask:
    """The values of one call, without secrets and without what was sent under undeclared names."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._top = contract.plan.top
        self._secrets = contract.plan.policy.secret

    def value(self, value: Any, place: str = "") -> Any:
        """Return a value at a place as it may be shown."""
        _, node, is_shown = self._walk(place)
        if not is_shown:
            return HIDDEN
        try:
            return self._masked(node, value)
        except RecursionError:
            return HIDDEN

    def _masked(self, node: Node | None, value: Any) -> Any:
        if (node is not None and node.secret) or has_credential(value):
            return HIDDEN
        if isinstance(value, Mapping):
            named = keys_naming_secret(value, self._secrets)
            shown = (self._entry(node, key, entry) for key, entry in value.items())
            return {
                key: item if named <= {raw} else HIDDEN for raw, (key, item) in zip(value, shown, strict=True)
            }
        if isinstance(value, list):
            return [self._masked(below(node, index), item) for index, item in enumerate(value)]
        is_other = node is not None and not node.branches_of_type(value)
        return HIDDEN if isinstance(value, str) and is_other and not is_name(value) else value

    def _entry(self, node: Node | None, key: Any, value: Any) -> tuple[Any, Any]:
        inside = below(node, key)
        if not is_secret_name(key, self._secrets) and (inside or not (node and node.names)):
            return key, self._masked(inside, value)
        return key if inside or not isinstance(key, str) or is_name(key) else HIDDEN, HIDDEN

    def place(self, place: str) -> str:
        """Return a JSON Pointer without undeclared keys that do not look like names or are below a secret."""
        path, *_ = self._walk(place)
        return pointer(tuple(path))

    def _walk(self, place: str) -> tuple[list[str], Node | None, bool]:
        """Return the parts of a JSON Pointer as they may be shown, the node there, and whether its value may be shown."""
        node: Node | None = self._top
        path: list[str] = []
        is_secret, is_declared = False, True
        for token in tokens_of(place):
            here = node_below(node, token)
            path.append(token if here or (is_name(token) and not is_secret) else HIDDEN)
            is_marked = here is not None and here.secret
            is_secret = is_secret or is_marked or is_secret_name(token, self._secrets)
            is_declared = here is not None or not (node and node.names)
            node = here or node  # an undeclared name may be a wrapper around the arguments
        return path, node, is_declared and not is_secret

    def reason(self, fault: Fault, arguments: Mapping[str, Any]) -> str | None:
        """Return why a value is wrong: the author's sentence, unless it may repeat a secret, or ours."""
        if not fault.detail:
            return fault.reason
        refused = RefusedCall(self._top, arguments, self._contract.plan.policy)
        return refused.safe_sentence([refused.location(fault.path)], fault.detail, _LONGEST) or fault.reason


def node_below(node: Node | None, token: str) -> Node | None:
    """Return the node of a property or item that a part of a JSON Pointer names."""
    child = below(node, token)
    if child is None and token.isdecimal() and len(token) <= _LONGEST_INDEX:
        child = below(node, int(token))
    return child
