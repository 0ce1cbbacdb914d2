"""Test that any schema is readable: older drafts are translated, unreadable parts are skipped."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest
from decisions import contract
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator, Draft202012Validator
from mcp.types import Tool
from referencing import Registry
from strategies import Json, examples, real_schemas
from tables import INTEGER, STRING, array, closed, each_row, exactly, opened, union

from mcp_lenient import Policy, normalize
from mcp_lenient.devtools.check import check

REAL = real_schemas()
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def _takes(schema: Json, value: Any) -> bool:
    return contract(schema).validator.accepts({"p": value})


def _unread(schema: Json) -> list[str]:
    """Return the places of a schema that are neither validated nor repaired."""
    return [*contract(schema).plan.tree.unread]


def _told(schema: Json) -> str:
    """Return what ``mcp-lenient check`` says of them."""
    tool = Tool(name="tool", description="Does something.", inputSchema=schema)
    (finding,) = check([tool], select=["schema_unusable"])
    return finding.reason


@each_row(("schema", "accepted", "refused"))
def test_older_keywords_are_translated(schema: Json, accepted: list[Any], refused: list[Any]) -> None:
    """A keyword of an older draft or of OpenAPI 3.0 keeps its meaning in any dialect."""
    root = {
        **opened(p=schema, n=INTEGER),
        "$defs": {
            "i": INTEGER,
            "never": False,
            "always": True,
            "tuple": {"items": [INTEGER]},
            "maybe": {"type": "object", "nullable": True, "properties": {"a": INTEGER}},
        },
        "parts": {"i": INTEGER},
    }
    before = copy.deepcopy(root)
    for dialect in ({}, {"$schema": "https://example.com/own"}):
        published = {**root, **dialect}
        assert [value for value in accepted if not _takes(published, value)] == []
        assert [value for value in refused if _takes(published, value)] == []
        assert _unread(published) == []
    assert root == before


@each_row("schema")
def test_uncommon_keywords_and_references_are_unread(schema: Json) -> None:
    """A schema with a keyword that no tool was seen to use, or a reference by it, is reported and accepts any value."""
    root = {
        "$id": "https://example.com/tool.json",
        **opened(p=schema, n=INTEGER),
        "$defs": {
            "i": INTEGER,
            "named": {"$id": "https://example.com/named", "$dynamicAnchor": "several", **INTEGER},
            "other": {"$id": "https://example.com/other", "$dynamicAnchor": "several", **STRING},
        },
    }
    assert _unread(root) == ["/properties/p"]
    for value in VALUES:
        result = normalize(root, {"p": value, "n": "5"})
        assert exactly(result.arguments) == exactly({"p": value, "n": 5}), value


@each_row(("reference", "right", "wrong"))
def test_references_by_name_are_read(reference: Json, right: Any, wrong: Any) -> None:
    """A reference by an anchor or an address in the schema, or to the schema of all schemas, is read."""
    root = {
        "$id": "https://example.com/tool.json",
        **opened(p=reference, n=INTEGER),
        "$defs": {
            "anchored": {"$anchor": "anchored", **INTEGER},
            "until draft 7": {"$id": "#old", **INTEGER},
            "dynamic": {"$dynamicAnchor": "dynamic", **INTEGER},
            "named": {
                "$id": "named",
                "$anchor": "in",
                "$defs": {"a": STRING},
                **array({"$ref": "#/$defs/a"}),
            },
        },
    }
    assert _unread(root) == []
    assert _takes(root, right)
    assert not _takes(root, wrong)


def test_the_outermost_dynamic_anchor_counts() -> None:
    """``$dynamicRef`` leads to the anchor of the whole schema, whichever resource it starts from."""
    below = {"$id": "below", "$dynamicAnchor": "here", **array({"$dynamicRef": "#here"})}
    root = {**opened(p={"$ref": "below"}), "$dynamicAnchor": "here", "$defs": {"below": below}}
    assert _unread(root) == []
    assert _takes(root, [{"p": []}])
    assert not _takes(root, [[]])


def test_an_address_takes_time_in_proportion_to_its_length() -> None:
    """Addresses beyond a length are not joined with each other."""
    part: Json = {"$id": "a/" * 50_000, "$ref": "b/" * 50_000}
    root = {**opened(), "$defs": {f"d{number}": part for number in range(500)}}
    assert len(_unread(root)) == 500


def test_keywords_beside_ref_are_ignored_up_to_draft_7() -> None:
    """Up to draft 7, keywords next to ``$ref`` are ignored. In later drafts they count."""
    root = {**opened(p={"$ref": "#/definitions/i", "minimum": 3}), "definitions": {"i": INTEGER}}
    assert _takes({**root, "$schema": DRAFT_7}, 1)
    assert not _takes(root, 1)


@pytest.mark.parametrize("keyword", ["const", "prefixItems", "contains", "propertyNames"])
def test_newer_keywords_work_in_older_dialects(keyword: str) -> None:
    """A schema that declares draft 4 but uses a later keyword is validated by that keyword."""
    schema = {"const": 1, "prefixItems": [INTEGER], "contains": INTEGER, "propertyNames": {"maxLength": 1}}
    wrong = {"const": 2, "prefixItems": ["a"], "contains": ["a"], "propertyNames": {"ab": 1}}[keyword]
    assert not _takes({"$schema": DRAFT_4, **opened(p={keyword: schema[keyword]})}, wrong)
    assert not _takes(opened(p={"$schema": DRAFT_4, keyword: schema[keyword]}), wrong)


BROKEN: dict[str, Json] = {
    "unknown type": {"type": "objekt"},
    "no types": {"type": []},
    "items null": {"type": "array", "items": None},
    "dangling reference": {"$ref": "#/$defs/none"},
    "remote reference": {"$ref": "https://example.com/s.json"},
    "file reference": {"$ref": "file:///etc/passwd"},
    "reference of another kind": {"$ref": 5},
    "reference to a list": {"$ref": "#/required"},
    "index of 5,000 digits": {"$ref": f"#/required/{'9' * 5000}"},
    "dynamic reference to nothing": {"$dynamicRef": "#none"},
    "pattern": {"type": "string", "pattern": "("},
    "patternProperties": {"type": "object", "patternProperties": {"(": INTEGER}},
    "properties of another kind": {"type": "object", "properties": []},
    "required of another kind": {"type": "object", "required": "name"},
    "minimum of another kind": {"type": "integer", "minimum": "5"},
    "multipleOf zero": {"type": "integer", "multipleOf": 0},
    "anyOf empty": {"anyOf": []},
    "a branch of another kind": {"anyOf": [5, INTEGER]},
    "oneOf with a broken branch": {"oneOf": [INTEGER, {"type": "integr"}]},
    "not of another kind": {"not": {"type": "objekt"}},
    "not with an unreadable part": {"not": {"properties": {"a": {"type": "objekt"}}}},
    "if of another kind": {"if": {"type": "objekt"}, "then": False, "else": False},
    "contains of another kind": {"contains": {"type": "objekt"}, "maxContains": 0},
    "itself": {"$ref": "#/properties/p"},
    "itself in allOf": {"allOf": [{"$ref": "#/properties/p"}]},
    "a minimum that is not a number": {"type": "integer", "minimum": float("inf")},
    "null": {"items": {"properties": {"a": None}}},
}
VALUES = [None, True, 5, "5", [], ["5"], [None], {}, {"a": "5"}, "null", "[1]", '{"a": 1}']


def test_references_into_a_property_beside_its_default_are_followed() -> None:
    """A schema with a reference into a property whose default it refuses is read like any other."""
    listed = {**array(opened(x=INTEGER)), "default": None}
    schema = opened(a=listed, b=array({"$ref": "#/properties/a/items"}))
    assert normalize(schema, {"b": [{"x": "1"}]}).arguments == {"b": [{"x": 1}]}


@pytest.mark.parametrize(("at", "right", "wrong"), [(0, 5, True), (1, True, 5)])
def test_a_reference_into_a_union_beside_its_default_leads_to_its_branch(
    at: int, right: object, wrong: object
) -> None:
    """A branch of a union whose default is refused is still the branch that a reference names."""
    either = {"anyOf": [INTEGER, {"type": "boolean"}], "default": "none"}
    schema = opened(a=either, b={"$ref": f"#/properties/a/anyOf/{at}"})
    strict = Policy.strict()
    assert normalize(schema, {"b": right}, strict).violations == ()
    (violation,) = normalize(schema, {"b": wrong}, strict).violations
    assert violation.expected_types == (("integer", "boolean")[at],)


def test_refused_defaults_may_nest() -> None:
    """A schema with as many levels of refused defaults as a schema may have is read like any other."""
    schema: Json = {**INTEGER, "default": None}
    for _ in range(90):
        schema = opened(a=schema, n=INTEGER) | {"default": None}
    assert normalize(schema, {"n": "1"}).arguments == {"n": 1}


def test_a_published_keyword_of_this_library_says_nothing() -> None:
    """A tool's author cannot mark a schema as one that accepts its default."""
    assert normalize(opened(n={**INTEGER, "x-mcp-lenient-default": True}), {"n": "1"}).arguments == {"n": 1}


