"""A client configuration may name its transports as LangChain does; an unknown one is an error of one line."""

from __future__ import annotations

import pytest

from mcp_lenient.adapters.configuration import read_configuration

URL = "http://127.0.0.1:9/mcp"


@pytest.mark.parametrize("wrapped", [True, False], ids=["mcpServers", "servers"])
def test_langchains_name_of_a_transport_is_read(wrapped):
    """``streamable_http`` is FastMCP's ``http``; all else stays as it is."""
    servers = {
        "a": {"transport": "streamable_http", "url": URL},
        "b": {"command": "x"},
        "c": {"transport": "sse"},
    }
    read = read_configuration({"mcpServers": servers, "inputs": []} if wrapped else servers)
    assert (read["mcpServers"] if wrapped else read) == {**servers, "a": {"transport": "http", "url": URL}}


@pytest.mark.parametrize("target", [URL, None, {"mcpServers": 7}, {"mcpServers": {"a": 7}}], ids=str)
def test_other_targets_stay_as_they_are(target):
    """A target that is not a configuration is returned unchanged."""
    assert read_configuration(target) == target


def test_an_unknown_transport_names_the_known_ones():
    """The error is one line with the server, its transport and the known ones."""
    with pytest.raises(
        ValueError, match=r"^Server 'a' has the unknown transport 'carrier pigeon'; known are 'stdio'.*$"
    ):
        read_configuration({"mcpServers": {"a": {"transport": "carrier pigeon"}}})


def test_a_misspelled_field_is_named_with_the_likely_one():
    """A server without ``command`` and ``url`` but with a name like one of them has an error of one line."""
    with pytest.raises(
        ValueError, match=r"^Server 'a' has the unknown field 'ulr'; it probably means 'url'\.$"
    ):
        read_configuration({"mcpServers": {"a": {"ulr": URL}}})
