"""Test what messages add to an error: suggested names, formats, keys and counts."""

from __future__ import annotations

from typing import Any

import pytest
from tables import INTEGER, OBJECT, STRING, Json, array, closed, each_row, enum, opened, union

from mcp_lenient import Policy, Violation, normalize

_DESTRUCTIVE = Policy(destructive=True)
_ABSENT = frozenset({"null_to_absent", "empty_text_to_absent", "null_text_to_absent", "null_text_to_null"})


def _violations(schema: Json, sent: Any, policy: Policy | None = None) -> tuple[Violation, ...]:
    return normalize(schema, sent, policy).violations


def _message(place: Json, value: Any) -> str:
    """Return the message about a value of an optional parameter ``p``."""
    (violation,) = _violations(closed(p=place), {"p": value})
    return violation.message


@each_row("sent")
def test_nothing_is_offered_in_a_destructive_tool(sent: Any) -> None:
    """The message describes the error and the accepted names, but does not guess which was meant."""
    schema = closed("path", path=STRING, mode=enum("all", "nothing"), where=closed("city", city=STRING))
    for violation in _violations(schema, sent, _DESTRUCTIVE):
        assert not violation.did_you_mean
        assert not violation.fixes
        for offer in ("Did you mean", "is meant", "belongs inside", "send it inside", "inside it"):
            assert offer not in violation.message
    assert any(each.fixes or each.did_you_mean for each in _violations(schema, sent))


@pytest.mark.parametrize(
    ("ways", "sent", "told"),
    [
        pytest.param(
            (closed("email", email=STRING), closed("phone", phone=STRING, ext=STRING)),
            {"tel": "5"},
            "either 'email' or 'phone' must be sent in 'c'.",
            id="a name of neither",
        ),
        pytest.param(
            (closed("op", "items", op=STRING, items=array(STRING)), closed("not", **{"not": OBJECT})),
            {"and": []},
            "either 'op' and 'items' or 'not' must be sent in 'c'.",
            id="two names or one",
        ),
        pytest.param(
            (closed("email", email=STRING), closed("phone", phone=STRING, ext=STRING)),
            {"ext": "5"},
            "'c.phone' is required but was not sent. It must be a string.",
            id="a name of one",
        ),
    ],
)
def test_of_several_objects_the_one_with_the_sent_names_is_meant(ways: Any, sent: Any, told: str) -> None:
    """Where the sent names say which object is meant, its names are asked for, and otherwise those of any."""
    assert _violations(closed("c", c=union(*ways)), {"c": sent})[0].message == told


def test_a_missing_discriminator_is_named_with_its_values() -> None:
    """Without the discriminator, only it is asked for."""
    target = union(
        closed("kind", "channel", kind={"const": "slack"}, channel=STRING),
        closed("kind", "to", kind={"const": "mail"}, to=STRING),
    )
    sent = {"target": {"type": "slack", "channel": "c"}}
    (violation,) = _violations(closed("target", target=target), sent)
    assert (violation.pointer, violation.code) == ("/target/kind", "missing")
    assert 'It must be one of "slack", "mail".' in violation.message


def test_all_accepted_formats_are_named() -> None:
    """For a word that is neither a date nor a date and time, the message gives both formats, with samples."""
    when = union({"type": "string", "format": "date"}, {"type": "string", "format": "date-time"})
    assert 'date such as "2026-01-31"' in _message(when, "null")
    assert "date-time such as" in _message(when, "null")
    assert "a string (date or date-time)" in _message(when, 5.5e30)


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        pytest.param({"rows": [{"full name ": 1, "n": 1}]}, "'rows[0].full name '", id="key"),
        pytest.param({"by name": {"a b": {}}}, "'by name.a b'", id="path"),
    ],
)
def test_a_key_is_shown_unchanged(sent: Any, shown: str) -> None:
    """A key is shown without brackets or extra quotes."""
    schema = closed(rows=array(closed("n", n=INTEGER)))
    schema["properties"]["by name"] = {"type": "object", "additionalProperties": INTEGER}
    (violation,) = _violations(schema, sent)
    assert shown in violation.message


