"""Test what a fix never does: move an identifier to another name, or help a destructive call."""

from __future__ import annotations

import pytest
from decisions import decide
from refusal.patches import fixes_of, move
from tables import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    array,
    closed,
    each_row,
    enum,
)

from mcp_lenient import normalize


def assert_unrelated(sent, declared, **values):
    """Assert that no fix and no message takes a name for another one, with values of these types."""
    for kind, value in values.items():
        for required in ((declared,), ()):
            found = normalize(closed(*required, **{declared: {"type": kind}}), {sent: value})
            assert found.violations
            assert not any(
                each.fixes or each.did_you_mean or "mean" in each.message for each in found.violations
            )
            assert found.arguments == {sent: value}


def assert_no_member_is_meant(sent, *members):
    """Assert that no fix takes a text for one of the allowed values, and that the message lists them."""
    (violation,) = normalize(closed(a=enum(*members)), {"a": sent}).violations
    assert (violation.fixes, violation.did_you_mean) == ((), ())
    assert all(f'"{member}"' in violation.message for member in members)


@each_row(("sent", "declared"))
def test_a_fix_never_moves_an_identifier_to_another_name(sent, declared):
    """The value of an identifier is never moved to another name, even if that is the only one left."""
    for required in ((declared,), ()):
        assert fixes_of(closed(*required, **{declared: STRING}), {sent: "x"}, disable={"rename_case"}) == []


@each_row(
    ("tool", "sent", "declared", "fixed"),
    [
        ("add_note", {"note_text": "x"}, {"text": STRING}, True),
        ("addNote", {"noteText": "x"}, {"text": STRING}, True),
        ("find", {"exclude_path": "x", "a": 1}, {"path": STRING}, False),
        ("edit_text", {"old_text": "x", "a": 1}, {"text": STRING}, False),
        ("list_events", {"not_before": "x", "a": 1}, {"before": STRING}, False),
        ("add_note", {"note_text": "x", "note_title": "y"}, {"text": STRING}, True),
        ("add_note", {"note_text": "x"}, {"text": STRING, "title": STRING}, True),
        ("disable_cache", {"disable_cache": "true"}, {"cache": BOOLEAN}, False),
        ("disable_cache", {"disable_cache": True}, {"cache": STRING}, False),
    ],
)
def test_a_word_of_the_tools_name_adds_nothing_to_a_parameters(tool, sent, declared, fixed):
    """A name is offered as one that lacks no words of it but those of the tool's name."""
    found = decide(closed(*declared, **declared), sent, tool=tool).violations
    (key, *_), (name, *_) = sent, declared
    fixes = [[[*map(dict, patch)] for patch in each.fixes] for each in found if each.fixes]
    assert fixes == ([[move(f"/{key}", f"/{name}")]] * len(fixes) if fixed else [])
    assert bool(fixes) is fixed


@each_row(
    ("kind", "value", "sent", "declared"),
    [
        *((STRING, "x", sent, "user_id") for sent in ("userId", "userid", "id", "user")),
        (STRING, "x", "ids", "pmids"),
        *((NUMBER, 5, *names) for names in (("size_mb", "SIZE_MB"), ("DELAY_MS", "delayMs"))),
        (BOOLEAN, True, "recursve", "recursive"),
    ],
)
def test_a_value_is_moved_to_another_spelling_of_its_name(kind, value, sent, declared):
    """The same words in another style are one name or unit, and a bare ``id`` may be longer."""
    schema = closed(declared, **{declared: kind})
    assert move(f"/{sent}", f"/{declared}") in fixes_of(schema, {sent: value}, disable={"rename_case"})


@each_row(("sent", "declared"))
def test_another_name_is_neither_a_fix_nor_a_suggestion(sent, declared):
    """An opposite or another unit is not offered, even if it is the only undeclared and the only missing name."""
    assert_unrelated(sent, declared, string="a", integer=5, boolean=True)


