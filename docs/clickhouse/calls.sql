-- The events of mcp-lenient's log. ClickHouse 23.6 or newer.
CREATE TABLE calls (
    timestamp DateTime64(6, 'UTC') CODEC(Delta, ZSTD), event LowCardinality(String), tool LowCardinality(String),
    error_code LowCardinality(Nullable(String)), fault LowCardinality(Nullable(String)),
    violations Nullable(String) CODEC(ZSTD), repairs Nullable(String) CODEC(ZSTD), hints Nullable(String) CODEC(ZSTD),
    duration_us Int64 DEFAULT 0, server LowCardinality(Nullable(String)), client_name LowCardinality(Nullable(String)),
    client_version LowCardinality(Nullable(String)), model LowCardinality(Nullable(String)),
    subject Nullable(String) CODEC(ZSTD),
    session_id Nullable(String) CODEC(ZSTD), request_id Nullable(String) CODEC(ZSTD),
    transport LowCardinality(Nullable(String)), trace_id Nullable(String) CODEC(ZSTD), span_id Nullable(String) CODEC(ZSTD),
    micros Int64 MATERIALIZED toUnixTimestamp64Micro(timestamp) CODEC(Delta, ZSTD),
    failed Bool MATERIALIZED event IN ('call_rejected', 'call_forwarded', 'call_refused_upstream', 'call_unanswered')
        OR (event = 'call_observed' AND error_code IS NOT NULL)
) ENGINE = MergeTree
PARTITION BY toDate(timestamp) ORDER BY (tool, event, timestamp)
TTL toDateTime(timestamp) + INTERVAL 30 DAY;
