"""Replay recorded answers and recorded calls of real models."""
