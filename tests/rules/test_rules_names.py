"""Test keys sent under another name."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tables import (
    BOOLEAN,
    INTEGER,
    NUMBER,
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
    rows,
    table,
)

from mcp_lenient import Normalizer, normalize

STRINGS = array(STRING)


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


@each_row(
    ("schema", "sent", "pointer"),
    rows(__file__, "a_name_of_another_branch_is_no_unknown_name"),
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