@pytest.mark.parametrize(
    ("rows", "said"), [(1, "'rows[0].n' is"), (2, "'rows[0].n' and 'rows[1].n' are"), (4, " and 1 more are")]
)
def test_place_counts_are_grammatical(rows: int, said: str) -> None:
    """One place is written in the singular, and places beyond three are counted."""
    schema = closed("rows", rows=array(closed("n", n=INTEGER)))
    (violation,) = _violations(schema, {"rows": [{}] * rows})
    assert said in violation.message


_ONE_NAME = {"properties": {"id": STRING, "name": STRING, "size": INTEGER}, "additionalProperties": False}


@each_row(("conditions", "sent", "message"))
def test_a_condition_is_named(conditions: Json, sent: Any, message: str) -> None:
    """The message describes the condition of the schema that this call breaks."""
    (violation,) = _violations({"type": "object", **_ONE_NAME, **conditions}, sent)
    assert violation.message == message


@each_row(
    ("ways", "sent", "told"),
    [
        (
            (closed("size", size=INTEGER), closed("name", name=STRING)),
            {"size": "1", "name": "x"},
            "'shape.size' is not accepted beside this 'shape.name': send only the alternative that is meant.",
        ),
        (
            (
                closed("kind", "r", kind=STRING, r=INTEGER),
                closed("kind", "side", kind=STRING, side=INTEGER),
            ),
            {"kind": "circle", "r": 1, "side": 2},
            "'shape.side' is not accepted beside this 'shape.r': send only the alternative that is meant.",
        ),
    ],
)
def test_a_name_of_another_branch_is_not_unknown(ways: tuple[Json, ...], sent: Json, told: str) -> None:
    """The message names what a name of another branch excludes, and leaves the choice to the caller."""
    (violation,) = _violations(closed("shape", shape=union(*ways)), {"shape": sent})
    assert (violation.message, violation.fixes) == (told, ())


@each_row(
    ("limits", "sent"),
    [
        ({"contains": {"const": 1}}, [2]),
        ({"not": {"maxItems": 1}}, [2]),
        ({"anyOf": [{"minItems": 3}, {"contains": {"const": 1}}]}, [2]),
    ],
)
def test_a_limit_without_words_is_not_said_to_be_another(limits: Json, sent: Any) -> None:
    """The message says nothing untrue of a limit that has no words, nor of a union with such a limit."""
    assert _message({**array(INTEGER), **limits}, sent) == "'p' is not accepted by the tool; got an array."


@each_row(("limits", "value", "message"))
def test_a_right_type_is_not_named_as_the_fault(limits: Json, value: Any, message: str) -> None:
    """The message names the received type only with its value or size."""
    assert _message(limits, value) == message


def test_several_places_of_a_right_type_are_not_named_by_it() -> None:
    """Several places that break one limit share a sentence without their type."""
    place = array({**array(INTEGER), "uniqueItems": True})
    assert _message(place, [[1, 1], [2, 2]]) == "'p[0]' and 'p[1]' must each contain no item twice."


@pytest.mark.parametrize("value", ["", "null", "none", None])
@pytest.mark.parametrize(
    "place", [{"type": "object"}, union({"type": "object"}, {"type": "null"}), enum("a", "b")]
)
def test_leaving_a_value_out_is_not_advised_in_a_destructive_tool(place: Json, value: Any) -> None:
    """Without ``where`` the tool might delete everything."""
    schema, sent = closed("table", table=STRING, where=place), {"table": "a", "where": value}
    for policy, is_advised in ((Policy(destructive=True), False), (Policy(disable=_ABSENT), True)):
        told = " ".join(violation.message for violation in _violations(schema, sent, policy))
        assert bool(told) or value is None
        assert any(advice in told for advice in ("Leave it out", "Send null")) is (is_advised and bool(told))


