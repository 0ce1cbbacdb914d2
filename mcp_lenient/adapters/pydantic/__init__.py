"""Pydantic: convert its errors to validation faults, and check plain types fast."""
