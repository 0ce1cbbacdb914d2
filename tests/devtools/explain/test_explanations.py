"""Compare explanations with what the middleware really does, call by call."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from itertools import product
from typing import Annotated, Literal

import pytest
from fastmcp import Client, FastMCP
from fastmcp.tools import Tool
from fastmcp_versions import RAW, not_on_3
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, SecretStr, StrictInt
from tables import ARRAY, BOOLEAN, INTEGER, NUMBER, STRING, array, closed, enum, opened, union

from mcp_lenient import DEFAULT_RULES, LenientMiddleware, Policy, ValueRule, lenient
from mcp_lenient.devtools.explain import explain, explain_event
from mcp_lenient.devtools.explain.trace import Trace
from mcp_lenient.devtools.explain.unapplied import unapplied
from mcp_lenient.engine.contract import Contract
from mcp_lenient.normalizers import strip, tags
from mcp_lenient.telemetry.events import read_event
from mcp_lenient.testing import stress
from mcp_lenient.values.json_values import json_type


class Row(BaseModel):
    """A row."""

    age: int
    name: str = ""


class Person(BaseModel, extra="forbid"):
    """A person."""

    age: int


class Low(Tool):
    """A tool that is known only by its schema."""

    async def run(self, arguments):
        raise SystemExit(arguments)


TWO_WAYS = (
    ValueRule("one_way", 1, lambda _place, _value: ("a_b",), ("string",)),
    ValueRule("other_way", 1, lambda _place, _value: ("a-b",), ("string",)),
)
LOW = closed("value", value=union(INTEGER, BOOLEAN), names=ARRAY)


def build(policy=None, *, middleware=True):
    server = FastMCP("explained")
    if middleware:
        server.add_middleware(LenientMiddleware(policy))

    @server.tool
    def store(
        content: str,
        labels: list[str] | None = None,
        mode: Literal["fast", "slow"] = "fast",
        limit: Annotated[int, Field(ge=1, le=10)] = 5,
        rows: list[Row] = [],  # noqa: B006
    ) -> str:
        """Store."""
        raise SystemExit(content, labels, mode, limit, rows)

    @server.tool(annotations={"destructiveHint": True})
    def remove(ids: list[int], maxCount: int = 1) -> str:  # noqa: N803
        """Remove."""
        raise SystemExit(ids, maxCount)

    @server.tool
    @lenient(content=strip(), labels=tags())
    def declared(content: str, labels: list[str] | None = None) -> str:
        """Store."""
        raise SystemExit(content, labels)

    server.add_tool(Low(name="low", description="Low.", parameters=LOW))
    return server


async def explained(server, tool, sent):
    async with Client(server):
        return await explain(server, tool, sent)


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(None, id="default"),
        pytest.param(Policy(unrepairable="refuse"), id="refuse", marks=pytest.mark.slow),
        pytest.param(Policy.strict(), id="strict", marks=pytest.mark.slow),
    ],
)
@not_on_3(RAW)
def test_each_explanation_has_the_outcome_of_the_call(policy):
    """For generated damage, an explanation has the arguments, repairs or error code of the real call."""
    server = build(policy)
    calls = stress(server, seed=3, per_tool=2).calls

    async def work():
        async with Client(server):
            return [await explain(server, call.tool, call.sent) for call in calls]

    for call, said in zip(calls, asyncio.run(work()), strict=True):
        reported = (
            said.arguments if said.fate != "refused" else None,
            tuple(each.rule for each in said.repairs) if said.fate == "repaired" else (),
            said.envelope["error_code"] if said.envelope else None,
        )
        assert reported == (call.got, call.repairs, call.error_code), call
    assert len(calls) > 150


async def test_the_steps_name_candidates_tiers_and_the_winner():
    """The explanation names each rule's result with its tier, and why one candidate wins."""
    said = await explained(build(), "store", {"content": "x", "labels": "['a']", "mode": "FAST"})
    text = str(said)
    assert '/labels: json5_text_to_array (tier 2) reads it as ["a"]' in text
    assert '/mode: fold_enum (tier 1) reads it as "fast"' in text
    assert 'accepts {"content": "x", "labels": ["a"], "mode": "fast"}' in text
    assert "/labels: repaired by json5_text_to_array (tier 2)" in text