def test_a_required_null_is_still_explained_in_a_destructive_tool() -> None:
    """Even in a destructive tool the message says that the value cannot be left out."""
    (violation,) = _violations(closed("where", where=STRING), {"where": None}, _DESTRUCTIVE)
    assert violation.message.endswith("It cannot be left out.")


def test_the_values_of_a_nested_wrapper_are_offered() -> None:
    """A usual wrapper inside a parameter gets the fix that a wrapper of all arguments gets."""
    found = _violations(closed(o=closed(a=INTEGER)), {"o": {"properties": {"a": 1}}})
    assert found[0].fixes[0][0] == {"op": "move", "from": "/o/properties/a", "path": "/o/a"}


@each_row(("place", "value", "pointer", "message"))
def test_too_many_items_of_a_tuple_are_counted(place: Json, value: Any, pointer: str, message: str) -> None:
    """The message names the list that is too long, not the item that no schema describes."""
    (violation,) = _violations(closed("p", p=place), {"p": value})
    assert (violation.pointer, violation.code, violation.message) == (pointer, "length", message)


@each_row(("place", "value", "advice"))
def test_what_an_optional_value_may_mean_is_said(place, value, advice):
    """A value that cannot be meant may be left out; a date for a time stamp is told what is asked for."""
    assert _message(place, value).endswith(advice)


def test_a_name_sent_elsewhere_is_located():
    """A missing name is said to be inside another parameter, or what was sent under a name that the tool does not know."""
    inside = opened("name", name=STRING, arguments=OBJECT)
    (missing,) = normalize(inside, {"arguments": {"args": "--help", "name": "x"}}).violations
    assert (
        "It was sent inside 'arguments': if that is the one, send it beside 'arguments'." in missing.message
    )
    (missing,) = normalize(opened("message", message=STRING), {"msg": "x"}).violations
    assert missing.message.endswith("The tool may ignore 'msg'; the content may belong under declared names.")


def test_a_quoted_name_is_repeated():
    """A name in quotes is a name, and no text that must not be said; a pair in quotes is none."""
    (unknown,) = normalize(closed("a", a=STRING), {"a": "x", '"a"': "y"}).violations
    assert unknown.message.startswith("unknown parameter '\"a\"'.")
    (unknown,) = normalize(closed(a=STRING), {'"a=secret"': "y"}).violations
    assert "secret" not in repr(unknown)


def test_a_schema_sent_as_arguments_is_said_to_be_one():
    """The tool's own schema, as the arguments or under their names, is no value."""
    schema = closed("city", city=STRING)
    first, *_ = normalize(schema, {"type": "object", "properties": {"city": {"type": "string"}}}).violations
    assert first.message.endswith("What was sent is the schema: send the values that it describes.")


def test_a_name_in_a_text_is_corrected_as_a_whole():
    """A fix inside of JSON text replaces the text by what it should hold; the hint is that of an object."""
    style = closed(color=STRING)
    (violation,) = normalize(closed(style=style), {"style": '{"colour": "red"}'}).violations
    assert "Did you mean 'color'?" in violation.message
    assert [[*map(dict, patch)] for patch in violation.fixes] == [
        [{"op": "replace", "path": "/style", "value": {"color": "red"}}]
    ]


@each_row(("place", "value", "advice"))
def test_a_container_for_a_string_may_be_meant_as_text(place: Json, value: Any, advice: str) -> None:
    """JSON text may be meant by an object or a list that holds one, but not where a date is expected."""
    assert _message(place, value).endswith(f". {advice}")


@pytest.mark.parametrize("names", [(), ("x",)], ids=["optional", "required"])
def test_an_empty_text_with_a_least_length_is_asked_for(names: tuple[str, ...]) -> None:
    """The message of an optional text does not advise to leave it out."""
    (violation,) = _violations(closed(*names, x={**STRING, "minLength": 1}), {"x": ""})
    assert violation.message == "'x' must have at least 1 character, but got the string \"\" of 0 characters."


