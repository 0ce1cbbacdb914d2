"""Publish a schema in another form, and read values back, without a server."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schema_shapes import SHAPES, parameters
from strategies import LAW, examples, same_json, schemas, values
from tables import each_row

from fuzz.choices import Choices
from fuzz.published import check
from mcp_lenient import Policy, normalize
from mcp_lenient.errors import PolicyError
from mcp_lenient.portable import FORMS, Form, publish, read_back
from mcp_lenient.portable.codecs import CannotSayError
from mcp_lenient.portable.provider_limits import ListedTool, providers, rejections

Json = dict[str, Any]


def accepts(schema: Json, value: Any) -> bool:
    """Return whether a schema accepts the arguments as they are."""
    return not normalize(schema, value, Policy.strict()).violations


@each_row("schema, authors, said", [pytest.param(*row, id=name) for name, row in SHAPES.items()])
def test_a_value_is_said_and_read_back(schema: Json, authors: Json, said: Json):
    """The portable form says an author's value in its own words, accepts them, and reads them back."""
    published = publish(schema, "portable")
    assert published.say(authors) == said
    assert accepts(published.schema, said)
    assert read_back(published, said).arguments == authors
    assert (
        read_back(published, authors).arguments is authors
        or read_back(published, authors).arguments == authors
    )


@pytest.mark.parametrize("form", [form for form in FORMS if form in providers()])
def test_no_provider_rejects_its_own_form(form: str):
    """What a form publishes breaks none of the limits of its provider, but for tools that cannot have it."""
    for name, (schema, *_) in SHAPES.items():
        published = publish(schema, form)
        broken = [] if published.lost else rejections([ListedTool("tool", published.schema)], form)
        assert not broken, (name, broken)


def test_the_portable_form_breaks_no_limit():
    """No provider or client but strict modes, Groq and Ollama rejects or ignores anything of the portable form."""
    for name, (schema, *_) in SHAPES.items():
        published = publish(schema, "portable").schema
        for of in set(providers(strict=False)) - {"groq", "ollama"}:
            assert not rejections([ListedTool("tool", published)], of), (name, of)


