"""Pydantic: its errors as validation issues, and quick checks of plain types."""
