"""Test repairs by the schema after the tool's own validator reports faults."""

from __future__ import annotations

from time import process_time
from typing import Annotated, Any, Literal

import pytest
from decisions import decide_value
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
    model_validator,
)
from tables import each_row, rows


def _repaired(annotation: Any, value: Any, *, strict: bool = False) -> tuple[Any, ...]:
    """Return the repaired parameter and its repairs."""
    outcome = decide_value(annotation, value, strict=strict)
    assert outcome.status == "repaired", outcome
    return outcome.arguments["x"], *((each.rule, each.pointer) for each in outcome.repairs)


class Named(BaseModel):
    """A model that cannot be read from text alone."""

    name: str
    count: int


class Whole(BaseModel):
    """A model selected by a ``type`` that a wrapped value has too."""

    type: Literal["object"]
    amount: int


class Text(BaseModel):
    """The other branch."""

    type: Literal["text"]
    text: str


class Full(BaseModel):
    """A model with one required field that must have two."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 2})

    on: bool
    off: bool = False
    share: float = 1.0


class Words(BaseModel):
    """A model whose own validator splits its words at blanks."""

    words: Annotated[
        list[str], BeforeValidator(lambda value: value.split() if isinstance(value, str) else value)
    ]
    count: int


class Spoken(Words):
    """A model selected by its kind."""

    kind: Literal["spoken"]


class Silent(BaseModel):
    """The other branch."""

    kind: Literal["silent"]


class Range(BaseModel):
    """A model whose validator of one field needs the other field."""

    start: int
    end: str

    @field_validator("end")
    @classmethod
    def _has_start(cls, end: str, info: ValidationInfo) -> str:
        assert "start" in info.data, "must have a start"
        return end


class Known(BaseModel):
    """A model with a field alias that is not in the schema."""

    model_config = ConfigDict(extra="forbid")

    count: int
    tags: list[str] = Field(default=[], validation_alias=AliasChoices("tags", "tgas"))


class Request(BaseModel):
    """A model that also reads the names of its fields, of which the schema has the aliases only."""

    model_config = ConfigDict(populate_by_name=True)

    user_name: str = Field(default="", alias="userName")
    max_items: int = Field(default=1, alias="maxItems")


class Flags(BaseModel):
    """A model whose first field is named like the parameter."""

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


def _in_cents(value: Any) -> Any:
    return round(float(value) * 100) if isinstance(value, str) else value


class Amounts(BaseModel):
    """Two amounts in cents, which a text gives in whole units."""

    low: Annotated[int, BeforeValidator(_in_cents)]
    high: Annotated[int, BeforeValidator(_in_cents)]

    @model_validator(mode="after")
    def _in_order(self) -> Amounts:
        assert self.low <= self.high, "low above high"
        return self


Octal = Annotated[int, BeforeValidator(lambda value: int(value, 8) if isinstance(value, str) else value)]


X_NAME = Annotated[str, StringConstraints(pattern="^x")]


class Entry(BaseModel):
    """A file and its mode."""

    path: str
    mode: Octal = 0


class Sized(BaseModel):
    """A file, its mode and its size."""

    mode: Octal = 0
    size: int = 0


class Change(BaseModel):
    """One branch of a union."""

    kind: Literal["change"]
    mode: Octal


ENTRY = {"path": "a", "mode": "755"}
CHANGE = {"kind": "change", "mode": "755"}
TAGGED = Annotated[Change | Spoken, Field(discriminator="kind")]


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
def test_value_valid_by_the_schema_is_not_unwrapped(annotation, value):
    """A value that the schema accepts but the author refuses is not unwrapped."""
    outcome = decide_value(annotation, value)
    assert (outcome.status, outcome.arguments, outcome.repairs) == ("refused", {"x": value}, ())


@pytest.mark.parametrize(
    ("sent", "expected"),
    rows(__file__, "only_refused_fields_are_repaired_for_a_sent_discriminator"),
)
def test_only_refused_fields_are_repaired_for_a_sent_discriminator(sent, expected):
    """With a valid discriminator only refused fields are repaired. With a repaired one, all fields are."""
    assert _repaired(Annotated[Spoken | Silent, Field(discriminator="kind")], sent)[0] == expected


def test_object_for_a_list_is_repaired_by_the_schema():
    """If the author turns an object into a list and refuses a field, the schema repairs the object."""
    one = Annotated[list[Named], BeforeValidator(lambda value: [value] if isinstance(value, dict) else value)]
    found = _repaired(one, {"name": "a", "count": "1e3"})
    assert found == (
        [{"name": "a", "count": 1000}],
        ("object_to_array", "/x"),
        ("text_to_integer", "/x/0/count"),
    )


@pytest.mark.parametrize(
    ("annotation", "sent", "expected", "repairs"),
    [
        pytest.param(list[Octal], "755", ["755"], ["scalar_to_array /x"], id="list"),
        pytest.param(list[Octal], {"item": "755"}, ["755"], ["item_wrapper_to_array /x"], id="items"),
        pytest.param(Octal, {"value": "755"}, "755", ["wrapped_value /x"], id="wrapper"),
        pytest.param(list[Entry], ENTRY, [ENTRY], ["object_to_array /x"], id="object"),
        pytest.param(TAGGED, {**CHANGE, "kind": "CHANGE"}, CHANGE, ["fold_enum /x/kind"], id="discriminator"),
    ],
)
def test_text_that_the_tool_reads_stays_in_a_changed_container(annotation, sent, expected, repairs):
    """A text that the validator accepts is not converted where the container around it was changed."""
    found = _repaired(annotation, sent)
    assert found == (expected, *(tuple(each.split()) for each in repairs))


@pytest.mark.parametrize("count", [1, 4, 20])
@pytest.mark.parametrize("strict", [False, True])
def test_texts_in_a_list_stay_whatever_its_length(count, strict):
    """In a list out of a wrapper, only the texts that the tool does not read are converted."""
    sent = {"item": [{"mode": "755", "size": "5"}] * count}
    value, *repairs = _repaired(list[Sized], sent, strict=strict)
    assert value == [{"mode": "755", "size": 5 if strict else "5"}] * count
    assert len(repairs) == (1 + count if strict else 1)


@pytest.mark.parametrize("wrapped", [False, True])
def test_many_conversions_take_linear_time(wrapped):
    """Thousands of texts in a list are converted in seconds."""
    items = [{"size": "5"}] * 2_000
    started = process_time()
    value, *repairs = _repaired(list[Sized], {"item": items} if wrapped else items, strict=True)
    assert process_time() - started < 5
    assert (value, len(repairs)) == ([{"size": 5}] * 2_000, 2_000 + wrapped)


@pytest.mark.parametrize("strict", [False, True], ids=["lax", "strict"])
@pytest.mark.parametrize(
    ("sent", "expected", "rule"),
    [
        pytest.param({"user_name": 5}, {"user_name": "5"}, "number_to_text", id="value"),
        pytest.param({"max_items": None, "userName": "a"}, {"userName": "a"}, "null_to_absent", id="null"),
    ],
)
def test_a_value_under_a_fields_own_name_is_repaired(sent, expected, rule, strict):
    """The schema of an alias also applies to the field's own name, which stays as sent."""
    assert _repaired(Request, sent, strict=strict) == (expected, (rule, f"/x/{next(iter(sent))}"))


