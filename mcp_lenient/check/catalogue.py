"""The rules of the linter, in the one ordered table of all of them."""

from __future__ import annotations

from typing import Final

from mcp_lenient.check.finding import Check
from mcp_lenient.check.schema_rules import schema_invalid
from mcp_lenient.check.types_rules import (
    default_refused,
    free_form_object,
    json_in_text,
    optional_not_nullable,
    optional_overlooked,
    output_forbids_nothing,
    required_undeclared,
    schema_unusable,
    text_or_container,
    untyped_parameter,
)
from mcp_lenient.check.words_rules import (
    enum_without_description,
    names_one_slip_apart,
    python_in_description,
    tool_without_description,
)

CHECKS: Final[tuple[Check, ...]] = (
    Check(
        "schema_unusable",
        "error",
        "The input schema is not valid, or refers to what is not in it.",
        "Nobody can judge a call by it, so nothing is repaired and callers are not told what is wrong.",
        schema_unusable,
    ),
    Check(
        "schema_invalid",
        "warning",
        "A keyword of the input schema has a value that JSON Schema does not allow it.",
        "Clients that compile the schema drop the tool or the keyword, and models read it each in their own way.",
        schema_invalid,
    ),
    Check(
        "required_undeclared",
        "warning",
        "A name is required that the schema does not declare; an error where no other name is allowed.",
        "Callers cannot know what to send under it.",
        required_undeclared,
    ),
    Check(
        "tool_without_description",
        "warning",
        "A tool has no description.",
        "A model chooses a tool, and fills in its arguments, by its description.",
        tool_without_description,
    ),
    Check(
        "untyped_parameter",
        "warning",
        "A parameter takes any JSON value; a note where it is described, and for the items of a list.",
        "A list or number that comes as text is accepted as text, so that nothing is there to repair.",
        untyped_parameter,
    ),
    Check(
        "text_or_container",
        "warning",
        "A parameter takes a list or an object, and any text as well.",
        "A list that comes as JSON text is accepted as a text: the most frequent slip passes unseen.",
        text_or_container,
    ),
    Check(
        "json_in_text",
        "note",
        "A text parameter is to hold JSON.",
        "Callers send the JSON itself, or get the escaping wrong, and the schema cannot say what is in it.",
        json_in_text,
    ),
    Check(
        "free_form_object",
        "warning",
        "An object declares neither its properties nor the type of its values; a note where it is described.",
        "Callers guess the keys, and a misspelt one is accepted in silence.",
        free_form_object,
    ),
    Check(
        "optional_overlooked",
        "note",
        "An object takes any name, beside names that may be left out.",
        "A misspelt name is accepted in silence, and the tool runs as if it had not been sent.",
        optional_overlooked,
    ),
    Check(
        "default_refused",
        "warning",
        "A parameter's own default does not fit its type.",
        "Callers copy defaults from the schema, and the call is refused.",
        default_refused,
    ),
    Check(
        "optional_not_nullable",
        "note",
        "Parameters may be left out, but not be null.",
        "Many callers send null for what they leave out; without the middleware the call is refused.",
        optional_not_nullable,
    ),
    Check(
        "enum_without_description",
        "note",
        "Nothing says what the allowed values mean; a warning where a value is a number or a short code.",
        "Callers choose by the spelling of a value alone.",
        enum_without_description,
    ),
    Check(
        "names_one_slip_apart",
        "warning",
        "Two names of one object differ by a letter, by singular and plural, or by case style.",
        "A caller who slips from one to the other gets no error, and no repair can tell.",
        names_one_slip_apart,
    ),
    Check(
        "python_in_description",
        "warning",
        "A description shows Python: None, True, single quotes, Optional[...].",
        "Callers copy it into their JSON, where it is a text or no JSON at all.",
        python_in_description,
    ),
    Check(
        "output_forbids_nothing",
        "note",
        "The output schema allows everything.",
        "Callers cannot know what comes back, and clients check every answer against it for nothing.",
        output_forbids_nothing,
    ),
)
"""Every rule, in the order in which the findings of a tool are listed."""
