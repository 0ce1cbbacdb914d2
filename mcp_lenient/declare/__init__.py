"""Declarations by authors and operators about tools."""
