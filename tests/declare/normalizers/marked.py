"""Types of parameters and values for them, to compare an annotated type with the plain one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    Discriminator,
    Field,
    Json,
    PlainSerializer,
    SecretStr,
    SerializeAsAny,
    StrictInt,
    WrapValidator,
)
from typing_extensions import TypedDict

from mcp_lenient.normalizers import (
    clamp,
    default_on_null,
    infer,
    iso_date,
    lower,
    null_as,
    parse_json,
    split,
    strip,
    synonyms,
    tags,
    upper,
)


class Color(Enum):
    """An enum of strings."""

    RED = "red"


class Point(BaseModel):
    """A model with a date, which JSON represents as text."""

    kind: Literal["point"] = "point"
    x: int
    at: datetime | None = None


class Node(BaseModel):
    """A model that contains itself."""

    kind: Literal["node"] = "node"
    value: Decimal = Decimal(1)
    children: list[Node] = []


class Pair(NamedTuple):
    """A type that is an array in JSON."""

    left: int
    right: UUID


class Options(TypedDict, total=False):
    """A type that is an object in JSON, without a class."""

    since: date


@dataclass
class Box:
    """A dataclass."""

    points: tuple[Point, ...]


def same(value):
    """Return the value unchanged."""
    return value


def handed_on(value, handler):
    """Return the value as the type validates it."""
    return handler(value)


UNIQUE = "12345678-1234-5678-1234-567812345678"
TYPES = [
    pytest.param(str, id="str"),
    pytest.param(int, id="int"),
    pytest.param(Any, id="any"),
    pytest.param(datetime, id="datetime"),
    pytest.param(Color, id="enum"),
    pytest.param(Literal["red", 1], id="literal"),
    pytest.param(SecretStr, id="secret"),
    pytest.param(StrictInt, id="strict-int"),
    pytest.param(tuple[int, date], id="fixed-tuple"),
    pytest.param(Point, id="model"),
    pytest.param(Node, id="recursive"),
    pytest.param(Pair, id="named-tuple"),
    pytest.param(Options, id="typed-dict"),
    pytest.param(Box, id="dataclass"),
    pytest.param(Point | None, id="nullable-model"),
    pytest.param(list[Color] | None, id="nullable-list"),
    pytest.param(Annotated[Point, Field(description="a place"), AfterValidator(same)], id="described-model"),
    pytest.param(Annotated[int, WrapValidator(handed_on)], id="wrap-validator"),
    pytest.param(Annotated[date, PlainSerializer(str, return_type=str)], id="serializer"),
    pytest.param(SerializeAsAny[Point], id="serialized-as-any"),
    pytest.param(Json[list[int]], id="json"),
    pytest.param(dict[Annotated[Color, lower()], int], id="marked-keys"),
    pytest.param(date | list[UUID] | None, id="union-of-more"),
    pytest.param(Point | Node, id="union-of-models"),
    pytest.param(Annotated[Point | Node, Field(discriminator="kind")], id="discriminated"),
    pytest.param(Annotated[Point | Node | None, Discriminator("kind")], id="discriminated-nullable"),
    pytest.param(list[Annotated[list[Annotated[Point, strip()]], strip()]], id="marked-inside"),
    pytest.param(Annotated[int, Field(ge=1, le=5, description="a step")], id="bounds"),
    pytest.param(Annotated[list[int] | None, Field(max_length=2)], id="items"),
]
VALUES = [
    None, True, 0, 1, 7, -1, 1.0, 1.5, 1e400, 10**30, "", "red", "rot", "1", "1.50", "true", " 7 ",
    "2024-01-31", "2024-01-31T10:00:00", "2024-01-31T10:00:00Z", "10:00:00", "P1D", "2024-02-30", UNIQUE, "[1, 2]",
    "127.0.0.1", "1+2j", "标签", [], [1], [1, 2], [1, "2024-01-31"], [1, 2, 3], ["red"], ["2024-01-31"], [UNIQUE],
    [1, UNIQUE], [None], [[1]], {}, {"a": 1}, {"RED": 1}, {"red": 1}, {"1": "a"}, {"a": "2024-01-31T10:00:00"}, {"x": 1},
    {"x": "1", "at": "2024-01-31T10:00:00"}, {"x": 1, "at": "soon"}, {"kind": "point", "x": 2},
    {"kind": "node", "value": "1.5"}, {"kind": "node", "children": [{"kind": "node", "children": [{}]}]},
    {"kind": "node", "children": [{"value": "much"}]}, {"kind": "other"}, {"since": "2024-01-31"},
    {"points": [{"x": 1}]}, {"left": 1, "right": UNIQUE}, [{"value": 2, "children": []}],
]  # fmt: skip
EACH = [
    tags(),
    tags(separator=",", trim=True, lower=True, unique=True),
    parse_json(),
    parse_json("object"),
    split(),
    split("a"),
    strip(),
    lower(),
    upper(),
    synonyms({"open": "Active", "a": 1, "b": None}),
    clamp(1, 100),
    clamp(maximum=-0.5),
    null_as([]),
    null_as("none"),
    default_on_null(),
    infer(),
    iso_date(),
    iso_date("mdy"),
]
"""Each ready-made normalizer, with and without options."""