@each_row(("place", "value", "limits"))
def test_every_range_of_a_union_is_named(place: Json, value: Any, limits: str) -> None:
    """The limits of one branch are not said to be the only ones."""
    assert _message(place, value).startswith(f"'p' must {limits}, but got ")


@each_row(
    ("place", "sample"),
    [
        (union(array(OBJECT), STRING), '[{"key": "..."}]'),
        (union(array(STRING), array(OBJECT), STRING), '[{"key": "..."}]'),
        (union(array(closed("n", n=INTEGER)), STRING), '[{"n": 1}]'),
    ],
)
def test_the_sample_is_of_the_nearest_branch(place: Json, sample: str) -> None:
    """For an object, the sample is the list that may hold it."""
    assert _message(place, {"a": 1}).endswith(f"Write it in the form {sample}.")


def test_items_beyond_the_most_are_sent_apart_but_not_to_a_destructive_tool():
    """Advice to call again is for tools whose calls may be repeated."""
    schema, sent = closed("ids", ids={**array(STRING), "maxItems": 1}), {"ids": ["a", "b"]}
    advice = "If each item stands alone, send the rest in another call."
    assert _violations(schema, sent)[0].message.endswith(advice)
    assert advice not in _violations(schema, sent, _DESTRUCTIVE)[0].message


def test_an_allowed_value_is_not_to_be_left_out_of_a_destructive_tool():
    """Leaving a value out may widen what is destroyed."""
    schema, sent, advice = (
        closed(mode=enum("all", "nothing")),
        {"mode": "some"},
        "If none means it, ask. Leave it out only if that means it.",
    )
    assert _violations(schema, sent)[0].message.endswith(advice)
    assert _violations(schema, sent, _DESTRUCTIVE)[0].message.endswith("If none means it, ask.")
    assert advice not in _violations(schema, sent, _DESTRUCTIVE)[0].message


def test_what_may_hold_all_names_is_not_mistaken_for_one_of_them():
    """Of several names that belong inside an object of any names, none is moved to it."""
    body = {"type": "object", "description": "With query, size and sort"}
    violations = _violations(
        closed("query_body", query_body=body), {"query": {"a": 1}, "sort": ["a"], "size": 5}
    )
    assert not any(each.fixes or each.did_you_mean for each in violations)
    assert [each.message.count("It may belong inside 'query_body'.") for each in violations] == [0, 1, 1, 1]


def test_the_allowed_items_of_a_missing_list_are_said():
    """A list of allowed values is asked for with these values."""
    (violation,) = _violations(closed("nets", nets=array(enum("eth", "base"))), {})
    assert 'Each item must be one of "eth", "base".' in violation.message


def test_a_text_for_two_missing_names_is_moved_to_neither():
    """A name in the plural holds several values, so that no move of the whole is right."""
    schema = closed("start_date", "end_date", start_date=STRING, end_date=STRING)
    violations = _violations(schema, {"dates": "2026-05-01 to 2026-05-04"})
    assert not any(each.fixes or each.did_you_mean for each in violations)


def test_a_range_is_said_whole():
    """A number outside of a range is told both ends, so that the next one is not beyond the other."""
    place = {**INTEGER, "minimum": 1, "maximum": 200}
    assert _message(place, 500) == "'p' must be from 1 to 200, but got the integer 500."


def test_names_that_may_be_ignored_are_told_once_beside_any_fault():
    """An undeclared name is named in an open schema, but not one that is likely another, nor twice."""
    schema = opened("branch_name", branch_name=STRING, depth=INTEGER)
    sent = {"name": "a", "from": "b", "depth": "deep"}
    first, second = (each.message for each in _violations(schema, sent))
    assert "If 'name' is meant, send it under this name." in first
    assert "may ignore" not in first
    assert second.endswith("\nThe tool may ignore 'from'; the content may belong under declared names.")