async def test_two_repairs_of_one_value_are_no_rivals():
    """The rule for its name is not said to be closer to what was sent than that for its value."""
    text = str(await explained(build(), "store", {"Content": 5}))
    assert "/Content: repaired by rename_case (tier 1)" in text
    assert "/Content: repaired by number_to_text (tier 4)" in text
    assert "closer to what was sent" not in text


async def test_a_value_inside_text_is_reported_with_its_pointer():
    """A list sent as text is parsed, and errors inside it are explained."""
    said = await explained(build(), "store", {"content": "x", "rows": '[{"age": 7}, {"age": [8]}]'})
    assert "/rows/1/age: array_to_scalar (tier 4) reads it as 8" in str(said)
    assert said.arguments["rows"] == [{"age": 7}, {"age": 8}]


NUMBERS = array(INTEGER)
CODE = {"type": "string", "format": "date"}


@pytest.mark.parametrize(
    ("schema", "sent", "rule", "guard"),
    [
        (NUMBERS, "1 2 3", "delimited_text_to_array", "has_delimiter"),
        (NUMBERS, "1,234", "delimited_text_to_array", "no_other_comma"),
        (array(STRING), "a, b", "scalar_to_array", "is_one_item"),
        (array(STRING), "", "scalar_to_array", "says_something"),
        (array(NUMBERS), [[1], 3], "scalar_to_array", "no_inner_list"),
        (array(opened(n=INTEGER)), {"m": 1}, "object_to_array", "items_declare_names"),
        (NUMBERS, {"item": "1,2"}, "item_wrapper_to_array", "holds_items"),
        (INTEGER, "10.000", "text_to_integer", "no_thousands"),
        (INTEGER, "3.9", "text_to_integer", "is_whole"),
        (INTEGER, "0644", "text_to_integer", "no_octal"),
        (NUMBER, "9007199254740993", "text_to_number", "is_exact"),
        (union(INTEGER, BOOLEAN), "yes", "text_to_boolean", "is_json_word"),
        (STRING, 3.1, "number_to_text", "keeps_all_digits"),
        (CODE, 5, "number_to_text", "no_format"),
        (array(STRING), ["a", 1], "number_to_text", "numbers_alone"),
        (enum("MB", "GB"), "Mb", "fold_enum", "is_one_member"),
        (STRING, ["a"], "array_to_scalar", "holds_no_json"),
        (STRING, {"value": "a"}, "wrapped_value", "holds_no_json"),
        (INTEGER, {"value": None}, "wrapped_value", "holds_one_value"),
    ],
)
async def test_one_guard_is_named(schema, sent, rule, guard):
    """If no rule gives a candidate, the explanation names the rule that comes closest and the guard that stops it."""
    server = FastMCP("s", middleware=[LenientMiddleware()])
    server.add_tool(Low(name="take", parameters=closed("value", value=schema)))
    text = " ".join(str(await explained(server, "take", {"value": sent})).split())
    said = text.partition("What the rules propose ")[2].partition(" 4. ")[0]
    assert said.count("no rule applies") == 1
    assert f"{rule} (tier " in said
    assert f"(guard {guard})." in said


@pytest.mark.parametrize(
    ("properties", "sent", "guard"),
    [
        ({"max_results": INTEGER}, {"maxResults": 5, "max_results": 6}, "not_sent"),
        ({"rateMbps": INTEGER}, {"rateMBps": 5}, "no_unit"),
        ({"at": closed(n=INTEGER)}, {"at": {"toolCallId": "x"}}, "is_at_top"),
    ],
)
async def test_the_guard_that_stops_a_name_is_named(properties, sent, guard):
    """An undeclared name that a rule would read as another is explained by the guard that stops it."""
    server = FastMCP("s", middleware=[LenientMiddleware()])
    server.add_tool(Low(name="take", parameters=closed(**properties)))
    assert f"(guard {guard})." in " ".join(str(await explained(server, "take", sent)).split())


@pytest.mark.parametrize(
    ("sent", "guard"),
    [
        ({"maxcount": 1}, "has_same_words"),
        ({"toolCallId": "call_1", "action": "x"}, "is_call_id"),
        ({"ids": "1, 2, 3"}, "destructive"),
    ],
)
async def test_the_guard_of_destructive_tools_is_named(sent, guard):
    """Of a reading that does not keep what was sent, the guard for destructive tools is named."""
    text = " ".join(str(await explained(build(), "remove", {"ids": [1], **sent})).split())
    assert f"(guard {guard})." in text


