"""Test normalizers that Pydantic runs: accepted values, published schemas, error locations."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Optional

import pytest
from declare.normalizers.marked import TYPES, VALUES, Node, Point, same
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    TypeAdapter,
    ValidationError,
)
from tables import each_row

from mcp_lenient.declare.normalizers.annotation import annotated_normalizers
from mcp_lenient.errors import NormalizationError, SchemaError
from mcp_lenient.normalizers import (
    clamp,
    default_on_null,
    from_function,
    lower,
    null_as,
    parse_json,
    split,
    strip,
    tags,
    upper,
)


def outcome(adapter, value, mode):
    """Return the validated value, or the errors and their locations."""
    try:
        if mode == "lax":
            result = adapter.validate_python(value)
        elif mode == "lax-json":
            result = adapter.validate_json(json.dumps(value))
        else:
            result = adapter.validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        return [
            (each["type"], each["loc"], each["msg"], repr(each["input"]))
            for each in error.errors(include_url=False)
        ]
    return type(result), repr(result)


@each_row("mode", ["lax", "lax-json", "strict-json"])
@each_row("kind", TYPES)
def test_annotated_type_accepts_the_same(kind, mode):
    """An annotated type accepts the values of the plain one, and refuses others with the same errors."""
    plain = TypeAdapter(kind)
    marked = TypeAdapter(Annotated[kind, from_function(same)])
    for value in VALUES:
        assert outcome(marked, value, mode) == outcome(plain, value, mode), value


@each_row("mode", ["validation", "serialization"])
@each_row("kind", TYPES)
def test_json_schema_is_unchanged(kind, mode):
    """The JSON schema is the same, byte for byte."""

    class Plain(BaseModel):
        field: kind

    class Marked(BaseModel):
        field: Annotated[kind, strip()]

    plain = TypeAdapter(list[kind]).json_schema(mode=mode)
    marked = TypeAdapter(list[Annotated[kind, strip()]]).json_schema(mode=mode)
    assert json.dumps(marked) == json.dumps(plain)
    plain, marked = Plain.model_json_schema(mode=mode), Marked.model_json_schema(mode=mode)
    assert json.dumps(marked).replace("Marked", "Plain") == json.dumps(plain)


@each_row("round_trip", [False, True])
@each_row("kind", TYPES)
def test_serialization_is_unchanged(kind, round_trip):
    """A validated value is serialized as without the annotation."""
    plain = TypeAdapter(kind)
    marked = TypeAdapter(Annotated[kind, strip()])
    for value in VALUES:
        try:
            valid = plain.validate_python(value)
        except ValidationError:
            continue
        if isinstance(valid, float) and valid in {float("inf"), float("-inf")}:
            continue
        wanted = plain.dump_json(valid, round_trip=round_trip)
        assert marked.dump_json(valid, round_trip=round_trip) == wanted
        assert repr(marked.dump_python(valid, round_trip=round_trip)) == repr(
            plain.dump_python(valid, round_trip=round_trip)
        )


CONSTRAINED = [
    pytest.param(str, Field(max_length=3, min_length=1), "abcd", id="text-length"),
    pytest.param(list[int], Field(max_length=3, min_length=1), [1, 2, 3, 4], id="list-length"),
    pytest.param(dict[str, int], Field(min_length=1), {}, id="dict-length"),
    pytest.param(int, Field(ge=1, lt=10), 10, id="int-bounds"),
    pytest.param(int | float, Field(ge=1), 0, id="union-bounds"),
    pytest.param(int | None, Field(description="a number", examples=[1]), "a", id="nullable-words"),
    pytest.param(Point, Field(description="a place"), {}, id="model-words"),
]


@each_row("strict", [False, True])
@each_row(("kind", "field", "bad"), CONSTRAINED)
def test_normalizer_may_come_before_or_after_a_constraint(kind, field, bad, strict):
    """A normalizer may come before or after a constraint."""
    plain = TypeAdapter(Annotated[kind, field])
    for marked in (Annotated[kind, field, strip()], Annotated[kind, strip(), lower(), field]):
        adapter = TypeAdapter(marked)
        assert json.dumps(adapter.json_schema()) == json.dumps(plain.json_schema())
        with pytest.raises(ValidationError) as refused:
            adapter.validate_json(json.dumps(bad), strict=strict)
        with pytest.raises(ValidationError) as wanted:
            plain.validate_json(json.dumps(bad), strict=strict)
        assert [each["loc"] for each in refused.value.errors()] == [
            each["loc"] for each in wanted.value.errors()
        ]


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        pytest.param(list[int] | None, Field(max_length=3), id="nullable"),
        pytest.param(str, Field(pattern="^a"), id="pattern"),
        pytest.param(Decimal, Field(ge=1), id="decimal"),
        pytest.param(datetime, Field(gt=datetime(2024, 1, 1)), id="datetime"),  # noqa: DTZ001
    ],
)
def test_constraint_after_a_normalizer_may_be_refused(kind, field):
    """If Pydantic would check or publish a constraint wrongly, an error asks the author to move it."""
    with pytest.raises(SchemaError, match="belong before it"):
        TypeAdapter(Annotated[kind, strip(), field]).json_schema()
    schema = TypeAdapter(Annotated[kind, field, strip()]).json_schema()
    assert schema == TypeAdapter(Annotated[kind, field]).json_schema()


def test_other_validators_still_run():
    """An author's own validators run in their order around the normalizer."""
    kind = Annotated[
        str, AfterValidator(lambda text: text + "!"), strip(), BeforeValidator(lambda text: text + " ")
    ]
    adapter = TypeAdapter(kind)
    assert adapter.validate_python(" a ") == "a!"
    assert adapter.json_schema() == {"type": "string"}