def test_a_name_whose_value_does_not_fit_is_not_to_be_sent_under_another():
    """A value that the pattern of the missing name refuses is not said to be meant for it."""
    schema = opened("space_key", space_key={**STRING, "pattern": "^[A-Z]+$"})
    assert "If 'space' is meant" not in _violations(schema, {"space": "a team"})[0].message
    assert "If 'space' is meant" in _violations(schema, {"space": "TEAM"})[0].message


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        pytest.param({"fields": {"name": "x", "team": {"n": 1}}}, "", id="an object"),
        pytest.param(
            {"input": '{"name": "x", "team": "a'},
            " Its JSON ends after 24 characters, inside the { at character 1. "
            "Send it again in full; do not just close the brackets.",
            id="JSON that was cut off",
        ),
    ],
)
def test_a_name_inside_an_undeclared_one_is_located(sent: Json, told: str) -> None:
    """A missing name is said to be inside what was sent under an undeclared name, and where its JSON ends."""
    first = _violations(opened("name", "id", name=STRING, id=STRING), sent)[0]
    (wrapper,) = sent
    assert (
        f"It was sent inside '{wrapper}': if that is the one, send it beside '{wrapper}'.{told}"
        in first.message
    )


def test_a_missing_text_is_said_to_have_its_pattern() -> None:
    """A pattern is named before it is broken."""
    (violation,) = _violations(opened("code", code={**STRING, "pattern": "^[A-Z]{3}$"}), {})
    assert 'It must match the pattern "^[A-Z]{3}$".' in violation.message


def test_several_values_in_a_text_for_one_are_sent_in_several_calls() -> None:
    """A text whose parts are all accepted is several values; one that has other parts is not."""
    place = {**STRING, "pattern": "^[A-Z]{3}$"}
    told = "One call takes one value: call once for each that is meant."
    assert _message(place, "LIS, OPO").endswith(told)
    assert told not in _message(place, "LIS, or Porto")


@each_row(("description", "told"))
def test_a_description_is_told_in_whole_sentences(description: str, told: str) -> None:
    """What follows the first sentence often says where a value comes from; of a text with a URL it may say nothing."""
    assert f"It means: {told}. " in _message({**INTEGER, "description": description}, "the login bug")


def test_what_the_object_needs_is_not_to_be_left_out() -> None:
    """A value is not said to be left out of an object that would then have too few."""
    schema = {**closed(time=INTEGER, text=STRING), "minProperties": 1}
    alone, beside = (_violations(schema, {"time": "soon", **more})[0].message for more in ({}, {"text": "x"}))
    assert ("Leave it out" in alone, "Leave it out" in beside) == (False, True)


@each_row(("names", "sent", "several"))
def test_a_text_may_hold_several_missing_names(names: list[str], sent: Json, *, several: bool) -> None:
    """A value with a part for each missing name is not offered as one of them; it is said that it may hold several."""
    schema = closed(*names, **dict.fromkeys(names, STRING), exclude_patterns=array(STRING))
    found = _violations(schema, sent)
    assert any("If it holds several" in each.message for each in found) is several
    assert not (several and any(each.fixes or "is meant" in each.message for each in found))