def test_a_value_under_both_names_is_not_repaired():
    """Under a field's own name, a value stays as sent if the alias was sent too."""
    outcome = decide_value(Request, {"userName": "a", "user_name": "a", "max_items": "x"})
    assert outcome.arguments == {"x": {"userName": "a", "user_name": "a", "max_items": "x"}}


DOZENS = list[Annotated[int, BeforeValidator(lambda value: 12 if value == "dozen" else value)]]


@each_row(
    ("annotation", "sent", "expected", "pointer"),
    [
        (Words | None, {"words": "a b", "count": "1e3"}, {"words": "a b", "count": 1000}, "/x/count"),
        (Known, {"tgas": ["a"], "count": "1e3"}, {"tgas": ["a"], "count": 1000}, "/x/count"),
        (Range, {"start": "1e3", "end": "b"}, {"start": 1000, "end": "b"}, "/x/start"),
        (DOZENS, ["dozen", "1e3"], ["dozen", 1000], "/x/1"),
    ],
)
def test_what_only_the_author_reads_stays_beside_a_repair(annotation, sent, expected, pointer):
    """What only the author's validator reads, or refuses because of another value, stays as sent."""
    assert _repaired(annotation, sent) == (expected, ("text_to_integer", pointer))


def test_text_for_a_model_is_repaired_by_the_schema():
    """Text that the author's validator turns into an incomplete object is repaired by the schema."""
    found = _repaired(Annotated[Named, BeforeValidator(_named)] | None, '{"name": "a", "count": 1}')
    assert found == ({"name": "a", "count": 1}, ("json_text_to_object", "/x"))


@each_row(
    ("annotation", "sent", "expected", "repair"),
    [
        (int | None, 7.0, 7, ("whole_float_to_integer", "/x")),
        (list[int], [1, 7.0], [1, 7], ("whole_float_to_integer", "/x/1")),
        (list[dict[X_NAME, int]], [{"xa": 7.0}], [{"xa": 7}], ("whole_float_to_integer", "/x/0/xa")),
        (Full, {"on": "yes", "share": 7.0}, {"on": True, "share": 7.0}, ("text_to_boolean", "/x/on")),
        (Flags, {"x": {"b": "true"}}, {"x": {"b": True}}, ("text_to_boolean", "/x/x/b")),
    ],
)
def test_what_a_strict_server_refuses_is_repaired_in_place(annotation, sent, expected, repair):
    """On a strict server a whole float becomes an integer where it is refused, and only there."""
    assert _repaired(annotation, sent, strict=True) == (expected, repair)


@each_row(
    ("annotation", "sent"),
    [
        pytest.param(Octal, "799", id="text"),
        pytest.param(list[Octal], {"item": ["755", "8"]}, id="item"),
        pytest.param(Amounts, {"low": "5", "high": 100}, id="fields of an object"),
        pytest.param(list[Amounts], {"low": "5", "high": 100}, id="object for a list"),
        pytest.param(Amounts, {"x": {"low": "5", "high": 100}}, id="wrapper"),
        pytest.param(Annotated[list[int], BeforeValidator(_without_text)], ["1", 2, "3"], id="list"),
        pytest.param(Annotated[set[int], BeforeValidator(_without_text)], ["1", 1], id="set"),
        pytest.param(
            Annotated[Full, BeforeValidator(_without_words)], {"on": "yes", "off": False}, id="words"
        ),
        pytest.param(Annotated[Flags, BeforeValidator(_without_integers)], {"x": {"b": 1}}, id="flags"),
    ],
)
def test_what_only_the_author_refuses_is_not_converted(annotation, sent):
    """A value that the author's own check refuses is not converted until it passes."""
    lax = decide_value(annotation, sent)
    assert (lax.status, lax.arguments, lax.repairs) == ("refused", {"x": sent}, ())
    assert decide_value(annotation, sent, strict=True).status == "refused"
