"""Test names at the wrong level on real servers: the message, and a fix that works as offered."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import jsonpatch
import pytest
from calls import call, envelope, got, lenient, published
from fastmcp import FastMCP
from fastmcp.tools import Tool
from pydantic import BaseModel, Field
from tables import rows

from mcp_lenient import Policy

TEXT = {"type": "string"}


class _Address(BaseModel):
    street: str
    zip: int
    country: str | None = None


class _Deep(BaseModel):
    deep: bool = False


def _delete(path: str, n: int = 1) -> dict[str, Any]:
    return {"path": path, "n": n}


def _order(item: str, address: _Address, max_count: int = 1) -> dict[str, Any]:
    return {"item": item, "address": address.model_dump(exclude_none=True), "max_count": max_count}


def _scan(path: str, options: _Deep | None = None) -> dict[str, Any]:
    return {"path": path, "options": options and options.model_dump()}


def _send(sender: _Address, receiver: _Address) -> dict[str, Any]:
    return {"sender": sender.zip, "receiver": receiver.zip}


def _server() -> FastMCP:
    others = {"delete": _delete, "order": _order, "scan": _scan, "send": _send}
    open_tool = published("find", closed=False, query=TEXT)
    tools = (Tool.from_function(fn, name=name) for name, fn in others.items())
    refusing = Policy(unrepairable="refuse")
    wrapped = Policy(unrepairable="refuse", disable={"unwrap_arguments"})
    return lenient(open_tool, *tools, policy=refusing, patterns={"delete": wrapped})


@pytest.mark.parametrize(
    ("tool", "sent", "reported", "ran"),
    rows(__file__, "the_first_fix_works"),
)
async def test_the_first_fix_works(tool, sent, reported, ran):
    """The message says where a misplaced value belongs, and the first fix alone makes the call run."""
    server = _server()
    refused = envelope(await call(server, tool, sent))
    assert reported in refused["message"]
    for violation in refused["details"]["violations"]:
        fixed = jsonpatch.apply_patch(sent, violation["fixes"][0])
        assert got(await call(server, tool, fixed)) == ran


@pytest.mark.parametrize(
    ("tool", "sent", "reported"),
    rows(__file__, "uncertain_moves_get_a_message_but_no_fix"),
)
async def test_uncertain_moves_get_a_message_but_no_fix(tool, sent, reported):
    """If a fix would lose something or guess, there is only a message, which repeats no value."""
    refused = envelope(await call(_server(), tool, sent))
    assert reported in refused["message"]
    assert not any("fixes" in violation for violation in refused["details"]["violations"])
    assert "/private" not in json.dumps(refused)


async def test_a_wrapper_in_an_open_object():
    """In an object that accepts any name, the message says where the missing value was sent."""
    refused = envelope(await call(_server(), "find", {"function": {"query": "x"}}))
    assert (
        "'query' is required but was not sent. It must be a string. It was sent inside 'function'"
        in refused["message"]
    )
    (patch,) = refused["details"]["violations"][0]["fixes"]
    fixed = jsonpatch.apply_patch({"function": {"query": "x"}}, patch)
    assert got(await call(_server(), "find", fixed)) == {"got": {"query": "x"}}


@pytest.mark.parametrize(
    ("schema", "reported"),
    rows(__file__, "the_shape_of_a_missing_value_is_shown"),
)
async def test_the_shape_of_a_missing_value_is_shown(schema, reported):
    """A missing object is described by as many of its fields as fit in a line."""
    refused = envelope(
        await call(lenient(published("own", x=schema), policy=Policy(unrepairable="refuse")), "own", {})
    )
    assert reported in refused["message"]
    assert len(refused["message"]) < 700


class _Card(BaseModel):
    kind: Literal["card"]
    number: str
    cvv: str | None = None


class _Bank(BaseModel):
    kind: Literal["bank"]
    iban: str
    memo: str = ""


def _pay(method: Annotated[_Card | _Bank, Field(discriminator="kind")]) -> dict[str, Any]:
    return {"method": method.model_dump(exclude_none=True)}


def _pay_either(method: _Card | _Bank) -> dict[str, Any]:
    return {"method": method.model_dump(exclude_none=True)}


@pytest.mark.parametrize("pay", [_pay, _pay_either], ids=["discriminated", "undiscriminated"])
async def test_only_names_of_the_selected_branch_are_listed(pay):
    """If a union's discriminator names a branch, only names of this branch are suggested."""
    server, sent = (
        lenient(Tool.from_function(pay, name="pay")),
        {"method": {"kind": "card", "numbr": "1"}},
    )
    (violation,) = envelope(await call(server, "pay", sent))["details"]["violations"]
    assert violation["pointer"] == "/method/number"
    assert "iban" not in json.dumps(violation)
    (patch,) = violation["fixes"]
    assert got(await call(server, "pay", jsonpatch.apply_patch(sent, patch))) == {
        "method": {"kind": "card", "number": "1"}
    }


async def test_accepted_names_are_those_of_the_selected_branch():
    """For an unknown name in one branch of a union, only names of this branch are listed."""
    branches = {
        name: {
            "type": "object",
            "properties": {"kind": {"const": name}, field: TEXT, "note": TEXT},
            "required": ["kind", field],
            "additionalProperties": False,
        }
        for name, field in (("card", "number"), ("bank", "iban"))
    }
    server = lenient(
        published("own", x={"oneOf": list(branches.values())}), policy=Policy(unrepairable="refuse")
    )
    sent = {"x": {"kind": "card", "number": "1", "ibn": "2"}}
    (violation,) = envelope(await call(server, "own", sent))["details"]["violations"]
    assert violation["message"] == "unknown parameter 'x.ibn'. Accepted are 'kind', 'number', 'note'."
    sent = {"x": {"kind": "card", "iban": "2"}}
    found = envelope(await call(server, "own", sent))["details"]["violations"]
    assert {violation["pointer"] for violation in found} == {"/x/iban", "/x/number"}
    assert not any("fixes" in violation for violation in found)


async def test_a_name_under_that_of_its_object_is_not_the_object():
    """What belongs inside an object is not said to be meant as the object."""
    refused = envelope(await call(_server(), "order", {"item": "a", "address_street": "s"}))
    assert "is meant" not in refused["message"]
    assert not any("did_you_mean" in violation for violation in refused["details"]["violations"])


@pytest.mark.parametrize(
    ("sent", "places"),
    rows(__file__, "a_wrapper_of_faulty_arguments_is_named"),
)
async def test_a_wrapper_of_faulty_arguments_is_named(sent, places):
    """The message says which names were sent inside the wrapper; pointers point into what was sent."""
    refused = envelope(await call(_server(), "order", sent))
    assert [violation["pointer"] for violation in refused["details"]["violations"]] == places
    assert f"It was sent inside '{next(iter(sent))}': send it at the top." in refused["message"]