def test_normalizers_run_from_left_to_right():
    """Several normalizers run from left to right, even with other metadata between them."""
    first, second = from_function(lambda text: text + "1"), from_function(lambda text: text + "2")
    for kind in (Annotated[str, first, second], Annotated[str, first, Field(description="text"), second]):
        adapter = TypeAdapter(kind)
        assert adapter.validate_python("") == "12"
        assert adapter.validate_json('""', strict=True) == "12"


@pytest.mark.parametrize("read", ["python", "strict-json"])
def test_normalizers_run_inside_types(read):
    """A normalizer works on items, values, union members and fields of nested models."""

    class Inner(BaseModel):
        labels: Annotated[list[str] | None, tags()] = None
        when: Annotated[datetime | None, strip()] = None

    class Outer(BaseModel):
        inner: list[Inner]
        either: Annotated[int, clamp(1, 5)] | list[Annotated[str, upper()]] = 1

    value = {"inner": [{"labels": "a", "when": "2024-01-31T10:00:00"}], "either": ["b"]}
    if read == "python":
        found = Outer.model_validate(value)
    else:
        found = Outer.model_validate_json(json.dumps(value), strict=True)
    assert found.inner[0].labels == ["a"]
    assert found.inner[0].when == datetime(2024, 1, 31, 10)  # noqa: DTZ001
    assert found.either == ["B"]
    assert Outer.model_validate({"inner": [], "either": 9}).either == 5


def test_recursive_models_may_be_annotated():
    """A model may be annotated inside itself."""

    class Tree(BaseModel):
        name: Annotated[str, strip()]
        below: Annotated[list[Tree], parse_json("array")] = []

    Tree.model_rebuild(_types_namespace={"Tree": Tree})
    tree = Tree.model_validate({"name": " a ", "below": '[{"name": " b ", "below": "[]"}]'})
    assert tree.below[0].name == "b"
    schema = Tree.model_json_schema()
    assert schema["$defs"]["Tree"]["properties"]["below"] == {
        "default": [], "items": {"$ref": "#/$defs/Tree"}, "title": "Below", "type": "array",
    }  # fmt: skip


def test_discriminated_unions_may_be_annotated():
    """In a model field, a union may be annotated before or after its discriminator."""

    class Model(BaseModel):
        one: Annotated[Point | Node, Field(discriminator="kind"), parse_json()]
        two: Annotated[Point | Node, parse_json(), Field(discriminator="kind")]

    model = Model.model_validate({"one": '{"kind": "point", "x": 1}', "two": {"kind": "node"}})
    assert model == Model(one=Point(x=1), two=Node())
    properties = Model.model_json_schema()["properties"]
    assert properties["one"]["discriminator"] == properties["two"]["discriminator"]


