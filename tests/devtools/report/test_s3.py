"""Test the statement that gives DuckDB credentials for object storage, with any characters in them."""

from __future__ import annotations

import re

import duckdb
import pytest
from tables import each_row

from mcp_lenient.devtools.report import ReportError
from mcp_lenient.devtools.report.database import Database, s3_secret

KEYS = {"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "x/+="}
ODD = ("'", "''", "\\'", "a'); DROP TABLE read; --", '"', "$1", "?", "a\nb", "/* ", "\u2019", "E'\\''")


@each_row(
    ("environment", "reported"),
    [
        pytest.param(KEYS, "CREATE SECRET (TYPE s3, KEY_ID 'AKIA', SECRET 'x/+=')", id="keys"),
        pytest.param(
            {**KEYS, "AWS_SESSION_TOKEN": "t", "AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "us-east-1"},
            "CREATE SECRET (TYPE s3, KEY_ID 'AKIA', SECRET 'x/+=', SESSION_TOKEN 't', REGION 'eu-west-1')",
            id="all",
        ),
        pytest.param(
            {**KEYS, "AWS_REGION": "", "AWS_DEFAULT_REGION": "us-east-1"},
            "CREATE SECRET (TYPE s3, KEY_ID 'AKIA', SECRET 'x/+=', REGION 'us-east-1')",
            id="default region",
        ),
        pytest.param({"AWS_REGION": "eu-west-1"}, None, id="no keys"),
        pytest.param({**KEYS, "AWS_SECRET_ACCESS_KEY": ""}, None, id="half a key"),
    ],
)
def test_the_usual_variables_become_a_secret(environment, reported):
    """DuckDB gets the credentials in the environment, or none if there is no complete key."""
    assert s3_secret(environment) == reported


@each_row("value", ODD)
def test_credentials_are_escaped_in_sql(value):
    """A credential of any characters stays one string in one statement."""
    sql = s3_secret({"AWS_ACCESS_KEY_ID": value, "AWS_SECRET_ACCESS_KEY": value, "AWS_REGION": value})
    assert len(duckdb.extract_statements(sql)) == 1
    text = re.fullmatch(r"CREATE SECRET \(TYPE s3, KEY_ID (.+), SECRET \1, REGION \1\)", sql, re.DOTALL)
    assert duckdb.execute(f"SELECT {text[1]}").fetchall() == [(value,)]


@pytest.mark.slow
def test_a_missing_extension_shows_no_credential(tmp_path, monkeypatch):
    """If the extension cannot be installed, one line says so and shows no credential."""
    for name in KEYS:
        monkeypatch.setenv(name, "hidden")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with pytest.raises(ReportError, match="httpfs") as caught:
        Database(tmp_path, ["s3://bucket/*"], remote=True, memory="256MB", progress=None)
    assert "hidden" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_rejected_credentials_are_not_shown(tmp_path):
    """DuckDB's message about a statement with credentials is not shown."""
    database = Database(tmp_path, [], remote=False, memory="256MB", progress=None)
    try:
        with pytest.raises(ReportError, match=r"rejects the AWS credentials in the environment") as caught:
            database._sign("CREATE SECRET (TYPE s3, KEY_ID 'hidden', SECRET 'hidden)")
    finally:
        database.close()
    assert "hidden" not in str(caught.value)
