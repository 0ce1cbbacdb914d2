"""Test that fixes are offered only if they work and are plausible."""

from __future__ import annotations

import jsonpatch
import pytest
from refusal.patches import move, offered, replace
from tables import (
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    array,
    closed,
    each_row,
    rows,
    union,
)

from mcp_lenient import Policy, normalize

TEXTS = array(STRING)


NESTED = closed("filter", filter=closed("field", "op", field=STRING, op={"const": "eq"}))


@each_row(
    ("schema", "sent", "patches"),
    [
        pytest.param(
            closed("name", name={**STRING, "description": "Name of the user"}),
            {"user_name": "x"},
            [move("/user_name", "/name")],
            id="suffix",
        ),
        pytest.param(closed("user_id", user_id=STRING), {"id": "x"}, [move("/id", "/user_id")], id="prefix"),
        pytest.param(closed("pmids", pmids=TEXTS), {"ids": ["1"]}, [move("/ids", "/pmids")], id="ending"),
        pytest.param(
            closed("content", content={**STRING, "description": "The text to keep."}),
            {"text": "x"},
            [move("/text", "/content")],
            id="the description says it",
        ),
        pytest.param(closed("content", content=STRING), {"text": "x"}, [], id="both alone"),
        pytest.param(closed("query", query=STRING), {"q": "x"}, [move("/q", "/query")], id="initial"),
        pytest.param(closed("n", n=INTEGER), {"text": "x"}, [], id="value does not fit"),
        pytest.param(closed(name=STRING), {"name": "a", "user_name": "b"}, [], id="name taken"),
        pytest.param(closed(platform=STRING), {"library": "x"}, [], id="may belong to an optional parameter"),
        pytest.param(
            {"type": "object", "properties": {"file_name": STRING}, "required": ["file_name"]},
            {"name": "x"},
            [move("/name", "/file_name")],
            id="open object",
        ),
        pytest.param(closed(v={"enum": ["value 1", "value 2"]}), {"v": "value 3"}, [], id="another number"),
        pytest.param(
            closed(tags=TEXTS),
            {"tags": "a, b;c"},
            [replace("/tags", ["a", "b", "c"]), replace("/tags", ["a, b;c"])],
            id="comma text",
        ),
        pytest.param(
            closed(lines=TEXTS),
            {"lines": "We met, then we all went home. Fine."},
            [
                replace("/lines", ["We met, then we all went home. Fine."]),
                replace("/lines", ["We met", "then we all went home. Fine."]),
            ],
            id="sentence",
        ),
        pytest.param(closed(tags=TEXTS), {"tags": "a" * 199 + ",b"}, [], id="long text"),
        pytest.param(
            closed(tags=TEXTS),
            {"tags": [1, "a", 2]},
            [[*replace("/tags/0", "1"), *replace("/tags/2", "2")]],
            id="all items at once",
        ),
        pytest.param(closed("n", n=INTEGER), {"n": None}, [], id="null for a required one"),
        pytest.param(NESTED, {"filter": {"field": "x"}}, [], id="the only value is not invented"),
        pytest.param(
            NESTED,
            {"filter": {"op": "eq"}, "field": "x"},
            [move("/field", "/filter/field")],
            id="at the wrong level",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": closed("value", value=STRING)},
            {"value": {}},
            [],
            id="nothing moves into itself",
        ),
        pytest.param(closed(api_key=STRING), {"api_key": 123}, [], id="secret"),
        pytest.param(closed(box=OBJECT, tag=STRING), {"box": False, "tag": {0: 1}}, [], id="not judged"),
        pytest.param(closed(n=INTEGER), {"n": "five"}, [], id="nothing likely"),
    ],
)
def test_fixes(schema, sent, patches):
    """The likeliest fix comes first. Without a plausible fix there is none."""
    assert offered(schema, sent) == patches


@pytest.mark.parametrize(("sent", "patches"), rows(__file__, "fixes_apply_to_the_sent_arguments"))
def test_fixes_apply_to_the_sent_arguments(sent, patches):
    """Fixes apply to the arguments as sent, so none points into a repaired value."""
    assert offered(closed(tags=TEXTS, n=INTEGER), sent) == patches


OPEN_X = {"type": "object", "properties": {"x": INTEGER, "y": STRING}, "required": ["x"]}
OPEN_Y = {"type": "object", "properties": {"x": STRING, "y": INTEGER}, "required": ["y"]}


@each_row(("text", "is_list"))
def test_a_text_for_a_list_is_its_parts_or_one_item(text, is_list):
    """Both readings are fixes; the parts come first if they are alike in form."""
    (violation,) = normalize(closed(tags=TEXTS), {"tags": text}).violations
    (first,), (second,) = violation.fixes
    parts, whole = (first, second) if is_list else (second, first)
    assert whole["value"] == [text]
    assert len(parts["value"]) > 1


@each_row(
    ("text", "readings"),
    [("1,234,567", [[1, 234, 567], [1234567]]), ("100,200", [[100, 200], [100200]])],
)
def test_commas_in_numbers_separate_items_or_digits(text, readings):
    """Both readings of a text for a list of numbers are fixes."""
    schema = closed(ids=array(INTEGER))
    (violation,) = normalize(schema, {"ids": text}).violations
    assert [patch[0]["value"] for patch in violation.fixes] == readings


def test_a_text_with_one_reading_as_a_list_has_one_fix():
    """If only the parts are accepted, the fixes name no other reading."""
    schema = closed(tags={"type": "array", "items": {"enum": ["a", "b"]}})
    (violation,) = normalize(schema, {"tags": "a;b"}, Policy(disable={"delimited_text_to_array"})).violations
    assert [patch[0]["value"] for patch in violation.fixes] == [["a", "b"]]