_EVENTS = closed(
    "calendar",
    calendar=STRING,
    since={**STRING, "format": "date-time"},
    until={**STRING, "format": "date-time"},
    by=array({**STRING, "format": "email"}),
    api_key={**STRING, "format": "uuid"},
)


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (
            {"since": "24 hours ago"},
            "'since' must have the format date-time such as \"2026-01-31T09:30:00Z\".",
        ),
        (
            {"since": "today", "until": "2026-01-31"},
            "'since' and 'until' must each have the format date-time",
        ),
        ({"by": ["name@example.com", "anna"]}, "'by[1]' must have the format email"),
        ({"since": "2026-01-31 09:30:00"}, ""),
        ({"since": 5}, ""),
    ],
    ids=["one", "several", "an item", "as most servers read it", "of another type"],
)
def test_a_format_that_is_not_checked_is_said_beside_a_fault(sent: Json, told: str) -> None:
    """A text that the tool takes, but that lacks the format it asks for, is said where the call is refused for more."""
    assert (
        normalize(_EVENTS, {"calendar": "a", **sent}).arguments == {"calendar": "a", **sent}
        or "since" in sent
    )
    message = _violations(_EVENTS, sent)[0].message
    assert told in message
    assert ("have the format" in message) is bool(told)


def test_a_fix_gives_no_value_without_the_format():
    """A text that lacks the format of the declared name is not offered under it."""
    at = closed("dateTime", dateTime={**STRING, "format": "date-time"})
    assert not any(
        each.fixes for each in _violations(closed("start", start=at), {"start": {"date": "2026-03-04"}})
    )
    fixed = _violations(closed("start", start=at), {"start": {"date": "2026-03-04T10:00:00Z"}})
    assert any(each.fixes for each in fixed)


def test_a_name_is_not_taken_for_one_beside_a_missing_object_of_any_names():
    """It may be a name in that object: of a page's ``properties``, ``Status`` is not the page's own ``status``."""
    page = closed("properties", properties=OBJECT, status=enum("active", "archived"))
    violations = _violations(page, {"Status": "active", "Due date": "2026-05-01"})
    assert [each.code for each in violations] == ["missing", "unknown", "unknown"]
    assert all("It may belong inside 'properties'." in each.message for each in violations[1:])
    assert not any(each.fixes or each.did_you_mean for each in violations)
    assert normalize(page, {"Status": "active", "properties": {}}).arguments == {
        "status": "active",
        "properties": {},
    }


@pytest.mark.parametrize(("about", "shown"), [("Labels", False), ("Filters, such as plan=pro", True)])
def test_names_with_values_are_only_offered_as_items_that_the_author_shows(
    about: str, *, shown: bool
) -> None:
    """``plan=pro, region=eu`` may be two items, or the values of other parameters."""
    (violation,) = _violations(
        closed(p={**array(STRING), "description": about}), {"p": "plan=pro, region=eu"}
    )
    assert bool(violation.fixes) is shown
    assert ('["plan=pro", "region=eu"]' in violation.message) is shown


def test_a_name_that_is_missing_may_be_meant_rather_than_a_field_elsewhere():
    """``content`` may be the missing ``body``, and is no whole attachment."""
    file = closed("filename", "content", filename=STRING, content=STRING)
    mail = closed("body", body=STRING, attachments=array(file))
    assert not any("belongs inside" in each.message for each in _violations(mail, {"content": "Hello"}))
    whole = {"filename": "a", "content": "b"}
    assert any("belongs inside 'attachments'" in each.message for each in _violations(mail, whole))


def test_a_name_without_the_word_for_identifiers_is_told_what_is_meant():
    """``list`` may be the name of the list, and no ID."""
    schema = closed("listId", listId={**STRING, "description": "ID of the target list."})
    assert (
        "Did you mean 'listId'? It means: ID of the target list."
        in _violations(schema, {"list": "Done"})[1].message
    )


def test_the_allowed_items_of_a_list_are_said_rather_than_shown():
    """An example of allowed values would be taken for the ones to send."""
    states = array(enum("BUILDING", "ERROR", "READY"))
    assert _message(states, "failed").endswith('Each item must be one of "BUILDING", "ERROR", "READY".')


def test_a_number_in_quotes_is_to_be_sent_without_them():
    """Not as a whole number: that would be another one."""
    (violation,) = normalize(closed("x", x={"type": "number"}), {"x": "1.5"}, Policy(rules=())).violations
    assert violation.message.endswith("Write the number without quotes.")
