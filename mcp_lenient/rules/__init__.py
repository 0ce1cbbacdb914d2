"""The rule type and the ordered table of all rules.

A rule looks at one node of a schema once and returns the function that runs per value, or None if it does not apply
there. Rules are tried in the order of :data:`DEFAULT_RULES`; the winning candidate is decided by tier alone.
"""

from __future__ import annotations

from mcp_lenient.rules.rules import (
    ABSENT,
    Rule,
    Site,
    array_to_scalar,
    delimited_text_to_array,
    drop_injected,
    empty_text_to_absent,
    fold_enum,
    integer_to_boolean,
    item_wrapper_to_array,
    null_text_to_absent,
    null_text_to_null,
    null_to_absent,
    number_to_text,
    object_to_array,
    rename_alias,
    rename_case,
    rename_plural,
    rename_tool,
    scalar_to_array,
    text_to_array,
    text_to_boolean,
    text_to_integer,
    text_to_number,
    text_to_object,
    unwrap_arguments,
    whole_float_to_integer,
    wrap_arguments,
    wrapped_value,
)
from mcp_lenient.schema.node import Position

__all__ = ["ABSENT", "DEFAULT_RULES", "Position", "Rule", "Site"]

_TEXT = (str,)
_SCALARS = (str, int, float, bool)

DEFAULT_RULES: tuple[Rule, ...] = (
    Rule("json_text_to_array", 1, text_to_array("json"), on=_TEXT, reads_text=True, across=True),
    Rule("json_text_to_object", 1, text_to_object("json"), on=_TEXT, reads_text=True, across=True),
    Rule("json5_text_to_array", 2, text_to_array("json5"), on=_TEXT, reads_text=True),
    Rule("json5_text_to_object", 2, text_to_object("json5"), on=_TEXT, reads_text=True),
    Rule("python_text_to_array", 2, text_to_array("python"), on=_TEXT, reads_text=True),
    Rule("python_text_to_object", 2, text_to_object("python"), on=_TEXT, reads_text=True),
    Rule("text_to_integer", 1, text_to_integer, on=_TEXT, across=True),
    Rule("text_to_number", 1, text_to_number, on=_TEXT, across=True),
    Rule("whole_float_to_integer", 1, whole_float_to_integer, on=(float,), across=True),
    Rule("text_to_boolean", 1, text_to_boolean, on=_TEXT, across=True),
    Rule("integer_to_boolean", 4, integer_to_boolean, on=(int,)),
    Rule("number_to_text", 4, number_to_text, on=(int, float)),
    Rule("fold_enum", 1, fold_enum, on=_TEXT),
    Rule("null_text_to_null", 1, null_text_to_null, on=_TEXT, across=True, keeps_value=False),
    Rule("null_text_to_absent", 1, null_text_to_absent, on=_TEXT, kind="property", keeps_value=False),
    Rule("null_to_absent", 2, null_to_absent, on=(type(None),), kind="property", keeps_value=False),
    Rule("empty_text_to_absent", 2, empty_text_to_absent, on=_TEXT, kind="property", keeps_value=False),
    Rule("rename_case", 1, rename_case, kind="name"),
    Rule("rename_alias", 2, rename_alias, kind="name"),
    Rule("rename_plural", 16, rename_plural, kind="name"),
    Rule("drop_injected", 2, drop_injected, kind="drop"),
    Rule("item_wrapper_to_array", 4, item_wrapper_to_array, on=(dict, list), again=True),
    Rule("wrapped_value", 4, wrapped_value, on=(dict,), again=True),
    Rule("array_to_scalar", 4, array_to_scalar, on=(list,)),
    Rule("scalar_to_array", 8, scalar_to_array, on=_SCALARS),
    Rule("object_to_array", 8, object_to_array, on=(dict,)),
    Rule("delimited_text_to_array", 8, delimited_text_to_array, on=_TEXT),
    Rule("unwrap_arguments", 8, unwrap_arguments, on=(dict,), kind="arguments"),
    Rule("wrap_arguments", 8, wrap_arguments, on=(dict,), kind="arguments"),
    Rule("rename_tool", 1, rename_tool, kind="tool"),
)
"""Every rule, in the order it is tried; the rule catalogue describes each with its guards."""
