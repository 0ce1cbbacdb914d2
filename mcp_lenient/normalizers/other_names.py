"""Other names of a parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp_lenient.normalizers.annotation import whole_metadata
from mcp_lenient.normalizers.refusals import refuse_argument


@dataclass(frozen=True, slots=True)
class Aliases:
    """Other names that a parameter is known by; says nothing of its value.

    Attributes:
        names: The names, as they were given.
    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.names:
            refuse_argument("aliases(*names)", "one name or more", self.names)
        for name in self.names:
            if not isinstance(name, str) or not name.strip():
                refuse_argument("Each name of aliases(*names)", "a text that is not empty", name)
        if len(set(self.names)) != len(self.names):
            refuse_argument("aliases(*names)", "different names", self.names)


def aliases(*names: str) -> Aliases:
    """Declare other names of a parameter.

    >>> aliases("query", "q").names
    ('query', 'q')

    Args:
        names: The other names, exactly as callers write them.

    Raises:
        ValueError: When there is none, one is empty or no text, or one is there twice.
    """
    return Aliases(names)


def annotated_aliases(annotation: Any) -> tuple[str, ...]:
    """The other names that stand on a whole parameter.

    >>> from typing import Annotated
    >>> annotated_aliases(Annotated[str, aliases("query", "q")])
    ('query', 'q')

    Args:
        annotation: A parameter's type, its forward references resolved.
    """
    declared = (entry for entry in whole_metadata(annotation) if isinstance(entry, Aliases))
    return tuple(dict.fromkeys(name for entry in declared for name in entry.names))
