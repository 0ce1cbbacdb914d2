"""Test how each policy field is validated and used."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from tables import STRING, array, check, closed, each_row

from mcp_lenient import DEFAULT_RULES, Limits, Policy, normalize
from mcp_lenient.errors import PolicyError

TAGS = closed("tags", tags=array(STRING))
_FLAGS = ("echo_values", "tell_model", "closed", "publish_statements", "repeats")


@each_row(
    ("fields", "said"),
    [
        pytest.param({"mode": "on"}, ["mode", "repair", "observe", "off", "'on'"], id="mode"),
        pytest.param({"unrepairable": "drop"}, ["unrepairable", "forward", "refuse"], id="unrepairable"),
        pytest.param({"disable": {"rename_cases"}}, ["disable", "rename_case", "rename_cases"], id="unknown"),
        pytest.param({"disable": "rename_case"}, ["disable", "collection"], id="names as text"),
        pytest.param({"drop": ["", "a"]}, ["drop", "non-empty"], id="empty name"),
        pytest.param({"drop": [1]}, ["drop", "names"], id="no name"),
        pytest.param({"secret": "pin"}, ["secret", "collection"], id="secret"),
        pytest.param({"secret": {""}}, ["secret", "non-empty names"], id="empty secret"),
        pytest.param({"limits": {"depth": 3}}, ["limits", "Limits"], id="limits"),
        pytest.param({"rules": ["rename_case"]}, ["rules", "ValueRule"], id="rules"),
        pytest.param(
            {"destructive": "always"},
            ["destructive", "'if_marked'", "'unless_read_only'", "True", "False", "'always'"],
            id="destructive",
        ),
        pytest.param({"destructive": 1}, ["destructive", "True", "got 1"], id="destructive as a number"),
        *(({flag: "yes"}, [f"Policy.{flag} must be one of True, False, got 'yes'"]) for flag in _FLAGS),
        pytest.param({"aliases": ["a"]}, ["aliases", "map"], id="aliases"),
        pytest.param({"aliases": {"a": ["q"], "b": ["q"]}}, ["aliases", "'q'", "'a'", "'b'"], id="of two"),
        pytest.param({"aliases": {"a": "q"}}, ["aliases", "collection"], id="alias as text"),
        pytest.param({"aliases": {1: ("q",)}}, ["aliases", "map"], id="alias of a number"),
        pytest.param({"aliases": {"": ("q",)}}, ["aliases", "map"], id="alias of an empty name"),
    ],
)
def test_invalid_field_is_named(fields: dict[str, Any], said: list[str]) -> None:
    """An invalid value is refused when a policy is built or changed, naming the field and the allowed values."""
    for build in (Policy, Policy().changed):
        with pytest.raises(PolicyError) as caught:
            build(**fields)
        assert all(part in str(caught.value) for part in said), str(caught.value)


@each_row("name", ["bytes", "depth", "items", "text", "relaxed_text"])
@each_row("value", [0, -1, True, 1.5, "9", None])
def test_limits_must_be_positive_integers(name: str, value: Any) -> None:
    """A limit that is not a positive integer is refused by name."""
    with pytest.raises(PolicyError, match=rf"Limits\.{name} must be a positive integer"):
        Limits(**{name: value})


@pytest.mark.parametrize(
    ("disabled", "hint"),
    [
        ("rename_caze", "Did you mean 'rename_case'?"),
        ("json_to_array", "Did you mean 'json_text_to_array' or 'json5_text_to_array'?"),
        ("faster", "The rules are 'array_to_scalar', "),
    ],
)
def test_unknown_rule_suggests_names(disabled: str, hint: str) -> None:
    """A misspelled rule gets the most similar names, and any other word gets all names."""
    with pytest.raises(PolicyError) as caught:
        Policy(disable={disabled})
    assert str(caught.value).startswith(f"Policy.disable names {disabled!r}, which is not a rule. {hint}")


@each_row(
    ("policy", "shown"),
    [
        (Policy(), "Policy()"),
        (Policy.strict(), "Policy(unrepairable='refuse', rules=())"),
        (Policy(rules=DEFAULT_RULES[:2]), "Policy(rules=('json_text_to_array', 'json_text_to_object'))"),
        (
            Policy(disable={"rename_case", "fold_enum"}, aliases={"q": ["query"]}, echo_values=False),
            "Policy(disable={'fold_enum', 'rename_case'}, aliases={'q': ('query',)}, echo_values=False)",
        ),
        (Policy(limits=Limits(depth=3)), "Policy(limits=Limits(depth=3))"),
    ],
)
def test_repr_shows_changed_fields(policy: Policy, shown: str) -> None:
    """The repr has only the fields that differ from the default, with rules by name."""
    assert repr(policy) == shown


def test_signature_shows_default_rules_by_name() -> None:
    """The signature, as shown by editors and `help`, has no function or address."""
    assert "= DEFAULT_RULES," in str(inspect.signature(Policy))
    assert " at 0x" not in str(inspect.signature(Policy))
    assert Policy().rules is DEFAULT_RULES


def test_policy_is_frozen() -> None:
    """A policy cannot be changed, and a changed copy is validated like a new one."""
    with pytest.raises(AttributeError):
        Policy().mode = "off"  # type: ignore[misc]
    assert Policy().changed(mode="observe").mode == "observe"
    with pytest.raises(PolicyError):
        Policy().changed(mode="on")


def test_a_schema_alone_does_not_say_read_only() -> None:
    """Under ``unless_read_only``, ``normalize`` treats a schema as that of a destructive tool."""
    check(TAGS, {"tags": "a"}, None, [], destructive="unless_read_only")
    check(
        TAGS,
        {"tags": '["a"]'},
        {"tags": ["a"]},
        [("json_text_to_array", "/tags")],
        destructive="unless_read_only",
    )


@each_row("rule", [rule.name for rule in DEFAULT_RULES])
def test_every_rule_can_be_disabled(rule: str) -> None:
    """A disabled rule is not allowed, and every other rule is."""
    policy = Policy(disable={rule})
    assert not policy.allows(rule)
    assert all(policy.allows(other.name) for other in DEFAULT_RULES if other.name != rule)


def test_strict_policy_repairs_nothing() -> None:
    """The strict policy has no rules, and refuses calls that the schema does not accept."""
    result = normalize(TAGS, {"tags": '["a"]'}, Policy.strict())
    assert result.violations
    assert not result.repairs


def test_accepted_call_has_no_limit() -> None:
    """Law 1: a valid call of any size is accepted."""
    check(
        TAGS, {"tags": ["a" * 50] * 9}, {"tags": ["a" * 50] * 9}, [], limits=Limits(bytes=1, items=1, depth=1)
    )


@pytest.mark.parametrize(
    ("policy", "is_allowed"),
    [
        pytest.param(Policy(), True, id="default"),
        pytest.param(Policy(rules=[rule for rule in DEFAULT_RULES if rule.tier == 1]), True, id="tier 1"),
        pytest.param(Policy(rules=DEFAULT_RULES[:1]), False, id="no rule for names"),
        pytest.param(Policy(disable={"rename_tool"}), False, id="disabled"),
        pytest.param(Policy.strict(), False, id="strict"),
    ],
)
def test_names_of_tools_are_repaired_with_any_rule_for_names(policy, is_allowed):
    """The repair of a tool's name is no line of the table, but is disabled like one."""
    assert policy.allows("rename_tool") is is_allowed