@pytest.mark.parametrize(
    ("root", "pointer"),
    [
        pytest.param({"minimum": "x", "anyOf": [closed(b=INTEGER)]}, "#/anyOf/0", id="branch"),
        pytest.param({"patternProperties": {"(": closed(b=INTEGER)}}, "#/patternProperties/(", id="pattern"),
    ],
)
def test_references_into_unreadable_parts_are_followed(root: Json, pointer: str) -> None:
    """What a reference leads to is judged there, even where the part that contains it is not."""
    schema = {**root, "type": "object", "properties": {"a": {"$ref": pointer}}}
    assert _unread(schema) == [""]
    assert not normalize(schema, {"a": {"b": 1}}).violations
    assert normalize(schema, {"a": {"b": "x"}}).violations


@pytest.mark.parametrize("broken", [pytest.param(schema, id=name) for name, schema in BROKEN.items()])
def test_unreadable_parts_accept_any_value(broken: Json) -> None:
    """An unreadable part accepts any value unchanged, and other parts are validated and repaired."""
    schema = closed("p", p=broken, n=INTEGER)
    before = copy.deepcopy(schema)
    for value in VALUES:
        result = normalize(schema, {"p": value, "n": "5"})
        assert result.violations == (), value
        assert exactly(result.arguments) == exactly({"p": value, "n": 5})
        assert [(each.rule, each.pointer) for each in result.repairs] == [("text_to_integer", "/n")]
        assert [each.pointer for each in normalize(schema, {"p": value, "n": "x"}).violations] == ["/n"]
    assert repr(schema) == repr(before)


