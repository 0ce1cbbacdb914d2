"""Validators of tools, which run no tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic_core import ValidationError as PydanticError

from mcp_lenient.adapters.fastmcp import compat
from mcp_lenient.adapters.pydantic.issues import faults_of_many, ordered, step, unwritable
from mcp_lenient.types import ValidationIssue, Validator
from mcp_lenient.values.json_values import has_many, takes_long

if TYPE_CHECKING:
    from fastmcp.tools import FunctionTool

    from mcp_lenient.adapters.fastmcp.compat import Forwarding, Probe


class FunctionValidator:
    """A function tool's own validator, at the strictness of the server that runs it.

    Args:
        tool: The function tool.
        strict: ``strict_input_validation`` of the server that runs it.

    Attributes:
        exact_integers: Whether ``7.0`` is refused for an integer.
        has_validators: Whether validation runs Python code of the author that FastMCP runs in a worker thread.

    Raises:
        SchemaError: When FastMCP's validator for the function cannot be built.
    """

    by_schema = False
    __slots__ = ("_is_surely_right", "_validate", "exact_integers", "has_validators")

    def __init__(self, tool: FunctionTool, *, strict: bool) -> None:
        probe = compat.probe(tool.fn, run_in_thread=tool.run_in_thread)
        self._validate = probe.strict if strict else probe.lax
        self._is_surely_right = _quick_check(probe, strict=strict)
        self.exact_integers = strict or probe.exact_integers
        self.has_validators = probe.has_validators and probe.in_thread

    def __eq__(self, other: object) -> bool:
        """Return whether both use the same validator."""
        return isinstance(other, FunctionValidator) and self._validate == other._validate

    def __hash__(self) -> int:
        """Hash the validator."""
        return hash(self._validate)

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the tool accepts these arguments.

        A validator of the author that fails by anything but a ``ValueError`` or ``AssertionError`` says
        nothing about the arguments: FastMCP answers with a tool error, and this does not stand in its way.
        """
        if self._is_surely_right is not None and self._is_surely_right(arguments):
            return True
        try:
            self._validate(arguments if type(arguments) is dict else dict(arguments))
        except (ValueError, RecursionError):
            return False
        except Exception:  # noqa: BLE001 - whatever an author's validator raises
            return True
        return True

    def faults(self, arguments: Mapping[str, Any]) -> tuple[ValidationIssue, ...]:
        """Return all issues, in the order of the arguments, then what is missing."""
        if self._is_surely_right is not None and self._is_surely_right(arguments):
            return ()
        try:
            self._validate(dict(arguments))
        except PydanticError as error:
            return faults_of_many(error, arguments, self._validate)
        except (ValueError, RecursionError) as error:
            return (unwritable(error, arguments),)
        except Exception:  # noqa: BLE001 - as in accepts
            return ()
        return ()

    def tells_apart(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Return whether the tool would get different values from the two, as far as validation shows.

        Where validation gives another object each time (such as the current time), it shows nothing.
        """
        return makes_a_difference(self._validate, dict(one), dict(other))


def _quick_check(probe: Probe, *, strict: bool) -> Callable[[Mapping[str, Any]], bool] | None:
    """Return a check of right arguments that takes less time than validation; None where there is none."""
    # Lax, Pydantic is as quick where it builds nothing; strict, FastMCP writes JSON for it to read.
    if strict:
        is_plain, pays = probe.plain.strict, takes_long
    else:
        is_plain, pays = probe.plain.lax if probe.builds_many else None, has_many
    if is_plain is None:
        return None
    # mutant: the quick check saves time only
    return lambda arguments: pays(arguments) and is_plain(arguments)


def makes_a_difference(validate: Callable[[Any], object], one: Any, other: Any) -> bool:
    """Return whether validation gives different results for the two, and equal ones for one of them twice.

    What is refused, or cannot be compared, is different.
    """
    try:
        first, second, again = map(validate, (one, other, one))
        return bool(first != second) and bool(first == again)
    except Exception:  # noqa: BLE001 - whatever an author's validator raises
        return True


@dataclass(frozen=True, slots=True)
class TransformedValidator:
    """A transformed tool's parent, asked with the parent's names and answering with the published ones.

    Issues of hidden arguments are ignored: the caller cannot send them.
    """

    parent: Validator
    forwarding: Forwarding

    @property
    def exact_integers(self) -> bool:
        """Whether ``7.0`` is refused for an integer."""
        return self.parent.exact_integers

    @property
    def by_schema(self) -> bool:
        """Whether only the published schema is known: never, the parent's own validator is asked."""
        return False

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the tool accepts these arguments."""
        if arguments.keys() <= self.forwarding.names.keys() and not self._missing(arguments):
            return self.parent.accepts(self._forwarded(arguments)) or not self.faults(arguments)
        return False

    def faults(self, arguments: Mapping[str, Any]) -> tuple[ValidationIssue, ...]:
        """Return all issues, under the published names."""
        names = self.forwarding.names
        published = {parents: name for name, parents in names.items()}
        unknown = [ValidationIssue((step(name),), "unknown") for name in arguments if name not in names]
        missing = [ValidationIssue((name,), "missing") for name in self._missing(arguments)]
        below = [
            _published(fault, published, arguments)
            for fault in self.parent.faults(self._forwarded(arguments))
            if not fault.path or fault.path[0] in published
        ]
        return ordered([*unknown, *below, *missing], arguments)

    def tells_apart(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Return whether the tool would get different values from the two."""
        return self.parent.tells_apart(self._forwarded(one), self._forwarded(other))

    def _missing(self, arguments: Mapping[str, Any]) -> list[str]:
        names, defaults = self.forwarding.required, self.forwarding.defaults
        return [name for name in names if name not in arguments and name not in defaults]

    def _forwarded(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        names = self.forwarding.names
        filled = {**self.forwarding.defaults, **arguments}
        known = {names[name]: value for name, value in filled.items() if name in names}
        return {**known, **self.forwarding.hidden}


def _published(
    fault: ValidationIssue, published: Mapping[Any, str], arguments: Mapping[str, Any]
) -> ValidationIssue:
    if not fault.path:
        return fault
    name = published[fault.path[0]]
    # What is filled in for the caller may be refused: then the caller has to send something better.
    return (
        replace(fault, path=(name, *fault.path[1:]))
        if name in arguments
        else ValidationIssue((name,), "missing")
    )
