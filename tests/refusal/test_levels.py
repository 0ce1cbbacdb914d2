"""Test names at the wrong level on real servers: the message, and a fix that works as offered."""

from __future__ import annotations

import json
from typing import Any

import jsonpatch
import pytest
from calls import call, envelope, got, lenient, published
from fastmcp import FastMCP
from fastmcp.tools import Tool
from pydantic import BaseModel
from tables import INTEGER, STRING, closed, each_row, opened, rows

from mcp_lenient import Policy, normalize


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
    open_tool = published("find", closed=False, query=STRING)
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


def test_a_wrapper_in_an_open_object():
    """In an object that accepts any name, the message says where the missing value was sent."""
    sent = {"function": {"query": "x"}}
    (violation,) = normalize(opened("query", query=STRING), sent).violations
    assert "It was sent inside 'function'" in violation.message
    assert jsonpatch.apply_patch(sent, [*violation.fixes[0]]) == {"query": "x"}


def test_what_is_no_argument_stays_in_the_wrapper():
    """What the tool declares is moved out of a wrapper, and the rest is left there to be refused."""
    sent = {"args": {"path": "/private", "force": True}}
    told = {each.pointer: each for each in normalize(closed("path", path=STRING), sent).violations}
    assert "It was sent inside 'args': send it at the top." in told["/path"].message
    assert jsonpatch.apply_patch(sent, [*told["/path"].fixes[0]]) == {
        "path": "/private",
        "args": {"force": True},
    }
    assert told["/args"].fixes == ()


@each_row(("schema", "reported"))
def test_the_shape_of_a_missing_value_is_shown(schema, reported):
    """A missing object is described by as many of its fields as fit in a line."""
    (violation,) = normalize(opened("x", x=schema), {}).violations
    assert reported in violation.message
    assert len(violation.message) < 600


CARD = closed("kind", "number", kind={"const": "card"}, number=STRING, cvv=STRING)
BANK = closed("kind", "iban", kind={"const": "bank"}, iban=STRING, memo=STRING)


@each_row(
    ("sent", "pointers", "message"),
    [
        ({"kind": "card", "numbr": "1"}, {"/x/number", "/x/numbr"}, "Did you mean 'number'?"),
        ({"kind": "card", "number": "1", "ibn": "2"}, {"/x/ibn"}, "Accepted are 'kind', 'number', 'cvv'."),
        ({"kind": "card", "iban": "2"}, {"/x/iban", "/x/number"}, "'x.number' is required"),
    ],
)
def test_only_names_of_the_selected_branch_are_listed(sent, pointers, message):
    """If a union's discriminator names a branch, only names of this branch are suggested, listed and offered."""
    for union_of in ("oneOf", "anyOf"):
        found = normalize(closed("x", x={union_of: [CARD, BANK]}), {"x": sent}).violations
        assert {violation.pointer for violation in found} == pointers
        assert message in " ".join(violation.message for violation in found)
        assert not any("iban" in str(violation.fixes) for violation in found)


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


def test_a_name_that_belongs_further_out_is_not_sent_inside():
    """A name that is declared around the object is moved out, and not said to belong inside it."""
    holder = closed("x", x=INTEGER)
    schema = {"type": "object", "properties": {"limit": INTEGER}, "additionalProperties": holder}
    unknown = next(
        each for each in normalize(schema, {"opts": {"limit": 5}}).violations if each.code == "unknown"
    )
    assert "inside" not in unknown.message
