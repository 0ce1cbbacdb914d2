"""What is read of a value where the tool's own validator says what is wrong with it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from fastmcp.tools import FunctionTool, Tool
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)

from mcp_lenient.adapters.fastmcp.tools import FunctionValidator
from mcp_lenient.engine.plan import Plan
from mcp_lenient.engine.repair import repair
from mcp_lenient.rules.policy import Policy
from mcp_lenient.types import Outcome


def _outcome(annotation: Any, value: Any, *, strict: bool = False) -> Outcome:
    """What becomes of a call of a function with one parameter of this type."""

    def typed(x: Any) -> None: ...

    typed.__annotations__["x"] = annotation
    tool = Tool.from_function(typed)
    assert isinstance(tool, FunctionTool)
    return repair(Plan(tool.parameters, Policy()), {"x": value}, FunctionValidator(tool, strict=strict))


def _mended(annotation: Any, value: Any, *, strict: bool = False) -> tuple[Any, ...]:
    """What the one parameter becomes, and the repairs that make it so."""
    outcome = _outcome(annotation, value, strict=strict)
    assert outcome.status == "repaired", outcome
    return outcome.arguments["x"], *((each.rule, each.pointer) for each in outcome.repairs)


class Named(BaseModel):
    """What a text alone would not be enough for."""

    name: str
    count: int


class Whole(BaseModel):
    """Told by its type, which is also that of a value in a wrapper."""

    type: Literal["object"]
    amount: int


class Text(BaseModel):
    """The other one."""

    type: Literal["text"]
    text: str


class Full(BaseModel):
    """Its schema asks for two of its fields."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 2})

    on: bool
    off: bool = False
    share: float = 1.0


class Words(BaseModel):
    """Words that the author splits at blanks."""

    words: Annotated[
        list[str], BeforeValidator(lambda value: value.split() if isinstance(value, str) else value)
    ]
    count: int


class Spoken(Words):
    """Told by its kind."""

    kind: Literal["spoken"]


class Silent(BaseModel):
    """The other one."""

    kind: Literal["silent"]


class Range(BaseModel):
    """Its end is looked at beside its start."""

    start: int
    end: str

    @field_validator("end")
    @classmethod
    def _has_start(cls, end: str, info: ValidationInfo) -> str:
        assert "start" in info.data, "must have a start"
        return end


class Known(BaseModel):
    """A field that another name reaches, which no schema tells."""

    model_config = ConfigDict(extra="forbid")

    count: int
    tags: list[str] = Field(default=[], validation_alias=AliasChoices("tags", "tgas"))


class Flags(BaseModel):
    """Its first field is named as the parameter is."""

    x: dict[str, bool] = {}
    b: int = 0


def _named(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _flat(value: Any) -> Any:
    assert not isinstance(value, dict), "must be flat"
    return value


def _untyped(value: dict[str, Any]) -> dict[str, Any]:
    assert "type" not in value, "must not tell its type"
    return value


def _without_text(value: Any) -> Any:
    assert not any(isinstance(each, str) for each in value), "must not hold texts"
    return value


def _without_integers(value: Any) -> Any:
    within = value.get("x") if isinstance(value, dict) else None
    assert not isinstance(within, dict) or all(type(each) is bool for each in within.values()), (
        "must be flags"
    )
    return value


def _without_words(value: Any) -> Any:
    assert not isinstance(value, dict) or "yes" not in value.values(), "must not hold words"
    return value


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        pytest.param(
            list[Annotated[dict[str, Any], AfterValidator(_untyped)]],
            [{"type": "object", "value": {"a": 1}}],
            id="an item",
        ),
        pytest.param(
            Whole | Text | dict[str, Annotated[Any, AfterValidator(_flat)]],
            {"type": "object", "value": {"a": 1}},
            id="within an object",
        ),
    ],
)
def test_what_the_schema_takes_is_no_wrapper(annotation, value):
    """A value that the schema takes and the author refuses is not made into one that the author takes."""
    outcome = _outcome(annotation, value)
    assert (outcome.status, outcome.arguments, outcome.repairs) == ("refused", {"x": value}, ())


def test_only_what_is_wrong_within_is_looked_at():
    """A field that the validator refuses is put right in its place; the object around it is taken for no wrapper."""
    found = _mended(Flags, {"x": {"b": 1}}, strict=True)
    assert found == ({"x": {"b": True}}, ("integer_to_boolean", "/x/x/b"))


def test_a_field_that_the_validator_takes_stays_where_null_may_stand():
    """In a model or null, too, a field that only the author's validator takes is as it was sent."""
    found = _mended(Words | None, {"words": "a b", "count": "1e3"})
    assert found == ({"words": "a b", "count": 1000}, ("text_to_integer", "/x/count"))