@each_row(("above", "pointer"))
def test_unreadable_part_is_named(above: Json, pointer: str) -> None:
    """An unreadable part is named by its JSON Pointer in the published schema."""
    schema = {**opened(n=INTEGER, **({} if above else {"p": {"type": "objekt"}})), **above}
    assert _unread(schema) == [pointer]
    assert f"not judged or repaired at {pointer or '/'} (" in _told(schema)


@each_row(
    "above",
    [
        pytest.param({"required": "n"}, id="required"),
        pytest.param({"type": "objekt"}, id="type"),
        pytest.param({"minProperties": "1"}, id="minProperties"),
        pytest.param({"patternProperties": {"(": {}, "^x": INTEGER}}, id="patternProperties"),
        pytest.param({"$ref": "#/$defs/none"}, id="a reference"),
        pytest.param({"propertyNames": 5}, id="propertyNames"),
    ],
)
def test_properties_are_repaired_in_an_unreadable_object(above: Json) -> None:
    """In an unreadable object no name is changed or dropped, but declared properties are repaired."""
    schema = {**closed("n", "tags", n=INTEGER, tags=array(STRING)), **above}
    sent = {"n": "5", "Tags": ["a"], "tags": None, "toolCallId": "1"}
    assert normalize(schema, {**sent, "tags": '["a"]'}).arguments == {**sent, "n": 5, "tags": ["a"]}
    assert [each.pointer for each in normalize(schema, sent).violations] == ["/tags"]


def test_many_unreadable_parts_give_one_sentence() -> None:
    """Three parts are named and the others counted."""
    reported = _told(opened(**{f"p{at}": {"type": "objekt"} for at in range(9)}))
    assert "/properties/p2" in reported
    assert "/properties/p3" not in reported
    assert "and 6 more places" in reported


def test_unwritable_names_are_skipped() -> None:
    """A name that JSON cannot represent does not affect other names."""
    schema = opened(n=INTEGER, **{"\ud800": INTEGER})
    schema["properties"][5] = INTEGER
    assert normalize(schema, {"n": "5"}).arguments == {"n": 5}


@each_row(
    "annotation",
    [{"title": None}, {"description": 5}, {"title": "\ud800"}, {"examples": 5}, {"x-own": "\ud800"}],
)
def test_broken_annotations_are_ignored(annotation: Json) -> None:
    """A broken annotation does not disable repairs."""
    assert normalize(opened(n={**INTEGER, **annotation}), {"n": "5"}).arguments == {"n": 5}


# --- real schemas and generated ones ------------------------------------------------------------------------


