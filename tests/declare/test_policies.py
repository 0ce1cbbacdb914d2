"""Test which policy wins: the kill switch, patterns, the author's, the server's, the defaults."""

from __future__ import annotations

import copy

import pytest
from tables import each_row

from mcp_lenient import LenientMiddleware, Limits, Policy
from mcp_lenient.declare.declarations import Declared
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
        pytest.param("read", {"tools": {"r*": Policy()}}, "observe", id="pattern that states nothing"),
        pytest.param("read", {"tools": {"r*": Policy(mode="repair")}}, "repair", id="pattern with a default"),
        pytest.param("read", {"policy": Policy(mode="repair")}, "repair", id="constructor with a default"),
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
    assert tool.aliases == {"query": ("q",), "amount": ("text", "total"), "note": ("sum",)}


def test_constructor_and_file_secrets_are_merged(tmp_path):
    """The secrets of all policies are combined, so that none is shown."""
    file = tmp_path / "secret.yaml"
    file.write_text("policy: {secret: [pin]}\n", encoding="utf-8")
    middleware = LenientMiddleware(definitions=file, policy=Policy(secret={"seed"}), tools={"a": Policy()})
    assert middleware.policy_for("a").secret == middleware.policy_for("b").secret == {"pin", "seed"}


_SERVER = Policy(
    mode="observe",
    drop={"trace_id"},
    disable={"fold_enum"},
    aliases={"query": ("q",)},
    limits=Limits(depth=3),
)


@each_row(
    ("stated", "field", "value"),
    [
        pytest.param({}, "drop", {"trace_id"}, id="nothing"),
        pytest.param({"secret": {"pin"}}, "drop", {"trace_id"}, id="something else"),
        pytest.param({"drop": {"span"}}, "drop", {"span"}, id="other names"),
        pytest.param({"disable": ()}, "disable", frozenset(), id="no names"),
        pytest.param({"mode": "repair"}, "mode", "repair", id="the default"),
        pytest.param({"tell_model": True}, "mode", "observe", id="a switch"),
        pytest.param({"aliases": {"query": ("search",)}}, "aliases", {"query": ("q", "search")}, id="alias"),
        pytest.param({"limits": Limits(bytes=9)}, "limits", Limits(bytes=9, depth=3), id="limit"),
    ],
)
@each_row("whose", ["pattern", "author"])
def test_a_policy_for_a_tool_refines_the_servers(whose, stated, field, value):
    """What a pattern's or an author's policy does not state is the server's; what it states counts, if it is a default."""
    is_pattern, refining = whose == "pattern", Policy(**stated)
    policies = Policies(_SERVER, {"st*": refining} if is_pattern else {}, None)
    policy = policies.of("store", None if is_pattern else refining, Declared())
    assert getattr(policy, field) == value
    assert policies.of("other", None, Declared()).mode == "observe"


def test_a_pattern_refines_the_authors_policy():
    """All three policies are merged, and the pattern has the last word."""
    policies = Policies(Policy(drop={"a"}), {"*": Policy(mode="off")}, None)
    policy = policies.of("store", Policy(mode="observe", tell_model=True), Declared())
    assert (policy.mode, policy.tell_model, policy.drop) == ("off", True, {"a"})


def test_a_copy_states_what_its_policy_states():
    """``changed`` adds to what is stated, and a copy states the same."""
    changed = copy.copy(Policy(mode="repair").changed(closed=False))
    assert changed.stated == {"mode", "closed"}
    assert repr(changed) == "Policy(mode='repair', closed=False)"
    assert Policy(mode="off", tell_model=True).under(changed) == Policy(tell_model=True)


@each_row(
    ("pattern", "said"),
    [
        ("pya_*", "The pattern 'pya_*' of `tools` matches no tool; did you mean 'pay_order'?"),
        ("get_ordr", "The pattern 'get_ordr' of `tools` matches no tool; did you mean 'get_order'?"),
        ("*_zzz", "The pattern '*_zzz' of `tools` matches no tool."),
        ("zzz\x1b", "The pattern 'zzz\\u001b' of `tools` matches no tool."),
    ],
)
def test_a_pattern_without_a_tool_is_named(pattern, said):
    """A pattern that matches no tool gets a sentence, with a similar tool if there is one."""
    policies = Policies(None, {"pay_*": Policy(), pattern: Policy()}, None)
    assert policies.unmatched(["pay_order", "get_order"]) == [said]


def test_hidden_parameters_stay_hidden():
    """A pattern wins over the author's policy, but reveals nothing that the author hides."""
    policies = Policies(None, {"*": Policy(mode="observe", secret={"pin"})}, None)
    policy = policies.of("read", Policy(secret={"badge"}, echo_values=False), Declared())
    assert (policy.mode, policy.secret, policy.echo_values) == ("observe", {"pin", "badge"}, False)