@each_row(("sent", "declared"))
def test_a_name_that_may_be_of_another_unit_is_neither_read_nor_offered(sent, declared):
    """A number's name with another case may be another unit, whatever begins its last word."""
    assert_unrelated(sent, declared, number=5)


@each_row(
    ("one", "other"),
    [
        *(("cache", name) for name in ("no_cache", "skip_cache", "cache_disabled", "cacheless")),
        *(("read", "unread"), ("visible", "invisible"), ("allow_empty", "disallow_empty")),
    ],
)
def test_a_boolean_is_not_offered_under_a_longer_or_shorter_name(one, other):
    """A word or a prefix more may turn a boolean into its opposite."""
    assert_unrelated(one, other, boolean=True)
    assert_unrelated(other, one, boolean=True)


@each_row(("sent", "declared"))
def test_a_number_is_not_moved_to_a_name_with_another_unit(sent, declared):
    """Neither a patch nor following the message would convert the number; the message only names what is accepted."""
    assert_unrelated(sent, declared, integer=5)
    found = normalize(closed(**{declared: INTEGER}), {sent: 5}).violations
    assert any(f"Accepted is '{declared}'." in each.message for each in found)


@each_row(("sent", "declared"))
def test_a_word_more_that_the_description_lacks_gives_no_fix(sent, declared):
    """A further word may reverse the meaning, or say the unit."""
    assert_unrelated(sent, declared, string="x", integer=5)


@each_row("sent", ["visit_date", "visitDate", "exclude_date"])
def test_the_only_missing_name_with_a_word_in_front_is_offered(sent):
    """Of one unknown and one missing name it is asked if they are one; it is no repair, and none where a name is optional."""
    moved = move(f"/{sent}", "/date")
    assert fixes_of(closed("date", date=STRING), {sent: "x"}) == [moved, moved]
    found = normalize(closed(date=STRING), {sent: "x"}).violations
    assert not any(each.fixes or each.did_you_mean for each in found)
    for other in (closed("date", "city", date=STRING, city=STRING), closed("date", date=BOOLEAN)):
        assert fixes_of(other, {sent: "x"}) == []


@each_row(
    ("sent", "declared", "value"),
    [
        ("depth", "maxDepth", 3),
        ("maxDept", "maxDepth", 3),
        ("max_limit", "limit", 3),
        ("hours", "hours_back", 3),
        ("name", "file_name", "x"),
        ("query", "query_text", "x"),
    ],
)
def test_the_only_name_that_contains_another_is_offered(sent, declared, value):
    """An optional name is offered too, if no other absent one contains the sent one or is contained in it."""
    kind = STRING if isinstance(value, str) else INTEGER
    assert fixes_of(closed(**{declared: kind}), {sent: value}) == [move(f"/{sent}", f"/{declared}")]


def test_of_two_names_that_contain_another_none_is_offered():
    """Which of them is meant is not known."""
    assert fixes_of(closed(maxDepth=INTEGER, minDepth=INTEGER), {"depth": 3}) == []


def test_a_word_more_that_the_description_has_gives_a_fix():
    """The author's description says what the further word means."""
    schema = closed("path", path={**STRING, "description": "The file to read"})
    moved = move("/file_path", "/path")
    assert fixes_of(schema, {"file_path": "x"}) == [moved, moved]


@each_row("sent", ["del", "delete it", "DELETEE"])
def test_the_only_allowed_value_is_not_offered(sent):
    """A caller that must confirm by a word has to write it itself."""
    assert_no_member_is_meant(sent, "DELETE")


SEARCH = closed("query", query=STRING, tags=array(STRING))
NOT_ITS_NAME = {**STRING, "description": "The value, not its name"}


