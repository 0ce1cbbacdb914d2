"""Tool signatures and values for comparing our validator with FastMCP."""

from __future__ import annotations

import dataclasses
import functools
import json
import uuid
from collections.abc import AsyncIterator, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from fastmcp import Context
from fastmcp.dependencies import Depends
from fastmcp.tools import Tool
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Json,
    SecretStr,
    StrictInt,
    field_validator,
    model_validator,
)
from typing_extensions import TypedDict


class _Color(str, Enum):
    RED = "red"
    BLUE = "blue"


class _Level(Enum):
    LOW = 1
    HIGH = 2


class _Point(BaseModel):
    x: int
    y: float = 0.0


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str = Field(alias="fullName")
    points: list[_Point] = []


class _Node(BaseModel):
    value: int
    children: list[_Node] = []


class _Text(BaseModel):
    type: Literal["text"]
    text: str
    more: int


class _Image(BaseModel):
    type: Literal["image"]
    url: str = Field(validation_alias=AliasChoices("url", "href"))


class _Even(BaseModel):
    n: int

    @field_validator("n")
    @classmethod
    def even(cls, n: int) -> int:
        if n % 2:
            msg = "must be even"
            raise ValueError(msg)
        return n

    @model_validator(mode="after")
    def small(self) -> _Even:
        assert self.n < 100, "must be small"
        return self


class _Options(TypedDict, total=False):
    deep: bool
    limit: int


class _Pair(NamedTuple):
    left: int
    right: int


@dataclasses.dataclass
class _Size:
    width: int
    height: int = 1


def _split(value: Any) -> Any:
    return value.split(",") if isinstance(value, str) else value


def _fails(value: Any) -> Any:
    raise KeyError(type(value))


def _short(value: str) -> str:
    if len(value) > 3:
        msg = "must be short"
        raise ValueError(msg)
    return value


TYPES: dict[str, Any] = {
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "any": Any,
    "none": None,
    "literal": Literal["a", "b", 1],
    "str_enum": _Color,
    "int_enum": _Level,
    "datetime": datetime,
    "date": date,
    "timedelta": timedelta,
    "uuid": uuid.UUID,
    "decimal": Decimal,
    "bytes": bytes,
    "path": Path,
    "secret": SecretStr,
    "json": Json[list[int]],
    "strict_int": StrictInt,
    "list": list[int],
    "bare_list": list,
    "set": set[str],
    "tuple": tuple[int, str],
    "dict": dict[str, int],
    "int_keys": dict[int, Any],
    "optional": int | None,
    "optional_list": list[str] | None,
    "union": int | str,
    "union_of_models": _Point | _Even | None,
    "list_or_text": list[str] | str,
    "tagged": Annotated[_Text | _Image, Field(discriminator="type")],
    "typed_dict": _Options,
    "named_tuple": _Pair,
    "dataclass": _Size,
    "model": _Point,
    "closed": _Closed,
    "recursive": _Node,
    "validated": _Even,
    "nested": dict[str, list[_Point | None]],
    "range": Annotated[int, Field(ge=0, le=10)],
    "pattern": Annotated[str, Field(pattern="^a+$", max_length=5)],
    "described": Annotated[int, "how many"],
    "before": Annotated[list[str], BeforeValidator(_split)],
    "after": Annotated[str, AfterValidator(_short)],
    "fails": Annotated[int, BeforeValidator(_fails)],
}


def typed(annotation: Any) -> Tool:
    """Return a tool with one required parameter ``x`` of this type."""

    async def taking(x: Any) -> None: ...

    taking.__annotations__ = {"x": annotation, "return": None}
    return Tool.from_function(taking)


DEEP: Any = 1
for _ in range(400):
    DEEP = [DEEP]

VALUES: list[Any] = json.loads("""[
    null, true, false, 0, 1, 7, 1180591620717411303424, 1.0, 7.5, 1e400, NaN,
    "", "a", "b", "red", "RED", "1", "7", "7.0", "true", "null", "aaaaaaa", "a,b", "caf\\u00e9", "\\ud800", "[1, 2]",
    "2024-01-02", "2024-01-02T03:04:05Z", "PT1H", "3.14", "00000000-0000-0000-0000-000000000001",
    [], [1], ["a"], [1, "a"], ["1", 2], [null], [[1]],
    {}, {"x": 1}, {"x": "1", "z": 2}, {"x": "a"}, {"a": 1, "b": "2"}, {"1": 2}, {"n": 3}, {"n": 4}, {"n": 200},
    {"type": "text", "text": "t", "more": 1}, {"type": "text", "text": {"text": 1}}, {"type": "image", "href": ""},
    {"type": "Text"}, {"text": "a"}, {"fullName": "n"}, {"name": "n"}, {"fullName": "n", "points": [{"x": "q"}, {}]},
    {"value": 1, "children": [{"value": "x"}]}, {"deep": 1, "limit": "2"}, {"left": 1}, {"width": 2, "depth": 3},
    {"a": [{"x": 1}, null, {"y": 2}]}, {"\\ud800": 1}
]""")
VALUES += [DEEP, 10**5000, {1: 2}]


def _with_context(x: list[int], ctx: Context, *, flag: bool = False) -> None: ...


def _with_dependency(x: list[int], secret: str = Depends(lambda: "s")) -> None: ...


def many(x: list[int], y: _Color | None = None, *, z: bool, w: Annotated[int, Field(alias="W")] = 3) -> None:
    """A function with parameters of all kinds."""


def _plain(x: list[int], n: int = 3, *, flag: bool) -> None: ...


async def _async(x: list[int]) -> None: ...


def _generator(x: list[int]) -> Iterator[int]:
    yield from x


async def _async_generator(x: list[int]) -> AsyncIterator[int]:
    for item in x:
        yield item


def _defaults(x: list[int], n: Annotated[int, Field(validate_default=True)] = "no") -> None: ...  # type: ignore[assignment]


class _Holder:
    def method(self, x: list[int]) -> None: ...

    @classmethod
    def of_class(cls, x: list[int]) -> None: ...

    @staticmethod
    def static(x: list[int]) -> None: ...

    def __call__(self, x: list[int]) -> None: ...


FUNCTIONS: dict[str, Any] = {
    "context": _with_context,
    "many": many,
    "async": _async,
    "generator": _generator,
    "async_generator": _async_generator,
    "bad_default": _defaults,
    "method": _Holder().method,
    "classmethod": _Holder.of_class,
    "static": _Holder.static,
    "callable_object": _Holder(),
    "partial": functools.partial(_plain, flag=True),
    "partial_async": functools.partial(_async),
    "untyped": lambda x, y=1: None,  # noqa: ARG005 - only its signature is used
    "dependency": _with_dependency,
}

CALLS: list[dict[str, Any]] = json.loads("""[
    {}, {"x": [1]}, {"x": ["1"]}, {"x": "1"}, {"x": ["q", 1, null]}, {"x": [1], "z": true}, {"x": [1], "flag": false},
    {"x": [1], "z": "yes", "y": "red"}, {"x": [], "z": 3, "y": "green", "W": "q", "V": 1}, {"x": [1], "z": true, "w": 1},
    {"x": [1], "ctx": 1}, {"x": [1], "secret": "s"}, {"x": [1], "n": 3}, {"x": [1], "\\ud800": 2},
    {"x": [1], "self": 1, "args": [], "kwargs": {}}
]""")