def test_a_name_of_a_pattern_can_be_said_in_a_form_without_patterns():
    """A form that leaves the patterns of names out does not forbid the names."""
    members = {"properties": {"m": {}}, "patternProperties": {"^x-": {"type": "integer"}}}
    schema = {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": False, **members}]}
    published = publish({"type": "object", "properties": {"p": schema}}, "moonshot")
    assert read_back(published, published.say({"p": {"m": None, "x-a": 1}})).arguments == {
        "p": {"m": None, "x-a": 1}
    }


@given(st.data())
@LAW
def test_every_value_is_expressible_and_read_back(data: st.DataObject):
    """What the author's schema accepts can be said in each form, is valid there, and is read back as it was."""
    schema = data.draw(schemas())
    form = data.draw(st.sampled_from(sorted(FORMS)))
    published = publish(schema, form)
    value = data.draw(values(schema, schema))
    if not accepts(schema, value):
        return
    try:
        said = published.say(value)
    except CannotSayError:
        assert published.form.closed  # undeclared names cannot be said where others are forbidden
        return
    read = read_back(published, said)
    assert not read.unreadable
    assert same_json(without_nulls(read.arguments), without_nulls(value))
    assert same_json(without_nulls(read_back(published, value).arguments), without_nulls(value))


class DrawnChoices(Choices):
    """Choices that Hypothesis makes, so that it finds the smallest call that breaks a law."""

    __slots__ = ("_draw",)

    def __init__(self, data: st.DataObject) -> None:
        super().__init__(b"")
        self._draw = data.draw

    def below(self, bound: int) -> int:
        """Return a number from 0 to below ``bound``."""
        return self._draw(st.integers(0, bound - 1))


@given(st.data())
@settings(max_examples=examples(100), deadline=None, suppress_health_check=list(HealthCheck))
def test_an_accepted_call_is_never_changed(data: st.DataObject):
    """What the author's schema accepts stays as sent under each form, and is read back as it was said; the page lists exceptions."""
    check(DrawnChoices(data))


TEXTS: Json = {"type": "object", "additionalProperties": {"type": "string"}}
ENTRY = {"key": "env", "value": "prod"}
RENAMED: Json = {"type": "object", "properties": {"a[x]": {"type": "integer"}}}


@each_row(
    "form, schema, sent",
    [
        pytest.param(
            "portable", {"anyOf": [{"type": "array", "items": TEXTS}, TEXTS]}, [ENTRY], id="list_of_entries"
        ),
        pytest.param("gemini", {"anyOf": [TEXTS, {"type": "array"}]}, [ENTRY], id="map_first"),
        pytest.param("vertex", {"type": ["object", "array"], "items": TEXTS}, [ENTRY], id="type_list"),
        pytest.param(
            "portable", {"anyOf": [{"type": "object"}, {"type": "string"}]}, "{}", id="text_of_an_object"
        ),
        pytest.param("groq", {}, None, id="any_value"),
        pytest.param(
            "openai-strict", {"type": ["string", "null"], "default": "a"}, None, id="null_with_default"
        ),
        pytest.param(
            "portable", {"anyOf": [RENAMED, parameters(a_x={})]}, {"a_x": 1}, id="renamed_in_a_union"
        ),
        pytest.param(
            "groq",
            {"anyOf": [parameters(a={"type": "string"}, b={}), {}]},
            {"a": None, "b": 1},
            id="null_in_a_union",
        ),
        pytest.param(
            "gemini",
            {
                "type": "object",
                "properties": {},
                "anyOf": [parameters(a=TEXTS), parameters(b={"type": "string"})],
            },
            {"a": [ENTRY], "b": "c"},
            id="alternative_properties",
        ),
    ],
)
def test_what_another_branch_takes_is_not_changed(form: str, schema: Json, sent: Any):
    """A value that looks as if it were said in the form, and that the author's schema accepts, stays as it is."""
    tool = {"type": "object", "properties": {"x": schema}}
    assert accepts(tool, {"x": sent})
    assert read_back(publish(tool, form), {"x": sent}).arguments == {"x": sent}


def test_a_key_that_is_there_twice_stays():
    """Entries with a key twice cannot be read, and stay as they were sent, so that no value is lost where they are forwarded."""
    sent = {"x": [ENTRY, {**ENTRY, "value": "test"}]}
    read = read_back(publish(parameters(x=TEXTS), "portable"), sent)
    assert read.unreadable
    assert read.arguments == sent


HEADER = {"type": "string", "x-mcp-header": "Tenant"}


@each_row("form", sorted(FORMS))
@each_row("name", ["tenant", "$tenant", "anyOf"])
@each_row("required", [[], ["x"]])
def test_a_parameter_that_a_header_repeats_stays(form: str, name: str, required: list[str]):
    """Each form keeps the keyword, the name, the place and the single type of such a parameter, which the SDK looks at."""
    schema: Json = {"type": "object", "properties": {name: HEADER, "more": {"maxProperties": 1}}}
    schema["required"] = [name] if required else []
    published = publish(schema, form)
    listed = published.schema["properties"][name]
    assert (listed["type"], listed["x-mcp-header"]) == ("string", "Tenant")
    assert published.say({name: "a"})[name] == "a"


def test_a_header_of_an_optional_parameter_leaves_no_strict_form():
    """OpenAI's strict mode needs null for what is left out, which a parameter with a header cannot have."""
    published = publish({"type": "object", "properties": {"tenant": HEADER}}, "openai-strict")
    assert published.lost == "at /properties/tenant, a header has the value, which cannot be null"


@each_row("form", sorted(FORMS))
@each_row(
    "schema",
    [
        {"type": ["object", "null"], "properties": {"depth": {"type": "integer"}}},
        {"type": ["array", "null"], "items": parameters(depth={"type": "integer"})},
        {
            "type": "object",
            "properties": {"depth": {"type": "integer"}},
            "anyOf": [{"required": ["depth"]}, {}],
        },
        {"items": parameters(depth={"type": "integer"}), "anyOf": [{"type": "array"}, {"type": "null"}]},
    ],
)
def test_what_is_in_a_container_is_published(form: str, schema: Json):
    """The properties and items of a place with several types, or beside a union, are published."""
    assert "depth" in str(publish(parameters(x=schema), form).schema)
    if "properties" in schema:
        assert "depth" in str(publish({**schema, "type": "object"}, form).schema)


def without_nulls(value: Any) -> Any:
    """Return a value without the names whose value is null."""
    if isinstance(value, dict):
        return {name: without_nulls(each) for name, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


@given(st.data())
@LAW
def test_the_tolerant_form_takes_what_the_author_takes(data: st.DataObject):
    """A client that validates by the form ``tolerant`` sends each call that the author's schema accepts."""
    schema = data.draw(schemas())
    value = data.draw(values(schema, schema))
    assert accepts(publish(schema, "tolerant").schema, value) or not accepts(schema, value)


LIMITED: Json = {"type": "integer", "minimum": 1, "description": "How many."}
FIXED: Json = {"type": "object", "properties": {"a": {"enum": [1]}}, "required": ["a"]}


@each_row(
    ("schema", "published"),
    [
        (LIMITED, {"type": ["integer", "string"], "description": "How many. (minimum: 1)"}),
        ({"type": "string", "enum": ["a", "b"]}, {"type": "string", "description": '(enum: ["a", "b"])'}),
        ({"const": 5}, {"type": ["integer", "string"], "description": "(const: 5)"}),
        ({"enum": [1, None]}, {"type": ["integer", "null", "string"], "description": "(enum: [1, null])"}),
        ({"$ref": "#/$defs/Fixed"}, {**FIXED, "type": ["object", "string"]}),
        (
            {"anyOf": [{"type": "array", "items": LIMITED}, {"type": "integer", "items": {}, "maximum": 2}]},
            {"items": LIMITED, "type": ["array", "integer", "string"], "description": "(maximum: 2)"},
        ),
        ({"anyOf": [FIXED, FIXED]}, {"anyOf": [FIXED, FIXED, {"type": "string"}]}),
        (
            {"allOf": [LIMITED], "title": "N"},
            {"title": "N", "anyOf": [{"allOf": [LIMITED]}, {"type": "string"}]},
        ),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"description": "Anything."}, {"description": "Anything."}),
        ({"type": "integer", "x-mcp-header": "N", "maximum": 3},) * 2,
    ],
)
def test_a_parameter_in_the_tolerant_form(schema: Json, published: Json):
    """A parameter may also be a text; what it must be is described, and what is inside it stays."""
    closed = {**parameters(x=schema), "additionalProperties": False, "$defs": {"Fixed": FIXED}}
    listed = publish(closed, "tolerant").schema
    assert listed == {**parameters(x=published), "$defs": {"Fixed": FIXED}}


