"""Test what is said of text that breaks off, of unions, and of values for lack of one."""

from __future__ import annotations

from typing import Any

import jsonpatch
import pytest
from tables import ARRAY, INTEGER, NUMBER, OBJECT, STRING, array, closed, each_row, enum, union

from mcp_lenient import Policy, normalize

STRINGS = array(STRING)


def _only(schema: Any, sent: Any, policy: Policy | None = None) -> Any:
    (violation,) = normalize(schema, sent, policy).violations
    return violation


@each_row(("text", "where"))
def test_text_that_breaks_off_is_cut_off(text, where):
    """A text that ends inside a string or bracket may have been cut off, and its end is not made up."""
    violation = _only(closed(commands=STRINGS), {"commands": text})
    assert where in violation.message
    assert violation.error_code == "CUT_OFF"
    assert violation.fixes == ()


def test_only_of_a_long_text_an_output_limit_is_told():
    """A text of a few characters was not ended by a limit."""
    violation = _only(closed(commands=STRINGS), {"commands": '["' + "x" * 498})
    assert "ends after 500 characters, inside the [ at character 1; an output limit may" in violation.message
    violation = _only(closed(commands=STRINGS), {"commands": '["' + "x" * 497})
    assert violation.message.endswith(
        "ends after 499 characters, inside the [ at character 1. Send it again in full; do not just close the brackets."
    )


@each_row(
    ("text", "where"),
    [
        ('["a", "b"}', "Its JSON breaks at character 10, inside the [ at character 1."),
        ('["a" "b"]', "Its JSON breaks at character 6, inside the [ at character 1."),
        ('{"a": 1 "b": 2}', "Its JSON breaks at character 9, inside the { at character 1."),
    ],
)
def test_other_broken_json_is_located(text, where):
    """For other broken JSON, the message names the place where the parser stops, and does not call it cut off."""
    violation = _only(closed(x=union(ARRAY, OBJECT)), {"x": text})
    assert violation.message.endswith(where)
    assert violation.error_code is None


@each_row("text", ['["a"] and ["b"]', "['a'", "a, b", "[", "", "{'a': 1", '["a"]]'])
def test_text_in_another_form_is_not_cut_off_in_the_middle(text):
    """Text that is complete, or no JSON from its beginning, is never said to break inside a bracket that it lacks."""
    for violation in normalize(closed(x=STRINGS), {"x": text}).violations:
        assert "breaks" not in violation.message


@pytest.mark.parametrize("text", ['{"commands": ["ls", "c', '{"commands": [', '{"commands": "'])
def test_arguments_that_break_off_are_cut_off(text):
    """Whole arguments that end inside a string or bracket are incomplete; long ones may have been cut off."""
    violation = _only(closed(commands=STRINGS), text)
    assert violation.error_code == "CUT_OFF"
    assert f"ends after {len(text)} characters, inside the " in violation.message
    long = _only(closed(commands=STRINGS), '{"commands": ["' + "x" * 500)
    assert "an output limit may have cut it off" in long.message


@each_row(
    ("text", "said"),
    [
        (
            '[["na"me",4]]',
            "Its JSON breaks at character 7, inside the [ at character 2. A quote within a text is written",
        ),
        (
            '["a", "b\\"]',
            "Its JSON has a string that begins at character 7, inside the [ at character 1, and does not end.",
        ),
        (
            "[" + '["name", 4], ' * 1000 + '["na"me",4]]',
            "Its JSON breaks at character 13,007, inside the [ at character 13,002.",
        ),
        ("[" + '"name", ' * 100 + '"a\\"]', "Its JSON has a string that begins at character 802,"),
        (
            '["a", tru',
            "Its JSON ends after 9 characters, inside the [ at character 1. Send it again in full; do not just close the brackets.",
        ),
    ],
)
def test_a_break_by_a_quote_is_located(text, said):
    """A text that ends in its own closing bracket was not cut off, however long it is."""
    violation = _only(closed(x=ARRAY), {"x": text})
    assert said in violation.message
    assert "cut it off" not in violation.message


def test_the_json_of_whole_arguments_is_located():
    """Arguments that came as text are told where they break."""
    violation = _only(closed(x=ARRAY), '{"x": [["na"me",4]]}')
    assert violation.message.startswith(
        "the JSON of the arguments breaks at character 13, inside the [ at character 8."
    )
    assert violation.error_code is None


