"""Values to choose from where arguments are made up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WORDS: Final = (
    "alpha",
    "two words",
    "Zürich",
    "任务一",
    "a, b",
    "007",
    "1.50",
    "42",
    "null",
    "true",
    "[1]",
    "x=1;y=2",
    "C:\\new\\table",
    'say "hi"',
    "it's",
)
FORMATS: Final[Mapping[str, tuple[str, ...]]] = {
    "date": ("2026-01-31", "1999-12-01", "2099-12-31"),
    "date-time": ("2026-01-31T12:30:00Z", "2026-01-31T12:30:00+01:00", "2099-12-31T23:59:59Z"),
    "time": ("12:30:00Z",),
    "duration": ("P1D", "PT90M"),
    "email": ("ann@example.com",),
    "idn-email": ("ann@example.com",),
    "name-email": ("Ann <ann@example.com>",),
    "uri": ("https://example.com/a?b=1,2",),
    "uri-reference": ("/a?b=1,2",),
    "multi-host-uri": ("postgresql://example.com:5432/data",),
    "uuid": ("123e4567-e89b-42d3-a456-426614174000",),
    "uuid1": ("123e4567-e89b-12d3-a456-426614174000",),
    "uuid3": ("123e4567-e89b-32d3-a456-426614174000",),
    "uuid4": ("123e4567-e89b-42d3-a456-426614174000",),
    "uuid5": ("123e4567-e89b-52d3-a456-426614174000",),
    "ipv4": ("192.0.2.1",),
    "ipv4network": ("192.0.2.0/24",),
    "ipv4interface": ("192.0.2.1/24",),
    "ipv6": ("2001:db8::1",),
    "ipv6network": ("2001:db8::/32",),
    "ipv6interface": ("2001:db8::1/32",),
    "ipvanyaddress": ("192.0.2.1", "2001:db8::1"),
    "ipvanynetwork": ("192.0.2.0/24",),
    "ipvanyinterface": ("192.0.2.1/24",),
    "hostname": ("example.com",),
    "json-pointer": ("/a/0",),
    "regex": ("^a+$",),
    "color": ("#aabbcc",),
    "directory-path": (".",),
    "byte": ("aGk=",),
    "base64": ("aGk=",),
    "base64url": ("aGk=",),
    "json-string": ('{"a": 1}',),
}
WIDE_FORMATS: Final[Mapping[str, tuple[str, ...]]] = {
    "date-time": ("2026-01-31T12:30:00", "1999-12-01T12:30:00"),
    "time": ("12:30:00",),
}
"""Texts that many tools take for a format, though the format has none of them."""
SAMPLES: Final = (
    *(
        "a",
        "A",
        "ab",
        "abc",
        "ABC",
        "Abc",
        "a1",
        "A1",
        "a-b",
        "a_b",
        "a.b",
        "a/b",
        "/a/b",
        "AB12",
        "ab12cd34",
    ),
    *(
        "0",
        "1",
        "12",
        "123",
        "1234",
        "12345",
        "1.2",
        "1.2.3",
        "v1.2.3",
        "-1",
        "+491701234567",
        "#aabbcc",
        "#ABC",
    ),
    *(
        "00:00",
        "12:30",
        "2026",
        "2026-01",
        "2026-01-31",
        "en",
        "en-US",
        "USD",
        "a@example.com",
        "https://example.com",
    ),
    *("EURUSD", "AAPL", "ABC-123", "10.0.0.1", "deadbeef", "0x1f", "5m", "1h", "1d", "text/plain"),
    *dict.fromkeys(text for values in FORMATS.values() for text in values),
)
NAMES: Final = ("key", "1", *FORMATS["date"][:1])
"""Names of a map's entries."""
DECIMALS: Final = ("12.50", "7", "0.125")
NUMBERS: Final = (0, 1, 2, 3, 7, 10, 42, 100, -1)
FRACTIONS: Final = (0.5, 1.25, 2.0, 3.75, 10.5, -0.5)