def test_an_optional_parameter_may_be_null_in_the_tolerant_form():
    """Many models send null for what they leave out."""
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "default": 1}, "at": {"anyOf": [FIXED, FIXED]}},
    }
    assert publish(schema, "tolerant").schema["properties"] == {
        "n": {"type": ["integer", "string", "null"], "default": 1},
        "at": {"anyOf": [FIXED, FIXED, {"type": "string"}, {"type": "null"}]},
    }


@each_row(
    "junk", [{"anyOf": 5}, {"enum": 3}, {"type": [["x"]]}, {"type": "text"}, {"oneOf": [None]}, {"$ref": 1}]
)
def test_the_tolerant_form_of_a_broken_schema(junk: Json):
    """A keyword with a value that it cannot have stays in a branch of its own, and no list raises."""
    schema = {"type": "object", "properties": {"x": junk}, "required": True}
    ways = [junk, {"type": "string"}, {"type": "null"}]
    assert publish(schema, "tolerant").schema["properties"]["x"] == {"anyOf": ways}


def test_a_form_of_ones_own_may_be_tolerant():
    """A form is made first, and then loosened."""
    form = Form(name="mine", maps=False, tolerant=True)
    published = publish(parameters(labels=TEXTS), form)
    assert published.schema["properties"]["labels"]["type"] == ["array", "string"]
    assert read_back(published, {"labels": [ENTRY]}).arguments == {"labels": {"env": "prod"}}


