"""The scalars of a value, as counted for law 4."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any


def leaves(value: Any) -> Iterator[str]:
    """Yield the scalars of a value as text. JSON containers in text are parsed."""
    if isinstance(value, dict):
        for entry in value.values():
            yield from leaves(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from leaves(entry)
    elif isinstance(value, str):
        yield from _text_leaves(value)
    else:
        yield _spelled(json.dumps(value))


def _text_leaves(text: str) -> Iterator[str]:
    word = text.strip().strip("\"'")
    parsed = _container(word)
    if parsed is not None:
        yield from leaves(parsed)
    elif "," in word or ";" in word:
        yield from (_spelled(part.strip()) for part in word.replace(";", ",").split(","))
    else:
        yield _spelled(word)


@lru_cache
def _container(text: str) -> Any:
    try:
        parsed = json.loads(text.replace("'", '"'))
    except ValueError:
        return None
    return parsed if isinstance(parsed, (list, dict)) else None


_WORDS = (
    dict.fromkeys(("yes", "on", "1"), "true") | dict.fromkeys(("no", "off", "0"), "false") | {"none": "null"}
)


def _spelled(word: str) -> str:
    folded = word.lower().replace("_", " ").replace("-", " ").strip()
    try:
        number = Decimal(word)
    except InvalidOperation:
        return _WORDS.get(folded, folded)
    return _WORDS.get(str(number.normalize()), str(number.normalize())) if number.is_finite() else folded