def test_an_object_that_is_refused_as_a_whole_may_be_a_wrapper():
    """Where the author refuses an object and no field of it, it may be a wrapper of its own name as well."""
    sent = {"x": {"b": 1}}
    outcome = _outcome(Annotated[Flags, BeforeValidator(_without_integers)], sent)
    assert (outcome.status, [tie.path for tie in outcome.ties]) == ("refused", [("x",)])
    assert [reading.value for reading in outcome.ties[0].readings] == [{"x": {"b": True}}, {"b": 1}]


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        pytest.param(
            {"kind": "spoken", "words": "a b", "count": "1e3"},
            {"kind": "spoken", "words": "a b", "count": 1000},
            id="the kind as it is",
        ),
        pytest.param(
            {"kind": "Spoken", "words": ["a"], "count": "1e3"},
            {"kind": "spoken", "words": ["a"], "count": 1000},
            id="the kind in another case",
        ),
    ],
)
def test_the_validator_has_its_say_once_the_kind_is_known(sent, expected):
    """Of the kind that was sent only what is refused is read by the schema; of one that was repaired, all of it."""
    assert _mended(Annotated[Spoken | Silent, Field(discriminator="kind")], sent)[0] == expected


def test_a_value_of_no_branch_is_read_by_all():
    """A text of which the author's validator makes an object that lacks a name is read by what the schema declares."""
    found = _mended(Annotated[Named, BeforeValidator(_named)] | None, "null")
    assert found == (None, ("null_text_to_null", "/x"))


def test_an_object_for_a_list_is_read_by_the_schema():
    """Where the author makes a list of an object and refuses a field, the object is read as the schema has it."""
    one = Annotated[list[Named], BeforeValidator(lambda value: [value] if isinstance(value, dict) else value)]
    found = _mended(one, {"name": "a", "count": "1e3"})
    assert found == (
        [{"name": "a", "count": 1000}],
        ("object_to_array", "/x"),
        ("text_to_integer", "/x/0/count"),
    )


def test_a_list_that_is_refused_as_a_whole_is_read_throughout():
    """Where the author refuses a list and no item of it, each item is held to the schema."""
    found = _mended(Annotated[list[int], BeforeValidator(_without_text)], ["1", 2, "3"])
    assert found == ([1, 2, 3], ("text_to_integer", "/x/0"), ("text_to_integer", "/x/2"))


def test_items_of_a_list_that_is_refused_as_a_whole_stay_distinct():
    """Where the author refuses a list and no item of it, two items that would become the same are refused."""
    outcome = _outcome(Annotated[set[int], BeforeValidator(_without_text)], ["1", 1])
    assert (outcome.status, outcome.repairs) == ("refused", ())


def test_an_object_that_is_refused_as_a_whole_must_be_whole():
    """Where the author refuses an object and no field of it, what it becomes is what the whole of its schema takes."""
    switches = Annotated[Full, BeforeValidator(_without_words)]
    assert _outcome(switches, {"on": "yes"}).status == "refused"
    assert _mended(switches, {"on": "yes", "off": False})[0] == {"on": True, "off": False}


def test_a_whole_float_stays_where_a_number_is_declared():
    """A strict server, too, takes 7.0 for a number, so that nothing is made of it beside a wrong value."""
    found = _mended(
        Annotated[Full, BeforeValidator(_without_words)], {"on": "yes", "share": 7.0}, strict=True
    )
    assert found == ({"on": True, "share": 7.0}, ("text_to_boolean", "/x/on"))


def test_a_name_that_only_the_validator_knows_stays():
    """Where the author's validator holds nothing against a name, it stays beside a wrong value."""
    found = _mended(Known, {"tgas": ["a"], "count": "1e3"})
    assert found == ({"tgas": ["a"], "count": 1000}, ("text_to_integer", "/x/count"))


def test_a_field_that_is_refused_for_another_stays():
    """What the author refuses only as long as another field is wrong is as it was sent."""
    found = _mended(Range, {"start": "1e3", "end": "b"})
    assert found == ({"start": 1000, "end": "b"}, ("text_to_integer", "/x/start"))


def test_an_item_that_only_the_author_takes_stays():
    """In a list that is refused for one item, another that the author's validator takes is as it was sent."""
    dozens = list[Annotated[int, BeforeValidator(lambda value: 12 if value == "dozen" else value)]]
    assert _mended(dozens, ["dozen", "1e3"]) == (["dozen", 1000], ("text_to_integer", "/x/1"))


@pytest.mark.parametrize(
    ("annotation", "sent", "expected", "pointer"),
    [(int, 7.0, 7, "/x"), (int | None, 7.0, 7, "/x"), (list[int], [1, 7.0], [1, 7], "/x/1")],
    ids=["integer", "or null", "item"],
)
def test_a_whole_float_is_an_integer_for_a_strict_server(annotation, sent, expected, pointer):
    """What JSON Schema takes for an integer and strict validation does not becomes one."""
    found = _mended(annotation, sent, strict=True)
    assert found == (expected, ("whole_float_to_integer", pointer))


def test_a_whole_float_below_a_pattern_of_an_item():
    """On a strict server an item is read where the validator refuses a whole float under one of its keys."""
    key = Annotated[str, StringConstraints(pattern="^x")]
    assert _mended(list[dict[key, int]], [{"xa": 7.0}], strict=True) == (
        [{"xa": 7}],
        ("whole_float_to_integer", "/x/0/xa"),
    )
