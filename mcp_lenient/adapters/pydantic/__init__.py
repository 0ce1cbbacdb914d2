"""Pydantic: convert its errors to validation faults."""