def test_every_reading_of_a_tie_is_offered():
    """Each reading that the message names is a fix, also if it fits only another union branch."""
    sent = {"a": {"x": "1", "y": "2"}}
    (violation,) = normalize(closed(a=union(OPEN_X, OPEN_Y)), sent).violations
    readings = [jsonpatch.apply_patch(sent, patch)["a"] for patch in violation.fixes]
    assert readings == [{"x": 1, "y": "2"}, {"x": "1", "y": 2}]
    assert all(str(reading).replace("'", '"') in violation.message for reading in readings)


def test_readings_that_are_a_number_and_a_boolean_are_two():
    """``1`` and ``true`` are equal in Python, but are two fixes."""
    kinds = [closed("x", x={"type": kind}) for kind in ("integer", "boolean")]
    found = offered(closed(a={"anyOf": kinds}), {"a": {"x": "1"}})
    assert repr(found) == repr([replace("/a/x", 1), replace("/a/x", True)])


def test_a_tie_with_a_hidden_part_shows_none_of_it():
    """The fixes of a tie hold nothing but what differs."""
    schema = closed(a=union(OPEN_X, OPEN_Y))
    assert offered(schema, {"a": {"x": "1", "y": "2", "z": "b" * 300}}) == [
        replace("/a/x", 1),
        replace("/a/y", 2),
    ]


@each_row(("sent", "value"))
def test_an_object_around_one_value_is_replaced_by_it(sent, value):
    """The value is moved out of an object that says nothing but its type."""
    found = offered(closed(price=NUMBER), {"price": sent}, disable={"wrapped_value"})
    assert found == ([] if value is None else [move(f"/price/{value}", "/price")])


COLORS = {"type": "array", "items": {"enum": ["RGB", "HEX"]}}


@each_row(("sent", "name"))
def test_a_list_with_the_values_as_a_schema_is_replaced_by_the_values(sent, name):
    """The allowed values of the schema that was sent as the only item become the list."""
    assert offered(closed(to=COLORS), {"to": sent}) == ([move(f"/to/0/{name}", "/to")] if name else [])


@each_row(("name", "node", "sent"))
def test_texts_for_one_text_are_calls_of_their_own(name, node, sent):
    """None of several texts is offered, since the others would be lost: the message says when to call once for each."""
    schema = closed(name, **{name: node})
    assert offered(schema, {name: sent}) == []
    fits = any(not normalize(schema, {name: each}).violations for each in sent)
    said = any("call once for each" in each.message for each in normalize(schema, {name: sent}).violations)
    assert said is fits


def test_the_description_of_the_schema_is_no_value():
    """A parameter's own schema sent as its value gives no fix."""
    schema = closed(email={**STRING, "description": "Where to write."})
    assert offered(schema, {"email": {"type": "string", "description": "Where to write."}}) == []


def test_no_values_when_none_may_be_echoed():
    """With ``echo_values=False`` a fix has no value of the caller, but may move values."""
    schema = closed("drug_name", tags=TEXTS, order={"enum": ["ascending", "descending"]}, drug_name=STRING)
    sent = {"tags": "a,b", "order": "asc", "drug": "x"}
    found = offered(schema, sent, echo_values=False)
    assert sorted(found, key=repr) == [move("/drug", "/drug_name"), replace("/order", "ascending")]


@each_row(("sent", "first"))
def test_a_fix_may_need_a_further_repair(sent, first):
    """A fix may leave an error that a repair corrects."""
    schema = closed(tags=TEXTS, limit=INTEGER)
    found = normalize(schema, sent).violations
    assert [dict(operation) for operation in found[0].fixes[0]] == first
    fixed = jsonpatch.apply_patch(sent, [dict(operation) for operation in found[0].fixes[0]])
    assert not normalize(schema, fixed).violations


@each_row(("properties", "sent", "name"))
def test_an_optional_name_is_offered_by_its_initial_or_description(properties, sent, name):
    """Only if no other declared name fits, the value is a text, and no name is missing."""
    assert offered(closed(**properties), {sent: "x"}) == ([move(f"/{sent}", f"/{name}")] if name else [])
    if name:
        assert offered(closed(**properties), {sent: "x", "other_thing": "y"}) == []
        assert offered(closed("body", **(properties | {"body": STRING})), {sent: "x"}) == []


@each_row(("properties", "sent", "is_meant"))
def test_a_name_told_by_its_first_word_is_offered(properties, sent, is_meant):
    """Where another declared name has the same last word, the words before it tell the name apart."""
    schema = closed(*properties, **properties)
    given = dict.fromkeys(properties.keys() - {"end_point"}, "x")
    assert (move(f"/{sent}", "/end_point") in offered(schema, {**given, sent: "y"})) is is_meant


def test_a_name_is_not_moved_to_a_less_similar_missing_one():
    """A value moves to the free name that shares a word with the sent one."""
    schema = closed("city", city=STRING, zip_code=STRING)
    found = normalize(schema, {"zip": "0150"}).violations
    assert all(operation["path"] != "/city" for each in found for patch in each.fixes for operation in patch)


def test_null_for_an_allowed_word_for_none_offers_the_word_first():
    """Clients that read `none` as null get the word back before the advice to leave the parameter out."""
    mode = {"enum": ["none", "low"]}
    (violation,) = normalize(closed(mode=mode), {"mode": None}).violations
    assert [patch[0].get("value") for patch in violation.fixes] == ["none", None]
