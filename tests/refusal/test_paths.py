"""Test names written as paths (``rows[0].name``), and fields of a missing list sent beside it."""

from __future__ import annotations

from typing import Any

from tables import OBJECT, STRING, Json, array, closed, each_row

from mcp_lenient import Policy, Violation, normalize

_WITHOUT_RULE = Policy(disable={"nest_arguments"})
_OPTION = closed("label", label=STRING)
_QUESTION = closed("text", "options", text=STRING, options=array(_OPTION))
_ASK = closed("questions", questions=array(_QUESTION), tags=array(STRING))
_EDIT = closed("old", old=STRING, new=STRING)
_EDITS = closed("path", "edits", path=STRING, edits=array(_EDIT, minItems=1))


def _violations(schema: Json, sent: Any, policy: Policy | None = None) -> dict[str, Violation]:
    found = normalize(schema, sent, policy or _WITHOUT_RULE).violations
    return {each.pointer: each for each in found}


def _told(schema: Json, sent: Any) -> str:
    return " ".join(each.message for each in _violations(schema, sent).values())


@each_row(("schema", "sent"))
def test_a_part_is_not_said_to_be_the_whole(schema: Json, sent: Any) -> None:
    """The message never advises to send a part as the whole list or object."""
    found = _violations(schema, sent)
    assert found
    assert not any("mean" in violation.message or violation.did_you_mean for violation in found.values())


@each_row(("schema", "sent"))
def test_parts_that_make_no_accepted_whole_get_no_fix(schema: Json, sent: Any) -> None:
    """A fix loses no part, invents no item, and leads to an accepted call."""
    found = _violations(schema, sent)
    assert found
    assert not any(violation.fixes for violation in found.values())


def test_a_path_that_the_schema_refuses_gets_no_place() -> None:
    """The message does not send a part to an object that does not take it."""
    told = _told(_ASK, {"questions[0].zz": "a", "question[0].text": "b"})
    assert not any(advice in told for advice in ("belongs", "mean", "Send it whole"))


def test_no_place_of_a_part_is_named_in_a_destructive_tool() -> None:
    """A destructive tool gets neither the place nor a fix."""
    for violation in _violations(_EDITS, {"path": "a", "old": "x"}, Policy(destructive=True)).values():
        assert not violation.fixes
        assert "inside" not in violation.message


def test_another_spelling_is_suggested_for_a_path_that_the_schema_refuses() -> None:
    """A dot may as well separate the words of a name."""
    schema = closed(user=closed("id", id=STRING), user_name=STRING)
    assert _violations(schema, {"user.name": "a"})["/user.name"].did_you_mean == ("user_name",)


def test_a_wrapper_around_other_names_is_not_said_to_wrap_the_arguments() -> None:
    """The content of a wrapper may be the value of an object that was not sent."""
    schema = closed("query", query=STRING, params=OBJECT)
    assert "go at the top" not in _told(schema, {"query": "a", "parameters": {"name": "b"}})


def test_a_number_that_may_be_rounded_gets_no_fix() -> None:
    """The digits that JavaScript rounded are not offered as the text that was meant."""
    (violation,) = normalize(closed(id=STRING), {"id": 1917043659912705300}).violations
    assert violation.fixes == ()
    assert violation.message == "'id' must be a string, but got the integer 1917043659912705300."
