"""Test what is said if DuckDB cannot read addresses."""

from __future__ import annotations

import pytest

from mcp_lenient.devtools.report import ReportError
from mcp_lenient.devtools.report.database import Database

KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


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
