"""Test what each rule of the linter finds and what it ignores."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from fastmcp import FastMCP
from fastmcp_versions import IS_3
from mcp.types import Tool, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field
from tables import INTEGER, STRING, array, closed, each_row, opened, union
from typing_extensions import TypedDict

from mcp_lenient import LenientMiddleware, Policy, lenient
from mcp_lenient.devtools.check import CHECKS, check
from mcp_lenient.normalizers import parse_json

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "check.md"


class Node(BaseModel):
    """A tree."""

    model_config = ConfigDict(extra="forbid")

    label: str
    data: Any = None
    children: list[Node] = []


class Answer(TypedDict):
    """An answer."""

    found: int


def untyped(content) -> Answer:
    """Store the content."""


def untyped_but_described(
    content: Annotated[Any, Field(description="Any JSON value, kept as it is.")],
) -> Answer:
    """Store the content."""


def untyped_items(rows: list) -> Answer:
    """Store rows."""


def untyped_within_a_tree(tree: Node) -> Answer:
    """Store a tree."""


def text_or_list(tags: str | list[str] | None = None) -> Answer:
    """Store tags."""


def text_or_object(entry: str | dict[str, int]) -> Answer:
    """Store an entry."""


def text_with_json(config: Annotated[str, Field(description="The settings, as a JSON string.")]) -> Answer:
    """Store settings."""


def free_form(options: dict[str, Any]) -> Answer:
    """Store options."""


def free_form_with_example(options: dict[str, Any]) -> Answer:
    """Store options, such as {"size": 1}."""


def bad_default(tags: list[str] = None) -> Answer:  # noqa: RUF013 - the mistake to find
    """Store tags."""


def not_nullable(limit: int = 5) -> Answer:
    """List so many."""


def words(order: Literal["newest", "oldest"]) -> Answer:
    """List notes."""


def codes(level: Literal[1, 2, 3]) -> Answer:
    """List notes."""


def one_slip(query: str, qurey: str) -> Answer:
    """Search."""


def two_numbers(tag: str, tags: str) -> Answer:
    """Search."""


def list_beside_item(tag: str, tags: list[str]) -> Answer:
    """Search."""


def two_styles(user_id: str, userId: str) -> Answer:  # noqa: N803 - the mistake to find
    """Search."""


def python_none(
    name: Annotated[str | None, Field(description="The name, or None for all.")] = None,
) -> Answer:
    """Search."""


def python_list(names: list[str]) -> Answer:
    """Search for names, such as ['ann', 'bob']."""


def without_words(name: str) -> Answer: ...


def any_answer(name: str) -> dict:
    """Search."""


class _Order(BaseModel):
    item: str
    dry_run: bool = False


def open_model(order: _Order) -> bool:
    """Place an order, or only say what would be ordered."""
    return order.dry_run


def delete_notes(ids: list[int]) -> Answer:
    """Drop notes."""


def tidy(folder: str) -> Answer:
    """Archive a folder. Removes nothing."""


def tidy_up(folder: str) -> Answer:
    """Go through a folder and erases what is old. It cannot be undone."""


FOUND = [
    pytest.param(delete_notes, "effect_unsaid", "", "warning", id="a name of deleting"),
    pytest.param(tidy_up, "effect_unsaid", "", "warning", id="a sentence of deleting"),
    pytest.param(open_model, "optional_overlooked", "order", "warning", id="an open model"),
    pytest.param(untyped, "untyped_parameter", "content", "warning", id="untyped"),
    pytest.param(untyped_but_described, "untyped_parameter", "content", "note", id="untyped, described"),
    pytest.param(untyped_items, "untyped_parameter", "rows[]", "note", id="items"),
    pytest.param(untyped_within_a_tree, "untyped_parameter", "tree.data", "warning", id="in a tree"),
    pytest.param(text_or_list, "text_or_container", "tags", "warning", id="text or list"),
    pytest.param(text_or_object, "text_or_container", "entry", "warning", id="text or object"),
    pytest.param(text_with_json, "json_in_text", "config", "note", id="JSON in a text"),
    pytest.param(free_form, "free_form_object", "options", "warning", id="free form"),
    pytest.param(free_form_with_example, "free_form_object", "options", "note", id="with an example"),
    pytest.param(bad_default, "default_refused", "tags", "warning", id="default"),
    pytest.param(not_nullable, "optional_not_nullable", "limit", "note", id="not nullable"),
    pytest.param(words, "enum_without_description", "order", "note", id="words"),
    pytest.param(codes, "enum_without_description", "level", "warning", id="codes"),
    pytest.param(one_slip, "names_one_slip_apart", "query", "warning", id="letters swapped"),
    pytest.param(two_numbers, "names_one_slip_apart", "tag", "warning", id="singular and plural"),
    pytest.param(list_beside_item, "names_one_slip_apart", "tag", "note", id="distinguished by type"),
    pytest.param(two_styles, "names_one_slip_apart", "user_id", "warning", id="case style"),
    pytest.param(python_none, "python_in_description", "name", "warning", id="None"),
    pytest.param(python_list, "python_in_description", "", "warning", id="single quotes"),
    pytest.param(without_words, "tool_without_description", "", "warning", id="no description"),
    pytest.param(any_answer, "output_forbids_nothing", "", "note", id="any answer"),
]


EITHER = {**opened("a", a=STRING), "anyOf": [{"required": ["a"]}]}
FILTER = opened("$filter", **{"$filter": STRING})
OLD_BOUND = {**INTEGER, "minimum": 1, "exclusiveMinimum": True}


def findings(server_or_tools):
    return [(finding.code, finding.place, finding.level) for finding in check(server_or_tools)]


def server_of(*functions, middleware=None):
    server = FastMCP("linted")
    if middleware is not None:
        server.add_middleware(middleware)
    for function in functions:
        server.tool(function)
    return server


def foreign(schema, description="Does something."):
    return [Tool(name="foreign", description=description, inputSchema=schema)]


@each_row(("function", "code", "place", "level"), FOUND)
def test_each_tool_has_its_one_finding(function, code, place, level):
    """A tool with one fault gets exactly that finding."""
    assert findings(server_of(function)) == [(code, place, level)]


FOREIGN = [
    pytest.param(closed("a", a={"$ref": "https://x.org/a"}), ("schema_unusable", "", "error"), id="remote"),
    pytest.param(closed("a"), ("required_undeclared", "a", "error"), id="no valid call"),
    pytest.param(opened("a"), ("required_undeclared", "a", "warning"), id="required, but not declared"),
    pytest.param(opened("n", n=OLD_BOUND), ("schema_invalid", "n", "warning"), id="of an older draft"),
    pytest.param(EITHER, ("request_rejected", "", "warning"), id="a union at the root"),
    pytest.param(FILTER, ("request_rejected", "$filter", "warning"), id="a parameter's name"),
]


@each_row(("schema", "finding"), FOREIGN)
def test_foreign_schemas_are_checked(schema, finding):
    """Faults that no Python function can publish are found in a schema from elsewhere."""
    assert findings(foreign(schema)) == [finding]


INVALID = [
    pytest.param(
        {"properties": {"rows": {"type": "array", "items": {"properties": {"age": {"type": "int"}}}}}},
        "rows",
        "/properties/rows/items/properties/age/type: 'int' is not allowed there.",
        "A type is array,",
        id="a type of another language",
    ),
    pytest.param(
        {"properties": {"a": {"type": "string", "required": True}}},
        "a",
        "/properties/a/required: True is not of type 'array'",
        "List the names",
        id="required at the property",
    ),
    pytest.param(
        {"properties": {"a": {"items": [{"type": "string"}]}}},
        "a",
        "/properties/a/items: ",
        "Write one schema under 'items'",
        id="items as a list",
    ),
    pytest.param(
        {"properties": {"a": {"anyOf": [{"type": "string", "minLength": "1"}]}}},
        "a",
        "/properties/a/anyOf/0/minLength: '1' is not of type 'integer'",
        "Write 'minLength' as JSON Schema 2020-12 has it",
        id="in a union",
    ),
    pytest.param(
        {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"enum": "yes"}}},
        "",
        "/$defs/A/enum: 'yes' is not of type 'array'",
        "List the allowed values",
        id="in a definition",
    ),
    pytest.param(
        {"properties": {"a": {"prefixItems": [{"additionalProperties": {"pattern": 1}}]}}},
        "a",
        "/properties/a/prefixItems/0/additionalProperties/pattern: 1 is not of type 'string'",
        "Write 'pattern'",
        id="in a map in a tuple",
    ),
]


@each_row(("schema", "place", "reason", "mend"), INVALID)
def test_an_invalid_schema_is_reported_with_place_and_reason(schema, place, reason, mend):
    """The finding names the parameter, the place in the schema, the error and the fix."""
    (finding,) = check(foreign({"type": "object"} | schema), select=["schema_invalid"])
    assert (finding.code, finding.place) == ("schema_invalid", place)
    assert reason in finding.reason
    assert finding.mend.startswith(mend)


def test_a_schema_is_checked_against_its_draft():
    """A keyword of an older draft is valid if the schema declares that draft."""
    schema = opened("n", n={**OLD_BOUND, "description": "So many."})
    chosen = {"select": ["schema_invalid"]}
    assert check(foreign({"$schema": "http://json-schema.org/draft-04/schema#"} | schema), **chosen) == ()
    assert len(check(foreign({"$schema": "https://example.com/own"} | schema), **chosen)) == 1


def test_a_schema_nested_too_deeply_is_unusable():
    """A schema too deep for the meta-schema gets one finding: it cannot be read."""
    schema = {"type": "string"}
    for _ in range(400):
        schema = {"properties": {"a": schema}, "type": "object"}
    assert [finding.code for finding in check(foreign(schema), select=["schema_*"])] == ["schema_unusable"]


def test_each_rule_is_in_a_table_above():
    """Each rule has a tool above in which it finds something."""
    tested = (
        {case.values[1] for case in FOUND}
        | {case.values[1][0] for case in FOREIGN}
        | {"hint_misspelled", "decorator_alone", "deprecated_listed"}
    )
    assert tested == {each.code for each in CHECKS}


def many_words(
    query: Annotated[str, Field(description="True north, or none of the above. Use 'and' to join words.")],
    width: int,
    height: int,
    lte: int,
    gte: int,
    file_1: str,
    file_2: str,
    form: str,
    headers: dict[str, str],
    scope: Literal["all"] | list[str],
    direction: Annotated[Literal["asc", "desc"], Field(description="Which end comes first.")],
    day: Annotated[int | None, Field(description="The day, or null for today.")] = None,
) -> Answer:
    """Search by direction.

    Returns:
        None where nothing is found.
    """


def test_valid_tools_have_no_finding():
    """Names, words and types that only look like faults give no finding."""
    assert findings(server_of(many_words)) == []


def test_an_explained_enum_has_no_finding():
    """A parameter counts as described if the tool's description names it or its values."""

    def sort(order: Literal["newest", "oldest"]) -> Answer:
        """List notes, the newest or the oldest first."""

    assert findings(server_of(sort)) == []


