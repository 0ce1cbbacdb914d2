"""Judgments on differences from peers' tests, and why some are kept; rows are named only by their line."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def digest(arguments: Any) -> str:
    """Return a short fingerprint of arguments, in which ``1.0`` is ``1`` and the order of keys does not matter."""
    return hashlib.sha256(json.dumps(_plain(arguments), sort_keys=True).encode()).hexdigest()[:12]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


_GROUPS = (
    ("p010", "plain words are one item of a list of texts"),
    ("p022 p023", "yes, no, on, off, 1 and 0 are booleans"),
    ("p031 p032 p035 p036 p037 p056", "a wrapper of any name: no finite list of those"),
    ("p041", "the space may tell enum values apart; offered as a fix"),
    ("p061", "an underscore name may mean more; offered as a fix"),
    ("p048 p066 p067", "numbered keys may be a sparse map, not a list"),
    ("p075 p080", "a markup text has no single reading"),
    ("p034 p069 p070 p071 p072 p073", "the object may be the item or wrap the item"),
    ("p040 p044 p045 p049", "a list would invent or lose a value"),
    ("p047 p052 p053 p058 p063", "no value that fits keeps what was sent"),
    ("p081 p082 p090 p095 p100 p101 p103 p109", "a function takes declared names only"),
    ("p055", "a boolean has several spellings as text"),
    ("p062", "another meaning is not another spelling"),
    ("p064 p083 p086 p104 p105", "leaving out an unknown name loses a value"),
    ("p088 p089 p093 p094 p096 p097 p107", "leaving out a forbidden name loses a value"),
    ("p077", "a comma may belong to a text"),
)
"""Rows by their line, and the reason in a few words; README.md says more."""

REASONS: Mapping[str, str] = {name: reason for names, reason in _GROUPS for name in names.split()}
"""Reasons to keep a row of the peers' suites whose outcome differs from theirs."""

_FINGERPRINTS = """
    p033 eb9c9f924d57, p038 778c081d609e, p039 cf36b5c2e23a, p041 237e050bb4bb, p042 2295600f0128,
    p043 dcebe652a13c, p046 8875d69fe86d, p048 a49e002acbd2, p050 d8497d9d8277, p054 38e083ca68c4,
    p057 ebffc31c518e, p059 7e25d64a05b4, p060 1f53581ecd35, p061 1b8d9f8a738d, p065 a9b02ba36e99,
    p066 5508aa1cdc36, p067 2c88391a1339, p068 da8614946e68, p074 a3e104149f44, p075 e58bea264a57,
    p076 e531fd95f0a3, p076 7e57a2c55fd0, p078 e0e8c9b6894e, p079 dae3aa85f69c, p080 a75e29bd74e0,
    p084 1c48ed78321d, p085 d100ccc1731e, p087 1952d124ff9f, p106 96abb5d96a58, p108 5ade23b12a3a,
    p109 5090861e128f
"""

OUTCOMES: dict[str, list[str]] = {}
"""Fingerprints of the right arguments, for rows without the peer's own outcome."""
for _row in _FINGERPRINTS.split(","):
    _name, _digest = _row.split()
    OUTCOMES.setdefault(_name, []).append(_digest)
