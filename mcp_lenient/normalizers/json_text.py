"""JSON text where the type takes text as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, get_args

from mcp_lenient.json_text import Dialect, parse_container, plain
from mcp_lenient.limits import Limits
from mcp_lenient.normalizers.annotation import Normalizer
from mcp_lenient.normalizers.refusals import refuse_argument
from mcp_lenient.values import json_type

Container = Literal["array", "object"]

_LIMITS: Final = Limits()
_DIALECTS: Final[frozenset[Dialect]] = frozenset(get_args(Dialect))


def container_in_text(text: str) -> Any:
    """The array or object that the whole text spells in JSON, JSON5 or Python; None where it spells none."""
    parsed = parse_container(
        text,
        max_text=_LIMITS.text,
        max_relaxed=_LIMITS.relaxed_text,
        max_depth=_LIMITS.depth,
        dialects=_DIALECTS,
    )
    return None if parsed is None else plain(parsed.value)


@dataclass(frozen=True, slots=True)
class ParseJson(Normalizer):
    """What :func:`parse_json` makes."""

    __name__: ClassVar[str] = "parse_json"

    kinds: tuple[Container, ...]

    def __call__(self, value: Any) -> Any:
        """The container that a text spells, or the value as it is."""
        if not isinstance(value, str):
            return value
        found = container_in_text(value)
        return value if found is None or json_type(found) not in self.kinds else found


def parse_json(*kinds: Container) -> ParseJson:
    """Read a text that is a JSON array or object; any other text stays text.

    It is for types like ``str | list[str]``: the text is right as it is, so that nothing else may read it.
    Text is also read where it is fenced, quoted once more, or written as JSON5 or Python would; never where
    a digit or a key would be lost.

    >>> read = parse_json("array")
    >>> read('["a", "b"]'), read('{"a": 1}'), read("[a note]")
    (['a', 'b'], '{"a": 1}', '[a note]')

    Args:
        kinds: ``"array"``, ``"object"`` or both; both when left out.

    Raises:
        ValueError: When a kind is anything else.
    """
    for kind in kinds:
        if kind not in get_args(Container):
            refuse_argument("Each kind of parse_json(*kinds)", "'array' or 'object'", kind)
    return ParseJson(tuple(sorted(set(kinds or get_args(Container)))))