@pytest.mark.parametrize(
    ("sent", "reported"),
    [
        pytest.param({"content": "x", "colour": 1}, "/colour: is not a declared name", id="parameter"),
        pytest.param(
            {"content": "x", "rows": [{"age": 1, "weight": 2}]},
            "/rows/0/weight: is not a declared name",
            id="field",
        ),
        pytest.param(
            {"content": "x", "counts": {"z": 1}},
            "/counts/z: is not a key that the tool accepts here (a key must be 'x' or 'y')",
            id="key of a map",
        ),
    ],
)
async def test_an_unknown_name_is_reported_with_its_pointer(sent, reported):
    """An undeclared name is reported with its pointer, and a map key with the allowed keys."""
    server = FastMCP("names", strict_input_validation=True, middleware=[LenientMiddleware()])

    @server.tool
    def keep(
        content: str, rows: list[Person] | None = None, counts: dict[Literal["x", "y"], int] | None = None
    ) -> None:
        raise SystemExit(content, rows, counts)

    text = str(await explained(server, "keep", sent))
    assert reported in " ".join(text.split())
    assert "parameter of the tool" not in text


@pytest.mark.parametrize(("name", "is_shown"), [("way", True), ("pin", False)])
async def test_a_tie_names_both_candidates(name, is_shown):
    """Two equally likely candidates are named, and neither is used; those of a secret are masked."""
    server = FastMCP("ties")
    server.add_tool(Low(name="low", parameters=opened(name, **{name: enum("a_b", "a-b")})))
    server.add_middleware(LenientMiddleware(Policy(rules=[*DEFAULT_RULES, *TWO_WAYS], unrepairable="refuse")))
    said = await explained(server, "low", {name: "x"})
    assert said.fate == "refused"
    assert f"/{name}: 2 readings are equally likely, so none is used:" in str(said)
    assert f"/{name}: one_way (tier 1)" in str(said)
    assert ('     "a_b"\n     "a-b"\n' in str(said)) is is_shown
    assert ("a_b" in str(said) or "a-b" in str(said)) is is_shown


@pytest.mark.parametrize(
    ("policy", "fate"),
    [
        pytest.param(Policy(mode="observe"), "observed", id="observe"),
        pytest.param(Policy(mode="off"), "off", id="off"),
        pytest.param(Policy(), "repaired", id="repair"),
    ],
)
async def test_the_mode_decides_the_outcome(policy, fate):
    """In the modes ``observe`` and ``off`` the call goes on as sent."""
    sent = {"content": "x", "labels": "a"}
    said = await explained(build(policy), "store", sent)
    assert said.fate == fate
    assert said.arguments == ({**sent, "labels": ["a"]} if fate == "repaired" else sent)


async def test_a_missing_middleware_is_reported():
    """If the server has no middleware, the default one is used and its absence is reported."""
    said = await explained(build(middleware=False), "store", {"content": "x", "labels": "a"})
    assert said.fate == "repaired"
    assert "This tool has no LenientMiddleware" in str(said)


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(None, id="nothing"),
        pytest.param(7, id="a number"),
        pytest.param("\ud800", id="a lone surrogate"),
        pytest.param("[" * 100_000, id="brackets"),
        pytest.param({"labels": json.loads("[" * 500 + "]" * 500)}, id="deep"),
        pytest.param({"content": float("nan"), "\ud800": 10**400}, id="no JSON"),
        pytest.param({"labels": [f"{at}" for at in range(5000)], "content": 1, "rows": "x"}, id="long"),
        pytest.param({"rows": [{"age": f"{at}x"} for at in range(5000)]}, id="many faults"),
    ],
)
async def test_any_wrong_arguments_are_explained(sent):
    """Any arguments are explained in a bounded number of printable lines."""
    said = await explained(build(), "store", sent)
    assert str(said).encode()
    assert json.dumps(said.as_dict(), default=repr)
    assert len(str(said).splitlines()) < 400


