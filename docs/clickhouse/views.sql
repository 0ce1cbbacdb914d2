-- Counts of each day, made as the events arrive. A report of whole days (UTC) reads these alone if all three are there.
CREATE TABLE kept_shapes (
    day Int64, server LowCardinality(Nullable(String)), tool LowCardinality(String), client_name
    LowCardinality(Nullable(String)), client_version LowCardinality(Nullable(String)), model
    LowCardinality(Nullable(String)), event LowCardinality(String), failed Bool, fault
    LowCardinality(Nullable(String)), error_code LowCardinality(Nullable(String)), violations Nullable(String), repairs Nullable(String), hints Nullable(String),
    times SimpleAggregateFunction(sum, UInt64)
) ENGINE = AggregatingMergeTree
ORDER BY (day, server, tool, client_name, client_version, model, event, failed, fault, error_code, violations, repairs, hints)
SETTINGS allow_nullable_key = 1;

CREATE MATERIALIZED VIEW count_shapes TO kept_shapes AS
SELECT micros - micros % 86400000000 AS day, server, tool, client_name, client_version, model, event, failed,
fault, error_code, violations, repairs, hints, COUNT(*) AS times FROM calls WHERE event IN ('call_repaired', 'call_rejected',
'call_accepted', 'call_observed', 'call_forwarded', 'call_refused_upstream', 'call_unanswered', 'call_failed') GROUP BY ALL;

CREATE TABLE kept_mistakes (
    day Int64, server LowCardinality(Nullable(String)), tool LowCardinality(String), client_name
    LowCardinality(Nullable(String)), subject Nullable(String), client_version LowCardinality(Nullable(String)),
    error_code LowCardinality(Nullable(String)), violations Nullable(String), times SimpleAggregateFunction(sum,
    UInt64), earliest SimpleAggregateFunction(min, Int64), latest SimpleAggregateFunction(max, Int64)
) ENGINE = AggregatingMergeTree
ORDER BY (day, server, tool, client_name, subject, client_version, error_code, violations)
SETTINGS allow_nullable_key = 1;

CREATE MATERIALIZED VIEW count_mistakes TO kept_mistakes AS
SELECT micros - micros % 86400000000 AS day, server, tool, client_name, subject, client_version, error_code,
violations, COUNT(*) AS times, MIN(micros) AS earliest, MAX(micros) AS latest FROM calls WHERE failed AND event IN
('call_repaired', 'call_rejected', 'call_accepted', 'call_observed', 'call_forwarded', 'call_refused_upstream',
'call_unanswered', 'call_failed') GROUP BY ALL;

CREATE TABLE kept_periods (
    day Int64, server LowCardinality(Nullable(String)), tool LowCardinality(String), client_name
    LowCardinality(Nullable(String)), start Int64, event LowCardinality(String), times SimpleAggregateFunction(sum,
    UInt64), earliest SimpleAggregateFunction(min, Int64), latest SimpleAggregateFunction(max, Int64)
) ENGINE = AggregatingMergeTree
ORDER BY (day, server, tool, client_name, start, event)
SETTINGS allow_nullable_key = 1;

CREATE MATERIALIZED VIEW count_periods TO kept_periods AS
SELECT micros - micros % 86400000000 AS day, server, tool, client_name, micros - micros % 3600000000 AS start,
event, COUNT(*) AS times, MIN(micros) AS earliest, MAX(micros) AS latest FROM calls WHERE event IN ('call_repaired',
'call_rejected', 'call_accepted', 'call_observed', 'call_forwarded', 'call_refused_upstream', 'call_unanswered', 'call_failed')
GROUP BY ALL;