@each_row(
    ("schema", "sent"),
    [
        # A filter with a word in front is not the filter without it.
        *((SEARCH, {"query": "a", sent: ["b"]}) for sent in ("excluded_tags", "without_tags", "old_tags")),
        # A name or an identifier says which object it belongs to.
        (closed("price", price=INTEGER), {"price": {"id": 5}}),
        (closed("account_id", account_id=STRING), {"account_id": {"name": "bob"}}),
        (closed("account", account=STRING), {"account": {"type": "savings"}}),
        # An identifier that may not be moved is not removed.
        (closed(user=STRING), {"user_id": "x"}),
        # An object is not sent for a text, however their names are alike.
        (closed("input", input=STRING), {"args": {"a": 1}}),
        # An object of any names may mean the one in it.
        (closed("tool", "parameters", tool=STRING, parameters=OBJECT), {"parameters": {"tool": "x"}}),
        # The name of a token is no token, even where the description has both words.
        (closed("token", token=NOT_ITS_NAME), {"token_name": "x"}),
    ],
)
def test_what_may_be_something_else_is_not_offered(schema, sent):
    """Nothing is moved, taken out, removed or suggested."""
    found = normalize(schema, sent).violations
    assert found
    assert not any(each.fixes or each.did_you_mean for each in found)


@each_row(
    ("sent", "extra"),
    [
        ({"content": "a", "contents": "b"}, "contents"),
        ({"content": "a", "$content": "b"}, "$content"),
        ({"content": "a", "contentt": "b"}, "contentt"),
    ],
)
def test_a_second_spelling_is_not_moved_elsewhere(sent, extra):
    """A spelling or plural of a name that was sent is not taken for the missing one."""
    schema = closed("path", "content", path=STRING, content=STRING, contentt_path=STRING)
    found = normalize(schema, sent).violations
    assert {each.pointer for each in found} == {"/path", f"/{extra}"}
    assert not any(each.fixes for each in found)
    assert all("'path'?" not in each.message for each in found)


@each_row(("schema", "sent"))
def test_a_fix_removes_no_value(schema, sent):
    """An undeclared name with a value that says something is never removed."""
    removed = [each["path"] for patch in fixes_of(schema, sent) for each in patch if each["op"] == "remove"]
    assert not any(path.rpartition("/")[2] not in ("data", "payload", "properties") for path in removed)


def test_a_part_of_an_object_of_another_name_is_not_moved_out():
    """What stays behind may turn what is moved, `except: {status, n}`, or be dropped by the tool."""
    schema = closed("status", "limit", status=STRING, limit={"type": "integer"})
    assert fixes_of(schema, {"except": {"status": "open", "n": 1}}) == []


@pytest.mark.parametrize("nothing", [None, "", {}, []])
def test_a_fix_removes_an_empty_value(nothing):
    """An undeclared name without a value may be left out."""
    assert fixes_of(closed("path", path=STRING), {"path": "x", "filter": nothing}) == [
        [{"op": "remove", "path": "/filter"}]
    ]


@each_row("sent", [{"paht": "/a"}, {"path": False}])
def test_a_destructive_tool_gets_no_fix(sent):
    """A destructive tool gets no fix for an error that gives one with a harmless tool."""
    schema = closed("path", path=STRING)
    assert fixes_of(schema, sent, disable={"number_to_text"})
    assert fixes_of(schema, sent, destructive=True) == []


def test_each_of_several_wrong_parameters_has_its_fix():
    """Eight wrong parameters with several possible fixes each get the likeliest one first."""
    schema = closed(**{f"p{at}": enum("alpha", "alpine", "beta") for at in range(8)})
    found = normalize(schema, {f"p{at}": "alhpa" for at in range(8)}).violations
    assert [each.fixes[0][0]["value"] for each in found] == ["alpha"] * 8


def test_patches_tried_together_are_validated_separately():
    """One parameter's patch is offered even if another one's, tried with it, fails."""
    schema = closed(a={"enum": ["red", "black"]}, b={"enum": ["seven", "eight"], "maxLength": 3})
    found = normalize(schema, {"a": "blakc", "b": "sevn"}).violations
    assert {violation.parameter: bool(violation.fixes) for violation in found} == {"a": True, "b": False}