PERCENT = ValueRule("percent_to_number", 4, lambda _place, _value: (), ("string",), ("number",))
LONG_UNIONS = {"allOf": [{"anyOf": [INTEGER, NUMBER]} for _ in range(9)]}


@pytest.mark.parametrize(
    ("schema", "sent", "policy", "says"),
    [
        (STRING, 5, {"destructive": True}, "it is not allowed in a destructive tool: number_to_text"),
        (
            STRING,
            5,
            {},
            "the schema accepts other types here than those in `gives`: integer_to_boolean, scalar_to_array",
        ),
        (
            union(NUMBER, BOOLEAN),
            "15%",
            {"rules": (*DEFAULT_RULES, PERCENT)},
            "in a union, only rules with `literal` read a value of another type: percent_to_number",
        ),
        (
            NUMBER,
            [1, 2],
            {"rules": (*DEFAULT_RULES, PERCENT)},
            "the value has a type that is not in `takes`: percent_to_number",
        ),
        (
            NUMBER,
            "15%",
            {"rules": (replace(PERCENT, certain=False),)},
            "it is only offered as a fix (`certain=False`): percent_to_number",
        ),
        (enum("fast", "slow"), "FAST", {"disable": {"fold_enum"}}, "it is disabled by the policy: fold_enum"),
        (
            {"type": "string", "const": "go"},
            "GO",
            {},
            "only one value is allowed here, and no rule says it for the caller: fold_enum",
        ),
        (
            {"enum": [1, 2]},
            "3",
            {},
            "numbers of an enum without a type are only read by fold_enum: text_to_integer",
        ),
        (
            BOOLEAN,
            "maybe",
            {},
            "no allowed values are listed (guard lists_values): fold_enum",
        ),
        (INTEGER, None, {}, "only optional properties are left out: null_to_absent"),
        (LONG_UNIONS, True, {}, "this part of the schema is not read: scalar_to_array"),
        (
            ARRAY,
            '["a"]',
            {"disable": {"delimited_text_to_array"}},
            (
                "a rule of a lower tier gave a value that fits: json5_text_to_array, python_text_to_array, "
                "scalar_to_array, object_to_array"
            ),
        ),
    ],
)
async def test_rules_that_do_not_apply_are_listed_with_the_reason(schema, sent, policy, says):
    """A rule that reads such a value, and any of the author's own, is listed under what stopped it."""
    server = FastMCP("s", middleware=[LenientMiddleware(Policy(**policy))])
    server.add_tool(Low(name="take", parameters=closed("value", value=schema)))
    said = await explained(server, "take", {"value": sent})
    (step,) = (each for each in said.steps if each.title == "What stops each rule")
    assert step.lines[0] == "/value:"
    reason, _, rules = says.rpartition(": ")
    (listed,) = (line.rpartition(": ")[2] for line in step.lines if line.startswith(f"  {reason}: "))
    assert {*rules.split(", ")} <= {*listed.split(", ")}


@pytest.mark.parametrize(
    ("schema", "sent", "guard", "hint"),
    [
        (INTEGER, "3.9", "is_whole", "Send a whole number."),
        (INTEGER, "10.000", "no_thousands", "Send a whole number."),
        (NUMBERS, "1 2 3", "has_delimiter", "Write it in the form"),
        (array(STRING), "a, b", "is_one_item", "Write it in the form"),
    ],
)
async def test_the_hint_of_the_envelope_avoids_the_guard(schema, sent, guard, hint):
    """What the envelope advises is what the guard that is named does not stop."""
    server = FastMCP("s", middleware=[LenientMiddleware(Policy(unrepairable="refuse"))])
    server.add_tool(Low(name="take", parameters=closed("value", value=schema)))
    said = await explained(server, "take", {"value": sent})
    assert f"(guard {guard})." in " ".join(str(said).split())
    assert hint in said.envelope["message"]


async def test_a_disabled_rule_comes_closest():
    """What a rule would read is said, if only the policy forbids it."""
    server = FastMCP("s", middleware=[LenientMiddleware(Policy(disable={"fold_enum"}))])
    server.add_tool(Low(name="take", parameters=closed("value", value=enum("fast", "slow"))))
    text = " ".join(str(await explained(server, "take", {"value": "FAST"})).split())
    said = 'fold_enum (tier 1) comes closest: it reads it as "fast", but it is disabled by the policy (guard disabled).'
    assert said in text


