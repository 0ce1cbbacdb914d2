"""Test keys sent under another name."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tables import (
    ARRAY,
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    STRING,
    array,
    check,
    check_destructive,
    closed,
    each_row,
    enum,
    keeps_call,
    nullable,
    opened,
    refuses_call,
    repairs_call_to,
    table,
    union,
)

from mcp_lenient import Normalizer, normalize

STRINGS = array(STRING)
SEARCH = closed("query", query=STRING, max_results=INTEGER)


@table(
    repairs_call_to(
        "camel to snake",
        SEARCH,
        {"query": "a", "maxResults": 1},
        {"query": "a", "max_results": 1},
        "rename_case /maxResults",
    ),
    repairs_call_to(
        "kebab to snake",
        SEARCH,
        {"query": "a", "max-results": 1},
        {"query": "a", "max_results": 1},
        "rename_case /max-results",
    ),
    repairs_call_to("title", SEARCH, {"Query": "a"}, {"query": "a"}, "rename_case /Query"),
    refuses_call("one letter", closed("p", p=STRING), {"P": "a"}),
    repairs_call_to(
        "a text, whose last word is no unit",
        closed("userId", userId=STRING),
        {"userID": "u"},
        {"userId": "u"},
        "rename_case /userID",
    ),
    repairs_call_to(
        "snake to camel",
        closed("userId", userId=STRING),
        {"user_id": "u"},
        {"userId": "u"},
        "rename_case /user_id",
    ),
    repairs_call_to(
        "with a value to repair",
        SEARCH,
        {"query": "a", "maxResults": "5"},
        {"query": "a", "max_results": 5},
        "rename_case /maxResults",
        "text_to_integer /maxResults",
    ),
    repairs_call_to(
        "open, missing and required",
        opened("user_id", user_id=STRING),
        {"userId": "u"},
        {"user_id": "u"},
        "rename_case /userId",
    ),
    repairs_call_to(
        "nested", closed("o", o=SEARCH), {"o": {"Query": "a"}}, {"o": {"query": "a"}}, "rename_case /o/Query"
    ),
    repairs_call_to(
        "in an item",
        closed("o", o=array(SEARCH)),
        {"o": [{"Query": "a"}]},
        {"o": [{"query": "a"}]},
        "rename_case /o/0/Query",
    ),
    repairs_call_to(
        "pointer is escaped", closed("a_b", a_b=STRING), {"a-B": "x"}, {"a_b": "x"}, "rename_case /a-B"
    ),
    refuses_call("two keys for one name", SEARCH, {"query": "a", "maxResults": 1, "max-results": 2}),
    refuses_call("the name is there already", SEARCH, {"query": "a", "max_results": 1, "maxResults": 2}),
    refuses_call("two names for one key", closed(userid=STRING, user_id=STRING), {"userId": "u"}),
    refuses_call("digits separated", closed("v1_2", v1_2=STRING), {"v12": "a"}),
    refuses_call("an underscore in front", closed("limit", limit=INTEGER), {"_limit": 5}),
    refuses_call("a shared word", closed("id", id=STRING), {"user_id": "u"}),
    refuses_call("another word", closed("query", query=STRING), {"search": "u"}),
    repairs_call_to(
        "open, optional",
        opened(max_results=INTEGER),
        {"maxResults": 1},
        {"max_results": 1},
        "rename_case /maxResults",
    ),
    repairs_call_to(
        "open, beside a required name in the same style",
        opened("user_id", user_id=STRING, dry_run=BOOLEAN),
        {"userId": "u", "dryRun": True},
        {"user_id": "u", "dry_run": True},
        "rename_case /userId",
        "rename_case /dryRun",
    ),
    repairs_call_to(
        "open, next to an unrelated name",
        opened("user_id", user_id=STRING, dry_run=BOOLEAN),
        {"userId": "u", "note": "n"},
        {"user_id": "u", "note": "n"},
        "rename_case /userId",
    ),
    repairs_call_to(
        "open, beside a slip of an optional name",
        opened("user_id", user_id=STRING, preview=BOOLEAN),
        {"userId": "u", "preveiw": True},
        {"user_id": "u", "preveiw": True},
        "rename_case /userId",
    ),
    repairs_call_to(
        "open to strings only, next to a name in the same style",
        {**opened("user_id", user_id=STRING, dry_run=BOOLEAN), "additionalProperties": STRING},
        {"userId": "u", "dryRun": "x"},
        {"user_id": "u", "dryRun": "x"},
        "rename_case /userId",
    ),
    keeps_call(
        "open, the required name is there", opened("query", query=STRING), {"query": "a", "Query": "b"}
    ),
    refuses_call("next to a key that is not a string", SEARCH, {"Query": "a", 1: 5}),
    repairs_call_to(
        "explicitly open, next to a required name in the same style",
        {**opened("user_id", user_id=STRING, dry_run=BOOLEAN), "additionalProperties": True},
        {"userId": "u", "dryRun": True},
        {"user_id": "u", "dry_run": True},
        "rename_case /userId",
        "rename_case /dryRun",
    ),
    repairs_call_to(
        "in another style than a required name, open",
        opened("user_id", user_id=STRING, limit=INTEGER),
        {"userId": "u", "Limit": 5},
        {"user_id": "u", "limit": 5},
        "rename_case /userId",
        "rename_case /Limit",
    ),
    repairs_call_to(
        "in another style than a required name, explicitly open",
        {**opened("user_id", user_id=STRING, limit=INTEGER), "additionalProperties": True},
        {"userId": "u", "Limit": 5},
        {"user_id": "u", "Limit": 5},
        "rename_case /userId",
    ),
)
def test_rename_case_renames_to_the_absent_name(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """A key that differs only in case style is renamed to the absent declared name."""
    check(schema, sent, expected, repairs)


@table(
    *(
        refuses_call(f"{sent} for {name}", closed(name, **{name: INTEGER}), {sent: 5})
        for sent, name in [
            *(("rateMBps", "rateMbps"), ("rateMbps", "rateMBps"), ("rate_mbps", "rateMBps")),
            *(("maxRateGBps", "max_rate_gbps"), ("rateKBpsMax", "rateKbpsMax"), ("MBpsRate", "mbpsRate")),
            *(
                ("powerMW", "powermW"),
                ("power_mW", "powerMW"),
                ("powerMW", "power_mW"),
                ("power_MW", "powermW"),
            ),
            *(
                ("freqmHz", "freqMHz"),
                ("energymWh", "energyMWh"),
                ("voltMV", "volt_mV"),
                ("currentMA", "current_mA"),
            ),
            *(
                ("sizeMB", "sizeMb"),
                ("sizeKb", "sizeKB"),
                ("sizeMib", "sizeMiB"),
                ("resistancemOhm", "resistanceMOhm"),
            ),
            *(("size_MB", "size_mb"), ("Ph", "pH")),
            *(("expire_s", "expires"), ("expireS", "expires"), ("speed_m_s", "speed_ms")),
            *(
                ("timeoutMS", "timeoutMs"),
                ("userID", "userId"),
                ("pressurePA", "pressurePa"),
                ("powerMw", "powerMW"),
            ),
            *(("sizeMB", "size_mb"), ("size_mib", "sizeMiB"), ("lengthm", "lengthM"), ("doseMG", "doseMg")),
            *(
                ("G", "g"),
                ("K", "k"),
                ("max-Results", "max_results"),
                ("rateKbps", "ratekbps"),
                ("topk", "top_k"),
            ),
        ]
    ),
    *(
        repairs_call_to(
            f"{sent} for {name}",
            closed(name, **{name: INTEGER}),
            {sent: 5},
            {name: 5},
            f"rename_case /{sent}",
        )
        for sent, name in [
            *(("timeoutMs", "timeout_ms"), ("TIMEOUT_MS", "timeoutMs")),
            *(),
            *(("rate_mbps", "rateMbps"),),
            *(("power_mw", "powerMW"),),
            *(
                ("size_mb", "sizeMB"),
                ("SIZE_KB", "sizeKb"),
            ),
            *(
                ("userId", "user_id"),
                ("user_id", "userID"),
                ("topK", "top_k"),
                ("maxAge", "max_age"),
                ("Max-Results", "max_results"),
                ("MAXRESULTS", "max_results"),
                ("ID", "Id"),
                ("X1", "x1"),
            ),
        ]
    ),
)
def test_names_of_numbers_are_renamed_from_a_usual_style(
    schema: Any, sent: Any, expected: Any, repairs: Any
) -> None:
    """A number's name is renamed if the whole of it is in a usual case style, so that no case is a unit's."""
    check(schema, sent, expected, repairs)


OPEN_ORDER = opened(
    "item", "count", item=STRING, count=INTEGER, dry_run=BOOLEAN, preview=BOOLEAN, tags=array(STRING)
)


@table(
    repairs_call_to(
        "another case style",
        OPEN_ORDER,
        {"item": "tea", "count": "5", "dryRun": True},
        {"item": "tea", "count": 5, "dry_run": True},
        "text_to_integer /count",
        "rename_case /dryRun",
    ),
    repairs_call_to(
        "a slip",
        OPEN_ORDER,
        {"item": "tea", "count": "5", "preveiw": True},
        {"item": "tea", "count": 5, "preveiw": True},
        "text_to_integer /count",
    ),
    repairs_call_to(
        "singular for a list",
        OPEN_ORDER,
        {"item": "tea", "count": "5", "tag": ["a"]},
        {"item": "tea", "count": 5, "tag": ["a"]},
        "text_to_integer /count",
    ),
    repairs_call_to(
        "the name as well, with another value",
        OPEN_ORDER,
        {"item": "tea", "count": "5", "dry_run": False, "dryRun": True},
        {"item": "tea", "count": 5, "dry_run": False, "dryRun": True},
        "text_to_integer /count",
    ),
    refuses_call(
        "another case style beside a slip of a required name",
        OPEN_ORDER,
        {"item": "tea", "cuont": 5, "dryRun": True},
    ),
    refuses_call("a slip of a required name", OPEN_ORDER, {"item": "tea", "cuont": 5, "preveiw": True}),
    repairs_call_to(
        "nested in a valid parameter",
        closed("n", "o", n=INTEGER, o=OPEN_ORDER),
        {"n": "5", "o": {"item": "tea", "count": 5, "dryRun": True}},
        {"n": 5, "o": {"item": "tea", "count": 5, "dry_run": True}},
        "text_to_integer /n",
        "rename_case /o/dryRun",
    ),
    repairs_call_to(
        "in an item",
        closed("o", o=array(OPEN_ORDER)),
        {"o": '[{"item": "tea", "count": 5, "dryRun": true}]'},
        {"o": [{"item": "tea", "count": 5, "dry_run": True}]},
        "json_text_to_array /o",
        "rename_case /o/0/dryRun",
    ),
    repairs_call_to(
        "under a name by pattern",
        {**closed("n", n=INTEGER), "patternProperties": {"^o": OPEN_ORDER}},
        {"n": "5", "one": {"item": "tea", "count": 5, "dryRun": True}},
        {"n": 5, "one": {"item": "tea", "count": 5, "dry_run": True}},
        "text_to_integer /n",
        "rename_case /one/dryRun",
    ),
    repairs_call_to(
        "in the branch of a union",
        closed("o", o=nullable(OPEN_ORDER)),
        {"o": '{"item": "tea", "count": 5, "dryRun": true}'},
        {"o": {"item": "tea", "count": 5, "dry_run": True}},
        "json_text_to_object /o",
        "rename_case /o/dryRun",
    ),
    refuses_call(
        "value that fits the declared name unchanged",
        {**opened(max_results=INTEGER), "additionalProperties": STRING},
        {"Max_Results": 5},
    ),
    repairs_call_to(
        "unrelated name whose value must be a string",
        {**opened(max_results=INTEGER), "additionalProperties": STRING},
        {"order": 5},
        {"order": "5"},
        "number_to_text /order",
    ),
    repairs_call_to(
        "in the only matching branch",
        closed("n", "o", n=INTEGER, o=union(opened("a", a=INTEGER, dry_run=BOOLEAN), opened("b", b=INTEGER))),
        {"n": "5", "o": {"a": 1, "dryRun": True}},
        {"n": 5, "o": {"a": 1, "dryRun": True}},
        "text_to_integer /n",
    ),
    repairs_call_to(
        "explicitly open",
        {**OPEN_ORDER, "additionalProperties": True},
        {"item": "tea", "count": "5", "dryRun": True},
        {"item": "tea", "count": 5, "dryRun": True},
        "text_to_integer /count",
    ),
    repairs_call_to(
        "one inside the other",
        opened(
            "n",
            n=INTEGER,
            o={
                **opened(tags=opened(tags=STRING)),
                "additionalProperties": {**opened(tags=STRING), "additionalProperties": STRING},
            },
        ),
        {"n": "5", "o": {"tag": {"tag": "a"}}},
        {"n": 5, "o": {"tag": {"tag": "a"}}},
        "text_to_integer /n",
    ),
    repairs_call_to(
        "the name as well, with the same value",
        OPEN_ORDER,
        {"item": "tea", "count": "5", "dry_run": True, "dryRun": True},
        {"item": "tea", "count": 5, "dry_run": True, "dryRun": True},
        "text_to_integer /count",
    ),
    repairs_call_to(
        "unrelated short name",
        opened("n", n=INTEGER, id=STRING),
        {"n": "5", "ib": "x"},
        {"n": 5, "ib": "x"},
        "text_to_integer /n",
    ),
    repairs_call_to(
        "unrelated name",
        OPEN_ORDER,
        {"item": "tea", "count": "5", "note": "n"},
        {"item": "tea", "count": 5, "note": "n"},
        "text_to_integer /count",
    ),
    repairs_call_to(
        "a branch of the union accepts any key",
        closed("n", "o", n=INTEGER, o=union(OPEN_ORDER, OBJECT)),
        {"n": "5", "o": {"item": "tea", "count": 5, "dryRun": True}},
        {"n": 5, "o": {"item": "tea", "count": 5, "dryRun": True}},
        "text_to_integer /n",
    ),
    repairs_call_to(
        "of another type by its schema",
        {**OPEN_ORDER, "additionalProperties": STRING},
        {"item": "tea", "count": "5", "tag": "a"},
        {"item": "tea", "count": 5, "tag": "a"},
        "text_to_integer /count",
    ),
    repairs_call_to(
        "no repair needed",
        OPEN_ORDER,
        {"item": "tea", "count": 5, "dryRun": True},
        {"item": "tea", "count": 5, "dry_run": True},
        "rename_case /dryRun",
    ),
    repairs_call_to(
        "value that the declared name does not accept",
        OPEN_ORDER,
        {"item": "tea", "count": "5", "dryRun": "yes"},
        {"item": "tea", "count": 5, "dry_run": True},
        "text_to_integer /count",
        "rename_case /dryRun",
        "text_to_boolean /dryRun",
    ),
    repairs_call_to(
        "in an item of a list in a union",
        closed("n", "o", n=INTEGER, o=nullable(array(OPEN_ORDER))),
        {"n": "5", "o": [{"item": "tea", "count": 5, "dryRun": True}]},
        {"n": 5, "o": [{"item": "tea", "count": 5, "dry_run": True}]},
        "text_to_integer /n",
        "rename_case /o/0/dryRun",
    ),
    repairs_call_to(
        "another branch of the union accepts no keys",
        closed("n", "o", n=INTEGER, o=union(OPEN_ORDER, closed())),
        {"n": "5", "o": {"item": "tea", "count": 5, "dryRun": True}},
        {"n": 5, "o": {"item": "tea", "count": 5, "dryRun": True}},
        "text_to_integer /n",
    ),
    repairs_call_to(
        "a slip, beside the name itself",
        OPEN_ORDER,
        {"item": "tea", "count": "5", "preview": False, "preveiw": True},
        {"item": "tea", "count": 5, "preview": False, "preveiw": True},
        "text_to_integer /count",
    ),
    repairs_call_to(
        "a branch of the union declares it",
        closed("n", "o", n=INTEGER, o=union(opened(dry_run=BOOLEAN), opened(dryRun=BOOLEAN))),
        {"n": "5", "o": {"dryRun": True}},
        {"n": 5, "o": {"dryRun": True}},
        "text_to_integer /n",
    ),
    repairs_call_to(
        "name in another branch",
        closed(
            "n",
            "o",
            n=INTEGER,
            o=union(
                opened("kind", kind=enum("a"), dry_run=BOOLEAN), opened("kind", kind=enum("b"), size=INTEGER)
            ),
        ),
        {"n": "5", "o": {"kind": "b", "dryRun": True}},
        {"n": 5, "o": {"kind": "b", "dryRun": True}},
        "text_to_integer /n",
    ),
    repairs_call_to(
        "list next to an untyped branch with properties",
        closed("n", "o", n=INTEGER, o=union({"properties": {"a": INTEGER}}, ARRAY)),
        {"n": "5", "o": [{"b": 1}]},
        {"n": 5, "o": [{"b": 1}]},
        "text_to_integer /n",
    ),
    repairs_call_to(
        "many unions without an ignored name",
        closed("n", "o", n=INTEGER, o=array(nullable(OPEN_ORDER))),
        {"n": "5", "o": [{"item": "tea", "count": 5}] * 1_500},
        {"n": 5, "o": [{"item": "tea", "count": 5}] * 1_500},
        "text_to_integer /n",
    ),
)
def test_only_another_case_style_is_corrected_in_an_open_object(
    schema: Any, sent: Any, expected: Any, repairs: Any
) -> None:
    """Where only the schema judges, a name in another case style is renamed, and other unknown names pass."""
    check(schema, sent, expected, repairs)


@each_row(
    ("schema", "sent", "pointer"),
    [
        pytest.param(
            closed("p", p=union(opened("path", path=STRING), opened("path", path=STRING, dry_run=BOOLEAN))),
            {"p": {"Path": "a", "dry_run": "maybe"}},
            "/p/dry_run",
            id="in a union",
        ),
        pytest.param(
            closed(
                "p",
                p=union(
                    opened("path", path=STRING),
                    array(opened("name", name=STRING)),
                    array(opened("name", name=STRING, size=INTEGER)),
                ),
            ),
            {"p": [{"Name": "a", "size": "x"}]},
            "/p/0/size",
            id="in a union of lists beside an object",
        ),
    ],
)
def test_a_name_of_another_branch_is_no_unknown_name(schema: Any, sent: Any, pointer: str) -> None:
    """A name that only another branch declares is not lost: what is wrong is its value there."""
    assert [each.pointer for each in normalize(schema, sent).violations] == [pointer]


@pytest.mark.parametrize("count", [17, 20, 200])
def test_rename_case_has_no_limit_on_names(count: int) -> None:
    """All names of a client with another case style are renamed."""
    names = [f"key_{'abcdefghij'[n % 10]}{n}_name" for n in range(count)]
    sent = {name.title().replace("_", ""): "x" for name in names}
    schema = closed(*names, **dict.fromkeys(names, STRING))
    check(schema, sent, dict.fromkeys(names, "x"), [("rename_case", f"/{key}") for key in sent])


def test_renaming_takes_linear_time() -> None:
    """Renaming ten times as many names takes less than 50 times as long."""

    def seconds(count: int) -> float:
        names = [f"key_a{n}_name" for n in range(count)]
        normalizer = Normalizer(closed(**dict.fromkeys(names, INTEGER)))
        sent = {name.upper(): 1 for name in names}
        normalizer(sent)
        times = []
        for _ in range(5):
            started = time.process_time()
            assert normalizer(sent).repairs
            times.append(time.process_time() - started)
        return min(times)

    assert seconds(2_000) < 50 * seconds(200) + 0.05


def test_destructive_tool_corrects_the_case_of_names() -> None:
    """In a destructive tool too, a name in another case style is renamed."""
    sent = {"item": "tea", "count": 5, "dryRun": True}
    expected = {"item": "tea", "count": 5, "dry_run": True}
    check_destructive(OPEN_ORDER, sent, expected, [("rename_case", "/dryRun")])


@table(
    repairs_call_to(
        "by the open object",
        opened("n", max_results=INTEGER, n=INTEGER),
        {"limit": 1, "n": "5"},
        {"limit": 1, "n": 5},
        "text_to_integer /n",
    ),
    repairs_call_to(
        "by a pattern, similar name",
        {**closed(x_foo=STRING, n=INTEGER), "patternProperties": {"^x-": STRING}},
        {"x-foo": "v", "n": "5"},
        {"x-foo": "v", "n": 5},
        "text_to_integer /n",
    ),
    repairs_call_to(
        "by a pattern, a slip away",
        {**closed(options=STRING, n=INTEGER), "patternProperties": {"^opt": STRING}},
        {"optoins": "v", "n": "5"},
        {"optoins": "v", "n": 5},
        "text_to_integer /n",
    ),
    repairs_call_to(
        "by a pattern, an underscore in front",
        {**closed(n=INTEGER), "patternProperties": {"^_": {}}},
        {"_trace": 1, "n": "5"},
        {"_trace": 1, "n": 5},
        "text_to_integer /n",
    ),
    repairs_call_to(
        "by a pattern, the call's id",
        {**closed(n=INTEGER), "patternProperties": {"Id$": STRING}},
        {"toolCallId": "c", "n": "5"},
        {"toolCallId": "c", "n": 5},
        "text_to_integer /n",
    ),
    repairs_call_to(
        "by a pattern, nested",
        closed("o", o={**closed(x_foo=STRING, n=INTEGER), "patternProperties": {"^x-": STRING}}),
        {"o": {"x-foo": "v", "n": "5"}},
        {"o": {"x-foo": "v", "n": 5}},
        "text_to_integer /o/n",
    ),
    repairs_call_to(
        "by a condition",
        {
            **opened(n=INTEGER),
            "unevaluatedProperties": False,
            "if": {"required": ["n"]},
            "then": {"properties": {"_trace": STRING}},
        },
        {"_trace": "v", "n": "5"},
        {"_trace": "v", "n": 5},
        "text_to_integer /n",
    ),
    repairs_call_to(
        "by a dependent schema",
        {
            **opened(n=INTEGER),
            "unevaluatedProperties": False,
            "dependentSchemas": {"n": {"properties": {"_trace": STRING}}},
        },
        {"_trace": "v", "n": "5"},
        {"_trace": "v", "n": 5},
        "text_to_integer /n",
    ),
    repairs_call_to(
        "beside a reference in draft 7",
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"A": opened(n=INTEGER)},
            "$ref": "#/definitions/A",
            "additionalProperties": False,
        },
        {"_trace": "v", "n": "5"},
        {"_trace": "v", "n": 5},
        "text_to_integer /n",
    ),
)
def test_accepted_keys_stay(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Law 1: a valid key is neither renamed nor dropped when another parameter is repaired."""
    check(schema, sent, expected, repairs)