@each_row(
    ("member", "sent"),
    [
        *(("enabled", "disabled"), ("active", "inactive"), ("paid", "unpaid"), ("include", "exclude")),
        *(("sync", "async"), ("increase", "decrease"), ("hypertension", "hypotension"), ("male", "female")),
    ],
)
def test_shared_letters_alone_give_no_fix(member, sent):
    """A word with another beginning often means the opposite, so it is neither a fix nor a suggestion."""
    assert_no_member_is_meant(sent, member, "other")


@each_row(("pairs", "kind"))
def test_the_only_pairing_of_names_is_offered(pairs, kind):
    """The first fix of each violation is its part of the pairing, and all of them lead to the right call."""
    for declared in (sorted(pairs.values()), sorted(pairs.values(), reverse=True)):
        schema = closed(*declared, **dict.fromkeys(declared, kind))
        sent = {name: f"of {name}" for name in pairs}
        first = [[*map(dict, violation.fixes[0])] for violation in normalize(schema, sent).violations]
        moves = [move(f"/{name}", f"/{meant}") for name, meant in pairs.items()]
        assert all(patch in moves for patch in first)
        assert all(patch in first for patch in moves)


def test_a_pair_that_may_change_the_unit_still_takes_its_name():
    """``max`` is ``max_price``, so ``price`` is ``min_price``, even if ``max`` itself gets no fix."""
    schema = closed("max_price", "min_price", **dict.fromkeys(("max_price", "min_price"), INTEGER))
    assert {str(each) for each in fixes_of(schema, {"price": 5, "max": 7})} == {
        str(move("/price", "/min_price"))
    }


@each_row(
    ("declared", "sent"),
    [
        (("input",), ("Input", "INPUT")),
        (("content",), ("contents", "contnt")),
        (("old_name", "new_name"), ("name", "Name")),
    ],
)
def test_two_names_for_one_parameter_give_no_fix(declared, sent):
    """A caller that applied the fixes of both would lose one of the values."""
    for required in (declared, ()):
        schema = closed(*required, **dict.fromkeys(declared, STRING))
        assert fixes_of(schema, {name: f"of {name}" for name in sent}) == []


@each_row(
    ("optional", "sent", "moves"),
    [
        (("file_mode",), {"path": "x", "file": "y"}, {"path": "file_path"}),
        (("file_mode", "file_owner"), {"path": "x", "file": "y"}, {"path": "file_path"}),
        (("path_glob",), {"file": "x", "path": "y"}, {"file": "file_path"}),
        ((), {"file": "x", "path": "y"}, {}),
    ],
)
def test_a_name_whose_match_is_taken_is_not_moved_to_an_optional_one(optional, sent, moves):
    """If another undeclared name is the missing one, what remains may be none of the tool's parameters."""
    schema = closed("file_path", **dict.fromkeys(("file_path", *optional), STRING))
    found = {patch[0]["from"][1:]: patch[0]["path"][1:] for patch in fixes_of(schema, sent)}
    assert found == moves


def test_a_name_that_may_be_two_missing_ones_is_neither():
    """Both names are said; as either of them alone the other would still be missing."""
    schema = closed("file_path", "file_content", file_path=STRING, file_content=STRING)
    found = normalize(schema, {"file": "x"}).violations
    assert not any(violation.fixes for violation in found)
    assert {name for violation in found for name in violation.did_you_mean} == {"file_path", "file_content"}


@each_row(("sent", "members"))
def test_another_word_beside_an_allowed_value_gives_no_fix(sent, members):
    """Another word may turn the meaning, so the message only lists the allowed values."""
    assert_no_member_is_meant(sent, *members.split())


@each_row(("sent", "members"))
def test_another_word_with_common_letters_gives_no_fix(sent, members):
    """A word that begins with an allowed value, or differs from it in a letter, is another one."""
    assert_no_member_is_meant(sent, *members.split())


