"""Pydantic: convert its errors to validation issues, and check plain types fast."""