def test_nulls_dropped_by_the_middleware_have_no_finding():
    """If the middleware drops nulls, a parameter need not accept them."""
    assert findings(server_of(not_nullable, middleware=LenientMiddleware())) == []
    strict = LenientMiddleware(Policy.strict())
    assert findings(server_of(not_nullable, middleware=strict)) == [
        ("optional_not_nullable", "limit", "note")
    ]


@each_row(
    ("annotations", "middleware", "found"),
    [
        pytest.param(None, None, True, id="nothing"),
        pytest.param({"readOnlyHint": False}, None, True, id="not read only"),
        pytest.param({"readOnlyHint": True}, None, False, id="read only"),
        pytest.param({"destructiveHint": True}, None, False, id="destructive"),
        pytest.param({"destructiveHint": False}, None, False, id="not destructive"),
        pytest.param(None, Policy(), True, id="default policy"),
        pytest.param(None, Policy(destructive="unless_read_only"), False, id="policy unless read only"),
        pytest.param(None, Policy(destructive=True), False, id="destructive by policy"),
    ],
)
def test_a_tool_that_says_its_effect_has_no_finding(annotations, middleware, found):
    """Neither has a tool that the server's policy treats as destructive."""
    server = server_of(tidy, middleware=None if middleware is None else LenientMiddleware(middleware))
    server.tool(delete_notes, annotations=annotations)
    assert [each.tool for each in check(server, select=["effect_unsaid"])] == ["delete_notes"] * found