@each_row(("sent", "members", "meant"))
def test_a_spelling_of_an_allowed_value_gives_a_fix(sent, members, meant):
    """A typo, an ending and a cut-off word lead to the allowed value."""
    schema = closed(task_priority=enum(*members.split()))
    found = fixes_of(schema, {"task_priority": sent}, disable={"fold_enum"})
    assert [patch[0]["value"] for patch in found] == meant


@each_row("sent", [["Control,Shift"], ["Control", "Control,Shift"], ["Shift; Control"]])
def test_an_item_of_several_values_gives_no_fix(sent):
    """A list could hold all of them, so none is left out."""
    assert fixes_of(closed(a=array(enum("Control", "Shift"))), {"a": sent}) == []


@each_row(("member", "sent"))
def test_a_value_of_another_unit_or_notation_gives_no_fix(member, sent):
    """A text that is another unit, pattern or option is not moved to the allowed one."""
    assert_no_member_is_meant(sent, member, "other")
    assert_no_member_is_meant(f"size: {sent}", member, "other")


def test_neither_spelling_of_a_tie_is_suggested():
    """If two allowed values differ only in case, a third spelling is refused, and the message names both."""
    assert_no_member_is_meant("Asc", "asc", "ASC")


def test_white_space_gets_no_suggestion():
    """Text of white space alone is refused like any other."""
    (violation,) = normalize(closed(a={"enum": ["", "asc"]}), {"a": " "}).violations
    assert violation.code == "enum"


@pytest.mark.parametrize("key", ["file<arg_key", "file'", "<file>", "file, page", "file\n", "file|page"])
def test_a_piece_of_text_is_not_taken_for_a_name(key):
    """A key with characters that names do not have is neither moved nor said to mean a name."""
    found = normalize(closed("file", file=STRING, page=INTEGER), {key: "page</arg_key>5"}).violations
    assert {each.code for each in found} == {"missing", "unknown"}
    assert not any(each.fixes or each.did_you_mean or "is meant" in each.message for each in found)


@pytest.mark.parametrize("value", ["", "n/a"])
def test_a_text_with_a_least_length_is_not_left_out(value):
    """Leaving out a text that the author requires to be longer may widen the call."""
    found = normalize(closed(old={**STRING, "minLength": 5}), {"old": value}).violations
    assert [(each.fixes, "Leave it out" in each.message) for each in found] == [((), False)]


@pytest.mark.parametrize("value", [{}, None])
def test_arguments_under_another_wrapper_are_not_removed(value):
    """If the object of arguments is missing, one under a wrapper's name is moved to it, not removed."""
    schema = closed("tool", "parameters", tool=STRING, parameters=OBJECT)
    found = normalize(schema, {"tool": "x", "params": value}).violations
    moved = {"op": "move", "from": "/params", "path": "/parameters"}
    assert [[dict(*patch) for patch in each.fixes] for each in found] == [[moved] if value == {} else []] * 2
    assert found[1].did_you_mean == ("parameters",)


def test_a_name_that_a_declared_wrapper_declares_stays_in_it():
    """A name that the object declares itself is its own."""
    schema = closed("name", "parameters", name=STRING, parameters=closed(name=STRING))
    (violation,) = normalize(schema, {"parameters": {"name": "x"}}).violations
    assert violation.message == "'name' is required but was not sent. It must be a string."


def test_an_empty_field_that_belongs_elsewhere_is_not_removed():
    """If the message says where it belongs, the fix does not delete it."""
    edits = {"type": "array", "items": closed("oldText", "newText", oldText=STRING, newText=STRING)}
    schema = closed("path", "edits", path=STRING, edits=edits)
    found = normalize(schema, {"path": "p", "oldText": None, "newText": "b"}).violations
    assert any("It belongs inside 'edits'" in each.message for each in found)
    assert not any(
        operation["op"] == "remove" for each in found for patch in each.fixes for operation in patch
    )
