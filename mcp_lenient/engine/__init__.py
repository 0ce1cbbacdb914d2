"""Repair arguments: pure functions of a plan, the arguments and a validator."""
