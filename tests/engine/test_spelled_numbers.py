"""The digits of a number in a text survive where the tool reads a text as the same number."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from calls import call, got, lenient, on_servers_that_read_json
from pydantic import BaseModel


class _Price(BaseModel):
    amount: Decimal


@on_servers_that_read_json
@pytest.mark.parametrize(
    ("kind", "sent", "received"),
    [
        (list[Decimal], "[1.10, 2.20]", "[Decimal('1.10'), Decimal('2.20')]"),
        (dict[str, Decimal], '{"a": 1.10}', "{'a': Decimal('1.10')}"),
        (_Price, '{"amount": 1.10}', "_Price(amount=Decimal('1.10'))"),
        (list[_Price], '[{"amount": 5.00}]', "[_Price(amount=Decimal('5.00'))]"),
        (list[float], "[1.10]", "[1.1]"),
        (list[float | str], "[1.10]", "[1.1]"),
    ],
)
async def test_digits_survive_the_parsing_of_a_text(kind, sent, received, strict):
    """A Decimal keeps its trailing zeros; a float, or a text that is another value, stays a number."""

    def tool(x: Any) -> str:
        return repr(x)

    tool.__annotations__ = {"x": kind, "return": str}
    assert got(await call(lenient(tool, strict=strict), "tool", {"x": sent})) == received


async def test_digits_survive_unwrapping():
    """The digits of a parameter survive where all arguments were one text."""

    def pay(amount: Decimal, note: str = "") -> str:
        return f"{amount} {note}"

    wrapped = {"args": json.dumps({"amount": 1.5}).replace("1.5", "1.50")}
    assert got(await call(lenient(pay), "pay", wrapped)) == "1.50 "
