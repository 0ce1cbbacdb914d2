"""Test relocations: values move unchanged, so that the tool's own validator checks them first."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from decisions import decide, records
from pydantic import AfterValidator, BaseModel, BeforeValidator
from tables import each_row

Words = Annotated[
    list[str], BeforeValidator(lambda value: value.split() if isinstance(value, str) else value)
]


class Row(BaseModel):
    """A row whose own validator splits its tags at blanks."""

    tags: Words
    count: int = 0


class Switch(BaseModel):
    """A switch that lax validation also reads from a word."""

    on: bool
    row: Row | None = None


def _lower(value: Any) -> Any:
    assert not isinstance(value, dict) or all(key.islower() for key in value), "must be of lower case"
    return value


def _flat(value: Any) -> Any:
    assert not isinstance(value, dict), "must be flat"
    return value


def maybe(row: Row | None) -> None:
    """Takes a row or null."""


def several(rows: list[Row]) -> None:
    """Takes rows."""


def words(words: Words, n: int) -> None:
    """Takes words and a number."""


def switch(switch: Annotated[Switch, BeforeValidator(_lower)]) -> None:
    """Takes a switch whose names are of lower case."""


def anything(p: dict[str, Annotated[Any, AfterValidator(_flat)]]) -> None:
    """Takes an object of any names."""


def options(options: dict[str, Any]) -> None:
    """Takes an object of any names and values."""


def either(p: Row | list[Row]) -> None:
    """Takes a row or rows."""


@each_row(
    ("function", "sent", "arguments", "repairs"),
    [
        pytest.param(
            maybe,
            {"row": {"Tags": "a b"}},
            {"row": {"tags": "a b"}},
            ["rename_case /row/Tags string string"],
            id="a name in an object that may be null",
        ),
        pytest.param(
            several,
            {"rows": [{"tags": "a"}, '{"Tags": "a b"}', {"tags": "c d"}, {"Tags": "e f"}]},
            {"rows": [{"tags": "a"}, {"tags": "a b"}, {"tags": "c d"}, {"tags": "e f"}]},
            [
                "json_text_to_object /rows/1 string object",
                "rename_case /rows/1/Tags string string",
                "rename_case /rows/3/Tags string string",
            ],
            id="items from text, with their contents",
        ),
        pytest.param(
            either,
            {"p": '{"Tags": "a b"}'},
            {"p": {"tags": "a b"}},
            ["json_text_to_object /p string object", "rename_case /p/Tags string string"],
            id="one of two containers from text",
        ),
        pytest.param(
            words,
            {"words": '["a"]', "n": "1e3"},
            {"words": '["a"]', "n": 1000},
            ["text_to_integer /n string integer"],
            id="text that the validator accepts",
        ),
        pytest.param(
            maybe,
            {"row": {"row": {"tags": ["a"]}}},
            {"row": {"tags": ["a"]}},
            ["wrapped_value /row object object"],
            id="object wrapped in its own name",
        ),
        pytest.param(
            maybe,
            {"args": {"row": {"tags": "a b"}}, "toolCallId": "c"},
            {"row": {"tags": "a b"}},
            ["drop_injected /toolCallId string absent", "unwrap_arguments  object object"],
            id="arguments in a wrapper",
        ),
        pytest.param(
            switch,
            {"switch": {"On": "yes", "row": {"tags": ["a"]}}},
            {"switch": {"on": "yes", "row": {"tags": ["a"]}}},
            ["rename_case /switch/On string string"],
            id="object refused as a whole",
        ),
    ],
)
def test_relocated_values_go_to_the_validator(function, sent, arguments, repairs):
    """A relocation leaves the value to the tool's own validator, whose accepted values are not repaired."""
    outcome = decide(function, sent)
    assert (outcome.status, outcome.arguments) == ("repaired", arguments), outcome
    assert records(outcome) == repairs


def test_wrong_names_without_a_wrapper_stay():
    """Wrong names that no wrapper explains are refused unchanged."""
    sent = {"rows": [], "nothing": 1, "other": 2}
    outcome = decide(several, sent)
    assert (outcome.status, outcome.arguments, outcome.repairs) == ("refused", sent, ())


def test_values_under_unknown_names_stay():
    """A value under a name that the schema does not declare is refused unchanged."""
    outcome = decide(anything, {"p": {"a": {"k": 1}}})
    assert (outcome.status, outcome.arguments) == ("refused", {"p": {"a": {"k": 1}}})


def test_declared_alias_is_not_a_wrapper():
    """An alias that the operator declared stands for its parameter, even if wrappers use that name."""
    outcome = decide(options, {"args": {"options": {}}}, aliases={"options": ("args",)})
    assert outcome.arguments == {"options": {"options": {}}}
    assert [each.rule for each in outcome.repairs] == ["rename_alias"]
