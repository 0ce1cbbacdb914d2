"""Declared normalizers always run, their refusals are reported, and other errors in them are not shown."""

from __future__ import annotations

import json
from datetime import date
from typing import Annotated, Any

import pytest
from calls import call, code, envelope, got

from mcp_lenient import NormalizationError, lenient
from mcp_lenient.normalizers import (
    default_on_null,
    from_function,
    iso_date,
    lower,
    null_as,
    parse_json,
    strip,
)


def _tool(kind: Any, normalize: Any, default: Any = None) -> Any:
    """Create a decorated tool that returns the argument that it received."""

    def tell(value):
        return {"value": repr(value)}

    tell.__annotations__ = {"value": kind}
    tell.__defaults__ = default
    return lenient(value=normalize)(tell)


async def _reported(server: Any, value: Any) -> str:
    reported: str = got(await call(server, "tell", {"value": value}))["value"]
    return reported


@pytest.mark.parametrize(
    ("kind", "normalize", "sent", "wanted"),
    [
        pytest.param(str, (strip(), lower()), " A ", "a", id="strip-lower"),
        pytest.param(str | list[str], (strip(), parse_json("array")), ' ["a"]', ["a"], id="parse-json"),
        pytest.param(list[str] | None, null_as([]), None, [], id="null-as"),
        pytest.param(str | date, iso_date(), "31 Jan 2024", "2024-01-31", id="iso-date"),
    ],
)
async def test_normalizers_run_on_accepted_values(kind, normalize, sent, wanted, serve):
    """A normalizer also runs on values that the tool accepts without it."""
    assert await _reported(serve(_tool(kind, normalize)), sent) == repr(wanted)


async def test_null_becomes_the_default(serve):
    """``default_on_null`` uses the parameter's default, even if the type allows null."""
    server = serve(_tool(int | None, default_on_null(), default=(7,)))
    assert [await _reported(server, value) for value in (None, 3)] == ["7", "3"]


async def test_null_without_a_default(serve):
    """Without a default, null is reported as missing."""
    reported = envelope(await call(serve(_tool(int, default_on_null())), "tell", {"value": None}))
    assert reported["error_code"] == "MISSING_VALUE"


async def test_rules_run_after_normalizers(serve):
    """Rules repair what a normalizer leaves invalid."""
    server = serve(_tool(list[int], lambda value: value))
    assert await _reported(server, "[1, 2]") == "[1, 2]"


def _quota(value: Any) -> Any:
    if value == 99:
        code, message = "BAD_{PARAMETER}_HERE", "ask for less than 99"
        raise NormalizationError(code, message)
    return value


@pytest.mark.parametrize(
    "kind", [int, Annotated[int, from_function(_quota)]], ids=["decorator", "annotation"]
)
async def test_refusals_by_normalizers(kind, serve):
    """The envelope has the normalizer's code, with the parameter's name filled in, and its message."""
    server = serve(_tool(kind, _quota if kind is int else lambda value: value))
    reported = envelope(await call(server, "tell", {"value": 99}))
    assert reported["error_code"] == "BAD_VALUE_HERE"
    assert "ask for less than 99" in reported["message"]
    assert reported["details"]["parameter"] == "value"
    assert await _reported(server, 5) == "5"


VALUE, TEXT = "swordfish-of-the-caller", "sentence-with-swordfish-inside"


def _fails_strangely(value: Any) -> Any:
    class Strange(Exception):  # noqa: N818 - named as authors name them
        """An exception class of the tool's author."""

    raise Strange(TEXT, value)


def _fails_deeply(value: Any) -> Any:
    try:
        return {}[value]
    except KeyError as error:
        msg = TEXT + repr(value)
        raise RuntimeError(msg) from error


@pytest.mark.parametrize(
    ("normalize", "where"), [(_fails_strangely, "decorator"), (_fails_deeply, "annotation")]
)
async def test_errors_raised_by_normalizers(normalize, where, serve, events, caplog, capsys):
    """Any other exception becomes an envelope; envelope and traceback hide its message and the value."""

    def log_in(password):
        return password

    in_annotation = where == "annotation"
    log_in.__annotations__ = {"password": Annotated[str, from_function(normalize)] if in_annotation else str}
    server = serve(lenient(password=strip() if in_annotation else normalize)(log_in))
    result = await call(server, "log_in", {"password": VALUE})
    assert code(result) == "INVALID_PASSWORD_VALUE"
    assert events.names[-1] == "call_rejected"
    reported = [record for record in caplog.records if record.name == "mcp_lenient"]
    assert reported
    for record in reported:
        assert normalize.__name__ in record.getMessage()
        assert __file__ in record.getMessage()
    written = capsys.readouterr()
    everything = [result.model_dump_json(), caplog.text, json.dumps(events), written.err, written.out]
    everything += [repr(vars(record)) for record in caplog.records]
    for text in everything:
        assert VALUE not in text
        assert TEXT not in text
