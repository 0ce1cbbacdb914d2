"""The statements that :mod:`mcp_lenient.report.questions` asks, constants throughout."""

from __future__ import annotations

from typing import Final

REPEATED_TIMES: Final = 3
"""How often a caller sends the same wrong call before it is told."""

# Calls that differ in nothing but their time, subject and duration, counted. Client and version are told
# apart by a character that neither can hold.
PREPARE: Final = (
    """
    CREATE TABLE shapes AS
    SELECT counted.* REPLACE (v.list AS violations, r.list AS repairs, h.list AS hints)
    FROM (
        SELECT tool, client_name, client_version, concat(client_name, chr(31), client_version) AS who, event, failed,
            error_code, violations, repairs, hints, count(*) AS times
        FROM calls GROUP BY ALL
    ) AS counted
    LEFT JOIN violations_lists AS v ON counted.violations = v.raw
    LEFT JOIN repairs_lists AS r ON counted.repairs = r.raw
    LEFT JOIN hints_lists AS h ON counted.hints = h.raw
    """,
    """
    CREATE TABLE faults AS
    SELECT shapes.*, code, place, received FROM shapes
    LEFT JOIN violations AS listed ON shapes.violations = listed.list WHERE failed
    """,
    """
    CREATE TABLE mended AS
    SELECT shapes.* EXCLUDE (times), shapes.times AS calls, rule, place, before, after, listed.times * shapes.times AS uses
    FROM shapes JOIN repairs AS listed ON shapes.repairs = listed.list
    """,
    f"""
    CREATE TABLE repeated AS
    SELECT found.* EXCLUDE (violations), list AS violations
    FROM (
        SELECT subject, client_name, client_version, tool, error_code, violations, count(*) AS times,
            min(micros) AS first, max(micros) AS last
        FROM calls WHERE failed GROUP BY ALL HAVING times >= {REPEATED_TIMES}
    ) AS found
    LEFT JOIN violations_lists ON found.violations = raw
    """,
)
OUTCOMES: Final = "SELECT event, sum(times) FROM shapes GROUP BY event ORDER BY sum(times) DESC, event"
WHOLE: Final = """
    SELECT count(*), min(micros), max(micros), coalesce(CAST(avg(duration_us) AS BIGINT), 0),
        coalesce(approx_quantile(duration_us, 0.5), 0), coalesce(approx_quantile(duration_us, 0.95), 0),
        coalesce(max(duration_us), 0)
    FROM calls
"""
PERIODS: Final = """
    SELECT micros // $step AS period, event, count(*) FROM calls
    WHERE micros IS NOT NULL GROUP BY period, event ORDER BY period, event
"""
# A tool that was there for some of its calls is one.
_UNKNOWN: Final = "bool_and(coalesce(error_code = 'UNKNOWN_TOOL', false))"
TOOLS: Final = f"""
    SELECT tool, sum(times) AS calls, coalesce(sum(times) FILTER (failed), 0) AS failed
    FROM shapes GROUP BY tool HAVING NOT {_UNKNOWN} ORDER BY failed DESC, calls DESC, tool
"""
UNKNOWN_TOOLS: Final = f"""
    SELECT tool, sum(times) AS calls, count(DISTINCT who) FROM shapes
    GROUP BY tool HAVING {_UNKNOWN} ORDER BY calls DESC, tool
"""
CLIENTS: Final = """
    SELECT who, client_name, client_version, sum(times) AS calls, coalesce(sum(times) FILTER (failed), 0) AS failed
    FROM shapes GROUP BY ALL ORDER BY failed DESC, calls DESC, client_name, client_version
"""
OUTCOMES_BY: Final = {
    key: f"""
    SELECT {key}, event, sum(times) FROM shapes WHERE list_contains($shown, {key})
    GROUP BY ALL ORDER BY {key}, sum(times) DESC, event
"""
    for key in ("tool", "who")
}
CODES_BY: Final = {
    key: f"""
    SELECT {key}, error_code, sum(times) FROM shapes
    WHERE failed AND error_code IS NOT NULL AND list_contains($shown, {key})
    GROUP BY ALL ORDER BY {key}, sum(times) DESC, error_code
"""
    for key in ("tool", "who")
}
CELLS: Final = """
    SELECT tool, client_name, sum(times), coalesce(sum(times) FILTER (failed), 0)
    FROM shapes WHERE list_contains($tools, tool) AND list_contains($clients, coalesce(client_name, ''))
    GROUP BY ALL ORDER BY tool, client_name
"""
RULES: Final = """
    SELECT rule, sum(uses) AS uses, sum(calls), count(DISTINCT tool), count(DISTINCT who) FROM (
        SELECT rule, tool, who, event, error_code, violations, repairs, hints, sum(uses) AS uses, any_value(calls) AS calls
        FROM mended GROUP BY ALL
    ) GROUP BY rule ORDER BY uses DESC, rule
"""
PARAMETERS: Final = """
    SELECT tool, place, sum(failed) AS failed, sum(repaired) AS repaired, count(DISTINCT who) FILTER (failed > 0)
    FROM (
        SELECT tool, place, who, sum(times) AS failed, 0 AS repaired
        FROM (SELECT DISTINCT * EXCLUDE (code, received) FROM faults WHERE place IS NOT NULL) GROUP BY ALL
        UNION ALL
        SELECT tool, place, who, 0, sum(calls)
        FROM (SELECT DISTINCT * EXCLUDE (rule, before, after, uses) FROM mended) GROUP BY ALL
    )
    GROUP BY tool, place ORDER BY failed DESC, repaired DESC, tool, place
"""
PLACE_CODES: Final = """
    SELECT [tool, place], code, sum(times) FROM (SELECT DISTINCT * EXCLUDE (received) FROM faults)
    WHERE list_contains($shown, [tool, place]) GROUP BY ALL ORDER BY [tool, place], sum(times) DESC, code
"""
PLACE_TYPES: Final = """
    SELECT [tool, place], received, sum(times) FROM (SELECT DISTINCT * EXCLUDE (code) FROM faults)
    WHERE received IS NOT NULL AND list_contains($shown, [tool, place])
    GROUP BY ALL ORDER BY [tool, place], sum(times) DESC, received
"""
UNREPAIRED: Final = """
    SELECT tool, error_code, code, place, sum(times) AS calls, count(DISTINCT who)
    FROM (SELECT DISTINCT * EXCLUDE (received) FROM faults)
    GROUP BY tool, error_code, code, place ORDER BY calls DESC, tool, error_code, code, place
"""
REPEATED: Final = """
    SELECT subject, client_name, client_version, tool, error_code, violations, times, first, last
    FROM repeated ORDER BY times DESC, subject, client_name, client_version, tool, error_code, violations
"""
PLACES: Final = (
    "SELECT DISTINCT list, place FROM violations WHERE list_contains($shown, list) ORDER BY list, place"
)