def _broken_value(schema: Json) -> tuple[str, Any, Any] | None:
    """Return the first ordinary parameter with a wrong value and its expected repair."""
    for name, sub in schema.get("properties", {}).items():
        if not isinstance(sub, dict):
            continue
        if sub.get("type") in ("integer", "number") and "enum" not in sub:
            number = sub.get("default") or sub.get("minimum", 1)
            return name, f" {number}", number
        if sub.get("type") == "boolean" and "enum" not in sub:
            return name, "true", True
        if sub.get("type") == "array" and sub.get("items") == STRING and "minItems" not in sub:
            return name, '["a", "b"]', ["a", "b"]
        if sub.get("type") == "string" and len(members := sub.get("enum", [])) > 1:
            return name, f" {members[0]} ", members[0]
    return None


@pytest.mark.skipif(not REAL, reason="the schemas of real tools are not at hand")
def test_real_schemas_are_fully_readable() -> None:
    """Real servers' schemas are fully readable, and a wrong value of an ordinary parameter is repaired."""
    tried = 0
    for schema in REAL:
        assert _unread(schema) == []
        broken = _broken_value(schema)
        if broken is not None:
            name, wrong, right = broken
            result = normalize({**schema, "required": []}, {name: wrong})
            assert result.arguments == {name: right}, (schema, result.violations)
            tried += 1
    assert tried > len(REAL) / 3


ODD: list[Json] = [
    *BROKEN.values(),
    *(
        {"minimum": 3, "exclusiveMinimum": True},
        {"type": "array", "items": [INTEGER, STRING]},
        {"type": "array", "items": [INTEGER], "additionalItems": False},
        {"type": "string", "required": True},
        {"type": "integer", "required": False},
        {"divisibleBy": 3},
        {"type": "any"},
        {"type": ["string", {"type": "integer"}]},
        {"type": "string", "nullable": True},
        {"$ref": "#/definitions/known", "nullable": True},
        {"dependencies": {"a": ["b"], "c": INTEGER}},
        {"disallow": ["string"]},
        {"extends": {"type": "string"}},
        {"id": "own", "type": "string"},
        {"$id": "own", "type": "string"},
        {"$anchor": "own", "type": "string"},
        {"$recursiveRef": "#"},
        {"$dynamicRef": "#"},
        {"$schema": DRAFT_4, "type": "string"},
        {"discriminator": {"propertyName": "kind"}, "type": "object"},
        {"definitions": {"x": {"type": "objekt"}}},
        {"format": 5},
    ),
]
ODD_TOP: list[Json] = [
    {"required": "n"},
    {"type": "objekt"},
    {"type": "any"},
    {"enum": {}},
    {"minProperties": "1"},
    {"nullable": True},
    {"patternProperties": {"(": {}}},
    {"additionalProperties": "false"},
    {"additionalItems": False},
    {"items": None},
    {"$ref": "#/definitions/none"},
    {"$ref": 5},
    {"$ref": "https://example.com/s.json"},
    {"$ref": "#"},
    {"allOf": [{"$ref": "#"}]},
    {"allOf": {}},
    {"anyOf": []},
    {"oneOf": [{"type": "objekt"}, {"required": ["n"]}]},
    {"not": {"type": "objekt"}},
    {"not": {"properties": {"n": {"type": "objekt"}}}},
    {"if": {"properties": {"n": {"type": "objekt"}}}, "then": False},
    {"dependencies": {"n": ["tags"]}},
    {"dependencies": {"n": {"type": "objekt"}}},
    {"dependencies": {"n": 5}},
    {"propertyNames": 5},
    {"id": "own"},
    {"$id": "own"},
    {"$schema": 5},
    {"$anchor": 5},
    {"extends": {"type": "object"}},
    {"disallow": "string"},
    {"title": None},
    {"$defs": []},
    {"definitions": {"x": {"type": "objekt"}}},
    {"unevaluatedProperties": "no"},
    {"default": float("nan")},
    {"examples": {}},
]
_PLACES = ("parameter", "item", "nested", "map", "branch", "allOf", "definition", "top")


def _generated(random: Random) -> Json:
    """Generate an ordinary schema that contains one odd schema."""
    odd = copy.deepcopy(random.choice(ODD))
    place = random.choice(_PLACES)
    schema = opened(n=INTEGER, tags=array(STRING), o=opened(m=INTEGER))
    schema["definitions"] = {"known": STRING}
    if random.random() < 0.3:
        schema["$schema"] = random.choice([DRAFT_4, DRAFT_7, "http://json-schema.org/schema#"])
    at = {
        "parameter": odd,
        "item": array(odd),
        "nested": opened(q=odd, r=INTEGER),
        "map": {"type": "object", "additionalProperties": odd},
        "branch": union(odd, {"type": "boolean"}),
        "allOf": {"allOf": [odd, {"description": "d"}]},
    }
    if place == "definition":
        schema["definitions"]["odd"] = odd
    elif place == "top":
        schema = {**schema, **copy.deepcopy(random.choice(ODD_TOP))}
        if "$ref" in schema:  # those dialects ignore properties next to it
            schema.pop("$schema", None)
    else:
        schema["properties"]["p"] = at[place]
    return schema


