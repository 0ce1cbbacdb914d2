"""Regression tests: calls that ran with a wrong value in earlier versions."""

from __future__ import annotations

from typing import Annotated

import pytest
from calls import call, got, lenient
from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, Json


def _percent(value):
    return float(value) / 100 if isinstance(value, str) else value


Rate = Annotated[float, BeforeValidator(_percent)]


class Order(BaseModel):
    """A model whose validator reads text as a percentage."""

    rate: Rate
    count: int = 1


class Other(BaseModel):
    """The other branch of a union."""

    name: str


class Labeled(BaseModel):
    """A field with a second name that resembles another field."""

    model_config = ConfigDict(extra="forbid")

    id: int
    label: list[str] = Field(default=[], validation_alias=AliasChoices("label", "tag"))
    tags: list[str] = []


def pay(discount_rate: Rate) -> float:
    """Return what the tool's validator makes of a rate."""
    return discount_rate


def order(one: Order) -> float:
    """Return the rate of an order."""
    return one.rate


def either(one: Order | Other) -> float:
    """Return the rate of a union."""
    return one.rate  # type: ignore[union-attr]


def label(one: Labeled) -> dict:
    """Return what the model read."""
    return {"label": one.label, "tags": one.tags}


def decoded(value: Json) -> str:
    """Return decoded JSON."""
    return repr(value)


def send(to: str) -> str:
    """Return the argument."""
    return to


@pytest.mark.parametrize(
    ("tool", "sent"),
    [
        pytest.param(pay, {"discountRate": "25"}, id="renamed"),
        pytest.param(pay, {"args": {"discount_rate": "25"}}, id="unwrapped"),
        pytest.param(order, {"one": '{"rate": "25"}'}, id="parsed from text"),
        pytest.param(order, {"rate": "25"}, id="wrapped"),
        pytest.param(either, {"one": {"rate": "25", "count": [5]}}, id="beside an error, in a union"),
    ],
)
async def test_relocated_values_are_read_by_the_tools_validator(tool, sent):
    """A value that a repair only moves is read by the tool's own validator, not by the schema."""
    assert got(await call(lenient(tool), tool.__name__, sent)) == 0.25


async def test_names_that_only_the_validator_knows_are_not_renamed():
    """A key that the model accepts as an alias is not unknown, even if the schema does not publish it."""
    result = await call(lenient(label), "label", {"one": {"ID": 1, "tag": ["x"]}})
    assert got(result) == {"label": ["x"], "tags": []}


@pytest.mark.parametrize(
    ("tool", "sent"),
    [
        pytest.param(decoded, {"value": [5]}, id="a list for JSON text"),
        pytest.param(send, {"to": "a", "_preview": True}, id="a key that limits the call"),
    ],
)
async def test_ambiguous_values_are_refused(tool, sent):
    """A call does not run if another reading is as likely."""
    assert (await call(lenient(tool), tool.__name__, sent)).is_error


class Filter(BaseModel):
    """A filter of which every part may be left out."""

    owner: str = ""
    days: int = 0


@pytest.mark.parametrize(
    "sent",
    [
        {"filters": [{"days": ""}]},
        {"filters": '[{"owner": null}]'},
        {"filters": [{"owner": "ann"}, {"owner": None, "days": None}]},
    ],
    ids=str,
)
async def test_no_object_of_a_function_is_emptied(sent):
    """An object that was sent with fields is not run without any: a filter that was meant would fit everything."""

    def close(filters: list[Filter]) -> str:
        """Close what fits."""
        return f"{filters}"

    assert (await call(lenient(close), "close", sent)).is_error
