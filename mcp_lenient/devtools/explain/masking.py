"""Hide in an explanation what the envelope would not repeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_lenient.engine.contract import ToolContract
from mcp_lenient.refusal.wording import Refusal, marked_secret, told_safely
from mcp_lenient.schema.node import MAX_FORMS, Forms, any_fits, children, names_of
from mcp_lenient.types import Outcome, ValidationIssue
from mcp_lenient.values.display import HIDDEN, is_name, secret_name
from mcp_lenient.values.json_values import pointer, tokens_of

_LONGEST = 300
_LONGEST_INDEX = 9


class Mask:
    """The values of one call, without secrets and without what was sent under undeclared names."""

    def __init__(self, contract: ToolContract) -> None:
        self._contract = contract
        self._top = contract.plan.reader.top
        self._secrets = contract.plan.policy.secret

    def value(self, value: Any, place: str = "") -> Any:
        """Return a value at a place as it may be shown."""
        forms, is_declared = self._top, True
        for token in tokens_of(place):
            here = forms_below(forms, token)
            if secret_name(token, self._secrets) or marked_secret(here):
                return HIDDEN
            is_declared = bool(here) or not names_of(forms)
            # An undeclared name may be a wrapper around the arguments.
            forms = here or forms
        try:
            return self._masked(forms, value) if is_declared else HIDDEN
        except RecursionError:
            return HIDDEN

    def _masked(self, forms: Forms, value: Any) -> Any:
        if marked_secret(forms):
            return HIDDEN
        if isinstance(value, Mapping):
            return dict(self._entry(forms, key, each) for key, each in value.items())
        if isinstance(value, list):
            return [self._masked(children(forms, at)[:MAX_FORMS], each) for at, each in enumerate(value)]
        stands_for_other = isinstance(value, str) and forms and not any_fits(forms, value)
        return HIDDEN if stands_for_other and not is_name(value) else value

    def _entry(self, forms: Forms, key: Any, value: Any) -> tuple[Any, Any]:
        below = children(forms, key)[:MAX_FORMS]
        if not secret_name(key, self._secrets) and (below or not names_of(forms)):
            return key, self._masked(below, value)
        return key if below or not isinstance(key, str) or is_name(key) else HIDDEN, HIDDEN

    def place(self, place: str) -> str:
        """Return a JSON Pointer without undeclared keys that are no names, or that are below a secret."""
        forms, is_secret = self._top, False
        path: list[str] = []
        for token in tokens_of(place):
            here = forms_below(forms, token)
            path.append(token if here or (is_name(token) and not is_secret) else HIDDEN)
            is_secret = is_secret or secret_name(token, self._secrets) or marked_secret(here)
            forms = here or forms
        return pointer(tuple(path))

    def reason(self, issue: ValidationIssue, arguments: Mapping[str, Any]) -> str | None:
        """Return why a value is wrong: the author's sentence, unless it may repeat a secret, or ours."""
        if not issue.detail:
            return issue.reason
        contract = self._contract
        refusal = Refusal(
            contract.plan.reader, Outcome("refused", arguments), contract.validator, contract.plan.policy
        )
        return told_safely(refusal, [refusal.look(issue.path)], issue.detail, _LONGEST) or issue.reason


def forms_below(forms: Forms, token: str) -> Forms:
    """Return the forms of a property or item that a part of a JSON Pointer names."""
    found = children(forms, token)
    if not found and token.isdecimal() and len(token) <= _LONGEST_INDEX:
        found = children(forms, int(token))
    return found[:MAX_FORMS]