SINGULARS = [
    ({"tags": STRINGS}, {"tag": ["a"]}),
    ({"tags": STRINGS}, {"tag": "a"}),
    ({"tags": nullable(STRINGS)}, {"tag": ["a"]}),
]


@each_row(("names", "sent"), SINGULARS)
def test_the_singular_of_a_list_is_offered_as_it(names: Any, sent: Any) -> None:
    """Moving the value to the list is the first fix, and the name is suggested."""
    ((name, _),) = names.items()
    (violation,) = normalize(closed(**names), sent).violations
    assert violation.did_you_mean == (name,)
    assert violation.fixes[0][0] == {"op": "move", "from": f"/{next(iter(sent))}", "path": f"/{name}"}


@table(
    keeps_call("singular, open and optional", opened(tags=STRINGS), {"tag": ["a"]}),
    *(refuses_call(f"singular, {sent}", closed(**names), sent) for names, sent in SINGULARS),
    refuses_call("singular of an identifier", closed(user_ids=array(INTEGER)), {"userId": [2]}),
    refuses_call("plural for a singular", closed("tag", tag=STRING), {"tags": "a"}),
    refuses_call("plural for a singular list", closed("tag", tag=STRINGS), {"tags": ["a"]}),
    refuses_call("singular of a text", closed("tags", tags=STRING), {"tag": "a"}),
    refuses_call("singular, a list in text", closed("tags", tags=array(INTEGER)), {"tag": "[1]"}),
    refuses_call("singular, value that needs a repair", closed("ids", ids=array(INTEGER)), {"id": "5"}),
    refuses_call("singular twice", closed("tags", tags=STRINGS), {"tag": ["a"], "Tag": ["b"]}),
    refuses_call("singular beside its list", closed(tags=STRINGS), {"tag": ["a"], "tags": ["b"]}),
    refuses_call("debt and debit", closed(debit=NUMBER), {"debt": 5.0}),
    refuses_call("hostel and hotel", closed(hotel=STRING), {"hostel": "a"}),
    refuses_call("retrain and retain", closed("retain", retain=BOOLEAN), {"retrain": True}),
    refuses_call("letters swapped", closed("tags", tags=STRINGS), {"tgas": ["a"]}),
    refuses_call("a letter missing", closed("content", content=STRING), {"contnt": "a"}),
    refuses_call("a letter too many", closed("content", content=STRING), {"conttent": "a"}),
    refuses_call("open, missing and required", opened("content", content=STRING), {"contnet": "a"}),
    refuses_call("a letter replaced", closed("height", height=INTEGER), {"weight": 1}),
)
def test_a_near_name_is_not_renamed(schema: Any, sent: Any, expected: Any, repairs: Any) -> None:
    """Neither a singular is renamed nor a name that is one letter off."""
    check(schema, sent, expected, repairs)


@each_row(
    ("sent", "name"),
    [
        ("tgas", "tags"),
        ("contnt", "content"),
        ("max_resluts", "max_results"),
        ("debt", "debit"),
        ("hostel", "hotel"),
    ],
)
def test_slip_is_the_first_suggestion_and_fix(sent: str, name: str) -> None:
    """A name one letter away is the first suggestion, and moving the value there is the first fix."""
    schema = closed(**{name: STRING, "city": STRING, "note": STRING})
    (violation,) = normalize(schema, {sent: "a"}).violations
    assert violation.did_you_mean[0] == name
    assert violation.fixes[0] == ({"op": "move", "from": f"/{sent}", "path": f"/{name}"},)


def test_values_do_not_select_names() -> None:
    """A value never decides which name is meant."""
    check(closed("mode", mode=enum("a", "b")), {"kind": "a"}, None, [])