def test_a_union_says_which_names_are_needed_together():
    """If each branch of a union lacks other names, no branch's name alone is said to be required."""
    place = union(closed("city", city=STRING), closed("lat", "lon", lat=NUMBER, lon=NUMBER))
    assert (
        _only(closed("at", at=place), {"at": {}}).message
        == "either 'city' or 'lat' and 'lon' must be sent in 'at'."
    )
    assert "'at.lon' is required" in _only(closed("at", at=place), {"at": {"lat": 1}}).message


@each_row(("kind", "value"), [(STRING, []), (STRING, {}), (INTEGER, []), (enum("a", "b"), {})])
def test_an_empty_container_for_no_container_may_be_left_out(kind, value):
    """An empty list or object where none is accepted means that nothing is sent."""
    violation = _only(closed(x=kind), {"x": value})
    assert violation.message.endswith("Leave it out if you have no value.")
    assert [dict(each) for each in violation.fixes[0]] == [{"op": "remove", "path": "/x"}]


def test_an_empty_list_for_a_required_text_is_not_left_out():
    """What is required cannot be left out."""
    assert "Leave it out" not in _only(closed("x", x=STRING), {"x": []}).message


def test_no_example_can_be_taken_for_an_identifier():
    """For identifiers and in destructive tools an example has no values."""
    ids = closed(ticket_ids=array(INTEGER), n=array(INTEGER))
    assert "form […]" in _only(ids, {"ticket_ids": "x"}).message
    assert "form [1, 2]" in _only(ids, {"n": "x"}).message
    assert "form […]" in _only(ids, {"n": "x"}, Policy(destructive=True)).message


def test_the_sent_items_are_the_example():
    """Where the sent text holds the items, the message shows them as a list."""
    message = _only(closed(cities=STRINGS), {"cities": "oslo, bergen, moss"}).message
    assert 'form ["oslo", "bergen", "moss"]' in message


@each_row(("schema", "sent", "meant"))
def test_the_first_fixes_say_what_was_likely_meant(schema, sent, meant):
    """Abbreviations, names in pairs, the only list and lists in quotes are offered."""
    patches: list[Any] = []
    for violation in normalize(schema, sent).violations:
        patch = [dict(each) for each in violation.fixes[0]]
        patches += [] if patch in patches else [patch]
    assert jsonpatch.apply_patch(sent, [each for patch in patches for each in patch]) == meant


def test_a_fix_fits_what_was_sent():
    """No fix moves a value into an object that was sent as text."""
    place = closed("a", "b", a=INTEGER, b=INTEGER)
    for sent in ({"o": {"a": 1}, "b": 2}, {"o": '{"a": 1}', "b": 2}):
        violations = normalize(closed("o", o=place), sent).violations
        assert [bool(each.fixes) for each in violations] == [isinstance(sent["o"], dict)] * 2


def test_one_mistake_in_several_items_is_one_patch():
    """The same misnamed field of several items is moved by one patch."""
    item = closed("file_path", file_path=STRING)
    sent = {"files": [{"path": "a"}, {"path": "b"}]}
    missing, *_ = normalize(closed("files", files=array(item)), sent).violations
    assert [each["path"] for each in missing.fixes[0]] == ["/files/0/file_path", "/files/1/file_path"]


def test_a_spread_argument_may_belong_inside():
    """For an unknown name beside an open object of arguments, the message says that it may belong inside."""
    schema = closed("arguments", arguments=OBJECT, name=STRING)
    message = _only(schema, {"name": "x", "arguments": {}, "cwd": "/x"}).message
    assert "It may belong inside 'arguments'." in message


def test_half_of_several_values_is_no_fix():
    """One of the values in a text for a single enum would drop the others."""
    assert _only(closed(s=enum("open", "closed", "x")), {"s": "open,closed"}).fixes == ()


@each_row(("schema", "sent", "expected"))
def test_more_wrappers_and_flat_fields_are_read(schema, sent, expected):
    """Wrappers, flat fields of the only list and CrewAI's context are read as the arguments that they hold."""
    assert normalize(schema, sent).arguments == expected


@each_row(("schema", "sent"))
def test_what_may_be_another_wrapper_is_refused(schema, sent):
    """With another key, other content, an open item or two lists, nothing is moved."""
    assert normalize(schema, sent).violations


def test_a_tool_without_parameters_can_be_closed():
    """Under ``closed`` an open schema without parameters takes none."""
    assert normalize({"type": "object"}, {"x": 1}, Policy(closed=True)).violations
    assert not normalize({"type": "object"}, {"x": 1}).violations
