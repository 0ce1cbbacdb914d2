"""Test the rule catalogue's words and examples against the rules."""

from __future__ import annotations

import pytest
from tables import closed, each_row

from mcp_lenient import DEFAULT_RULES, Policy, ValueRule, normalize
from mcp_lenient.devtools.rule_catalogue import CATALOGUE
from mcp_lenient.rules.rules import RENAME_TOOL, TIER_OF

DECLARED = Policy(aliases={"query": ("q",)})

REPAIRED, REFUSED = (
    [
        pytest.param(family, sent, id=f"{next(iter(family.rules))}-{number}")
        for family in CATALOGUE
        for number, sent in enumerate(getattr(family, kind))
    ]
    for kind in ("repaired", "refused")
)


def normalized(family, sent):
    return normalize(closed(*family.required, **family.properties), sent, policy=DECLARED)


def test_each_rule_is_in_one_family_of_its_tier():
    """The catalogue has every rule once, and all rules of a family have the same tier."""
    assert sorted(rule for family in CATALOGUE for rule in family.rules) == sorted(TIER_OF)
    assert [family.rules for family in CATALOGUE if len({TIER_OF[rule] for rule in family.rules}) != 1] == []


@each_row(("family", "sent"), REPAIRED)
def test_repaired_examples_use_their_family(family, sent):
    """A repaired example is repaired only by rules of its family."""
    outcome = normalized(family, sent)
    assert outcome.violations == ()
    assert {repair.rule for repair in outcome.repairs} <= set(family.rules)
    assert outcome.repairs


@each_row(("family", "sent"), REFUSED)
def test_refused_examples_are_refused(family, sent):
    """A refused example has a violation, and its arguments are unchanged."""
    outcome = normalized(family, sent)
    assert outcome.violations
    assert outcome.arguments == sent


OF_TIER = {
    1: """
        json_text_to_array json_text_to_object text_to_integer text_to_number whole_float_to_integer text_to_boolean
        null_text_to_null null_text_to_absent
        fold_enum rename_case rename_quoted rename_tool
    """,
    2: """
        json5_text_to_array json5_text_to_object python_text_to_array python_text_to_object null_to_absent
        empty_text_to_absent rename_alias drop_injected
    """,
    4: "integer_to_boolean number_to_text rename_qualified item_wrapper_to_array wrapped_value array_to_scalar",
    8: "scalar_to_array object_to_array delimited_text_to_array unwrap_arguments wrap_arguments nest_arguments",
}


def test_tiers_are_fixed():
    """The tiers are pinned, because they decide which candidate wins."""
    assert {name: tier for tier, names in OF_TIER.items() for name in names.split()} == TIER_OF


def test_each_line_of_the_table_is_run():
    """The name of a tool is read before there is a schema, so its repair is no line of the table."""
    assert {rule.name for rule in DEFAULT_RULES} == TIER_OF.keys() - {RENAME_TOOL}


def test_rules_across_types_are_fixed():
    """Across branches of different JSON types, only JSON's own spellings decide."""
    assert {rule.name for rule in DEFAULT_RULES if isinstance(rule, ValueRule) and rule.literal} == {
        *("json_text_to_array", "json_text_to_object", "text_to_integer", "text_to_number"),
        *("whole_float_to_integer", "text_to_boolean"),
    }


def test_only_parsing_and_unwrapping_rules_allow_a_second_rule():
    """A parsed or an unwrapped value may need a conversion. Results of other rules are accepted or refused."""
    assert {rule.name for rule in DEFAULT_RULES if isinstance(rule, ValueRule) and rule.chains} == {
        *(f"{each}_text_to_{kind}" for each in ("json", "json5", "python") for kind in ("array", "object")),
        *("item_wrapper_to_array", "wrapped_value"),
    }