NODES = (
    *(STRING, INTEGER, NUMBER, BOOLEAN, ARRAY, enum("a", "b"), enum("a", 1), enum("a"), LONG_UNIONS),
    *(union(INTEGER, BOOLEAN), union(ARRAY, {"type": "null"}), union(NUMBER, ARRAY), closed("n", n=INTEGER)),
)
VALUES = (
    *("x", "5", "[1]", '{"n": 1}', "null", ""),
    *(1, 7.5, True, None, [], ["a"], {}, {"value": 5}, [[5], "a"]),
)


@pytest.mark.parametrize("destructive", [False, True])
@pytest.mark.parametrize("required", [("value",), ()])
def test_each_rule_that_reads_such_a_value_applies_or_is_listed(destructive, required):
    """No rule is missing, and none is both, whatever the place and the value are."""
    of_value = [rule for rule in DEFAULT_RULES if isinstance(rule, ValueRule)]
    refused = 0
    for node, value in product(NODES, VALUES):
        contract = Contract.of_schema(closed(*required, value=node), Policy(), destructive=destructive)
        trace = Trace()
        status = contract.decide({"value": value}, trace).status
        places = unapplied(contract.plan, trace)
        if [fault.path for fault in trace.answers[0].faults] == [("value",)] and status != "accepted":
            applied = {each.rule.name for each in trace.proposals.values() if each.pointer == "/value"}
            listed = {name for place in places for names in place.rules.values() for name in names}
            reading = {rule.name for rule in of_value if json_type(value) in rule.takes}
            assert listed == reading - applied, (node, value)
            refused += 1
    assert refused > 100


async def test_what_is_said_of_destructive_tools_is_true_of_the_unwrapping():
    """A wrapper around the whole call is also taken off in a destructive tool, though by a rule of a higher tier."""
    said = await explained(build(), "remove", {"args": {"ids": [1]}})
    assert said.fate == "repaired"
    assert "the arguments as a whole: repaired by unwrap_arguments (tier 8)" in str(said)
    assert "those of tiers 1 and 2, and of the others those that check each result" in said.steps[0].lines[-1]


async def test_places_with_the_same_rules_are_listed_together():
    """Of a long list, some places are named, and their rules once."""
    said = await explained(
        build(), "store", {"content": "x", "rows": [{"age": f"{at}x"} for at in range(50)]}
    )
    (step,) = (each for each in said.steps if each.title == "What stops each rule")
    assert step.lines[0].startswith("/rows/0/age, /rows/1/age, ")
    assert len(step.lines) < 10


async def test_rules_for_names_and_for_the_whole_call_are_listed():
    """With a wrong name, those that may not act in a destructive tool are named for the arguments as a whole."""
    text = str(await explained(build(), "remove", {"idz": [1]}))
    said = "it is not allowed in a destructive tool:"
    assert f"     {said} rename_qualified\n" in text
    assert "the arguments as a whole:\n" in text
    assert f"     {said} wrap_arguments, nest_arguments\n" in text


def _author_checks(value):
    if not isinstance(value, bool):
        message = "send a boolean"
        raise ValueError(message)  # noqa: TRY004 - what Pydantic takes as a refusal
    return value


@pytest.mark.parametrize(
    ("kind", "sent", "guard"),
    [
        (StrictInt, {"note": "5"}, "strict_field"),
        (Literal[True], {"note": "true"}, "one_value"),
        (Annotated[int, Field(ge=5, le=5)], {"note": [5]}, "one_value"),
        (list[str], {"note": 5}, "wrong_inside"),
        (str, {"Note": "a", "NOTE": "b"}, "same_name"),
        (Annotated[bool, BeforeValidator(_author_checks)], {"note": "yes"}, "authors_check"),
    ],
)
async def test_a_reading_that_is_not_used_is_named_with_its_guard(kind, sent, guard):
    """A reading that no guard of a rule stops, and the validator may accept, says why it is not used."""

    def take(note):
        pass

    take.__annotations__ = {"note": kind}
    server = FastMCP("explained", middleware=[LenientMiddleware()])
    server.tool(take)
    text = " ".join(str(await explained(server, "take", sent)).split())
    assert f"(guard {guard})." in text
    assert "accepts none of the readings" not in text
    assert text.count("accepts {") + text.count("refuses {") <= 1