@pytest.mark.parametrize("strict", [False, True])
def test_refusal_is_an_error_of_its_own_type(strict):
    """A refusal has its own error type, location, code and message."""
    adapter = TypeAdapter(dict[str, list[Annotated[list[str] | None, tags()]]])
    with pytest.raises(ValidationError) as refused:
        adapter.validate_json('{"a": [null, 5]}', strict=strict)
    (error,) = refused.value.errors(include_url=False)
    assert error["type"] == "mcp_lenient_normalization"
    assert error["loc"] == ("a", 1)
    assert error["input"] == 5
    assert error["ctx"]["code"] == "INVALID_{PARAMETER}_TYPE"
    assert error["msg"] == error["ctx"]["message"] == "send an array of strings or null"


@pytest.mark.parametrize("message", ["{code} and {x}", "\ud800", "", "标签"])
def test_any_message_is_reported(message):
    """An author's message is reported unchanged, except for characters that UTF-8 cannot encode."""

    def refuse(_value):
        code = "MY_CODE"
        raise NormalizationError(code, message)

    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Annotated[str, from_function(refuse)]).validate_python("a")
    (error,) = refused.value.errors()
    assert error["msg"] == message.encode("utf-8", "backslashreplace").decode()
    assert error["ctx"]["code"] == "MY_CODE"


def test_other_exceptions_are_handled_by_pydantic():
    """Other exceptions of a callable are handled as Pydantic handles them in any validator."""
    with pytest.raises(ZeroDivisionError):
        TypeAdapter(Annotated[int, from_function(lambda value: 1 // value)]).validate_python(0)
    with pytest.raises(ValidationError, match="Value error"):
        TypeAdapter(Annotated[int, from_function(int)]).validate_python("a")


def test_non_json_values_pass():
    """In Python mode, values that are not JSON are accepted, such as a tuple or a model."""
    point = Point(x=1)
    assert TypeAdapter(Annotated[Point, parse_json()]).validate_python(point) is point
    assert TypeAdapter(Annotated[list[str], tags()]).validate_python(("a", "b")) == ["a", "b"]
    assert TypeAdapter(Annotated[datetime, strip()]).validate_python(datetime(2024, 1, 31)).day == 31  # noqa: DTZ001


def test_callable_may_return_non_json_values():
    """On a strict server too, a callable may return a date or a model for a type that accepts its JSON."""
    adapter = TypeAdapter(Annotated[date, from_function(lambda _: date(2024, 1, 31))])
    assert adapter.validate_json('"today"', strict=True) == date(2024, 1, 31)
    adapter = TypeAdapter(Annotated[Point, from_function(lambda _: Point(x=1))])
    assert adapter.validate_json("null", strict=True) == Point(x=1)


def test_defaults_are_not_normalized():
    """A default is not normalized. A null that stands for the default gives a new copy of it."""

    class Model(BaseModel):
        name: Annotated[str, upper()] = "a"
        limit: Annotated[int, default_on_null()] = 10
        items: Annotated[list[int], default_on_null()] = []
        made: Annotated[list[int], default_on_null()] = Field(default_factory=lambda: [1])
        kept: Annotated[int | None, null_as(3)] = None

    for model in (
        Model.model_validate({"limit": None, "items": None, "made": None, "kept": None}),
        Model.model_validate_json('{"limit": null, "items": null, "made": null, "kept": null}', strict=True),
    ):
        assert model.model_dump() == {"name": "a", "limit": 10, "items": [], "made": [1], "kept": 3}
    assert Model().kept is None
    assert Model.model_json_schema()["properties"]["limit"] == {
        "default": 10, "title": "Limit", "type": "integer",
    }  # fmt: skip


def test_null_of_another_normalizer_gives_the_default():
    """A null that another normalizer returns also gives the default."""

    class Model(BaseModel):
        items: Annotated[list[str], split(), default_on_null()] = ["x"]

    assert Model(items="null").items == ["x"]
    assert Model(items="a,b").items == ["a", "b"]


def test_an_optional_around_any_keeps_its_normalizers():
    """Python 3.10 adds an Optional to ``Annotated[Any, ...]`` of a parameter with default None."""
    assert annotated_normalizers(Optional[Annotated[Any, strip()]]) == (strip(),)  # noqa: UP045
