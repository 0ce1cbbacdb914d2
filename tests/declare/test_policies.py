"""Test which policy wins: the kill switch, patterns, the author's, the server's, the defaults."""

from __future__ import annotations

import pytest

from mcp_lenient import LenientMiddleware, Limits, Policy
from mcp_lenient.declare.declared import Declared
from mcp_lenient.declare.policies import Policies

FILE = """
policy:
  mode: observe
  disable: [rename_alias]
  limits: {bytes: 1000, depth: 9}
  aliases: {query: [q, text]}
tools:
  pay:
    policy: {mode: "off", unrepairable: refuse}
    parameters: {amount: {aliases: [sum, text]}}
"""


def operator_policy(tmp_path, tool, **settings):
    """Return the operator's policy for a tool of a server with this file and these settings."""
    file = tmp_path / "lenient.yaml"
    file.write_text(FILE, encoding="utf-8")
    return LenientMiddleware(definitions=file, **settings).policy_for(tool)


@pytest.mark.parametrize(
    ("tool", "settings", "mode"),
    [
        pytest.param("read", {}, "observe", id="file for the server"),
        pytest.param("read", {"policy": Policy(mode="off")}, "off", id="constructor before file"),
        pytest.param("read", {"policy": Policy(drop={"x"})}, "observe", id="constructor without it"),
        pytest.param("read", {"mode": "repair"}, "repair", id="mode as an option"),
        pytest.param("pay", {}, "off", id="file for the tool"),
        pytest.param("pay", {"policy": Policy(mode="observe")}, "off", id="tool before server"),
        pytest.param("pay", {"tools": {"p*": Policy(mode="observe")}}, "observe", id="pattern before file"),
        pytest.param("pay", {"tools": {"p*": Policy(drop={"x"})}}, "off", id="pattern without it"),
        pytest.param("read", {"tools": {"r*": Policy()}}, "repair", id="pattern in place of the server's"),
    ],
)
def test_the_mode_in_force(tmp_path, tool, settings, mode):
    """The order is: a constructor pattern, the file's tool, the constructor's policy, the file's policy."""
    assert operator_policy(tmp_path, tool, **settings).mode == mode


def test_the_kill_switch_comes_first(tmp_path, monkeypatch):
    """If the environment turns repairs off, nothing turns them on."""
    monkeypatch.setenv("MCP_LENIENT_MODE", "observe")
    assert operator_policy(tmp_path, "read", mode="repair").mode == "observe"
    assert operator_policy(tmp_path, "read", tools={"*": Policy()}).mode == "observe"


def test_constructor_and_file_fields_are_merged(tmp_path):
    """Fields that the constructor does not set come from the file, including single limits."""
    policy = operator_policy(tmp_path, "read", policy=Policy(limits=Limits(depth=3), unrepairable="refuse"))
    assert policy.limits == Limits(bytes=1000, depth=3)
    assert (policy.unrepairable, policy.disable) == ("refuse", {"rename_alias"})


def test_constructor_and_file_aliases_are_merged(tmp_path):
    """An alias that both give goes to the parameter of the policy with the higher priority."""
    server = operator_policy(tmp_path, "read", policy=Policy(aliases={"body": ("text",)}))
    assert server.aliases == {"query": ("q",), "body": ("text",)}
    tool = operator_policy(
        tmp_path, "pay", tools={"pay": Policy(aliases={"amount": ("total",), "note": ("sum",)})}
    )
    assert tool.aliases == {"amount": ("text", "total"), "note": ("sum",)}


def test_constructor_and_file_secrets_are_merged(tmp_path):
    """The secrets of all policies are combined, so that none is shown."""
    file = tmp_path / "secret.yaml"
    file.write_text("policy: {secret: [pin]}\n", encoding="utf-8")
    middleware = LenientMiddleware(definitions=file, policy=Policy(secret={"seed"}), tools={"a": Policy()})
    assert middleware.policy_for("a").secret == middleware.policy_for("b").secret == {"pin", "seed"}


def test_hidden_parameters_stay_hidden():
    """A pattern wins over the author's policy, but reveals nothing that the author hides."""
    policies = Policies(None, {"*": Policy(mode="observe", secret={"pin"})}, None)
    policy = policies.of("read", Policy(secret={"badge"}, echo_values=False), Declared())
    assert (policy.mode, policy.secret, policy.echo_values) == ("observe", {"pin", "badge"}, False)