async def test_without_a_reading_it_is_not_said_that_one_is_refused():
    """The validator refuses readings only if there are any."""
    for sent, said in (
        ("many", "There is no reading."),
        ("99", "The validator accepts none of the readings."),
    ):
        text = str(await explained(build(), "store", {"content": "x", "limit": sent}))
        assert f"{said} Still wrong:\n     /limit" in text


class Login(BaseModel, extra="forbid"):
    """A login."""

    user: str
    word: SecretStr


def refuse(value: str) -> str:
    """Refuse a value, and repeat it."""
    message = f"{value} is too easy"
    raise ValueError(message)


def secretive(policy=None):
    """Return a server with tools that take secrets."""
    server = FastMCP("secretive", middleware=[LenientMiddleware(policy)])

    @server.tool
    def enter(login: Login, password: str = "", labels: dict[str, int] | None = None) -> None:
        raise SystemExit(login, password, labels)

    @server.tool
    def change(password: Annotated[str, AfterValidator(refuse)]) -> None:
        raise SystemExit(password)

    return server


LOGIN = {"user": "ann", "word": "hunter2"}


SECRETS = [
    pytest.param("enter", {"login": LOGIN, "password": "hunter2"}, id="accepted"),
    pytest.param("enter", {"login": LOGIN, "password": ["hunter2"]}, id="repaired"),
    pytest.param("enter", {"login": json.dumps(LOGIN)}, id="text of an object"),
    pytest.param("enter", {"login": str(LOGIN)[:-1]}, id="cut-off text"),
    pytest.param("enter", json.dumps({"login": LOGIN}), id="text of all arguments"),
    pytest.param("enter", {"arguments": {"login": LOGIN, "password": ["hunter2"]}}, id="wrapped"),
    pytest.param("enter", {"login": {"user": "ann", "Word": ["hunter2"]}}, id="another spelling"),
    pytest.param("enter", {"login": LOGIN, "api_kye": ["hunter2"]}, id="undeclared"),
    pytest.param("enter", {"login": LOGIN, "labels": {"token": "hunter2"}}, id="map"),
    pytest.param("change", {"password": "hunter2"}, id="author's sentence"),
    pytest.param("enter", {"login": LOGIN, '{"password": "hunter2"}': 1}, id="key"),
    pytest.param("enter", {"login": {**LOGIN, "password=hunter2": 1}}, id="key of an object"),
]


@pytest.mark.parametrize("mode", ["repair", "observe", "off"])
async def test_secrets_are_masked(mode, subtests):
    """No explanation has a secret value, or one that was sent under an undeclared name."""
    server = secretive(Policy(mode=mode))
    for row in SECRETS:
        with subtests.test(row.id):
            said = await explained(server, *row.values)
            assert "hunter2" not in f"{said} {said!r}" + json.dumps(said.as_dict())


async def test_other_values_are_shown():
    """Values next to a secret, in a map, or in a wrapper are shown."""
    sent = {"arguments": {"login": LOGIN, "labels": {"a": 5}}}
    text = str(await explained(secretive(), "enter", sent))
    assert '{"login": {"user": "ann", "word": "{…}"}, "labels": {"a": 5}}' in text


async def test_an_unknown_tool_is_refused():
    """The envelope is the one that a caller gets."""
    said = await explained(build(), "stor", {})
    assert (said.fate, said.envelope["error_code"]) == ("refused", "UNKNOWN_TOOL")


EVENT = {
    "schema_version": 1,
    "event": "call_rejected",
    "tool": "store",
    "error_code": "INVALID_ARGUMENTS",
    "repairs": [{"rule": "rename_case", "pointer": "/Limit", "before": "string", "after": "string"}],
    "repair_count": 60,
    "violations": [
        {"code": "type", "pointer": "/rows/3/age"},
        {"code": "unknown", "pointer": "/lables"},
        {"code": "enum", "pointer": "/mode"},
    ],
    "violation_count": 3,
}


async def explained_event(**changes):
    """Return what is said of a logged call."""
    server = build()
    async with Client(server):
        return str(await explain_event(server, read_event(json.dumps({**EVENT, **changes}))))