@pytest.mark.skipif(
    not IS_3, reason="SDK 2 drops unknown annotations, and its own spelling is published as MCP's"
)
@each_row("spelling", ["destructive_hint", "DestructiveHint", "destructive-hint"])
def test_misspelled_annotations_are_found(spelling):
    """The finding names both spellings. An annotation of another name is no fault."""
    server = server_of(tidy)
    server.tool(delete_notes, annotations=ToolAnnotations(**{spelling: True, "owner": "ops"}))
    (finding,) = check(server, select=["hint_misspelled"])
    assert finding.reason == f"Clients do not know the annotation '{spelling}'."
    assert finding.mend == "Write 'destructiveHint', such as annotations={\"destructiveHint\": True}."


@each_row(
    ("name", "found"),
    [("x" * 64, 0), ("x" * 65, 1), ("notes.store", 1), ("notes-store_2", 0)],
)
def test_a_name_that_providers_reject_is_found(name, found):
    """A tool's name has at most 64 characters: letters, digits, _ and -."""
    tool = Tool(name=name, description="Does something.", inputSchema={"type": "object"})
    assert findings([tool]) == [("request_rejected", "", "warning")] * found


def read_file(path: str) -> Answer:
    """Read a file. DEPRECATED: Use read_text_file instead."""


def read_text_file(path: str) -> Answer:
    """Read a file as text."""


