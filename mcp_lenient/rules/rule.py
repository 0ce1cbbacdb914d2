"""What a rule is, and the place in a schema at which one is built."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from mcp_lenient.schema.node import Position

if TYPE_CHECKING:
    from mcp_lenient.schema.shape import Shape
    from mcp_lenient.values.limits import Limits

Tier = Literal[1, 2, 4, 8, 16]
Kind = Literal["value", "property", "name", "drop", "arguments"]
Apply = Callable[..., Any]

TIERS: Final[tuple[Tier, ...]] = (1, 2, 4, 8, 16)
_BITS_PER_TIER: Final = 32


class Absent(enum.Enum):
    """What a property rule answers for a property that is to be left out."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


class SitePolicy(Protocol):
    """What a rule asks of the :class:`mcp_lenient.Policy` in force."""

    @property
    def limits(self) -> Limits:
        """Bounds on what is looked at."""
        ...

    @property
    def aliases(self) -> Mapping[str, tuple[str, ...]]:
        """Other names of top-level parameters."""
        ...

    @property
    def drop(self) -> frozenset[str]:
        """Further top-level keys that are dropped where the schema forbids them."""
        ...

    def allows(self, rule: str) -> bool:
        """Whether this rule is in force."""
        ...


@dataclass(frozen=True, slots=True)
class Site:
    """One place of a schema, as a rule sees it when it is built.

    ``takes`` tells whether the schema at this place accepts a value as it is, ``shape_at`` reads a
    sub-schema found in ``shape``; ``tool`` is the tool's name, where it is known.
    """

    shape: Shape
    place: Position
    policy: SitePolicy
    destructive: bool
    name: str | None
    takes: Callable[[Any], bool]
    shape_at: Callable[[Any], Shape]
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the table.

    ``build(site)`` returns the function to run per value, or None where the rule does not apply:

    - ``kind="value"``: ``apply(value) -> tuple of values`` to be read instead;
    - ``kind="property"``: ``apply(value) -> bool``: the property may be left out;
    - ``kind="name"``: ``apply(sent, absent, value) -> str | None``: the declared name that was meant;
    - ``kind="drop"``: ``apply(unknown, sent) -> frozenset`` of the keys to leave out;
    - ``kind="arguments"``: ``apply(arguments) -> tuple of arguments`` to be read instead.

    Args:
        name: What becomes what; the code in records.
        tier: 1, 2, 4, 8 or 16; lower is closer to what was sent.
        build: The factory, called once per place of a schema.
        on: Python types of the values it looks at.
        kind: See above.
        across: Whether it may win across union branches of different JSON type.
        again: Whether its result may need one more value rule at the same place.
        reads_text: Whether ``apply`` also takes the :class:`mcp_lenient.values.json_text.TextParseCache` of the call, which
            read each text once.
        keeps_value: Whether all that was sent is still in the outcome; in a destructive tool no other rule acts.
    """

    name: str
    tier: Tier
    build: Callable[[Site], Apply | None]
    on: Sequence[type] = ()
    kind: Kind = "value"
    across: bool = False
    again: bool = False
    reads_text: bool = False
    keeps_value: bool = True

    @property
    def cost(self) -> int:
        """A number by which readings compare: by worst tier first, then by rules of each tier."""
        return 1 << (_BITS_PER_TIER * TIERS.index(self.tier))


def made(value: Any) -> tuple[Any, ...]:
    """The values that a rule answers, of which it found one, or None."""
    return () if value is None else (value,)


def worst_tier(cost: int) -> int:
    """The worst tier within a cost; 0 for a reading that changed nothing."""
    return TIERS[(cost.bit_length() - 1) // _BITS_PER_TIER] if cost else 0


Names = Mapping[str, Any]
