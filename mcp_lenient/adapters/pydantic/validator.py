"""A tool's own validator that is Pydantic's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import CoreSchema, ValidationError

from mcp_lenient.adapters.pydantic.core_schemas import is_strict_at
from mcp_lenient.adapters.pydantic.faults import faults_of, unwritable
from mcp_lenient.adapters.pydantic.plain_types import Check
from mcp_lenient.types import Fault, Path
from mcp_lenient.values.json_values import holds_many, unshared


class PydanticValidator:
    """Validate arguments as Pydantic does for the host, before it runs the tool.

    If an author's validator raises anything but ``ValueError`` or ``AssertionError``, the arguments count as accepted,
    so that the host answers with its own error.

    Args:
        validate: Raises what the host's validation of these arguments raises, or returns what the tool receives.
        quick: A check for long lists, where validation would build an object for each entry: True means accepted.
        runs_code: Whether validation runs code of the author, which then gets a copy: it may edit its input.
        core_schema: Pydantic's schema of the arguments, which says where a field is strict.
    """

    by_schema = False
    exact_integers = False
    __slots__ = ("_core_schema", "_quick", "_validate", "runs_code")

    def __init__(
        self,
        validate: Callable[[dict[str, Any]], object],
        quick: Check | None = None,
        *,
        core_schema: CoreSchema,
        runs_code: bool,
    ) -> None:
        self._validate = validate
        self._quick = quick
        self._core_schema = core_schema
        self.runs_code = runs_code

    def __eq__(self, other: object) -> bool:
        """Return whether both validate in the same way."""
        return isinstance(other, PydanticValidator) and self._validate == other._validate

    def __hash__(self) -> int:
        """Hash the validation."""
        return hash(self._validate)

    def is_strict_at(self, path: Path) -> bool:
        """Return whether the author made a field strict."""
        return is_strict_at(self._core_schema, path)

    def received(self, arguments: Mapping[str, Any]) -> object:
        """Return what the tool receives for these arguments; raise what the validation raises."""
        return self._validate(unshared(arguments) if self.runs_code else dict(arguments))

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether the tool accepts these arguments."""
        if self._quick is not None and holds_many(arguments) and self._quick(arguments):
            return True
        try:
            if type(arguments) is dict and not self.runs_code:
                self._validate(arguments)
            else:
                self.received(arguments)
        except (ValueError, RecursionError):
            return False
        except Exception:  # noqa: BLE001 - whatever an author's validator raises
            return True
        return True

    def faults(self, arguments: Mapping[str, Any]) -> tuple[Fault, ...]:
        """Return all faults in the order of the arguments, then missing names."""
        try:
            self.received(arguments)
        except ValidationError as error:
            return faults_of(error, arguments)
        except (ValueError, RecursionError) as error:
            return (unwritable(error, arguments),)
        except Exception:  # noqa: BLE001 - whatever an author's validator raises
            return ()
        return ()

    def distinguishes(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Return whether the tool would receive different values from the two, as far as validation shows.

        If validation returns a new value each time (such as the current time), it shows nothing. What is refused, or
        cannot be compared, is different.
        """
        try:
            first, second, again = map(self.received, (one, other, one))
            return bool(first != second) and bool(first == again)
        except Exception:  # noqa: BLE001 - whatever an author's validator raises
            return True