@given(schemas(), st.sampled_from(sorted(FORMS)))
@LAW
def test_publishing_twice_changes_nothing(schema: Json, form: str):
    """A published schema has its form already, except where null has added levels to a deep one."""
    once = publish(schema, form).schema
    again = publish(once, form)
    is_deeper = any(change.name == "deep_to_json_text" for change in again.changes)
    assert again.schema == once or again.lost or is_deeper


def test_a_schema_that_has_the_form_is_the_same_object():
    """Nothing is copied where nothing changes."""
    schema = parameters(name={"type": "string"})
    assert publish(schema, "anthropic").schema is schema
    assert publish(schema, "unchanged").schema is schema


def test_a_form_of_ones_own():
    """A form is data: what it does not name stays."""
    form = Form(name="mine", without=frozenset({"pattern"}))
    schema = parameters(code={"type": "string", "pattern": "^a+$", "minLength": 1})
    assert publish(schema, form).schema["properties"]["code"] == {
        "type": "string",
        "minLength": 1,
        "description": "(pattern: ^a+$)",
    }


def test_a_strict_form_that_would_lose_calls_is_left_out():
    """Where null and absence differ, a form that needs every name leaves the tool as it is, and says why."""
    schema = {"type": "object", "properties": {"n": {"type": ["integer", "null"], "default": 5}}}
    published = publish(schema, "openai-strict")
    assert published.schema is schema
    assert published.lost == "at /properties/n, null and leaving it out mean different things"


def test_an_unknown_form_is_an_error():
    """The forms are named."""
    with pytest.raises(PolicyError, match="publish must be one of"):
        publish({}, "gemeni")


def wide(levels: int) -> Json:
    """Return definitions of which each has the next one twice, so that inlining them doubles at each level."""
    below = {
        f"N{level}": {
            "type": "object",
            "properties": {key: {"$ref": f"#/$defs/N{level + 1}"} for key in "ab"},
        }
        for level in range(levels)
    }
    return {**parameters(top={"$ref": "#/$defs/N0"}), "$defs": {**below, f"N{levels}": {"type": "string"}}}


def deep(levels: int) -> Json:
    """Return lists of lists."""
    schema: Json = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return parameters(top=schema)


ENDLESS: Json = parameters(x={"allOf": [{"anyOf": [{"type": "null"}, {}, {}, {}]}, {"$ref": "#"}]})


@each_row("schema", [wide(40), deep(150), {"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, ENDLESS])
@each_row("form", sorted(FORMS))
def test_hostile_schemas_stay_small(schema: Json, form: str):
    """References that double, deep nesting and references to themselves neither stall nor explode."""
    assert len(str(publish(schema, form).schema)) < 4_000_000


def test_a_deep_optional_in_a_strict_form_may_be_null():
    """What is JSON text because it is deep may still be left out, where that is said by null."""
    optional = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}], "default": None}
    schema: Json = parameters(deep=optional, name={"type": "string"})
    value: Json = {"name": "a"}
    for _ in range(FORMS["openai-strict"].deepest - 1):
        schema, value = parameters(below=schema), {"below": value}
    published = publish(schema, "openai-strict")
    said = published.say(value)
    assert "deep_to_json_text" in {change.name for change in published.changes}
    assert accepts(published.schema, said)
    assert read_back(published, said).arguments == value


def test_a_definition_in_a_list_within_itself_is_read_back():
    """What differs in a definition that contains itself differs at each level, also in lists of a union."""
    node = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "parts": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/N"}}, {"type": "null"}]},
        },
    }
    published = publish({**parameters(top={"$ref": "#/$defs/N"}), "$defs": {"N": node}}, "groq")
    sent = {"top": {"name": None, "parts": [{"name": None, "parts": []}]}}
    assert read_back(published, sent).arguments == {"top": {"parts": [{"parts": []}]}}


def test_keywords_are_described_in_their_order():
    """The description of a published schema is the same in each process."""
    schema = {**parameters(a={}), "then": {"required": ["a"]}, "if": {"minProperties": 1}, "else": True}
    described = publish(schema, "anthropic").schema["description"]
    assert described == '(then: {"required": ["a"]}) (if: {"minProperties": 1}) (else: true)'