def test_a_deprecated_tool_beside_its_successor_is_found():
    """The finding names the successor, and there is none where the list does not have it."""
    (finding,) = check(server_of(read_file, read_text_file), select=["deprecated_listed"])
    assert (finding.tool, "'read_text_file'" in finding.reason) == ("read_file", True)
    assert check(server_of(read_file), select=["deprecated_listed"]) == ()


def test_an_open_model_gets_the_line_to_add():
    """The finding has the line that makes the model refuse other names. A closed policy prevents it."""
    (finding,) = check(server_of(open_model), select=["optional_overlooked"])
    assert 'Add the line model_config = ConfigDict(extra="forbid") to its Pydantic model,' in finding.mend
    assert findings(server_of(open_model, middleware=LenientMiddleware(Policy(closed=True)))) == []


def test_open_arguments_are_a_note():
    """For a schema from elsewhere the finding names the keyword, and open arguments are only a note."""
    schema = {"type": "object", "properties": {"dry_run": {"type": "boolean", "description": "Only say."}}}
    (finding,) = check(foreign(schema), select=["optional_overlooked"])
    assert (finding.level, finding.place) == ("note", "")
    assert finding.mend.startswith('Add "additionalProperties": false to its schema;')


@pytest.mark.parametrize("middleware", [None, LenientMiddleware()])
@pytest.mark.parametrize("is_destructive", [True, False])
def test_the_middleware_is_not_advised_for_destructive_tools(middleware, is_destructive):
    """A null is never dropped in a destructive tool, so only changing the type is advised."""
    server = FastMCP("s")
    server.tool(annotations={"destructiveHint": is_destructive})(not_nullable)
    if middleware is not None:
        server.add_middleware(middleware)
    found = check(server, select=["optional_not_nullable"])
    assert [finding.mend == "Take null as well." for finding in found] == (
        [True] if is_destructive else [False] if middleware is None else []
    )


def test_a_declared_normalizer_prevents_a_finding():
    """A parameter with the author's normalizer has no finding."""

    @lenient(content=parse_json())
    def store(content: Any) -> Answer:
        """Store the content."""

    assert findings(server_of(store, middleware=LenientMiddleware())) == []


def test_a_finding_has_the_location_of_the_function():
    """A finding of a tool in this process names its file and line, also through a mount."""
    outer = FastMCP("outer")
    outer.mount(server_of(without_words))
    (finding,) = check(outer)
    line = 1 + Path(__file__).read_text(encoding="utf-8").splitlines().index(
        "def without_words(name: str) -> Answer: ..."
    )
    assert (Path(str(finding.file)).name, finding.line) == (Path(__file__).name, line)


@each_row(
    ("chosen", "codes_found"),
    [
        pytest.param({}, {"untyped_parameter", "tool_without_description"}, id="all"),
        pytest.param({"select": ["untyped_*"]}, {"untyped_parameter"}, id="selected"),
        pytest.param({"ignore": ["untyped_parameter"]}, {"tool_without_description"}, id="ignored"),
        pytest.param({"select": ["*"], "ignore": ["*"]}, set(), id="ignoring wins"),
    ],
)
def test_rules_are_chosen_by_code_or_pattern(chosen, codes_found):
    """Only the selected rules report findings."""
    found = check(server_of(untyped, without_words), **chosen)
    assert {finding.code for finding in found} == codes_found


def test_an_unknown_code_is_an_error():
    """A misspelled code is an error, because it would otherwise ignore nothing."""
    with pytest.raises(ValueError, match="'untypd' matches no rule; the rules are schema_unusable"):
        check([], ignore=["untypd"])


def test_a_recursive_schema_is_checked_once():
    """Recursion through references, lists and unions ends."""
    either = union({"$ref": "#/$defs/N"}, array({"$ref": "#/$defs/N"}))
    node = opened(left=either, right=either, both=either, free={"type": "object"})
    schema = {**opened(root={"$ref": "#/$defs/N"}), "$defs": {"N": node}}
    assert findings(foreign(schema)).count(("free_form_object", "root.free", "warning")) == 1


def test_the_page_lists_the_rules():
    """The list on the page equals the table in the code."""
    rows = re.findall(r"^- `(\w+)` \((\w+)\): (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(check.code, check.level, check.summary) for check in CHECKS]


@pytest.mark.parametrize(
    ("middleware", "found"), [(None, ["decorated"]), (LenientMiddleware(), [])], ids=["alone", "behind"]
)
def test_a_decorator_without_the_middleware_is_found(middleware, found):
    """Where only ``@lenient`` stands before a tool, the finding says what it does not see."""
    server = server_of(tidy, middleware=middleware)
    server.tool(lenient(decorated))
    assert [each.tool for each in check(server, select=["decorator_alone"])] == found


def decorated(limit: int) -> Answer:
    """Search."""