def _assert_the_rest_is_repaired(seed: int) -> None:
    schema = _generated(Random(seed))  # noqa: S311 - nothing is secret
    sent = {"n": "5", "tags": '["a"]', "o": {"m": "7"}}
    right = {"n": 5, "tags": ["a"], "o": {"m": 7}}
    if "p" in contract(schema).plan.tree.root.get("required", ()):
        sent, right = {**sent, "p": "a"}, {**right, "p": "a"}
    result = normalize(schema, sent)
    assert result.arguments == right, (seed, schema, result.violations)


def test_odd_keyword_disables_no_other_repair() -> None:
    """An odd keyword anywhere does not disable repairs elsewhere."""
    for seed in range(examples(250)):
        _assert_the_rest_is_repaired(seed)


def test_translated_schema_agrees_with_an_independent_validator() -> None:
    """Law 1: an independent validator of the translated schema agrees with ours."""
    for seed in range(examples(400)):
        random = Random(seed)  # noqa: S311 - as above
        schema = _generated(random)
        known = contract(schema)
        theirs = Draft202012Validator(dict(known.plan.tree.root), registry=Registry())
        ours = known.validator
        for _ in range(8):
            sent = {name: random.choice(VALUES) for name in random.sample(["p", "n", "tags", "o", "q"], 3)}
            assert ours.accepts(sent) == theirs.is_valid(sent), (seed, schema, sent)
            assert ours.accepts(sent) == (ours.faults(sent) == ())


@pytest.mark.parametrize("keyword", ["anyOf", "allOf", "oneOf"])
def test_exploding_references_are_not_followed(keyword: str) -> None:
    """References that multiply exponentially are not followed, and the rest is validated."""
    definitions: Json = {f"d{at}": {keyword: [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(40)}
    schema = {**opened(p={"$ref": "#/$defs/d0"}, n=INTEGER), "$defs": {**definitions, "d40": INTEGER}}
    assert "expand" in _told(schema)
    for value in (1, "no"):
        result = normalize(schema, {"p": value, "n": "5"})
        assert (result.arguments, result.violations) == ({"p": value, "n": 5}, ())


def test_schema_object_that_contains_itself_is_readable() -> None:
    """A Python dict that contains itself is read to the depth limit."""
    schema = opened(n=INTEGER)
    schema["properties"]["a"] = schema
    assert normalize(schema, {"n": "5", "a": {"n": "6"}}).arguments == {"n": 5, "a": {"n": 6}}


def test_property_of_many_parts_is_merged() -> None:
    """A property that 200 parts of ``allOf`` declare combines all of them."""
    schema = {"allOf": [opened(a={**INTEGER, "maximum": 300 - at}) for at in range(200)]}
    assert normalize(schema, {"a": "7"}).arguments == {"a": 7}
    assert normalize(schema, {"a": "150"}).violations


_OLD_WORDS = frozenset(
    "$id $anchor $dynamicAnchor $recursiveRef $defs definitions nullable x-nullable divisibleBy id".split()
)
_WORDS = st.sampled_from(sorted({*Draft202012Validator.VALIDATORS, *Draft4Validator.VALIDATORS, *_OLD_WORDS}))
_ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["string", "integer", "objekt", "#", "#/properties/p", "#/$defs/a", "#a", "(", "any"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_WORDS | st.sampled_from(["a", "p"]), inner, max_size=3)
        | st.dictionaries(_WORDS, inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=examples(400), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.dictionaries(_WORDS, _ANY, max_size=4), _ANY, st.dictionaries(st.sampled_from("apn"), _ANY, max_size=3)
)
def test_no_schema_raises(above: Json, parameter: Any, sent: Json) -> None:
    """Law 7: any JSON object works as a schema, whatever its keywords and references."""
    properties = {"p": parameter, "n": INTEGER}
    normalize({"properties": properties, **above}, sent)
    rest = {
        key: value for key, value in above.items() if key in ("$defs", "definitions", "items", "contains")
    }
    result = normalize({"properties": properties, **rest}, {"n": "5"})
    if "p" not in contract({"properties": properties}).plan.tree.root.get("required", ()):
        assert result.arguments == {"n": 5}
