"""Whether a value keeps one keyword of a schema; a keyword that cannot be judged counts as kept."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jsonschema_rs


def holds(keyword: str, bound: object, value: object) -> bool:
    """Whether a value keeps this keyword with this bound.

    >>> holds("maximum", 10, 11)
    False
    """
    if isinstance(bound, (str, int, float)):
        # 1, 1.0 and true are one key of a cache, and three bounds.
        validator = _of_scalar(keyword, bound, type(bound).__name__)
    else:
        validator = _validator({keyword: bound})
    if validator is None:
        return True
    try:
        return validator.is_valid(value)
    except ValueError:
        return True


@lru_cache(maxsize=1024)
def _of_scalar(keyword: str, bound: object, _kind: str) -> jsonschema_rs.Draft202012Validator | None:
    return _validator({keyword: bound})


def _validator(schema: dict[str, Any]) -> jsonschema_rs.Draft202012Validator | None:
    """A lookahead in a pattern is beyond the linear engine, so that a bounded one comes second."""
    import jsonschema_rs

    linear = jsonschema_rs.RegexOptions()
    bounded = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)
    for options in (linear, bounded):
        try:
            return jsonschema_rs.Draft202012Validator(
                schema, retriever=_refuse, pattern_options=options, validate_formats=True
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
            continue
    return None


def _refuse(uri: str) -> Any:
    msg = f"Remote schemas are not fetched: {uri}"
    raise ValueError(msg)