async def test_a_logged_call_is_explained_by_the_schema():
    """Each place is reported with what the schema expects, and each unknown name with the nearest one."""
    text = await explained_event()
    assert "rename_case at /Limit and 59 more" in text
    assert "Wrong at /rows/3/age\n   type. Likely sent: the wrong JSON type. Let its description say" in text
    assert "The schema expects an integer there." in text
    assert "The schema declares no such name; the nearest is labels." in text
    assert 'The schema expects one of "fast", "slow" there.' in text


async def test_a_logged_failure_is_found_by_its_id():
    """What the caller was told, the exception's type, the model and the repetitions are said, as `tail` says them."""
    text = await explained_event(exception="KeyError", error_id="4f2a", model="gpt-5", repeated=3, repairs=[])
    for part in ("raised KeyError", "id 4f2a", "with gpt-5", "(the same call, refused 3 times)"):
        assert part in text


async def test_a_logged_call_of_a_removed_tool_is_partly_explained():
    """Without the tool, an event is explained by its rules and codes."""
    text = await explained_event(tool="gone")
    assert "The server has no tool gone (any more)." in text
    assert "rename_case (tier 1)" in text


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        pytest.param(Policy.strict(), "Nothing: the policy has no rules, like Policy.strict()", id="strict"),
        pytest.param(
            Policy(disable={rule.name for rule in DEFAULT_RULES}),
            "Nothing: the policy disables all of its rules",
            id="all disabled",
        ),
        pytest.param(Policy(disable={"text_to_integer"}), "it disables text_to_integer", id="one disabled"),
        pytest.param(Policy(), "Nothing: no rule applies.", id="all allowed"),
    ],
)
async def test_a_policy_without_rules_is_named(policy, says):
    """If no rule applies because of the policy, the explanation says so."""
    server = FastMCP("s", middleware=[LenientMiddleware(policy)])

    @server.tool
    def take(row: Person) -> None:
        """Take."""

    assert says in str(await explained(server, "take", {}))


async def test_unvalidated_places_are_named():
    """Parts of the schema that cannot be read are listed with their place and the reason."""
    server = FastMCP("s", middleware=[LenientMiddleware()])
    server.add_tool(Low(name="take", parameters=opened(a={"$ref": "https://x.example/y"}, b=INTEGER)))
    text = str(await explained(server, "take", {"b": "5"}))
    assert "Parts of the schema that are not validated or repaired\n   /properties/a: " in text


async def test_a_tools_name_in_another_spelling_is_explained():
    """A call under another spelling of a tool's name is explained as what runs, unless the policy disables that."""
    for disabled in ((), ("rename_tool",)):
        server = FastMCP("names", middleware=[LenientMiddleware(Policy(disable=frozenset(disabled)))])

        @server.tool
        def search_notes(query: str, limit: int = 5) -> str:
            return f"{query}{limit}"

        async with Client(server) as client:
            for sent in ({"query": "tea"}, {"query": "tea", "limit": [5]}, {"query": None}):
                told = await explain(server, "SearchNotes", sent)
                result = await client.call_tool("SearchNotes", sent, raise_on_error=False)
                assert (told.fate == "repaired") is not result.is_error
                if not disabled:
                    assert [each.rule for each in told.repairs][:1] == ["rename_tool"]
                if not result.is_error:
                    records = result.meta["mcp_lenient"]["repairs"]
                    assert [each._asdict() for each in told.repairs] == records


async def test_the_name_of_a_destructive_tool_is_not_read_in_another_spelling():
    """It is said why; of a name that is no spelling of a tool's name nothing is."""
    server = FastMCP("names", middleware=[LenientMiddleware(Policy(destructive="unless_read_only"))])

    @server.tool
    def remove_notes(ids: list[int]) -> None:
        """Remove notes."""

    async with Client(server) as client:
        for name, is_said in (("removeNotes", True), ("purge", False)):
            told = await explain(server, name, {"ids": [3]})
            assert told.fate == "refused"
            said = f"{name} is remove_notes in another spelling, but rename_tool never acts on a destructive tool."
            assert (said in str(told)) is is_said
            assert (await client.call_tool(name, {"ids": [3]}, raise_on_error=False)).is_error
